"""The style of all charts: titles, colours, axes and theme.

NOTE: the files of this room that draw take Altair from here, which imports it when a chart is drawn. A chart's data has been
aggregated before, under names of its own, so that no name of a user's column, model or segment is ever read as part of a
specification.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from recframe.charts.themes import ALL, DASHES, FONT, SHAPES, Look
from recframe.errors import RecframeError
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
Fields = Mapping[str, str | tuple[str, str]]
"""The titles of a tooltip's fields, and of numbers their formats."""
LETTER = 6.4
"""Average width of a letter, in pixels."""
SIDES = 110
"""The width beside the marks: the axis on the left and the padding."""
SYMBOL = 34
"""Width of a legend symbol with the gap after its name, in pixels."""
TITLE = {"fontSize": 15, "subtitleFontSize": 12, "font": FONT, "subtitleFont": FONT}

__all__ = [
    "LETTER",
    "SIDES",
    "Canvas",
    "Fields",
    "Series",
    "alt",
    "axis_title",
    "drawn",
    "finished",
    "inner_width",
    "is_bare",
    "layered",
    "legend_of",
    "lines",
    "number_format",
    "rows_of_models",
    "safe",
    "safe_text",
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
        """The same `rec`, with answers in frames of Polars."""
        return self._of._in_polars()  # noqa: SLF001  the methods of this room are those of a Rec


@dataclass(frozen=True)
class Series:
    """Models of a chart by name, each with fixed colour and shape."""

    given: Sequence[str]
    look: Look

    @property
    def names(self) -> list[str]:
        """The names as they stand in safe data."""
        return [safe_text(one) for one in self.given or [ALL]]

    @property
    def named(self) -> bool:
        """Whether there are models to tell apart."""
        return self.names != [ALL]

    @property
    def colours(self) -> list[str]:
        """The colour of each model."""
        colours = self.look.colours.models
        return [colours[place % len(colours)] for place in range(len(self.names))]

    @property
    def dashes(self) -> list[list[int]]:
        """The dashes of each model, which change with each round of colours."""
        every = len(self.look.colours.models)
        return [DASHES[place // every % len(DASHES)] for place in range(len(self.names))]

    def colour(self, *, legend: bool = True, shown: Collection[str] | None = None) -> alt.Color:
        """Return the encoding of models by colour; a legend may show some of them alone."""
        return alt.Color(**self._each(self.colours, shown, legend=legend))

    def dash(self, *, legend: bool = True) -> alt.StrokeDash:
        """Return the encoding of models by dashes, beyond the colours."""
        return alt.StrokeDash(**self._each(self.dashes, legend=legend))

    def shape(self, *, legend: bool = True, shown: Collection[str] | None = None) -> alt.Shape:
        """Return the encoding of models by shapes, which are told apart on paper without colours, too."""
        shapes = [SHAPES[place % len(SHAPES)] for place in range(len(self.names))]
        return alt.Shape(**self._each(shapes, shown, legend=legend))

    def marks(self, **legend: Any) -> dict[str, Any]:
        """Return the encodings of points: colours and shapes."""
        return {"color": self.colour(**legend), "shape": self.shape(**legend)}

    def line(self, base: alt.Chart, **encodings: Any) -> alt.Chart:
        """Return a line for each model."""
        line: alt.Chart = base.mark_line(strokeWidth=2).encode(
            color=self.colour(), strokeDash=self.dash(), **encodings
        )
        return line

    def points(self, base: alt.Chart, size: float, opacity: Any) -> alt.Chart:
        """Return the points on the lines of models."""
        solid = alt.StrokeDashValue([])
        points: alt.Chart = base.mark_point(filled=True, size=size).encode(
            **self.marks(), strokeDash=solid, opacity=opacity
        )
        return points

    def told(self, fields: Fields) -> Fields:
        """Return the fields of a tooltip, the model first."""
        return {"model:N": "model", **fields} if self.named else fields

    def _each(
        self, values: Sequence[Any], shown: Collection[str] | None = None, *, legend: bool
    ) -> dict[str, Any]:
        scale = {"domain": self.names, "range": values}
        above = legend_of(self.names, self.look, shown) if legend and self.named else None
        return {"shorthand": "model:N", "scale": scale, "legend": above}


def tooltips(fields: Fields) -> list[alt.Tooltip]:
    """Return the tooltips of fields, by their titles, and of numbers their formats."""
    parts = ("title", "format")
    found = []
    for name, said in fields.items():
        options: Any = zip(parts, [said] if isinstance(said, str) else said, strict=False)
        found.append(alt.Tooltip(name, **dict(options)))
    return found


def rows_of_models(
    data: pl.DataFrame,
    series: Series,
    row: alt.Y,
    fields: Fields,
    *,
    side_by_side: bool,
) -> alt.Chart:
    """Return rows with what is told of each, in which models may stand side by side."""
    base = drawn(data).encode(y=row, tooltip=tooltips(fields))
    if not side_by_side:
        return base
    offset = alt.YOffset("model:N", sort=series.names, scale=alt.Scale(paddingOuter=0.35))
    return base.encode(yOffset=offset)


def legend_of(names: Sequence[str], look: Look, shown: Collection[str] | None = None) -> alt.Legend:
    """Return a legend above the marks, in as many columns as fit."""
    kept = [name for name in names if shown is None or name in shown]
    # a legend begins where the marks do, and each name has a symbol and a gap beside it
    room = look.width - SIDES
    widths = [min(len(one) * LETTER, room - SYMBOL) + SYMBOL for one in kept]
    fit = len(kept) if sum(widths) <= room else int(room // max(widths, default=room))
    return alt.Legend(
        title=None,
        orient="top",
        direction="horizontal",
        columns=max(min(fit, len(kept)), 1),
        labelLimit=math.ceil(max(widths, default=SYMBOL)),
        values=kept,
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
    direction = metric.definition.direction
    told = ", ".join(filter(None, [ends, f"{direction} is better" if direction else ""]))
    text = f"{metric} ({told})" if told else str(metric)
    return lines(text, length or look.width - SIDES)


def number_format(metric: Metric[...]) -> str:
    """Return the number format of a metric's values in tooltips."""
    return ".4f" if metric.range == (0.0, 1.0) else ",.4~f"


def finished(
    chart: Chart, look: Look, title: str, subtitle: str = "", *, empty: bool = False
) -> Chart:
    """Return a chart with its title and in its theme."""
    subtitle = "There is nothing to draw: no user, list or finding." if empty else subtitle
    heading = alt.TitleParams(
        text=lines(title, look.width * 0.8),
        subtitle=lines(subtitle, look.width - 20),
        anchor="start",
        frame="bounds",
        offset=10,
    )
    options: dict[str, Any] = {"title": heading}
    if isinstance(chart, alt.LayerChart) and look.theme is None:
        # charts that are put together cannot be fitted
        options["width"] = inner_width(look)
    elif isinstance(chart, alt.LayerChart):
        # the width is that of the whole chart, its axes included
        options |= {
            "width": look.width,
            "autosize": alt.AutoSizeParams(type="fit-x", contains="padding"),
        }
    from recframe.charts.notebook_display import shown  # noqa: PLC0415  it imports Altair

    titled = chart.properties(**options)
    return shown(titled if look.theme is None else _themed(titled, look))


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
