"""`rec.compare`: models compared with a baseline by paired differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Numbers, np, ratio
from recframe.statistics.estimates import (
    Estimate,
    Judged,
    as_columns,
    judged,
    of_mean,
    p_below,
    t_statistic,
    words,
)
from recframe.statistics.options import Correction
from recframe.statistics.stored_results import COMPARISON, FEW_VALUES, OF_MARGIN, OF_USERS
from recframe.statistics.summary import FEW_CLUSTERS, Sums
from recframe.statistics.sums import BASELINE, MODEL

MANY_UNPAIRED = 0.05
"""Share of users with only one of two values from which a note is given."""
SELECTED = 0.2
"""Share of users with only one of two values from which the paired users are a biased selection."""
SELECTED_NOTE = "more than a fifth of the users have only one of the two values, so those with both are not representative"


@dataclass(frozen=True)
class Comparing:
    """Options of a comparison."""

    level: float = 0.95
    margin: float | None = None
    correction: Correction | None = "holm"
    min_users: int = 5
    """Minimum users, or clusters, per row to be tested; the numbers are given anyway."""
    cluster: str | None = None
    """Column of clusters: users within one are correlated."""
    counts: bool = False
    """Whether numbers of users come too."""

    @property
    def columns(self) -> dict[str, type[pl.DataType]]:
        """The columns of the result behind its keys."""
        dropped = OF_MARGIN if self.margin is None else ()
        every = COMPARISON | (OF_USERS if self.counts else {})
        return {name: dtype for name, dtype in every.items() if name not in dropped}

    @property
    def units(self) -> str:
        """The independent units in words: users, also where they stand in several folds, or clusters."""
        return "users" if self.cluster in {None, "user"} else "clusters"


@dataclass(frozen=True)
class Pairs:
    """Sums of pairs of models, and what they show: the one place that gives verdicts, on all rows as a family of tests."""

    of: Sums
    how: Comparing

    @cached_property
    def e(self) -> Estimate:
        """The mean differences."""
        return of_mean(self.of.moments, 1.0, self.of.trainings)

    @cached_property
    def few(self) -> Flags:
        """Whether a row has too few users, or clusters, to be judged."""
        n = self.of.arrays["n"]
        units = np.where(self.of.flags["of_each"], self.of.arrays["units"], n)
        found: Flags = (n > 0) & (units < self.how.min_users)
        return found

    @cached_property
    def of_one_training(self) -> dict[str, Flags]:
        """The notes on models with one training, which says nothing of others."""
        of = self.of.trainings
        sides = {} if of is None else {MODEL: of.n, BASELINE: of.n_baseline}
        note = "the {} has one training, so no spread between trainings is known"
        return {note.format(side): n == 1 for side, n in sides.items()}

    @cached_property
    def tested(self) -> Judged:
        """The intervals and p values."""
        untested = np.any([self.few, *self.of_one_training.values()], axis=0)
        how = self.how
        return judged(self.e, level=how.level, correction=how.correction, untested=untested)

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

    @cached_property
    def within(self) -> tuple[Numbers, Numbers]:
        """The p values against the margin: not worse, and not better; NaN without a margin.

        They are of the mean of b - (1 - margin) a, and of b - (1 + margin) a, so of no ratio. Each is that of the users and of
        two more, whose values are as far apart as any can be. Source: Schuirmann 1987 (two one-sided tests).
        """
        of, margin = self.of, self.how.margin
        if margin is None:
            none = np.full(len(of.rows), np.nan)
            return none, none
        least, most = of.arrays["least"], of.arrays["most"]

        def against(factor: float) -> Estimate:
            ends = least - factor * most, most - factor * least
            return of_mean(of.moments, factor, of.trainings, ends)

        above, below = against(1.0 - margin), against(1.0 + margin)
        at_least = p_below(-t_statistic(above.value, above.error), above.freedom)
        at_most = p_below(t_statistic(below.value, below.error), below.freedom)
        higher = of.flags["higher"]
        return np.where(higher, at_least, at_most), np.where(higher, at_most, at_least)

    @cached_property
    def verdicts(self) -> Any:
        """The verdict of each row, in a word or two, by the margin too where there is one."""
        flags, alpha, difference = self.of.flags, 1.0 - self.how.level, self.e.value
        good = np.where(flags["higher"], difference > 0, difference < 0)
        by_sign = np.where(difference > 0, "higher", "lower")
        word = np.where(flags["directed"], np.where(good, "better", "worse"), by_sign)
        # on one side, as a gate that holds
        not_worse, not_better = (one <= alpha / 2 for one in self.within)
        undecided = np.any([self.is_selected, *self.of_one_training.values()], axis=0)
        cases = {
            "few": self.few,
            "open": undecided,
            "same": self.is_same | (not_worse & not_better),
            "word": self.tested.p_adjusted <= alpha,
            "not worse": flags["directed"] & not_worse,
            "not better": flags["directed"] & not_better,
        }
        found = np.select([*cases.values()], [*cases], "open")
        return np.where(found == "word", word, found)

    @property
    def notes(self) -> Any:
        """The notes of each row."""
        of, how, e, verdicts = self.of, self.how, self.e, self.verdicts
        n, same, each = of.n_users, self.is_same, of.flags["of_each"]
        is_shown = self.tested.p_value <= 1.0 - how.level
        tests = np.count_nonzero(~np.isnan(self.tested.p_adjusted))
        alone = is_shown & (self.tested.p_adjusted > 1.0 - how.level) & (verdicts == "open")
        alike = is_shown & ~same & (verdicts == "same")
        within = f"within {(how.margin or 0.0) * 100:.10g} %"
        constant, varies = (e.error == 0) & ~same & each, of.variance > 0
        few_differ = f"fewer than {FEW_VALUES} {how.units} differ, so the interval is rough"
        lacks = {"nobody has both values": n == 0}
        lacks |= {word: holds & ~same for word, holds in of.without_interval().items()}
        notes = {
            "both have the same value for all users": same,
            f"fewer than {how.min_users} {how.units}, so not judged": self.few,
            f"significant alone, not after correcting for {tests} comparisons": alone,
            f"{within}, lower": alike & (e.value < 0),
            f"{within}, higher": alike & (e.value > 0),
            "all clusters have the same mean difference": constant & varies,
            "the difference is the same for all users": constant & ~varies,
            "the baseline is 0, so there is no relative difference": of.arrays["a"] == 0,
            **of_unpaired(n, of.arrays["unpaired"], self.is_selected),
            few_differ: each & ~same & (e.differ < FEW_VALUES),
            FEW_CLUSTERS: of.few_clusters,
            **self.of_one_training,
        }
        return words(lacks, notes)


def compared(
    rows: pl.DataFrame, metrics: Mapping[int, Metric[...]], how: Comparing
) -> pl.DataFrame:
    """Return the numbers, verdict and note of each row of sums of pairs, and its numbers of users."""
    of = Sums(rows, metrics)
    pairs = Pairs(of, how)
    e, tested, (not_worse, not_better) = pairs.e, pairs.tested, pairs.within
    n, a, ties, above = (of.arrays[name] for name in ("n", "a", "ties", "wins"))
    below = of.n_users - above - ties
    higher, directed, each = (of.flags[name] for name in ("higher", "directed", "of_each"))
    # of values that users have
    counts = {"wins": np.where(higher, above, below), "ties": ties}
    counts["losses"] = np.where(higher, below, above)
    found = {
        "verdict": pairs.verdicts,
        "difference": e.value,
        "difference_low": tested.low,
        "difference_high": tested.high,
        "value": ratio(a + of.arrays["d"], n),
        "baseline_value": ratio(a, n),
        "relative": ratio(e.value, np.where(a == 0, np.nan, ratio(a, n))),
        "p_value": tested.p_value,
        "p_adjusted": tested.p_adjusted,
        "p_not_worse": np.where(directed, not_worse, np.nan),
        "p_equivalent": np.maximum(not_worse, not_better),
        "n_users": of.n_users,
        "n_differ": e.differ,
        "n_unpaired": of.arrays["unpaired"],
        **{name: np.where(each, count, np.nan) for name, count in counts.items()},
        "note": pairs.notes,
    }
    return as_columns(found, {name: of for name, of in how.columns.items() if name in found})


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
