"""Charts of models and segments: values, differences, trade-offs and overlaps."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.charts.style import (
    LETTER,
    SIDES,
    Fields,
    Series,
    alt,
    axis_title,
    drawn,
    finished,
    inner_width,
    is_bare,
    layered,
    lines,
    number_format,
    rows_of_models,
    safe,
    spoken,
    tooltips,
)
from recframe.errors import RecframeError
from recframe.metrics.language.definition import Metric

STEP = 18
"""Height of a model's row, in pixels."""
HEIGHT = 320
MOST_NAMED = 6
"""Most models with names at their points; more get a legend, since names would overlap."""
NEAR = 0.25
"""The distance at which a name would lie upon a point, as a share of a view's width and height."""
LONGEST = 26
"""Longest name along a heat map, in characters."""
WIDEST_CELL = 80
LEAST_WRITTEN = 24
"""Least cell width for a number, in pixels."""
TURNS = 0.55
"""Value from which a cell is dark enough for the other text colour."""


def compare(
    data: pl.DataFrame,
    series: Series,
    metric: Metric[...] | None,
    title: str,
    level: str,
    margin: float | None,
) -> alt.LayerChart:
    """Return differences: row, model, baseline, difference, low, high, their margins, verdict, p_adjusted, n_users.

    Without a metric there are several, whose differences are relative.
    """
    look, data = series.look, safe(data)
    names = data["row"].unique(maintain_order=True).to_list()
    is_open, alone = pl.col("verdict").is_in(["open", "few"]), len(names) == len(data)
    kind = "+.2%" if metric is None else f"+{number_format(metric)}"
    row = alt.Y("row:N", sort=names, title=None, axis={"grid": True, "tickSize": 0})
    base, filled, hollow = (
        rows_of_models(rows, series, row, _told(kind), side_by_side=not alone)
        for rows in (data, data.filter(~is_open), data.filter(is_open))
    )
    axis_words = lines(_difference(metric), look.width - SIDES)
    margins = alt.X("margin_low:Q", title=axis_words)
    band = base.mark_bar(opacity=0.8).encode(
        x=margins, x2="margin_high:Q", color=alt.ColorValue(look.colours.band)
    )
    zero = alt.Chart(pl.DataFrame({"x": [0.0]})).mark_rule(color=look.colours.quiet).encode(x="x:Q")
    encoded: dict[str, Any] = {"legend": not alone, "shown": data["model"].to_list()}
    colour = series.colour(**encoded)
    # nothing is no more than it
    signed = {
        "format": "+%" if metric is None else "+",
        "labelExpr": "datum.value === 0 ? '0' : datum.label",
        "tickCount": look.width // 90,
    }
    low = alt.X("low:Q", title=axis_words, axis=signed, scale={"zero": True})
    rule = base.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q", color=colour)
    dots = filled.mark_point(filled=True, size=80, opacity=1)
    rings = hollow.mark_point(fill=look.ground, size=60, strokeWidth=2, opacity=1)
    shape = series.shape(**encoded)
    points = [one.encode(x="difference:Q", color=colour, shape=shape) for one in (dots, rings)]
    most = data.group_by("row").len()["len"].max() or 1
    height = len(names) * (int(most) * STEP + 12) + 10  # type: ignore[arg-type]
    bands = [] if margin is None else [band]
    chart = layered(data, *bands, zero, rule, *points, height=height)
    words = f"Users' values paired; each interval at {level} by itself. Hollow marks: open, nothing could be shown."
    if margin is not None:
        words += (
            f" Band: within {margin * 100:.3g}% of the baseline's value, which does not matter."
        )
    return finished(chart, look, title, words, empty=data.is_empty())


def _told(kind: str) -> Fields:
    """Return the fields of a difference's tooltip."""
    return {
        **{f"{one}:N": one for one in ("model", "baseline", "row")},
        **{f"{one}:Q": (one, kind) for one in ("difference", "low", "high")},
        "verdict:N": "verdict",
        "p_adjusted:Q": ("p, corrected", ".3~g"),
        "n_users:Q": ("users with both", ",d"),
    }


