"""Charts of what lists are made of: users' values, scores by relevance, and how evenly items are shown."""

from __future__ import annotations

import polars as pl

from recframe.look.style import (
    Series,
    alt,
    axis_title,
    drawn,
    finished,
    inner_width,
    layered,
    legend_of,
    lines,
    number_format,
    safe,
)
from recframe.metrics.language.definition import Metric

HEIGHT = 220
ROW = 20
"""The height of a model's row of zeros, in pixels."""
GROUPS = ("relevant", "judged not relevant", "not judged")
TRAIN = "train"


def distribution(
    data: pl.DataFrame, zeros: pl.DataFrame, series: Series, metric: Metric[...], users: str
) -> alt.VConcatChart:
    """Return users' values in bins: model, low, high, share, n; and the zeros: model, share, n."""
    look, kind = series.look, number_format(metric)
    data, zeros = safe(data), safe(zeros)
    width = inner_width(look, _left(series))
    count = [
        alt.Tooltip("share:Q", title="share of users", format=".2%"),
        alt.Tooltip("n:Q", title="users", format=",d"),
    ]
    at_zero = (
        drawn(zeros)
        .mark_bar(height={"band": 0.7})
        .encode(
            x=alt.X(
                "share:Q",
                title=lines(f"users with {metric} = 0 (%)", width),
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            y=alt.Y("model:N", sort=series.names, title=None, axis=alt.Axis(tickSize=0))
            if series.named
            else alt.Y(),
            color=series.colour(legend=False),
            tooltip=series.tooltips(*count),
        )
        .properties(width=width, height=max(len(series.names), 1) * ROW)
    )
    base = drawn(data).encode(
        x=alt.X(
            "low:Q",
            title=axis_title(metric, look, length=width),
            axis=alt.Axis(grid=False),
            scale=alt.Scale(zero=False, nice=False),
            bin="binned",
        ),
        y=alt.Y("share:Q", title="share of users (%)", axis=alt.Axis(format="%")),
        color=series.colour(legend=False),
        tooltip=series.tooltips(
            alt.Tooltip("low:Q", title="above", format=kind),
            alt.Tooltip("high:Q", title="up to", format=kind),
            *count,
        ),
    )
    bars = base.mark_bar(binSpacing=1).encode(x2="high:Q")
    steps = base.mark_line(interpolate="step-after", strokeWidth=2).encode(
        strokeDash=series.dash(legend=False), order="low:Q"
    )
    above = layered(data, steps if series.named else bars, height=HEIGHT).properties(width=width)
    chart = alt.vconcat(at_zero, above, spacing=14)
    told = (
        f"Values of {users}: zeros above, all others below, each bin up to and with its upper end."
    )
    return finished(
        chart, look, f"Distribution of {metric} over users", told, empty=zeros.is_empty()
    )


def exposure(
    curve: pl.DataFrame, tail: pl.DataFrame, series: Series, places: str
) -> alt.VConcatChart:
    """Return the Lorenz curve and the long tail, of lists and of train.

    The curve: model, items, exposure (shares that add up), gini. The tail: model, place, share. Train is a model of its own.
    """
    look, curve, tail = series.look, safe(curve), safe(tail)
    width = inner_width(look)
    colour, dash = _with_train(series, curve)
    whom = alt.Tooltip("model:N", title="lists of, or train")
    even = (
        alt.Chart(pl.DataFrame({"items": [0.0, 1.0], "exposure": [0.0, 1.0]}))
        .mark_line(color=look.colours.grid, strokeWidth=1.5)
        .encode(x="items:Q", y="exposure:Q")
    )
    lorenz = (
        drawn(curve)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(
                "items:Q",
                title=lines("share of the catalogue's items, the least shown first (%)", width),
                axis=alt.Axis(format="%"),
            ),
            y=alt.Y("exposure:Q", title=f"share of all {places} (%)", axis=alt.Axis(format="%")),
            color=colour,
            strokeDash=dash,
            order="items:Q",
            tooltip=[
                whom,
                alt.Tooltip("items:Q", title="share of the items", format=".2%"),
                alt.Tooltip("exposure:Q", title=f"share of the {places}", format=".2%"),
                alt.Tooltip("gini:Q", title="gini (0: all the same)", format=".4f"),
            ],
        )
    )
    long_tail = (
        drawn(tail)
        .mark_line(strokeWidth=2, interpolate="step-before")
        .encode(
            x=alt.X(
                "place:Q",
                title=lines("items from the most shown to the least (place, logarithmic)", width),
                scale=alt.Scale(type="log"),
                axis=alt.Axis(grid=False, format="~s"),
            ),
            y=alt.Y(
                "share:Q",
                title=lines(f"share of {places}, each item (logarithmic)", HEIGHT),
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~p", tickCount=5),
            ),
            color=colour,
            strokeDash=dash,
            order="place:Q",
            tooltip=[
                whom,
                alt.Tooltip("place:Q", title="place of the item", format=",d"),
                alt.Tooltip("share:Q", title="share of an item", format=".4%"),
            ],
        )
    )
    first = layered(curve, even, lorenz, height=HEIGHT).properties(width=width)
    chart = alt.vconcat(first, long_tail.properties(width=width, height=HEIGHT), spacing=18)
    told = "Above: the further below the diagonal, the more goes to few items. Below: how steeply the tail falls."
    return finished(chart, look, "Exposure of the items", told, empty=curve.is_empty())


