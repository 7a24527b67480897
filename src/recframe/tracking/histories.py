"""Histories of runs in a folder of Parquet files, and flat numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime, timezone
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from recframe.errors import ColumnError, DataError, RecframeError, shown
from recframe.frames import atomic_write
from recframe.frames.collecting import stream
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either, Given
from recframe.frames.kinds.kind import Kind
from recframe.frames.kinds.lookup import kind_for

F = TypeVar("F")
Schema = Mapping[str, pl.DataType]
History = str | os.PathLike[str]
OF_RUN = ("as_of", "name", "fingerprint")
"""Columns about a run, besides its tags."""
TAGS = "tag_"
"""Prefix of the columns of tags."""
NUMBERS = ("value", "low", "high", "std", "n")
"""Columns of a number."""
BEHIND = ("metric", *NUMBERS, "fingerprint")
"""Columns behind those that a run was split by, in their order."""
OWN = pl.Schema(
    {
        "as_of": pl.Datetime("us"),
        "name": pl.String(),
        **dict.fromkeys(BEHIND, pl.Float64()),
        "metric": pl.String(),
        "n": pl.Int64(),
        "fingerprint": pl.String(),
    }
)
"""Columns of every run, without its tags and the columns that it was split by."""
OF_SUMMARY = {"value_low": "low", "value_high": "high", "n_users": "n"}
"""Columns of a history by their names in a summary."""
ENDING = ".parquet"
UNREADABLE = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
NULL = "null"
"""Text of a segment that is null; null itself means that a run was not split by the column."""
NOT_TAKEN = re.compile(r"[^\w.-]")
"""Characters that MLflow, Weights & Biases or TensorBoard do not take in a part of a name; a slash stands between parts."""
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
) -> F | pl.DataFrame:
    """Write a result to a history as one run, and return the run as its file has it.

    `rec.track("ndcg@10", ...)` computes a result and writes it, with the fingerprint of the data. This function is for an
    existing result: of `summarize`, or of `evaluate(..., tidy=True)`.

        history: a folder of Parquet files, one for each run, such as "history.parquet", created if missing.
        as_of: the time of the result: a date, a datetime, or text such as "2026-11-22" or
            "2026-11-22T06:00+01:00". Without a zone it is UTC.
        name: a name of the run, so that several runs of one time and data do not replace each other.
        tags: values stored with each row by name, such as {"commit": "3f2a1c"}, in columns `tag_commit`.
        fingerprint: of the data, `rec.fingerprint()`.

    A run with the same `as_of`, `name` and fingerprint replaces the earlier one, with all of its metrics: compute the metrics
    of a run in one call, or name the runs. A file has a temporary name until it is complete, so that readers see a whole run
    or none, and several processes may write at once.

    The columns of a file are `as_of`, `name`, those of tags, the columns that the result is split by under their own names
    as text ("null" for a segment that is null), `metric`, `value`, `low`, `high` (its interval),
    `std`, `n` (its users), `fingerprint`. Polars and DuckDB read the folder too: `read_parquet('folder/*.parquet')`.

    Of a LazyFrame the plan runs, and the result is a DataFrame.

    Raises a RecframeError for a result that is not tidy, an `as_of` that is not a time, and a place that cannot be written, and
    a ColumnError if the result is split by a column with the name of one of the file's own.

    >>> import polars as pl, recframe as rf, tempfile
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in ("2026-11-21", "2026-11-22", "2026-11-22"):
    ...         tracked = rf.track(df.rec.summarize("mrr"), f"{folder}/history.parquet", as_of=day)
    ...     rf.history(f"{folder}/history.parquet").select("as_of", "metric", "value", "n")
    shape: (2, 4)
    ┌─────────────────────┬────────┬───────┬─────┐
    │ as_of               ┆ metric ┆ value ┆ n   │
    │ ---                 ┆ ---    ┆ ---   ┆ --- │
    │ datetime[μs]        ┆ str    ┆ f64   ┆ i64 │
    ╞═════════════════════╪════════╪═══════╪═════╡
    │ 2026-11-21 00:00:00 ┆ mrr    ┆ 0.75  ┆ 2   │
    │ 2026-11-22 00:00:00 ┆ mrr    ┆ 0.75  ┆ 2   │
    └─────────────────────┴────────┴───────┴─────┘
    """
    place, kind = place_of(history), kind_for(result, "the first argument of track()")
    about: dict[str, Any] = {"as_of": moment(as_of), "name": name, "fingerprint": fingerprint}
    if not isinstance(tags, Mapping | None):
        msg = f"tags={shown(tags)}: tags takes words by their names, such as tags={{'team': 'search'}}"
        raise RecframeError(msg)
    run = _run(kind, about, {f"{TAGS}{tag}": str(word) for tag, word in (tags or {}).items()})
    key = sha256(repr([*about.values()]).encode()).hexdigest()[:16]
    # the write says what is wrong with the folder
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
    atomic_write.write(place / f"{about['as_of']:%Y-%m-%d}-{key}{ENDING}", run.write_parquet)
    return run if kind.is_lazy else kind.give(run.lazy(), {})


def history(history: History) -> pl.DataFrame:
    """Return all runs of a history as a frame: a row for each number, sorted by `as_of` and `name`.

    The columns are those of the files (see `rf.track`): `as_of` (in UTC), `name`, `tag_...`, the columns that runs were split
    by, `metric`, `value`, `low`, `high`, `std`, `n` and `fingerprint`. Those that runs were split by are text; a run that was
    not split by one has null in it.

    Other data for the same `as_of`, such as a truth that has grown, have another fingerprint and separate rows, those of the
    last written file last.

    Raises a RecframeError if there is no folder, and a DataError that names the file, and its column, that another program
    wrote. An empty folder gives a frame without rows.

    >>> import polars as pl, recframe as rf, tempfile
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tracked = df.rec.track("mrr", "recall@1", history=folder, as_of="2026-11-22", tags={"team": "search"})
    ...     rf.history(folder).select("tag_team", "metric", "value", "n")
    shape: (2, 4)
    ┌──────────┬──────────┬───────┬─────┐
    │ tag_team ┆ metric   ┆ value ┆ n   │
    │ ---      ┆ ---      ┆ ---   ┆ --- │
    │ str      ┆ str      ┆ f64   ┆ i64 │
    ╞══════════╪══════════╪═══════╪═════╡
    │ search   ┆ mrr      ┆ 0.75  ┆ 2   │
    │ search   ┆ recall@1 ┆ 0.5   ┆ 2   │
    └──────────┴──────────┴───────┴─────┘
    """
    place = place_of(history)
    if not place.is_dir():
        begins = Either(f"rec.track(..., history={str(place)!r})", "recframe track")
        msg = f"there is no history at {str(place)!r}; {begins} starts one"
        raise RecframeError(msg)
    files = [file for file in place.iterdir() if file.suffix == ENDING]
    paths = sorted(files, key=lambda file: (file.stat().st_mtime_ns, file))
    return _read(paths).sort("as_of", "name", maintain_order=True)


def keys_of(columns: Iterable[str]) -> list[str]:
    """Return the columns that the runs of a history were split by, of all of its columns."""
    own = {*OWN, *OF_SUMMARY, "k", "note"}
    return [one for one in columns if one not in own and not one.startswith(TAGS)]


def moment(as_of: Any) -> datetime:
    """Return the time that a result holds for, in UTC without a zone; a date is its first moment, text is ISO 8601."""
    # NOTE: pandas' NaT is a datetime too, whose text is no time
    with suppress(ValueError, OverflowError, AttributeError):
        text = as_of.strip() if isinstance(as_of, str) else as_of.isoformat()
        # Python 3.10 takes neither a Z nor the nanoseconds of pandas
        text = re.sub(r"(\.\d{6})\d+", r"\1", re.sub("[Zz]$", "+00:00", text))
        time = datetime.fromisoformat(text)
        return time.astimezone(timezone.utc).replace(tzinfo=None) if time.tzinfo else time
    msg = f"{Given('as_of', as_of)} is not a time; write {AS_OF}"
    raise RecframeError(msg)


def place_of(history: object) -> Path:
    """Return the folder of a history, or say that it is none."""
    given = history if isinstance(history, str | os.PathLike) else ""
    place = Path(given).expanduser()
    if not str(given) or "://" in str(given) or place.is_file():
        folder = "a folder on a disk, with a file for each run, such as history='history.parquet'"
        msg = f"history={shown(history)}: history takes the path of {folder}"
        raise RecframeError(msg)
    return place


def _run(kind: Kind, about: dict[str, Any], tags: dict[str, str]) -> pl.DataFrame:
    """Return the rows of a run as its file has them, or raise an error where the result has no numbers for it."""
    columns = [*map(str, kind.columns)]
    for missing in sorted({"metric", "value"} - {*columns}):
        msg = f"track takes a result of summarize, or of evaluate(..., tidy=True); found a frame without {missing!r}, of the "
        raise RecframeError(msg + f"columns {', '.join(columns)}")
    keys = columns[: columns.index("metric")]
    for taken in sorted({*keys} - {*keys_of(keys)}):
        msg = f"column {taken!r} has the name of a history's own column; rename the column first"
        raise ColumnError(msg)
    # NOTE: keys under names of our own, since some such as "^.*$" are patterns to Polars
    inside = {f"key {place}": name for place, name in enumerate(keys)}
    named = {OF_SUMMARY.get(one, one): one for one in columns}
    wanted = inside | {name: one for name, one in named.items() if name in BEHIND}
    rows = stream(kind.take(wanted).lazy())
    texts = (as_text(pl.col(one), rows.schema[one]).fill_null(NULL) for one in inside)
    run = pl.concat([pl.DataFrame(schema=OWN), rows.with_columns(texts)], how="diagonal_relaxed")
    of_run = [pl.lit(word, OWN.get(one)).alias(one) for one, word in (about | tags).items()]
    run = run.cast(OWN).with_columns(of_run)
    return run.select(_ordered(run.columns)).rename(inside)


def _ordered(names: Iterable[str]) -> list[str]:
    tags = [name for name in names if name.startswith(TAGS)]
    return ["as_of", "name", *tags, *keys_of(names), *BEHIND]


def _read(paths: list[Path]) -> pl.DataFrame:
    """Return the runs of files in their order."""
    if not paths:
        return pl.DataFrame(schema=OWN)[_ordered([*OWN])]
    with suppress(*UNREADABLE):
        # as most folders are: the same columns in all files
        rows = pl.read_parquet(paths, glob=False)
        if not _foreign(rows.schema):
            return rows
    schemas = {name: dtype for path in paths for name, dtype in _schema(path).items()}
    whole = {name: schemas[name] for name in _ordered(schemas)}
    return stream(pl.scan_parquet(paths, glob=False, schema=whole, missing_columns="insert"))


def _schema(path: Path) -> Schema:
    """Return the columns of a file, or say why it is no run."""
    try:
        schema = pl.read_parquet_schema(path)
        reason = _foreign(schema)
    except UNREADABLE as error:
        schema, reason = {}, atomic_write.reason(error)
    if reason:
        msg = (
            f"{str(path)!r} is no run of a history: {reason}; move it elsewhere, or track it again"
        )
        raise DataError(msg)
    return schema


def _foreign(schema: Schema) -> str:
    """Return what is wrong with the columns of a file that another program wrote."""
    whole = {name: OWN.get(name, pl.String()) for name in _ordered([*{**schema, **OWN}])}
    for (name, dtype), found in zip_longest(whole.items(), schema.items()):
        if found != (name, dtype):
            return f"its column {name!r} is {schema.get(name, 'missing')}, not as track writes it"
    return ""


def flat(result: Any, *, model: str = "model") -> dict[str, float]:
    """Return a tidy result as a dict of numbers, such as `{"svd/ndcg_at_10": 0.33}`, for experiment trackers.

    A name consists of the model, if there is one, the metric, and the segment columns with their values:
    `svd/ndcg_at_10/country_FR`. The interval of `x` is `x_low` and `x_high`; other numbers with an interval have their column's
    name, such as `svd/ndcg_at_10_difference`. `model` is the column of models.

    MLflow, Weights & Biases and TensorBoard take these names: letters, digits, `_`, `.`, `-`, and a slash between parts; any
    other character becomes `_`. Null numbers are left out.

        mlflow.log_metrics(rf.flat(result))     wandb.log(rf.flat(result))
        for name, value in rf.flat(result).items(): writer.add_scalar(name, value, step)

    A run of a history is one too, what `track` returns: its time, name and tags are in no name.

    Raises a RecframeError for a result that is not tidy, and where two numbers would have one name. Of a LazyFrame the plan
    runs.

    >>> import polars as pl, recframe as rf
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1], "country": ["FR", "DE"]})
    >>> rf.flat(df.rec.evaluate("mrr", "recall@1", by="country", tidy=True))
    {'mrr/country_DE': 0.5, 'recall_at_1/country_DE': 0.0, 'mrr/country_FR': 1.0, 'recall_at_1/country_FR': 1.0}
    """
    kind = kind_for(result, "the first argument of flat()")
    columns = [*map(str, kind.columns)]
    if not {"metric", "value"} <= {*columns}:
        msg = "flat takes a tidy result, a row for each number: of summarize or compare, or of evaluate(..., tidy=True); found "
        raise RecframeError(f"{msg}the columns {', '.join(columns)}")
    found: dict[str, Any] = {}
    keys = [one for one in keys_of(columns[: columns.index("metric")]) if one != model]
    numbers = [one for one in columns if _is_number(one, columns)]
    taken = [*keys, *({model, "k"} & {*columns}), "metric", *numbers]
    for row in stream(kind.take({one: one for one in taken}).lazy()).to_dicts():
        name, _, cut = row["metric"].partition("@")
        # in some results the cut-off stands behind the metric, in others in a column of its own
        cut = cut or row.get("k")
        parts = [row[model]] if model in columns else []
        parts.append(_part(name).rstrip("_") + (f"_at_{cut}" if cut else ""))
        parts += [f"{key}_{'null' if row[key] is None else row[key]}" for key in keys]
        for number in numbers:
            end = number.removeprefix("value").removeprefix("_")
            name = "/".join(map(_part, parts)) + (f"_{end}" if end else "")
            if name in found:
                msg = f"two numbers of the result would be called {name!r}, where other characters than letters, digits, '_', "
                msg += "'.' and '-' are '_'; rename a value, or take a part of the result, such as one run of a history"
                raise RecframeError(msg)
            found[name] = row[number]
    return {name: float(number) for name, number in found.items() if number is not None}


def _is_number(column: str, columns: list[str]) -> bool:
    """Return whether a column is a value, its interval, or another number that has an interval, or its end."""
    of = re.sub("_(low|high)$", "", column)
    return column in ("value", "low", "high") or {f"{of}_low", f"{of}_high"} <= {*columns}


def _part(value: object) -> str:
    """Return a part of a name in characters that are taken; one of dots alone would be a folder's."""
    text = NOT_TAKEN.sub("_", "null" if value is None else str(value))
    return text if text.strip(".") else "_" * max(len(text), 1)
