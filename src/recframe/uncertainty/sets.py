"""How sure metrics are that are one function of a segment's lists, by what each list contributes to them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import joined
from recframe.plan.beside import FOURTH, SQUARE, TOTAL, N, name_beside
from recframe.plan.contributions import Contributions, of_sets
from recframe.plan.evaluation import Convention
from recframe.plan.leave_one_out import sums_of_contributions
from recframe.plan.needs import needs_of
from recframe.plan.runs import Run


def with_spread_of_sets(
    wide: pl.LazyFrame, keys: Sequence[str], inputs: Inputs, asked: Sequence[Convention], run: Run
) -> pl.LazyFrame:
    """Return the metrics of each segment with the sums of the contributions to set metrics beside them.

    Those of metrics over lists stand there already, unless there are sums of clusters, which are no segments of them.
    """
    rest = [one for one in asked if inputs.units or needs_of(one.metric).means]
    plans = of_sets(inputs, rest, run)
    for one in plans:
        parts = (N, TOTAL, SQUARE, FOURTH)
        names = [name_beside(part, metric) for metric in one.metrics for part in parts]
        wide = joined(wide.drop(names), sums_of_sets(one), keys)
    return wide.sort(keys, nulls_last=True) if plans and keys else wide


def sums_of_sets(one: Contributions) -> pl.LazyFrame:
    """Return the sums of each segment; of each cluster in it, beside the fourth powers of the whole segment."""
    placed, names = list(one.placed or ()), [str(metric) for metric in one.metrics]
    if placed == one.keys:
        return sums_of_contributions(one.rows, placed, names)
    rows = one.described(one.rows)
    of_clusters = sums_of_contributions(rows, one.keys, names, (N, TOTAL, SQUARE))
    return joined(of_clusters, sums_of_contributions(one.rows, placed, names, (FOURTH,)), placed)
