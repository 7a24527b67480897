"""The interval of a ratio of means of the same users: how much better, as a share of the baseline."""

from __future__ import annotations

from typing import NamedTuple

from recframe.uncertainty.arrays import Given, Numbers, np, numbers, ratio
from recframe.uncertainty.p_values import t_quantile


class PairedSums(NamedTuple):
    """Sums over n users who have both: a is the baseline's value of a user, d the difference to it.

    All of one shape, or of shapes that broadcast. Of clusters, n is how many there are, and a and d are sums of a cluster.
    """

    n: Given
    a: Given
    d: Given
    aa: Given
    ad: Given
    dd: Given


class Estimate(NamedTuple):
    """A number with its standard error and its interval."""

    value: Numbers
    standard_error: Numbers
    low: Numbers
    high: Numbers


def relative_difference(sums: PairedSums, *, level: float = 0.95) -> Estimate:
    """Return r = sum d / sum a, with the interval r +- t(n - 1) se of the delta method.

    To first order r is the mean of u_i = (d_i - r a_i) / mean(a) about r, so that
    se^2 = n / (n - 1) (sum d^2 - 2 r sum ad + r^2 sum a^2) / (sum a)^2, which holds for clusters as it stands.

    All NaN where the baseline's sum is 0; no standard error and no interval where n < 2. The baseline's mean is taken to be
    well off 0; where its own interval reaches 0, so should a note. Source: Fieller 1954 (its limit); Deng et al. 2018.
    """
    n, a, d, aa, ad, dd = (numbers(one) for one in sums)
    value = ratio(np.where(a == 0, np.nan, d), a)
    # rounding may leave less than nothing of a spread that is 0
    squares = np.maximum(dd - 2.0 * value * ad + value**2 * aa, 0.0)
    corrected = ratio(n, np.where(n > 1, n - 1.0, np.nan))
    standard_error = np.sqrt(corrected * squares) / np.abs(a)
    half = t_quantile(level, n - 1.0) * standard_error
    return Estimate(value, standard_error, value - half, value + half)
