"""Histories (`rf.track`, `rf.history`): a folder with a Parquet file for each run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime, timezone
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import polars as pl

from recframe.errors import ColumnError, DataError, RecframeError, shown
from recframe.frames import atomic_write
from recframe.frames.collecting import stream
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either, Given
from recframe.frames.kinds.kind import Kind
from recframe.frames.kinds.lookup import kind_for

F = TypeVar("F")
History = str | os.PathLike[str]
OF_RUN: dict[str, Any] = {"as_of": pl.Datetime("us"), "name": pl.String, "fingerprint": pl.String}
"""What is known of a run, besides its tags."""
TAGS = "tag_"
"""Prefix of the columns of tags."""
TAG = re.compile(r"[A-Za-z_]\w*", re.ASCII)
NUMBERS: dict[str, Any] = {
    **dict.fromkeys(("value", "value_low", "value_high", "std"), pl.Float64),
    "n_users": pl.Int64,
}
"""Columns of a number, behind its metric."""
ENDING = ".parquet"
KEY_DIGITS = 16
TO_TRACK = (
    "track takes a result of summarize, or of evaluate(..., tidy=True), with a row for each number"
)
AS_OF = Either(
    "as_of=datetime.date(2026, 11, 22), a datetime, or text such as as_of='2026-11-22'",
    "2026-11-22, or 2026-11-22T06:00+01:00",
)


def track(
    result: F,
    history: History,
    *,
    as_of: date | str,
    name: str | None = None,
    tags: Mapping[str, object] | None = None,
    fingerprint: str | None = None,
) -> F:
    """Write a result to a history as one run, and return it.

    `rec.track("ndcg@10", ...)` computes a result and writes it, with the fingerprint of the data. This function is for an
    existing result: of `summarize`, or of `evaluate(..., tidy=True)`.

        history: a folder of Parquet files, one for each run, such as "history.parquet", created if missing.
        as_of: the time of the result: a date, a datetime, or text such as "2026-11-22" or
            "2026-11-22T06:00+01:00". Without a zone it is UTC.
        name: a name of the run, so that several runs of one time and data do not replace each other.
        tags: values stored with each row by name, such as {"commit": "3f2a1c"}, in columns `tag_commit`.
        fingerprint: of the data, `rec.fingerprint()`.

    A run with the same `as_of`, `name` and fingerprint replaces the earlier one, with all of its metrics: compute the metrics
    of a run in one call, or name the runs. A file is written beside its place and moved there, so that readers see a whole run
    or none, and several processes may write at once.

    The columns of a file are `as_of`, `name`, those of tags, the columns that the result is split by under their own names
    (categories are text, and a column with a null is text with "null" in it), `metric`, `value`, `value_low`, `value_high`,
    `std`, `n_users`, `fingerprint`. Polars and DuckDB read the folder too: `read_parquet('folder/*.parquet')`.

    Of a LazyFrame the plan runs, and the result is a LazyFrame.

    Raises a RecframeError for a result that is not tidy, an `as_of` that is not a time, and a place that cannot be written, and
    a ColumnError if a column of the result has the name of one of the history.

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
    place, kind = place_of(history), kind_for(result, "the first argument of track()")
    about: dict[str, Any] = {"as_of": moment(as_of), "name": name, "fingerprint": fingerprint}
    if name is not None and (not isinstance(name, str) or not name):
        msg = f"name={shown(name)}: name takes a word for the run, such as name='nightly'"
        raise RecframeError(msg)
    rows = _rows_of(kind)
    _write(place, about, _run(rows, about, _tags({} if tags is None else tags)))
    back: Any = rows.lazy() if kind.is_lazy else result
    return cast("F", back)


