"""Sums over the units of a sample: users, clusters of users, users over folds."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.rows.exact_sums import ExactSums, of_few
from recframe.statistics.sums import PARTS, PROPERTIES, ROUNDING

USER, USERS = "user", "users"
"""Key of a user's cells over folds, and their number of users with a value in any fold."""
OF_UNITS = ("aa", "ad", "dd", "an", "dn", "nn", "units", "effective", "differ", "squares")
"""Sums of squares and products over units (a: the other model's value, d: the difference, n: users); the number of units,
their effective number (sum n)^2 / sum n^2, how many differ in both values; and the squares of users' own differences."""
ALONE, WEIGHT = "alone", "weight"
"""Columns of cells: whether they are of users without a cluster, and the weight of their squares."""


def of_users(cells: pl.LazyFrame) -> pl.LazyFrame:
    """Return sums in long form with `OF_UNITS`, for users who are independent."""
    a, d, n, ties = (pl.col(part).cast(pl.Float64) for part in ("a", "d", "n", "ties"))
    units = pl.when("of_each").then(n)
    own = {"an": a, "dn": d, "nn": n, "units": units, "effective": units, "differ": n - ties}
    return cells.with_columns(squares=pl.col("dd"), **own)


def of_clusters(cells: pl.LazyFrame, keys: Sequence[str], cluster: str) -> pl.LazyFrame:
    """Return sums in long form with `OF_UNITS`, by the keys, from cells of the clusters in a column.

    A cluster whose differences cancel has a summed difference of 0. Without a cluster the mean m of all N users moves by
    (S - m n) / (N - n), with the cluster's sum S and its n users. The squares of these, times (G - 1) / G of G clusters, add up
    to G / (G - 1) Σ w (S - m n)² / N² with the weight w = ((G - 1) N / (G (N - n)))², which is 1 for clusters of one size. A
    user whose cluster is null is a cluster alone. Source: Bell and McCaffrey 2002 (CR3).
    """
    cancels = pl.col("d").abs() <= ROUNDING * pl.col("size")
    alone = pl.col(cluster).is_null().alias(ALONE)
    zero = pl.when(cancels & ~alone).then(0.0).otherwise("d").alias("d")
    cells = _weighted(cells.with_columns(alone, zero), keys)
    n, a, d, aa, ad, dd, ties = (
        pl.col(part).cast(pl.Float64) for part in ("n", "a", "d", "aa", "ad", "dd", "ties")
    )
    products = {
        "aa": (aa, a * a),
        "ad": (ad, a * d),
        "dd": (dd, d * d),
        "an": (a, a * n),
        "dn": (d, d * n),
        "nn": (n, n * n),
    }
    schema = cells.collect_schema()
    counts = [USERS] * (USERS in schema)
    sums = {part: pl.col(part).cast(pl.Float64) for part in (*PARTS, *counts)}
    sums |= {part: pl.col(WEIGHT) * _of_cell(*both) for part, both in products.items()}
    sums |= {"squares": dd, "sizes": _of_cell(n, n * n)}
    sums["units"] = _of_cell(n, (n > 0).cast(pl.Float64))
    sums["differ"] = _of_cell(n - ties, (d != 0).cast(pl.Float64))
    # each is the same in all clusters of a row
    same = [pl.col(name).min() for name in PROPERTIES if name in schema and name not in keys]
    found = ExactSums(sums).of(cells, keys, same)
    return found.with_columns(effective=pl.col("n") ** 2 / pl.col("sizes")).drop("sizes")


def _weighted(cells: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return cells with the weight of their squares."""
    n = pl.col("n").cast(pl.Float64)
    n_clusters = _of_cell(n, (n > 0).cast(pl.Float64)).sum().over(keys)
    users, size = n.sum().over(keys), _of_cell(pl.lit(1.0), n)
    found = ((n_clusters - 1.0) * users / (n_clusters * (users - size))) ** 2
    return cells.with_columns(pl.when(n_clusters > 1).then(found).otherwise(1.0).alias(WEIGHT))


def _of_cell(own: pl.Expr, of: pl.Expr) -> pl.Expr:
    """Return the summand of a cell, of users without a cluster or of a cluster."""
    return pl.when(ALONE).then(own).otherwise(of)


def over_folds(cells: pl.LazyFrame, keys: Sequence[str], cluster: str) -> pl.LazyFrame:
    """Return cells of clusters from those of users over all folds, each user counted once; `keys` are those of rows.

    A user is better off, equal or worse off by their sum over folds, and unpaired by the share of their values without another.
    """
    counts = (pl.col("n") > 0).cast(pl.Int64)
    if cluster != USER:  # a user may be in another cluster with each fold
        counts *= counts.cum_sum().over([*keys, USER]) == 1
    n, unpaired, d = (pl.col(part).cast(pl.Float64) for part in ("n", "unpaired", "d"))
    cancels = pl.col("d").abs() <= ROUNDING * pl.col("size")
    cells = cells.with_columns(
        pl.when(cancels).then(0.0).otherwise("d").alias("d"), counts.alias(USERS)
    )
    cells = cells.with_columns(
        wins=pl.col(USERS) * (d > 0),
        ties=pl.col(USERS) * (d == 0),
        unpaired=pl.when(unpaired > 0).then(unpaired / (n + unpaired)).otherwise(0.0),
    )
    if cluster == USER:
        return cells
    alone = pl.when(pl.col(cluster).is_null()).then(USER)
    cells = cells.with_columns(pl.struct(cluster, alone.alias("alone")).alias(cluster))
    schema = cells.collect_schema()
    same = [pl.col(name).min() for name in PROPERTIES if name in schema and name not in keys]
    sums = {name: pl.col(name).cast(pl.Float64) for name in (*PARTS, USERS)}
    return of_few(cells, [*keys, cluster], sums, same)
