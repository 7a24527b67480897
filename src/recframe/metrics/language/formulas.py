"""Formulas that several words share: ratios, discounts, harmonic numbers, sums of discounts."""

from __future__ import annotations

import math

import polars as pl

EULER = 0.5772156649015329


def ratio(part: pl.Expr, whole: pl.Expr, *, empty: float | None = 0.0) -> pl.Expr:
    """Return part / whole, and where the whole is 0 what stands for an empty one: 0, or None for null."""
    return pl.when(whole > 0).then(part / whole).otherwise(empty)


def discount(rank: pl.Expr) -> pl.Expr:
    """Return 1 / log2(rank + 1)."""
    return math.log(2) / (rank.cast(pl.Float64) + 1).log()


def geometric_discount(rank: pl.Expr, p: float) -> pl.Expr:
    """Return p^(rank - 1)."""
    return ((rank.cast(pl.Float64) - 1) * math.log(p)).exp()


def unshifted_discount(rank: pl.Expr, base: float) -> pl.Expr:
    """Return 1 / log_base(max(rank, base))."""
    return math.log(base) / rank.cast(pl.Float64).clip(lower_bound=base).log()


def harmonic(n: pl.Expr) -> pl.Expr:
    """Return 1 + 1/2 + ... + 1/n of whole numbers, by the asymptotic series sixteen terms on, which is exact to 1e-16."""
    far = n.cast(pl.Float64) + 16
    square = far**2
    series = (1 / 252 - (1 / 240 - 1 / (132 * square)) / square) / square
    tail = (1 / 12 - (1 / 120 - series) / square) / square
    return (
        far.log()
        + EULER
        + 1 / (2 * far)
        - tail
        - pl.sum_horizontal(1 / (n + place) for place in range(1, 17))
    )


def sum_of_reciprocals(k: int | None, share: float) -> float:
    """Return the sum of share^(r - 1) / r over r = 1..k, or of all r, for a share from 0 and below 1."""
    if share == 0:
        return 1.0
    if k is None:
        return -math.log1p(-share) / share
    # beyond these terms nothing is left to add
    last = min(k, 1 + math.ceil(math.log(1e-18) / math.log(share)))
    return math.fsum(share ** (r - 1) / r for r in range(1, last + 1))


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
