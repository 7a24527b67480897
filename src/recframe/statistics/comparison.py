"""`rec.summarize`, `rec.compare` and `rec.power`: from sums to numbers, verdicts and notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from recframe.evaluation.trainings import N_TRAININGS
from recframe.metrics.language.definition import Metrics
from recframe.statistics.estimates import (
    Estimate,
    Flags,
    Given,
    Judged,
    Labels,
    Numbers,
    Sums,
    as_columns,
    interval,
    judged,
    np,
    of_mean,
    of_units,
    p_below,
    ratio,
    special,
    t_quantile,
    words,
)
from recframe.statistics.stored_results import COMPARISON, FEW_VALUES, OF_USERS, SUMMARY
from recframe.statistics.stored_results import POWER as OF_POWER
from recframe.statistics.sums import BASELINE, MODEL, OF_HITS

MANY_UNPAIRED = 0.05
"""Share of users with only one of two values from which a note is given."""
SELECTED = 0.2
"""Share of users with only one of two values from which the paired users are a biased selection."""
SELECTED_NOTE = "more than a fifth of the users have only one of the two values, so those with both are not representative"
POWER = 0.8
"""Probability of finding a difference."""
MOST = 2**62
"""Upper limit of a number of users."""
HALVINGS = 64
"""Halvings of an interval of numbers of users, down to one."""
MANY = 1e6
"""Degrees of freedom above which the noncentral t is that of as many: it agrees to six digits, and SciPy's may fail."""


# Values


def summarized(rows: pl.DataFrame, metrics: Metrics, level: float) -> pl.DataFrame:
    """Return the numbers of each row of sums, with its interval and note."""
    of = Sums(rows, metrics)
    e, n_users = of_mean(of), of.n_users
    low, high = interval(e, of, level)
    found = {
        "metric": of.name,
        "value": e.value,
        "value_low": low,
        "value_high": high,
        "std": np.sqrt(np.where(of.of_each, of.variance, of_units(of).error ** 2 * of.n)),
        "n_users": n_users,
        "n_lists": np.where(of.over_lists, n_users, np.nan),
        "note": notes_of(of, e),
    }
    return as_columns(found, SUMMARY)


def notes_of(of: Sums, e: Estimate, *, paired: Flags | bool = False) -> list[str | None]:
    """Return the notes on values and their intervals; of a pair's values those with a value of 0 are not known."""
    n, each, (without, clusters) = of.n_users, of.of_each, of.doubts()
    alone = each & np.logical_not(paired)
    same, few, rough = alone & (e.error == 0), n < FEW_VALUES, "so the interval is rough"
    lacks = {
        "nobody has a value": n == 0,
        **without,
        "all clusters have the same mean": same & (of.variance > 0),
        "all users have the same value": same,
    }
    few_values = alone & ~few & (n - of.ties < FEW_VALUES)
    notes = {
        f"fewer than {FEW_VALUES} users, {rough}": each & few,
        f"fewer than {FEW_VALUES} users have a value above 0, {rough}": few_values,
        **clusters,
    }
    if N_TRAININGS in of.rows.columns:
        notes["one training, so no spread between trainings"] = getattr(of, N_TRAININGS) == 1
    if OF_HITS in of.rows.columns:
        notes |= of.texts(OF_HITS)
    return words(lacks, notes)


# Comparisons


@dataclass(frozen=True)
class Comparing:
    """Options of a comparison."""

    level: float = 0.95
    margin: float | None = None
    correction: str | None = "holm"
    min_users: int = 5
    """Minimum users, or clusters, per row to be tested; the numbers are given anyway."""
    units: str = "users"
    """The independent units in words."""


class Shown(NamedTuple):
    """The tests of pairs of models, their verdicts, and flags on them."""

    e: Estimate
    tested: Judged
    not_worse: Numbers
    not_better: Numbers
    verdicts: Labels
    few: Flags
    same: Flags
    lone: dict[str, Flags]
    """Notes on models of one training."""
    unpaired: dict[str, Flags]
    """Notes on users with one of the two values."""


