"""Grammar of charts: canvas, fields, forms of marks, and titles.

A chart is rows of a public result, a form and a title. Each row has one sentence, its `words`: the tooltip of its mark, its
label in an SVG and, of the rows that matter, the chart's alternative text.

NOTE: the rows have been aggregated before, under names of our own, so that no name of a user's column, model or segment is ever
read as part of a specification.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import polars as pl

from recframe.charts.formatting import counted, written
from recframe.charts.long_format import Result
from recframe.charts.themes import ALL, MOST_COLOURED, Look
from recframe.errors import RecframeError
from recframe.frames import options
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
Chart = TypeVar("Chart", bound="alt.LayerChart | alt.FacetChart")
OF_AXIS = 250
"""Width of an axis's title, in pixels."""
LETTER = 6.4
"""Average width of a letter, in pixels."""
OF_VIEWS = 70
"""Width left and right of several views, in pixels."""
HEIGHT = 280
OF_VIEW = 150
"""Heights of one view and of each of several, in pixels."""
NARROWEST_VIEW = 200
SHAPES = [
    *("circle", "square", "diamond", "cross"),
    *("triangle-right", "triangle-left", "triangle-up", "triangle-down"),
]
"""Shapes of models, in turn, for those who do not see their colours."""
FEWEST = 10
"""Fewest users of a segment whose interval is drawn; that of two users is wider than all others together."""
MOST_READ = 12
"""Most rows in an alternative text."""
SAID = {"tooltip": {"field": "words"}, "description": {"field": "words"}}
"""Tooltip and label of a mark."""
ENDS = ("low", "high")
CLEAR = "datum.clear"
"""Rows of models that are not grey."""


class Field(NamedTuple):
    """A column: what is said of its value, the columns of its interval, its axis and its better end."""

    name: str
    title: str = "{}"
    """The braces stand for the value."""
    write: Callable[..., str] = written
    ends: Sequence[str] = ()
    axis: str = ""
    format: str = ""
    """The format of D3 on the axis."""
    lower: bool = False
    """Whether low values are the better ones."""

    def along(self, **scale: Any) -> Encoding:
        """Return the encoding of numbers along an axis, of which the right or upper end is the better one."""
        axis = {"format": self.format} if self.format else {}
        return {
            "field": self.name,
            "type": "quantitative",
            "title": lines(self.axis + ": axis reversed" * self.lower, OF_AXIS),
            "axis": {"tickMinStep": int(self.format == "d"), **axis},
            "scale": {"zero": False, "reverse": self.lower, **scale},
        }


def of_metric(metric: Metric[...], name: str = "value", ends: Sequence[str] = ENDS) -> Field:
    """Return the field of a metric's values with their intervals."""
    axis = f"{metric}" + f" ({metric.direction} is better)" * bool(metric.direction)
    return Field(name, f"{metric} {{}}", ends=ends, axis=axis, lower=metric.direction == "lower")


def sentence(row: Mapping[str, Any], told: Sequence[Field]) -> str:
    """Return what is said of a row: its values with their intervals."""
    said = []
    for one in told:
        if row[one.name] is not None:
            ends = [row[end] for end in one.ends if row[end] is not None]
            numbers = (one.write(value, *[ends] * bool(ends)) for value in (row[one.name], *ends))
            text, *interval = numbers
            text += f" ({' to '.join(interval)})" * bool(interval)
            said.append(one.title.replace("{}", text))
    return ", ".join(filter(None, said))


