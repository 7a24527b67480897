"""Charts of users' values and of scores: how they are spread, in bins that were counted before."""

from __future__ import annotations

import polars as pl

from recframe.look.style import (
    LETTER,
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
from recframe.look.themes import DASHES, GROUPS
from recframe.metrics.language.definition import Metric

HEIGHT = 220
ROW = 20
"""The height of a model's row of zeros, in pixels."""
PANEL = 120
NARROW_SIDE = 90


def distribution(
    data: pl.DataFrame, zeros: pl.DataFrame, series: Series, metric: Metric[...], users: str
) -> alt.VConcatChart:
    """Return users' values in bins: model, low, high, share, n; and the zeros: model, share, n."""
    width = inner_width(series.look, _left(series))
    at_zero = _zeros(safe(zeros), series, metric, width)
    chart = alt.vconcat(at_zero, _others(safe(data), series, metric, width), spacing=14)
    told = (
        f"Values of {users}: zeros above, all others below, each bin up to and with its upper end."
    )
    title = f"Distribution of {metric} over users"
    return finished(chart, series.look, title, told, empty=zeros.is_empty())


def _counts() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("share:Q", title="share of users", format=".2%"),
        alt.Tooltip("n:Q", title="users", format=",d"),
    ]


def _zeros(zeros: pl.DataFrame, series: Series, metric: Metric[...], width: int) -> alt.Chart:
    """Return the users whose value is 0, a bar for each model."""
    share = alt.X(
        "share:Q",
        title=lines(f"users with {metric} = 0 (%)", width),
        axis=alt.Axis(format="%"),
        scale=alt.Scale(domain=[0, 1]),
    )
    bars = drawn(zeros).mark_bar(height={"band": 0.7})
    bars = bars.encode(
        x=share,
        color=series.colour(legend=False),
        tooltip=series.tooltips(*_counts()),
    ).properties(width=width, height=max(len(series.names), 1) * ROW)
    model = alt.Y("model:N", sort=series.names, title=None, axis=alt.Axis(tickSize=0))
    found: alt.Chart = bars.encode(y=model) if series.named else bars
    return found


def _others(data: pl.DataFrame, series: Series, metric: Metric[...], width: int) -> alt.LayerChart:
    """Return the other users: bars of one model, steps of several."""
    kind = number_format(metric)
    ends = {"low:Q": "above", "high:Q": "up to"}
    base = drawn(data).encode(
        x=alt.X(
            "low:Q",
            title=axis_title(metric, series.look, length=width),
            axis=alt.Axis(grid=False),
            scale=alt.Scale(zero=False, nice=False),
            bin=alt.Undefined if series.named else "binned",
        ),
        y=alt.Y("share:Q", title="share of users (%)", axis=alt.Axis(format="%")),
        color=series.colour(legend=False),
        tooltip=series.tooltips(
            *(alt.Tooltip(field, title=title, format=kind) for field, title in ends.items()),
            *_counts(),
        ),
    )
    bars = base.mark_bar(binSpacing=1).encode(x2="high:Q")
    steps = base.mark_line(interpolate="step-after", strokeWidth=2).encode(
        strokeDash=series.dash(legend=False), order="low:Q"
    )
    marks = steps if series.named else bars
    return layered(data, marks, height=HEIGHT).properties(width=width)


def scores(data: pl.DataFrame, series: Series) -> alt.VConcatChart:
    """Return scores in bins, by what is known of the item: model, group, low, high, share, n."""
    data, width = safe(data), inner_width(series.look)
    panels = [
        _scores_of(data, name, series, legend=place == 0) for place, name in enumerate(series.names)
    ]
    empty = drawn(data).mark_point().properties(width=width, height=PANEL)
    chart = alt.vconcat(*(panels or [empty]), data=data, spacing=14)
    told = "Each group's rows add up to 100%; scores of two models have no common scale."
    return finished(chart, series.look, "Scores by relevance", told, empty=data.is_empty())


def _scores_of(data: pl.DataFrame, name: str, series: Series, *, legend: bool) -> alt.Chart:
    """Return the scores of one model."""
    width = inner_width(series.look)
    colour, dash = _groups(series, width, legend=legend)
    title = f"score of {name}" if series.named else "score"
    low = alt.X(
        "low:Q",
        title=lines(f"{title} (its own unit)", width),
        scale=alt.Scale(zero=False, nice=False),
        axis=alt.Axis(grid=False),
    )
    share = alt.Y("share:Q", title=["share of the", "group's rows (%)"], axis=alt.Axis(format="%"))
    steps = drawn(data).transform_filter(alt.FieldEqualPredicate(field="model", equal=name))
    steps = steps.mark_line(interpolate="step-after", strokeWidth=2)
    panel: alt.Chart = steps.encode(
        x=low,
        y=share,
        color=colour,
        strokeDash=dash,
        order="low:Q",
        tooltip=series.tooltips(
            alt.Tooltip("group:N", title="items"),
            alt.Tooltip("low:Q", title="from score", format=",.4~g"),
            alt.Tooltip("high:Q", title="to score", format=",.4~g"),
            alt.Tooltip("share:Q", title="share of the group", format=".2%"),
            alt.Tooltip("n:Q", title="rows", format=",d"),
        ),
    )
    return panel.properties(width=width, height=PANEL)


def _groups(series: Series, width: int, *, legend: bool) -> tuple[alt.Color, alt.StrokeDash]:
    """Return the encodings of what is known of an item."""
    of = series.look.colours
    colours = alt.Scale(domain=list(GROUPS), range=[*of.models[:2], of.quiet])
    dashes = alt.Scale(domain=list(GROUPS), range=list(DASHES[:3]))
    shown = alt.Legend(title=None, orient="top", columns=2, labelLimit=width) if legend else None
    return (
        alt.Color("group:N", scale=colours, legend=shown),
        alt.StrokeDash("group:N", scale=dashes, legend=shown),
    )


def _left(series: Series) -> float:
    """Return the width of what stands left of the marks, where models are named there."""
    if not series.named:
        return 100
    longest = max(map(len, series.names), default=0) * LETTER
    return min(longest, max(series.look.width // 3, NARROW_SIDE)) + 50
