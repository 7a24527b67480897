"""`rec.summarize`: values of metrics with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Numbers, np
from recframe.statistics.estimates import (
    FEW_CLUSTERS,
    Estimate,
    Sums,
    as_columns,
    of_mean,
    of_users,
    t_quantile,
    wilson,
    words,
)
from recframe.statistics.samples import OF_HITS
from recframe.statistics.stored_results import FEW_VALUES, SUMMARY


def interval(e: Estimate, of: Sums, level: float) -> tuple[Numbers, Numbers]:
    """Return the intervals of values: Wilson's for shares, else t's, within the metrics' ranges."""
    least, most = of.of_metrics(lambda metric: metric.range).reshape(-1, 2).T
    half = t_quantile(level, e.freedom) * e.error
    low, high = np.where(of.share, wilson(e, level), (e.value - half, e.value + half))
    return np.clip(low, least, most), np.clip(high, least, most)


def summarized(
    rows: pl.DataFrame, metrics: Mapping[int, Metric[...]], level: float
) -> pl.DataFrame:
    """Return the numbers of each row of sums, with its interval and note."""
    of = Sums(rows, metrics=metrics)
    e, n_users = of_mean(of.moments), of.n_users
    low, high = interval(e, of, level)
    of_set = of_users(of.moments).error * np.sqrt(of.n)
    over_lists = of.of_metrics(lambda metric: needs_of(metric).over == "lists")
    found = {
        "value": e.value,
        "value_low": low,
        "value_high": high,
        "std": np.where(of.of_each, np.sqrt(of.variance), of_set),
        "n_users": n_users,
        "n_lists": np.where(over_lists, n_users, np.nan),
        "note": notes_of(of, e),
    }
    return as_columns(found, SUMMARY)


def notes_of(of: Sums, e: Estimate, *, paired: Flags | bool = False) -> Any:
    """Return the notes on values and their intervals; of a pair's values those with a value of 0 are not known."""
    n, each, there = of.n_users, of.of_each, of.rows.columns
    same, rough = each & (e.error == 0) & np.logical_not(paired), "so the interval is rough"
    few_values = each & (n >= FEW_VALUES) & (n - of.ties < FEW_VALUES) & np.logical_not(paired)
    lacks = {
        "nobody has a value": n == 0,
        **of.without_interval(),
        "all clusters have the same mean": same & (of.variance > 0),
        "all users have the same value": same,
    }
    notes = {
        f"fewer than {FEW_VALUES} users, {rough}": each & (n < FEW_VALUES),
        f"fewer than {FEW_VALUES} users have a value above 0, {rough}": few_values,
        FEW_CLUSTERS: of.few_clusters,
    }
    if (trainings := OF_TRAININGS[0]) in there:
        notes["one training, so no spread between trainings"] = getattr(of, trainings) == 1
    if OF_HITS in there:
        hits = of.rows[OF_HITS]
        notes |= {one: hits.eq_missing(one).to_numpy() for one in hits.drop_nulls().unique()}
    return words(lacks, notes)
