"""Charts over cut-offs and ranks: metric curves, precision-recall, hits, gains."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from recframe.charts.long_format import noun_of, users_of
from recframe.charts.model_charts import largest, told_of
from recframe.charts.style import (
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
    safe,
    spoken,
    tooltips,
)
from recframe.metrics.language.definition import Metric

HEIGHT, VIEW = 280, 150
"""Height in pixels of a chart with one view, and of each of several."""
LEAST_VIEW, BETWEEN = 200, 60
"""Least width in pixels of each of several views, and the space for the axis between them."""
MOST_VIEWS = 12
MOST_POINTS = 30
"""Most points on a line that are all visible; of more, only those at ticks are."""
MOST_TICKS, STEPS = 10, 8
"""Places that are all named on an axis, and the steps of more."""
K_AXIS = "cut-off k (places of the list that count)"


@dataclass(frozen=True)
class Lines:
    """A line for each model over the cut-off, or over ranks or recall, in the columns of the data and in words."""

    data: pl.DataFrame
    series: Series
    x: str
    y: str
    x_title: str
    y_title: list[str]
    x_told: tuple[str, str] = ("k", "d")
    """The title and the format in a tooltip."""
    y_told: tuple[str, str] = ("value", ".4f")
    more_told: Fields = field(default_factory=dict)
    ordered_by: str = "k"
    x_zero: bool = False
    padding: float = 0
    """Padding at the ends of x, in pixels."""

    @property
    def base(self) -> alt.Chart:
        """The axes and the tooltips."""
        axis: dict[str, Any] = {"grid": False}
        scale: dict[str, Any] = {"domain": [0, 1]}
        if len(self.data):
            scale = {"zero": self.x_zero, "nice": self.x_zero, "padding": self.padding}
            if self.x_told[1] == "d":
                values = ticks(self.data[self.x])
                # NOTE: where there are more values than the theme's tickCount, Vega leaves some of them out
                axis |= {"values": values, "tickCount": len(values), "labelOverlap": "greedy"}
        told = {f"{self.x}:Q": self.x_told, f"{self.y}:Q": self.y_told, **self.more_told}
        is_share = self.y_told[1].endswith("%")
        base: alt.Chart = drawn(self.data).encode(
            x=alt.X(
                f"{self.x}:Q",
                title=lines(self.x_title, self.series.look.width - SIDES),
                axis=axis,
                scale=scale,
            ),
            y=alt.Y(
                f"{self.y}:Q",
                title=self.y_title,
                axis={"format": "%"} if is_share else {},
                scale={"zero": True},
            ),
            tooltip=tooltips(self.series.told({**told, "n_users:Q": ("users", ",d")})),
        )
        return base

    @property
    def lines(self) -> list[alt.Chart]:
        """Lines, and points to point at: all of them are seen where they are few, and else those at the ticks."""
        series, places = self.series, self.data[self.ordered_by]
        # NOTE: a value of a channel is named as such: Altair takes milliseconds to find out what `alt.value` is one of
        opacity: Any = alt.OpacityValue(1)
        if places.n_unique() > MOST_POINTS:
            seen = alt.FieldOneOfPredicate(field=self.ordered_by, oneOf=ticks(places))
            opacity = alt.condition(seen, alt.value(1), alt.value(0))
        order = alt.Order(f"{self.ordered_by}:Q")
        line = self.base.mark_line(strokeWidth=2).encode(
            color=series.colour(), strokeDash=series.dash(), order=order
        )
        points = self.base.mark_point(filled=True, size=38).encode(
            color=series.colour(),
            shape=series.shape(),
            strokeDash=alt.StrokeDashValue([]),
            opacity=opacity,
        )
        return [line, points]

    def with_bands(self, *below: alt.Chart) -> alt.LayerChart:
        """Return lines with the bands of their intervals, and other marks below."""
        kind = self.y_told[1]
        ends = {"low:Q": ("low", kind), "high:Q": ("high", kind)}
        told = replace(self, more_told={**self.more_told, **ends})
        # an area of one point has no width
        alone = self.data[self.x].n_unique() == 1
        seen = told.base.mark_rule(strokeWidth=2) if alone else told.base.mark_area(opacity=0.16)
        low = alt.Y("low:Q", title=self.y_title)
        band = seen.encode(y=low, y2="high:Q", color=self.series.colour())
        chart = layered(self.data, band, *told.lines, height=HEIGHT)
        return layered(self.data, *below, chart, height=HEIGHT) if below else chart

    def finished(self, chart: alt.LayerChart, title: str, told: str) -> alt.LayerChart:
        """Return a chart with its title and its subtitle."""
        empty = is_bare(self.data, self.y)
        return finished(chart, self.series.look, title, told, empty=empty)


def _over_cutoffs(
    data: pl.DataFrame, series: Series, metric: Metric[...], y_title: list[str]
) -> Lines:
    told = spoken(str(metric)), number_format(metric)
    return Lines(data, series, "k", "value", K_AXIS, y_title, y_told=told)


def curve(data: pl.DataFrame, series: Series, metric: Metric[...], level: str) -> alt.LayerChart:
    """Return a metric over k: model, k, value, low, high, n_users."""
    y_title = axis_title(metric, series.look, length=HEIGHT)
    over = _over_cutoffs(safe(data), series, metric, y_title)
    told = f"Mean over {users_of(data, noun=noun_of(metric))}; band: interval at {level}."
    return over.finished(over.with_bands(), f"{metric} over the cut-off k", told)


def curves(
    data: pl.DataFrame, series: Series, metric: Metric[...], by: str, level: str
) -> alt.FacetChart:
    """Return the same in a view for each segment: segment, place, model, k, value, low, high, n_users."""
    look, n = series.look, data["place"].n_unique()
    data = safe(largest(data, MOST_VIEWS))
    columns = max(min(look.width // LEAST_VIEW, n), 1)
    names = data.sort("place")["label"].unique(maintain_order=True).to_list()
    over = _over_cutoffs(data, series, metric, lines(str(metric), VIEW))
    over = replace(over, x_title="cut-off k", more_told={"segment:N": spoken(by)})
    width = inner_width(look, BETWEEN * columns) // columns
    view = over.with_bands().properties(width=width, height=VIEW)
    header = alt.Header(title=None, labelLimit=look.width // columns, labelAnchor="start")
    chart = view.facet(alt.Facet("label:N", sort=names, header=header), columns=columns)
    told = f"In brackets: users; band: interval at {level}.{told_of(n, MOST_VIEWS)}"
    title = f"{metric} over the cut-off k, by {by}"
    return finished(chart, look, title, told, empty=is_bare(data, "value"))


def interpolated_precision(data: pl.DataFrame, series: Series, level: str) -> alt.LayerChart:
    """Return interpolated precision over recall: model, recall, value, low, high, n_users."""
    over = Lines(
        safe(data),
        series,
        *("recall", "value", "recall (share of the relevant items found)"),
        lines("interpolated precision (0 to 1)", HEIGHT),
        ("recall", ".1f"),
        ("interpolated precision", ".4f"),
        x_zero=True,
        ordered_by="recall",
    )
    told = (
        "The highest precision at any rank where so much is found, at 11 points of recall; "
        f"mean over {users_of(data)}; band: interval at {level}."
    )
    return over.finished(over.with_bands(), "Interpolated precision over recall", told)


def precision_recall(data: pl.DataFrame, series: Series) -> alt.LayerChart:
    """Return precision@k over recall@k: model, k, recall, precision, n_users."""
    over = Lines(
        safe(data),
        series,
        *("recall", "precision", "recall@k (0 to 1, higher is better)"),
        lines("precision@k (0 to 1, higher is better)", HEIGHT),
        ("recall@k", ".4f"),
        ("precision@k", ".4f"),
        {"k:Q": ("k", "d")},
        x_zero=True,
    )
    along = ", ".join(map(str, ticks(data["k"])))
    told = f"Along each line k = {along}; mean over {users_of(data)}."
    chart = layered(over.data, *over.lines, height=HEIGHT)
    return over.finished(chart, "Precision over recall, by cut-off", told)


def hits_by_rank(data: pl.DataFrame, series: Series) -> alt.LayerChart:
    """Return how many lists have a hit at each rank: model, rank, value, n_users."""
    room = (series.look.width - SIDES) / max(data["rank"].n_unique(), 1)
    size = max(int(room * 0.7), 1)
    over = Lines(
        safe(data),
        series,
        *("rank", "value", "rank (1 is the first place)"),
        lines("share of lists with a hit at the rank (%)", HEIGHT),
        ("rank", "d"),
        ("lists with a hit here", ".2%"),
        ordered_by="rank",
        padding=0 if series.named else size / 2 + 3,
    )
    bars = over.base.mark_bar(size=size).encode(color=series.colour(legend=False))
    layers = over.lines if series.named else [bars]
    told = f"Of {users_of(data)}; the shares up to k add up to n_hits@k."
    return over.finished(layered(over.data, *layers, height=HEIGHT), "Hits by rank", told)


def gains(data: pl.DataFrame, series: Series, level: str) -> alt.LayerChart:
    """Return the gain of hits that adds up over k, beside the best one: model, k, value, low, high, best, n_users."""
    y_title = lines("gain of the hits up to k (sum of relevance)", HEIGHT)
    kind = ",.4~f"
    over = Lines(safe(data), series, "k", "value", K_AXIS, y_title, y_told=("gain", kind))
    best = over.data.filter(pl.col("best").is_not_null())
    best = drawn(best.unique("k", keep="first", maintain_order=True)).mark_line(
        color=series.look.colours.quiet, strokeDash=[3, 3], strokeWidth=1.5
    )
    tooltip = tooltips({"k:Q": ("k", "d"), "best:Q": ("best possible gain", kind)})
    ideal = best.encode(x="k:Q", y="best:Q", tooltip=tooltip)
    told = f"Mean over {users_of(data)}; grey dashes: the best possible order; band: interval at {level}."
    return over.finished(over.with_bands(ideal), "Cumulative gain over the cut-off k", told)


def ticks(places: pl.Series) -> list[int]:
    """Return the ticks of an axis: all places if they are few, else the first and those of a round step."""
    every: list[int] = places.unique().sort().to_list()
    if len(every) <= MOST_TICKS:
        return every
    first, last = every[0], every[-1]
    decades = (factor * 10**power for power in range(len(str(last))) for factor in (1, 2, 5))
    step = next((one for one in decades if last - first <= STEPS * one), last)
    round_ones = range(step, last + 1, step)
    return [first, *(one for one in round_ones if one - first >= step / 2)]
