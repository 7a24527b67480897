"""Statistical power: detectable differences, and the users that they take.

Exact for the paired t test, by the noncentral t distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from recframe.errors import DataError
from recframe.statistics.arrays import Flags, Given, Numbers, np, numbers, ratio, special
from recframe.statistics.comparison import OF_TRAININGS, Direction, of_both
from recframe.statistics.moments import Ends, Moments, Sums, Trainings, as_columns, as_numbers
from recframe.statistics.p_values import t_quantile
from recframe.statistics.pairs import ENDS
from recframe.statistics.summary import columns_of

COLUMNS = columns_of(
    "metric k value n_users std n_trainings std_trainings n_baseline_trainings std_baseline_trainings "
    "detectable detectable_relative margin wanted chance users_needed note"
)
"""Columns behind the keys; of a difference what is detectable, and of a margin the chance to hold."""
SHORT = (
    *("metric", "users_needed", "wanted", "margin", "chance", "detectable", "detectable_relative"),
    *("value", "n_users", "note"),
)
"""Columns of the short form behind the keys."""
OF_DIFFERENCE = ("detectable", "detectable_relative")
OF_MARGIN = ("margin", "chance")
MORE_TRAININGS = "more trainings, not more users: the spread between trainings alone is too large"
ONE_TRAINING = "a model has one training, so no spread between trainings"
MOST = 2**62
"""Upper limit of a number of users."""
FEWEST_JUDGED = 5.0
"""Minimum users, or clusters, to be tested."""


@dataclass(frozen=True)
class Power:
    """Options of a power analysis: the wanted difference, as a share of the value, level and power.

    With a margin it is asked of a gate, and what is wanted is how much better the model really is.
    """

    wanted: float = 0.01
    margin: float | None = None
    power: float = 0.8
    level: float = 0.95
    correlation: float = 0.5
    """Assumed correlation of users' values between two systems, with one system given."""
    cluster: str | None = None
    rows: int = 1
    """Number of rows that are corrected together."""
    trainings: int | None = None
    """Number of trainings that each model is to have; None is as many as it has."""
    has_baseline: bool = True
    over_trainings: bool = False
    """Models have trainings, which are a sample beside that of users."""

    @property
    def columns(self) -> dict[str, type[pl.DataType]]:
        """The columns of the result behind its keys."""
        dropped = {*(OF_MARGIN if self.margin is None else OF_DIFFERENCE)}
        dropped |= set() if self.over_trainings else {*OF_TRAININGS}
        # of one model there is no baseline
        dropped |= set() if self.has_baseline else {*OF_TRAININGS[2:]}
        return {name: dtype for name, dtype in COLUMNS.items() if name not in dropped}

    @property
    def asked(self) -> dict[str, float]:
        """Level and power of a test, among several rows by Bonferroni."""
        return {"level": 1.0 - (1.0 - self.level) / self.rows, "power": self.power}


class Spread(NamedTuple):
    """Values of rows, and how the users' differences from them vary, or those of clusters and trainings."""

    value: Numbers
    n: Numbers
    std: Numbers
    of: Direction
    ends: Ends
    trainings: Trainings | None = None
    size: Given = 1.0
    """Mean number of users in a cluster."""
    effective: Given = 1.0
    """Effective number of equal-sized clusters per user."""


def of_pairs(cells: pl.DataFrame, keys: Sequence[str], how: Power) -> pl.DataFrame:
    """Return the power analysis of given differences, from the sums over paired users."""
    sums = Sums(cells, keys)
    moments = sums.moments(how.cluster, of_users=True)
    n, of = moments.n, Direction.of(sums.rows)
    share = 0.0 if how.margin is None else np.where(of.higher, how.margin, -how.margin)
    spread = Spread(
        ratio(moments.a, n),
        n,
        moments.with_share(share).std,
        of,
        sums.ends,
        moments.trainings,
        size=ratio(n, moments.units),
        effective=ratio(moments.effective, n),
    )
    return sums.long(_powered(spread, how), how.columns)


