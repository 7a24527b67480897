"""Grammar of charts: a canvas of rows and models, forms of marks on it, and the title of what they show.

A chart is rows of a public result, a form and a title. Each row has one sentence, its `words`: they are the tooltip of its mark,
its label in an SVG and, of the rows that matter, the alternative text of the chart.

NOTE: the rows have been aggregated before, under names of our own, so that no name of a user's column, model or segment is ever
read as part of a specification.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from recframe.charts.formatting import counted, listed, written
from recframe.charts.long_format import Result, labelled
from recframe.charts.themes import ALL, FONT, MOST_COLOURED, SHAPES, Look
from recframe.errors import RecframeError, sentence, suggestion
from recframe.metrics.language.definition import Metric

if TYPE_CHECKING:
    import altair as alt
else:

    class _Altair:
        """Altair, which is imported when a chart is drawn."""

        def __getattr__(self, name: str) -> Any:
            try:
                import altair as alt  # noqa: PLC0415  an extra
            except ModuleNotFoundError as missing:
                message = f"charts need {missing.name}, which is not installed; write: pip install 'recframe[plot]'"
                raise RecframeError(message) from None
            return getattr(alt, name)

    alt = _Altair()

Encoding = dict[str, Any]
LETTER = 6.4
"""Average width of a letter, in pixels."""
SIDES, OF_VIEWS = 110, 70
"""Widths left and right of the marks, of one view and of several, in pixels."""
NARROWEST_VIEW = 200
FEW_USERS = 10
"""Users below which an interval is not drawn, since it would stretch the axis."""
MOST_POINTS = 30
"""Most places of a line with visible points."""
MOST_READ = 12
"""Most rows in an alternative text."""
MOST_NAMED = 6
"""Most models with names at their points; more have a legend, since names would overlap."""
SAID = {"tooltip": "words:N", "description": "words:N"}
"""What a mark says of itself."""
ENDS = ("low", "high")


class Field(NamedTuple):
    """A column with what is said of its value, how that is written, the columns of its interval, and its axis."""

    name: str
    title: str = "{}"
    """The braces stand for the value."""
    write: Callable[..., str] = written
    ends: Sequence[str] = ()
    axis: str = ""
    format: str = ""
    """The format of D3 on the axis."""

    def words(self, row: Mapping[str, Any]) -> str:
        """Return the value of a row with its interval, "" where it has none."""
        if row[self.name] is None:
            return ""
        ends = [row[end] for end in self.ends if row[end] is not None]
        text, *interval = (self.write(one, *[ends] * bool(ends)) for one in (row[self.name], *ends))
        return self.title.replace("{}", text + (f" ({' to '.join(interval)})" if interval else ""))

    def along(self, length: float, **scale: Any) -> Encoding:
        """Return the encoding of numbers along an axis."""
        axis: Encoding = {"format": self.format} if self.format else {}
        axis |= {"tickMinStep": 1, "grid": False} if self.format in {"d", "~s"} else {}
        kind = {"field": self.name, "type": "quantitative", "title": lines(self.axis, length)}
        return {**kind, "axis": axis, "scale": {"zero": False, **scale}}


USERS = Field("n_users", "{} users")


def of_metric(metric: Metric[...]) -> Field:
    """Return the field of a metric's values with their intervals; its axis has the range and the better end."""
    low, high = (f"{end:g}" if math.isfinite(end) else "" for end in metric.range)
    ends = f"{low} to {high}" if low and high else f"from {low} up" if low else f"up to {high}" * bool(high)
    told = ", ".join(filter(None, [ends, f"{metric.direction} is better" * bool(metric.direction)]))
    return Field("value", f"{metric} {{}}", ends=ENDS, axis=f"{metric} ({told})" if told else f"{metric}")


