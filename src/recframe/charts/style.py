"""The style of all charts: titles, colours, axes and theme.

NOTE: the files of this room that draw take Altair from here, which imports it when a chart is drawn. A chart's data has been
aggregated before, under names of its own, so that no name of a user's column, model or segment is ever read as part of a
specification.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from recframe.charts.chart_words import Fields, by_value, read_aloud
from recframe.charts.formatting import listed
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

Chart = TypeVar("Chart", "alt.LayerChart", "alt.VConcatChart", "alt.FacetChart")
LETTER = 6.4
"""Average width of a letter, in pixels."""
SIDES = 110
"""The width beside the marks: the axis on the left and the padding."""
SYMBOL = 34
"""Width of a legend symbol with the gap after its name, in pixels."""
ROWS_AXIS = {"grid": True, "tickSize": 0}
HEADING: dict[str, Any] = {"anchor": "start", "fontSize": 12, "fontWeight": "normal", "offset": 4}
"""The look of the title of one of several views."""
TITLE = {"fontSize": 15, "subtitleFontSize": 12, "font": FONT, "subtitleFont": FONT}

__all__ = [
    "HEADING",
    "LETTER",
    "ROWS_AXIS",
    "SIDES",
    "Canvas",
    "Series",
    "alt",
    "axis_title",
    "best_word",
    "drawn",
    "finished",
    "inner_width",
    "is_bare",
    "layered",
    "legend_of",
    "lines",
    "number_format",
    "safe",
    "safe_text",
    "series_of",
    "spoken",
    "tooltips",
]


class Canvas:
    """The frames of charts, and the look that they share."""

    def __init__(self, rec: Any, look: Look = Look()) -> None:  # noqa: B008  it is frozen
        # NOTE: it holds what it is asked of and nothing else, so that rec.plot costs nothing and imports no Altair.
        self._of = rec
        self._look = look

    @property
    def _rec(self) -> Any:
        """The same `rec` without models that are bounds, with answers in frames of Polars."""
        return self._of._candidates()._in_polars()  # noqa: SLF001  the methods of this room are those of a Rec


@dataclass(frozen=True)
class Series:
    """Models of a chart by name, each with fixed colour and shape; of many, most are grey."""

    given: Sequence[str]
    look: Look
    best: Sequence[str] = ()
    """The models by their values, the best first: of many models two have a colour, and legends are in this order."""
    baseline: str | None = None
    """A model with a colour, whatever its value."""

    @cached_property
    def names(self) -> list[str]:
        """The names as they stand in safe data."""
        return [safe_text(one) for one in self.given or [ALL]]

    @property
    def named(self) -> bool:
        """Whether there are models to tell apart."""
        return self.names != [ALL]

    @cached_property
    def coloured(self) -> list[str]:
        """The models in colour, in the order of the legend."""
        ordered = sorted(self.names, key=self.by_value.index) if self.best else self.names
        chosen = [*map(safe_text, self.look.highlight)]
        if chosen and self.named:
            self._check_highlight()
        elif len(self.names) <= MOST_COLOURED:
            return ordered
        else:
            chosen = [*ordered[:2], safe_text(self.baseline or "")]
        return [one for one in ordered if one in chosen]

    @cached_property
    def by_value(self) -> list[str]:
        """All names, the best first."""
        best = [*map(safe_text, self.best)]
        return [*best, *(one for one in self.names if one not in best)]

    def _check_highlight(self) -> None:
        for one in self.look.highlight:
            if one not in self.given:
                found = sentence(f"highlight={one!r} is no model", suggestion(one, self.given))
                msg = f"{found} There are {listed(self.given)}"
                raise RecframeError(msg)

    @cached_property
    def others(self) -> str:
        """The name of the grey models in a legend, or "" where all have a colour."""
        n = len(self.names) - len(self.coloured)
        words = (f"{n} {word}" for word in ("others", "other models", "models in grey"))
        return next(one for one in words if one not in self.names) if n else ""

    @property
    def words(self) -> str:
        """The sentence of a chart in which some models are grey."""
        if not self.others:
            return ""
        if self.look.highlight or not self.coloured:
            return f" Grey: {self.others}."
        also = safe_text(self.baseline or "") in self.coloured[2:]
        return f" In colour: the two best by value{' and the baseline' if also else ''}; grey: {self.others}."

    @property
    def has_bands(self) -> bool:
        """Whether intervals are drawn as bands, which would cover one another where models are many."""
        return len(self.names) <= MOST_COLOURED

    @property
    def colours(self) -> list[str]:
        """The colour of each model."""
        of = self.look.colours
        # NOTE: by its place among all models, and only of more models than colours by that among the coloured ones
        is_few = len(self.names) <= len(of.models) or not self.others
        places = [one for one in self.names if is_few or one in self.coloured]
        numbers = {name: place for place, name in enumerate(places)}
        return [
            of.models[numbers[name] % len(of.models)] if name in self.coloured else of.others
            for name in self.names
        ]

    def colour(self, *, legend: bool = True, shown: Collection[str] | None = None) -> alt.Color:
        """Return the encoding of models by colour; a legend may show some of them alone."""
        return alt.Color(
            **self._each([*self.colours, self.look.colours.others], shown, legend=legend)
        )

    def shape(self, *, legend: bool = True, shown: Collection[str] | None = None) -> alt.Shape:
        """Return the encoding of models by shapes, which are told apart on paper without colours, too."""
        told_apart = [one for one in self.names if one in self.coloured]
        places = {name: place for place, name in enumerate(told_apart)}
        shapes = [SHAPES[places.get(name, 0) % len(SHAPES)] for name in self.names]
        return alt.Shape(**self._each([*shapes, SHAPES[0]], shown, legend=legend))

    def marks(self, **legend: Any) -> dict[str, Any]:
        """Return the encodings of points: colours and shapes."""
        return {"color": self.colour(**legend), "shape": self.shape(**legend)}

    @property
    def is_coloured(self) -> Any:
        """The condition on a mark that its model has a colour."""
        return alt.FieldOneOfPredicate(field="model", oneOf=self.coloured)

    @property
    def widths(self) -> Any:
        """The widths of lines: those of models in colour are wider than grey ones."""
        return alt.condition(self.is_coloured, alt.value(2.5), alt.value(1))

    def in_front(self, data: pl.DataFrame) -> pl.DataFrame:
        """Return data with the rows of models in colour last, so that they are drawn in front of grey ones."""
        if not self.others:
            return data
        return data.sort(pl.col("model").is_in(self.coloured), maintain_order=True)

    @property
    def offset(self) -> alt.YOffset:
        """The encoding of models one below the other in a row."""
        return alt.YOffset("model:N", sort=self.by_value, scale=alt.Scale(paddingOuter=0.35))

    def line(self, base: alt.Chart, **encodings: Any) -> alt.Chart:
        """Return a line for each model."""
        if self.others:
            encodings |= {"strokeWidth": self.widths}
        line: alt.Chart = base.mark_line(strokeWidth=2).encode(color=self.colour(), **encodings)
        return line

    def points(self, base: alt.Chart, size: float, seen: Any) -> alt.Chart:
        """Return the points on the lines of models, of which some are seen, and of grey ones none."""
        conditions = [one for one in [seen] if one is not None]
        conditions += [self.is_coloured] if self.others else []
        # NOTE: a value of a channel is named as such: Altair takes milliseconds to find out what `alt.value` is one of
        opacity: Any = alt.OpacityValue(1)
        if conditions:
            every: Any = alt.LogicalAndPredicate
            opacity = alt.condition(every(**{"and": conditions}), alt.value(1), alt.value(0))
        points: alt.Chart = base.mark_point(filled=True, size=size).encode(
            **self.marks(), opacity=opacity
        )
        return points

    def told(self, fields: Fields) -> Fields:
        """Return the fields of a tooltip, the model first."""
        return {"model:N": "model", **fields} if self.named else fields

    def _each(
        self, values: Sequence[Any], shown: Collection[str] | None = None, *, legend: bool
    ) -> dict[str, Any]:
        domain = [*self.names, *filter(None, [self.others])]
        scale = {"domain": domain, "range": list(values[: len(domain)])}
        kept = [one for one in self.coloured if shown is None or one in shown]
        has_others = self.others and (shown is None or len({*shown} - {*kept}))
        kept += [self.others] * bool(has_others)
        above = legend_of(kept, self.look) if legend and self.named else None
        return {"shorthand": "model:N", "scale": scale, "legend": above}


def series_of(
    found: Any, data: pl.DataFrame, look: Look, column: str = "value", *, lower: bool = False
) -> Series:
    """Return the models of a summary, in their own order, that of an enum, or by their values."""
    best = (
        []
        if found.own_order_of_models and len(found.models) <= MOST_COLOURED
        else by_value(data, column, lower=lower)
    )
    return Series(found.models, look, best)


def best_word(metric: Metric[...]) -> str:
    """Return the word for the best value of a metric, or for the highest of one without a better end."""
    return "best" if metric.direction else "highest"


def tooltips(fields: Mapping[str, Any]) -> list[alt.Tooltip]:
    """Return the tooltips of fields, by their titles, and of numbers their formats; see `in_words`."""
    parts = ("title", "format")
    found = []
    for name, said in fields.items():
        options: Any = zip(parts, [said] if isinstance(said, str) else said, strict=False)
        found.append(alt.Tooltip(name, **dict(options)))
    return found


def legend_of(kept: Sequence[str], look: Look) -> alt.Legend:
    """Return a legend above the marks, in as many columns as fit."""
    # a legend begins where the marks do, and each name has a symbol and a gap beside it
    room = look.width - SIDES
    longest = max(map(len, kept), default=0) * LETTER
    width = min(longest, room - SYMBOL) + SYMBOL
    return alt.Legend(
        title=None,
        orient="top",
        direction="horizontal",
        columns=max(int(room // width), 1),
        labelLimit=math.ceil(width),
        values=[*kept],
        symbolOpacity=1,
    )


def inner_width(look: Look, left: float = SIDES) -> int:
    """Return the width of the marks of one of several views, which Vega-Lite does not fit into a width by itself."""
    return max(int(look.width - left), 80)


def lines(text: str, width: float) -> list[str]:
    """Return a text as lines that are no wider than so many pixels."""
    return textwrap.wrap(safe_text(text), max(int(width / LETTER), 12)) or [""]


def safe_text(text: str) -> str:
    """Return a text that ends no script where it is written into a page.

    NOTE: Altair writes names into a script of the page as they are, and "</script>" would end it. A word joiner, which nobody
    sees, stands in between. Vega-Lite writes them into expressions too, in which U+2028 and U+2029 would end a line.
    """
    for after in "/!sS":
        text = text.replace(f"<{after}", f"<\u2060{after}")
    return text.replace("\u2028", " ").replace("\u2029", " ")


def spoken(text: str) -> str:
    """Return a text as the title of a line of a tooltip.

    NOTE: Vega-Lite writes these titles into expressions, in which a backslash or the end of a line would go on as code.
    """
    plain = "".join(one if one.isprintable() else " " for one in safe_text(text))
    return plain.replace("\\", "\u2216")


def safe(data: pl.DataFrame) -> pl.DataFrame:
    """Return data whose texts end no script where they are written into a page."""
    texts = pl.col(pl.String).str.replace_all(r"<([/!sS])", "<\u2060${1}")
    texts = texts.str.replace_all("[\u2028\u2029]", " ")
    return data.with_columns(texts) if pl.String in data.dtypes else data


def is_bare(data: pl.DataFrame, *columns: str) -> bool:
    """Whether there is no number to draw in any of some columns."""
    return not any(data[name].count() for name in columns)


def drawn(data: pl.DataFrame) -> alt.Chart:
    """Return a chart of safe data, to which marks are given."""
    return alt.Chart(data)


def layered(
    data: pl.DataFrame, *layers: alt.Chart | alt.LayerChart, height: float
) -> alt.LayerChart:
    """Return layers of one view; those of the same data share it, and it is the `data` of the chart."""
    return alt.LayerChart(data=data, layer=list(layers), height=height)


def axis_title(metric: Metric[...], look: Look, *, length: float | None = None) -> list[str]:
    """Return a metric with its range and its better end, on lines that fit."""
    low, high = metric.range
    ends = {
        (False, False): f"{low:g} to {high:g}",
        (False, True): f"from {low:g} up",
        (True, False): f"up to {high:g}",
        (True, True): "",
    }[math.isinf(low), math.isinf(high)]
    direction = metric.direction
    told = ", ".join(filter(None, [ends, f"{direction} is better" if direction else ""]))
    text = f"{metric} ({told})" if told else str(metric)
    return lines(text, length or look.width - SIDES)


def number_format(metric: Metric[...]) -> str:
    """Return the number format of a metric's values in tooltips."""
    return ".4f" if metric.range == (0.0, 1.0) else ",.4~f"


