"""Tracking of results (`rf.track`) and reading of histories (`rf.history`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import chain
from pathlib import Path
from secrets import token_bytes
from typing import Any, TypeVar, cast
from uuid import uuid4

import polars as pl

from recframe.errors import DataError, RecframeError, shown
from recframe.frames.collecting import stream
from recframe.frames.hints import Either
from recframe.frames.kinds.kind import Kind
from recframe.frames.kinds.lookup import in_library, kind_for
from recframe.statistics.stored_results import tidy
from recframe.tracking import duckdb_file, folder
from recframe.tracking.definitions import as_now
from recframe.tracking.runs import ABOUT, LAST_KEYS, UNSEEN, Run, Table, moment, run_of, text

F = TypeVar("F")
History = str | os.PathLike[str]
SAME = ("as_of", "name", "fingerprint", "columns")
"""Columns that rows of one run have in common, and no rows of another; with what a number is about, it is there once."""
NUMBERS: dict[str, Any] = {"metric": pl.String, "k": pl.Int64, "value": pl.Float64}
"""Columns of every result behind those of its segments."""
SALT_BYTES = 32
_SALT_AGAIN = "restore it, or remove the values of users, which cannot be read without it"


class DamagedRunsError(DataError):
    """Runs that cannot be read; `others` is the frame of all other runs of the history."""

    def __init__(self, message: str, others: Any) -> None:
        super().__init__(message)
        self.others = others


def track(
    result: F,
    history: History,
    *,
    as_of: date | str,
    name: str | None = None,
    tags: Mapping[str, object] | None = None,
    fingerprint: str | None = None,
) -> F:
    """Append a tidy result to a history, and return it.

    `rec.track("ndcg@10", ...)` computes a result and appends it, with the fingerprint of the data and the metrics' definitions.
    This function is for an existing result: of `summarize`, `compare`, `gaps`, `slices`, or `evaluate(..., tidy=True)`.

        history: a folder of Parquet files, one for each run, such as "history.parquet", created if missing; or the path of a
            DuckDB file, `.duckdb`, which gets a table `history` (it needs recframe[duckdb]).
        as_of: the time of the result: a date, a datetime, or text such as "2026-11-22" or
            "2026-11-22T06:00+01:00". Without a zone it is UTC.
        name: a name of the run, so that several runs of one time and data do not replace each other.
        tags: values stored with each row by name, such as {"commit": "3f2a1c"}, in columns `tag_commit`.
        fingerprint: of the data, `rec.fingerprint()`. Without one a run replaces that of the same time and name, whatever the
            data.

    A run with the same `as_of`, `name` and fingerprint replaces the earlier one, number by number: results of several calls, by
    other columns or for other metrics, are kept together. Several processes may append to a folder at once; a killed process
    leaves its whole run or nothing. With a DuckDB file they wait for each other. In the files and the table, segment columns
    have the prefix `by_`: `by_country`; capital letters and unprintable characters are hexadecimal codes, `by_%43ountry`.
    `rf.history` restores the names.

    A LazyFrame is collected, and the result is a LazyFrame.

    Raises a RecframeError for a result that is not tidy, an `as_of` that is not a time, and a place that cannot be written or
    has another table, and a ColumnError if a column of the result has the name of one of the history.

    >>> import polars as pl, recframe as rf, tempfile
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in ("2026-11-21", "2026-11-22", "2026-11-22"):
    ...         tracked = rf.track(df.rec.summarize("mrr"), f"{folder}/history.parquet", as_of=day)
    ...     rf.history(f"{folder}/history.parquet").select("as_of", "metric", "value")
    shape: (2, 3)
    ┌─────────────────────┬────────┬───────┐
    │ as_of               ┆ metric ┆ value │
    │ ---                 ┆ ---    ┆ ---   │
    │ datetime[μs]        ┆ str    ┆ f64   │
    ╞═════════════════════╪════════╪═══════╡
    │ 2026-11-21 00:00:00 ┆ mrr    ┆ 0.75  │
    │ 2026-11-22 00:00:00 ┆ mrr    ┆ 0.75  │
    └─────────────────────┴────────┴───────┘
    """
    kind = kind_for(result, "the first argument of track()")
    rows = tidy(rows_of(kind))
    about: dict[str, Any] = {"as_of": as_of, "fingerprint": fingerprint, "name": name, "tags": tags}
    append(history, run_of(rows, **about, tracked_from=kind.library))
    back: Any = rows.lazy() if kind.is_lazy else result
    return cast("F", back)


def rows_of(kind: Kind) -> pl.DataFrame:
    """Return the rows of a result under its names, one of which may be empty."""
    inside = {f"column {place}": name for place, name in enumerate(kind.columns)}
    rows = stream(kind.take(inside).lazy())
    return pl.DataFrame({name: rows.get_column(new) for new, name in inside.items()})


def check(history: object, as_of: object) -> None:
    """Reject invalid places of a history, or invalid times."""
    _place(history)
    moment(as_of)


def append(history: History, run: Run) -> None:
    """Append a run to a history."""
    place = _place(history)
    _store(place).append(place, run)


def users_values(history: History, runs: Sequence[str]) -> dict[str, tuple[str, bytes]]:
    """Return a history's stored users' values by run, with their place."""
    place = _place(history)
    return cast("dict[str, tuple[str, bytes]]", _store(place).users_values(place, runs))


def salt_of(history: History, *, make: bool = False) -> bytes:
    """Return the salt for users' hashes, created once, or raise an error where it is lost."""
    place = _place(history)
    path: Path = _store(place).salt_place(place)
    with folder.told(place, "write" if make else "read"):
        if make and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _make_salt(path)
        salt = path.read_bytes() if path.exists() else None
    if salt is not None and len(salt) == SALT_BYTES:
        return salt
    msg = (
        f"the history has values of users, but the salt of their hashed ids is not at {str(path)!r}"
        if salt is None
        else f"{str(path)!r} is not the salt of {SALT_BYTES} bytes for the history's user ids"
    )
    raise DataError(f"{msg}; {_SALT_AGAIN}")


