"""Charts of segments: a metric's value in each, with its interval and its users, and what pooling makes of small ones."""

from __future__ import annotations

import polars as pl

from recframe.errors import RecframeError
from recframe.look.style import (
    Fields,
    Series,
    alt,
    axis_title,
    finished,
    layered,
    lines,
    number_format,
    rows_of_models,
    safe,
    spoken,
)
from recframe.metrics.language.definition import Metric

STEP = 14
"""The height of a model's row in a segment, in pixels."""


def with_pooled(data: pl.DataFrame) -> pl.DataFrame:
    """Return segments with the pooled estimates of `slices`: place, model_place, known, n_users, value, std.

    Without NumPy and SciPy there are none; nor has a segment one whose value of the `by` column is null.
    """
    try:
        from recframe.uncertainty import pooling  # noqa: PLC0415  NumPy and SciPy are an extra
        from recframe.uncertainty.arrays import np, ratio  # noqa: PLC0415
    except RecframeError:
        return data.with_columns(pooled=pl.lit(None, pl.Float64))
    shape = [data[name].n_unique() for name in ("place", "model_place")]
    at = data["place"].to_numpy(), data["model_place"].to_numpy()
    n, mean, variance = np.zeros(shape), np.full(shape, np.nan), np.zeros(shape)
    n[at] = data.select(pl.when("known").then("n_users").otherwise(0)).to_series().to_numpy()
    mean[at] = data["value"].fill_null(float("nan")).to_numpy()
    variance[at] = (data["std"].fill_null(0.0) ** 2).to_numpy()
    borrowed = pooling.borrowed_variances(variance, n)
    mean = np.where(n > 0, mean, np.nan)
    found = pooling.pooled(mean, np.sqrt(ratio(borrowed, n))).value
    return data.with_columns(pooled=pl.Series(found[at]).fill_nan(None))


def segments(  # noqa: PLR0913  those that its words name
    data: pl.DataFrame,
    series: Series,
    metric: Metric[...],
    by: str,
    level: str,
    *,
    min_users: int,
    most: int,
) -> alt.LayerChart:
    """Return a metric in each segment: segment, place, model, value, low, high, n_users, known, pooled."""
    look, kind, n = series.look, number_format(metric), data["segment"].n_unique()
    rows = largest(data, most).with_columns(mean=pl.col("value").mean().over("place"))
    rows = rows.sort("mean", "place", descending=[True, False], nulls_last=True).drop("mean")
    is_small = pl.col("n_users") < min_users
    rows = safe(rows.with_columns(pooled=pl.when(is_small).then("pooled")))
    names = rows["label"].unique(maintain_order=True).to_list()
    axis = {"grid": True, "tickSize": 0, "labelPadding": 6}
    row = alt.Y("label:N", sort=names, title=lines(f"{by} (users)", 240), axis=axis)
    told: Fields = {
        "segment:N": spoken(by),
        "value:Q": (spoken(str(metric)), kind),
        **{f"{one}:Q": (one, kind) for one in ("low", "high", "pooled")},
        "n_users:Q": ("users", ",d"),
    }
    base = rows_of_models(rows, series, row, series.told(told), side_by_side=series.named)
    base = base.encode(color=series.colour())
    if not series.named:
        base = base.encode(x=alt.X(scale=alt.Scale(zero=False)))
    low = alt.X("low:Q", title=axis_title(metric, look))
    rule = base.mark_rule(strokeWidth=2, opacity=0.75).encode(x=low, x2="high:Q")
    dots = base.mark_point(filled=True, size=56, opacity=1)
    dots = dots.encode(x="value:Q", color=series.colour(), shape=series.shape())
    pooled = base.mark_point(filled=False, size=70, shape="diamond", strokeWidth=1.8)
    pooled = pooled.encode(x="pooled:Q", shape=alt.ShapeValue("diamond"))
    height = len(names) * (max(len(series.names), 2) * STEP + 6) + 10
    words = f"Dots: means with intervals at {level}; in brackets: users."
    if rows["pooled"].count():
        words += f" Diamonds: pooled estimates of segments with fewer than {min_users} users."
    chart = layered(rows, rule, dots, pooled, height=height)
    words, title = words + told_of(n, most), f"{metric} by {by}"
    return finished(chart, look, title, words, empty=data.is_empty())


def largest(data: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the segments with the most users, and what is written beside each: its name and its number of users."""
    sizes = data.group_by("place").agg(pl.col("n_users").max()).sort("n_users", "place")
    kept = sizes.tail(most)["place"]
    found = data.filter(pl.col("place").is_in(kept.implode()))
    found = found.with_columns(users=pl.col("n_users").max().over("place"))
    counts = found["users"].unique().to_list()
    written = pl.col("users").replace_strict(
        counts, [f"{one:,}" for one in counts], return_dtype=pl.String
    )
    return found.with_columns(label=pl.format("{} ({})", "segment", written)).drop("users")


def told_of(n: int, most: int) -> str:
    """Return the words of a chart that does not show all segments."""
    return f" {most} of {n:,} segments, those with the most users." if n > most else ""