def history(history: History) -> pl.DataFrame:
    """Return all runs of a history as a frame: a row for each number, sorted by `as_of` and `name`.

    The columns are those of the files (see `rf.track`): `as_of` (in UTC), `name`, `tag_...`, the columns that runs were split
    by, `metric`, `value`, `value_low`, `value_high`, `std`, `n_users` and `fingerprint`. A run that was not split by a column
    has null in it. A column with different dtypes is text.

    Other data for the same `as_of`, such as a truth that has grown, have another fingerprint and separate rows, those of the
    last written file last.

    Raises a RecframeError if there is no folder, and a DataError that names a file that is no run. An empty folder gives a
    frame without rows.

    >>> import polars as pl, recframe as rf, tempfile
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tracked = df.rec.track("mrr", "recall@1", history=folder, as_of="2026-11-22", tags={"team": "search"})
    ...     rf.history(folder).select("tag_team", "metric", "value", "n_users")
    shape: (2, 4)
    ┌──────────┬──────────┬───────┬─────────┐
    │ tag_team ┆ metric   ┆ value ┆ n_users │
    │ ---      ┆ ---      ┆ ---   ┆ ---     │
    │ str      ┆ str      ┆ f64   ┆ i64     │
    ╞══════════╪══════════╪═══════╪═════════╡
    │ search   ┆ mrr      ┆ 0.75  ┆ 2       │
    │ search   ┆ recall@1 ┆ 0.5   ┆ 2       │
    └──────────┴──────────┴───────┴─────────┘
    """
    place = place_of(history)
    if not place.exists():
        begins = Either(f"rec.track(..., history={str(place)!r})", "recframe track")
        msg = f"there is no history at {str(place)!r}; {begins} starts one"
        raise RecframeError(msg)
    try:
        paths = sorted(place.glob(f"*{ENDING}"), key=lambda one: (one.stat().st_mtime_ns, one.name))
    except OSError as error:
        msg = f"cannot read the history {str(place)!r}: {atomic_write.reason(error)}"
        raise RecframeError(msg) from error
    return _together(_at_once(paths) or [_read(path) for path in paths])


def keys_of(columns: Iterable[str]) -> list[str]:
    """Return the columns that the runs of a history were split by, of all of its columns."""
    own = {*OF_RUN, *NUMBERS, "metric", "k", "note"}
    return [one for one in columns if one not in own and not one.startswith(TAGS)]


def moment(as_of: object) -> datetime:
    """Return the time that a result holds for, in UTC without a zone; a date is its first moment, text is ISO 8601."""
    # NOTE: pandas' NaT is a datetime too, whose text is no time
    with suppress(ValueError, OverflowError):
        found = as_of
        if isinstance(as_of, str):
            # which Python 3.10 does not take
            found = datetime.fromisoformat(re.sub("[Zz]$", "+00:00", as_of.strip()))
        if isinstance(found, datetime):
            time = datetime.fromisoformat(found.isoformat(timespec="microseconds"))
            if time.tzinfo is None:
                return time
            return time.astimezone(timezone.utc).replace(tzinfo=None)
        if isinstance(found, date):
            return datetime(found.year, found.month, found.day)  # noqa: DTZ001  which is UTC
    msg = f"{Given('as_of', as_of)} is not a time; write {AS_OF}"
    raise RecframeError(msg)


def place_of(history: object) -> Path:
    """Return the folder of a history, or say that it is none."""
    if not isinstance(history, str | os.PathLike) or not str(history):
        msg = f"history={shown(history)}: history takes the path of a folder, such as history='history.parquet'"
        raise RecframeError(msg)
    if "://" in str(history):
        msg = f"{str(history)!r} is an address; a history is a folder on a disk"
        raise RecframeError(msg)
    place = Path(history).expanduser()
    if place.is_file():
        msg = f"{str(history)!r} is a file; a history is a folder, with a file for each run: name another"
        raise RecframeError(msg)
    return place


def _rows_of(kind: Kind) -> pl.DataFrame:
    """Return the rows of a result under its names, or raise an error where it has no numbers for a history."""
    columns = [*map(str, kind.columns)]
    missing = [one for one in ("metric", "value") if one not in columns]
    if missing:
        msg = (
            f"{TO_TRACK}; found a frame without {missing[0]!r}, of the columns {', '.join(columns)}"
        )
        raise RecframeError(msg)
    others = [one for one in columns if f"{one}_low" in columns and one != "value"]
    if others:
        msg = f"{TO_TRACK}; found the number {others[0]!r} too: track it alone, renamed to 'value'"
        raise RecframeError(msg)
    # NOTE: under names of our own, since some such as "^.*$" are patterns to Polars
    rows = stream(kind.take({f"column {at}": one for at, one in enumerate(columns)}).lazy())
    return pl.DataFrame(dict(zip(columns, rows, strict=True)))


