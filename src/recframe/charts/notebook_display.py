"""Charts as notebooks show them, without a network.

A chart has a form for those that run Vega-Lite, and a static image. Altair's default is HTML with scripts from the network,
which an untrusted notebook does not run, nor GitHub. NOTE: it imports Altair, so `finished` imports it late.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Mapping
from typing import Any, TypeVar, cast

import altair as alt
from altair.utils.mimebundle import spec_to_mimebundle

Chart = TypeVar("Chart", bound=Any)
VEGA_LITE = "application/vnd.vegalite.v5+json"
"""The form that JupyterLab and VS Code draw. NOTE: neither knows that of version 6 yet, as which these charts look the same."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
SVG, PNG = "image/svg+xml", "image/png"
LARGEST_SVG = 300_000
"""Bytes; a larger one is stored as PNG, which does not grow with the number of marks."""
SCALE = 2
"""Pixels of a PNG for each pixel of the chart: screens have two and more."""
IDS = re.compile(r'(?<=\bid=")\w+(?=")|(?<=\burl\(#)\w+(?=\))')
"""Ids of an SVG, which notebooks write into one page with those of other charts."""


class Shown:
    """The part of a chart that a notebook asks for."""

    def __add__(self, other: Any) -> Any:
        return shown(super().__add__(other))  # type: ignore[misc]

    def __or__(self, other: Any) -> Any:
        return shown(super().__or__(other))  # type: ignore[misc]

    def __and__(self, other: Any) -> Any:
        return shown(super().__and__(other))  # type: ignore[misc]

    def __reduce__(self) -> tuple[Any, ...]:
        # as one of Altair's, by whose name it goes
        return shown, (_as(self, type(self).__mro__[2]),)

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:
        """Return the chart in the forms that a notebook may show; Altair's where it was told which to use."""
        if alt.renderers.active == "default" and not alt.renderers.options:
            try:
                return _forms(cast("alt.LayerChart", self))
            except Exception:  # noqa: BLE001, S110  Altair shows it without an image, or says why it cannot
                pass
        return super()._repr_mimebundle_(*args, **options)  # type: ignore[misc]


def _kind(of: type) -> type:
    """Return the class of charts of a kind; NOTE: under Altair's name, by which Streamlit and others know a chart."""
    return type(of.__name__, (Shown, of), {"__module__": of.__module__, "__doc__": of.__doc__})


ALTAIRS = (alt.LayerChart, alt.VConcatChart, alt.HConcatChart, alt.FacetChart)
KINDS: Mapping[type, type] = {one: _kind(one) for one in ALTAIRS}


def shown(chart: Chart) -> Chart:
    """Return a chart that notebooks show without a network; Altair's methods return such ones, too."""
    return cast("Chart", _as(chart, KINDS.get(type(chart), type(chart))))


def _as(chart: Any, kind: type) -> Any:
    """Return a chart, with all that it holds, as one of another class."""
    found: Any = object.__new__(kind)
    vars(found).update(vars(chart))
    return found


def _forms(chart: alt.LayerChart) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a chart as MIME types, and the size of an image in pixels."""
    spec = chart.to_dict(context={"pre_transform": False})
    forms = {VEGA_LITE: {**spec, "$schema": SCHEMA}, "text/plain": _words(spec)}
    svg = cast("str", spec_to_mimebundle(spec, format="svg", mode="vega-lite")[SVG])
    if len(svg.encode()) <= LARGEST_SVG:
        return {**forms, SVG: _with_own_ids(svg)}, {}
    made = spec_to_mimebundle(spec, format="png", mode="vega-lite", scale_factor=SCALE)
    image, size = cast("Any", made)
    in_pixels = {name: round(number / SCALE) for name, number in size[PNG].items()}
    return {**forms, PNG: base64.b64encode(image[PNG]).decode()}, {PNG: in_pixels}


def _words(spec: Mapping[str, Any]) -> str:
    """Return what a chart says in words: its description, or its title with what stands below it."""
    title = spec.get("title", "")
    parts = (
        [title.get(part, "") for part in ("text", "subtitle")]
        if isinstance(title, dict)
        else [title]
    )
    lines = [" ".join([part] if isinstance(part, str) else part) for part in parts]
    return spec.get("description") or ": ".join(filter(None, lines)) or "a chart"


def _with_own_ids(svg: str) -> str:
    """Return an SVG with ids that no other chart of the page has."""
    of_all = f"chart{zlib.crc32(IDS.sub('', svg).encode()):08x}"
    places = {name: place for place, name in enumerate(dict.fromkeys(IDS.findall(svg)))}
    return IDS.sub(lambda found: f"{of_all}-{places[found[0]]}", svg)
