"""Sums over the ranks 1 to k of what a rank weighs."""

from __future__ import annotations

import math
from itertools import accumulate


def sum_of_reciprocals(k: int | None, share: float) -> float:
    """Return the sum of share^(r - 1) / r over r = 1..k, or of all r, for a share from 0 and below 1."""
    if share == 0:
        return 1.0
    if k is None:
        return -math.log1p(-share) / share
    # beyond these terms nothing is left to add
    last = min(k, 1 + math.ceil(math.log(1e-18) / math.log(share)))
    return math.fsum(share ** (r - 1) / r for r in range(1, last + 1))


def sums_of_shares(share: float) -> list[float]:
    """Return the sum of share^(r - 1) / r over r = 1..n for each n from 0 on, up to where nothing is left to add."""
    last = 1 + math.ceil(math.log(1e-18) / math.log(share))
    return list(accumulate((share ** (r - 1) / r for r in range(1, last + 1)), initial=0.0))


def sum_of_discounts(k: int) -> float:
    """Return the sum of 1 / log2(r + 1) over r = 1..k, without a table as long as k.

    The first terms are summed, the rest is the Euler-Maclaurin formula, whose integral of 1 / ln x is Ei(ln x); what it
    leaves out is below 1e-15.
    """
    first = min(k, 10_000)
    head = math.fsum(1 / math.log(n) for n in range(2, first + 2))
    if k > first:
        start, end = first + 1, k + 1
        half = (1 / math.log(end) - 1 / math.log(start)) / 2
        slope = (1 / (start * math.log(start) ** 2) - 1 / (end * math.log(end) ** 2)) / 12
        head += (
            _exponential_integral(math.log(end))
            - _exponential_integral(math.log(start))
            + half
            + slope
        )
    return head * math.log(2)


def sum_of_unshifted_discounts(k: int, base: float) -> float:
    """Return the sum of 1 / log_base(max(r, base)) over r = 1..k."""
    whole = min(k, math.floor(base))
    return whole + math.log2(base) * (sum_of_discounts(k - 1) - sum_of_discounts(whole - 1))


def _exponential_integral(x: float) -> float:
    """Return Ei(x) for x > 0, up to Euler's constant, by its power series."""
    term, terms, n = 1.0, [math.log(x)], 0
    while n < x or term / n > 1e-18 * terms[-1]:  # the terms grow as long as n < x
        n += 1
        term *= x / n
        terms.append(term / n)
    return math.fsum(terms)
