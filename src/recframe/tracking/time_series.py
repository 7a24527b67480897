"""Time series of a history: each number once, by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from recframe.errors import ColumnError, DataError, RecframeError
from recframe.frames.collecting import stream
from recframe.frames.kinds.kind import Kind
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import parse
from recframe.statistics import summary
from recframe.tracking.definitions import as_now
from recframe.tracking.runs import ABOUT, keys_of

KNOWN = ("as_of", "name", "run", "fingerprint", "tracked_at", "definition", "split_by")
"""Metadata columns of a run, some of which a history may lack."""


NUMBERS = ("value", "value_low", "value_high")


WINDOW, LEVEL = 14, 0.99


@dataclass(frozen=True)
class Watched:
    """Watched column of a history, with window and level."""

    window: int = WINDOW
    level: float = LEVEL
    of: str = "value"

    @property
    def ends(self) -> list[str]:
        """The columns of the number and its interval."""
        return [self.of, f"{self.of}_low", f"{self.of}_high"]


@dataclass(frozen=True)
class Runs:
    """Metrics of a history, each once, under internal column names."""

    rows: pl.DataFrame
    """The columns of `KNOWN`, `key 0` and on, `metric`, `k`, those of `NUMBERS`, `std` and `n_users`; and when they are
    `numbered` the `series` of each row, the `place` in it that the first run of its data has, and whether it is that run."""
    keys: list[str] = field(default_factory=list)
    """The names of the columns of segments and models."""

    @property
    def inside(self) -> list[str]:
        """The names of the key columns in `rows`."""
        return [f"key {place}" for place in range(len(self.keys))]


def read(kind: Kind, how: Watched) -> Runs:
    """Read the numbers of a history under internal names."""
    columns = kind.columns
    missing = [one for one in ("as_of", "metric", "k", how.of) if one not in columns]
    if missing:
        msg = (
            "this takes a history, a frame of rf.history('history.parquet') or its path; found a frame without "
            f"{missing[0]!r}, of the columns {', '.join(map(str, columns))}"
        )
        raise ColumnError(msg)
    apart = {*ABOUT, *how.ends, "metric", "k"}
    keys = [key for key in _keys(kind) if key not in apart]
    names = {one: one for one in (*KNOWN, "metric", "k")}
    names |= {f"key {place}": one for place, one in enumerate(keys)}
    names |= dict(zip(NUMBERS, how.ends, strict=True))
    names |= {one: one for one in ("std", "n_users") if how.of == "value"}
    taken = {new: one for new, one in names.items() if one in columns}
    rows = stream(kind.take(taken).lazy())
    if not rows.schema["as_of"].is_temporal():
        msg = f"the column 'as_of' has times; found {rows.schema['as_of']}: pl.col('as_of').str.to_datetime()"
        raise ColumnError(msg)
    runs = Runs(as_now(_with_all(rows, keys)), keys)
    _check_rows(runs)
    return runs


def _check_rows(runs: Runs) -> None:
    """Reject rows without a time, or ambiguous numbers of one run."""
    without = runs.rows["as_of"].null_count()
    if without:
        msg = (
            f"the column 'as_of' is null in {without:,} of {len(runs.rows):,} rows, but each number of a history needs a "
            "time; drop those rows, or read their times again"
        )
        raise DataError(msg)
    number, of_number = pl.col("value"), [*runs.inside, "metric", "k"]
    apart = runs.rows.group_by(*KNOWN, *of_number).agg(least=number.min(), most=number.max())
    mixed = apart.filter(pl.col("least") < pl.col("most"))
    mixed = mixed.sort("as_of", "metric", "k", *runs.inside)
    if len(mixed):
        first = mixed.select("metric", time_shown(pl.col("as_of")), "least", "most").row(0)
        msg = (
            "the history has several values of {} for {}, such as {:.6g} and {:.6g}, and no column to distinguish them: keep "
            "the columns of models and segments, before the column 'k', or filter the rows of one"
        )
        raise DataError(msg.format(*first))


def _keys(kind: Kind) -> list[str]:
    """Return the columns of segments and models: those before `k`, and all that runs were split by.

    NOTE: numbers may stand before `k` too, where columns were selected in another order.
    """
    columns = [str(column) for column in kind.columns]
    found = [one for one in keys_of(columns) if one not in summary.COLUMNS]
    if "split_by" in columns:
        known = stream(kind.take({"split_by": "split_by"}).lazy())["split_by"].drop_nulls().unique()
        named = {name for text in known.to_list() for name in text.split(", ")}
        found += [column for column in columns if column in named]
    return list(dict.fromkeys(found))


def _with_all(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return rows with all columns, null for those that a history does not have."""
    if "split_by" not in rows.columns:
        there = [
            pl.when(pl.col(f"key {place}").is_not_null()).then(pl.lit(name))
            for place, name in enumerate(keys)
        ]
        text = pl.concat_str(there, separator=", ", ignore_nulls=True) if there else pl.lit("")
        rows = rows.with_columns(split_by=pl.when(text != "").then(text))
    floats = [*NUMBERS, "std", "n_users"]
    wanted = {**{one: ABOUT[one] for one in KNOWN}, **dict.fromkeys(floats, pl.Float64)}
    lacking = [
        pl.lit(None, dtype).alias(one) for one, dtype in wanted.items() if one not in rows.columns
    ]
    numbers = pl.col(floats).cast(pl.Float64)
    return rows.with_columns(lacking).with_columns(
        pl.col("metric", "name", "fingerprint", "definition", "split_by").cast(pl.String),
        pl.col("k").cast(pl.Int64),
        # null where they are infinite or none
        pl.when(numbers.is_finite()).then(numbers),
    )


