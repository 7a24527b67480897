"""Theme of all charts as data: colours, fonts and sizes.

The colours are those of Okabe and Ito, which people with colour-blind eyes tell apart, without yellow, which paper swallows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from recframe.frames import options

ThemeName = Literal["light", "dark"]
NARROWEST = 240
"""Least width of a chart, in pixels."""
MOST_COLOURED = 8
"""Most models that all have a colour; of more, the best two have one."""
ALL = "all lists"
"""Name of the series where no models are bound."""
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


class Theme(NamedTuple):
    """The colours on one kind of ground."""

    background: str
    ink: str
    quiet: str
    """Colour of axes and secondary text."""
    grid: str
    band: str
    """Colour of areas behind the marks, such as a margin."""
    others: str
    """Colour of models that are not highlighted."""
    models: tuple[str, ...]
    warning: str


THEMES: Mapping[ThemeName, Theme] = {
    "light": Theme(
        background="#ffffff",
        ink="#1f2328",
        quiet="#59636e",
        grid="#e4e7eb",
        band="#d9dee4",
        others="#b3bac2",
        models=(
            "#0072b2",
            "#d55e00",
            "#009e73",
            "#cc79a7",
            "#e69f00",
            "#56b4e9",
            "#4d4d4d",
            "#6a3d9a",
        ),
        warning="#e69f00",
    ),
    "dark": Theme(
        background="#16191d",
        ink="#e6e9ec",
        quiet="#a4adb6",
        grid="#2c3238",
        band="#3a424b",
        others="#5a636d",
        models=(
            "#3fa0dc",
            "#f0803c",
            "#22b98d",
            "#d88fb8",
            "#eab13c",
            "#8accf2",
            "#c9ced3",
            "#a78bda",
        ),
        warning="#eab13c",
    ),
}


@dataclass(frozen=True)
class Look:
    """The theme and the width of charts."""

    theme: ThemeName = "light"
    width: int = 600
    """Of the whole chart, in pixels."""
    highlight: tuple[str, ...] = ()
    """Names of the models in colour; all others are grey. Without any, a chart chooses where there are many models."""

    def __post_init__(self) -> None:
        """Reject unknown themes and invalid widths."""
        options.one_of("theme", self.theme, THEMES)
        options.whole("width", self.width, NARROWEST)

    @property
    def colours(self) -> Theme:
        """The colours of the theme."""
        return THEMES[self.theme]

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of Vega-Lite: a ground, and the fonts and sizes that all charts have."""
        of = self.colours
        text = {"labelColor": of.ink, "labelFontSize": 12}
        return {
            "background": of.background,
            "font": FONT,
            "padding": 10,
            "view": {"stroke": None},
            "axis": {
                "gridColor": of.grid,
                "domainColor": of.quiet,
                "tickColor": of.quiet,
                "labelFontSize": 11,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "labelColor": of.quiet,
                "titleColor": of.ink,
                "labelLimit": max(self.width // 3, 90),
            },
            # more ticks than have room for their numbers would have none
            "axisX": {
                "tickCount": max(self.width // 80, 3),
                "labelOverlap": True,
                "labelSeparation": 6,
            },
            "legend": {**text, "symbolStrokeWidth": 2, "symbolOpacity": 1, "labelLimit": 150},
            "header": text,
            "title": {
                "fontSize": 15,
                "subtitleFontSize": 12,
                "color": of.ink,
                "subtitleColor": of.quiet,
            },
        }
