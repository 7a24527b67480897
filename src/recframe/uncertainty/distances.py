"""How far values are from what is required of them: a row for each segment, model and requirement, in expressions alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.errors import shown_in_plan
from recframe.frames.dtypes import as_text
from recframe.frames.rows.exploding import AS_EVER
from recframe.metrics.language.definition import Metric
from recframe.plan.needs import is_of_segment, is_share
from recframe.uncertainty import clusters
from recframe.uncertainty.pairs import MODEL, OF_TRAININGS, has_no_ends
from recframe.uncertainty.requirements import Requirement
from recframe.uncertainty.summary import (
    FEWEST,
    Intervals,
    over_trainings,
    rows_with_intervals,
    with_intervals,
)

OF_GAP = ("dd", "dn", "nn", "units", "effective", "differ", "low", "high")
"""Of the gaps of users or clusters what `moments.Moments` has, and the lowest and the highest gap that a user can have."""
ROW = {
    "place": pl.Int64,
    "value": pl.Float64,
    "value_low": pl.Float64,
    "value_high": pl.Float64,
    "mean": pl.Float64,
    "error": pl.Float64,
    "freedom": pl.Float64,
    "own_freedom": pl.Float64,
    "n_trainings": pl.Int64,
    "n_users": pl.Int64,
    "of_each": pl.Boolean,
    "share": pl.Boolean,
    "few": pl.Boolean,
    "note": pl.String,
    "other": pl.Float64,
    "gap": pl.Float64,
    **{f"gap_{part}": pl.Float64 for part in OF_GAP},
    **dict.fromkeys(OF_TRAININGS, pl.Float64),
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
    "missing": pl.Boolean,
    "slack": pl.Float64,
}
"""What follows the keys: the place of the requirement; the value with its interval, squared standard error and degrees of
freedom; whether it hangs on so few lists that no interval is known to hold; the other model's value, the mean gap between the
value and its share of the other, user by user, and what its error is made of, of users and of both models' trainings; of an
earlier result the interval; how many users have but one of the two values; of a history what its last runs predict; whether
earlier numbers have the row and today's do not; and how far the rounding of earlier numbers may put them apart from the
value."""
BEFORE = "the earlier result has it, of {} users, and today's rows do not"
IN_EACH_RUN = "each of the last {} runs of the history has it, and today's rows do not"
TEXTUAL = (pl.String, pl.Categorical, pl.Enum)  # a tuple: an Enum's hash is not that of pl.Enum
"""The dtypes beside those of numbers that text can be cast to."""
NO_SUCH_RUN = "the history has no such number"
Places = Mapping[int, Requirement]
"""Requirements by their places."""
Decimals = Mapping[str, int]
"""How many decimals the values of some metrics are shown with."""
ROUNDING = 1e-12


def from_bounds(
    wide: pl.LazyFrame, keys: Sequence[str], required: Places, how: Intervals
) -> pl.LazyFrame:
    """Return the rows of values that are held against a number, from sums beside each metric; see `summarized`."""
    metrics = {place: one.metric for place, one in required.items()}
    return rows_of(rows_with_intervals(wide, keys, metrics, how), keys)


def from_pairs(
    sums: pl.LazyFrame,
    keys: Sequence[str],
    metrics: Sequence[Metric[...]],
    required: Places,
    how: Intervals,
    decimals: Decimals | None = None,
) -> pl.LazyFrame:
    """Return the rows of values that are held against another model's, from sums over users with both values.

    `sums` has for each metric, by its place among `metrics`, the sums of `pairs.SUMS` and those of `clusters.PARTS`; with
    `decimals` also whether the other values are rounded.
    """
    places = {metric: number for number, metric in enumerate(metrics)}
    names = [f"{part} {number}" for part in OF_TRAININGS for number in range(len(metrics))]
    there = sums.collect_schema()
    sums = sums.with_columns(
        pl.lit(None, pl.Float64).alias(one) for one in names if one not in there
    )
    known = [_of_pairs(one, places[one.metric], place, decimals) for place, one in required.items()]
    rows = sums.select(*keys, pl.concat_list(known).alias("rows")).explode("rows", **AS_EVER)
    return rows_of(with_intervals(rows.unnest("rows"), how), keys)


def hidden(one: Requirement, decimals: Decimals, rounded: pl.Expr) -> pl.Expr:
    """Return what the rounding of earlier numbers hides: half a unit of the last decimal, times the factor."""
    n = decimals.get(str(one.metric))
    half = None if n is None else 0.5 * 10.0**-n * one.bound
    return pl.when(rounded).then(pl.lit(half, pl.Float64))


def are_rounded(values: pl.Expr, metric: Metric[...], decimals: Decimals) -> pl.Expr:
    """Return whether values have no more decimals than their metric is shown with."""
    n = decimals.get(str(metric))
    return pl.lit(value=False) if n is None else (values.round(n) - values).abs() <= ROUNDING


def _of_pairs(one: Requirement, number: int, place: int, decimals: Decimals | None) -> pl.Expr:
    """Return what the sums say of a value and of its gap: the mean of b - f a, with f the factor."""
    sums = {
        part: pl.col(f"{part} {number}").cast(pl.Float64)
        for part in ("n", "a", "d", *clusters.PARTS)
    }
    n, a, d, nn, units = (sums[part] for part in ("n", "a", "d", "nn", "units"))
    square = sums["dd"] + 2.0 * sums["ad"] + sums["aa"]
    few = pl.lit(not is_share(one.metric)) & (sums["dd"] ** 2 < FEWEST * pl.col(f"dddd {number}"))
    few, value = few.fill_null(value=False), pl.when(n > 0).then((a + d) / n)
    of_gap = _of_gap(one, number, sums | {"units": pl.when(~few).then(units)})
    error = clusters.squared_error(n, a + d, square, sums["an"] + sums["dn"], nn, units)
    values = {
        "place": pl.lit(place),
        **dict.fromkeys(("value", "mean"), value),
        **_over_trainings(error, sums["effective"] - 1.0, number),
        "n_users": n.cast(pl.Int64),
        "n_zero": pl.lit(None, pl.Int64),
        "of_each": pl.lit(not is_of_segment(one.metric)),
        "few": few,
        "share": pl.lit(is_share(one.metric)),
        "low": pl.lit(one.metric.range[0]),
        "high": pl.lit(one.metric.range[1]),
        "other": pl.when(n > 0).then(a / n),
        "gap": pl.when(n > 0).then((d + (1.0 - one.bound) * a) / n),
        **{f"gap_{part}": value for part, value in of_gap.items()},
        "unpaired": pl.col(f"unpaired {number}").cast(pl.Int64),
    }
    if decimals:
        values["slack"] = hidden(one, decimals, pl.col(f"rounded {number}"))
    return pl.struct(value.alias(name) for name, value in values.items())


def _over_trainings(error: pl.Expr, freedom: pl.Expr, number: int) -> dict[str, pl.Expr]:
    """Return the squared error of a value and its freedom, and what is known of trainings: null where none are bound."""
    n, apart, *others = (pl.col(f"{part} {number}").cast(pl.Float64) for part in OF_TRAININGS)
    both, of_both = over_trainings(error, freedom, n, apart)
    found = dict(zip(OF_TRAININGS, (n, apart, *others), strict=True))
    return {"error": both, "freedom": of_both, "own_freedom": freedom, "n_trainings": n} | found


def _of_gap(one: Requirement, number: int, sums: Mapping[str, pl.Expr]) -> dict[str, pl.Expr]:
    """Return what the error of the gap is made of, by the names of `OF_GAP`."""
    rest, (low, high) = 1.0 - one.bound, _ends(one.metric, number)
    return {
        "dd": sums["dd"] + 2.0 * rest * sums["ad"] + rest**2 * sums["aa"],
        "dn": sums["dn"] + rest * sums["an"],
        **{part: sums[part] for part in ("nn", "units", "effective", "differ")},
        "low": low - one.bound * high,
        "high": high - one.bound * low,
    }


def _ends(metric: Metric[...], number: int) -> tuple[pl.Expr, pl.Expr]:
    """Return the lowest and the highest value that a user can have, or has by some model; null where there is none."""
    if has_no_ends(metric):
        return pl.col(f"low {number}").min(), pl.col(f"high {number}").max()
    low, high = (None, None) if is_of_segment(metric) else metric.range
    return pl.lit(low, pl.Float64), pl.lit(high, pl.Float64)


def rows_of(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return rows with the columns of `ROW`, null for those that they lack."""
    names = rows.collect_schema().names()
    columns = (
        (pl.col(name) if name in names else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in ROW.items()
    )
    return rows.select(*keys, *columns)


def with_earlier(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    required: Places,
    earlier: pl.LazyFrame,
    decimals: Decimals,
) -> pl.LazyFrame:
    """Return rows of `from_bounds` with the value and the interval that an earlier result has of the same metric.

    `earlier` has some of the keys, `metric`, `value`, `value_low`, `value_high` and `n_users`. Keys are matched as text, since
    files keep no dtypes.
    """
    own = rows.collect_schema()
    then = had_in_summary(earlier, keys, required, own)
    common = [key for key in keys if text_key(key) in then.collect_schema()]
    on = [*map(text_key, common), "place"]
    now = rows.drop("other", "other_low", "other_high", "other_n").with_columns(
        as_text(pl.col(key), own[key]).alias(text_key(key)) for key in common
    )
    found = now.join(then.rename({"n": "other_n"}), on=on, how="left", nulls_equal=True)
    slack = [
        pl.when(pl.col("place") == place).then(
            hidden(one, decimals, are_rounded(pl.col("other"), one.metric, decimals))
        )
        for place, one in required.items()
    ]
    return rows_of(found.with_columns(slack=pl.coalesce(slack)), keys)


def had_in_summary(
    earlier: pl.LazyFrame, keys: Sequence[str], required: Places, dtypes: pl.Schema
) -> pl.LazyFrame:
    """Return what an earlier result has: the keys as text, `place`, the value `other` with its ends, and `n` users."""
    common = [key for key in keys if key in earlier.collect_schema()]
    on = [text_key(key) for key in common]
    numbers = {"other": "value", "other_low": "value_low", "other_high": "value_high"}
    rows = with_texts(earlier, common, dtypes).select(
        *on,
        "metric",
        *(pl.col(name).cast(pl.Float64).alias(new) for new, name in numbers.items()),
        pl.col("n_users").cast(pl.Int64).alias("n"),
    )
    once = rows.unique([*on, "metric"], keep="first", maintain_order=True)
    return once.join(metrics_at(required), on="metric").drop("metric")


def with_predictions(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    required: Places,
    predicted: pl.DataFrame,
    decimals: Decimals,
) -> pl.LazyFrame:
    """Return rows of `from_bounds` with what the last runs of a history predict of the same number.

    `predicted` has the keys as text, as `key 0` and on, `metric`, the columns of `ROW` that begin with `window_`, and
    `in_each`: in how many runs a number stands that each run of the window has.
    """
    own, columns = rows.collect_schema(), [one for one in ROW if one.startswith("window_")]
    on = [f"key {place}" for place in range(len(keys))]
    now = rows.drop(columns).join(metrics_at(required), on="place", how="left")
    now = now.with_columns(
        as_text(pl.col(key), own[key]).alias(name) for key, name in zip(keys, on, strict=True)
    )
    then = predicted.lazy().select(*on, "metric", *columns)
    found = now.join(then, on=[*on, "metric"], how="left", nulls_equal=True)
    nothing = pl.when(pl.col("window_n").is_null()).then(pl.lit(NO_SUCH_RUN))
    slack = [
        pl.when(pl.col("place") == place).then(hidden(one, decimals, pl.lit(value=True)))
        for place, one in required.items()
    ]
    noted = pl.coalesce("window_note", nothing)
    return rows_of(found.with_columns(noted, slack=pl.coalesce(slack)), keys)


def had_in_each_run(predicted: pl.DataFrame, keys: Sequence[str], required: Places) -> pl.LazyFrame:
    """Return what every run of the window has, as `with_missing` takes it, with the number of runs."""
    had = predicted.lazy().filter(pl.col("in_each") > 0).join(metrics_at(required), on="metric")
    texts = (pl.col(f"key {place}").alias(text_key(key)) for place, key in enumerate(keys))
    return had.select(*texts, "place", n="in_each")


def with_missing(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    had: pl.LazyFrame,
    least: int,
    words: str,
    present: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Return rows with those that earlier numbers have and that are missing now, whether or not they have a row of nobody.

    `had` has some of the keys as text, `place`, the number of users (or runs) `n`, which may be null, and if known the value
    `other`; what had fewer than `least` does not count. `present` has the keys and the places that have a value now, where
    the rows do not say it. `words` is the note of such a row, with a place for the number.
    """
    own, columns = rows.collect_schema(), had.collect_schema()
    common = [key for key in keys if text_key(key) in columns]
    on = [*map(text_key, common), "place"]
    texts = [as_text(pl.col(key), own[key]).alias(text_key(key)) for key in common]
    here = rows.with_columns(texts)
    there = here.filter(pl.col("value").is_not_null())
    there = there if present is None else present.with_columns(texts)
    n = pl.col("n").cast(pl.Int64)
    gone = had.filter(n.is_null() | (n >= least)).join(there, on=on, how="anti", nulls_equal=True)
    told = pl.format(words, n.cast(pl.String).fill_null("some"))
    other = pl.col("other") if "other" in columns else pl.lit(None, pl.Float64)
    gone = gone.select(*on, told=told, other=other).unique(on)
    new = gone.join(here, on=on, how="anti", nulls_equal=True).select(
        *(_of_text(key, own[key]) if key in common else _none(key, own[key]) for key in keys),
        "place",
        "other",
        note=_naming(common, own),
        n_users=pl.lit(0, pl.Int64),
        missing=pl.lit(value=True),
    )
    marked = here.join(gone.drop("other"), on=on, how="left", nulls_equal=True).with_columns(
        missing=pl.col("told").is_not_null() | pl.col("missing").fill_null(value=False),
        note=pl.coalesce("told", "note"),
    )
    return pl.concat([rows_of(marked, keys), rows_of(new, keys)])


def without_baselines(had: pl.LazyFrame, baselines: Mapping[int, str]) -> pl.LazyFrame:
    """Return earlier rows without the models that others are held against, by the places of requirements."""
    if not baselines or text_key(MODEL) not in had.collect_schema():
        return had
    model, place = pl.col(text_key(MODEL)), pl.col("place")
    other = [(place == at) & (model == name) for at, name in baselines.items()]
    return had.filter(~pl.any_horizontal(other).fill_null(value=False))


def _naming(keys: Sequence[str], dtypes: pl.Schema) -> pl.Expr:
    """Return the note of a row that is missing, with its keys where one is no value of today's dtype."""
    lost = [
        _of_text(key, dtypes[key]).is_null() & pl.col(text_key(key)).is_not_null() for key in keys
    ]
    if not keys:
        return pl.col("told")
    texts = [shown_in_plan(pl.col(text_key(key))) for key in keys]
    names = pl.concat_str(texts, separator=", ", ignore_nulls=True)
    named = pl.format("{}: {}", "told", names)
    return pl.when(pl.any_horizontal(lost)).then(named).otherwise(pl.col("told"))


def text_key(key: str) -> str:
    """Return the name of a key's text."""
    return f"{key} as text"


def with_texts(
    earlier: pl.LazyFrame, keys: Sequence[str], dtypes: Mapping[str, pl.DataType]
) -> pl.LazyFrame:
    """Return earlier rows with the texts of their keys, as those of today's dtypes are written.

    NOTE: a file may have 2026-11-01T10:00 or 1.0 as text, which a column writes in another way.
    """
    schema = earlier.collect_schema()
    rows = earlier.with_columns(
        as_text(pl.col(key), schema[key]).alias(text_key(key)) for key in keys
    )
    differ = [key for key in keys if schema[key] != dtypes[key]]
    return rows.with_columns(
        pl.coalesce(as_text(_of_text(key, dtypes[key]), dtypes[key]), text_key(key)).alias(
            text_key(key)
        )
        for key in differ
    )


def _none(key: str, dtype: pl.DataType) -> pl.Expr:
    return pl.lit(None).cast(dtype).alias(key)


def _of_text(key: str, dtype: pl.DataType) -> pl.Expr:
    """Return a key in its dtype from its text, null where the dtype has no such value, as a category that is gone."""
    text = pl.col(text_key(key))
    if dtype == pl.Boolean:
        return pl.when(text.is_in(["true", "false"])).then(text == "true").alias(key)
    if isinstance(dtype, pl.Datetime):
        read = text.str.to_datetime(time_unit=dtype.time_unit, strict=False)
        return read.dt.replace_time_zone(dtype.time_zone).alias(key)
    if dtype == pl.Date:
        return text.str.to_date("%Y-%m-%d", strict=False).alias(key)
    if dtype.is_numeric() or dtype in TEXTUAL:
        return text.cast(dtype, strict=False).alias(key)
    return _none(key, dtype)


def metrics_at(required: Places) -> pl.LazyFrame:
    """Return the metrics of requirements beside their places."""
    return pl.LazyFrame(
        {"place": list(required), "metric": [str(one.metric) for one in required.values()]},
        schema={"place": pl.Int64, "metric": pl.String},
    )
