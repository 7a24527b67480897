"""`rec.summarize`: metric values by segment with intervals, in expressions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TypeVar

import polars as pl

from recframe.evaluation.required_columns import is_of_segment, is_share
from recframe.evaluation.segments import (
    FOURTH,
    SQUARE,
    TOTAL,
    UNDEFINED,
    WITHOUT_RELEVANT,
    ZERO,
    N,
    name_beside,
)
from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.exploding import AS_EVER
from recframe.frames.rows.joins import joined
from recframe.metrics.language.definition import Metric
from recframe.statistics import clusters
from recframe.statistics.clusters import ROUNDING
from recframe.statistics.options import Method

Frame = TypeVar("Frame", pl.LazyFrame, pl.DataFrame)
Number = TypeVar("Number", float, pl.Expr)
TEXTS = {"metric", "best", "worst", "runner_up", "verdict", "note", "by", "segment"}
COUNTS = {"k", "wins", "ties", "losses", "depth"}


def columns_of(names: str) -> dict[str, type[pl.DataType]]:
    """Return the columns of a result with their dtypes, which follow from their names."""
    return {name: _dtype_of(name) for name in names.split()}


def _dtype_of(name: str) -> type[pl.DataType]:
    if name in TEXTS:
        return pl.String
    is_count = name in COUNTS or name.startswith("n_") or name.endswith("_n_users")
    return pl.Int64 if is_count else pl.Float64


COLUMNS = columns_of(
    "metric k value value_low value_high std n_users n_zero n_undefined n_without_relevant note"
)
"""Columns after the keys."""
SHORT = ("metric", "value", "value_low", "value_high", "n_users", "note")
"""Columns after the keys in the short form."""
N_TRAININGS, STD_TRAININGS = "n_trainings", "std_trainings"
OF_TRAININGS = columns_of(f"{N_TRAININGS} {STD_TRAININGS}")
"""Columns before the note with trainings: their number, and the standard deviation of their values."""
ERROR, FREEDOM, VARIANCE = "error", "freedom", "variance"
OWN_FREEDOM = "own freedom"
"""Name of the degrees of freedom from users or clusters alone, with trainings."""
FEWEST = 10 * (1 - 1e-9)
"""Effective lists below which a set metric's interval is not valid, or rough for a share."""
FEW = 30
"""Equal-sized clusters below which intervals of means under-cover."""
FEW_VALUES = 15
"""Users with a non-zero value, or differing values, below which intervals under-cover."""
ONE_TRAINING = "one training, which says nothing of another"
ONE_CLUSTER = "clusters count as fewer than two of one size, so no interval"


_COUNTS = (N, ZERO, UNDEFINED, WITHOUT_RELEVANT)


@dataclass(frozen=True)
class Intervals:
    """Options of intervals."""

    level: float = 0.95
    method: Method = "auto"
    over_trainings: bool = False
    """Whether trainings are bound, as a second sample besides users."""

    @property
    def columns(self) -> dict[str, type[pl.DataType]]:
        """The columns of the result behind its keys."""
        if not self.over_trainings:
            return COLUMNS
        *others, note = COLUMNS
        return {name: COLUMNS[name] for name in others} | OF_TRAININGS | {note: COLUMNS[note]}


def variance(n: pl.Expr, total: pl.Expr, square: pl.Expr) -> pl.Expr:
    """Return the variance of n values from their sum and the sum of their squares, over n - 1; null below two values."""
    rest = square - total * total / n
    exact = pl.when(rest <= ROUNDING * square).then(0.0).otherwise(rest)
    return pl.when(n > 1).then(exact / (n - 1))


def over_trainings(
    users: pl.Expr, freedom: pl.Expr, n: pl.Expr, apart: pl.Expr
) -> tuple[pl.Expr, pl.Expr]:
    """Return the squared error of users and of n trainings together, with Satterthwaite's degrees of freedom.

    `apart` is the variance of the trainings' values; null of one, which adds no error. Source: Satterthwaite 1946.
    """
    of_trainings = (apart / n).fill_null(0.0)
    both = users + of_trainings
    parts = users**2 / freedom + of_trainings**2 / (n - 1)
    return both, pl.when(of_trainings > 0).then(both**2 / parts).otherwise(freedom)


def summarized(
    wide: pl.LazyFrame, keys: Sequence[str], metrics: Sequence[Metric[...]], how: Intervals
) -> pl.LazyFrame:
    """Return a row for each segment and metric: the keys, and the columns of `COLUMNS`.

    `wide` has a row for each segment: the keys, and each metric with its sums beside it, and where they are not those of
    users one by one the squared standard error and the degrees of freedom.
    """
    rows = rows_with_intervals(wide, keys, dict(enumerate(metrics)), how)
    return rows.select(*keys, *(pl.col(name).cast(dtype) for name, dtype in how.columns.items()))


