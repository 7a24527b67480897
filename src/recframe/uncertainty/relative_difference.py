"""The interval of a ratio of means of the same users: how much better, as a share of the baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from recframe.uncertainty.arrays import Given, Numbers, np, numbers, ratio
from recframe.uncertainty.p_values import t_quantile

_ROUNDING = 1e-13
Quantile: TypeAlias = Callable[[Given, Given], Numbers]
"""How many standard errors an interval reaches, from its level and the degrees of freedom."""


class PairedMeans(NamedTuple):
    """The baseline's mean a and the mean difference d to it, with the variances and the covariance of these two means.

    All of one shape, or of shapes that broadcast.
    """

    a: Given
    d: Given
    aa: Given
    ad: Given
    dd: Given
    freedom: Given


class Share(NamedTuple):
    """A difference as a share of the baseline, with its interval."""

    value: Numbers
    low: Numbers
    high: Numbers


def relative_difference(
    means: PairedMeans, *, level: float = 0.95, quantile: Quantile = t_quantile
) -> Share:
    """Return r = d / a, with the interval of all shares r for which the mean of d - r a may be 0.

    That is (d - r a)^2 <= t^2 (var d - 2 r cov + r^2 var a), with the quantile t of Student's t: between the two roots of
    A r^2 - 2 B r + C, with A = a^2 - t^2 var a, B = a d - t^2 cov and C = d^2 - t^2 var d.

    Where A is not above 0 the baseline's mean may itself be 0, and the shares have no bound: both ends are NaN. So are those of
    a mean without a variance. All are NaN where the baseline's mean is 0. Source: Fieller 1954.
    """
    a, d, aa, ad, dd, freedom = (numbers(one) for one in means)
    value = ratio(np.where(a == 0, np.nan, d), a)
    squared = quantile(level, freedom) ** 2
    outer, middle, inner = a**2 - squared * aa, a * d - squared * ad, d**2 - squared * dd
    outer = np.where(outer > 0, outer, np.nan)
    apart = middle**2 - outer * inner
    # what rounding leaves where all differences are one share is nothing
    half = np.sqrt(np.where(apart <= _ROUNDING * middle**2, 0.0 * apart, apart)) / outer
    return Share(value, middle / outer - half, middle / outer + half)
