"""Users who stand in several folds: sums of their values, by clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.frames.options import FOLD
from recframe.frames.rows.exact_sums import ExactSums, of_few
from recframe.frames.rows.joins import joined
from recframe.metrics.language.definition import Metric
from recframe.statistics import summary
from recframe.statistics.pairs import OF_ROWS, PLACE, SUMS, USERS

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

    `inside` has the keys of the sums, `keys` those of the rows. What counts users counts each once: those with a value, those
    whose values are all 0, those without any value.
    """
    long = summary.by_metric(wide, inside, metrics)
    n, zero, undefined = (pl.col(name) for name in ("n_users", "n_zero", "n_undefined"))
    long = _counted(long, "n_users", keys, cluster).with_columns(
        pl.when(zero.is_not_null()).then((n > 0) & (zero == n)).cast(pl.Int64).alias("n_zero"),
        pl.when(undefined.is_not_null())
        .then((n == 0) & (undefined > 0))
        .cast(pl.Int64)
        .alias("n_undefined"),
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


def with_own_values(
    rows: pl.LazyFrame,
    wide: pl.LazyFrame,
    keys: Sequence[str],
    metrics: Mapping[int, Metric[...]],
    ratio: float | None,
    *,
    is_sample: bool,
) -> pl.LazyFrame:
    """Return values with their errors beside the span of the folds' own values, which `wide` has by fold.

    Where folds are the sample, the value is the mean of theirs, and the squared error s² / F of F folds with the variance s²,
    times 1 + F r of random folds, with the ratio r of truth rows to train rows: folds share train rows.

    Source: Nadeau and Bengio 2003, Inference for the generalization error.
    """
    value = pl.col("value")
    long = summary.by_metric(wide, [*keys, FOLD], metrics).select(*keys, PLACE, "value")
    span = [value.count().cast(pl.Int64), value.min(), value.max()]
    named = [one.alias(name) for one, name in zip(span, summary.OF_FOLDS, strict=True)]
    sums = {"of folds": value.fill_null(0.0), "squares of folds": (value * value).fill_null(0.0)}
    found = joined(rows, of_few(long, [*keys, PLACE], sums, named), [*keys, PLACE])
    found = found.sort([*keys, PLACE], nulls_last=True)
    if not is_sample:
        return found
    n, total, square = (pl.col(name) for name in ("n_folds", *sums))
    spread, mean = summary.variance(n, total, square), pl.when(n > 0).then(total / n)
    error = pl.when(n >= summary.FEWEST_FOLDS).then(spread / n * (1 + n * (ratio or 0.0)))
    freedom = (n - 1).cast(pl.Float64)
    return found.with_columns(
        value=mean,
        mean=mean,
        std=spread.sqrt(),
        error=error,
        freedom=freedom,
        own_freedom=freedom,
        few=pl.lit(value=False),
    )


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


def cells_of_folds(cells: pl.LazyFrame) -> pl.LazyFrame:
    """Return sums over pairs of models of folds, each with its means as one pair, from those of users in folds.

    Those with one of two values are a share of those with both.
    """
    schema, n = cells.collect_schema(), pl.col("n")
    keys = [name for name in schema if name not in {USER, FOLD, *SUMS, *OF_ROWS}]
    cells = _counted(cells, "n", keys, FOLD)
    same = [pl.col(name).first() for name in OF_ROWS if name in schema]
    counted = [pl.col(name).sum() for name in ("n", "unpaired", USERS)]
    sums = {part: pl.col(part) for part in ("a", "d")}
    # of users there may be more than few
    rows = ExactSums(sums).of(cells, [*keys, FOLD], [*counted, *same])
    known, size = (n > 0).cast(pl.Int64), n.clip(lower_bound=1)
    rows = rows.with_columns(pl.col("a", "d", "unpaired") / size, n=known)
    a, d = pl.col("a"), pl.col("d")
    pair = {"aa": a * a, "ad": a * d, "dd": d * d, "dddd": pl.lit(0.0)}
    return rows.with_columns(
        **pair, wins=(d > 0).cast(pl.Int64), ties=((n > 0) & (d == 0)).cast(pl.Int64)
    )


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
