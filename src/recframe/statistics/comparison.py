"""`rec.compare`: models compared with a baseline by paired differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from recframe.evaluation.trainings import N_TRAININGS
from recframe.frames.options import Correction
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Numbers, np, ratio
from recframe.statistics.estimates import (
    FEW_CLUSTERS,
    Estimate,
    Judged,
    Sums,
    as_columns,
    judged,
    of_mean,
    p_below,
    t_statistic,
    words,
)
from recframe.statistics.stored_results import COMPARISON, FEW_VALUES, OF_MARGIN, OF_USERS
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
        return of_mean(self.of.moments)

    @cached_property
    def few(self) -> Flags:
        """Whether a row has too few users, or clusters, to be judged."""
        of, n = self.of, self.of.n
        found: Flags = (n > 0) & (np.where(of.of_each, of.units, n) < self.how.min_users)
        return found

    @cached_property
    def of_one_training(self) -> dict[str, Flags]:
        """The notes on models with one training, which says nothing of others."""
        note = "the {} has one training, so no spread between trainings is known"
        names = {MODEL: N_TRAININGS, BASELINE: f"{BASELINE} {N_TRAININGS}"}
        there = N_TRAININGS in self.of.rows.columns
        return {
            note.format(side): getattr(self.of, name) == 1 for side, name in names.items() if there
        }

    @cached_property
    def tested(self) -> Judged:
        """The intervals and p values."""
        untested = np.any([self.few, *self.of_one_training.values()], axis=0)
        how = self.how
        return judged(self.e, level=how.level, correction=how.correction, untested=untested)

    @cached_property
    def is_same(self) -> Flags:
        """Whether all users have the same value by both models."""
        n = self.of.n_users
        same: Flags = (n > 1) & (self.of.ties == n)
        return same

    @cached_property
    def is_selected(self) -> Flags:
        """Whether paired users are so few that they are a biased selection."""
        of = self.of
        found: Flags = of.directed & of.of_each & are_selected(of.n_users, of.unpaired)
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
        above, below = (of_mean(of.moments, f, of.ends(f)) for f in (1.0 - margin, 1.0 + margin))
        at_least = p_below(-t_statistic(above.value, above.error), above.freedom)
        at_most = p_below(t_statistic(below.value, below.error), below.freedom)
        not_worse, not_better = np.where(of.higher, (at_least, at_most), (at_most, at_least))
        return not_worse, not_better

    @cached_property
    def verdicts(self) -> Any:
        """The verdict of each row, in a word or two, by the margin too where there is one."""
        of, alpha, is_higher = self.of, 1.0 - self.how.level, self.e.value > 0
        good = np.where(of.higher, is_higher, self.e.value < 0)
        by_sign = np.where(is_higher, "higher", "lower")
        word = np.where(of.directed, np.where(good, "better", "worse"), by_sign)
        # on one side, as a gate that holds
        not_worse, not_better = (one <= alpha / 2 for one in self.within)
        undecided = np.any([self.is_selected, *self.of_one_training.values()], axis=0)
        cases = {
            "few": self.few,
            "open": undecided,
            "same": self.is_same | (not_worse & not_better),
            "word": self.tested.p_adjusted <= alpha,
            "not worse": of.directed & not_worse,
            "not better": of.directed & not_better,
        }
        found = np.select([*cases.values()], [*cases], "open")
        return np.where(found == "word", word, found)

    @property
    def notes(self) -> Any:
        """The notes of each row."""
        of, how, e, verdicts = self.of, self.how, self.e, self.verdicts
        p_value, p_adjusted = self.tested[2:]
        n, alpha, differs, each = of.n_users, 1.0 - how.level, ~self.is_same, of.of_each
        is_shown, tests = p_value <= alpha, np.count_nonzero(~np.isnan(p_adjusted))
        alone = is_shown & (p_adjusted > alpha) & (verdicts == "open")
        alike = is_shown & differs & (verdicts == "same")
        within = f"within {(how.margin or 0.0) * 100:.10g} %"
        constant, varies = (e.error == 0) & differs & each, of.variance > 0
        few_differ = f"fewer than {FEW_VALUES} {how.units} differ, so the interval is rough"
        lacks = {"nobody has both values": n == 0}
        lacks |= {word: holds & differs for word, holds in of.without_interval().items()}
        notes = {
            "both have the same value for all users": self.is_same,
            f"fewer than {how.min_users} {how.units}, so not judged": self.few,
            f"significant alone, not after correcting for {tests} comparisons": alone,
            f"{within}, lower": alike & (e.value < 0),
            f"{within}, higher": alike & (e.value > 0),
            "all clusters have the same mean difference": constant & varies,
            "the difference is the same for all users": constant & ~varies,
            "the baseline is 0, so there is no relative difference": of.a == 0,
            **of_unpaired(n, of.unpaired, self.is_selected),
            few_differ: each & differs & (e.differ < FEW_VALUES),
            FEW_CLUSTERS: of.few_clusters,
            **self.of_one_training,
        }
        return words(lacks, notes)


def compared(
    rows: pl.DataFrame, metrics: Mapping[int, Metric[...]], how: Comparing
) -> pl.DataFrame:
    """Return the numbers, verdict and note of each row of sums of pairs, and its numbers of users."""
    of = Sums(rows, metrics=metrics)
    pairs = Pairs(of, how)
    e, tested, (not_worse, not_better) = pairs.e, pairs.tested, pairs.within
    n_users, baseline_value = of.n_users, ratio(of.a, of.n)
    above, ties, below = of.wins, of.ties, n_users - of.wins - of.ties
    # of values that users have
    wins, losses = np.where(of.higher, (above, below), (below, above))
    counts = {"wins": wins, "ties": ties, "losses": losses}
    found = {
        "verdict": pairs.verdicts,
        "difference": e.value,
        "difference_low": tested.low,
        "difference_high": tested.high,
        "value": ratio(of.a + of.d, of.n),
        "baseline_value": baseline_value,
        "relative": ratio(e.value, np.where(of.a == 0, np.nan, baseline_value)),
        "p_value": tested.p_value,
        "p_adjusted": tested.p_adjusted,
        "p_not_worse": np.where(of.directed, not_worse, np.nan),
        "p_equivalent": np.maximum(not_worse, not_better),
        "n_users": n_users,
        "n_differ": e.differ,
        "n_unpaired": of.unpaired,
        **{name: np.where(of.of_each, count, np.nan) for name, count in counts.items()},
        "note": pairs.notes,
    }
    return as_columns(found, how.columns)


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
