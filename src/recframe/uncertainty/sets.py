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
    return wide.sort(keys, nulls_last=True) if plans and keys else wide


def _sums(one: Contributions) -> pl.LazyFrame:
    """Return the sums of each segment; of each cluster in it, beside the fourth powers of the whole segment."""
    placed = list(one.placed or ())
    sums, fourths = [], []
    for name, metric in zip(one.names, one.metrics, strict=True):
        value, apart = pl.col(name), pl.col(name) - pl.col(name).mean()
        found = {N: value.count().cast(pl.Int64), TOTAL: value.sum(), SQUARE: (value * value).sum()}
        sums += [column.alias(name_beside(part, metric)) for part, column in found.items()]
        fourths.append(((apart * apart) ** 2).sum().alias(name_beside(FOURTH, metric)))
    if placed == one.keys:
        return aggregate(one.rows, placed, [*sums, *fourths])
    of_clusters = aggregate(one.described(one.rows), one.keys, sums)
    return joined(of_clusters, aggregate(one.rows, placed, fourths), placed)
