"""Means with intervals by resampling random groups of users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.frames.collecting import run_by_size
from recframe.metrics.language.definition import Metric
from recframe.plan.beside import TOTAL, N, name_beside
from recframe.uncertainty.groups import groups_of
from recframe.uncertainty.resampling import bootstrap_means, percentile_interval
from recframe.uncertainty.summary import COLUMNS, Intervals, added, summarized


@dataclass(frozen=True)
class Bootstrap:
    """How often users are drawn anew, and how."""

    level: float
    n_resamples: int
    seed: int
    tell: Callable[[int, int], None] | None = None


def bootstrapped(
    wide: pl.DataFrame, keys: Sequence[str], metrics: Sequence[Metric[...]], how: Bootstrap
) -> pl.DataFrame:
    """Return what `summarized` does, with percentile intervals, from the sums of random groups of users.

    A segment of one user has no interval. Source: Efron 1979.
    """
    whole = run_by_size(added(wide.lazy(), keys, metrics), len(wide))
    whole = whole.sort(keys, nulls_last=True) if keys else whole
    long = run_by_size(summarized(whole.lazy(), keys, metrics, Intervals(how.level)), len(whole))
    groups = groups_of(wide, whole.select(keys))
    sums = groups.matrix(name_beside(TOTAL, metric) for metric in metrics)
    counts = groups.matrix(name_beside(N, metric) for metric in metrics)
    draws = bootstrap_means(sums, counts, n_resamples=how.n_resamples, seed=how.seed, tell=how.tell)
    low, high = percentile_interval(draws, level=how.level)
    has_one = pl.col("value_low").is_not_null()
    found = long.with_columns(
        low=pl.Series(low).fill_nan(None), high=pl.Series(high).fill_nan(None)
    )
    return found.with_columns(
        value_low=pl.when(has_one).then("low"), value_high=pl.when(has_one).then("high")
    ).select(*keys, *COLUMNS)
