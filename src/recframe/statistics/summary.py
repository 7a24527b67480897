"""`rec.summarize`: metric values by segment with intervals, in expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import TypeVar

import polars as pl

from recframe.evaluation.required_columns import is_of_segment
from recframe.evaluation.segments import (
    FOURTH,
    SQUARE,
    TOTAL,
    ZERO,
    N,
    name_beside,
)
from recframe.evaluation.trainings import PARTS
from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.joins import aggregate, in_long_form, joined
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.weighing import weights_of_hits
from recframe.statistics.pairs import (
    ENDS,
    NO_SPREAD,
    PLACE,
    PROPERTIES,
    products_of_cells,
    properties_of,
    with_weights,
)

Frame = TypeVar("Frame", pl.LazyFrame, pl.DataFrame)
Number = TypeVar("Number", float, pl.Expr)
TEXTS = {"metric", "best", "worst", "verdict", "note", "by", "segment"}
COUNTS = {"wins", "ties", "losses", "users_needed"}


def columns_of(names: str) -> dict[str, type[pl.DataType]]:
    """Return the columns of a result with their dtypes, which follow from their names."""
    return {name: _dtype_of(name) for name in names.split()}


def _dtype_of(name: str) -> type[pl.DataType]:
    if name in TEXTS:
        return pl.String
    is_count = name in COUNTS or name.startswith("n_") or name.endswith("_n_users")
    return pl.Int64 if is_count else pl.Float64


COLUMNS = columns_of("metric value value_low value_high std n_users n_lists note")
"""Columns after the keys."""
N_TRAININGS = "n_trainings"
SUMS = {
    "n_users": N,
    "total": TOTAL,
    "square": SQUARE,
    "fourth": FOURTH,
    "n_zero": ZERO,
}
"""Columns of sums in long form, with what the columns of a metric's sums are named by."""
FEWEST = 10 * (1 - 1e-9)
"""Effective lists below which a set metric's interval is not valid, or rough for a share."""
FEW = 30
"""Equal-sized clusters below which intervals of means under-cover."""
FEW_VALUES = 15
"""Users with a non-zero value, or differing values, below which intervals under-cover."""
ONE_TRAINING = "one training, so no spread between trainings"
ONE_CLUSTER = "clusters count as fewer than two of one size, so no interval"


def variance(n: pl.Expr, total: pl.Expr, square: pl.Expr) -> pl.Expr:
    """Return the variance of n values from their sum and the sum of their squares, over n - 1; null below two values."""
    rest = square - total * total / n
    exact = pl.when(rest <= NO_SPREAD * square).then(0.0).otherwise(rest)
    return pl.when(n > 1).then(exact / (n - 1))