def numbered(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return each number once, with its series and its place in it."""
    about = ["name", "split_by", *keys, "metric", "k"]
    meant, of_data, as_of = [*about, "definition"], ["series", "known", "data"], pl.col("as_of")
    value, known, first = pl.col("value"), pl.col("known"), pl.col("first")
    # NOTE: results of other methods, of the same time, model and metric, may lack the number that is watched, or its interval
    told = value.is_not_null().cast(pl.Int8) + pl.col("value_low").is_not_null()
    twice = (value.min() < value.max()).over("as_of", *about)
    rows = (
        rows.with_row_index("row")
        .with_columns(known=value.is_not_null(), told=told)
        .sort("as_of", "told", "tracked_at", "row", maintain_order=True)
        .unique(["as_of", *about, "fingerprint"], keep="last", maintain_order=True)
        .sort("as_of", "tracked_at", "row", maintain_order=True)
        .with_columns(twice=twice.fill_null(value=False))
        .unique(["as_of", *about], keep="last", maintain_order=True)
    )
    names = rows.select(meant).unique(maintain_order=True).with_row_index("series")
    rows = (
        rows.join(names, on=meant, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(pl.col("series").cast(pl.Int64))
        # a number that no run has is none of its result
        .filter(value.count().over("series") > 0)
        .with_columns(data=pl.col("fingerprint").fill_null(pl.format("row {}", "row")))
        .with_columns(first=known & pl.int_range(pl.len()).over(of_data).eq(0))
        .with_columns(before=first.cast(pl.Int64).cum_sum().over("series"))
    )
    place = pl.when(first).then(pl.col("before") - 1).min().over(of_data)
    return rows.with_columns(
        place=pl.coalesce(place, "before"),
        anew=as_of.min().over("series") > as_of.min().over(about),
        of=as_of.first().over(of_data),
    )


def metric_of(text: str) -> Metric[...] | None:
    """Return the metric of a text, None where it is one of the user's own that is not there now."""
    try:
        return parse(text)
    except RecframeError:
        return None


def time_shown(column: pl.Expr) -> pl.Expr:
    """Return times as text, the first moment of a day as the day."""
    return column.cast(pl.String).str.replace(r"\.0+$", "").str.replace(r"[ T]00:00:00$", "")
