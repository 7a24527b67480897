"""Users who stand in several folds: sums of their values, by clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.frames.rows.exact_sums import of_few
from recframe.metrics.language.definition import Metric
from recframe.statistics import summary
from recframe.statistics.pairs import OF_ROWS, SUMS, USERS

USER = "user"
"""Key of a user's cells."""


def rows_of_users(
    wide: pl.LazyFrame,
    inside: Sequence[str],
    metrics: Mapping[int, Metric[...]],
    keys: Sequence[str],
    cluster: str,
) -> pl.LazyFrame:
    """Return values with their errors in long form, from the sums of users over all folds, by clusters of users.

    `inside` has the keys of the sums, `keys` those of the rows. What counts users counts each once: those with a value, and
    those whose values are all 0.
    """
    long = summary.by_metric(wide, inside, metrics)
    n, zero = pl.col("n_users"), pl.col("n_zero")
    long = _counted(long, "n_users", keys, cluster).with_columns(
        pl.when(zero.is_not_null()).then((n > 0) & (zero == n)).cast(pl.Int64).alias("n_zero"),
    )
    users = {USERS: pl.col(USERS).cast(pl.Float64)}
    if cluster != USER:
        long = summary.added(apart(long, cluster), [*keys, cluster], users)
    found = summary.of_clusters(long, keys, cluster, users)
    return found.with_columns(n_users=pl.col(USERS).cast(pl.Int64)).drop(USERS)


def _counted(cells: pl.LazyFrame, n: str, keys: Sequence[str], unit: str) -> pl.LazyFrame:
    """Return cells of users in units with the number of `users`, each at one cell with a value of a row with its keys."""
    counts = (pl.col(n) > 0).cast(pl.Int64)
    if unit != USER:
        counts *= counts.cum_sum().over([*keys, USER]) == 1
    return cells.with_columns(counts.alias(USERS))


def cells_of_users(cells: pl.LazyFrame, cluster: str) -> pl.LazyFrame:
    """Return sums over pairs of models, in long form, of users over all folds, with the number of `users`, by clusters.

    A user is better off, equal or worse off by their sum over folds, and unpaired by the share of their values without another.
    """
    schema = cells.collect_schema()
    others = {cluster, USER, *SUMS, *OF_ROWS}
    cells = _counted(cells, "n", [name for name in schema if name not in others], cluster)
    n, unpaired, d = (pl.col(part).cast(pl.Float64) for part in ("n", "unpaired", "d"))
    cells = cells.with_columns(
        wins=pl.col(USERS) * (d > 0),
        ties=pl.col(USERS) * (d == 0),
        unpaired=pl.when(unpaired > 0).then(unpaired / (n + unpaired)).otherwise(0.0),
    )
    if cluster == USER:
        return cells
    schema = cells.collect_schema()
    summed = [name for name in (*SUMS, USERS) if schema[name].is_float()]
    counted = [pl.col(name).sum() for name in (*SUMS, USERS) if name not in summed]
    same = [pl.col(name).first() for name in OF_ROWS if name in schema]
    keys = [name for name in schema if name not in {USER, *SUMS, USERS, *OF_ROWS}]
    sums = {name: pl.col(name) for name in summed}
    return of_few(apart(cells, cluster), keys, sums, [*counted, *same])


def of_each_user(units: pl.LazyFrame) -> pl.LazyFrame:
    """Return sums over pairs of (fold, user) with `OF_UNITS` as those of as many pairs as there are users.

    Means, errors and shares of users stay as they are.
    """
    factor = pl.when(pl.col("n") > 0).then(pl.col(USERS) / pl.col("n")).otherwise(0.0)
    powers = {**dict.fromkeys(("a", "d"), 1), "dddd": 4}
    powers |= dict.fromkeys(("aa", "ad", "dd", "an", "dn", "nn"), 2)
    scaled = [pl.col(part) * factor**power for part, power in powers.items()]
    return units.with_columns(*scaled, n=pl.col(USERS))


def apart(cells: pl.LazyFrame, cluster: str) -> pl.LazyFrame:
    """Return cells of users in clusters; one without a cluster is a cluster, over all folds."""
    alone = pl.when(pl.col(cluster).is_null()).then(USER)
    return cells.with_columns(pl.struct(cluster, alone.alias("alone")).alias(cluster))
