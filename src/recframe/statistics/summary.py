"""`rec.summarize`: values of metrics with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Given, Numbers, np, ratio
from recframe.statistics.estimates import (
    NO_SPREAD,
    Columns,
    Estimate,
    as_columns,
    of_mean,
    of_users,
    t_quantile,
    wilson,
    words,
)
from recframe.statistics.groups import FEWEST, N_GROUPS, reason_without
from recframe.statistics.samples import OF_HITS
from recframe.statistics.stored_results import FEW, FEW_VALUES, SUMMARY
from recframe.statistics.sums import PLACE, ROUNDING, USERS

FEW_CLUSTERS = f"clusters count as fewer than {FEW} of one size, so the interval is rough"


class Sums(Columns):
    """Rows of sums of one result, with their metrics by place."""

    metrics: Mapping[int, Metric[...]]

    @property
    def moments(self) -> Columns:
        """The sums; a set metric that hangs on too few groups of users, or changes alike without each, has no units."""
        is_set, units, differ = ~self.of_each, self.units, self.differ
        if not is_set.any():
            return self
        flat = self.dd <= (ROUNDING * np.maximum(np.abs(self.d), np.abs(self.a))) ** 2
        few = is_set & ((units < FEWEST) | (differ < FEWEST) | flat)
        # two models with one value are the same without any group
        few &= (differ > 0) | (self.d != 0) | (self.a == 0) | ~(units >= FEWEST)
        return self.having(units=np.where(few, np.nan, units))

    @property
    def n_users(self) -> Numbers:
        """The number of users, who count once over folds."""
        n: Numbers = self.n
        return np.where(np.isnan(self.users), n, self.users) if USERS in self.rows.columns else n

    @property
    def variance(self) -> Numbers:
        """The variance of users' values, or of their differences; NaN below two."""
        n, squares = self.n, self.squares
        rest = squares - ratio(self.d**2, n)
        exact = np.where(rest <= NO_SPREAD * squares, 0.0, rest)
        return ratio(exact, np.where(n > 1, n - 1.0, np.nan))

    def ends(self, factor: Given) -> tuple[Numbers, Numbers]:
        """Return the least and the most that a user's b - factor · a can be."""
        return self.least - factor * self.most, self.most - factor * self.least

    def of_metrics(self, say: Callable[[Metric[...]], Any]) -> Any:
        """Return what a function says of each row's metric."""
        each = {place: say(metric) for place, metric in self.metrics.items()}
        return np.array([each[place] for place in self.rows[PLACE]])

    @property
    def few_clusters(self) -> Flags:
        """Whether clusters of users count as so few that a t interval is rough."""
        found: Flags = self.of_each & (self.effective < np.minimum(self.n_users, FEW))
        return found

    def without_interval(self) -> dict[str, Flags]:
        """Return why rows have no interval, in words."""
        is_set, n = ~self.of_each, self.n
        one_cluster = (n > 1) & ~is_set & ~(self.effective >= 2.0)  # noqa: PLR2004  a spread
        found = {
            "one user, so no interval": n == 1,
            "clusters count as fewer than two of one size, so no interval": one_cluster,
        }
        if not is_set.any():
            return found
        reason = self.of_metrics(lambda metric: reason_without(metric) or "")
        found |= {f"{one}, so no interval": reason == one for one in {*reason.tolist()} - {""}}
        without = is_set & np.isnan(self.moments.units)
        few = f"fewer than {FEWEST} of {N_GROUPS} groups of users change it, so no interval"
        return found | {
            f"fewer than {FEWEST} groups of users, so no interval": is_set
            & ~(self.units >= FEWEST),
            few: without & (self.differ < FEWEST),
            "all groups of users change it alike, so no interval": without,
        }


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
