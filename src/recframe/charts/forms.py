"""Grammar of charts: canvas, fields, forms of marks, and titles.

A chart is rows of a public result, a form and a title. Each row has one sentence, its `words`: the tooltip of its mark, its
label in an SVG and, of the rows that matter, the chart's alternative text.

NOTE: the rows have been aggregated before, under names of our own, so that no name of a user's column, model or segment is ever
read as part of a specification.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

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
Chart = TypeVar("Chart", bound="alt.LayerChart | alt.FacetChart | alt.VConcatChart")
LETTER = 6.4
"""Average width of a letter, in pixels."""
SIDES, OF_VIEWS = 110, 70
"""Widths left and right of the marks, of one view and of several, in pixels."""
HEIGHT, OF_VIEW = 280, 150
"""Heights of one view and of each of several, in pixels."""
NARROWEST_VIEW = 200
FEW_USERS = 10
"""Users below which an interval is not drawn."""
MOST_POINTS = 30
"""Most places of a line with visible points."""
MOST_READ = 12
"""Most rows in an alternative text."""
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
        """Return the encoding of numbers along an axis; that of whole numbers has no grid."""
        title = self.axis + ": axis reversed" * bool(scale.get("reverse"))
        axis: Encoding = {
            "grid": self.format not in {"d", "~s"},
            "tickMinStep": int(self.format == "d"),
        }
        axis |= {"format": self.format} if self.format else {}
        kind = {"field": self.name, "type": "quantitative", "title": lines(title, length)}
        return {**kind, "axis": axis, "scale": {"zero": False, **scale}}


USERS = Field("n_users", "{} users")


def of_metric(metric: Metric[...]) -> Field:
    """Return the field of a metric's values with their intervals; its axis has the range and the better end."""
    low, high = (f"{end:g}" if math.isfinite(end) else "" for end in metric.range)
    ends = (
        f"{low} to {high}"
        if low and high
        else f"from {low} up"
        if low
        else f"up to {high}" * bool(high)
    )
    told = ", ".join(filter(None, [ends, f"{metric.direction} is better" * bool(metric.direction)]))
    return Field(
        "value", f"{metric} {{}}", ends=ENDS, axis=f"{metric} ({told})" if told else f"{metric}"
    )


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
    def across(self) -> int:
        """The width of the marks, in pixels."""
        return self.look.width - SIDES

    def users(self, noun: str = "user") -> str:
        """Return the number of users, or lists, behind the chart, in words."""
        numbers = self.data["n_users"]
        return "up to " * (numbers.n_unique() > 1) + counted(max(numbers, default=0), noun)

    def channels(self, *names: str, legend: bool = True) -> Encoding:
        """Return the encodings of models by colours, and by shapes, which paper tells apart too."""
        of, shown = self.look.colours, self.coloured
        # NOTE: by the place among all models; of more models than colours, by that among those in colour
        few = len(self.models) <= MOST_COLOURED
        places = [one for one in self.models if few or one in shown]
        drawn = [one for one in shown if one in {*self.data["model"]}]
        above = {
            "title": None,
            "orient": "top",
            "values": drawn,
            "columns": max(self.look.width // 180, 1),
        }
        found = {}
        for name in names:
            values, grey = (of.models, of.others) if name == "color" else (SHAPES, SHAPES[0])
            each = (
                values[places.index(one) % len(values)] if one in shown else grey
                for one in self.models
            )
            found[name] = {
                "field": "model",
                "type": "nominal",
                "legend": above if legend and drawn not in ([], [ALL]) else None,
            }
            found[name]["scale"] = {"domain": [*self.models], "range": [*each]}
        return found

    def base(self, **encodings: Any) -> alt.Chart:
        """Return marks of rows, which are those of the layers, along some axes."""
        return _along(alt.Chart(), **encodings)

    def clear(self, base: alt.Chart) -> alt.Chart:
        """Return marks of the models in colour alone."""
        only: Any = {"field": "model", "oneOf": self.coloured}
        return base.transform_filter(only) if self.others else base

    def sure(self, base: alt.Chart) -> alt.Chart:
        """Return marks of intervals, but those of few users, which would stretch the axis."""
        least = FEW_USERS if (self.data["n_users"] >= FEW_USERS).any() else 0
        return base.transform_filter(f"datum.n_users >= {least}")

    def points(self, base: alt.Chart, size: float, *, legend: bool = True) -> alt.Chart:
        """Return the marks that say their words; hollow ones where rows are `hollow`."""
        encoded = self.channels("color", "shape", legend=legend)
        fill = {**encoded["color"], "legend": None}
        if "hollow" in self.data.columns:
            fill["condition"] = {"test": "datum.hollow", "value": self.look.ground}
        marks: alt.Chart = base.mark_point(size=size, strokeWidth=2, opacity=1)
        return _along(marks, **encoded, fill=fill, **SAID)

    def layers(self, *layers: alt.Chart) -> alt.LayerChart:
        """Return layers of the rows."""
        return alt.LayerChart(layer=[*layers], data=self.data)


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
    told = [*[Field("model")] * (models != [ALL]), Field("label"), *fields]
    words = [
        ", ".join(filter(None, map(Field.words, told, repeat(row)))) for row in data.to_dicts()
    ]
    data = data.with_columns(words=pl.Series(words, dtype=pl.String))
    more = f" {most} of {n:,} segments, those with the most users." * (n > most)
    few = data["n_users"] < FEW_USERS
    if few.any() and not few.all() and value.ends:
        more += f" Intervals of fewer than {FEW_USERS} users are not drawn."
    of = Canvas(look, data, value, models, ranked, labels, lower, safe_text(baseline), more)
    places = pl.col("model").cast(pl.Enum(ranked)), pl.col("label").cast(pl.Enum(labels))
    in_front = pl.col("model").is_in(of.coloured)
    return of._replace(data=data.sort(in_front, *places, maintain_order=True))


def dots(
    of: Canvas, row: str, order: Sequence[str], *, zero: bool = False, band: bool = False
) -> alt.LayerChart:
    """Return dots with their intervals in rows, those of several models one below the other.

    Right is better. With `zero` the values are differences. Behind each row there may be a band, from `beyond` to `within`.
    """
    lanes: Any = of.data[row].value_counts()["count"].max() or 1
    legend, axis = lanes > 1, {"grid": True, "tickSize": 0, "labels": [*order] != [ALL]}
    y = {
        "field": row,
        "type": "nominal",
        "scale": {"domain": [*order]},
        "title": None,
        "axis": axis,
    }
    offset = {"field": "model", "sort": [*of.ranked], "scale": {"paddingOuter": 0.35}}
    base = of.base(y=y, **({"yOffset": offset} if legend else {}))
    x = of.value.along(of.across, zero=zero, reverse=of.lower, padding=6)
    if zero:
        here = {"test": "datum.value === 0", "value": of.look.colours.quiet}
        x["axis"] |= {"gridColor": {"value": of.look.colours.grid, "condition": here}}
        x["axis"] |= {"labelExpr": "datum.value === 0 ? '0' : datum.label"}
    rule = of.sure(of.clear(base) if legend else base).mark_rule(strokeWidth=2)
    colour = of.channels("color", legend=legend)
    rule = _along(rule, x={**x, "field": "low"}, x2="high:Q", **colour)
    behind = base.mark_bar(opacity=0.8, color=of.look.colours.band)
    behind = _along(behind, x={**x, "field": "beyond"}, x2="within:Q")
    chart = of.layers(*[behind] * band, rule, _along(of.points(base, 60, legend=legend), x=x))
    height = max(len(order), 1) * max(15 * lanes + 10, 26) + 10
    return chart.properties(height=height)


def curves(
    of: Canvas, x: Encoding, y: Encoding, *, band: bool = True, more: Sequence[alt.Chart] = ()
) -> alt.LayerChart:
    """Return a line for each model, with bands where it has intervals, and its points; `more` are layers in front."""
    base, lengths = of.base(x=x, y=y), of.data.group_by("label", "model").len()["len"]
    places = max(lengths, default=0)
    line = _along(base, **of.channels("color"))
    clear, layers = of.clear(line), [line.mark_line(strokeWidth=1)]
    if band and len(of.models) <= MOST_COLOURED:
        # an area of one place has no width
        area = of.sure(clear)
        area = area.mark_rule(opacity=0.5) if places == 1 else area.mark_area(opacity=0.16)
        layers.append(_along(area, y={**y, "field": "low"}, y2="high:Q"))
    points = of.points(of.clear(base), 20).encode(
        opacity=alt.OpacityValue(int(places <= MOST_POINTS))
    )
    layers += [clear.mark_line(strokeWidth=2), points, *more]
    return of.layers(*layers).properties(height=HEIGHT)


def steps(of: Canvas, x: Encoding, end: str) -> alt.LayerChart:
    """Return bars from one end of a bin to the other."""
    colour = of.channels("color", legend=False)
    base = of.base(
        x=x, x2=f"{end}:Q", y=of.value.along(OF_VIEW, zero=True), y2={"datum": 0}, **colour, **SAID
    )
    return of.layers(base.mark_rect(stroke=of.look.ground, strokeWidth=0.5))


def plane(of: Canvas, x: Encoding, y: Encoding) -> alt.LayerChart:
    """Return models as points with the intervals of both axes, whose columns have their names with `_low` and `_high`."""
    base = of.base(x=x, y=y)
    rule = _along(of.clear(base), **of.channels("color")).mark_rule(opacity=0.7)
    wide = _along(rule, x={**x, "field": "x_low"}, x2="x_high:Q")
    tall = _along(rule, y={**y, "field": "y_low"}, y2="y_high:Q")
    return of.layers(wide, tall, of.points(base, 70))


def views(
    chart: alt.LayerChart, look: Look, facet: str, order: Sequence[str], most: int = 3
) -> alt.FacetChart:
    """Return a view of each value of a column, in as many columns as fit."""
    columns = max(min(look.width // NARROWEST_VIEW, len(order), most), 1)
    width = max((look.width - OF_VIEWS) // columns - 20, 80)
    header = {"title": None, "labelLimit": width, "labelAnchor": "start"}
    by: Any = {"field": facet, "type": "nominal", "sort": [*order], "header": header}
    return chart.properties(width=width, height=OF_VIEW).facet(
        facet=alt.Facet(**by), columns=columns
    )


def _along(marks: alt.Chart, **encodings: Any) -> alt.Chart:
    """Return marks along some axes, in encodings that are objects of Altair.

    NOTE: of a plain one Altair keeps the errors that it meets on the way, and with them the caller's frames.
    """
    made = {
        name: getattr(alt, name[0].upper() + name[1:])(**one) if isinstance(one, dict) else one
        for name, one in encodings.items()
    }
    return marks.encode(**made)


def stacked(charts: Mapping[str, alt.LayerChart], look: Look) -> alt.VConcatChart:
    """Return charts one below the other, each with its name above it."""
    quiet = {"anchor": "start", "fontSize": 12, "fontWeight": "normal", "color": look.colours.quiet}
    each = (
        chart.properties(
            width=max(look.width - SIDES, 80), title={"text": safe_text(name), **quiet}
        )
        for name, chart in charts.items()
    )
    return alt.vconcat(*each, spacing=14)


def by_value(
    data: pl.DataFrame, key: str = "model", value: str = "value", *, lower: bool = False
) -> list[str]:
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
    return f"{name} has the {what}" + (f" {where.replace('{}', some_of(most, n))}" if n > 1 else "")


def some_of(some: int, n: int) -> str:
    """Return how many of some things, in words."""
    return f"all {n}" if some == n else f"{some} of {n}"


def best_of(metric: Metric[...]) -> str:
    """Return the words for the best value of a metric, or for the highest of one without a better end."""
    return f"{'best' if metric.direction else 'highest'} {metric}"


def finished(
    chart: Chart,
    of: Canvas,
    title: str,
    subtitle: str,
    finding: str = "",
    read: pl.DataFrame | None = None,
) -> Chart:
    """Return a chart with its title, its alternative text and its theme; a finding is the title, where there is one.

    The alternative text has the words of the rows to `read`, or of all, those of the best model first.
    """
    look, rows = of.look, of.data if read is None else read
    if "model" in rows.columns:
        rows = rows.sort(pl.col("model").is_in(of.coloured), descending=True, maintain_order=True)
    said = "; ".join(rows["words"][:MOST_READ])
    said += f"; and {counted(len(rows) - MOST_READ, 'more mark')}" * (len(rows) > MOST_READ)
    subtitle += of.more
    if of.others:
        best = " In colour: the two best by value" + " and the baseline" * (len(of.coloured) > 2)  # noqa: PLR2004
        subtitle += (
            f"{best}." * (not look.highlight) + f" Grey: {counted(of.others, 'other model')}."
        )
    if of.data.is_empty():
        finding, subtitle, said = "", "There is nothing to draw: no user, list or finding.", ""
    elif finding:
        title, subtitle = finding, f"{title}. {subtitle}"
    heading: dict[str, Any] = {
        "text": lines(title, look.width * 0.8),
        "subtitle": lines(subtitle, look.width - 20),
    }
    heading |= {"anchor": "start", "frame": "bounds", "offset": 10}
    description = safe_text(f"{title}. {subtitle} {said}{'.' * bool(said)}".strip())
    options: dict[str, Any] = {"title": heading, "description": description}
    if isinstance(chart, alt.LayerChart):
        # the width is that of the whole chart, its axes included; charts that are put together cannot be fitted
        fitted = {"width": look.width, "autosize": {"type": "fit-x", "contains": "padding"}}
        options |= fitted if look.theme else {"width": look.width - SIDES}
    titled: Any = chart.properties(**options)
    finished_chart: Chart = _themed(titled, look) if look.theme else titled
    return finished_chart


def _themed(chart: Any, look: Look) -> Any:
    """Return a chart on its ground, in the fonts and sizes that all have."""
    of = look.colours
    text = {"labelColor": of.ink, "titleColor": of.ink, "labelFontSize": 12}
    axis = {
        "gridColor": of.grid,
        "domainColor": of.quiet,
        "tickColor": of.quiet,
        "labelColor": of.quiet,
    }
    sizes = {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
    return chart.configure(
        background=of.background,
        font=FONT,
        padding=10,
        view={"stroke": None},
        axis={**text, **axis, **sizes, "labelLimit": max(look.width // 3, 90)},
        # more ticks than have room for their numbers would have none
        axisX={"tickCount": max(look.width // 80, 3), "labelOverlap": True, "labelSeparation": 6},
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
