"""Time series of a history: each number once, by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from recframe.errors import ColumnError, DataError, RecframeError
from recframe.frames.collecting import stream
from recframe.frames.kinds.kind import Kind
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import parse
from recframe.tracking.histories import NUMBERS, OF_RUN, keys_of


@dataclass(frozen=True)
class Runs:
    """Metrics of a history, each once, under internal column names."""

    rows: pl.DataFrame
    """The columns of `OF_RUN`, `key 0` and on, `metric` and those of `NUMBERS`; the columns that each row was `split_by`;
    and the `series` of each row, the `place` in it that the first run of its data has, and whether it is that run."""
    keys: list[str]
    """The names of the columns of segments and models."""

    @property
    def inside(self) -> list[str]:
        """The names of the key columns in `rows`."""
        return [f"key {place}" for place in range(len(self.keys))]


def runs_of(kind: Kind) -> Runs:
    """Return the numbers of a history, in the order of their time, each with its series and its place in it."""
    columns = [*map(str, kind.columns)]
    missing = [one for one in ("as_of", "metric", "value") if one not in columns]
    if missing:
        msg = (
            "this takes a history, a frame of rf.history('history.parquet') or its path; found a frame without "
            f"{missing[0]!r}, of the columns {', '.join(columns)}"
        )
        raise ColumnError(msg)
    keys = keys_of(columns)
    names = {one: one for one in (*OF_RUN, "metric", *NUMBERS) if one in columns}
    names |= {f"key {place}": one for place, one in enumerate(keys)}
    rows = stream(kind.take(names).lazy())
    _check_times(rows)
    runs = Runs(_with_all(rows, keys), keys)
    _check_numbers(runs)
    return Runs(_numbered(runs.rows, runs.inside), keys)


def _check_times(rows: pl.DataFrame) -> None:
    """Reject rows without a time."""
    if not rows.schema["as_of"].is_temporal():
        msg = f"the column 'as_of' has times; found {rows.schema['as_of']}: pl.col('as_of').str.to_datetime()"
        raise ColumnError(msg)
    without = rows["as_of"].null_count()
    if without:
        msg = (
            f"the column 'as_of' is null in {without:,} of {len(rows):,} rows, but each number of a history needs a "
            "time; drop those rows, or read their times again"
        )
        raise DataError(msg)


def _check_numbers(runs: Runs) -> None:
    """Reject ambiguous numbers of one run."""
    number, of_number = pl.col("value"), [*OF_RUN, *runs.inside, "metric"]
    apart = runs.rows.group_by(of_number).agg(least=number.min(), most=number.max())
    mixed = apart.filter(pl.col("least") < pl.col("most")).sort("as_of", "metric", *runs.inside)
    if len(mixed):
        first = mixed.select("metric", time_shown(pl.col("as_of")), "least", "most").row(0)
        msg = (
            "the history has several values of {} for {}, such as {:.6g} and {:.6g}, and no column to distinguish them: keep "
            "the columns of models and segments, or filter the rows of one"
        )
        raise DataError(msg.format(*first))


def _with_all(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return rows with all columns, null for those that a history does not have, and what each was split by."""
    wanted = {**OF_RUN, **dict.fromkeys(NUMBERS, pl.Float64)}
    lacking = [pl.lit(None, dtype).alias(one) for one, dtype in wanted.items() if one not in rows]
    numbers = pl.col(*NUMBERS).cast(pl.Float64)
    there = [
        pl.when(pl.col(f"key {place}").is_not_null()).then(pl.lit(name))
        for place, name in enumerate(keys)
    ]
    split = pl.concat_str(there or [pl.lit("")], separator=", ", ignore_nulls=True)
    return rows.with_columns(lacking).with_columns(
        pl.col("metric", "name", "fingerprint").cast(pl.String),
        # null where they are infinite or none
        pl.when(numbers.is_finite()).then(numbers),
        split_by=pl.when(split != "").then(split),
    )


def _numbered(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return each number once, with its series and its place in it."""
    about, of_data = ["name", *keys, "metric"], ["series", "known", "data"]
    value, known, first, as_of = map(pl.col, ("value", "known", "first", "as_of"))
    twice = (value.min() < value.max()).over("as_of", *about)
    rows = (
        rows.with_row_index("row")
        .with_columns(known=value.is_not_null(), twice=twice.fill_null(value=False))
        .sort("as_of", maintain_order=True)
        .unique(["as_of", *about], keep="last", maintain_order=True)
    )
    names = rows.select(about).unique(maintain_order=True).with_row_index("series")
    rows = (
        rows.join(names, on=about, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(pl.col("series").cast(pl.Int64))
        # a number that no run has is none of its result
        .filter(value.count().over("series") > 0)
        .with_columns(data=pl.col("fingerprint").fill_null(pl.format("row {}", "row")))
        .with_columns(first=known & pl.int_range(pl.len()).over(of_data).eq(0))
        .with_columns(before=first.cast(pl.Int64).cum_sum().over("series"))
    )
    place = pl.when(first).then(pl.col("before") - 1).min().over(of_data)
    return rows.with_columns(place=pl.coalesce(place, "before"), of=as_of.first().over(of_data))


def metric_of(text: str) -> Metric[...] | None:
    """Return the metric of a text, None where it is one of the user's own that is not there now."""
    try:
        return parse(text)
    except RecframeError:
        return None


def time_shown(column: pl.Expr) -> pl.Expr:
    """Return times as text, the first moment of a day as the day."""
    return column.cast(pl.String).str.replace(r"\.0+$", "").str.replace(r"[ T]00:00:00$", "")