def rows_with_intervals(
    wide: pl.LazyFrame, keys: Sequence[str], places: Mapping[int, Metric[...]], how: Intervals
) -> pl.LazyFrame:
    """Return the rows of `summarized` with all that is known of them, and the place that each metric has among others."""
    names = wide.collect_schema().names()
    # as columns, which several expressions read
    once = {str(metric): _variance(metric) for metric in places.values()}
    wide = wide.with_columns(once.values())
    known = [_row(metric, place, names) for place, metric in places.items()]
    if len(known) == 1:
        return with_intervals(wide.select(*keys, *known[0]), how)
    # NOTE: lists of one struct for each metric, since a concatenation would read the plan once for each.
    rows = wide.select(*keys, rows=pl.concat_list(*map(pl.struct, known)))
    rows = rows.explode("rows", **AS_EVER)
    return with_intervals(rows.unnest("rows"), how)


def _variance(metric: Metric[...]) -> pl.Expr:
    n = _beside(N, metric).fill_null(0)
    total, square = (_beside(part, metric).cast(pl.Float64) for part in (TOTAL, SQUARE))
    return variance(n, total, square).alias(name_beside(VARIANCE, metric))


def _row(metric: Metric[...], place: int, names: Sequence[str]) -> list[pl.Expr]:
    """Return a metric's result in a segment, and its sort order."""
    n = _beside(N, metric).fill_null(0)
    total, spread = _beside(TOTAL, metric).cast(pl.Float64), _beside(VARIANCE, metric)
    has_own = name_beside(ERROR, metric) in names
    low, high = metric.range
    of_each = not is_of_segment(metric)
    known = _beside if of_each else _unknown
    error = pl.col(name_beside(ERROR, metric)) if has_own else spread / n
    freedom = (pl.col(name_beside(FREEDOM, metric)) if has_own else n - 1).cast(pl.Float64)
    values = {
        "metric": pl.lit(str(metric)),
        "k": pl.lit(metric.k, pl.Int64),
        "value": pl.col(str(metric)).cast(pl.Float64),
        "mean": pl.when(n > 0).then(total / n),
        "std": spread.sqrt(),
        "error": error,
        "freedom": freedom,
        "n_users": n.cast(pl.Int64),
        "n_zero": known(ZERO, metric).cast(pl.Int64),
        "n_undefined": known(UNDEFINED, metric).cast(pl.Int64),
        "n_without_relevant": known(WITHOUT_RELEVANT, metric).cast(pl.Int64),
        "of_each": pl.lit(of_each),
        "few": _is_of_few(metric, spread * (n - 1)),
        "low": pl.lit(low),
        "high": pl.lit(high),
        "share": pl.lit(is_share(metric)),
        **_of_trainings(metric, names, freedom),
        "place": pl.lit(place),
    }
    return [value.alias(name) for name, value in values.items()]


def _of_trainings(
    metric: Metric[...], names: Sequence[str], freedom: pl.Expr
) -> dict[str, pl.Expr]:
    """Return the freedom of users alone, and the trainings' number and spread; null without trainings."""
    if name_beside(OWN_FREEDOM, metric) not in names:
        nothing = {part: pl.lit(None, dtype) for part, dtype in OF_TRAININGS.items()}
        return {"own_freedom": freedom, **nothing}
    found = {part: name_beside(part, metric) for part in OF_TRAININGS}
    beside = {part: pl.col(name).cast(OF_TRAININGS[part]) for part, name in found.items()}
    return {"own_freedom": pl.col(name_beside(OWN_FREEDOM, metric)).cast(pl.Float64), **beside}


def _is_of_few(metric: Metric[...], rest: pl.Expr) -> pl.Expr:
    """Return whether too few lists decide a set metric, by the effective number of contributions.

    That is (Σ d²)² / Σ d⁴ of their deviations d. Where most lists change nothing, such as where few items of the tail are
    seen at all, the spread of the few that do says little of that in another sample: of a set metric there is no interval,
    and a share has a rough one.
    """
    if not is_of_segment(metric):
        return pl.lit(value=False)
    few = (rest <= 0) | (rest * rest < FEWEST * _beside(FOURTH, metric))
    return (few & (_beside(N, metric) > 1)).fill_null(value=False)


