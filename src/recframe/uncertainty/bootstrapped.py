"""Means with intervals by resampling random groups of users."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from recframe.errors import warn
from recframe.frames.collecting import run_by_size
from recframe.metrics.language.definition import Metric
from recframe.plan.beside import TOTAL, N, name_beside
from recframe.uncertainty.arrays import np
from recframe.uncertainty.comparison import Comparing
from recframe.uncertainty.groups import groups_of
from recframe.uncertainty.resampling import bootstrap_means, percentile_interval
from recframe.uncertainty.summary import COLUMNS, Intervals, added, of_clusters, summarized


def bootstrapped(
    wide: pl.DataFrame, keys: Sequence[str], metrics: Sequence[Metric[...]], how: Comparing
) -> pl.DataFrame:
    """Return what `summarized` does, with percentile intervals, from the sums of random groups of users.

    A segment whose users or clusters are one has no interval. Source: Efron 1979.
    """
    _warn_of_few_resamples(how)
    whole = run_by_size(_whole(wide.lazy(), keys, metrics, how.cluster), len(wide))
    whole = whole.sort(keys, nulls_last=True) if keys else whole
    long = run_by_size(summarized(whole.lazy(), keys, metrics, Intervals(how.level)), len(whole))
    groups = groups_of(wide, whole.select(keys))
    sums = groups.matrix(name_beside(TOTAL, metric) for metric in metrics)
    counts = groups.matrix(name_beside(N, metric) for metric in metrics)
    draws = bootstrap_means(sums, counts, n_resamples=how.n_resamples, seed=how.seed, tell=how.tell)
    low, high = percentile_interval(draws, level=how.level)
    found = long.with_columns(
        low=pl.Series(low).fill_nan(None),
        high=pl.Series(high).fill_nan(None),
        alone=pl.Series(np.count_nonzero(counts, axis=0) == 1),
    )
    known = pl.col("value_low").is_not_null() & ~pl.col("alone")
    too_few = pl.col("alone") & pl.col("value_low").is_not_null()
    return found.with_columns(
        value_low=pl.when(known).then("low"),
        value_high=pl.when(known).then("high"),
        note=pl.when(too_few).then(pl.lit("too few users to resample")).otherwise("note"),
    ).select(*keys, *COLUMNS)


def _whole(
    wide: pl.LazyFrame, keys: Sequence[str], metrics: Sequence[Metric[...]], cluster: str | None
) -> pl.LazyFrame:
    """Return the sums of each segment from those of its random groups, which divide no cluster."""
    if cluster is None:
        return added(wide, keys, metrics)
    return of_clusters(wide, [*keys, cluster], metrics)


def _warn_of_few_resamples(how: Comparing) -> None:
    """Warn where the ends of intervals lie beyond the outermost resamples."""
    needed = math.ceil(2.0 / (1.0 - how.level) * (1 - 1e-9)) - 1
    if how.n_resamples < needed:
        warn(
            f"n_resamples={how.n_resamples}: the ends of intervals at level={how.level:g} lie beyond so few resamples; "
            f"write n_resamples={needed} at least, and some thousand to have two digits"
        )
