"""How sure metrics are that are one function of a segment's lists, by what each list contributes to them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import aggregate, joined
from recframe.plan.beside import SQUARE, TOTAL, N, name_beside
from recframe.plan.contributions import Contributions, of_sets
from recframe.plan.evaluation import Convention
from recframe.plan.runs import Run
from recframe.uncertainty.summary import FOURTH


def with_spread_of_sets(
    wide: pl.LazyFrame, keys: Sequence[str], inputs: Inputs, asked: Sequence[Convention], run: Run
) -> pl.LazyFrame:
    """Return the metrics of each segment with the sums of the contributions to set metrics beside them."""
    plans = of_sets(inputs, asked, run)
    for one in plans:
        names = [name_beside(part, metric) for metric in one.metrics for part in (N, TOTAL, SQUARE)]
        wide = joined(wide.drop(names), _sums(one), keys)
        wide = joined(wide, _fourths(one), list(one.placed or ()))
    return wide.sort(keys, nulls_last=True) if plans and keys else wide


def _sums(one: Contributions) -> pl.LazyFrame:
    """Return the sums of each segment, and of each cluster in it."""
    sums = []
    for name, metric in zip(one.names, one.metrics, strict=True):
        value = pl.col(name)
        found = {N: value.count().cast(pl.Int64), TOTAL: value.sum(), SQUARE: (value * value).sum()}
        sums += [column.alias(name_beside(part, metric)) for part, column in found.items()]
    return aggregate(one.described(one.rows), one.keys, sums)


def _fourths(one: Contributions) -> pl.LazyFrame:
    """Return the sums of fourth powers of each segment."""
    apart = (pl.col(name) - pl.col(name).mean() for name in one.names)
    fourths = [
        ((d * d) ** 2).sum().alias(name_beside(FOURTH, metric))
        for d, metric in zip(apart, one.metrics, strict=True)
    ]
    return aggregate(one.rows, list(one.placed or ()), fourths)