def _make_salt(path: Path) -> None:
    """Write a random salt that its owner alone can read; of several processes at once the first one's stays."""
    unfinished = path.with_name(f".{path.name}-{uuid4().hex}{folder.UNFINISHED}")
    with os.fdopen(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(token_bytes(SALT_BYTES))
    with suppress(FileExistsError):
        os.link(unfinished, path)
    unfinished.unlink()


def history(history: History) -> pl.DataFrame:
    """Return all runs of a history as a frame: a row for each number, sorted by `as_of`.

    It is a pandas frame if all runs were tracked from pandas, else a Polars frame.

    Columns: `as_of` (in UTC), `name`, `run` (what a rerun has too), `fingerprint` of the data, `tracked_at` (never before that
    of an earlier run, even if the clock was set back), the versions of `recframe` and `polars`, `definition` (the metric with
    every parameter, and the policies), `split_by` (the names of the segment columns, null for none: it distinguishes all users
    from a null segment), `tag_...`, and then those of the results, `by` columns first; null if a run does not have a column. A
    `by` column with different dtypes is text.

    Of a number tracked twice, for one `as_of`, `name` and fingerprint, the last one is kept. Other data for the same `as_of`,
    such as a truth that has grown, have another fingerprint and separate rows.

    An empty folder gives a frame without rows. Other files beside runs are ignored.

    Raises a RecframeError if there is none, or a folder of other files, and a DataError that names damaged or unreadable runs;
    its `others` is the frame of all other runs.

    >>> import polars as pl, recframe as rf, tempfile
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tracked = df.rec.track("mrr", "recall@1", history=folder, as_of="2026-11-22", tags={"team": "search"})
    ...     rf.history(folder).select("tag_team", "metric", "k", "value", "n_users")
    shape: (2, 5)
    ┌──────────┬──────────┬──────┬───────┬─────────┐
    │ tag_team ┆ metric   ┆ k    ┆ value ┆ n_users │
    │ ---      ┆ ---      ┆ ---  ┆ ---   ┆ ---     │
    │ str      ┆ str      ┆ i64  ┆ f64   ┆ i64     │
    ╞══════════╪══════════╪══════╪═══════╪═════════╡
    │ search   ┆ mrr      ┆ null ┆ 0.75  ┆ 2       │
    │ search   ┆ recall@1 ┆ 1    ┆ 0.5   ┆ 2       │
    └──────────┴──────────┴──────┴───────┴─────────┘
    """
    return cast("pl.DataFrame", _read(history, in_their_library))


def in_their_library(rows: pl.DataFrame) -> Any:
    """Return runs as a frame of the library whose frames were tracked, where it is one."""
    libraries = rows["tracked_from"].unique().to_list()
    shown = rows.drop(UNSEEN)
    return in_library(shown, libraries[0]) if len(libraries) == 1 else shown


def runs(history: History) -> pl.DataFrame:
    """Return the same as a frame of Polars, whatever was tracked."""
    return cast("pl.DataFrame", _read(history, lambda rows: rows.drop(UNSEEN)))


def _read(history: History, given: Callable[[pl.DataFrame], Any]) -> Any:
    """Return all runs of a history, as they are to be given."""
    place = _place(history)
    if not place.exists():
        begins = Either(f"rec.track(..., history={str(place)!r})", "recframe track")
        msg = f"there is no history at {str(place)!r}; {begins} starts one"
        raise RecframeError(msg)
    found, damaged = _store(place).tables(place)
    whole = given(_together(found))
    if damaged:
        raise DamagedRunsError("; and ".join(damaged), whole)
    return whole


def _place(history: object) -> Path:
    """Return the place of a history, or say that it is none."""
    if not isinstance(history, str | os.PathLike) or not str(history):
        msg = f"history={shown(history)}: history takes the path of a folder, such as history='history.parquet'"
        raise RecframeError(msg)
    if "://" in str(history):
        msg = f"{str(history)!r} is an address; a history is a folder on a disk, or a .duckdb file"
        raise RecframeError(msg)
    place = Path(history).expanduser()
    if place.is_file() and not _is_duckdb(place):
        msg = f"{str(history)!r} is a file; a history is a folder, with a file for each run: name another"
        raise RecframeError(msg)
    return place


def is_kept(path: Path) -> bool:
    """Return whether a file belongs to a history, or would be taken for a run of one."""
    return (_is_duckdb(path) and path.exists()) or folder.is_in_a_history(path)


def _is_duckdb(place: Path) -> bool:
    return place.suffix.lower() == ".duckdb" and not place.is_dir()


def _store(place: Path) -> Any:
    """Return what reads and writes the histories of a place."""
    return duckdb_file if _is_duckdb(place) else folder


def _together(tables: list[Table]) -> pl.DataFrame:
    """Return the runs of several schemas as one frame, with the last tracked version of each number."""
    keys = dict.fromkeys(chain.from_iterable(keys for _, keys in tables))
    frames = [rows for rows, _ in tables]
    for key in keys:
        dtypes = {rows.schema[key] for rows in frames if key in rows.columns}
        if len(dtypes) > 1 and not all(dtype.is_numeric() for dtype in dtypes):
            frames = [_with_text(rows, key) for rows in frames]
    whole = pl.concat([pl.DataFrame(schema=ABOUT | NUMBERS), *frames], how="diagonal_relaxed")
    # NOTE: `metric` and `k` behind all others that say what a number is about, as in each result
    about = [*(key for key in keys if key not in LAST_KEYS), *LAST_KEYS]
    whole = as_now(_latest(whole, [*SAME, *about]))
    tags = [column for column in whole.columns if column.startswith("tag_")]
    ordered = dict.fromkeys([*ABOUT, *tags, *about, *whole.columns])
    return pl.DataFrame({name: whole.get_column(name) for name in ordered})


def _with_text(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return rows with a column, where they have it, as text."""
    return rows.with_columns(text(rows.get_column(column))) if column in rows.columns else rows


def _latest(rows: pl.DataFrame, same: list[str]) -> pl.DataFrame:
    """Return the last tracked of the rows that are equal in some columns, sorted by time."""
    # NOTE: under names of our own, since some such as "^.*$" are patterns to Polars
    inside = {name: f"column {place}" for place, name in enumerate(rows.columns)}
    of = [inside[name] for name in same]
    tracked_at, run, as_of, name = (inside[one] for one in ("tracked_at", "run", "as_of", "name"))
    found = pl.DataFrame([column.alias(inside[column.name]) for column in rows])
    found = found.sort(tracked_at, run, maintain_order=True)
    found = found.unique(of, keep="last", maintain_order=True)
    found = found.sort(as_of, name, tracked_at, maintain_order=True)
    return pl.DataFrame(dict(zip(inside, found, strict=True)))