def _with_train(series: Series, data: pl.DataFrame) -> tuple[alt.Color, alt.StrokeDash]:
    """Return the encodings of models, and of train in the ink of the theme where it is among the data."""
    colour, dash = series.colour(), series.dash()
    if not data["is_train"].any():
        return colour, dash
    names = [*series.names, data.filter("is_train")["model"][0]]
    legend = legend_of(names, series.look)
    colours = [*series.colours, series.look.colours.ink]
    dashes = [*series.dashes, [3, 2]]
    return (
        alt.Color("model:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        alt.StrokeDash("model:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
    )


def scores(data: pl.DataFrame, series: Series) -> alt.VConcatChart:
    """Return scores in bins, by what is known of the item: model, group, low, high, share, n."""
    look, data = series.look, safe(data)
    width = inner_width(look)
    panels = [
        _scores_of(data, name, series, first=place == 0, width=width)
        for place, name in enumerate(series.names)
    ]
    chart = alt.vconcat(*panels, data=data, spacing=14)
    told = "Each group's rows add up to 100%; scores of two models have no common scale."
    return finished(chart, look, "Scores by relevance", told, empty=data.is_empty())


def _scores_of(
    data: pl.DataFrame, name: str, series: Series, *, first: bool, width: int
) -> alt.Chart:
    """Return the scores of one model."""
    colours = series.look.colours
    ranges = {
        GROUPS[0]: (colours.models[0], [1, 0]),
        GROUPS[1]: (colours.models[1], [6, 3]),
        GROUPS[2]: (colours.quiet, [2, 2]),
    }
    legend = alt.Legend(title=None, orient="top", columns=2, labelLimit=width) if first else None
    domain = list(GROUPS)
    colour = alt.Scale(domain=domain, range=[ranges[one][0] for one in domain])
    dash = alt.Scale(domain=domain, range=[ranges[one][1] for one in domain])
    title = f"score of {name}" if series.named else "score"
    panel: alt.Chart = (
        drawn(data)
        .transform_filter(alt.FieldEqualPredicate(field="model", equal=name))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X(
                "low:Q",
                title=lines(f"{title} (its own unit)", width),
                scale=alt.Scale(zero=False, nice=False),
                axis=alt.Axis(grid=False),
            ),
            y=alt.Y(
                "share:Q", title=["share of the", "group's rows (%)"], axis=alt.Axis(format="%")
            ),
            color=alt.Color("group:N", scale=colour, legend=legend),
            strokeDash=alt.StrokeDash("group:N", scale=dash, legend=legend),
            order="low:Q",
            tooltip=series.tooltips(
                alt.Tooltip("group:N", title="items"),
                alt.Tooltip("low:Q", title="from score", format=",.4~g"),
                alt.Tooltip("high:Q", title="to score", format=",.4~g"),
                alt.Tooltip("share:Q", title="share of the group", format=".2%"),
                alt.Tooltip("n:Q", title="rows", format=",d"),
            ),
        )
        .properties(width=width, height=120)
    )
    return panel


def _left(series: Series) -> float:
    """Return the width of what stands left of the marks, where models are named there."""
    if not series.named:
        return 100
    longest = max(map(len, series.names), default=0) * 6.4
    return min(longest, max(series.look.width // 3, 90)) + 50
