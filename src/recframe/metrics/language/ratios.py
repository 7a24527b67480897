"""A part of each list over a whole of it: averaged over users, or pooled as the ratio of both sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import polars as pl

from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Definition, Metric
from recframe.metrics.language.formulas import ratio

Average = Literal["users", "pooled"]
"""Whether a segment has the mean of its users' ratios, or the sum of the parts over the sum of the wholes."""
Count = Callable[[At], pl.Expr]


def averaged_ratio(at: At, part: Count, whole: Count, *, pooled: bool) -> pl.Expr:
    """Return part / whole of a list, 0 where the whole is 0; pooled, that of both sums over a segment's users."""
    if not pooled:
        return ratio(part(at), whole(at))
    return ratio(at.mean(unregistered(part)), at.mean(unregistered(whole)))


def unregistered(function: Count) -> Metric[...]:
    """Return a value of a list as a metric, whose mean others are made of.

    NOTE: its function is of this module, and so none of recframe's own metrics: of these a plan leaves out lists without a
    hit, since they have the value of an empty one, which `n_relevant` has not.
    """

    def value(at: At) -> pl.Expr:
        return function(at)

    return Metric(Definition("value", value, linear=True))