def compared(rows: pl.DataFrame, metrics: Metrics, how: Comparing) -> pl.DataFrame:
    """Return the numbers, verdict and note of each row of sums of pairs, and its numbers of users."""
    of = Sums(rows, metrics)
    shown = _shown(of, how)
    e, tested, not_worse, n = shown.e, shown.tested, shown.not_worse, of.n_users
    baseline_value = ratio(of.a, of.n)
    # of values that users have
    above, ties, below = np.where(of.of_each, (of.wins, of.ties, n - of.wins - of.ties), np.nan)
    wins, losses = np.where(of.higher, (above, below), (below, above))
    found = {
        "metric": of.name,
        "verdict": shown.verdicts,
        "difference": e.value,
        **tested._asdict(),
        "value": ratio(of.a + of.d, of.n),
        "baseline_value": baseline_value,
        "relative": ratio(e.value, np.where(of.a == 0, np.nan, baseline_value)),
        "p_not_worse": np.where(of.directed, not_worse, np.nan),
        "p_equivalent": np.maximum(not_worse, shown.not_better),
        "n_users": n,
        "wins": wins,
        "ties": ties,
        "losses": losses,
        "note": _notes(of, how, shown),
    }
    return as_columns(found, COMPARISON | OF_USERS)


def _shown(of: Sums, how: Comparing) -> Shown:
    """Return what pairs of models show, and the verdict in a word or two; all rows are a family of tests."""
    e, n, alpha, lone = of_mean(of), of.n_users, 1.0 - how.level, {}
    # users, or clusters, to be judged
    few = (of.n > 0) & (np.where(of.of_each, of.units, of.n) < how.min_users)
    for side, name in ((MODEL, N_TRAININGS), (BASELINE, f"{BASELINE} {N_TRAININGS}")):
        if name in of.rows.columns:
            note = f"the {side} has one training, so no spread between trainings is known"
            lone[note] = getattr(of, name) == 1
    untested = np.any([few, *lone.values()], axis=0)
    tested = judged(e, level=how.level, correction=how.correction, untested=untested)
    p_values = _within(of, how.margin)
    same = (n > 1) & (of.ties == n)
    unpaired = of_unpaired(n, of.unpaired, of.directed & of.of_each)
    # on one side, as a gate that holds
    not_worse, not_better = np.less_equal(p_values, alpha / 2)
    good = np.where((e.value > 0) == of.higher, "better", "worse")
    cases = {
        "few": few,
        "open": np.any([unpaired[SELECTED_NOTE], *lone.values()], axis=0),
        "same": same | (not_worse & not_better),
        "shown": tested.p_adjusted <= alpha,
        "not worse": of.directed & not_worse,
        "not better": of.directed & not_better,
    }
    found = np.select([*cases.values()], [*cases], "open")
    word = np.where(of.directed, good, np.where(e.value > 0, "higher", "lower"))
    verdicts = np.where(found == "shown", word, found)
    return Shown(e, tested, *p_values, verdicts, few, same, lone, unpaired)


def _within(of: Sums, margin: float | None) -> tuple[Numbers, Numbers]:
    """Return the p values against the margin: not worse, and not better; NaN without a margin.

    They are of the mean of b - (1 - margin) a, and of b - (1 + margin) a, so of no ratio. Each is that of the users and of two
    more, whose values are as far apart as any can be. Source: Schuirmann 1987 (two one-sided tests).
    """
    if margin is None:
        none = np.full_like(of.n, np.nan)
        return none, none
    above, below = (of_mean(of, factor, with_ends=True) for factor in (1.0 - margin, 1.0 + margin))
    at_least = p_below(-above.value, above.error, above.freedom)
    at_most = p_below(below.value, below.error, below.freedom)
    return np.where(of.higher, at_least, at_most), np.where(of.higher, at_most, at_least)


def _notes(of: Sums, how: Comparing, shown: Shown) -> list[str | None]:
    """Return the notes of each row."""
    e, tested, (without, clusters) = shown.e, shown.tested, of.doubts()
    differs, verdicts = ~shown.same, shown.verdicts
    tests = np.count_nonzero(~np.isnan(tested.p_adjusted))
    is_shown = tested.p_value <= 1.0 - how.level
    alone = is_shown & (tested.p_adjusted > 1.0 - how.level) & (verdicts == "open")
    alike = is_shown & differs & (verdicts == "same")
    within = f"within {(how.margin or 0.0) * 100:.10g} %"
    constant, varies = (e.error == 0) & differs & of.of_each, of.variance > 0
    few_differ = f"fewer than {FEW_VALUES} {how.units} differ, so the interval is rough"
    lacks = {"nobody has both values": of.n_users == 0}
    for lack, holds in without.items():
        lacks[lack] = holds & differs
    notes = {
        "both have the same value for all users": shown.same,
        f"fewer than {how.min_users} {how.units}, so not judged": shown.few,
        f"significant alone, not after correcting for {tests} comparisons": alone,
        f"{within}, lower": alike & (e.value < 0),
        f"{within}, higher": alike & (e.value > 0),
        "all clusters have the same mean difference": constant & varies,
        "the difference is the same for all users": constant & ~varies,
        "the baseline is 0, so there is no relative difference": of.a == 0,
        **shown.unpaired,
        few_differ: of.of_each & differs & (e.differ < FEW_VALUES),
        **clusters,
        **shown.lone,
    }
    return words(lacks, notes)