def over_trainings(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of `with_errors` and `PARTS` with the squared error of users and of trainings together.

    Its degrees of freedom are Satterthwaite's. The variance of one training's values is null, and adds no error.
    Source: Satterthwaite 1946.
    """
    users, freedom, n, apart = map(pl.col, ("error", "freedom", *PARTS))
    of_trainings = (apart / n).fill_null(0.0)
    both = users + of_trainings
    parts = users**2 / freedom + of_trainings**2 / (n - 1)
    return rows.with_columns(
        error=both,
        freedom=pl.when(of_trainings > 0).then(both**2 / parts).otherwise(freedom),
        n_trainings=n.cast(pl.Int64),
    ).drop(PARTS)


def by_metric(
    wide: pl.LazyFrame,
    keys: Sequence[str],
    metrics: Mapping[int, Metric[...]],
    *,
    in_order: bool = False,
) -> pl.LazyFrame:
    """Return values in long form: a row for each place in `metrics`, with the metric's value, sums and other properties.

    `wide` has the keys, and each metric with some of its sums, and of its trainings, in columns of their own.
    """
    there, rows = wide.collect_schema(), []
    for place, metric in metrics.items():
        names = {name: name_beside(part, metric) for name, part in SUMS.items()}
        names |= {part: name for part in PARTS if (name := name_beside(part, metric)) in there}
        counts_none = is_of_segment(metric)
        found = {
            column: pl.lit(None)
            if name not in there or (counts_none and column == "n_zero")
            else pl.col(name)
            for column, name in {"value": str(metric), **names}.items()
        }
        row = properties_of(place, metric) | dict(zip(ENDS, map(pl.lit, metric.range), strict=True))
        rows.append(row | {name: one.cast(_dtype_of(name)) for name, one in found.items()})
    return in_long_form(wide, keys, rows, in_order=in_order)


def with_errors(long: pl.LazyFrame) -> pl.LazyFrame:
    """Return values in long form with what intervals are made of: mean, spread, squared error and degrees of freedom.

    They are those of users one by one. A set metric is of `few` if too few lists decide it, by the effective number of
    contributions, (Σ d²)² / Σ d⁴ of their deviations d. Where most lists change nothing, such as where few items of the tail
    are seen at all, the spread of the few that do says little of that in another sample: of a set metric there is no interval,
    and a share has a rough one.
    """
    n, total, spread = pl.col("n_users"), pl.col("total"), pl.col("variance")
    long = long.with_columns(n.fill_null(0))
    # as a column, which several expressions read
    long = long.with_columns(variance=variance(n, total, pl.col("square")))
    rest, freedom = spread * (n - 1), (n - 1).cast(pl.Float64)
    few = (rest <= 0) | (rest * rest < FEWEST * pl.col("fourth"))
    return long.with_columns(
        mean=pl.when(n > 0).then(total / n),
        std=spread.sqrt(),
        error=spread / n,
        freedom=freedom,
        own_freedom=freedom,
        few=(few & (n > 1) & ~pl.col("of_each")).fill_null(value=False),
        n_trainings=pl.lit(None, pl.Int64),
    ).drop("variance")


def with_intervals(long: Frame, level: float) -> Frame:
    """Return rows with intervals: Wilson's on the effective number of users where values are from 0 to 1, or t's."""
    mean, n = pl.col("mean"), pl.col("n_users")
    sure = pl.when(~pl.col("few") | pl.col("share")).then("error")
    long = with_t_quantile(long.with_columns(error=sure), (1 + level) / 2)
    error, t = pl.col("error"), pl.col("quantile")
    effective = pl.when(error > 0).then(mean * (1 - mean) / error).otherwise(n)
    # NOTE: as a column, since a plan that runs as it was made finds out what stands in several expressions in each of them
    long = long.with_columns(of_n=t * t / effective)
    of_n = pl.col("of_n")
    middle = (mean + of_n / 2) / (1 + of_n)
    wilson = (of_n * (mean * (1 - mean) + of_n / 4)).sqrt() / (1 + of_n)
    long = long.with_columns(
        middle=pl.when("share").then(middle).otherwise(mean),
        half=pl.when("share").then(wilson).otherwise(t * error.sqrt()),
    )
    middle, half = pl.col("middle"), pl.col("half")
    return long.with_columns(
        value_low=(middle - half).clip(*ENDS),
        value_high=(middle + half).clip(*ENDS),
        note=_note(),
    ).drop("of_n", "middle", "half")


def with_weights_of_hits(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    metrics: Sequence[Metric[...]],
    sums: Callable[[Mapping[int, list[Metric[...]]]], pl.LazyFrame],
) -> pl.LazyFrame:
    """Return rows of `with_intervals` whose notes tell of hits of few effective rows, (Σ w)² / Σ w² of their weights w.

    `sums` gives the totals of metrics by some keys.
    """
    weighed = {place: of for place, one in enumerate(metrics) if (of := weights_of_hits(one))}
    if not weighed:
        return rows
    wide = sums(weighed)
    found = []
    for place, of_hits in weighed.items():
        n, weight, square = (pl.col(name_beside(TOTAL, one)).sum() for one in of_hits)
        effective = pl.when(square > 0).then(weight**2 / square)
        told = pl.format(
            "the {} hits weigh as {} alike", n.cast(pl.Int64), effective.round().cast(pl.Int64)
        )
        few = (effective < FEW) | (effective < n / 10)
        note = pl.when(few).then(told).alias("of hits")
        found.append(aggregate(wide, keys, [note]).with_columns(pl.lit(place).alias(PLACE)))
    rows = joined(rows, pl.concat(found), [*keys, PLACE], in_order=True)
    return rows.with_columns(note=joined_notes(["note", "of hits"]))


def _note() -> pl.Expr:
    """Return the note on an interval, null without one."""
    n, whole = pl.col("n_users"), ~pl.col("of_each")
    same = pl.col("error") <= 0
    lacks = {
        "nobody has a value": n == 0,
        "one user, so no interval": n == 1,
        "depends on too few lists, so no interval": pl.col("few") & ~pl.col("share"),
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


def rows_of_units(
    wide: pl.LazyFrame,
    keys: Sequence[str],
    metrics: Mapping[int, Metric[...]],
    cluster: str | None,
) -> pl.LazyFrame:
    """Return values with their errors in long form, from sums of segments, or of the clusters that are the last key."""
    long = by_metric(wide, keys, metrics, in_order=cluster is None)
    if cluster is None:
        return with_errors(long)
    return of_clusters(long, [*keys[:-1], PLACE], cluster)


def added(
    long: pl.LazyFrame, keys: Sequence[str], also: Mapping[str, pl.Expr] | None = None
) -> pl.LazyFrame:
    """Return values in long form from those of groups of users, with the means that their sums make, and other sums.

    NOTE: of nulls alone a sum is null: what a metric has not, such as lists without a relevant item, is not 0.
    """
    exact = {name: pl.col(name) for name in ("total", "square")}
    # the fourth powers are those of the whole segment, beside each of its groups
    same = [name for name in (*PROPERTIES, *ENDS, "fourth") if name != PLACE]
    others = [
        *(pl.when(one.count() > 0).then(one.sum()) for one in map(pl.col, ("n_users", "n_zero"))),
        *((column.count() > 0).alias(f"known {name}") for name, column in exact.items()),
        *(pl.col(name).first() for name in same),
    ]
    found = (
        ExactSums(exact | {**(also or {})})
        .of(long, keys, others)
        .with_columns(pl.when(f"known {name}").then(name).alias(name) for name in exact)
    )
    n, total = pl.col("n_users"), pl.col("total")
    return found.with_columns(value=pl.when(n > 0).then(total / n)).sort(keys, nulls_last=True)


def of_clusters(
    long: pl.LazyFrame,
    keys: Sequence[str],
    cluster: str,
    also: Mapping[str, pl.Expr] | None = None,
) -> pl.LazyFrame:
    """Return rows of `with_errors` from sums in long form of the clusters in a column, with the error of means over these.

    `also` has sums that stand beside.

    With S and n the sum and the number of values of each of the G clusters, and m the mean of all N, the squared error is
    (G - 1) / G · Σ ((S - m n) / (N - n))², by what leaving one cluster out changes, and there are G* - 1 degrees of freedom,
    with G* = N² / Σ n². Users whose cluster is null are clusters of their own.

    Source: Bell and McCaffrey 2002 (CR3); Cameron and Miller 2015, A practitioner's guide to cluster-robust inference.
    """
    n, total, square = (pl.col(name).cast(pl.Float64) for name in ("n_users", "total", "square"))
    squares = {"S²": (square, total * total), "S n": (total, total * n), "n²": (n, n * n)}
    products = products_of_cells(n, squares)
    found = added(with_weights(long, keys, cluster, "n_users"), keys, {**products, **(also or {})})
    mean, units, own = total / n, pl.col("units"), pl.col("S²")
    rest = own - 2.0 * mean * pl.col("S n") + mean * mean * pl.col("n²")
    exact = pl.when(rest <= NO_SPREAD * own).then(0.0).otherwise(rest)
    freedom = n * n / pl.col("sizes") - 1
    return (
        with_errors(found)
        .with_columns(
            error=pl.when(units > 1).then(units / (units - 1.0) * exact / (n * n)),
            freedom=freedom,
            own_freedom=freedom,
        )
        .drop(products)
    )


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
    odd, cosine, sine = freedom % 2, math.cos(angle), math.sin(angle)
    term, total = cosine if odd else 1.0, 0.0
    for place in range(odd, freedom - 1, 2):
        total += term
        term *= cosine**2 * (place + 1) / (place + 2)
    return 0.5 + ((angle + sine * total) / math.pi if odd else sine * total / 2)
