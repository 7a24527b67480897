"""Charts over cut-offs and ranks: a metric over k, precision over recall, hits by rank, gains that add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from recframe.look.of_segments import largest, told_of
from recframe.look.style import (
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
from recframe.metrics.language.definition import Metric

HEIGHT, VIEW = 280, 150
"""Of a chart of one view, and of each of several."""
LEAST_VIEW, BETWEEN = 200, 60
"""The width of each of several views, and what stands between them: the axis on its left."""
MOST_VIEWS = 12
MOST_POINTS = 30
"""Of more points on a line some are seen."""
MOST_TICKS, STEPS = 10, 8
"""So many places are all named on an axis, and of more so many steps."""
K_AXIS = "cut-off k (places of the list that count)"


@dataclass(frozen=True)
class Axes:
    """What stands along x and y, in the columns of the data and in words."""

    x: str
    y: str
    x_title: str
    y_title: list[str]
    x_format: str = "d"
    y_format: str = ".4f"
    x_label: str = "k"
    y_label: str = "value"
    x_zero: bool = False
    ordered_by: str = "k"
    padding: float = 0
    """Of what is drawn at the ends of x, in pixels."""


def curve(
    data: pl.DataFrame, series: Series, metric: Metric[...], users: str, level: str
) -> alt.LayerChart:
    """Return a metric over k: model, k, value, low, high, n_users."""
    data = safe(data)
    chart = _with_bands(
        data, series, _over_cutoffs(metric, axis_title(metric, series.look, length=HEIGHT))
    )
    told = f"Mean over {users}; band: interval at {level}."
    title = f"{metric} over the cut-off k"
    return finished(chart, series.look, title, told, empty=is_bare(data, "value"))


def curves(
    data: pl.DataFrame, series: Series, metric: Metric[...], by: str, level: str
) -> alt.FacetChart:
    """Return the same in a view for each segment: segment, place, model, k, value, low, high, n_users."""
    look, n = series.look, data["place"].n_unique()
    data = safe(largest(data, MOST_VIEWS))
    columns = max(min(look.width // LEAST_VIEW, n), 1)
    names = data.sort("place")["label"].unique(maintain_order=True).to_list()
    axes = replace(_over_cutoffs(metric, lines(str(metric), VIEW)), x_title="cut-off k")
    told = alt.Tooltip("segment:N", title=spoken(by))
    view = _with_bands(data, series, axes, told).properties(
        width=inner_width(look, BETWEEN * columns) // columns, height=VIEW
    )
    header = alt.Header(title=None, labelLimit=look.width // columns, labelAnchor="start")
    chart = view.facet(alt.Facet("label:N", sort=names, header=header), columns=columns)
    words = [
        f"In brackets: users; band: interval at {level}.",
        told_of(n, MOST_VIEWS),
    ]
    title = f"{metric} over the cut-off k, by {by}"
    subtitle = " ".join(filter(None, words))
    return finished(chart, look, title, subtitle, empty=is_bare(data, "value"))


def _over_cutoffs(metric: Metric[...], y_title: list[str]) -> Axes:
    kind, label = number_format(metric), spoken(str(metric))
    return Axes("k", "value", K_AXIS, y_title, y_format=kind, y_label=label)


def interpolated_precision(
    data: pl.DataFrame, series: Series, users: str, level: str
) -> alt.LayerChart:
    """Return interpolated precision over recall: model, recall, value, low, high, n_users."""
    data = safe(data)
    axes = Axes(
        *("recall", "value", "recall (share of the relevant items found)"),
        lines("interpolated precision (0 to 1)", HEIGHT),
        *(".1f", ".4f", "recall", "interpolated precision"),
        x_zero=True,
        ordered_by="recall",
    )
    told = (
        "The highest precision at any rank where so much is found, at 11 points of recall; "
        f"mean over {users}; band: interval at {level}."
    )
    chart = _with_bands(data, series, axes)
    return finished(
        chart, series.look, "Interpolated precision over recall", told, empty=is_bare(data, "value")
    )


def precision_recall(data: pl.DataFrame, series: Series, users: str) -> alt.LayerChart:
    """Return precision@k over recall@k: model, k, recall, precision, n_users."""
    axes = Axes(
        *("recall", "precision", "recall@k (0 to 1, higher is better)"),
        lines("precision@k (0 to 1, higher is better)", HEIGHT),
        *(".4f", ".4f", "recall@k", "precision@k"),
        x_zero=True,
    )
    data = safe(data)
    along = ", ".join(map(str, ticks(data["k"])))
    told = f"Along each line k = {along}; mean over {users}."
    base = _base(data, series, axes, alt.Tooltip("k:Q", title="k", format="d"))
    lines_of = _line(base, series, axes)
    chart = layered(data, lines_of, _points(base, series, axes, data), height=HEIGHT)
    return finished(
        chart,
        series.look,
        "Precision over recall, by cut-off",
        told,
        empty=is_bare(data, "precision"),
    )


def hits_by_rank(data: pl.DataFrame, series: Series, users: str) -> alt.LayerChart:
    """Return how many lists have a hit at each rank: model, rank, value, n_users."""
    data = safe(data)
    axes = Axes(
        *("rank", "value", "rank (1 is the first place)"),
        lines("share of lists with a hit at the rank (%)", HEIGHT),
        *("d", ".2%", "rank", "lists with a hit here"),
        ordered_by="rank",
    )
    size = _bar(series, data["rank"].n_unique())
    base = _base(data, series, axes if series.named else replace(axes, padding=size / 2 + 3))
    bars = base.mark_bar(size=size).encode(color=series.colour(legend=False))
    layers = [_line(base, series, axes), _points(base, series, axes, data)]
    chart = layered(data, *(layers if series.named else [bars]), height=HEIGHT)
    told = f"Of {users}; the shares up to k add up to n_hits@k."
    return finished(chart, series.look, "Hits by rank", told, empty=is_bare(data, "value"))


def gains(data: pl.DataFrame, series: Series, users: str, level: str) -> alt.LayerChart:
    """Return the gain of hits that adds up over k, beside the best one: model, k, value, low, high, best, n_users."""
    look, data = series.look, safe(data)
    axes = Axes(
        *("k", "value", K_AXIS),
        lines("gain of the hits up to k (sum of relevance)", HEIGHT),
        y_format=",.4~f",
        y_label="gain",
    )
    found = _with_bands(data, series, axes)
    best = data.filter(pl.col("best").is_not_null()).unique("k", keep="first", maintain_order=True)
    ideal = (
        drawn(best)
        .mark_line(color=look.colours.quiet, strokeDash=[3, 3], strokeWidth=1.5)
        .encode(
            x=alt.X("k:Q"),
            y=alt.Y("best:Q"),
            tooltip=[
                alt.Tooltip("k:Q", title="k", format="d"),
                alt.Tooltip("best:Q", title="best possible gain", format=",.4~f"),
            ],
        )
    )
    told = f"Mean over {users}; grey dashes: the best possible order; band: interval at {level}."
    chart = layered(data, ideal, found, height=HEIGHT)
    return finished(
        chart, look, "Cumulative gain over the cut-off k", told, empty=is_bare(data, "value")
    )


def _with_bands(
    data: pl.DataFrame, series: Series, axes: Axes, *told: alt.Tooltip
) -> alt.LayerChart:
    """Return lines with points to point at, and the bands of their intervals."""
    low, high = (
        alt.Tooltip(f"{end}:Q", title=end, format=axes.y_format) for end in ("low", "high")
    )
    base = _base(data, series, axes, *told, low, high)
    # an area of one point has no width
    alone = data[axes.x].n_unique() == 1
    seen = base.mark_rule(strokeWidth=2) if alone else base.mark_area(opacity=0.16)
    band = seen.encode(y=alt.Y("low:Q", title=axes.y_title), y2="high:Q", color=series.colour())
    line, points = _line(base, series, axes), _points(base, series, axes, data)
    return layered(data, band, line, points, height=HEIGHT)


def _base(data: pl.DataFrame, series: Series, axes: Axes, *told: alt.Tooltip) -> alt.Chart:
    whole: dict[str, Any] = {}
    if axes.x_format == "d" and len(data):
        named = ticks(data[axes.x])
        # NOTE: where there are more values than the theme's tickCount, Vega leaves some of them out
        whole = {"values": named, "tickCount": len(named), "labelOverlap": "greedy"}
    kind = "%" if axes.y_format.endswith("%") else ""
    base: alt.Chart = drawn(data).encode(
        x=alt.X(
            f"{axes.x}:Q",
            title=lines(axes.x_title, series.look.width - 110),
            axis=alt.Axis(**whole, grid=False),
            scale=_across(data, axes),
        ),
        y=alt.Y(
            f"{axes.y}:Q",
            title=axes.y_title,
            axis=alt.Axis(format=kind) if kind else alt.Axis(),
            scale=alt.Scale(zero=True),
        ),
        tooltip=series.tooltips(
            alt.Tooltip(f"{axes.x}:Q", title=axes.x_label, format=axes.x_format),
            alt.Tooltip(f"{axes.y}:Q", title=axes.y_label, format=axes.y_format),
            *told,
            alt.Tooltip("n_users:Q", title="users", format=",d"),
        ),
    )
    return base


def ticks(places: pl.Series) -> list[int]:
    """Return the places that an axis names: all of them where they are few, or the first one and those of a round step."""
    every: list[int] = places.unique().sort().to_list()
    if len(every) <= MOST_TICKS:
        return every
    first, last = every[0], every[-1]
    decades = (factor * 10**power for power in range(len(str(last))) for factor in (1, 2, 5))
    step = next((one for one in decades if last - first <= STEPS * one), last)
    round_ones = range(step, last + 1, step)
    return [first, *(one for one in round_ones if one - first >= step / 2)]


def _across(data: pl.DataFrame, axes: Axes) -> alt.Scale:
    """Return the scale of x, which without data needs ends to be drawn between."""
    if data.is_empty():
        return alt.Scale(domain=[0, 1])
    return alt.Scale(zero=axes.x_zero, nice=axes.x_zero, padding=axes.padding)


def _line(base: alt.Chart, series: Series, axes: Axes) -> alt.Chart:
    line: alt.Chart = base.mark_line(strokeWidth=2).encode(
        color=series.colour(), strokeDash=series.dash(), order=alt.Order(f"{axes.ordered_by}:Q")
    )
    return line


def _points(base: alt.Chart, series: Series, axes: Axes, data: pl.DataFrame) -> alt.Chart:
    """Return points to point at: all of them are seen where they are few, and else those at the ticks."""
    places = data[axes.ordered_by]
    # NOTE: a value of a channel is named as such: Altair takes milliseconds to find out what `alt.value` is one of
    opacity: Any = alt.OpacityValue(1)
    if places.n_unique() > MOST_POINTS:
        seen = alt.FieldOneOfPredicate(field=axes.ordered_by, oneOf=ticks(places))
        opacity = alt.condition(seen, alt.value(1), alt.value(0))
    points: alt.Chart = base.mark_point(filled=True, size=38).encode(
        color=series.colour(),
        shape=series.shape(),
        strokeDash=alt.StrokeDashValue([]),
        opacity=opacity,
    )
    return points


def _bar(series: Series, n: int) -> int:
    return max(int((series.look.width - 110) / max(n, 1) * 0.7), 1)
