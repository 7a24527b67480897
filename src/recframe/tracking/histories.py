"""Histories of runs in a folder of Parquet files, and flat numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl

from recframe import atomic_write
from recframe.errors import ColumnError, DataError, RecframeError, shown
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either, Given
from recframe.frames.kinds.kind import collected, kind_for, stream

History = str | os.PathLike[str]
OF_RUN = ("as_of", "name", "fingerprint")
"""Columns about a run, besides its tags."""
TAGS = "tag_"
"""Prefix of the columns of tags."""
BEHIND = ("metric", "value", "low", "high", "std", "n", "fingerprint")
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
UNREADABLE = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
NULL = "null"
"""Text of a segment that is null; null itself means that a run was not split by the column."""
NOT_TAKEN = re.compile(r"[^\w.-]|^\.+$|^$")
"""Characters that MLflow, Weights & Biases or TensorBoard refuse in a part of a name; dots alone name a folder."""


def write(
    summary: Any,
    place: Path,
    about: Mapping[str, Any],
    tags: Mapping[str, object] | None,
) -> Any:
    """Write a summary as a run, and return the run as its file has it; of a LazyFrame a DataFrame.

    `about` has the columns of `OF_RUN`, in that order. A run with the same three replaces the earlier one.
    """
    if not isinstance(tags, Mapping | None):
        raise RecframeError(
            f"tags={shown(tags)}: tags takes words by their names, such as tags={{'team': 'search'}}"
        )
    rows, kind = collected(summary), kind_for(summary)
    keys = rows.columns[: rows.columns.index("metric")]
    for taken in sorted({*keys} - {*keys_of(keys)}):
        raise ColumnError(
            f"column {taken!r} has the name of a history's own column; rename the column first"
        )
    # NOTE: by their places, since some names such as "^.*$" are patterns to Polars
    texts = [as_text(pl.nth(at), rows.dtypes[at]).fill_null(NULL) for at in range(len(keys))]
    as_of, name, fingerprint = (pl.lit(of, OWN[one]).alias(one) for one, of in about.items())
    words = [pl.lit(str(word)).alias(f"{TAGS}{tag}") for tag, word in (tags or {}).items()]
    rows = rows.rename(OF_SUMMARY)
    run = rows.select(as_of, name, *words, *texts, *BEHIND[:-1], fingerprint)
    key = sha256(repr([*about.values()]).encode()).hexdigest()[:16]
    # the write says what is wrong with the folder
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
    file = place / f"{about['as_of']:%Y-%m-%d}-{key}.parquet"
    atomic_write.write(file, run.write_parquet)
    return run if kind.is_lazy else kind.give(run.lazy(), {})


def history(history: History) -> pl.DataFrame:
    """Return all runs of a history as a frame: a row for each number, sorted by `as_of` and `name`.

    The columns are `as_of` (in UTC), `name`, `tag_...`, the columns that runs were split by, `metric`, `value`, `low`, `high`,
    `std`, `n` and `fingerprint`. Those that runs were split by are text, "null" for a segment that is null; a run that was not
    split by one has null in it.

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
        raise RecframeError(f"there is no history at {str(place)!r}; {begins} starts one")
    files = place.glob("*.parquet")
    paths = sorted(files, key=lambda file: (file.stat().st_mtime_ns, file))
    return _read(paths).sort("as_of", "name", maintain_order=True)


def keys_of(columns: Iterable[str]) -> list[str]:
    """Return the columns that the runs of a history were split by, of all of its columns."""
    own = {*OWN, *OF_SUMMARY}
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
    such = Either(
        "as_of=datetime.date(2026, 11, 22), a datetime, or text such as as_of='2026-11-22'",
        "2026-11-22, or 2026-11-22T06:00+01:00",
    )
    raise RecframeError(f"{Given('as_of', as_of)} is not a time; write {such}")


def place_of(history: object) -> Path:
    """Return the folder of a history, or say that it is none."""
    given = history if isinstance(history, str | os.PathLike) else ""
    place = Path(given).expanduser()
    if not str(given) or "://" in str(given) or place.is_file():
        folder = "a folder on a disk, with a file for each run, such as history='history.parquet'"
        raise RecframeError(f"history={shown(history)}: history takes the path of {folder}")
    return place


def _read(paths: list[Path]) -> pl.DataFrame:
    """Return the runs of files in their order."""
    with suppress(*UNREADABLE):
        # as most folders are: the same columns in all files
        rows = pl.read_parquet(paths, glob=False)
        if rows.schema == _tracked(rows.columns):
            return rows
    whole = _tracked(name for path in paths for name in _columns(path))
    if not paths:
        return pl.DataFrame(schema=whole)
    return stream(pl.scan_parquet(paths, glob=False, schema=whole, missing_columns="insert"))


def _tracked(names: Iterable[str]) -> pl.Schema:
    """Return the columns of runs that have these ones, as `write` has them."""
    every = dict.fromkeys((*names, *OWN))
    tags = [name for name in every if name.startswith(TAGS)]
    order = ["as_of", "name", *tags, *keys_of(every), *BEHIND]
    return pl.Schema({name: OWN.get(name, pl.String()) for name in order})


def _columns(path: Path) -> Mapping[str, pl.DataType]:
    """Return the columns of a file, or say why it is no run."""
    reason, schema = "", {}
    try:
        schema = pl.read_parquet_schema(path)
        pairs = zip_longest(_tracked(schema).items(), schema.items())
        wrong = [tracked[0] for tracked, given in pairs if tracked != given]
        if wrong:
            there = schema.get(wrong[0], "missing")
            reason = f"its column {wrong[0]!r} is {there}, not as track writes it"
    except UNREADABLE as error:
        reason = atomic_write.reason(error)
    if reason:
        whole = f"is no run of a history: {reason}; move it elsewhere, or track it again"
        raise DataError(f"{str(path)!r} {whole}")
    return schema


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
    rows = collected(result, "the first argument of flat()")
    columns = rows.columns
    if not {"metric", "value"} <= {*columns}:
        msg = "flat takes a tidy result, a row for each number: of summarize or compare, or of evaluate(..., tidy=True); found "
        raise RecframeError(f"{msg}the columns {', '.join(columns)}")
    keys = [one for one in keys_of(columns[: columns.index("metric")]) if one != model]
    ends = {
        one: f"_{one.removeprefix('value').strip('_')}".rstrip("_")
        for one in columns
        if one in ("value", "low", "high") or re.sub("_(low|high)$", "", one) + "_low" in columns
    }
    numbers: dict[str, Any] = {}
    for row in rows.to_dicts():
        # in some results the cut-off stands behind the metric, in others in a column of its own
        cut = "" if row.get("k") is None else f"@{row['k']}"
        metric = re.sub(r"\)?@", "_at_", row["metric"] + cut)
        of_model = [_part(row[model])] if model in columns else []
        of_keys = [_part(key, row[key]) for key in keys]
        path = "/".join([*of_model, _part(metric).rstrip("_"), *of_keys])
        for number, end in ends.items():
            name = path + end
            if name in numbers:
                msg = f"two numbers of the result would be called {name!r}, where other characters than letters, digits, '_', "
                msg += "'.' and '-' are '_'; rename a value, or take a part of the result, such as one run of a history"
                raise RecframeError(msg)
            numbers[name] = row[number]
    return {name: float(number) for name, number in numbers.items() if number is not None}


def _part(*words: object) -> str:
    """Return a part of a name in characters that are taken."""
    text = "_".join(NULL if word is None else str(word) for word in words)
    return NOT_TAKEN.sub("_", text)
