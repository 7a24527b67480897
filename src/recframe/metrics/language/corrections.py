"""Estimators of metrics from ranks among sampled items.

Of N items n were drawn that are not relevant, and m of them stand above the relevant one, as x of all N - 1 do. Given x, m is
hypergeometric. The polynomials Q_j of Hahn over 0..n, which are 1 at 0 and orthogonal where every m is as likely, then have the
mean Q_j(x) over 0..N-1. So an estimate is a sum of the ones, what it is to be near to a sum of the others, and each coefficient
has a best value of its own: there is no system of equations to be solved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from functools import lru_cache

Metric = Callable[[float], float]
FIRST_DIGITS, TINY = 30, 1e-15


@lru_cache
def least_error(metric: Metric, k: int, n: int, n_items: int, gamma: float) -> tuple[float, ...]:
    """Return the estimates whose squared bias + gamma · variance is least on average over all ranks; 0 to n items above.

    The metric is 0 beyond k. NOTE: the recurrence loses digits with each degree, so it is worked out with as many more.
    """
    norms, norms_of_all = _norms(n, n + 1), _norms(n, n_items)
    share = Decimal(gamma)
    weights = [
        (1 - share) * of_all + share * own for own, of_all in zip(norms, norms_of_all, strict=True)
    ]
    # the largest that a term can be, relative to the metric's square mean
    sizes = [
        ((n + 1) * own * of_all).sqrt() / weight
        for own, of_all, weight in zip(norms, norms_of_all, weights, strict=True)
    ]
    degree = max(j for j, size in enumerate(sizes) if size > TINY)
    gains = [metric(float(rank)) for rank in range(1, min(k, n_items) + 1)]
    with localcontext() as context:
        context.prec = FIRST_DIGITS + degree // 2
        moments = [Decimal(0)] * (degree + 1)
        for above, gain in enumerate(gains):
            values = _hahn(above, n_items - 1, degree)
            moments = [
                total + value * Decimal(gain) for total, value in zip(moments, values, strict=True)
            ]
        factors = [
            moment / n_items / weight for moment, weight in zip(moments, weights, strict=False)
        ]
        halves = [_even_and_odd(factors, _hahn(above, n, degree)) for above in range(n // 2 + 1)]
    # Q_j(n - m) is Q_j(m), of odd degrees with the other sign
    first = [even + odd for even, odd in halves]
    return (*first, *(even - odd for even, odd in halves[: (n + 1) // 2][::-1]))


def at_mean_rank(metric: Metric, k: int, n: int, n_items: int) -> tuple[float, ...]:
    """Return the metric at the rank that is right on average; 0 to n items above."""
    ranks = (1 + above * (n_items - 1) / n for above in range(n + 1))
    return tuple(metric(rank) if rank <= k else 0.0 for rank in ranks)


def _even_and_odd(factors: Sequence[Decimal], values: Sequence[Decimal]) -> tuple[float, float]:
    """Return the sum of the terms of even degrees, and that of the odd ones."""
    terms = [*map(Decimal.__mul__, factors, values)]
    return float(sum(terms[::2])), float(sum(terms[1::2]))


def _norms(degree: int, points: int) -> list[Decimal]:
    """Return the mean squares of Q_0 to Q_degree over so many points; they grow beyond what a float holds."""
    found = [Decimal(1)]
    product = Decimal(1)
    for j in range(1, degree + 1):
        product *= Decimal(points + j) / (points - j)
        found.append(product / (2 * j + 1))
    return found


def _hahn(x: int, last: int, degree: int) -> Sequence[Decimal]:
    """Return Q_0(x) to Q_degree(x) over 0..last."""
    found = [Decimal(1), 1 - Decimal(2 * x) / last]
    for j in range(1, degree):
        fore, back = (j + 1) * (last - j), j * (j + last + 1)
        # twice the middle coefficient of the recurrence is the last point
        middle = (2 * j + 1) * (last - 2 * x)
        found.append((middle * found[j] - back * found[j - 1]) / fore)
    return found[: degree + 1]
