"""What a paired t test can detect, and how many users it takes: exact, by the noncentral t distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from recframe.uncertainty.arrays import Flags, Given, Numbers, np, numbers, ratio, special
from recframe.uncertainty.moments import Trainings
from recframe.uncertainty.p_values import t_quantile

_HALVINGS = 60
"""So often an interval is halved: below the last bit of a float."""
_MANY = 1e6
"""Of more users, the normal distribution says the same to six digits, and the noncentral t fails somewhere."""
_FAR = 37.0
"""A normal variable is never so far below its mean."""
_ALL_USERS = 1e15
"""So many that nothing of their error is left."""
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


def standard_error(n: Given, std: Given, trainings: Trainings | None) -> tuple[Numbers, Numbers]:
    """Return the standard error of the mean of n users and of trainings, and its degrees of freedom."""
    n = numbers(n)
    users = ratio(numbers(std) ** 2, n)
    if trainings is None:
        return np.sqrt(users), n - 1.0
    freedom = trainings.freedom(users, np.where(n > 1, n - 1.0, np.nan))
    return np.sqrt(users + trainings.squared_error), freedom


def users_needed(
    difference: Given,
    std: Given,
    trainings: Trainings | None = None,
    *,
    level: float = 0.95,
    power: float = 0.8,
) -> Numbers:
    """Return the smallest whole number of users who show a mean difference with the probability `power`.

        difference: the mean difference that is wanted, of either sign.
        std: the standard deviation of the users' differences; both of any shapes that broadcast.
        trainings: how far trainings are apart too, of that shape, which no number of users makes up for.

    As floats: infinite for what no number of users shows, at least 2, NaN where something is null or both are 0.
    """
    difference, std = np.broadcast_arrays(np.abs(numbers(difference)), numbers(std))

    def enough(n: Numbers) -> Flags:
        error, freedom = standard_error(n, std, trainings)
        effect = ratio(difference, error * np.sqrt(freedom + 1.0))
        return np.asarray(power_of(effect, freedom + 1.0, level=level) >= power)

    effect = ratio(difference, std)
    shown = np.isfinite(effect) & (effect > 0)
    # by the normal distribution, which asks for some two too few
    start = _by_normal(np.where(shown, effect, 1.0), level, power)
    if trainings is not None:
        # of what the trainings alone hide, no users are asked for
        shown &= enough(np.full(effect.shape, _ALL_USERS))
    found = _fewest(lambda n: enough(n) | ~shown, start)
    same = np.inf if trainings is not None else 2.0
    found = np.where(shown, np.maximum(found, 2.0), np.where(np.isposinf(effect), same, np.inf))
    return np.where(np.isnan(effect), np.nan, found)


def _by_normal(effect: Numbers, level: float, power: float) -> Numbers:
    """Return about as many users as show an effect on one side."""
    reach = special.ndtri(0.5 + level / 2.0) + special.ndtri(power)
    return numbers(np.maximum(np.ceil((reach / effect) ** 2), 1.0) + 4.0)


class Gap(NamedTuple):
    """Gaps of users above the least that is allowed, of any shapes that broadcast, and what a gate makes their error of."""

    mean: Given
    std: Given
    """Between users; where they hang together, that of as many independent ones."""
    low: Given = np.nan
    """The lowest and the highest gap that a user can have; NaN where there is none."""
    high: Given = np.nan
    size: Given = 1.0
    """How many users a cluster has on average."""
    effective: Given = 1.0
    """As many clusters of one size, for each user, say as much."""


def chance_to_hold(gap: Gap, n: Given, *, level: float = 0.95) -> Numbers:
    """Return the probability that n users show on one side, at (1 - level) / 2, that the mean gap is above 0.

    The test is that of a gate: of these users and of two more, or two clusters of the mean size, at the ends of the range. With
    the mean M and the standard error e of all of these, and the standard deviation s of M, it is P(T' > t e / s) with T'
    noncentral t and noncentrality M / s. Source: Cohen 1988; Agresti and Min 2005.
    """
    mean, std, low, high, size, effective, n = np.broadcast_arrays(*map(numbers, (*gap, n)))
    known = ~np.isnan(low + high)
    low, high, more = (np.where(known, one, 0.0) for one in (low, high, size))
    units, users = ratio(n, size), n + 2.0 * more
    of_all = ratio(n * mean + more * (low + high), users)
    rest = std**2 * n * ratio(units - 1.0, units) + n * size * (mean - of_all) ** 2
    rest += more**2 * ((low - of_all) ** 2 + (high - of_all) ** 2)
    units = units + 2.0 * known
    error = ratio(np.sqrt(ratio(units, np.where(units > 1, units - 1.0, np.nan)) * rest), users)
    varies = ratio(np.sqrt(n) * std, users)
    freedom = effective * n + 2.0 * known - 1.0
    freedom = np.where(freedom >= 1, freedom, np.nan)
    critical = t_quantile(level, freedom) * ratio(error, varies)
    return 1.0 - _below(critical, ratio(of_all, varies), freedom)


def users_to_hold(gap: Gap, *, level: float = 0.95, power: float = 0.8) -> Numbers:
    """Return the smallest whole number of users of whom a gate holds with the probability `power`; see `chance_to_hold`.

    As floats, at least 2: NaN where something is null, where users do not differ and where the mean gap is not above 0.
    """
    mean, std, *others = np.broadcast_arrays(*map(numbers, gap))
    known = (mean > 0) & (std > 0)
    # of what no number of users shows, nobody is asked for
    safe = Gap(np.where(known, mean, 1.0), np.where(known, std, 1.0), *others)
    start = _by_normal(ratio(safe.mean, safe.std), level, power)
    enough = _fewest(lambda n: chance_to_hold(safe, n, level=level) >= power, start)
    return np.where(known, np.maximum(enough, 2.0), np.nan)


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
