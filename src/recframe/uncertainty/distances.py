"""How far values are from what is required of them: a row for each segment, model and requirement, in expressions alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.errors import fails_whole_if
from recframe.frames.dtypes import as_text
from recframe.frames.rows.joins import aggregate
from recframe.metrics.language.definition import Metric
from recframe.plan.needs import is_of_segment
from recframe.uncertainty.requirements import Requirement
from recframe.uncertainty.summary import (
    FEWEST,
    Intervals,
    rows_with_intervals,
    variance,
    with_intervals,
)

ROW = {
    "place": pl.Int64,
    "value": pl.Float64,
    "value_low": pl.Float64,
    "value_high": pl.Float64,
    "mean": pl.Float64,
    "error": pl.Float64,
    "freedom": pl.Int64,
    "n_users": pl.Int64,
    "of_each": pl.Boolean,
    "share": pl.Boolean,
    "few": pl.Boolean,
    "note": pl.String,
    "other": pl.Float64,
    "gap": pl.Float64,
    "gap_error": pl.Float64,
    "other_low": pl.Float64,
    "other_high": pl.Float64,
    "other_n": pl.Int64,
    "unpaired": pl.Int64,
    "window_n": pl.Float64,
    "window_mean": pl.Float64,
    "window_spread": pl.Float64,
    "window_errors": pl.Float64,
    "window_own": pl.Float64,
    "window_note": pl.String,
}
"""What follows the keys: the place of the requirement; the value with its interval, squared standard error and degrees of
freedom; whether it hangs on so few lists that no interval is known to hold; the other model's value, the mean gap between the
value and its share of the other, user by user, with the squared error; of an earlier result the interval; how many users have
but one of the two values; and of a history what its last runs predict."""
NO_SUCH_RUN = "the history has no such number"
TWICE = "the earlier result has a user twice in one segment; ask both by the same columns"
Places = Mapping[int, Requirement]
"""Requirements by their places."""


def from_bounds(
    wide: pl.LazyFrame, keys: Sequence[str], required: Places, how: Intervals
) -> pl.LazyFrame:
    """Return the rows of values that are held against a number, from sums beside each metric; see `summarized`."""
    metrics = {place: one.metric for place, one in required.items()}
    return _rows(rows_with_intervals(wide, keys, metrics, how), keys)


def from_pairs(
    sums: pl.LazyFrame,
    keys: Sequence[str],
    metrics: Sequence[Metric[...]],
    required: Places,
    how: Intervals,
) -> pl.LazyFrame:
    """Return the rows of values that are held against another model's, from sums over users with both values.

    `sums` has for each metric, by its place among `metrics`, the sums of `pairs.SUMS`.
    """
    places = {metric: number for number, metric in enumerate(metrics)}
    known = [_of_pairs(one, places[one.metric], place) for place, one in required.items()]
    rows = sums.select(*keys, pl.concat_list(known).alias("rows")).explode("rows").unnest("rows")
    return _rows(with_intervals(rows, how), keys)


def _of_pairs(one: Requirement, number: int, place: int) -> pl.Expr:
    """Return what the sums say of a value and of its gap: the mean of b - f a, with f the factor."""
    n, a, d, aa, ad, dd = (
        pl.col(f"{part} {number}").cast(pl.Float64) for part in ("n", "a", "d", "aa", "ad", "dd")
    )
    b, rest = a + d, 1.0 - one.bound
    gap, squares = d + rest * a, dd + 2.0 * rest * ad + rest**2 * aa
    low, high = one.metric.range
    of_each = not is_of_segment(one.metric)
    few = (dd * dd < FEWEST * pl.col(f"dddd {number}")).fill_null(value=False)
    some = n > 0
    values = {
        "place": pl.lit(place),
        "value": pl.when(some).then(b / n),
        "mean": pl.when(some).then(b / n),
        "error": variance(n, b, dd + 2.0 * ad + aa) / n,
        "freedom": n.cast(pl.Int64) - 1,
        "n_users": n.cast(pl.Int64),
        "of_each": pl.lit(of_each),
        "few": few,
        "share": pl.lit(of_each and (low, high) == (0.0, 1.0)),
        "low": pl.lit(low),
        "high": pl.lit(high),
        "other": pl.when(some).then(a / n),
        "gap": pl.when(some).then(gap / n),
        "gap_error": pl.when(~few).then(variance(n, gap, squares) / n),
        "unpaired": pl.col(f"unpaired {number}").cast(pl.Int64),
    }
    return pl.struct(value.alias(name) for name, value in values.items())


def _rows(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return rows with the columns of `ROW`, null for those that they lack."""
    names = rows.collect_schema().names()
    columns = (
        (pl.col(name) if name in names else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in ROW.items()
    )
    return rows.select(*keys, *columns)


def with_earlier(
    rows: pl.LazyFrame, keys: Sequence[str], required: Places, earlier: pl.LazyFrame
) -> pl.LazyFrame:
    """Return rows of `from_bounds` with the value and the interval that an earlier result has of the same metric.

    `earlier` has some of the keys, `metric`, `value`, `value_low`, `value_high` and `n_users`. Keys are matched as text, since
    files keep no dtypes.
    """
    schema, own = earlier.collect_schema(), rows.collect_schema()
    common = [key for key in keys if key in schema]
    metrics = pl.LazyFrame(
        {"place": list(required), "metric": [str(one.metric) for one in required.values()]},
        schema={"place": pl.Int64, "metric": pl.String},
    )
    numbers = {"other": "value", "other_low": "value_low", "other_high": "value_high"}
    on = [f"{key} as text" for key in common]
    then = earlier.select(
        *(
            as_text(pl.col(key), schema[key]).alias(name)
            for key, name in zip(common, on, strict=True)
        ),
        "metric",
        *(pl.col(name).cast(pl.Float64).alias(new) for new, name in numbers.items()),
        pl.col("n_users").cast(pl.Int64).alias("other_n"),
    ).unique([*on, "metric"], keep="first", maintain_order=True)
    now = (
        rows.drop([*numbers, "other_n"])
        .join(metrics, on="place", how="left")
        .with_columns(
            as_text(pl.col(key), own[key]).alias(name) for key, name in zip(common, on, strict=True)
        )
    )
    return _rows(now.join(then, on=[*on, "metric"], how="left", nulls_equal=True), keys)


def with_predictions(
    rows: pl.LazyFrame, keys: Sequence[str], required: Places, predicted: pl.DataFrame
) -> pl.LazyFrame:
    """Return rows of `from_bounds` with what the last runs of a history predict of the same number.

    `predicted` has the keys as text, as `key 0` and on, `metric`, and the columns of `ROW` that begin with `window_`.
    """
    own, columns = rows.collect_schema(), [one for one in ROW if one.startswith("window_")]
    on = [f"key {place}" for place in range(len(keys))]
    metrics = pl.LazyFrame(
        {"place": list(required), "metric": [str(one.metric) for one in required.values()]},
        schema={"place": pl.Int64, "metric": pl.String},
    )
    now = rows.drop(columns).join(metrics, on="place", how="left")
    now = now.with_columns(
        as_text(pl.col(key), own[key]).alias(name) for key, name in zip(keys, on, strict=True)
    )
    then = predicted.lazy().select(*on, "metric", *columns)
    found = now.join(then, on=[*on, "metric"], how="left", nulls_equal=True)
    nothing = pl.when(pl.col("window_n").is_null()).then(pl.lit(NO_SUCH_RUN))
    return _rows(found.with_columns(pl.coalesce("window_note", nothing)), keys)


def sums_with_earlier(
    now: pl.LazyFrame, then: pl.LazyFrame, keys: Sequence[str], metrics: Sequence[Metric[...]]
) -> pl.LazyFrame:
    """Return the sums of `pairs.SUMS` over users who have a value now and had one then.

    Both have the keys (`then` some of them), `user` and for each metric, by its place, its value.
    """
    schema, own = then.collect_schema(), now.collect_schema()
    common = [name for name in [*keys, "user"] if name in schema]
    differ = [name for name in common if schema[name] != own[name]]
    now = now.with_columns(
        (as_text(pl.col(name), own[name]) if name in differ else pl.col(name)).alias(f"on {name}")
        for name in common
    )
    then = then.select(
        *(
            (as_text(pl.col(name), schema[name]) if name in differ else pl.col(name)).alias(
                f"on {name}"
            )
            for name in common
        ),
        *(pl.col(f"value {place}").alias(f"a value {place}") for place in range(len(metrics))),
    )
    on = [f"on {name}" for name in common]
    twice = fails_whole_if(pl.struct(on).is_duplicated().any(), TWICE)
    then = then.with_columns(pl.col(f"a value {place}") + twice for place in range(len(metrics)))
    # NOTE: of users who had a value then and have no row now nothing is known of their segments, so they do not count.
    joined = now.join(then, on=on, how="left", nulls_equal=True)
    places = range(len(metrics))
    sums = [one for place in places for one in _sums(f"value {place}")]
    return aggregate(joined, list(keys), sums)


def _sums(name: str) -> list[pl.Expr]:
    """Return the sums over users that a distance is made of, as `pairs.SUMS` has them, of the values now and then."""
    a, b, place = pl.col(f"a {name}"), pl.col(name), name.rpartition(" ")[2]
    d = b - a
    both = d.is_not_null()
    then = pl.when(both).then(a)
    found = {
        "n": both.sum().cast(pl.Int64),
        "a": then.sum(),
        "d": d.sum(),
        "aa": (then * then).sum(),
        "ad": (a * d).sum(),
        "dd": (d * d).sum(),
        # they are users' own values, of as many as there are
        "dddd": pl.lit(0.0),
        "unpaired": (a.is_null() != b.is_null()).sum().cast(pl.Int64),
    }
    return [one.alias(f"{part} {place}") for part, one in found.items()]
