"""Results in long form: a row for each segment, metric and cut-off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from recframe.errors import ColumnError
from recframe.evaluation.segments import n_keys, numbered, support_of
from recframe.frames.hints import Given
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import AS_EVER
from recframe.metrics.language.definition import Metric

COLUMNS = {"metric": pl.String, "k": pl.Int64, "value": pl.Float64, "n": pl.Int64}
"""The columns after those of `by`."""


def tidy(values: pl.LazyFrame, inputs: Inputs, metrics: Sequence[Metric[...]]) -> pl.LazyFrame:
    """Return a result with support as one row for each segment and metric, in the order of both.

    NOTE: lists of one struct for each metric, since a concatenation would read the plan once for each.
    """
    n = n_keys(inputs)
    names, keys = values.collect_schema().names()[:n], [f"key {place}" for place in range(n)]
    for name in names:
        if name in COLUMNS:
            msg = (
                f"{Given('by', name)} is also the name of a result column; rename the column first"
            )
            raise ColumnError(msg)
    rows = pl.concat_list([_row(metric) for metric in metrics]).alias("rows")
    long = numbered(values, keys).select(*keys, rows).explode("rows", **AS_EVER)
    named = (pl.col(key).alias(name) for key, name in zip(keys, names, strict=True))
    return long.unnest("rows").select(*named, *COLUMNS)


def _row(metric: Metric[...]) -> pl.Expr:
    """Return a metric's columns as one struct."""
    values = {
        "metric": pl.lit(str(replace(metric, k=None))),
        "k": pl.lit(metric.k),
        "value": pl.col(str(metric)),
        "n": pl.col(support_of(metric)),
    }
    return pl.struct(values[name].cast(dtype).alias(name) for name, dtype in COLUMNS.items())
