"""Altair's charts as a page draws them: without titles, which the page has, and in colours that follow its theme."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recframe.look.themes import FONT, THEMES, Theme

LONGEST = 200
"""Of a text in a chart, in letters."""
WIDTH = 600
"""Of the charts that a page is given, in pixels; its script fits them into the place that there is."""


def _colours(theme: Theme) -> list[str]:
    """Return all colours of a theme in one order."""
    named = (theme.background, theme.ink, theme.quiet, theme.grid, theme.band)
    return [*named, *theme.models, *theme.severities.values()]


def pairs() -> dict[str, str]:
    """Return the colours of dark ground by those of light ground."""
    light, dark = (_colours(THEMES[name]) for name in ("light", "dark"))
    return dict(zip(light, dark, strict=True))


def variable(colour: str) -> str:
    """Return the name of a colour in the page's styles, where it has one value for each theme."""
    return f"--on-{colour.removeprefix('#')}"


_VARIABLES = {colour: f"var({variable(colour)})" for colour in pairs()}


def of_page(chart: Any) -> tuple[dict[str, Any], str, str]:
    """Return the specification of a chart for a page, and the title and subtitle that stood in it.

    NOTE: colours become names of the page's styles, so that a drawn chart follows the theme, on paper too, without being
    drawn again. Data is left as it is: a title of an item may look like a colour.
    """
    spec = short(chart.to_dict(validate=False))
    datasets = spec.pop("datasets", {})
    heading = spec.pop("title", {})
    spec.pop("usermeta", None)
    spec = _in_variables(spec)
    config = {**spec.get("config", {}), "background": None, "font": FONT, "aria": False}
    spec |= {"datasets": datasets, "config": config}
    return spec, _said(heading.get("text", "")), _said(heading.get("subtitle", ""))


def _said(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else " ".join(lines)


def short(value: Any) -> Any:
    """Return plain data whose texts have an end: names of models and segments, wherever they stand."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[:LONGEST] + "\u2026"
    if isinstance(value, Mapping):
        return {name: short(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [short(inner) for inner in value]
    return value


def _in_variables(value: Any) -> Any:
    if isinstance(value, str):
        return _VARIABLES.get(value, value)
    if isinstance(value, Mapping):
        return {name: _in_variables(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_in_variables(inner) for inner in value]
    return value