class Canvas(NamedTuple):
    """Rows of a chart with a sentence each, and the models by their places, colours and shapes."""

    look: Look
    data: pl.DataFrame
    """Rows under names of charts, `model` among them, and their `words`."""
    value: Field
    models: Sequence[str]
    """All models in their own order, which is that of the colours."""
    ranked: Sequence[str]
    """The same in the order of the legend, the best first."""
    labels: Sequence[str]
    """The segments with their users, the best first."""
    lower: bool = False
    """Whether low values are the better ones."""
    baseline: str = ""
    """A model that has a colour, whatever its value."""
    more: str = ""
    """The sentence on segments that are left out."""

    @property
    def coloured(self) -> list[str]:
        """The models in colour, in the order of the legend: all of few, of many the best two and the baseline."""
        chosen = [*map(safe_text, self.look.highlight)] if self.models != [ALL] else []
        for one in chosen:
            if one not in self.models:
                found = sentence(f"highlight={one!r} is no model", suggestion(one, self.models))
                raise RecframeError(f"{found} There are {listed(self.models)}")
        if not chosen and len(self.models) <= MOST_COLOURED:
            return [*self.ranked]
        return [one for one in self.ranked if one in (chosen or [*self.ranked[:2], self.baseline])]

    @property
    def others(self) -> int:
        """The number of grey models."""
        return len(self.models) - len(self.coloured)

    @property
    def users(self) -> str:
        """The number of users behind the chart, in words."""
        n: Any = self.data["n_users"].max() or 0
        return "up to " * (self.data["n_users"].n_unique() > 1) + counted(n, "user")

    def across(self, field: Field | None = None, **scale: Any) -> Encoding:
        """Return the encoding of the axis across."""
        return (field or self.value).along(self.look.width - SIDES, **scale)

    def up(self, height: float = 280, **scale: Any) -> Encoding:
        """Return the encoding of the axis of values."""
        return self.value.along(height, **scale)

    def channels(self, *names: str, legend: bool = True) -> Encoding:
        """Return the encodings of models by colours, and by shapes, which paper tells apart too."""
        of, shown = self.look.colours, self.coloured
        # NOTE: by the place among all models; of more models than colours, by that among those in colour
        few = len(self.models) <= MOST_COLOURED
        places = [one for one in self.models if few or one in shown]
        drawn = [one for one in shown if one in {*self.data["model"]}]
        above = {"title": None, "orient": "top", "values": drawn, "columns": max(self.look.width // 180, 1)}
        found = {}
        for name in names:
            values, grey = (of.models, of.others) if name == "color" else (SHAPES, SHAPES[0])
            each = (values[places.index(one) % len(values)] if one in shown else grey for one in self.models)
            found[name] = {"field": "model", "type": "nominal", "legend": above if legend and self.models != [ALL] else None}
            found[name]["scale"] = {"domain": [*self.models], "range": [*each]}
        return found

    def base(self, **encodings: Any) -> alt.Chart:
        """Return marks of rows, which are those of the layers, along some axes."""
        drawn: alt.Chart = alt.Chart().encode(**encodings)
        return drawn

    def clear(self, base: alt.Chart) -> alt.Chart:
        """Return marks of the models in colour alone."""
        only: Any = {"field": "model", "oneOf": self.coloured}
        return base.transform_filter(only) if self.others else base

    def points(self, base: alt.Chart, size: float, *, legend: bool = True) -> alt.Chart:
        """Return the marks that say their words; hollow ones where rows are `hollow`."""
        encoded = self.channels("color", "shape", legend=legend)
        fill = {**encoded["color"], "legend": None}
        if "hollow" in self.data.columns:
            fill["condition"] = {"test": "datum.hollow", "value": self.look.ground}
        marks = base.mark_point(size=size, strokeWidth=2, opacity=1)
        drawn: alt.Chart = marks.encode(**encoded, fill=fill, **SAID)
        return drawn

    def layers(self, *layers: alt.Chart) -> alt.LayerChart:
        """Return layers of the rows."""
        drawn: alt.LayerChart = alt.layer(*layers, data=self.data)
        return drawn


class Charts:
    """The frames of charts, and the look that they share."""

    def __init__(self, rec: Any, look: Look = Look()) -> None:  # noqa: B008  it is frozen
        # NOTE: it holds what it is asked of and nothing else, so that rec.plot costs nothing and imports no Altair.
        self._of = rec
        self._look = look

    @property
    def _rec(self) -> Any:
        """The same `rec` without models that are bounds, with answers in frames of Polars."""
        return self._of._candidates()._in_polars()  # noqa: SLF001  the methods of this room are those of a Rec

    def _canvas(self, *given: Any, **options: Any) -> Canvas:
        return canvas(self._look, *given, **options)


def canvas(  # noqa: PLR0913  what is known of rows
    look: Look,
    found: Result,
    value: Field,
    fields: Sequence[Field],
    *,
    at: pl.DataFrame | None = None,
    lower: bool = False,
    baseline: str = "",
    most: int = 30,
) -> Canvas:
    """Return a canvas of the rows that have a value, told by some fields; of many segments, those with the most users.

    Models and segments are in an order of their own, that of an enum, or by the means of a value, the best first; models by
    those of the rows `at` some place. Rows of grey models come first, since they are drawn behind.
    """
    data, n = safe(labelled(found.data.drop_nulls(value.name))), found.data["place"].n_unique()
    sizes = data.group_by("place").agg(pl.col("n_users").max()).sort("n_users", "place")
    data = data.filter(pl.col("place").is_in(sizes["place"].tail(most).to_list()))
    labels = data.sort("place")["label"].unique(maintain_order=True).to_list()
    labels = labels if found.own_order else by_value(data, "label", value.name, lower=lower)
    models = [*map(safe_text, found.models.order)]
    is_own = isinstance(found.models.dtype, pl.Enum) and len(models) <= MOST_COLOURED
    ranking = data.rename({value.name: "value"}, strict=False) if at is None else safe(at)
    ranked = [] if is_own else by_value(ranking, lower=lower)
    ranked += [one for one in models if one not in ranked]
    told = [*[Field("model")] * (models != [ALL]), *[Field("label")] * (labels not in ([], [""])), *fields]
    words = [", ".join(filter(None, (one.words(row) for one in told))) for row in data.to_dicts()]
    data = data.with_columns(words=pl.Series(words, dtype=pl.String))
    if "low" in data.columns and (data["n_users"] >= FEW_USERS).any():
        data = data.with_columns(pl.when(pl.col("n_users") >= FEW_USERS).then(pl.col(ENDS)))
    more = f" {most} of {n:,} segments, those with the most users." * (n > most)
    of = Canvas(look, data, value, models, ranked, labels, lower, baseline, more)
    orders = {"model": ranked, "label": labels}
    places = [pl.col(key).cast(pl.Enum(order)) for key, order in orders.items()]
    in_front = [pl.col("model").is_in(of.coloured)] * bool(of.others)
    return of._replace(data=data.sort(*in_front, *places, maintain_order=True))


def dots(of: Canvas, row: str, order: Sequence[str], *, zero: bool = False, band: bool = False) -> alt.LayerChart:
    """Return dots with their intervals in rows, those of several models one below the other.

    With `zero` the values are differences, and right is better. Behind each row there may be a band, from `beyond` to `within`.
    """
    lanes: Any = of.data[row].value_counts()["count"].max() or 1
    legend, axis = lanes > 1, {"grid": True, "tickSize": 0, "labels": [*order] != [ALL]}
    y = {"field": row, "type": "nominal", "scale": {"domain": [*order]}, "title": None, "axis": axis}
    offset = {"field": "model", "sort": [*of.ranked], "scale": {"paddingOuter": 0.35}}
    base = of.base(y=y, **({"yOffset": offset} if legend else {}))
    x = of.across(zero=zero, reverse=zero and of.lower, padding=6)
    here = {"test": "datum.value === 0", "value": of.look.colours.quiet if zero else of.look.colours.grid}
    x["axis"] |= {"gridColor": {"value": of.look.colours.grid, "condition": here}}
    rule = (of.clear(base) if legend else base).mark_rule(strokeWidth=2)
    rule = rule.encode(x={**x, "field": "low"}, x2="high:Q", **of.channels("color", legend=legend))
    behind = base.mark_bar(opacity=0.8, color=of.look.colours.band)
    behind = behind.encode(x={**x, "field": "beyond"}, x2="within:Q")
    chart = of.layers(*[behind] * band, rule, of.points(base, 60, legend=legend).encode(x=x))
    height = max(len(order), 1) * max(15 * lanes + 10, 26) + 10
    drawn: alt.LayerChart = chart.properties(height=height)
    return drawn


def curves(
    of: Canvas, x: Encoding, y: Encoding, *, band: bool = True, mark: float | None = None, more: Sequence[alt.Chart] = ()
) -> alt.LayerChart:
    """Return a line for each model, with bands where it has intervals, a rule at a marked place, and its points.

    Points are joined in the order of the rows. `more` are layers in front.
    """
    base, quiet = of.base(x=x, y=y), of.look.colours.quiet
    line = base.encode(order={"field": x["field"], "type": x["type"]}, **of.channels("color"))
    rule = of.base(x={"datum": mark}).transform_aggregate(rows="count()")
    layers = [rule.mark_rule(strokeDash=[2, 3], color=quiet)] * (mark is not None)
    if band and len(of.models) <= MOST_COLOURED:
        is_alone = of.data[x["field"]].n_unique() == 1
        area = of.clear(line).mark_rule(opacity=0.5) if is_alone else of.clear(line).mark_area(opacity=0.16)
        layers.append(area.encode(y={**y, "field": "low"}, y2="high:Q"))
    if of.others:
        layers.append(line.mark_line(strokeWidth=1))
    points = of.points(of.clear(base), 20)
    if of.data[x["field"]].n_unique() > MOST_POINTS:
        points = points.encode(opacity={"value": 0})
    layers += [of.clear(line).mark_line(strokeWidth=2), points, *more]
    drawn: alt.LayerChart = of.layers(*layers).properties(height=280)
    return drawn


def steps(of: Canvas, x: Encoding, end: str) -> alt.LayerChart:
    """Return bars from one end of a bin to the other."""
    colour = of.channels("color", legend=False)
    base = of.base(x=x, x2=f"{end}:Q", y=of.up(150, zero=True), y2={"datum": 0}, **colour, **SAID)
    return of.layers(base.mark_rect(stroke=of.look.ground, strokeWidth=0.5))


def plane(of: Canvas, x: Encoding, y: Encoding) -> alt.LayerChart:
    """Return models as points with the intervals of both axes, the names of few at their points.

    The columns of intervals have the names of those of x and y with `_low` and `_high`.
    """
    base, named = of.base(x=x, y=y), of.models != [ALL] and len(of.coloured) <= MOST_NAMED
    shown = of.clear(base).encode(**of.channels("color", legend=not named))
    rule = shown.mark_rule(opacity=0.7)
    wide = rule.encode(x={**x, "field": "x_low"}, x2="x_high:Q")
    tall = rule.encode(y={**y, "field": "y_low"}, y2="y_high:Q")
    side = {"align": {"expr": "datum.left ? 'left' : 'right'"}, "dx": {"expr": "datum.left ? 9 : -9"}}
    name = shown.mark_text(dy={"expr": "datum.below ? 13 : -9"}, fontSize=12, **side)
    points = of.points(base, 70, legend=not named)
    return of.layers(wide, tall, points, *[name.encode(text="model:N")] * named)


def views(chart: alt.LayerChart, look: Look, facet: str, order: Sequence[str], most: int = 3) -> alt.FacetChart:
    """Return a view of each value of a column, in as many columns as fit."""
    columns = max(min(look.width // NARROWEST_VIEW, len(order), most), 1)
    width = max((look.width - OF_VIEWS) // columns - 20, 80)
    header = {"title": None, "labelLimit": width, "labelAnchor": "start"}
    by = {"field": facet, "type": "nominal", "sort": [*order], "header": header}
    return chart.properties(width=width, height=150).facet(facet=by, columns=columns)


def stacked(charts: Mapping[str, alt.LayerChart], look: Look) -> alt.VConcatChart:
    """Return charts one below the other, each with its name above it."""
    quiet = {"anchor": "start", "fontSize": 12, "fontWeight": "normal", "color": look.colours.quiet}
    each = (
        chart.properties(width=max(look.width - SIDES, 80), title={"text": safe_text(name), **quiet})
        for name, chart in charts.items()
    )
    return alt.vconcat(*each, spacing=14)


def by_value(data: pl.DataFrame, key: str = "model", value: str = "value", *, lower: bool = False) -> list[str]:
    """Return the names of a column by the means of a value, the best first: the highest, or the lowest."""
    means = data.group_by(key).agg(pl.col(value).mean())
    ordered = means.sort(value, key, descending=[not lower, False], nulls_last=True)
    return ordered[key].to_list()


def leader(of: Canvas, place: str, where: str = "", what: str = "") -> str:
    """Return who alone has the best value at more than half of some places, of which `where` says the kind, or ""."""
    best = pl.col(of.value.name) * (-1 if of.lower else 1)
    rows = of.data.filter(best == best.max().over(place))
    alone = rows.filter(pl.len().over(place) == 1)["model"].value_counts(sort=True)
    n = of.data[place].n_unique()
    if of.data["model"].n_unique() < 2 or not len(alone) or 2 * alone["count"][0] <= n:  # noqa: PLR2004
        return ""
    name, most = alone.row(0)
    many = f" {where.replace('{}', f'all {n}' if most == n else f'{most} of {n}')}" if n > 1 else ""
    return f"{name} has the {what}{many}"


def best_of(metric: Metric[...]) -> str:
    """Return the words for the best value of a metric, or for the highest of one without a better end."""
    return f"{'best' if metric.direction else 'highest'} {metric}"


def finished(  # noqa: PLR0913  the words of a chart
    chart: Any,
    of: Canvas,
    title: str,
    subtitle: str,
    finding: str = "",
    read: pl.DataFrame | None = None,
) -> Any:
    """Return a chart with its title, its alternative text and its theme; a finding is the title, where there is one.

    The alternative text has the words of the rows to `read`, or of all, those of the best model first.
    """
    look, rows = of.look, of.data if read is None else read
    if of.others and "model" in rows.columns:
        rows = rows.sort(pl.col("model").is_in(of.coloured), descending=True, maintain_order=True)
    said = "; ".join(rows["words"][:MOST_READ])
    said += f"; and {counted(len(rows) - MOST_READ, 'more mark')}" * (len(rows) > MOST_READ)
    subtitle += of.more
    if of.others:
        best = " In colour: the two best by value" + " and the baseline" * (len(of.coloured) > 2)  # noqa: PLR2004
        subtitle += f"{best * (not look.highlight)}. Grey: {counted(of.others, 'other model')}."
    if of.data.is_empty():
        finding, subtitle, said = "", "There is nothing to draw: no user, list or finding.", ""
    elif finding:
        title, subtitle = finding, f"{title}. {subtitle}"
    heading = {"text": lines(title, look.width * 0.8), "subtitle": lines(subtitle, look.width - 20)}
    heading |= {"anchor": "start", "frame": "bounds", "offset": 10}
    description = safe_text(f"{title}. {subtitle} {said}{'.' * bool(said)}".strip())
    chart = chart.properties(title=heading, description=description)
    if isinstance(chart, alt.LayerChart):
        # the width is that of the whole chart, its axes included; charts that are put together cannot be fitted
        fitted = {"width": look.width, "autosize": {"type": "fit-x", "contains": "padding"}}
        chart = chart.properties(**(fitted if look.theme else {"width": look.width - SIDES}))
    return _themed(chart, look) if look.theme else chart


def _themed(chart: Any, look: Look) -> Any:
    """Return a chart on its ground, in the fonts and sizes that all have."""
    of = look.colours
    text = {"labelColor": of.ink, "titleColor": of.ink, "labelFontSize": 12}
    axis = {"gridColor": of.grid, "domainColor": of.quiet, "tickColor": of.quiet, "labelColor": of.quiet}
    sizes = {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
    return chart.configure(
        background=of.background,
        font=FONT,
        padding=10,
        view={"stroke": None},
        axis={**text, **axis, **sizes, "labelLimit": max(look.width // 3, 90)},
        # more ticks than have room for their numbers would have none
        axisX={"tickCount": max(look.width // 80, 3), "labelOverlap": True},
        legend={**text, "symbolStrokeWidth": 2, "symbolOpacity": 1, "labelLimit": 150},
        header=text,
        title={"fontSize": 15, "subtitleFontSize": 12, "color": of.ink, "subtitleColor": of.quiet},
    )


def lines(text: str, width: float) -> list[str]:
    """Return a text as lines that are no wider than so many pixels."""
    return textwrap.wrap(safe_text(text), max(int(width / LETTER), 12)) or [""]


def safe_text(text: str) -> str:
    """Return a text that ends no script where it is written into a page.

    NOTE: Altair writes names into a script of the page as they are, and "</script>" would end it. A word joiner, which nobody
    sees, stands in between.
    """
    return text.replace("<", "<\u2060")


def safe(data: pl.DataFrame) -> pl.DataFrame:
    """Return data whose texts end no script where they are written into a page."""
    return data.with_columns(pl.col(pl.String).str.replace_all("<", "<\u2060", literal=True))
