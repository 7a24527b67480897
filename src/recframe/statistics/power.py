"""Statistical power: detectable differences, and the users that they take.

Exact for the paired t test, by the noncentral t distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from recframe.metrics.language.definition import Metric
from recframe.statistics.estimates import (
    Given,
    Numbers,
    Sums,
    as_columns,
    np,
    of_mean,
    ratio,
    special,
    t_quantile,
    words,
)
from recframe.statistics.stored_results import POWER as COLUMNS

POWER = 0.8
"""Probability of finding a difference."""
MOST = 2**62
"""Upper limit of a number of users."""


@dataclass(frozen=True)
class Power:
    """Options of a power analysis: the wanted difference, as a share of the baseline's value, and the level."""

    wanted: float
    level: float


def powered(rows: pl.DataFrame, metrics: Sequence[Metric[...]], how: Power) -> pl.DataFrame:
    """Return the power analysis of differences between models, of each row of sums of pairs."""
    of = Sums(rows, metrics)
    e, n = of_mean(of), of.n_users
    # that of as many independent users
    std, value = e.error * np.sqrt(n), ratio(of.a, of.n)
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
        "metric": of.name,
        "users_needed": np.where(needed < MOST, needed, np.nan),
        "wanted": np.full(np.shape(value), how.wanted),
        "detectable": detectable,
        "detectable_relative": np.where(value == 0, np.nan, ratio(detectable, np.abs(value))),
        "baseline_value": value,
        "std": std,
        "n_users": n,
        "note": words(lacks, {}),
    }
    return as_columns(found, COLUMNS)


_HALVINGS = 64
"""Halvings of an interval of numbers of users, down to one."""
_MANY = 1e6
"""Degrees of freedom above which the noncentral t is that of as many: it agrees to six digits, and SciPy's may fail."""


def _shift(n: Numbers, level: float) -> Numbers:
    """Return the differences, over their standard errors, that n users show with the probability `POWER`.

    The noncentrality at which t of n - 1 degrees of freedom is above its quantile that often. Source: Cohen 1988.
    """
    freedom = np.where(n >= 2, np.minimum(n - 1.0, _MANY), np.nan)  # noqa: PLR2004  a spread wants two
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
    for _ in range(_HALVINGS):
        middle = np.floor((low + high) / 2.0)
        enough = np.sqrt(middle) * known >= _shift(middle, level)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    found = np.where(effect == 0, np.inf, np.where(np.isposinf(effect), 2.0, high))
    return np.where(np.isnan(effect), np.nan, found)
