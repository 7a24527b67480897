"""Charts of models: differences from a baseline, one metric against another, and how far lists agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from recframe.look.style import (
    Series,
    alt,
    axis_title,
    drawn,
    finished,
    inner_width,
    layered,
    lines,
    number_format,
    safe,
)
from recframe.metrics.language.definition import Metric

STEP = 18
"""The height of a model's row, in pixels."""
HEIGHT = 320
MOST_NAMED = 6
"""Points of more models are named by a legend, since names would lie upon one another."""
LONGEST = 26
"""Of the names beside a heat map, in letters."""


@dataclass(frozen=True)
class Differences:
    """What differences are shown, and in what words."""

    metric: Metric[...] | None
    """The only metric; None where there are several, whose differences are relative."""
    title: str
    level: float
    margin: float | None

    @property
    def axis(self) -> str:
        """What the differences are, with their unit and their better end."""
        if self.metric is None:
            return "relative difference (% of the baseline's value)"
        direction = self.metric.definition.direction
        better = {"higher": " (right of 0 is better)", "lower": " (left of 0 is better)"}
        return f"difference in {self.metric}{better.get(direction, '')}"


def compare(data: pl.DataFrame, series: Series, how: Differences) -> alt.LayerChart:
    """Return differences: row, model, baseline, difference, low, high, their margins, verdict, p_adjusted, n_users."""
    look, data = series.look, safe(data)
    title = lines(how.axis, look.width - 110)
    legend, shown = data["row"].n_unique() < len(data), data["model"].to_list()
    colour = series.colour(legend=legend, shown=shown)
    shape = series.shape(legend=legend, shown=shown)
    is_open = pl.col("verdict") == "open"
    base, hollow, filled = (
        _rows(rows, series, how, data)
        for rows in (data, data.filter(is_open), data.filter(~is_open))
    )
    band = base.mark_bar(opacity=0.8).encode(
        x=alt.X("margin_low:Q", title=title),
        x2="margin_high:Q",
        color=alt.value(look.colours.band),
    )
    zero = alt.Chart(pl.DataFrame({"x": [0.0]})).mark_rule(color=look.colours.quiet).encode(x="x:Q")
    axis = alt.Axis(format="+%" if how.metric is None else "+", tickCount=look.width // 90)
    rule = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, axis=axis, scale=alt.Scale(zero=True)),
        x2="high:Q",
        color=colour,
    )
    dots = filled.mark_point(filled=True, size=80, opacity=1).encode(
        x="difference:Q", color=colour, shape=shape
    )
    ground = "white" if look.theme is None else look.colours.background
    rings = hollow.mark_point(fill=ground, size=60, strokeWidth=2, opacity=1).encode(
        x="difference:Q", color=colour, shape=shape
    )
    layers = [zero, rule, dots, rings] if how.margin is None else [band, zero, rule, dots, rings]
    rows = data.group_by("row").len()["len"]
    height = len(rows) * (max(rows.to_list(), default=1) * STEP + 12) + 10
    chart = layered(data, *layers, height=height)
    told = f"Users' values paired; each interval at {how.level:.0%} by itself. Hollow: open, nothing is shown."
    if how.margin is not None:
        told += (
            f" Band: within {how.margin * 100:.3g}% of the baseline's value, which does not matter."
        )
    return finished(chart, look, how.title, told, empty=data.is_empty())


def _rows(rows: pl.DataFrame, series: Series, how: Differences, data: pl.DataFrame) -> alt.Chart:
    """Return a chart of rows in the order of all data, with what is told of each."""
    names = data["row"].unique(maintain_order=True).to_list()
    kind = "+.2%" if how.metric is None else f"+{number_format(how.metric)}"
    base = drawn(rows).encode(
        y=alt.Y("row:N", sort=names, title=None, axis=alt.Axis(grid=True, tickSize=0)),
        tooltip=[
            alt.Tooltip("model:N", title="model"),
            alt.Tooltip("baseline:N", title="baseline"),
            alt.Tooltip("row:N", title="row"),
            alt.Tooltip("difference:Q", title="difference", format=kind),
            alt.Tooltip("low:Q", title="low", format=kind),
            alt.Tooltip("high:Q", title="high", format=kind),
            alt.Tooltip("verdict:N", title="verdict"),
            alt.Tooltip("p_adjusted:Q", title="p, corrected", format=".3~g"),
            alt.Tooltip("n_users:Q", title="users with both", format=",d"),
        ],
    )
    if len(names) == len(data):
        return base
    offset = alt.YOffset("model:N", sort=series.names, scale=alt.Scale(paddingOuter=0.35))
    return base.encode(yOffset=offset)


