"""What stands beside a metric's column where its support or its spread is asked for, and the names of those columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.metrics.language.definition import Metric

N, TOTAL, SQUARE, ZERO = "n", "total", "square", "zero"
UNDEFINED, WITHOUT_RELEVANT = "undefined", "without relevant"
FOURTH = "fourth"
"""The sum of the fourth powers of contributions to a set metric, about their mean."""
SUPPORT = (N,)
"""How many users or lists a metric was averaged over."""
SPREAD = (N, TOTAL, SQUARE, FOURTH, ZERO, UNDEFINED, WITHOUT_RELEVANT)
"""With it the sums of their values and of the squares, the values that are 0, the users or lists without a value, and the
users without a relevant item; null where a metric is one function of a segment. Of that there are the sums of contributions,
and of the fourth powers about their mean; null where nobody knows them."""


def name_beside(part: str, metric: Metric[...]) -> str:
    """Return the name of a column beside a metric's."""
    return f"{part} {metric}"


def support_of(metric: Metric[...]) -> str:
    """Return the name of the column of how many users or lists a metric was averaged over."""
    return name_beside(N, metric)


def columns_beside(
    metric: Metric[...], beside: Sequence[str], found: Mapping[str, pl.Expr]
) -> dict[str, pl.Expr]:
    """Return the columns beside a metric's: those that were found, and null for the others."""
    missing = pl.lit(None, pl.Float64)
    return {name_beside(part, metric): found.get(part, missing) for part in beside}
