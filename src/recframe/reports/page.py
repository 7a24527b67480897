"""Pages in one file: sections of text, tables and drawn charts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html import escape
from importlib import import_module, resources
from pathlib import Path
from typing import Any, NamedTuple

from recframe import atomic_write
from recframe.charts.formatting import counted
from recframe.errors import RecframeError, short, wrong_ending

ENDINGS = (".html", ".htm")
WIDTHS = {"wide": 620, "narrow": 360}
"""Widths of each chart, in pixels; a style shows the one that fits."""
LONGEST = 2000
"""Longest alternative text, in characters."""
HEIGHT = 720
"""Height of a page's frame in a notebook, in pixels."""
NOT_SEEN = re.compile(
    r'<path class="(?:back|fore)ground"[^>]*/>'
    r'| (?:font-family|role|aria-hidden|aria-roledescription|pointer-events)="[^"]*"'
    r'| opacity="1"'
)
"""Parts of a drawing by Vega that change nothing: styles of the page have the font."""
LABEL = re.compile(r'aria-label="([^"]*)" role="[^"]*" aria-roledescription="([^"]*)"')
PLACES = re.compile(r'(?<= )(?:d|transform)="[^"]*"')


class Figure(NamedTuple):
    """A chart with its title and subtitle, drawn once for each of `WIDTHS`."""

    name: str
    title: str
    told: str
    drawings: Mapping[str, str]
    kind: str = "figure"


class Text(NamedTuple):
    """Paragraphs and lists, folded below a title where there is one."""

    blocks: Sequence[str | Sequence[str]]
    title: str = ""
    kind: str = "text"


class Findings(NamedTuple):
    """Rows of an audit."""

    rows: Sequence[Mapping[str, Any]]
    kind: str = "findings"


class Section(NamedTuple):
    """Part of a page: HTML id, heading, parts and first sentence."""

    name: str
    title: str
    parts: Sequence[Any] = ()
    lead: str = ""


@dataclass(frozen=True)
class Page:
    """A page: a notebook shows it, `.save(path)` writes it as one file, and `.html` is its text."""

    title: str
    headline: str
    """The first sentences."""
    sections: Sequence[Section]
    facts: Mapping[str, str] = field(default_factory=dict)
    """Names and values below the headline."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The numbers of the page as plain data."""
    footer: str = ""
    warns: bool = False
    """Whether the headline says why the numbers decide nothing."""

    @cached_property
    def html(self) -> str:
        """The page as text, with all that it needs in it."""
        first, dot, others = self.headline.replace(" %", "\u00a0%").partition(". ")
        files = {name: _file(name) for name in ("page.css", "hover.js")}
        sentence = {"first": first + dot, "others": others}
        made: str = _template().render(page=self, sentence=sentence, files=files)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file that ends in .html, which is there whole or not at all."""
        check_ending(str(path))
        atomic_write.write_text(path, self.html)

    def __repr__(self) -> str:
        sections = counted(len(self.sections), "section")
        return f"<{short(self.title)}: {sections}; .save('report.html') writes it>"

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, whose script and styles do not reach the notebook."""
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:6px" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def figure(name: str, draw: Callable[[int], Any]) -> Figure:
    """Return the chart that is drawn at a width, as a figure of a page."""
    drawings = {}
    words = ["", ""]
    for place, width in WIDTHS.items():
        spec = draw(width).to_dict(validate=False)
        heading = spec.pop("title", {})
        alternative = spec.pop("description", "")
        words = [" ".join(heading.get(part, "")) for part in ("text", "subtitle")]
        drawn = _drawn(spec, f"{name}-{place}")
        label = escape(alternative[:LONGEST])
        drawings[place] = drawn.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    return Figure(name, words[0], words[1], drawings)


def _drawn(spec: Mapping[str, Any], name: str) -> str:
    """Return a chart as SVG, with a label at each point and no more than is seen."""
    import altair as alt  # noqa: PLC0415  an extra
    import vl_convert  # noqa: PLC0415

    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    # NOTE: Vega writes some names into expressions, which the ends of lines of Unicode end
    given = re.sub(r"\\u202[89]", " ", json.dumps(spec))
    text = vl_convert.vegalite_to_svg(given, vl_version=version)
    # a line has the label of its first row
    text = LABEL.sub(lambda of: f'class="point" aria-label="{of[1]}"' * (of[2] == "point"), text)
    text = PLACES.sub(lambda of: re.sub(r"(\.\d)\d+", r"\1", of[0]), NOT_SEEN.sub("", text))
    # ids are those of the whole page
    return re.sub(r'(id="|url\(#)clip', rf"\g<1>{name}-clip", text)


def check_ending(path: str) -> None:
    """Reject a file ending other than that of a page."""
    ending = Path(path).suffix
    if ending.lower() not in ENDINGS:
        raise RecframeError(
            f"cannot write {path!r}: {wrong_ending(ending)}; a page is an .html file"
        )


def check_installed() -> None:
    """Raise an error for missing packages of pages with charts."""
    try:
        for name in ("jinja2", "altair", "vl_convert"):
            import_module(name)
    except ModuleNotFoundError as missing:
        raise RecframeError(
            f"a report needs {missing.name}, which is not installed; write: pip install 'recframe[report]'"
        ) from None


@lru_cache
def _file(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _template() -> Any:
    """Return the template of a page, which is read once."""
    check_installed()
    import jinja2  # noqa: PLC0415  an extra

    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.FunctionLoader(_file),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2")