def with_intervals(long: Frame, how: Intervals) -> Frame:
    """Return rows with intervals: Wilson's on the effective number of users where values are from 0 to 1, or t's."""
    mean, n = pl.col("mean"), pl.col("n_users")
    sure = pl.when(~pl.col("few") | pl.col("share")).then("error")
    long = with_t_quantile(long.with_columns(error=sure), (1 + how.level) / 2)
    error, t = pl.col("error"), pl.col("quantile")
    effective = pl.when(error > 0).then(mean * (1 - mean) / error).otherwise(n)
    # NOTE: as a column, since a plan that runs as it was made finds out what stands in several expressions in each of them
    long = long.with_columns(of_n=t * t / effective)
    of_n = pl.col("of_n")
    middle = (mean + of_n / 2) / (1 + of_n)
    wilson = (of_n * (mean * (1 - mean) + of_n / 4)).sqrt() / (1 + of_n)
    by_wilson = pl.col("share") & (how.method == "auto")
    long = long.with_columns(
        middle=pl.when(by_wilson).then(middle).otherwise(mean),
        half=pl.when(by_wilson).then(wilson).otherwise(t * error.sqrt()),
    )
    middle, half, ends = pl.col("middle"), pl.col("half"), ("low", "high")
    return long.with_columns(
        value_low=(middle - half).clip(*ends), value_high=(middle + half).clip(*ends), note=_note()
    ).drop("of_n", "middle", "half")


def _note() -> pl.Expr:
    """Return the note on an interval, null without one."""
    n, whole = pl.col("n_users"), ~pl.col("of_each")
    same = pl.col("error") <= 0
    lacks = {
        "nobody has a value": n == 0,
        "one user, so no interval": n == 1,
        "hardly any list changes it, so no interval is known to hold": pl.col("few")
        & ~pl.col("share"),
        "no interval of this metric was shown to hold": whole & pl.col("error").is_null(),
        ONE_CLUSTER: pl.col("own_freedom") < 1,
        "all clusters have the same mean": same & (pl.col("own_freedom") < n - 1),
        "all users have the same value": same,
    }
    told = [pl.when(holds).then(pl.lit(word)) for word, holds in lacks.items()]
    return pl.coalesce(*told, _rough())


def _rough() -> pl.Expr:
    """Return why an interval is rough, in words that are joined; null where it is not.

    NOTE: of values that are 0 for nearly all users those that are not decide, and not how many users there are.
    """
    n, freedom = pl.col("n_users"), pl.col("own_freedom")
    few_values = n - pl.col("n_zero").fill_null(0) < FEW_VALUES
    few_clusters = (freedom < n - 1) & (freedom < FEW - 1)
    words = {
        f"fewer than {FEW_VALUES} users, so the interval is rough": n < FEW_VALUES,
        f"fewer than {FEW_VALUES} users have a value above 0, so the interval is rough": few_values
        & (n >= FEW_VALUES),
        f"clusters count as fewer than {FEW} of one size, so the interval is rough": few_clusters,
        "a few users carry most of the weight, so the interval is rough": pl.col("few"),
        ONE_TRAINING: pl.col(N_TRAININGS) == 1,
    }
    return joined_notes(pl.when(holds).then(pl.lit(word)) for word, holds in words.items())


def joined_notes(notes: Iterable[pl.Expr | str]) -> pl.Expr:
    """Return notes as one text, null without any."""
    text = pl.concat_str(*notes, separator="; ", ignore_nulls=True)
    return pl.when(text != "").then(text)


def added(wide: pl.LazyFrame, keys: Sequence[str], metrics: Sequence[Metric[...]]) -> pl.LazyFrame:
    """Return the sums of each segment from those of its groups of users, with the means that they make."""
    counted = [_beside(part, metric) for metric in metrics for part in _COUNTS]
    summed = [_beside(part, metric) for metric in metrics for part in (TOTAL, SQUARE)]
    # which are those of the whole segment, beside each of its groups
    fourths = [_beside(FOURTH, metric).first() for metric in metrics]
    known = [(column.count() > 0).name.prefix("known ") for column in summed]
    counts = [pl.when(column.count() > 0).then(column.sum()) for column in counted]
    found = _exact(summed).of(wide, keys, [*counts, *known, *fourths])
    # NOTE: of nulls alone null: what a metric has not, such as lists without a relevant item, is not 0
    names = [column.meta.output_name() for column in summed]
    sums = [pl.when(pl.col(f"known {name}")).then(name).alias(name) for name in names]
    found = found.with_columns(sums).drop(f"known {name}" for name in names)
    return found.with_columns(_mean(metric).alias(str(metric)) for metric in metrics)


def _exact(columns: Iterable[pl.Expr]) -> ExactSums:
    return ExactSums({one.meta.output_name(): one.cast(pl.Float64) for one in columns})


def _mean(metric: Metric[...]) -> pl.Expr:
    n = _beside(N, metric)
    return pl.when(n > 0).then(_beside(TOTAL, metric) / n)