def _difference(metric: Metric[...] | None) -> str:
    """Return the name of differences, with their unit and their better end."""
    if metric is None:
        return "relative difference (% of the baseline's value)"
    better = {"higher": " (right of 0 is better)", "lower": " (left of 0 is better)"}
    return f"difference in {metric}{better.get(metric.definition.direction, '')}"


def tradeoff(
    data: pl.DataFrame, series: Series, x: Metric[...], y: Metric[...], level: str
) -> alt.LayerChart:
    """Return models as points: model, x, x_low, x_high, y, y_low, y_high, n_users, best (on the Pareto front)."""
    look, data = series.look, safe(data)
    is_named = series.named and len(series.names) <= MOST_NAMED
    colour, shape = series.colour(legend=not is_named), series.shape(legend=not is_named)
    told: dict[str, Any] = {}
    for axis, metric in (("x", x), ("y", y)):
        kind = number_format(metric)
        told[f"{axis}:Q"] = (spoken(str(metric)), kind)
        told |= {f"{axis}_{end}:Q": (end, kind) for end in ("low", "high")}
    fields = series.told({**told, "best:N": "on the Pareto front"})
    base = drawn(data).encode(color=colour, tooltip=tooltips(fields))
    across = alt.X("x:Q", title=axis_title(x, look), scale={"zero": False, "padding": 28})
    up_title = axis_title(y, look, length=HEIGHT)
    up = alt.Y("y:Q", title=up_title, scale={"zero": False, "padding": 20})
    rule = base.mark_rule(strokeWidth=1.5, opacity=0.7)
    wide = rule.encode(x="x_low:Q", x2="x_high:Q", y=up)
    tall = rule.encode(y="y_low:Q", y2="y_high:Q", x=across)
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(x=across, y=up, shape=shape)
    names = _names(data, series, across, up) if is_named else []
    front = drawn(data.filter("best").sort("x"))
    front = front.mark_line(color=look.colours.quiet, strokeDash=[4, 3], strokeWidth=1.5)
    layers = [front.encode(x=across, y=up, order="x:Q"), wide, tall, dots, *names]
    chart = layered(data, *layers, height=HEIGHT)
    words = f"Crosses: intervals at {level}. {_front(data)}"
    return finished(chart, look, f"{y} against {x}", words, empty=is_bare(data, "x", "y"))


def _front(data: pl.DataFrame) -> str:
    """Return the subtitle on the Pareto front, which takes two models to be drawn."""
    best = data.filter("best")["model"].to_list()
    if len(best) > 1:
        return "Dashed: the Pareto front, models that no other beats in both."
    return f"No other model beats {best[0]} in either." if best and len(data) > 1 else ""


