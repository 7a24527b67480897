"""`rec.compare`: models compared with a baseline by paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import polars as pl

from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Numbers, np, ratio
from recframe.statistics.estimates import (
    Estimate,
    Judged,
    Trainings,
    judged,
    of_mean,
    p_below,
    t_statistic,
    words,
)
from recframe.statistics.stored_results import COMPARISON, FEW, FEW_VALUES, OF_MARGIN, OF_USERS
from recframe.statistics.summary import Sums
from recframe.statistics.sums import BASELINE, MODEL

Correction = Literal["holm", "benjamini-hochberg"]
MANY_UNPAIRED = 0.05
"""Share of users with only one of two values from which a note is given."""
SELECTED = 0.2
"""Share of users with only one of two values from which the paired users are a biased selection."""
SELECTED_NOTE = "more than a fifth of the users have only one of the two values, so those with both are not representative"


@dataclass(frozen=True)
class Comparing:
    """How models are compared."""

    level: float = 0.95
    margin: float | None = None
    correction: Correction | None = "holm"
    min_users: int = 5
    """Minimum users, or clusters, per row to be tested; the numbers are given anyway."""
    cluster: str | None = None
    """Column of clusters: users within one are correlated."""

    @property
    def columns(self) -> dict[str, type[pl.DataType]]:
        """The columns of the result behind its keys."""
        dropped = OF_MARGIN if self.margin is None else ()
        return {name: dtype for name, dtype in COMPARISON.items() if name not in dropped}

    @property
    def units(self) -> str:
        """The independent units in words: users, also where they stand in several folds, or clusters."""
        return "users" if self.cluster in {None, "user"} else "clusters"


@dataclass(frozen=True)
class Compared:
    """Sums of pairs with what is estimated and tested of them."""

    of: Sums
    how: Comparing
    e: Estimate
    tested: Judged
    few: Flags
    single: Mapping[str, Flags]
    """Notes on models of one training, by row."""

    @cached_property
    def is_same(self) -> Flags:
        """Whether all users have the same value by both models."""
        same: Flags = (self.of.n_users > 1) & (self.of.arrays["ties"] == self.of.n_users)
        return same

    @cached_property
    def is_selected(self) -> Flags:
        """Whether paired users are so few that they are a biased selection."""
        selected = are_selected(self.of.n_users, self.of.arrays["unpaired"])
        found: Flags = self.of.flags["directed"] & self.of.flags["of_each"] & selected
        return found


def compared(
    rows: pl.DataFrame, keys: Sequence[str], metrics: Mapping[int, Metric[...]], how: Comparing
) -> pl.DataFrame:
    """Return a row for each segment, model and metric, from the sums of pairs."""
    by = [*keys, MODEL, BASELINE]
    of = Sums(rows, metrics)
    e, n = of_mean(of.moments, 1.0, of.trainings), of.arrays["n"]
    units = np.where(of.flags["of_each"], of.arrays["units"], n)
    few = (n > 0) & (units < how.min_users)
    single = _of_one_training(of.trainings)
    untested = np.any([few, *single.values()], axis=0)
    tested = judged(e, level=how.level, correction=how.correction, untested=untested)
    made = Compared(of, how, e, tested, few, single)
    found = _numbers(made)
    found["verdict"] = verdicts_of(made, found)
    found["note"] = _notes(made, found)
    return of.table(found, how.columns | OF_USERS, by)


def _numbers(made: Compared) -> dict[str, Any]:
    """Return the numbers of a comparison."""
    of, e, n = made.of, made.e, made.of.arrays["n"]
    a, n_users, ties = of.arrays["a"], of.n_users, of.arrays["ties"]
    above, each, higher = of.arrays["wins"], of.flags["of_each"], of.flags["higher"]
    below = n_users - above - ties
    not_worse = not_better = np.full(n.shape, np.nan)
    if made.how.margin is not None:
        not_worse, not_better = _within(made, made.how.margin)
    users = {
        "wins": np.where(higher, above, below),
        "ties": ties,
        "losses": np.where(higher, below, above),
    }
    return {
        "difference": e.value,
        "difference_low": made.tested.low,
        "difference_high": made.tested.high,
        "value": ratio(a + of.arrays["d"], n),
        "baseline_value": ratio(a, n),
        "relative": ratio(e.value, np.where(a == 0, np.nan, ratio(a, n))),
        "p_value": made.tested.p_value,
        "p_adjusted": made.tested.p_adjusted,
        "p_not_worse": np.where(of.flags["directed"], not_worse, np.nan),
        "p_not_better": np.where(of.flags["directed"], not_better, np.nan),
        "p_equivalent": np.maximum(not_worse, not_better),
        "n_users": n_users,
        "n_differ": e.differ,
        "n_unpaired": of.arrays["unpaired"],
        # of values that users have
        **{name: np.where(each, count, np.nan) for name, count in users.items()},
    }


def _within(made: Compared, margin: float) -> tuple[Numbers, Numbers]:
    """Return the p values against a margin: not worse, and not better.

    They are of the mean of b - (1 - margin) a, and of b - (1 + margin) a, so of no ratio. Each is that of the users and of two
    more, whose values are as far apart as any can be. Source: Schuirmann 1987 (two one-sided tests).
    """
    of = made.of
    least, most = of.arrays["least"], of.arrays["most"]

    def against(factor: float) -> Estimate:
        ends = least - factor * most, most - factor * least
        return of_mean(of.moments, factor, of.trainings, ends)

    above, below = against(1.0 - margin), against(1.0 + margin)
    at_least = p_below(-t_statistic(above.value, above.error), above.freedom)
    at_most = p_below(t_statistic(below.value, below.error), below.freedom)
    higher = of.flags["higher"]
    return np.where(higher, at_least, at_most), np.where(higher, at_most, at_least)


def _of_one_training(trainings: Trainings | None) -> dict[str, Flags]:
    """Return the notes on models with one training, which says nothing of others."""
    if trainings is None:
        return {}
    sides = {MODEL: trainings.n, BASELINE: trainings.n_baseline}
    note = "the {} has one training, so no spread between trainings is known"
    return {note.format(side): n == 1 for side, n in sides.items()}


def verdicts_of(made: Compared, found: Mapping[str, Any]) -> Any:
    """Return the verdict of each row, in a word or two, by the margin too where there are p values against it."""
    of, alpha = made.of, 1.0 - made.how.level
    difference, shown = found["difference"], found["p_adjusted"] <= alpha
    good = np.where(of.flags["higher"], difference > 0, difference < 0)
    by_direction = np.where(good, "better", "worse")
    by_sign = np.where(difference > 0, "higher", "lower")
    word = np.where(of.flags["directed"], by_direction, by_sign)
    # on one side, as a gate that holds
    alike, not_worse, not_better = (
        found[name] <= alpha / 2 for name in ("p_equivalent", "p_not_worse", "p_not_better")
    )
    undecided = np.any([made.is_selected, *made.single.values()], axis=0)
    return np.select(
        [
            *(made.few, undecided, made.is_same | alike, shown),
            *(not_worse, not_better),
        ],
        ["few", "open", "same", word, "not worse", "not better"],
        "open",
    )


def _notes(made: Compared, found: Mapping[str, Any]) -> Any:
    """Return the notes of each row."""
    of, how, e, n = made.of, made.how, made.e, made.of.n_users
    alpha, same = 1.0 - how.level, made.is_same
    tests = np.count_nonzero(~np.isnan(found["p_adjusted"]))
    by_itself, verdict = found["p_value"] <= alpha, found["verdict"]
    alone = by_itself & (found["p_adjusted"] > alpha) & (verdict == "open")
    alike, kind = by_itself & ~same & (verdict == "same"), how.units
    within = f"within {(how.margin or 0.0) * 100:.10g} %"
    each, varies = of.flags["of_each"], of.variance > 0
    without = (e.error == 0) & ~same & each
    lacks = {"nobody has both values": n == 0}
    lacks |= {word: holds & ~same for word, holds in of.without_interval(of.arrays["n"]).items()}
    notes = {
        "both have the same value for all users": same,
        f"fewer than {how.min_users} {kind}, so not judged": made.few,
        f"significant alone, not after correcting for {tests} comparisons": alone,
        f"{within}, lower": alike & (e.value < 0),
        f"{within}, higher": alike & (e.value > 0),
        "all clusters have the same mean difference": without & varies,
        "the difference is the same for all users": without & ~varies,
        "the baseline is 0, so there is no relative difference": of.arrays["a"] == 0,
        **of_unpaired(n, of.arrays["unpaired"], made.is_selected),
        f"fewer than {FEW_VALUES} {kind} differ, so the interval is rough": each
        & ~same
        & (e.differ < FEW_VALUES),
        f"{kind} count as fewer than {FEW} of one size, so the interval is rough": each
        & (how.cluster is not None)
        & (of.arrays["effective"] < FEW),
        **made.single,
    }
    return words(lacks, notes)


def are_selected(n: Numbers, unpaired: Numbers) -> Flags:
    """Return whether paired users, n, are so few that they are a biased selection."""
    return np.asarray(unpaired > SELECTED * (n + unpaired))


def of_unpaired(n: Numbers, unpaired: Numbers, selected: Flags) -> dict[str, Flags]:
    """Return the notes of rows with many unpaired users."""
    many = unpaired > MANY_UNPAIRED * (n + unpaired)
    return {
        SELECTED_NOTE: selected,
        "many users have only one of the two values, and are left out": many & ~selected,
    }
