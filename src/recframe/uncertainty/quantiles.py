"""Quantiles of Student's t as an expression: a table up to a hundred degrees of freedom, an expansion beyond."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import polars as pl

TABLE = 100
"""So many degrees of freedom have their quantile in a table; beyond, the expansion is exact to 4e-11."""


def t_quantile(freedom: pl.Expr, share: float) -> pl.Expr:
    """Return the quantile of a share of Student's t with whole degrees of freedom; null below 1.

    Source: Abramowitz and Stegun 1964, Handbook of Mathematical Functions, 26.7.5 (the expansion in 1 / freedom).
    """
    z = NormalDist().inv_cdf(share)
    v = freedom.cast(pl.Float64)
    terms = [
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    ]
    beyond = pl.lit(z)
    for power, term in enumerate(terms, 1):
        beyond += term / v**power
    # A row looks its own quantile up; rows beyond the table find none there. A list streams where replace_strict does not.
    place = pl.when(freedom >= 1).then(freedom.cast(pl.Int64) - 1)
    table = pl.lit(pl.Series([_table(share)])).list.get(place, null_on_oob=True)
    return pl.when(freedom >= 1).then(pl.coalesce(table, beyond))


@lru_cache
def _table(share: float) -> list[float]:
    return [_quantile(freedom, share) for freedom in range(1, TABLE + 1)]


def _quantile(freedom: int, share: float) -> float:
    """Return a quantile by bisection of the angle whose tangent is t / sqrt(freedom): the share grows with it."""
    low, high = -math.pi / 2, math.pi / 2
    while (middle := (low + high) / 2) not in {low, high}:
        if _share(freedom, middle) < share:
            low = middle
        else:
            high = middle
    return math.tan(middle) * math.sqrt(freedom)


def _share(freedom: int, angle: float) -> float:
    """Return the probability below an angle, a finite sum for whole degrees of freedom.

    Source: Abramowitz and Stegun 1964, 26.7.3 and 26.7.4.
    """
    cosine, term, total = math.cos(angle), 1.0, 0.0
    if freedom % 2:
        term = cosine
        for place in range(1, freedom - 1, 2):
            total += term
            term *= cosine**2 * (place + 1) / (place + 2)
        return 0.5 + (angle + math.sin(angle) * total) / math.pi
    for place in range(0, freedom - 1, 2):
        total += term
        term *= cosine**2 * (place + 1) / (place + 2)
    return 0.5 + math.sin(angle) * total / 2
