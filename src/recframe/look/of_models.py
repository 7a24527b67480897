"""Charts of models: differences from a baseline, one metric against another, and how far lists agree."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from recframe.look.style import (
    LETTER,
    SIDES,
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
    safe,
    spoken,
)
from recframe.look.themes import Look
from recframe.metrics.language.definition import Metric

STEP = 18
"""The height of a model's row, in pixels."""
HEIGHT = 320
MOST_NAMED = 6
"""Points of more models are named by a legend, since names would lie upon one another."""
NEAR = 0.25
"""So near is a point, as a share of a view's width and height, that a name would lie upon it."""
LONGEST = 26
"""Of the names beside a heat map, in letters."""
WIDEST_CELL = 80
LEAST_WRITTEN = 24
"""The width of a cell that a number fits into."""
TURNS = 0.55
"""From here on the ground of a cell is so full that its number has the other ink."""


@dataclass(frozen=True)
class Differences:
    """What differences are shown, and in what words."""

    metric: Metric[...] | None
    """The only metric; None where there are several, whose differences are relative."""
    title: str
    level: str
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
    base = _rows(data, series, how, data)
    band = base.mark_bar(opacity=0.8).encode(
        x=alt.X("margin_low:Q", title=_difference_title(how, look)),
        x2="margin_high:Q",
        color=alt.ColorValue(look.colours.band),
    )
    zero = alt.Chart(pl.DataFrame({"x": [0.0]})).mark_rule(color=look.colours.quiet).encode(x="x:Q")
    layers = [zero, *_marks(base, data, series, how)]
    rows = data.group_by("row").len()["len"]
    height = len(rows) * (max(rows.to_list(), default=1) * STEP + 12) + 10
    chart = layered(data, *([] if how.margin is None else [band]), *layers, height=height)
    told = (
        f"Users' values paired; each interval at {how.level} by itself. "
        "Hollow marks: open, nothing could be shown."
    )
    if how.margin is not None:
        of_margin = (
            f"Band: within {how.margin * 100:.3g}% of the baseline's value, which does not matter."
        )
        told = f"{told} {of_margin}"
    return finished(chart, look, how.title, told, empty=data.is_empty())


def _difference_title(how: Differences, look: Look) -> list[str]:
    return lines(how.axis, look.width - SIDES)


def _marks(
    base: alt.Chart, data: pl.DataFrame, series: Series, how: Differences
) -> list[alt.Chart]:
    """Return the intervals, the filled marks of what has a verdict, and the hollow ones of what is open, or of few users."""
    look, is_open = series.look, pl.col("verdict").is_in(["open", "few"])
    legend, shown = data["row"].n_unique() < len(data), data["model"].to_list()
    colour = series.colour(legend=legend, shown=shown)
    shape = series.shape(legend=legend, shown=shown)
    # nothing is no more than it
    signed = alt.Axis(
        format="+%" if how.metric is None else "+",
        labelExpr="datum.value === 0 ? '0' : datum.label",
        tickCount=look.width // 90,
    )
    low = alt.X(
        "low:Q", title=_difference_title(how, look), axis=signed, scale=alt.Scale(zero=True)
    )
    rule = base.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q", color=colour)
    ground = "white" if look.theme is None else look.colours.background
    filled = _rows(data.filter(~is_open), series, how, data)
    hollow = _rows(data.filter(is_open), series, how, data)
    dots = filled.mark_point(filled=True, size=80, opacity=1)
    rings = hollow.mark_point(fill=ground, size=60, strokeWidth=2, opacity=1)
    points = [one.encode(x="difference:Q", color=colour, shape=shape) for one in (dots, rings)]
    return [rule, *points]


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
    data: pl.DataFrame, series: Series, x: Metric[...], y: Metric[...], level: str
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
    names = _names(data, series, across, up) if is_named else []
    of_front = drawn(data.filter("best").sort("x"))
    front = of_front.mark_line(color=look.colours.quiet, strokeDash=[4, 3], strokeWidth=1.5).encode(
        x=across, y=up, order="x:Q"
    )
    layers = [front, wide, tall, dots, *names]
    chart = layered(data, *layers, height=HEIGHT)
    told = f"Crosses: intervals at {level}. {_front(data)}"
    return finished(chart, look, f"{y} against {x}", told, empty=is_bare(data, "x", "y"))


def _front(data: pl.DataFrame) -> str:
    """Return what is to be said of the Pareto front, which takes two models to be drawn."""
    best = data.filter("best")["model"].to_list()
    if len(best) > 1:
        return "Dashed: the Pareto front, models that no other beats in both."
    return f"No other model beats {best[0]} in either." if best and len(data) > 1 else ""