class Canvas(NamedTuple):
    """Rows of a chart with a sentence each, and the models with their colours and shapes."""

    look: Look
    data: pl.DataFrame
    """Rows under names of charts with their `words`, and whether they are of a model in colour (`clear`)."""
    value: Field
    colours: Mapping[str, str]
    """The colours of all models, in their own order."""
    ranked: Sequence[str]
    """The models, the best first."""
    labels: Sequence[str]
    """The segments with their users, most first."""
    by: str
    """The columns of the segments."""
    users: str
    """How many users there are, in words."""
    notes: str
    """Sentences on what is not drawn, or grey."""
    legend: bool = True

    def channel(self, looks: Sequence[str] = ()) -> Encoding:
        """Return the encoding of models by some looks, their colours without any."""
        scale = {"domain": [*self.colours], "range": [*(looks or self.colours.values())]}
        named = self.data.filter("clear")["model"].unique(maintain_order=True).to_list()
        columns = max(self.look.width // 180, 1)
        above = {"title": None, "orient": "top", "values": named, "columns": columns}
        legend = above if self.legend and named and [*self.colours] != [ALL] else None
        return {"field": "model", "type": "nominal", "scale": scale, "legend": legend}

    def points(self, at: Encoding, size: float, only: str = "") -> alt.Chart:
        """Return the marks that say their words; hollow ones where rows are `hollow`."""
        filled = {"value": 1, "condition": {"test": "datum.hollow", "value": 0}}
        models = {"color": self.channel(), "fill": {**self.channel(), "legend": None}}
        at = at | models | {"fillOpacity": filled, "shape": self.channel(SHAPES)} | SAID
        return marks("point", at, only, size=size, strokeWidth=2, opacity=1)

    def layers(self, *layers: alt.Chart, height: float = HEIGHT) -> alt.LayerChart:
        """Return layers of the rows."""
        return alt.LayerChart(layer=[*layers], data=self.data, height=height)


def canvas(
    look: Look,
    found: Result,
    value: Field,
    fields: Sequence[Field],
    *,
    ranked: Sequence[str] = (),
    most: int = 30,
) -> Canvas:
    """Return a canvas of the rows that have a value, told by some fields; of many segments, those with the most users.

    Models are in the order of their values, the best first, unless they are `ranked`; segments by their users, most first, in
    each chart alike. Rows of grey models come first, since they are drawn behind.
    """
    data = found.data.drop_nulls(value.name)
    users = pl.col("n_users")
    each = data.group_by("segment").agg(users.max())
    sizes = dict(each.sort("n_users", "segment", descending=[True, False]).rows())
    named = {one: f"{one} ({size:,})" if one and size else one for one, size in sizes.items()}
    data = data.filter(pl.col("segment").is_in([*sizes][:most]))
    few = len(data.filter(users < FEWEST)) if found.by else 0
    if few:
        data = data.with_columns(pl.when(users >= FEWEST).then(pl.col([*value.ends])))
    data = data.with_columns(label=pl.col("segment").replace(named))
    labels = [*named.values()][:most]
    models = found.models.order
    order = [*dict.fromkeys([*(ranked or by_value(data, value)), *models])]
    colours = _colours(look, models, order)
    grey = [one for one, colour in colours.items() if colour == look.colours.others]
    told = [*[Field("model")] * (models != [ALL]), Field("label"), *fields]
    told += [Field("n_users", "{} users")] * (not found.by)
    words = pl.Series([sentence(row, told) for row in data.to_dicts()], dtype=pl.String)
    at = pl.col("model").cast(pl.Enum(order)), pl.col("label").cast(pl.Enum(labels))
    data = data.with_columns(words=words, clear=~pl.col("model").is_in(grey))
    data = data.sort("clear", *at, maintain_order=True)
    n = len(sizes)
    largest = max(filter(None, data["n_users"]), default=0)
    notes = {
        "In brackets: users.": found.by,
        f"Segments of fewer than {FEWEST} users have no interval here.": few,
        f"{most} of {n:,} segments, those with the most users.": n > most,
        f"Grey: {counted(len(grey), 'other model')}.": grey,
    }
    size = "up to " * (data["n_users"].n_unique() > 1) + counted(largest, "user")
    note = " ".join(note for note, is_so in notes.items() if is_so)
    return Canvas(look, data, value, colours, order, labels, found.by, size, note)


def _colours(look: Look, models: Sequence[str], ranked: Sequence[str]) -> dict[str, str]:
    """Return colours by a model's place; of many models, the best two alone have one."""
    for one in look.highlight:
        options.one_of("highlight", one, models)
    is_few = len(models) <= MOST_COLOURED
    grey = look.colours.others
    coloured = look.highlight or (models if is_few else ranked[:2])
    own = dict(zip(models if is_few else coloured, cycle(look.colours.models), strict=False))
    return {one: own[one] if one in coloured else grey for one in models}


def marks(kind: str, at: Encoding, only: str = "", **look: Any) -> alt.Chart:
    """Return marks of a kind along some axes, of the rows of which an expression is true."""
    chosen: Encoding = {"transform": [{"filter": only}]} if only else {}
    mark: Any = {"type": kind, **look}
    return alt.Chart(mark=mark, encoding=alt.FacetedEncoding(**at), **chosen)


def between(name: str, axis: Encoding, ends: Sequence[str]) -> Encoding:
    """Return the encoding of marks from one column to another along an axis."""
    return {name: {**axis, "field": ends[0]}, f"{name}2": {"field": ends[1]}}


def dots(of: Canvas, *, zero: bool = False) -> alt.LayerChart:
    """Return dots with their intervals in rows of segments, models one below the other, or of models.

    With `zero` the values are differences, and behind each row is a band, from `beyond` to `within`.
    """
    row = "label" if of.by else "model"
    order = of.labels if of.by else by_value(of.data, of.value)
    lanes: Any = of.data[row].value_counts()["count"].max() or 1
    of = of._replace(legend=lanes > 1)
    colours = of.look.colours
    rows = {"field": row, "type": "nominal", "title": None, "axis": {"grid": True, "tickSize": 0}}
    base: Encoding = {"y": {**rows, "scale": {"domain": order}}}
    if of.legend:
        lane = {"field": "model", "type": "nominal", "sort": [*of.ranked]}
        base["yOffset"] = {**lane, "scale": {"paddingOuter": 0.35}}
    x = of.value.along(zero=zero, padding=6)
    here = {"test": "datum.value === 0", "value": colours.quiet}
    x["axis"] |= {"gridColor": {"value": colours.grid, "condition": here}}
    rule = base | between("x", x, ENDS) | {"color": of.channel()}
    layers = [marks("rule", rule, strokeWidth=2), of.points({**base, "x": x}, 60)]
    if zero:
        behind = base | between("x", x, ("beyond", "within"))
        layers.insert(0, marks("bar", behind, opacity=0.8, color=colours.band))
    height = max(len(order), 1) * max(15 * lanes + 10, 26) + 10
    return of.layers(*layers, height=height)


def curves(of: Canvas, x: Encoding, *more: alt.Chart, zero: bool = True) -> alt.LayerChart:
    """Return a line for each model, with bands where it has intervals, and its points; `more` are layers in front."""
    y = of.value.along(zero=zero, padding=8 * (not zero))
    line = {"x": x, "y": y, "color": of.channel()}
    layers = [marks("line", line, strokeWidth=2), of.points({"x": x, "y": y}, 30, CLEAR), *more]
    if of.value.ends:
        band = line | between("y", y, of.value.ends)
        layers.insert(0, marks("area", band, CLEAR, opacity=0.16))
    return of.layers(*layers)


def steps(of: Canvas, x: Encoding) -> alt.LayerChart:
    """Return bars from one end of a bin to the other."""
    y = {"y": of.value.along(zero=True), "y2": {"datum": 0}}
    models = {"color": of._replace(legend=False).channel()}
    at = between("x", x, ENDS) | y | models | SAID
    return of.layers(marks("rect", at, stroke=of.look.colours.background, strokeWidth=0.5))


def plane(of: Canvas, x: Field, y: Field) -> alt.LayerChart:
    """Return models as points with the intervals of both axes."""
    across = x.along(padding=20, nice=False)
    up = y.along(padding=20, nice=False)
    at = {"x": across, "y": up, "color": of.channel()}
    wide = at | between("x", across, x.ends)
    tall = at | between("y", up, y.ends)
    crosses = [marks("rule", one, CLEAR, opacity=0.7) for one in (wide, tall)]
    return of.layers(*crosses, of.points(at, 70))


def views(
    chart: alt.LayerChart, of: Canvas, facet: str, order: Sequence[str], most: int = 3
) -> alt.FacetChart:
    """Return a view of each value of a column, in as many columns as fit."""
    columns = max(min(of.look.width // NARROWEST_VIEW, len(order), most), 1)
    width = max((of.look.width - OF_VIEWS) // columns - 20, 80)
    by: Any = {
        "field": facet,
        "type": "nominal",
        "sort": [*order],
        "header": {"title": None, "labelLimit": width, "labelAnchor": "start"},
    }
    view = chart.properties(width=width, height=OF_VIEW)
    return view.facet(facet=alt.Facet(**by), columns=columns)


def by_value(data: pl.DataFrame, value: Field) -> list[str]:
    """Return models by the means of a value over all users, the best first."""
    users = pl.col("n_users").fill_null(1)
    means = data.group_by("model").agg((pl.col(value.name) * users).sum() / users.sum())
    down = [not value.lower, False]
    return means.sort(value.name, "model", descending=down, nulls_last=True)["model"].to_list()


def leader(of: Canvas, metric: Metric[...]) -> str:
    """Return who alone has the best value in more than half of the segments, or ""."""
    best = pl.col(of.value.name) * (-1 if of.value.lower else 1)
    rows = of.data.filter(best == best.max().over("label"))
    alone = rows.filter(pl.len().over("label") == 1)["model"].value_counts(sort=True)
    name, most = [*alone.rows(), ("", 0)][0]
    if of.data["model"].n_unique() == 1 or 2 * most <= len(of.labels):
        return ""
    which = "best" if metric.direction else "highest"
    return f"{name} has the {which} {metric}{some_of(most, of)}"


def some_of(some: int, of: Canvas) -> str:
    """Return in how many segments something is so: in all 4 segments, in 3 of 4 segments, "" without segments."""
    n = len(of.labels)
    return f" in {f'all {n}' if some == n else f'{some} of {n}'} segments" * bool(of.by)


def finished(
    chart: Chart,
    of: Canvas,
    title: str,
    subtitle: str,
    finding: str = "",
) -> Chart:
    """Return a chart with its title, its alternative text and its theme; a finding is the title, where there is one.

    The alternative text has the words of the first and the last row of each model and segment, those of models in colour first.
    """
    look = of.look
    line = pl.struct("model", "label")
    rows = of.data.filter(line.is_first_distinct() | line.is_last_distinct())
    said = rows.sort("clear", descending=True, maintain_order=True)["words"].head(MOST_READ)
    if of.data.is_empty():
        finding = ""
        subtitle = "There is nothing to draw: no user, list or finding."
    above = (finding or title) + f", by {of.by}" * bool(of.by)
    below = f"{title}. " * bool(finding) + f"{subtitle} {of.notes}".strip()
    heading = {
        "text": lines(above, look.width * 0.8),
        "subtitle": lines(below, look.width - 20),
        "anchor": "start",
        "frame": "bounds",
        "offset": 10,
    }
    # the width is that of the whole chart, its axes included; views cannot be fitted
    fitted = {"width": look.width, "autosize": {"type": "fit-x", "contains": "padding"}}
    more: dict[str, Any] = fitted if isinstance(chart, alt.LayerChart) else {}
    words = f"{above}. {below} {'; '.join(said)}"
    titled: Any = chart.properties(title=heading, description=words, **more)
    made: Chart = titled.configure(**look.config)
    return made


def lines(text: str, width: float) -> list[str]:
    """Return a text as lines that are no wider than so many pixels."""
    return textwrap.wrap(text, max(int(width / LETTER), 12)) or [""]
