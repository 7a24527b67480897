"""Simultaneous intervals and p values over segments or their pairs."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from recframe.statistics.arrays import Given, Labels, Numbers, np, numbers, ratio, special
from recframe.statistics.p_values import p_two_sided, t_quantile, t_statistic

_POINTS = 4001
_HALVINGS = 60
_TINY = 1e-9
"""P value of a range below which rounding dominates, and a sum over pairs is used."""


class Gap(NamedTuple):
    """Gap between the best and worst segment, with its test.

    `low` to `high` is the interval of the gap between these two. `least` is the gap that is shown between some two segments,
    at least 0; it may be shown between two others, where best and worst are small. `p_value` is of the null that no two differ.
    """

    best: int
    worst: int
    gap: float
    low: float
    high: float
    least: float
    p_value: float


NO_GAP = Gap(-1, -1, *[float("nan")] * 5)
"""Gap of fewer than two segments."""


def range_above(q: float, n: int) -> float:
    """Return the probability that n independent standard normal variables are spread over q or more.

    1 - n integral phi(z) (Phi(z) - Phi(z - q))^(n - 1) dz: that of Tukey's studentised range with infinite freedom.
    Source: Tukey 1953; Hartley 1942.
    """
    z, step = np.linspace(-9.0, 9.0, _POINTS, retstep=True)
    within = special.ndtr(z) - special.ndtr(z - q)
    density = n * np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi)
    return float(np.clip(1.0 - step * np.sum(density * within ** (n - 1)), 0.0, 1.0))


def p_of_pairs(p_value: float, n: int, *, independent: bool = True) -> float:
    """Return the p value of one of all pairs of n segments for all of them.

        p_value: of the pair by itself, on two sides.
        independent: whether no user stands in two segments.

    Independent: Tukey-Kramer by the normal deviate of the pair's p, exact for equal standard errors and conservative for
    unlike ones (Hayter 1984). Otherwise 1 - (1 - p)^(n (n - 1) / 2), which holds for any correlation (Sidak 1967).
    """
    pairs = n * (n - 1) / 2.0
    by_sidak = float(-special.expm1(pairs * special.log1p(-min(p_value, 1.0 - 2.0**-53))))
    if not independent or by_sidak < _TINY:
        return by_sidak
    return min(by_sidak, range_above(float(-special.ndtri(p_value / 2.0)) * 2.0**0.5, n))


@lru_cache(maxsize=1024)
def level_of_pairs(level: float, n: int, *, independent: bool = True) -> float:
    """Return the level at which each pair's interval holds by itself, where those of all pairs of n hold at `level`."""
    if not independent:
        return level_of_all(level, n * (n - 1) // 2)
    low, high = 0.0, 1.0 - level
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        within = p_of_pairs(middle, n) > 1.0 - level
        low, high = (low, middle) if within else (middle, high)
    return 1.0 - low


def level_of_all(level: float, n: int) -> float:
    """Return the level at which each of n intervals holds by itself, where all hold at `level`: level^(1 / n).

    For normal or t variables with any correlation. Source: Sidak 1967.
    """
    return float(level ** (1.0 / max(n, 1)))


def simultaneous_interval(
    estimates: Given, standard_errors: Given, *, freedom: Given, level: float = 0.95
) -> tuple[Numbers, Numbers]:
    """Return the lower and upper bounds of estimates, such as slices against the rest, that all hold at once.

        estimates, standard_errors, freedom: of one shape, or of shapes that broadcast; NaN where there is none.

    x +- t se, with t at `level_of_all` for as many as have a standard error.
    """
    estimates, standard_errors = numbers(estimates), numbers(standard_errors)
    n = int(np.count_nonzero(~np.isnan(estimates + standard_errors)))
    half = t_quantile(level_of_all(level, n), freedom) * standard_errors
    return estimates - half, estimates + half


def gap(
    means: Given,
    standard_errors: Given,
    *,
    freedom: Given,
    level: float = 0.95,
    covariance: Given | None = None,
) -> Gap:
    """Return the gap between the best and the worst segment, with an interval that knows they were picked from all pairs.

        means, standard_errors: of the segments, one dimension; NaN is no segment.
        freedom: their degrees of freedom, n - 1 and what is borrowed; none above 0 is no segment.
        covariance: of the means, segments x segments, where users stand in several segments (`covariance_of_means`); its
            diagonal takes the place of the standard errors.

    d +- t se of the pair, with t at `level_of_pairs` and Welch's degrees of freedom of the two. `NO_GAP` for fewer than two
    segments. Standard errors of 0 claim certainty: give those of `borrowed_variances`, with `BORROWED_FOR_GAPS`.
    Source: Tukey 1953; Kramer 1956; Games and Howell 1976; Hayter 1984.
    """
    y, error, free = np.broadcast_arrays(numbers(means), numbers(standard_errors), numbers(freedom))
    there = np.flatnonzero(~np.isnan(y + error + free) & (free > 0))
    n, independent = len(there), covariance is None
    if n < 2:  # noqa: PLR2004  a pair
        return NO_GAP
    order = there[np.argsort(-y[there], kind="stable")]
    pairs = _worth_asking(error, order, all_of_them=not independent)
    apart = y[pairs[0]] - y[pairs[1]]
    given = None if covariance is None else numbers(covariance)
    spread, of_pair = _spread_of_pairs(error, given, free, pairs)
    each = level_of_pairs(level, n, independent=independent)
    half = t_quantile(each, of_pair) * spread
    p_values = p_two_sided(t_statistic(apart, spread), of_pair)
    return Gap(
        best=int(order[0]),
        worst=int(order[-1]),
        gap=float(apart[0]),
        low=float(apart[0] - half[0]),
        high=float(apart[0] + half[0]),
        least=max(float((apart - half).max()), 0.0),
        p_value=p_of_pairs(float(p_values.min()), n, independent=independent),
    )


def _worth_asking(error: Numbers, order: Labels, *, all_of_them: bool) -> tuple[Labels, Labels]:
    """Return pairs of segments, the best and the worst first: all, or those on both frontiers."""
    upper = order if all_of_them else _frontier(error[order], order)
    lower = order[::-1] if all_of_them else _frontier(error[order[::-1]], order[::-1])
    first, second = (one.ravel() for one in np.meshgrid(upper, lower, indexing="ij"))
    return first[first != second], second[first != second]


def _frontier(errors: Numbers, order: Labels) -> Labels:
    """Return the first of an order, and each that has a smaller standard error than all before it.

    NOTE: the pair that shows the largest gap is among these, but for differences in freedom; and what is shown by some pairs
    is shown, so that leaving pairs out claims nothing too much. A thousand segments have half a million pairs, and some
    fifty of these.
    """
    before = np.minimum.accumulate(errors)
    return order[np.flatnonzero(np.r_[True, errors[1:] < before[:-1]])]


def _spread_of_pairs(
    error: Numbers, covariance: Numbers | None, freedom: Numbers, pairs: tuple[Labels, Labels]
) -> tuple[Numbers, Numbers]:
    """Return the standard errors of pairs' differences and their degrees of freedom (Welch and Satterthwaite)."""
    first, second = pairs
    least = np.minimum(freedom[first], freedom[second])
    if covariance is not None:
        diagonal = np.diag(covariance)
        squared = diagonal[first] + diagonal[second] - 2.0 * covariance[first, second]
        return np.sqrt(np.maximum(squared, 0.0)), least
    one, other = error[first] ** 2, error[second] ** 2
    shared = ratio((one + other) ** 2, one**2 / freedom[first] + other**2 / freedom[second])
    return np.sqrt(one + other), np.where(np.isnan(shared), least, shared)