def _names(data: pl.DataFrame, series: Series, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return model labels at their points, inside the view and clear of near points."""
    layers, ground = [], series.look.ground
    for (align, below), rows in placed(data).group_by("align", "below", maintain_order=True):
        text = drawn(rows).encode(x=x, y=y, text="model:N")
        of: dict[str, Any] = {"align": align, "dx": 9 if align == "left" else -9}
        of |= {"dy": 13 if below else -9, "fontSize": 12}
        # on its ground, which keeps what lies below from crossing letters out
        halo = text.mark_text(stroke=ground, strokeWidth=4, strokeJoin="round", color=ground, **of)
        layers += [halo, text.mark_text(**of).encode(color=series.colour(legend=False))]
    return layers


def placed(data: pl.DataFrame) -> pl.DataFrame:
    """Return models with the places of their names: right of a point on the left, and below one that has another above."""
    known = data.drop_nulls(["x", "y"])
    axes = pl.col("x", "y")
    shares = known.select((axes - axes.min()) / (axes.max() - axes.min()).replace(0.0, 1.0))
    across, up = shares.get_columns()
    aligns = ["left" if x <= 0.5 else "right" for x in across]  # noqa: PLR2004  the middle
    near = [
        ((across - x).abs() < NEAR) & (up - y).is_between(0, NEAR)
        for x, y in zip(across, up, strict=True)
    ]
    # a point is near to itself
    return known.with_columns(
        align=pl.Series(aligns, dtype=pl.String),
        below=pl.Series([one.sum() > 1 for one in near], dtype=pl.Boolean),
    )


def overlap(data: pl.DataFrame, series: Series, metric: Metric[...]) -> alt.LayerChart:
    """Return the overlap of each two models' lists: model, other, value, n."""
    look, data, n = series.look, safe(data), max(len(series.names), 1)
    longest = min(max(map(len, series.names), default=1), LONGEST)
    cell = min(inner_width(look, longest * LETTER + 60) / n, WIDEST_CELL)
    colours, names, no_ticks = look.colours, series.names, {"tickSize": 0}
    told: Fields = {
        "model:N": "lists of",
        "other:N": "held against",
        "value:Q": (spoken(str(metric)), number_format(metric)),
        "n:Q": ("lists", ",d"),
    }
    across = alt.X(
        "other:N", sort=names, title="held against", axis={"labelAngle": -40, **no_ticks}
    )
    up = alt.Y("model:N", sort=names, title="lists of", axis=no_ticks)
    base = drawn(data).encode(x=across, y=up, tooltip=tooltips(told))
    scale = {"domain": list(metric.range), "range": list(colours.heat)}
    legend = {"title": str(metric), "orient": "top", "titleLimit": look.width}
    cells = base.mark_rect(stroke=colours.background, strokeWidth=1)
    cells = cells.encode(color=alt.Color("value:Q", scale=scale, legend=legend))
    ink = alt.condition(alt.datum.value > TURNS, alt.value(colours.on_heat), alt.value(colours.ink))
    written = base.mark_text(fontSize=min(12, max(cell / 3.2, 7)))
    written = written.encode(text=alt.Text("value:Q", format=".2f"), color=ink)
    layers = [cells, written] if cell >= LEAST_WRITTEN else [cells]
    chart = layered(data, *layers, height=max(cell, 22) * n)
    words = "The mean over the users of how far a model's list agrees with the other model's."
    return finished(chart, look, f"Overlap of the lists: {metric}", words, empty=data.is_empty())


STEP_OF_SEGMENTS = 14
"""Height of a model's row in a segment, in pixels."""


def with_pooled(data: pl.DataFrame) -> pl.DataFrame:
    """Return segments with the pooled estimates of `slices`: place, model_place, known, n_users, value, std.

    Without NumPy and SciPy there are none; nor has a segment one whose value of the `by` column is null.
    """
    try:
        from recframe.statistics import shrinkage  # noqa: PLC0415  NumPy and SciPy are an extra
        from recframe.statistics.arrays import np, ratio  # noqa: PLC0415
    except RecframeError:
        return data.with_columns(pooled=pl.lit(None, pl.Float64))
    shape = [data[name].n_unique() for name in ("place", "model_place")]
    at = data["place"].to_numpy(), data["model_place"].to_numpy()
    n, mean, variance = np.zeros(shape), np.full(shape, np.nan), np.zeros(shape)
    n[at] = data.select(pl.when("known").then("n_users").otherwise(0)).to_series().to_numpy()
    mean[at] = data["value"].fill_null(float("nan")).to_numpy()
    variance[at] = (data["std"].fill_null(0.0) ** 2).to_numpy()
    borrowed = shrinkage.borrowed_variances(variance, n)
    mean = np.where(n > 0, mean, np.nan)
    found = shrinkage.pooled(mean, np.sqrt(ratio(borrowed, n))).value
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
    height = len(names) * (max(len(series.names), 2) * STEP_OF_SEGMENTS + 6) + 10
    words = f"Dots: means with intervals at {level}; in brackets: users."
    if rows["pooled"].count():
        words += f" Diamonds: pooled estimates of segments with fewer than {min_users} users."
    chart = layered(rows, rule, dots, pooled, height=height)
    words, title = words + told_of(n, most), f"{metric} by {by}"
    return finished(chart, look, title, words, empty=data.is_empty())


def largest(data: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the segments with the most users, with labels of name and number of users."""
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