def _names(data: pl.DataFrame, series: Series, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return the names of the models beside their points: inside of the view, and away from a point near by."""
    look = series.look
    ground = "white" if look.theme is None else look.colours.background
    layers, every = [], placed(data)
    for align, below in every.select("align", "below").unique(maintain_order=True).rows():
        rows = every.filter(align=align, below=below)
        away = 9 if align == "left" else -9
        text = drawn(rows).encode(x=x, y=y, text="model:N")
        of = {"align": align, "dx": away, "dy": 13 if below else -9, "fontSize": 12}
        # on its ground, which keeps what lies below from crossing letters out
        layers += [
            text.mark_text(stroke=ground, strokeWidth=4, strokeJoin="round", color=ground, **of),
            text.mark_text(**of).encode(color=series.colour(legend=False)),
        ]
    return layers


def placed(data: pl.DataFrame) -> pl.DataFrame:
    """Return models with where their names stand: to the right of a point on the left, and below one that has another above."""
    known = data.filter(pl.col("x").is_not_null() & pl.col("y").is_not_null())
    x, y = pl.col("x"), pl.col("y")
    across, up = ((one - one.min()) / (one.max() - one.min()).replace(0.0, 1.0) for one in (x, y))
    places = known.select("model", across=across, up=up)
    pairs = places.join(places, how="cross", suffix="_other")
    near = (pl.col("across_other") - pl.col("across")).abs() < NEAR
    above = (pl.col("up_other") - pl.col("up")).is_between(0, NEAR)
    crowded = pairs.filter(near & above & (pl.col("model") != pl.col("model_other")))
    return known.with_columns(
        align=pl.when(across <= 0.5).then(pl.lit("left")).otherwise(pl.lit("right")),  # noqa: PLR2004  the middle
        below=pl.col("model").is_in(crowded["model"].unique().implode()),
    )


def _values(axis: str, metric: Metric[...]) -> list[alt.Tooltip]:
    kind = number_format(metric)
    ends = {f"{axis}:Q": spoken(str(metric)), f"{axis}_low:Q": "low", f"{axis}_high:Q": "high"}
    return [alt.Tooltip(field, title=title, format=kind) for field, title in ends.items()]


def overlap(data: pl.DataFrame, series: Series, metric: Metric[...]) -> alt.LayerChart:
    """Return how far the lists of each two models agree: model, other, value, n."""
    look, data, n = series.look, safe(data), max(len(series.names), 1)
    longest = min(max(map(len, series.names), default=1), LONGEST)
    cell = min(inner_width(look, longest * LETTER + 60) / n, WIDEST_CELL)
    base = _pairs(data, series, metric)
    colours = look.colours
    scale = alt.Scale(domain=list(metric.range), range=list(colours.heat))
    legend = alt.Legend(title=str(metric), orient="top", titleLimit=look.width)
    cells = base.mark_rect(stroke=colours.background, strokeWidth=1)
    cells = cells.encode(color=alt.Color("value:Q", scale=scale, legend=legend))
    ink = alt.condition(alt.datum.value > TURNS, alt.value(colours.on_heat), alt.value(colours.ink))
    written = base.mark_text(fontSize=min(12, max(cell / 3.2, 7)))
    written = written.encode(text=alt.Text("value:Q", format=".2f"), color=ink)
    layers = [cells, written] if cell >= LEAST_WRITTEN else [cells]
    chart = layered(data, *layers, height=max(cell, 22) * n)
    told = "The mean over the users of how far a model's list agrees with the other model's."
    return finished(chart, look, f"Overlap of the lists: {metric}", told, empty=data.is_empty())


def _pairs(data: pl.DataFrame, series: Series, metric: Metric[...]) -> alt.Chart:
    across = alt.Axis(labelAngle=-40, tickSize=0)
    pairs: alt.Chart = drawn(data).encode(
        x=alt.X("other:N", sort=series.names, title="held against", axis=across),
        y=alt.Y("model:N", sort=series.names, title="lists of", axis=alt.Axis(tickSize=0)),
        tooltip=[
            alt.Tooltip("model:N", title="lists of"),
            alt.Tooltip("other:N", title="held against"),
            alt.Tooltip("value:Q", title=spoken(str(metric)), format=number_format(metric)),
            alt.Tooltip("n:Q", title="lists", format=",d"),
        ],
    )
    return pairs
