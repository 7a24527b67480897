"""`rec.summarize`: values of metrics with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Numbers, np, ratio
from recframe.statistics.estimates import (
    NO_SPREAD,
    Estimate,
    Moments,
    Trainings,
    as_columns,
    of_mean,
    t_quantile,
    wilson,
    words,
)
from recframe.statistics.groups import FEWEST, N_GROUPS, reason_without
from recframe.statistics.samples import OF_HITS
from recframe.statistics.stored_results import FEW, FEW_VALUES, SUMMARY
from recframe.statistics.sums import PLACE, ROUNDING, USERS

FEW_CLUSTERS = f"clusters count as fewer than {FEW} of one size, so the interval is rough"


class Arrays(dict[str, Numbers]):
    """Columns as arrays of numbers, NaN for null, made when they are first read."""

    def __init__(self, rows: pl.DataFrame) -> None:
        super().__init__()
        self.rows = rows

    def __missing__(self, name: str) -> Numbers:
        found = self[name] = self.rows[name].cast(pl.Float64).to_numpy()
        return found


@dataclass(frozen=True)
class Sums:
    """Rows of sums of one result, as arrays."""

    rows: pl.DataFrame
    metrics: Mapping[int, Metric[...]]

    @cached_property
    def arrays(self) -> Mapping[str, Numbers]:
        """The columns of numbers, NaN for null."""
        return Arrays(self.rows)

    @cached_property
    def flags(self) -> dict[str, Flags]:
        """The columns of yes and no."""
        taken = [one.name for one in self.rows if one.dtype == pl.Boolean]
        return {name: self.arrays[name] == 1.0 for name in taken}

    @cached_property
    def moments(self) -> Moments:
        """The sums; a set metric that hangs on too few groups of users, or changes alike without each, has no units."""
        of = Moments(*(self.arrays[name] for name in Moments._fields))
        is_set = ~self.flags["of_each"]
        if not is_set.any():
            return of
        flat = of.dd <= (ROUNDING * np.maximum(np.abs(of.d), np.abs(of.a))) ** 2
        few = is_set & ((of.units < FEWEST) | (of.differ < FEWEST) | flat)
        # two models with one value are the same without any group
        few &= (of.differ > 0) | (of.d != 0) | (of.a == 0) | ~(of.units >= FEWEST)
        return of._replace(units=np.where(few, np.nan, of.units))

    @cached_property
    def trainings(self) -> Trainings | None:
        """The variance between trainings, where these are a second sample."""
        return Trainings.of(self.rows) if OF_TRAININGS[0] in self.rows.columns else None

    @cached_property
    def n_users(self) -> Numbers:
        """The number of users, who count once over folds."""
        n = self.arrays["n"]
        if USERS not in self.rows.columns:
            return n
        users = self.arrays[USERS]
        return np.where(np.isnan(users), n, users)

    @cached_property
    def variance(self) -> Numbers:
        """The variance of users' values, or of their differences; NaN below two."""
        n, squares = self.arrays["n"], self.arrays["squares"]
        rest = squares - ratio(self.arrays["d"] ** 2, n)
        exact = np.where(rest <= NO_SPREAD * squares, 0.0, rest)
        return ratio(exact, np.where(n > 1, n - 1.0, np.nan))

    @property
    def ranges(self) -> tuple[Numbers, Numbers]:
        """The ranges of the metrics."""
        of = self.of_metrics(lambda metric: metric.range).reshape(-1, 2)
        return of[:, 0], of[:, 1]

    def of_metrics(self, say: Callable[[Metric[...]], Any]) -> Any:
        """Return what a function says of each row's metric."""
        each = {place: say(metric) for place, metric in self.metrics.items()}
        return np.array([each[place] for place in self.rows[PLACE]])

    @property
    def few_clusters(self) -> Flags:
        """Whether clusters of users count as so few that a t interval is rough."""
        effective = self.arrays["effective"]
        found: Flags = self.flags["of_each"] & (effective < np.minimum(self.n_users, FEW))
        return found

    def without_interval(self) -> dict[str, Flags]:
        """Return why rows have no interval, in words."""
        is_set, n = ~self.flags["of_each"], self.arrays["n"]
        units, effective = self.arrays["units"], self.arrays["effective"]
        one_cluster = (n > 1) & ~is_set & ~(effective >= 2.0)  # noqa: PLR2004  a spread
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
            f"fewer than {FEWEST} groups of users, so no interval": is_set & ~(units >= FEWEST),
            few: without & (self.arrays["differ"] < FEWEST),
            "all groups of users change it alike, so no interval": without,
        }


def interval(e: Estimate, of: Sums, level: float) -> tuple[Numbers, Numbers]:
    """Return the intervals of values: Wilson's for shares, else t's, within the metrics' ranges."""
    share, (least, most) = of.flags["share"], of.ranges
    half = t_quantile(level, e.freedom) * e.error
    low, high = wilson(e, level)
    low = np.where(share, low, e.value - half)
    high = np.where(share, high, e.value + half)
    return np.clip(low, least, most), np.clip(high, least, most)


def summarized(
    rows: pl.DataFrame, metrics: Mapping[int, Metric[...]], level: float
) -> pl.DataFrame:
    """Return the numbers of each row of sums, with its interval and note."""
    of = Sums(rows, metrics)
    users, n_users = of_mean(of.moments), of.n_users
    e = users if of.trainings is None else of_mean(of.moments, 1.0, of.trainings)
    low, high = interval(e, of, level)
    of_set = users.error * np.sqrt(of.arrays["n"])
    over_lists = of.of_metrics(lambda metric: needs_of(metric).over == "lists")
    found = {
        "value": e.value,
        "value_low": low,
        "value_high": high,
        "std": np.where(of.flags["of_each"], np.sqrt(of.variance), of_set),
        "n_users": n_users,
        "n_lists": np.where(over_lists, n_users, np.nan),
        "note": notes_of(of, e, paired=np.zeros(len(rows), dtype=bool)),
    }
    return as_columns(found, {name: SUMMARY[name] for name in found})


def notes_of(of: Sums, e: Estimate, *, paired: Flags) -> Any:
    """Return the notes on values and their intervals; of a pair's values those with a value of 0 are not known."""
    n, each, same = of.n_users, of.flags["of_each"], e.error == 0
    lacks = {
        "nobody has a value": n == 0,
        **of.without_interval(),
        "all clusters have the same mean": same & each & (of.variance > 0) & ~paired,
        "all users have the same value": same & each & ~paired,
    }
    few_values = each & (n >= FEW_VALUES) & (n - of.arrays["ties"] < FEW_VALUES) & ~paired
    notes = {
        f"fewer than {FEW_VALUES} users, so the interval is rough": each & (n < FEW_VALUES),
        f"fewer than {FEW_VALUES} users have a value above 0, so the interval is rough": few_values,
        FEW_CLUSTERS: of.few_clusters,
    }
    if of.trainings is not None:
        notes["one training, so no spread between trainings"] = of.trainings.n == 1
    if OF_HITS in of.rows.columns:
        hits = of.rows[OF_HITS].fill_null("").to_numpy().astype(object)
        notes |= {one: hits == one for one in {*hits} - {""}}
    return words(lacks, notes)