def of_one(rows: pl.DataFrame, keys: Sequence[str], how: Power) -> pl.DataFrame:
    """Return the power analysis against a second system, from rows of `summary.with_intervals` of the first.

    With the correlation r of two systems' values of a user and the same spread s in both, b - f a has the standard deviation
    s · √(1 + f² - 2 f r): of a difference, where f is 1, s · √(2 (1 - r)). A second system's trainings are as far apart.
    """
    value, n, own = (as_numbers(rows[name]) for name in ("value", "n_users", "std"))
    # where no interval is known, the spread of the contributions is none to go by
    own = np.where(rows["value_low"].is_null(), np.nan, own)
    of, ends = Direction.of(rows), np.array([as_numbers(rows[name]) for name in ENDS])
    # of a metric of all lists no user has a value
    known = np.isfinite(ends).all(axis=0) & of.of_each
    f = 1.0 if how.margin is None else np.where(of.higher, 1.0 - how.margin, 1.0 + how.margin)
    std = own * np.sqrt(1.0 + f**2 - 2.0 * f * how.correlation)
    trainings = None
    if how.over_trainings:
        n_trainings, apart = (as_numbers(rows[name]) for name in OF_TRAININGS[:2])
        trainings = Trainings(*(n_trainings, apart**2) * 2)
    spread = Spread(value, n, std, of, Ends(*np.where(known, ends, np.nan)), trainings)
    found = as_columns(_powered(spread, how), how.columns)
    return rows.with_columns(found).select(*keys, *how.columns)


def _powered(of: Spread, how: Power) -> dict[str, Any]:
    """Return the columns of a result but for metric and cut-off: those of a difference, or of a margin."""
    return _of_difference(of, how) if how.margin is None else _of_margin(of, how)


def _wanted(at_hand: Trainings, how: Power) -> Trainings:
    """Return trainings with the given variance, in the requested number."""
    if how.trainings is None:
        return at_hand
    fewest = np.fmin(at_hand.n, at_hand.n_baseline)
    if np.any(fewest == 1):
        msg = (
            f"trainings={how.trainings} needs the spread between trainings of a model, but a model has only one; give two or "
            "more of each model, or leave trainings= out"
        )
        raise DataError(msg)
    n = np.where(np.isnan(at_hand.n), np.nan, float(how.trainings))
    return at_hand._replace(n=n, n_baseline=n)


def _of_difference(of: Spread, how: Power) -> dict[str, Any]:
    """Return the columns of the result of a difference."""
    value, std, trainings = of.value, of.std, of.trainings and _wanted(of.trainings, how)
    error, freedom = standard_error(of.n, std, trainings)
    spread = np.where(std > 0, error * np.sqrt(freedom + 1.0), np.nan)
    detectable = detectable_difference(freedom + 1.0, spread, **how.asked)
    needed = users_needed(how.wanted * np.abs(value), std, trainings, **how.asked)
    relative = np.where(value == 0, np.nan, ratio(detectable, np.abs(value)))
    found = {"detectable": detectable, "detectable_relative": relative}
    lacks: dict[str, Flags] = {}
    if trainings is not None:
        found |= of_both(trainings)
        differ = (value != 0) & (std > 0)
        single = (trainings.n == 1) | (trainings.n_baseline == 1)
        lacks[MORE_TRAININGS] = differ & np.isposinf(needed)
        lacks[ONE_TRAINING] = differ & single & (needed < MOST)
    return found | _of_every(of, needed, how, lacks)