def finished(  # noqa: PLR0913  the words of a chart
    chart: Chart,
    look: Look,
    title: str,
    subtitle: str = "",
    *,
    finding: str = "",
    numbers: Iterable[str] = (),
    empty: bool = False,
) -> Chart:
    """Return a chart with its title and in its theme; its main `numbers` are for those who do not see it.

    A `finding` is the title, where there is one, and what is drawn stands below it.
    """
    if empty:
        finding, subtitle = "", "There is nothing to draw: no user, list or finding."
    elif finding:
        title, subtitle = finding, f"{title}. {subtitle}"
    description = safe_text(f"{title}. {subtitle}{'' if empty else read_aloud(numbers)}")
    heading = alt.TitleParams(
        text=lines(title, look.width * 0.8),
        subtitle=lines(subtitle, look.width - 20),
        anchor="start",
        frame="bounds",
        offset=10,
    )
    options: dict[str, Any] = {"title": heading, "description": description}
    if isinstance(chart, alt.LayerChart) and look.theme is None:
        # charts that are put together cannot be fitted
        options["width"] = inner_width(look)
    elif isinstance(chart, alt.LayerChart):
        # the width is that of the whole chart, its axes included
        options |= {
            "width": look.width,
            "autosize": alt.AutoSizeParams(type="fit-x", contains="padding"),
        }
    titled: Chart = chart.properties(**options)
    return titled if look.theme is None else _themed(titled, look)


def _themed(chart: Chart, look: Look) -> Chart:
    """Return a chart on its ground, in the fonts and sizes that all have."""
    of = look.colours
    text = {"labelColor": of.quiet, "titleColor": of.ink, "labelFont": FONT, "titleFont": FONT}
    axis = {
        **text,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": of.grid,
        "domainColor": of.quiet,
        "tickColor": of.quiet,
        "labelLimit": max(look.width // 3, 90),
    }
    themed: Chart = chart.configure(
        background=of.background,
        font=FONT,
        padding=10,
        axis=axis,
        # more ticks than have room for their numbers would have none
        axisXQuantitative={"tickCount": max(look.width // 80, 3)},
        legend={**text, "labelColor": of.ink, "labelFontSize": 12, "symbolStrokeWidth": 2},
        header={**text, "labelColor": of.ink, "labelFontSize": 12},
        title={**TITLE, "color": of.ink, "subtitleColor": of.quiet},
        view={"stroke": None},
        text={"color": of.ink, "font": FONT, "fontSize": 11},
    )
    # the menu of a page does not offer to send the chart to an editor elsewhere
    themed["usermeta"] = {"embedOptions": {"actions": {"editor": False, "source": False}}}
    return themed
