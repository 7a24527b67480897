"""Charts of segments: a metric's value in each, with its interval and its users, and what pooling makes of small ones."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from recframe.errors import RecframeError
from recframe.look.style import (
    Series,
    alt,
    axis_title,
    drawn,
    finished,
    layered,
    lines,
    number_format,
    safe,
    spoken,
)
from recframe.metrics.language.definition import Metric

STEP = 14
"""The height of a model's row in a segment, in pixels."""


@dataclass(frozen=True)
class Segments:
    """Which segments are shown, and in what words."""

    metric: Metric[...]
    by: str
    """The columns' names."""
    level: str
    min_users: int
    most: int


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


def segments(data: pl.DataFrame, series: Series, how: Segments) -> alt.LayerChart:
    """Return a metric in each segment: segment, place, model, value, low, high, n_users, known, pooled."""
    look = series.look
    small, n = pl.col("n_users") < how.min_users, data["segment"].n_unique()
    shown = _ordered(largest(data, how.most)).with_columns(
        pl.when(small).then("pooled").alias("pooled")
    )
    shown = safe(shown)
    names = shown["label"].unique(maintain_order=True).to_list()
    rows = max(len(series.names) if series.named else 1, 2)
    base = _base(shown, series, how, names)
    rule = base.mark_rule(strokeWidth=2, opacity=0.75).encode(
        x=alt.X("low:Q", title=axis_title(how.metric, look)), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=56, opacity=1).encode(
        x="value:Q", color=series.colour(), shape=series.shape()
    )
    drawn_in = base.mark_point(filled=False, size=70, shape="diamond", strokeWidth=1.8).encode(
        x="pooled:Q", shape=alt.ShapeValue("diamond")
    )
    chart = layered(shown, rule, dots, drawn_in, height=len(names) * (rows * STEP + 6) + 10)
    told = [f"Dots: means with intervals at {how.level}; in brackets: users."]
    if shown["pooled"].count():
        told.append(
            f"Diamonds: pooled estimates of segments with fewer than {how.min_users} users."
        )
    told.append(told_of(n, how.most))
    title = f"{how.metric} by {how.by}"
    return finished(chart, look, title, " ".join(filter(None, told)), empty=data.is_empty())


def _base(data: pl.DataFrame, series: Series, how: Segments, names: list[str]) -> alt.Chart:
    kind = number_format(how.metric)
    base = drawn(data).encode(
        y=alt.Y(
            "label:N",
            sort=names,
            title=lines(f"{how.by} (users)", 240),
            axis=alt.Axis(grid=True, tickSize=0, labelPadding=6),
        ),
        color=series.colour(),
        tooltip=series.tooltips(
            alt.Tooltip("segment:N", title=spoken(how.by)),
            alt.Tooltip("value:Q", title=spoken(str(how.metric)), format=kind),
            alt.Tooltip("low:Q", title="low", format=kind),
            alt.Tooltip("high:Q", title="high", format=kind),
            alt.Tooltip("pooled:Q", title="pooled", format=kind),
            alt.Tooltip("n_users:Q", title="users", format=",d"),
        ),
    )
    if not series.named:
        return base.encode(x=alt.X(scale=alt.Scale(zero=False)))
    offset = alt.YOffset("model:N", sort=series.names, scale=alt.Scale(paddingOuter=0.35))
    return base.encode(yOffset=offset)


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
    """Return what a chart says where it does not show all segments."""
    return f"{most} of {n:,} segments, those with the most users." if n > most else ""


def _ordered(data: pl.DataFrame) -> pl.DataFrame:
    """Return segments from the highest mean value over the models to the lowest."""
    means = data.with_columns(mean=pl.col("value").mean().over("place"))
    return means.sort("mean", "place", descending=[True, False], nulls_last=True).drop("mean")