def _of_margin(of: Spread, how: Power) -> dict[str, Any]:
    """Return the columns of the result of a margin, which a model that is better by what is wanted is to keep."""
    value, std, higher = of.value, of.std, of.of.higher
    margin = how.margin or 0.0
    known = of.of.directed & (value > 0) & (std > 0)
    mean = np.where(known, (margin + how.wanted) * value, np.nan)
    low, high = of.ends.of_gap(np.where(higher, 1.0 - margin, 1.0 + margin))
    low, high = np.where(higher, low, -high), np.where(higher, high, -low)
    gap, fewest = Gap(mean, std, low, high, of.size, of.effective), FEWEST_JUDGED * numbers(of.size)
    needed = np.maximum(users_to_hold(gap, **how.asked), np.ceil(fewest))
    chance = chance_to_hold(gap, of.n, level=how.asked["level"])
    lacks = {
        "no direction of the metric is better, so there is no 'not worse'": ~of.of.directed,
        "the value is not above 0, so a relative margin has no meaning": value <= 0,
    }
    chance = np.where(of.n < fewest, 0.0 * chance, chance)
    margins = {"margin": np.full(np.shape(value), margin), "chance": chance}
    return margins | _of_every(of, needed, how, lacks)


def _of_every(
    of: Spread, needed: Numbers, how: Power, lacks: Mapping[str, Flags]
) -> dict[str, Any]:
    """Return the columns that both results have."""
    value, n, std = of.value, of.n, of.std
    words = {
        "nobody has a value": n == 0,
        "one user, so no spread": n == 1,
        **lacks,
        "no spread of this metric is known": np.isnan(std),
        "no difference between users, so no spread": std == 0,
        "the value is 0, so no relative difference has a meaning": value == 0,
        "the wanted difference needs more users than there are": needed >= MOST,
    }
    return {
        "value": value,
        "n_users": n,
        "std": std,
        "wanted": np.full(np.shape(value), how.wanted),
        "users_needed": np.where(needed < MOST, needed, np.nan),
        "note": np.select(list(words.values()), list(words), ""),
    }


_HALVINGS = 60
"""Halvings of an interval: below the last bit of a float."""
_MANY = 1e6
"""Users above which the normal distribution is used: it agrees to six digits, and the noncentral t may fail."""
_FAR = 37.0
"""Standard deviations below the mean that a normal variable never reaches."""
_ALL_USERS = 1e15
"""Number of users whose error is nothing."""
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
    """Users' gaps above the allowed minimum, and their error's inputs."""

    mean: Given
    std: Given
    """Standard deviation between users; for clusters, that of equivalent independent users."""
    low: Given = np.nan
    """Range of a user's gap (`low`, `high`); NaN where unbounded."""
    high: Given = np.nan
    size: Given = 1.0
    """Mean number of users in a cluster."""
    effective: Given = 1.0
    """Effective number of equal-sized clusters per user."""


def chance_to_hold(gap: Gap, n: Given, *, level: float = 0.95) -> Numbers:
    """Return the probability that n users show on one side, at (1 - level) / 2, that the mean gap is above 0.

    The test is that of a gate: of these users and of two more, or two clusters of the mean size, at the ends of the range. With
    the mean M and the standard error e of all of these, and the standard deviation s of M, it is P(T' > t e / s) with T'
    noncentral t and noncentrality M / s. Source: Cohen 1988; Agresti and Min 2005.
    """
    mean, std, low, high, size, effective, n = np.broadcast_arrays(*map(numbers, (*gap, n)))
    units = ratio(n, size)
    of_units = {"dn": n * size * mean, "nn": n * size, "units": units, "effective": effective * n}
    unknown = dict.fromkeys(("a", "aa", "ad", "an", "differ"), np.full_like(mean, np.nan))
    squares = std**2 * n * ratio(units - 1.0, units) + n * size * mean**2
    of_all = Moments(n, d=n * mean, dd=squares, **of_units, **unknown, trainings=None)
    moments = of_all.with_ends(low, high)
    varies = ratio(np.sqrt(n) * std, moments.n)
    critical = t_quantile(level, moments.freedom) * ratio(moments.standard_error, varies)
    return 1.0 - _below(critical, ratio(moments.difference, varies), moments.freedom)


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
