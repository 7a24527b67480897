"""`rec.summarize` and `rec.compare`: values, and paired differences of models, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.trainings import N_TRAININGS
from recframe.frames.options import Correction
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Labels, Numbers, np, ratio
from recframe.statistics.estimates import (
    FEW_CLUSTERS,
    Estimate,
    Sums,
    as_columns,
    judged,
    of_mean,
    of_users,
    p_below,
    t_quantile,
    t_statistic,
    wilson,
    words,
)
from recframe.statistics.samples import OF_HITS
from recframe.statistics.stored_results import (
    COMPARISON,
    FEW_VALUES,
    OF_MARGIN,
    OF_USERS,
    SUMMARY,
)
from recframe.statistics.sums import BASELINE, MODEL

MANY_UNPAIRED = 0.05
"""Share of users with only one of two values from which a note is given."""
SELECTED = 0.2
"""Share of users with only one of two values from which the paired users are a biased selection."""
SELECTED_NOTE = "more than a fifth of the users have only one of the two values, so those with both are not representative"


# Values


def interval(e: Estimate, of: Sums, level: float) -> tuple[Numbers, Numbers]:
    """Return the intervals of values: Wilson's for shares, else t's, within the metrics' ranges."""
    least, most = of.of_metrics(lambda metric: metric.range, float).reshape(-1, 2).T
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
    over_lists = of.of_metrics(lambda metric: needs_of(metric).over == "lists", bool)
    found = {
        "metric": of.of_metrics(str, str),
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
    if N_TRAININGS in there:
        notes["one training, so no spread between trainings"] = getattr(of, N_TRAININGS) == 1
    if OF_HITS in there:
        hits = of.rows[OF_HITS]
        notes |= {one: hits.eq_missing(one).to_numpy() for one in hits.drop_nulls().unique()}
    return words(lacks, notes)


# Comparisons


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


class Pairs:
    """Sums of pairs of models, and what they show: the one place that gives verdicts, on all rows as a family of tests."""

    def __init__(self, of: Sums, how: Comparing) -> None:
        self.of, self.how, n = of, how, of.n_users
        self.e = of_mean(of.moments)
        # users, or clusters, to be judged
        self.few = (of.n > 0) & (np.where(of.of_each, of.units, of.n) < how.min_users)
        self.is_same = (n > 1) & (of.ties == n)
        self.is_selected = of.directed & of.of_each & are_selected(n, of.unpaired)
        note = "the {} has one training, so no spread between trainings is known"
        sides = {MODEL: N_TRAININGS, BASELINE: f"{BASELINE} {N_TRAININGS}"}
        there = {*sides.values()} & {*of.rows.columns}
        # which says nothing of others
        self.of_one_training = {
            note.format(side): getattr(of, name) == 1
            for side, name in sides.items()
            if name in there
        }
        untested = np.any([self.few, *self.of_one_training.values()], axis=0)
        self.tested = judged(self.e, level=how.level, correction=how.correction, untested=untested)
        self.not_worse, self.not_better = self.within()
        self.verdicts = self.decided()

    def within(self) -> tuple[Numbers, Numbers]:
        """Return the p values against the margin: not worse, and not better; NaN without a margin.

        They are of the mean of b - (1 - margin) a, and of b - (1 + margin) a, so of no ratio. Each is that of the users and of
        two more, whose values are as far apart as any can be. Source: Schuirmann 1987 (two one-sided tests).
        """
        of, margin = self.of, np.nan if self.how.margin is None else self.how.margin
        above, below = (of_mean(of.moments, f, of.ends(f)) for f in (1.0 - margin, 1.0 + margin))
        at_least = p_below(-t_statistic(above.value, above.error), above.freedom)
        at_most = p_below(t_statistic(below.value, below.error), below.freedom)
        not_worse, not_better = np.where(of.higher, (at_least, at_most), (at_most, at_least))
        return not_worse, not_better

    def decided(self) -> Labels:
        """Return the verdict of each row, in a word or two, by the margin too where there is one."""
        of, alpha, is_higher = self.of, 1.0 - self.how.level, self.e.value > 0
        good = np.where(of.higher, is_higher, self.e.value < 0)
        by_sign = np.where(is_higher, "higher", "lower")
        word = np.where(of.directed, np.where(good, "better", "worse"), by_sign)
        # on one side, as a gate that holds
        not_worse, not_better = self.not_worse <= alpha / 2, self.not_better <= alpha / 2
        cases = {
            "few": self.few,
            "open": np.any([self.is_selected, *self.of_one_training.values()], axis=0),
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
    e, tested, not_worse, not_better = pairs.e, pairs.tested, pairs.not_worse, pairs.not_better
    n_users, baseline_value = of.n_users, ratio(of.a, of.n)
    above, ties, below = of.wins, of.ties, n_users - of.wins - of.ties
    # of values that users have
    wins, losses = np.where(of.higher, (above, below), (below, above))
    counts = {"wins": wins, "ties": ties, "losses": losses}
    found = {
        "metric": of.of_metrics(str, str),
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