def _run(rows: pl.DataFrame, about: Mapping[str, Any], tags: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows of a run as its file has them."""
    keys = rows.columns[: rows.columns.index("metric")]
    for taken in (one for one in keys if one not in keys_of(keys)):
        msg = f"column {taken!r} has the name of a history's own column; rename the column first"
        raise ColumnError(msg)
    here = {one: pl.Series([about[one]], dtype=dtype) for one, dtype in OF_RUN.items()}
    here |= {TAGS + name: pl.Series([tag]) for name, tag in tags.items()}
    found = {name: one.new_from_index(0, rows.height) for name, one in here.items()}
    last = found.pop("fingerprint")
    found |= {name: _stored(rows.get_column(name)) for name in (*keys, "metric")}
    # as evaluate has it
    names = {"n_users": "n"} if "n_users" not in rows.columns else {}
    nothing = pl.Series([None]).new_from_index(0, rows.height)
    for name, dtype in NUMBERS.items():
        found[name] = rows.get_column(names.get(name, name), default=nothing).cast(dtype)
    return pl.DataFrame({**found, "fingerprint": last})


def _stored(column: pl.Series) -> pl.Series:
    """Return a column as files have it: categories as text, since they differ, and a null by its name.

    NOTE: null in a history are the rows of runs that were not split by the column.
    """
    has_nulls = column.null_count() > 0
    if has_nulls or column.dtype in (pl.Categorical, pl.Enum):
        return _text(column).fill_null("null")
    return column


def _text(column: pl.Series) -> pl.Series:
    """Return a column of any dtype as text."""
    values = pl.DataFrame({"values": column}).select(as_text(pl.col("values"), column.dtype))
    return values.to_series()


def _tags(tags: Mapping[str, object]) -> dict[str, str]:
    """Return tags as text by name, or raise an error where they are invalid."""
    if not isinstance(tags, Mapping):
        msg = f"tags={shown(tags)}: tags takes words by their names, such as tags={{'team': 'search'}}"
        raise RecframeError(msg)
    for name in tags:
        if not isinstance(name, str) or not TAG.fullmatch(name):
            msg = f"tags={shown(dict(tags))}: {shown(name)} cannot name a tag; write letters, digits and _"
            raise RecframeError(msg)
    return {name: str(value) for name, value in tags.items()}


def _write(place: Path, about: Mapping[str, Any], run: pl.DataFrame) -> None:
    """Write a run, in the place of one of the same moment, name and fingerprint."""
    # in JSON None is no text, nor two texts one
    key = sha256(json.dumps([str(about["as_of"]), about["name"], about["fingerprint"]]).encode())
    file = place / f"{about['as_of']:%Y-%m-%d}-{key.hexdigest()[:KEY_DIGITS]}{ENDING}"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot write the history {str(place)!r}: {atomic_write.reason(error)}"
        raise RecframeError(msg) from error
    atomic_write.write(file, run.write_parquet)


def _at_once(paths: list[Path]) -> list[pl.DataFrame]:
    """Return all runs as one frame where they have the same columns, a third of the time of one after the other; or none."""
    with suppress(pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        rows = pl.read_parquet(paths) if paths else pl.DataFrame()
        return [rows] if rows.columns and not _missing(rows) else []
    return []


def _missing(rows: pl.DataFrame) -> list[str]:
    """Return the columns of every run that rows do not have."""
    return [one for one in (*OF_RUN, "metric", "value") if one not in rows]


def _read(path: Path) -> pl.DataFrame:
    """Return a run, or say that a file is none."""
    try:
        rows = pl.read_parquet(path)
        missing = _missing(rows)
        reason = f"it has no column {missing[0]!r}" if missing else ""
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001  a panic is no Exception
        reason = atomic_write.reason(error)
    if reason:
        msg = f"{str(path)!r} cannot be read as a run of a history: {reason}; move it elsewhere, or track it again"
        raise DataError(msg)
    return rows


def _together(runs: list[pl.DataFrame]) -> pl.DataFrame:
    """Return runs as one frame in the order of their time."""
    names = list(dict.fromkeys(name for rows in runs for name in rows.columns))
    keys = keys_of(names)
    for key in keys:
        dtypes = {rows.schema[key] for rows in runs if key in rows.columns}
        if len(dtypes) > 1 and not all(dtype.is_numeric() for dtype in dtypes):
            runs = [_with_text(rows, key) for rows in runs]
    own = {**OF_RUN, "metric": pl.String, **NUMBERS}
    whole = pl.concat([pl.DataFrame(schema=own), *runs], how="diagonal_relaxed")
    whole = whole.sort("as_of", "name", maintain_order=True)
    tags = [name for name in names if name.startswith(TAGS)]
    ordered = ["as_of", "name", *tags, *keys, "metric", *NUMBERS, "fingerprint"]
    return pl.DataFrame([whole.get_column(name) for name in ordered])


def _with_text(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return rows with a column, where they have it, as text."""
    if column not in rows.columns:
        return rows
    return rows.with_columns(_text(rows.get_column(column)).alias(column))