def tradeoff(
    data: pl.DataFrame, series: Series, x: Metric[...], y: Metric[...], level: float
) -> alt.LayerChart:
    """Return models as points: model, x, x_low, x_high, y, y_low, y_high, n_users, best (on the Pareto front)."""
    look, data = series.look, safe(data)
    is_named = series.named and len(series.names) <= MOST_NAMED
    colour, shape = series.colour(legend=not is_named), series.shape(legend=not is_named)
    base = drawn(data).encode(
        color=colour,
        tooltip=series.tooltips(
            *_values("x", x), *_values("y", y), alt.Tooltip("best:N", title="on the Pareto front")
        ),
    )
    across = alt.X("x:Q", title=axis_title(x, look), scale=alt.Scale(zero=False, padding=28))
    up = alt.Y(
        "y:Q", title=axis_title(y, look, length=HEIGHT), scale=alt.Scale(zero=False, padding=20)
    )
    wide = base.mark_rule(strokeWidth=1.5, opacity=0.7).encode(x="x_low:Q", x2="x_high:Q", y=up)
    tall = base.mark_rule(strokeWidth=1.5, opacity=0.7).encode(y="y_low:Q", y2="y_high:Q", x=across)
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(x=across, y=up, shape=shape)
    middle = data.select((pl.col("x").min() + pl.col("x").max()) / 2).item()
    names = [
        _names(base, alt.datum.x <= middle, "left", across, up),
        _names(base, alt.datum.x > middle, "right", across, up),
    ]
    of_front = drawn(data.filter("best").sort("x"))
    front = of_front.mark_line(color=look.colours.quiet, strokeDash=[4, 3], strokeWidth=1.5).encode(
        x=across, y=up, order="x:Q"
    )
    layers = [front, wide, tall, dots, *(names if is_named else [])]
    chart = layered(data, *layers, height=HEIGHT)
    told = f"Crosses: intervals at {level:.0%}. Dashed: the Pareto front, models that no other beats in both."
    return finished(chart, look, f"{y} against {x}", told, empty=data.is_empty())


def _names(
    base: alt.Chart, where: Any, align: Literal["left", "right"], x: alt.X, y: alt.Y
) -> alt.Chart:
    """Return the names of some models, beside their points and inside of the view."""
    away = 9 if align == "left" else -9
    text = base.transform_filter(where).mark_text(align=align, dx=away, dy=-9, fontSize=12)
    named: alt.Chart = text.encode(x=x, y=y, text="model:N")
    return named


def _values(axis: str, metric: Metric[...]) -> list[alt.Tooltip]:
    kind = number_format(metric)
    ends = {f"{axis}:Q": str(metric), f"{axis}_low:Q": "low", f"{axis}_high:Q": "high"}
    return [alt.Tooltip(field, title=title, format=kind) for field, title in ends.items()]


def overlap(data: pl.DataFrame, series: Series, metric: Metric[...]) -> alt.LayerChart:
    """Return how far the lists of each two models agree: model, other, value, n."""
    look, data = series.look, safe(data)
    names, colours = series.names, look.colours
    longest = min(max(map(len, names), default=1), LONGEST)
    side = min(inner_width(look, longest * 6.5 + 60), 80 * max(len(names), 1))
    cell = side / max(len(names), 1)
    base = drawn(data).encode(
        x=alt.X(
            "other:N", sort=names, title="held against", axis=alt.Axis(labelAngle=-40, tickSize=0)
        ),
        y=alt.Y("model:N", sort=names, title="lists of", axis=alt.Axis(tickSize=0)),
        tooltip=[
            alt.Tooltip("model:N", title="lists of"),
            alt.Tooltip("other:N", title="held against"),
            alt.Tooltip("value:Q", title=str(metric), format=number_format(metric)),
            alt.Tooltip("n:Q", title="lists", format=",d"),
        ],
    )
    scale = alt.Scale(domain=list(metric.range), range=list(colours.heat))
    legend = alt.Legend(title=str(metric), orient="top", titleLimit=look.width)
    cells = base.mark_rect(stroke=colours.background, strokeWidth=1).encode(
        color=alt.Color("value:Q", scale=scale, legend=legend)
    )
    is_dark = alt.datum.value > 0.55  # noqa: PLR2004  where the ground of a cell turns
    written = base.mark_text(fontSize=min(12, max(cell / 3.2, 7))).encode(
        text=alt.Text("value:Q", format=".2f"),
        color=alt.condition(is_dark, alt.value(_on_full(look.theme)), alt.value(colours.ink)),
    )
    layers = [cells, written] if cell >= LEAST_WRITTEN else [cells]
    chart = layered(data, *layers, height=max(cell, 22) * max(len(names), 1))
    told = "The mean over the users of how far a model's list agrees with the other model's."
    return finished(chart, look, f"Overlap of the lists: {metric}", told, empty=data.is_empty())


LEAST_WRITTEN = 24
"""The width of a cell that a number fits into."""


def _on_full(theme: str | None) -> str:
    return "#0d1114" if theme == "dark" else "#ffffff"
