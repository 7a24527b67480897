"""`rec.summarize`: values of metrics with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.frames.kinds.kind import is_number
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


@dataclass(frozen=True)
class Sums:
    """Rows of sums of one result, as arrays."""

    rows: pl.DataFrame
    metrics: Mapping[int, Metric[...]]

    @cached_property
    def arrays(self) -> dict[str, Numbers]:
        """The columns of numbers, NaN for null."""
        taken = {one.name: one for one in self.rows if is_number(one.dtype)}
        return {name: one.cast(pl.Float64).to_numpy() for name, one in taken.items()}

    @cached_property
    def flags(self) -> dict[str, Flags]:
        """The columns of yes and no."""
        taken = [one.name for one in self.rows if one.dtype == pl.Boolean]
        return {name: self.arrays[name] == 1.0 for name in taken}

    @cached_property
    def moments(self) -> Moments:
        """The sums; a set metric that hangs on too few groups of users, or changes alike without each, has no units."""
        of, is_set = self.given, ~self.flags["of_each"]
        if not is_set.any():
            return of
        flat = of.dd <= (ROUNDING * np.maximum(np.abs(of.d), np.abs(of.a))) ** 2
        few = is_set & ((of.units < FEWEST) | (of.differ < FEWEST) | flat)
        # two models with one value are the same without any group
        few &= (of.differ > 0) | (of.d != 0) | (of.a == 0) | ~(of.units >= FEWEST)
        return of._replace(units=np.where(few, np.nan, of.units))

    @cached_property
    def given(self) -> Moments:
        """The sums as they are."""
        return Moments(*(self.arrays[name] for name in Moments._fields))

    @cached_property
    def trainings(self) -> Trainings | None:
        """The variance between trainings, where these are a second sample."""
        return Trainings.of(self.rows) if OF_TRAININGS[0] in self.rows.columns else None

    @cached_property
    def n_users(self) -> Numbers:
        """The number of users, who count once over folds."""
        n = self.arrays["n"]
        users = self.arrays[USERS] if USERS in self.rows.columns else n
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
        of = np.array([self.metrics[place].range for place in self.rows[PLACE]]).reshape(-1, 2)
        return of[:, 0], of[:, 1]

    def without_interval(self, n: Numbers) -> dict[str, Flags]:
        """Return why rows have no interval, in words."""
        of, is_set = self.given, ~self.flags["of_each"]
        few = f"fewer than {FEWEST} of {N_GROUPS} groups of users change it, so no interval"
        one_cluster = "clusters count as fewer than two of one size, so no interval"
        found = {
            "one user, so no interval": n == 1,
            one_cluster: (n > 1) & ~is_set & ~(of.effective >= 2.0),  # noqa: PLR2004  a spread
        }
        if not is_set.any():
            return found
        without = is_set & np.isnan(self.moments.units)
        reasons = {place: reason_without(one) for place, one in self.metrics.items()}
        reason = np.array([reasons[place] or "" for place in self.rows[PLACE]], dtype=object)
        found |= {f"{one}, so no interval": reason == one for one in set(reason) - {""}}
        return found | {
            f"fewer than {FEWEST} groups of users, so no interval": is_set & ~(of.units >= FEWEST),
            few: without & (of.differ < FEWEST),
            "all groups of users change it alike, so no interval": without,
        }

    def table(
        self, found: Mapping[str, Any], columns: Mapping[str, Any], keys: Sequence[str]
    ) -> pl.DataFrame:
        """Return a result: the keys, the metric and its cut-off, and arrays as columns."""
        own = {
            "metric": self.rows["metric"].to_numpy(),
            "k": self.rows["k"].cast(pl.Float64).to_numpy(),
            **found,
        }
        made = as_columns(own, {**columns, "k": pl.Int64})
        return pl.DataFrame([*(self.rows[key] for key in keys), *made])


def interval(e: Estimate, of: Sums, level: float) -> tuple[Numbers, Numbers]:
    """Return the intervals of values: Wilson's for shares, else t's, within the metrics' ranges."""
    share, (least, most) = of.flags["share"], of.ranges
    half = t_quantile(level, e.freedom) * e.error
    low, high = wilson(e, level)
    low = np.where(share, low, e.value - half)
    high = np.where(share, high, e.value + half)
    return np.clip(low, least, most), np.clip(high, least, most)


def summarized(
    rows: pl.DataFrame,
    keys: Sequence[str],
    metrics: Mapping[int, Metric[...]],
    level: float,
) -> pl.DataFrame:
    """Return a row for each segment, model and metric, from the sums of `samples.sums_of`."""
    of = Sums(rows, metrics)
    users, n, n_users = of_mean(of.moments), of.arrays["n"], of.n_users
    e = users if of.trainings is None else of_mean(of.moments, 1.0, of.trainings)
    low, high = interval(e, of, level)
    std = np.where(of.flags["of_each"], np.sqrt(of.variance), users.error * np.sqrt(n))
    over_lists = np.array(
        [needs_of(metrics[at]).over == "lists" for at in of.rows[PLACE]], dtype=bool
    )
    found = {
        "value": e.value,
        "value_low": low,
        "value_high": high,
        "std": std,
        "n_users": n_users,
        "n_lists": np.where(over_lists, n_users, np.nan),
        "note": notes_of(of, e, paired=np.zeros(len(rows), dtype=bool)),
    }
    return of.table(found, SUMMARY, keys)


def notes_of(of: Sums, e: Estimate, *, paired: Flags) -> Any:
    """Return the notes on values and their intervals; of a pair's values those with a value of 0 are not known."""
    n, same, each, trainings = of.n_users, e.error == 0, of.flags["of_each"], of.trainings
    lacks = {
        "nobody has a value": n == 0,
        **of.without_interval(of.arrays["n"]),
        "all clusters have the same mean": same & each & (of.variance > 0) & ~paired,
        "all users have the same value": same & each & ~paired,
    }
    with_value, freedom = n - of.arrays["ties"], of_mean(of.moments).freedom
    few_clusters = each & (freedom < n - 1) & (freedom < FEW - 1)
    notes = {
        f"fewer than {FEW_VALUES} users, so the interval is rough": each & (n < FEW_VALUES),
        f"fewer than {FEW_VALUES} users have a value above 0, so the interval is rough": each
        & (with_value < FEW_VALUES)
        & (n >= FEW_VALUES)
        & ~paired,
        f"clusters count as fewer than {FEW} of one size, so the interval is rough": few_clusters,
    }
    if trainings is not None:
        notes["one training, so no spread between trainings"] = trainings.n == 1
    if OF_HITS in of.rows.columns:
        hits = of.rows[OF_HITS].fill_null("").to_numpy().astype(object)
        notes |= {one: hits == one for one in set(hits) - {""}}
    return words(lacks, notes)
