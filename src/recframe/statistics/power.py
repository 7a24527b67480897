"""Statistical power: detectable differences, and the users that they take.

Exact for the paired t test, by the noncentral t distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Given, Numbers, np, numbers, ratio, special
from recframe.statistics.estimates import of_mean, t_quantile, words
from recframe.statistics.stored_results import POWER as COLUMNS
from recframe.statistics.summary import Sums
from recframe.statistics.sums import BASELINE, MODEL

POWER = 0.8
"""Probability of finding a difference."""
MOST = 2**62
"""Upper limit of a number of users."""


@dataclass(frozen=True)
class Power:
    """Options of a power analysis: the wanted difference, as a share of the baseline's value, and the level."""

    wanted: float
    level: float


def powered(
    rows: pl.DataFrame, keys: Sequence[str], metrics: Mapping[int, Metric[...]], how: Power
) -> pl.DataFrame:
    """Return the power analysis of differences between models, from the sums of pairs."""
    by = [*keys, MODEL, BASELINE]
    of = Sums(rows, metrics)
    e, n = of_mean(of.moments), of.n_users
    # that of as many independent users
    std, value = e.error * np.sqrt(n), ratio(of.arrays["a"], of.arrays["n"])
    detectable = detectable_difference(n, np.where(std > 0, std, np.nan), level=how.level)
    needed = users_needed(how.wanted * np.abs(value), std, level=how.level)
    lacks = {
        "nobody has a value": n == 0,
        "one user, so no spread": n == 1,
        "no spread of this metric is known": np.isnan(std),
        "no difference between users, so no spread": std == 0,
        "the value is 0, so no relative difference has a meaning": value == 0,
        "the wanted difference needs more users than there are": needed >= MOST,
    }
    found = {
        "users_needed": np.where(needed < MOST, needed, np.nan),
        "wanted": np.full(np.shape(value), how.wanted),
        "detectable": detectable,
        "detectable_relative": np.where(value == 0, np.nan, ratio(detectable, np.abs(value))),
        "value": value,
        "std": std,
        "n_users": n,
        "note": words(lacks, {}),
    }
    return of.table(found, COLUMNS, by)


_HALVINGS = 60
"""Halvings of an interval: below the last bit of a float."""
_MANY = 1e6
"""Users above which the normal distribution is used: it agrees to six digits, and the noncentral t may fail."""
_FAR = 37.0
"""Standard deviations below the mean that a normal variable never reaches."""
_NEAR = 6.0
"""Shift beyond which less than 1e-9 of the distribution is below 0."""


def power_of(effect: Given, n: Given, *, level: float = 0.95) -> Numbers:
    """Return the probability that the paired t test of n users finds an effect, on either side.

        effect: the mean difference over its standard deviation between users.
        n: the number of users, of a shape that broadcasts; n < 2 has no test and gives NaN.
        level: one minus the significance that is asked for, .95 for .05.

    P(|T'| > t) with T' noncentral t of n - 1 degrees of freedom and noncentrality effect sqrt(n). Source: Cohen 1988.
    """
    effect, n = np.broadcast_arrays(np.abs(numbers(effect)), numbers(n))
    freedom = np.where(n >= 2, n - 1.0, np.nan)  # noqa: PLR2004  a spread wants two
    critical, shift = t_quantile(level, freedom), effect * np.sqrt(n)
    few = np.minimum(freedom, _MANY)
    other_side = special.nctdtr(few, np.minimum(shift, _NEAR), -critical)
    other_side = np.where(freedom > _MANY, special.ndtr(-critical - shift), other_side)
    below = _below(critical, shift, freedom) - np.where(shift < _NEAR, other_side, 0.0)
    return numbers(1.0 - below)


def _below(critical: Numbers, shift: Numbers, freedom: Numbers) -> Numbers:
    """Return P(T' < critical) of the noncentral t of a shift."""
    # NOTE: of shifts that leave less than 1e-9 below, scipy has NaN for some, in other places in each of its versions
    found = special.nctdtr(np.minimum(freedom, _MANY), np.minimum(shift, critical + _FAR), critical)
    found = np.where(np.isnan(found) & ~np.isnan(critical + shift), 0.0, found)
    return np.where(freedom > _MANY, special.ndtr(critical - shift), found)


def detectable_difference(n: Given, std: Given, *, level: float = 0.95) -> Numbers:
    """Return the smallest mean difference that n users show with the probability `POWER`.

        n: the number of users who have both values.
        std: the standard deviation of their differences; both of any shapes that broadcast.

    std x the effect whose `power_of` is `POWER`. NaN where n < 2; 0 where std is 0.
    """
    n, std = np.broadcast_arrays(numbers(n), numbers(std))
    high = np.ones_like(n)
    for _ in range(_HALVINGS):
        short = power_of(high, n, level=level) < POWER
        if not short.any():
            break
        high = np.where(short, 2.0 * high, high)
    effect = _crossing(lambda one: power_of(one, n, level=level) >= POWER, 0.0 * high, high)
    return np.where(n >= 2, effect * std, np.nan)  # noqa: PLR2004  a spread wants two


def users_needed(difference: Given, std: Given, *, level: float = 0.95) -> Numbers:
    """Return the smallest whole number of users who show a mean difference with the probability `POWER`.

        difference: the mean difference that is wanted, of either sign.
        std: the standard deviation of the users' differences; both of any shapes that broadcast.

    As floats: infinite for what no number of users shows, at least 2, NaN where something is null or both are 0.
    """
    difference, std = np.broadcast_arrays(np.abs(numbers(difference)), numbers(std))
    effect = ratio(difference, std)
    shown = np.isfinite(effect) & (effect > 0)
    # by the normal distribution, which asks for some two too few
    reach = special.ndtri(0.5 + level / 2.0) + special.ndtri(POWER)
    start = np.maximum(np.ceil((reach / np.where(shown, effect, 1.0)) ** 2), 1.0) + 4.0
    found = _fewest(lambda n: (power_of(effect, n, level=level) >= POWER) | ~shown, start)
    found = np.where(shown, np.maximum(found, 2.0), np.where(np.isposinf(effect), 2.0, np.inf))
    return np.where(np.isnan(effect), np.nan, found)


def _fewest(reached: Callable[[Numbers], Flags], enough: Numbers) -> Numbers:
    """Return the smallest whole number from which on a condition holds, from a first guess at one that is enough."""
    for _ in range(_HALVINGS):
        short = ~reached(enough)
        if not short.any():
            break
        enough = np.where(short, 2.0 * enough, enough)
    return np.ceil(_crossing(lambda n: reached(np.ceil(n)), np.ones_like(enough), enough))


def _crossing(reached: Callable[[Numbers], Flags], low: Numbers, high: Numbers) -> Numbers:
    """Return where a condition begins to hold, between points where it does not and points where it does."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        yes = reached(middle)
        low, high = np.where(yes, low, middle), np.where(yes, middle, high)
    return high
