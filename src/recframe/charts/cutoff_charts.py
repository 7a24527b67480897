"""Charts over cut-offs and ranks: metric curves, precision-recall, hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from recframe.charts.chart_words import (
    Fields,
    by_value,
    in_words,
    leading,
    said_of,
)
from recframe.charts.long_format import (
    Intervals,
    Summary,
    check_whole,
    evaluated,
    longest_list,
    noun_of,
    summary,
    users_of,
)
from recframe.charts.segment_rows import CUT, ends_of, in_order, largest, segments_shown
from recframe.charts.style import (
    SIDES,
    Canvas,
    Series,
    alt,
    axis_title,
    best_word,
    drawn,
    finished,
    inner_width,
    is_bare,
    layered,
    lines,
    number_format,
    safe,
    series_of,
    spoken,
    tooltips,
)
from recframe.errors import RecframeError
from recframe.metrics import accuracy
from recframe.metrics.language import registry
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Definition, Metric
from recframe.metrics.language.registry import By, Cutoffs
from recframe.statistics import options

HEIGHT, VIEW = 280, 150
"""Height in pixels of a chart with one view, and of each of several."""
LEAST_VIEW, BETWEEN = 200, 60
"""Least width in pixels of each of several views, and the space for the axis between them."""
MOST_VIEWS = 12
MOST_POINTS = 30
"""Most points on a line that are all visible; of more, only its ends are."""
CUTOFFS = range(1, 51)
COUNT = "d"
"""Format of cut-offs and ranks."""


def _hit_at_k(at: At) -> pl.Expr:
    """Return 1 for a hit at rank k alone, expected with ties."""
    here = at.sum(lambda hit: hit.hit.cast(pl.Float64) * (hit.rank > float(at.k or 0) - 1))
    return here.clip(upper_bound=1.0)


HIT_AT = Metric[...](Definition("hit_at", _hit_at_k, range=(0.0, 1.0), linear=True))
"""Metric of the chart of hits by rank."""


class Axis(NamedTuple):
    """A column on an axis: the titles of the axis and of the tooltip's field, and the format of its numbers."""

    column: str
    title: list[str]
    field: str
    format: str


@dataclass(frozen=True)
class Lines:
    """A line for each model over the cut-off, the rank or recall."""

    data: pl.DataFrame
    series: Series
    x: Axis
    y: Axis
    fields: Fields = field(default_factory=dict)
    """More fields of the tooltips."""
    interval: str = ""
    """The title of the intervals in tooltips, where there are some."""
    order: str = "k"
    """The column by which points are joined."""
    mark: int | None = None
    """A cut-off with a rule of its own."""
    ends: Sequence[float] | None = None
    """The ends of the axis of values, where some intervals do not stretch it."""

    @cached_property
    def _told(self) -> tuple[pl.DataFrame, dict[str, Any]]:
        fields: Fields = {f"{one.column}:Q": (one.field, one.format) for one in (self.x, self.y)}
        if self.interval:
            fields = {**fields, "low,high:Q": (self.interval, self.y.format)}
        fields = {**fields, **self.fields, "n_users:Q": ("users", ",d")}
        return in_words(self.series.in_front(self.data), self.series.told(fields))

    @property
    def rows(self) -> pl.DataFrame:
        """The data as it is drawn."""
        return self._told[0]

    @property
    def base(self) -> alt.Chart:
        """The axes and the tooltips."""
        x, y, is_counted = self.x, self.y, self.x.format == COUNT
        axis = {"grid": False, **({"format": COUNT, "tickMinStep": 1} if is_counted else {})}
        scale = {"zero": not is_counted, "nice": not is_counted}
        of_y = {"format": "%"} if y.format.endswith("%") else {}
        up = {"zero": True} if self.ends is None else {"domain": list(self.ends)}
        base: alt.Chart = drawn(self.rows).encode(
            x=alt.X(f"{x.column}:Q", title=x.title, axis=axis, scale=scale),
            y=alt.Y(f"{y.column}:Q", title=y.title, axis=of_y, scale=up),
            tooltip=tooltips(self._told[1]),
        )
        return base

    @property
    def rule(self) -> list[alt.Chart]:
        """The rule at the marked cut-off, with its number."""
        if self.mark is None:
            return []
        colour = self.series.look.colours.quiet
        # once, and of the same data as all layers, which a chart with a view for each segment takes
        base = drawn(self.rows).transform_aggregate(rows="count()")
        base = base.encode(x=alt.XDatum(self.mark))
        text = base.mark_text(align="left", baseline="top", dx=4, color=colour)
        name = alt.TextValue(f"{self.x.column} = {self.mark}")
        return [
            base.mark_rule(color=colour, strokeDash=[2, 3]),
            text.encode(y=alt.value(0), text=name),
        ]

    @property
    def bands(self) -> list[alt.Chart]:
        """The bands of intervals, as far as the axis goes, where models are few."""
        if not self.interval or not self.series.has_bands:
            return []
        base, clip = self.base, bool(self.ends)
        if self.series.others:
            base = base.transform_filter(self.series.is_coloured)
        # an area of one point has no width
        is_alone = self.data[self.x.column].n_unique() == 1
        rule, area = (
            base.mark_rule(strokeWidth=2, clip=clip),
            base.mark_area(opacity=0.16, clip=clip),
        )
        low, high = alt.Y("low:Q", title=self.y.title), alt.Y2("high:Q", title=self.y.title)
        band: alt.Chart = (rule if is_alone else area).encode(
            y=low, y2=high, color=self.series.colour()
        )
        return [band]

    @property
    def layers(self) -> list[alt.Chart]:
        """The rule, bands, lines, and points to point at: all of them are visible where they are few."""
        places = self.data[self.order]
        seen: Any = None
        if places.n_unique() > MOST_POINTS:
            ends: Any = [places.min(), places.max()]
            seen = alt.FieldOneOfPredicate(field=self.order, oneOf=ends)
        line = self.series.line(self.base, order=alt.Order(f"{self.order}:Q"))
        return [*self.rule, *self.bands, line, self.series.points(self.base, 38, seen)]

    def chart(self, title: str, subtitle: str, finding: str = "") -> alt.LayerChart:
        """Return the chart with its title; of many models it says which are in colour."""
        chart = layered(self.rows, *self.layers, height=HEIGHT)
        subtitle += self.series.words
        words: dict[str, Any] = {"finding": finding, "numbers": self.numbers}
        words["empty"] = is_bare(self.data, self.y.column)
        return finished(chart, self.series.look, title, subtitle, **words)

    @property
    def numbers(self) -> list[str]:
        """The values at the marked cut-off, or at the last one or the first rank, for an alternative text."""
        places = self.data[self.order]
        at: Any = places.min() if self.order == "rank" else places.max()
        at = self.mark if self.mark in places else at
        rows = self.data.filter(pl.col(self.order) == at) if at is not None else self.data.clear()
        said = said_of(rows, self.y.column, self.y.format, interval=bool(self.interval))
        return [f"At {self.order} = {at:g}: {said[0]}", *said[1:]] if said else []

    def words_of_bands(self, level: str) -> str:
        """Return the end of a sentence on what is drawn: the level of the intervals, and the marked cut-off."""
        words = f"; band: interval at {level}" if self.series.has_bands else ""
        return words + (f"; dashed: k = {self.mark}." if self.mark else ".")