def of_unpaired(n: Numbers, unpaired: Numbers, of_each: Flags) -> dict[str, Flags]:
    """Return the notes of rows with many unpaired users; of values of users so many may be a selection."""
    share = ratio(unpaired, n + unpaired)
    selected, many = of_each & (share > SELECTED), share > MANY_UNPAIRED
    return {
        SELECTED_NOTE: selected,
        "many users have only one of the two values, and are left out": many & ~selected,
    }


# Power: exact for the paired t test, by the noncentral t distribution


def powered(rows: pl.DataFrame, metrics: Metrics, *, wanted: float, level: float) -> pl.DataFrame:
    """Return the power analysis of differences between models, of each row of sums of pairs.

    `wanted` is the wanted difference, as a share of the baseline's value.
    """
    of = Sums(rows, metrics)
    e, n = of_mean(of), of.n_users
    # that of as many independent users
    std, value = e.error * np.sqrt(n), ratio(of.a, of.n)
    detectable = detectable_difference(n, np.where(std > 0, std, np.nan), level=level)
    needed = users_needed(wanted * np.abs(value), std, level=level)
    lacks = {
        "nobody has a value": n == 0,
        "one user, so no spread": n == 1,
        "no spread of this metric is known": np.isnan(std),
        "no difference between users, so no spread": std == 0,
        "the value is 0, so no relative difference has a meaning": value == 0,
        "the wanted difference needs more users than there are": needed >= MOST,
    }
    found = {
        "metric": of.name,
        "users_needed": np.where(needed < MOST, needed, np.nan),
        "wanted": np.full_like(value, wanted),
        "detectable": detectable,
        "detectable_relative": np.where(value == 0, np.nan, ratio(detectable, np.abs(value))),
        "baseline_value": value,
        "std": std,
        "n_users": n,
        "note": words(lacks, {}),
    }
    return as_columns(found, OF_POWER)


def _shift(n: Numbers, level: float) -> Numbers:
    """Return the differences, over their standard errors, that n users show with the probability `POWER`.

    The noncentrality at which t of n - 1 degrees of freedom is above its quantile that often. Source: Cohen 1988.
    """
    freedom = np.where(n >= 2, np.minimum(n - 1.0, MANY), np.nan)  # noqa: PLR2004  a spread wants two
    return np.asarray(special.nctdtrinc(freedom, 1.0 - POWER, t_quantile(level, freedom)))


def detectable_difference(n: Given, std: Given, *, level: float = 0.95) -> Numbers:
    """Return the smallest mean difference that n users show with the probability `POWER`, on its own side.

        n: the number of users who have both values.
        std: the standard deviation of their differences; both of any shapes that broadcast.

    NaN where n < 2; 0 where std is 0.
    """
    n = np.asarray(n)
    return ratio(np.multiply(_shift(n, level), std), np.sqrt(n))


def users_needed(difference: Given, std: Given, *, level: float = 0.95) -> Numbers:
    """Return the smallest whole number of users who show a mean difference with the probability `POWER`.

        difference: the mean difference that is wanted, of either sign.
        std: the standard deviation of the users' differences; both of any shapes that broadcast.

    As floats: infinite for what no number of users shows, at least 2, NaN where something is null or both are 0.
    """
    effect = ratio(np.abs(difference), std)
    known = np.where(np.isfinite(effect) & (effect > 0), effect, 1.0)
    low = np.ones_like(known)
    # the fewer, the larger is the shift
    high = np.ceil((_shift(2.0 * low, level) / known) ** 2) + 2.0
    for _ in range(HALVINGS):
        middle = np.floor((low + high) / 2.0)
        enough = np.sqrt(middle) * known >= _shift(middle, level)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    found = np.where(effect == 0, np.inf, np.where(np.isposinf(effect), 2.0, high))
    return np.where(np.isnan(effect), np.nan, found)
