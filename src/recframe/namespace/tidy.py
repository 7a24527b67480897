"""Results in long form: a row for each segment, metric and cut-off, as charts, trackers and files take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from recframe.errors import ColumnError
from recframe.frames.hints import Given
from recframe.frames.inputs import Inputs
from recframe.frames.rows.exploding import AS_EVER
from recframe.metrics.language.definition import Metric
from recframe.plan.beside import support_of
from recframe.plan.segments import n_keys, numbered

COLUMNS = {"metric": pl.String, "k": pl.Int64, "value": pl.Float64, "n": pl.Int64}
"""What follows the `by` columns."""


def tidy(values: pl.LazyFrame, inputs: Inputs, metrics: Sequence[Metric[...]]) -> pl.LazyFrame:
    """Return a result with support as one row for each segment and metric, in the order of both.

    NOTE: lists of one struct for each metric, since a concatenation would read the plan once for each.
    """
    n = n_keys(inputs)
    names, keys = values.collect_schema().names()[:n], [f"key {place}" for place in range(n)]
    for name in names:
        if name in COLUMNS:
            msg = (
                f"{Given('by', name)} is also the name of a result column; rename the column before"
            )
            raise ColumnError(msg)
    rows = pl.concat_list([_row(metric) for metric in metrics]).alias("rows")
    long = numbered(values, keys).select(*keys, rows).explode("rows", **AS_EVER)
    named = (pl.col(key).alias(name) for key, name in zip(keys, names, strict=True))
    return long.unnest("rows").select(*named, *COLUMNS)


def _row(metric: Metric[...]) -> pl.Expr:
    """Return what a metric's columns say, as one value."""
    values = {
        "metric": pl.lit(str(replace(metric, k=None))),
        "k": pl.lit(metric.k),
        "value": pl.col(str(metric)),
        "n": pl.col(support_of(metric)),
    }
    return pl.struct(values[name].cast(dtype).alias(name) for name, dtype in COLUMNS.items())


def wide(result: pl.DataFrame, metrics: Sequence[Metric[...]]) -> pl.DataFrame:
    """Return a collected result in long form as one with a column for each metric, for whoever looks at the numbers."""
    every, n = len(metrics), result.width - len(COLUMNS)
    columns = [one.gather_every(every) for one in result.get_columns()[:n]]
    users = [place for place, one in enumerate(metrics) if not one.definition.over_lists]
    if users:
        counts = pl.DataFrame([_nth(result["n"], at, every).alias(str(at)) for at in users])
        columns.append(counts.max_horizontal().alias("n_users"))
    values = [_nth(result["value"], at, every) for at in range(every)]
    named = [one.alias(str(metric)) for one, metric in zip(values, metrics, strict=True)]
    # by their names, since among columns in a list an empty name is replaced
    return pl.DataFrame({one.name: one for one in [*columns, *named]})


def _nth(column: pl.Series, place: int, every: int) -> pl.Series:
    return column.gather_every(every, place)