def of_clusters(
    wide: pl.LazyFrame, keys: Sequence[str], metrics: Sequence[Metric[...]]
) -> pl.LazyFrame:
    """Return the sums per segment from those of its clusters, with the cluster-based error of means.

    Clusters are the values of the last key. With S and n the sum and the number of values of each of the G clusters, and m the
    mean of all N, the squared error is (G - 1) / G · Σ ((S - m n) / (N - n))², by what leaving one cluster out changes, and
    there are G* - 1 degrees of freedom, with G* = N² / Σ n². Users whose cluster is null are clusters of their own.

    Source: Bell and McCaffrey 2002 (CR3); Cameron and Miller 2015, A practitioner's guide to cluster-robust inference.
    """
    *kept, cluster = keys
    alone = pl.col(cluster).is_null()
    products: dict[str, clusters.Product] = {}
    for metric in metrics:
        n, total = _beside(N, metric), _beside(TOTAL, metric)
        weight = clusters.weight(n, alone, kept)
        parts = {
            "S²": (weight * _beside(SQUARE, metric), weight * total * total),
            "S n": (weight * total, weight * total * n),
            "n²": (weight * n, weight * n * n),
            **clusters.counts(n),
        }
        products |= {name_beside(part, metric): product for part, product in parts.items()}
    wide = wide.with_columns(clusters.columns(products, alone))
    found = joined(added(wide, kept, metrics), _exact(map(pl.col, products)).of(wide, kept), kept)
    found = found.sort(kept, nulls_last=True) if kept else found
    return found.with_columns(column for metric in metrics for column in _of_clusters(metric))


def _of_clusters(metric: Metric[...]) -> list[pl.Expr]:
    """Return the squared error of a metric's mean over clusters and the degrees of freedom."""
    n, units = _beside(N, metric), _beside("units", metric)
    total, square, product, sizes = (_beside(part, metric) for part in (TOTAL, "S²", "S n", "n²"))
    error = clusters.squared_error(n, total, square, product, sizes, units)
    freedom = n * n / _beside("sizes", metric) - 1
    return [
        error.alias(name_beside(ERROR, metric)),
        freedom.alias(name_beside(FREEDOM, metric)),
    ]


def _unknown(_part: str, _metric: Metric[...]) -> pl.Expr:
    return pl.lit(None, pl.Int64)


def _beside(part: str, metric: Metric[...]) -> pl.Expr:
    return pl.col(name_beside(part, metric))


TABLE = 100
"""Degrees of freedom up to which quantiles are tabulated; the expansion beyond is exact to 4e-11."""


def with_t_quantile(rows: Frame, share: float) -> Frame:
    """Return rows with Student's quantile of a share at their `freedom`, as `quantile`; null below 1 degree of freedom.

    It is the expansion, times what that is off by at whole degrees of freedom. Between two of them this is taken to be straight
    in 1 / freedom: at 95 % it is at most 2.5 % too high below 2 degrees, 1e-3 below 3, 1e-4 below 5, 1e-5 from there on.

    NOTE: the place in the table is a column, since a plan that runs as it was made finds it out for each that reads it.

    Source: Abramowitz and Stegun 1964, Handbook of Mathematical Functions, 26.7.5 (the expansion in 1 / freedom).
    """
    v, place = pl.col("freedom"), pl.col("quantile")
    whole = pl.when(v >= 1).then(v.clip(upper_bound=TABLE + 1)).cast(pl.Int64, strict=False)
    # A row looks its own factor up. A list streams where replace_strict does not.
    table = pl.lit(pl.Series([_factors(share)]))
    at, above = (table.list.get(place + more, null_on_oob=True) for more in (0, 1))
    step = (v - 1 - place) * (place + 2) / v
    factor = at + step * (above - at)
    rows = rows.with_columns(quantile=whole - 1)
    return rows.with_columns(quantile=_expansion(1 / v, share) * factor)


def _expansion(inverse: Number, share: float) -> Number:
    """Return the quantile of many degrees of freedom, from 1 over their number."""
    z = NormalDist().inv_cdf(share)
    found = inverse * ((79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160)
    found = (found + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384) * inverse
    found = (found + (5 * z**5 + 16 * z**3 + 3 * z) / 96) * inverse
    return (found + (z**3 + z) / 4) * inverse + z


@lru_cache
def _factors(share: float) -> list[float]:
    """Return the quantiles over their expansions for each whole number of degrees of freedom, 1 beyond the table."""
    found = [_quantile(n, share) / _expansion(1 / n, share) for n in range(1, TABLE + 1)]
    return [*found, 1.0, 1.0]


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
