"""Sums over clusters of users, such as households.

Users whose cluster is null are clusters of their own: of them a cell has the sums of all, as of users one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.frames.rows.exact_sums import ExactSums
from recframe.statistics.pairs import OF_TRAININGS, SUMS

PARTS = ("aa", "ad", "dd", "an", "dn", "nn", "units", "effective", "differ")
"""Additional sums of a comparison: squares and products over users or clusters (a: baseline's value,
d: difference, n: users); number of users or clusters; their effective number; and how many differ in both values."""
OF_USERS = {"an": "a", "dn": "d", "nn": "n", "units": "n", "effective": "n", "differ": "n"}
"""The sum over single users that each part is without clusters; `differ` excludes users with equal values."""
ROUNDING = 1e-13
"""Share of the squares below which a sum is rounding error of equal values."""
Product = tuple[pl.Expr, pl.Expr]
"""Summands for a single user and for a cluster."""


def weight(n: pl.Expr, alone: pl.Expr, keys: Sequence[str]) -> pl.Expr:
    """Return the jackknife weight of the squares of a cluster of n users.

    Without it the mean of all N users moves by (S - m n) / (N - n), with m the mean and S the cluster's sum. The sum of the
    squares of these, times (G - 1) / G of G clusters, is that of G / (G - 1) Σ w (S - m n)² / N² with the weight
    w = ((G - 1) N / (G (N - n)))², which is 1 for clusters of one size. Source: Bell and McCaffrey 2002 (CR3).
    """
    n = n.cast(pl.Float64)
    n_clusters = _of_all(pl.when(alone).then(n).otherwise((n > 0).cast(pl.Float64)), keys)
    users, size = _of_all(n, keys), pl.when(alone).then(1.0).otherwise(n)
    found = ((n_clusters - 1.0) * users / (n_clusters * (users - size))) ** 2
    return pl.when(n_clusters > 1).then(found).otherwise(1.0)


def _of_all(of: pl.Expr, keys: Sequence[str]) -> pl.Expr:
    return of.sum().over(keys) if keys else of.sum()


def counts(n: pl.Expr) -> dict[str, Product]:
    """Return the number of clusters and the sum of squared sizes: `units` and `sizes`, Σ n²."""
    n = n.cast(pl.Float64)
    return {"units": (n, (n > 0).cast(pl.Float64)), "sizes": (n, n * n)}


def squared_error(
    n: pl.Expr, total: pl.Expr, square: pl.Expr, product: pl.Expr, sizes: pl.Expr, units: pl.Expr
) -> pl.Expr:
    """Return the squared error of a mean from sums over users or clusters; null of fewer than two.

    With n users and their total, the sums over units of squares, of products with the number of users and of its squares,
    it is G / (G - 1) Σ (S - m n)² / N².
    """
    mean = total / n
    rest = square - 2.0 * mean * product + mean * mean * sizes
    exact = pl.when(rest <= ROUNDING * square).then(0.0).otherwise(rest)
    return pl.when(units > 1).then(units / (units - 1.0) * exact / (n * n))


def of_users(totals: pl.LazyFrame, n_metrics: int) -> pl.LazyFrame:
    """Return sums of pairs extended with `PARTS`, for independent users."""
    columns = [
        pl.col(f"{own} {number}").cast(pl.Float64).alias(f"{part} {number}")
        for number in range(n_metrics)
        for part, own in OF_USERS.items()
    ]
    ties = ((f"differ {number}", f"ties {number}") for number in range(n_metrics))
    return totals.with_columns(columns).with_columns(pl.col(n) - pl.col(of) for n, of in ties)


def of_clusters(
    cells: pl.LazyFrame, keys: Sequence[str], cluster: str, n_metrics: int
) -> pl.LazyFrame:
    """Return sums of pairs per segment extended with `PARTS`, from those of its clusters."""
    alone, numbers = pl.col(cluster).is_null(), range(n_metrics)
    there = cells.collect_schema().names()
    names = [name for number in numbers for part in SUMS if (name := f"{part} {number}") in there]
    products = {
        f"{part} {number}": product
        for number in numbers
        for part, product in _of_pairs(number, alone, keys).items()
    }
    summed = ExactSums({name: pl.col(name).cast(pl.Float64) for name in [*names, *products]})
    beside = [
        one for number in numbers for one in _beside(number) if one.meta.output_name() in there
    ]
    found = summed.of(cells.with_columns(columns(products, alone)), keys, beside)
    return found.with_columns(
        (pl.col(f"n {number}") ** 2 / pl.col(f"sizes {number}")).alias(f"effective {number}")
        for number in numbers
    )


def _beside(number: int) -> list[pl.Expr]:
    """Return a metric's other aggregates: range, whether earlier values are rounded and there is one now, and trainings."""
    names = ("low", "high", "rounded", "present")
    low, high, rounded, present = (pl.col(f"{name} {number}") for name in names)
    of_trainings = (pl.col(f"{part} {number}").first() for part in OF_TRAININGS)
    return [low.min(), high.max(), rounded.all(), present.any(), *of_trainings]


def _of_pairs(number: int, alone: pl.Expr, keys: Sequence[str]) -> dict[str, Product]:
    """Return the summands of a metric's paired values."""
    n, a, d, aa, ad, dd, ties = (
        pl.col(f"{part} {number}").cast(pl.Float64)
        for part in ("n", "a", "d", "aa", "ad", "dd", "ties")
    )
    of_weight = weight(n, alone, keys)
    squares = {
        "aa": (aa, a * a),
        "ad": (ad, a * d),
        "dd": (dd, d * d),
        "an": (a, a * n),
        "dn": (d, d * n),
        "nn": (n, n * n),
    }
    weighted = {part: (of_weight * own, of_weight * of) for part, (own, of) in squares.items()}
    return weighted | counts(n) | {"differ": (n - ties, (d != 0).cast(pl.Float64))}


def columns(products: Mapping[str, Product], alone: pl.Expr) -> list[pl.Expr]:
    """Return the columns of products, by their names."""
    return [
        pl.when(alone).then(own).otherwise(of).alias(name) for name, (own, of) in products.items()
    ]
