"""What a paired t test can detect, and how many users it takes: exact, by the noncentral t distribution."""

from __future__ import annotations

from collections.abc import Callable

from recframe.uncertainty.arrays import Flags, Given, Numbers, np, numbers, ratio, special
from recframe.uncertainty.p_values import t_quantile

_HALVINGS = 60
"""So often an interval is halved: below the last bit of a float."""
_MANY = 1e6
"""Of more users, the normal distribution says the same to six digits, and the noncentral t fails somewhere."""
_FAR = 37.0
"""A normal variable is never so far below its mean."""
_NEAR = 6.0
"""Shifts beyond leave less than 1e-9 below 0."""


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
    # NOTE: of shifts that leave less than 1e-9 below, scipy has NaN for some, in other places in each of its versions
    below = special.nctdtr(few, np.minimum(shift, critical + _FAR), critical)
    below = np.where(np.isnan(below) & ~np.isnan(critical + shift), 0.0, below)
    below -= np.where(shift < _NEAR, special.nctdtr(few, np.minimum(shift, _NEAR), -critical), 0.0)
    normal = special.ndtr(critical - shift) - special.ndtr(-critical - shift)
    return numbers(1.0 - np.where(n > _MANY, normal, below))


def detectable_difference(
    n: Given, std: Given, *, level: float = 0.95, power: float = 0.8
) -> Numbers:
    """Return the smallest mean difference that n users show with the probability `power`.

        n: the number of users who have both values.
        std: the standard deviation of their differences; both of any shapes that broadcast.

    std x the effect whose `power_of` is `power`. NaN where n < 2; 0 where std is 0.
    """
    n, std = np.broadcast_arrays(numbers(n), numbers(std))
    high = np.ones_like(n)
    for _ in range(_HALVINGS):
        short = power_of(high, n, level=level) < power
        if not short.any():
            break
        high = np.where(short, 2.0 * high, high)
    effect = _crossing(lambda one: power_of(one, n, level=level) >= power, 0.0 * high, high)
    return np.where(n >= 2, effect * std, np.nan)  # noqa: PLR2004  a spread wants two


def users_needed(
    difference: Given, std: Given, *, level: float = 0.95, power: float = 0.8
) -> Numbers:
    """Return the smallest whole number of users who show a mean difference with the probability `power`.

        difference: the mean difference that is wanted, of either sign.
        std: the standard deviation of the users' differences; both of any shapes that broadcast.

    As floats: infinite for a difference of 0, at least 2, NaN where something is null or both are 0.
    """
    difference, std = np.broadcast_arrays(np.abs(numbers(difference)), numbers(std))
    effect = ratio(difference, std)
    reach = special.ndtri(0.5 + level / 2.0) + special.ndtri(power)
    known = np.isfinite(effect) & (effect > 0)
    safe = np.where(known, effect, 1.0)
    # by the normal distribution, which asks for some two too few
    enough = np.maximum(np.ceil((reach / safe) ** 2), 1.0) + 4.0
    for _ in range(_HALVINGS):
        short = power_of(safe, enough, level=level) < power
        if not short.any():
            break
        enough = np.where(short, 2.0 * enough, enough)
    found = np.ceil(
        _crossing(
            lambda n: power_of(safe, np.ceil(n), level=level) >= power, np.ones_like(enough), enough
        )
    )
    found = np.where(known, np.maximum(found, 2.0), np.nan)
    found = np.where(np.isposinf(effect), 2.0, found)
    return np.where((difference == 0) & (std > 0), np.inf, found)


def _crossing(reached: Callable[[Numbers], Flags], low: Numbers, high: Numbers) -> Numbers:
    """Return where a condition begins to hold, between points where it does not and points where it does."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        yes = reached(middle)
        low, high = np.where(yes, low, middle), np.where(yes, middle, high)
    return high