def _over_cutoffs(metric: str | Metric[...], k: Any) -> list[Metric[...]]:
    """Return a metric at the cut-offs of a curve."""
    plain = registry.asked([metric], None)[0]
    if plain.k is not None:
        name = str(plain).rpartition("@")[0]
        msg = f"curve draws {name!r} over k, and {str(plain)!r} has one: curve({name!r}, k=range(1, 51))"
        raise RecframeError(msg)
    if k is None:
        msg = "curve draws a metric over cut-offs: k=range(1, 51)"
        raise RecframeError(msg)
    return registry.asked([metric], k)


def _up_to(metrics: Sequence[Metric[...]], longest: int | None) -> list[Metric[...]]:
    """Return the metrics whose cut-offs the longest list reaches; at least those with the first cut-off."""
    last = max(longest or 0, min(one.k or 0 for one in metrics))
    return [one for one in metrics if longest is None or (one.k or 0) <= last]


def _in_views(
    over: Lines, found: Summary, metric: Metric[...], title: str, band: str
) -> alt.FacetChart:
    """Return a curve with a view for each segment."""
    series, look = over.series, over.series.look
    lower, n = metric.direction == "lower", over.data["place"].n_unique()
    data = largest(over.data, MOST_VIEWS)
    ends = ends_of(data, zero=True)
    columns = max(min(look.width // LEAST_VIEW, n), 1)
    names = in_order(data, own=found.own_order, lower=lower)["label"].unique(maintain_order=True)
    over = replace(
        over,
        data=data,
        x=over.x._replace(title=["cut-off k"]),
        y=over.y._replace(title=lines(str(metric), VIEW)),
        fields={"segment:N": spoken(found.by)},
        ends=ends,
    )
    width = inner_width(look, BETWEEN * columns) // columns
    view = layered(over.rows, *over.layers, height=VIEW).properties(width=width)
    header = alt.Header(title=None, labelLimit=look.width // columns, labelAnchor="start")
    facet = alt.Facet("label:N", sort=names.to_list(), header=header)
    chart = view.facet(facet, columns=columns)
    more = f"{segments_shown(n, MOST_VIEWS)}{CUT if ends else ''}{series.words}"
    subtitle, title = f"In brackets: users{band}{more}", f"{title}, by {found.by}"
    empty = is_bare(data, "value")
    return finished(chart, look, title, subtitle, numbers=over.numbers, empty=empty)


class PlotsOverCutoffs(Canvas):
    """Charts over cut-offs and ranks."""

    def curve(
        self,
        metric: str | Metric[...],
        *,
        k: Cutoffs = CUTOFFS,
        by: By = None,
        mark: int | None = None,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart | alt.FacetChart:
        """Draw a metric over the cut-off k: a line for each model, and a band for its intervals.

        The numbers are those of `summarize(metric, k=k, by=by)`; without users there is nothing but the axes, and the chart
        says so. By segment there is a view for each, at most twelve: those with the most users.

            metric: without a cut-off of its own. k: the cut-offs; those beyond the longest list are left out.
            mark: a cut-off to point at, such as the k that decides. level, cluster: of the intervals, as in `summarize`.

        Raises what `summarize` raises, and a RecframeError for a metric with an `@`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.curve("recall", k=[1, 2]).data.select("k", "value", "n_users").rows()
        [(1, 0.5, 2), (2, 1.0, 2)]
        """
        rec, look = self._rec, self._look
        how = Intervals(level, cluster)
        mark = None if mark is None else options.whole("mark", mark, 1)
        metrics = _up_to(_over_cutoffs(metric, k), longest_list(rec))
        if mark is not None and mark > max(one.k or 0 for one in metrics):
            mark = None
        found, metric = summary(rec, metrics, how, by), replace(metrics[0], k=None)
        lower, data = metric.direction == "lower", safe(found.data)
        series = series_of(found, data if mark is None else data.filter(k=mark), look, lower=lower)
        title, what = f"{metric} over the cut-off k", f"{best_word(metric)} {metric}"
        cutoffs = lines("cut-off k (places of the list that count)", look.width - SIDES)
        x, of_y = Axis("k", cutoffs, "k", COUNT), axis_title(metric, look, length=HEIGHT)
        y = Axis("value", of_y, spoken(str(metric)), number_format(metric))
        over = Lines(data, series, x, y, {}, how.title, mark=mark)
        band = over.words_of_bands(how.words)
        if not found.by:
            subtitle = f"Mean over {users_of(data, noun=noun_of(metric))}{band}"
            words = what, "at every k", "at {} of {} cut-offs"
            finding = leading(data, "k", *words, lower=lower)
            return over.chart(title, subtitle, finding)
        return _in_views(over, found, metric, title, band)

    def hits_by_rank(
        self,
        *,
        k: int = 20,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw the share of lists with a hit at each rank from 1 to k, or to the end of the longest list, with intervals.

        The share at r is n_hits@r - n_hits@(r - 1), so that the shares add up to n_hits@k; of several hits at one rank in one
        list, one counts. A user without a hit counts 0.

            level, cluster: of the intervals, which are those of `summarize`: Wilson's.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.hits_by_rank(k=3).data.select("rank", "value").rows()
        [(1, 0.5), (2, 0.5)]
        """
        rec, look = self._rec, self._look
        how = Intervals(level, cluster)
        check_whole(rec, "hits_by_rank()")
        ranks = range(1, options.whole("k", k, 1) + 1)
        metrics = _up_to(registry.asked([HIT_AT], ranks), longest_list(rec))
        found = summary(rec, metrics, how)
        data = safe(found.data.rename({"k": "rank"}))
        series = series_of(found, data, look)
        title = lines("rank (1 is the first place)", look.width - SIDES)
        share = lines("share of lists with a hit at the rank (%)", HEIGHT)
        x = Axis("rank", title, "rank", COUNT)
        y = Axis("value", share, "lists with a hit here", ".2%")
        over = Lines(data, series, x, y, {}, how.title, order="rank")
        finding = leading(data, "rank", "most hits", "at every rank", "at {} of {} ranks")
        subtitle = f"Of {users_of(data)}; the shares up to k add up to n_hits@k"
        return over.chart("Hits by rank", subtitle + over.words_of_bands(how.words), finding)

    def precision_recall(self, *, k: Cutoffs = CUTOFFS) -> alt.LayerChart:
        """Draw precision@k over recall@k: a line for each model, with a point for each k.

        The numbers are those of `evaluate("precision", "recall", k=k)`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1]})
        >>> df.rec.plot.precision_recall(k=[1, 2]).data.select("k", "recall", "precision").rows()
        [(1, 0.0, 0.0), (2, 1.0, 0.5)]
        """
        rec, look = self._rec, self._look
        check_whole(rec, "precision_recall()")
        metrics = [accuracy.precision, accuracy.recall]
        at_k = _up_to(registry.asked(metrics, k), longest_list(rec))
        data, models = evaluated(rec, at_k, None)
        on = ["model", "k"]
        precision, recall = (data.filter(pl.col("metric") == str(metric)) for metric in metrics)
        recall = recall.select(*on, recall="value")
        data = precision.rename({"value": "precision"}).join(recall, on=on, maintain_order="left")
        data = safe(data)
        axis, widths = "{} (0 to 1, higher is better)", (look.width - SIDES, HEIGHT)
        x, y = (
            Axis(name, lines(axis.format(f"{name}@k"), width), f"{name}@k", ".4f")
            for name, width in zip(("recall", "precision"), widths, strict=True)
        )
        series = Series(models, look, by_value(data, "precision"))
        over = Lines(data, series, x, y, {"k:Q": ("k", COUNT)})
        ends: list[Any] = [data["k"].min(), data["k"].max()]
        subtitle = (
            f"Along each line k goes from {ends[0]} to {ends[1]}; mean over {users_of(data)}."
        )
        return over.chart("Precision over recall, by cut-off", subtitle)
