"""Names of a metric's extra columns: support and spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.metrics.language.definition import Metric

N, TOTAL, SQUARE, ZERO = "n", "total", "square", "zero"
UNDEFINED, WITHOUT_RELEVANT = "undefined", "without relevant"
FOURTH = "fourth"
"""Sum of fourth powers of the contributions to a set metric, about their mean."""
SUPPORT = (N,)
"""Column suffixes of the support: the number of users or lists averaged over."""
SPREAD = (N, TOTAL, SQUARE, FOURTH, ZERO, UNDEFINED, WITHOUT_RELEVANT)
"""Column suffixes of support and spread: sums of values and squares, numbers of zeros, of undefined values, and of
users without a relevant item. For set metrics only sums of contributions and of their fourth powers about the mean, or
null if unknown."""


def name_beside(part: str, metric: Metric[...]) -> str:
    """Return the name of a metric's extra column."""
    return f"{part} {metric}"


def support_of(metric: Metric[...]) -> str:
    """Return the name of a metric's support column."""
    return name_beside(N, metric)


def columns_beside(
    metric: Metric[...], beside: Sequence[str], found: Mapping[str, pl.Expr]
) -> dict[str, pl.Expr]:
    """Return a metric's extra columns, null for those not computed."""
    missing = pl.lit(None, pl.Float64)
    return {name_beside(part, metric): found.get(part, missing) for part in beside}
