"""A page in one file that needs no network.

Another page (a history's, say) is made as the report is:

    content = Content("Title", "what is seen, in a sentence", [Section("overview", "Overview", "One plain sentence.", [
        Table("caption", [Column("model"), Column("ndcg@10", "number")], [[Cell("svd"), Cell("0.312", "0.30 to 0.32")]]),
        figure("chart-name", chart_of_rec_plot),
    ])])
    Page(content).save("page.html")

Sections of text, tables and figures need nothing else; a page with parts of its own has a template that extends
`page.html.j2` and overrides its blocks (`report.html.j2` does), and a script and styles of its own, by their names.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html import escape
from importlib import import_module, resources
from pathlib import Path
from typing import Any, ClassVar

from recframe.charts.formatting import counted
from recframe.errors import DataError, RecframeError, short, wrong_ending
from recframe.frames import atomic_write

ENDINGS = (".html", ".htm")
LONGEST = 2000
"""Longest text of a page, in characters; cells and titles are shorter."""
LONGEST_OF_CHARTS = 200
"""Longest text of a chart, in characters."""
HEIGHT = 720
"""Height of a page's frame in a notebook, in pixels."""
SNIPPET = "window.vegaEmbed = vegaEmbed;"


@dataclass(frozen=True)
class Figure:
    """A chart with its title, its subtitle, and the words for those who do not see it."""

    kind: ClassVar[str] = "figure"
    name: str
    """HTML id, such as "chart-curve-ndcg"."""
    title: str
    told: str
    alt: str
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Text:
    """Paragraphs and lists, collapsible under an optional title."""

    kind: ClassVar[str] = "text"
    blocks: Sequence[str | Sequence[str]]
    title: str = ""


def notes_below(notes: Sequence[str], about: str) -> list[Text]:
    """Return remarks as a folded list, or nothing without one."""
    return [Text([notes], f"{counted(len(notes), 'note')} {about}")] if notes else []


@dataclass(frozen=True)
class Tile:
    """A number to see first: its title, the number, and a line below it."""

    title: str
    text: str
    small: str = ""
    mark: str = ""
    """Style, as of a cell."""


@dataclass(frozen=True)
class Tiles:
    """A few numbers side by side."""

    kind: ClassVar[str] = "tiles"
    tiles: Sequence[Tile]


@dataclass
class Section:
    """Section: heading, lead sentence and parts."""

    name: str
    """HTML id."""
    title: str
    lead: str = ""
    """The sentence at its start; a section without it is not shown."""
    parts: list[Any] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Sentences on missing parts, and what to bind to see them."""


@contextmanager
def where_it_can(section: Section) -> Iterator[None]:
    """Leave out what frames or policies do not allow, with the reason; data errors are raised."""
    try:
        yield
    except DataError:
        raise
    except RecframeError as error:
        section.missing.append(str(error))


@dataclass(frozen=True)
class Content:
    """Content of a whole page."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = ()
    """Names and values below the title."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Data for the page's scripts and for other programs, as JSON."""
    footer: str = ""
    banner: str = ""
    """Why the numbers of the page mean nothing."""

    @property
    def specs(self) -> dict[str, Mapping[str, Any]]:
        """The charts by their names."""
        parts = [part for section in self.sections for part in section.parts]
        return {part.name: part.spec for part in parts if part.kind == "figure"}


@dataclass(frozen=True)
class Page:
    """A page: a notebook shows it, `.save(path)` writes it as one file, and `.html` is its text."""

    content: Content
    template: str = "page.html.j2"
    styles: tuple[str, ...] = ()
    """Style sheets besides `page.css`."""
    scripts: tuple[str, ...] = ()
    """Scripts besides `page.js`."""

    @cached_property
    def html(self) -> str:
        """The page as text, with all that it needs in it."""
        charts = self.content.specs
        data = _shortened(self.content.data)
        early, *scripts = map(_file, ("theme.js", "page.js", *self.scripts))
        scripts = [*([vega()] if charts else []), *scripts]
        made: str = (
            _templates()
            .get_template(self.template)
            .render(
                content=self.content,
                styles="\n".join(map(_file, ("page.css", *self.styles))),
                early=early,
                scripts=scripts,
                blocks={"charts": in_json(charts), "data": in_json(data)},
            )
        )
        return made

    @property
    def data(self) -> dict[str, Any]:
        """The numbers of the page, as they stand in it."""
        return dict(self.content.data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file that ends in .html, which is there whole or not at all."""
        check_ending(str(path))
        folder = Path(path).expanduser().parent
        if not folder.is_dir():
            msg = f"cannot write {str(path)!r}: there is no directory {str(folder)!r}"
            raise RecframeError(msg)
        atomic_write.write_text(path, self.html)

    def __repr__(self) -> str:
        sections = counted(len(self.content.sections), "section")
        return f"<{short(self.content.title)}: {sections}; .save('report.html') writes it>"

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, whose scripts and styles do not reach the notebook."""
        return (
            f'<iframe title="{escape(self.content.title)}" sandbox="allow-scripts" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:6px" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def figure(name: str, chart: Any) -> Figure:
    """Return a chart of `rec.plot`, drawn in the light theme, as a figure of a page.

    Vega names the chart by its description, for those who do not see it.
    """
    given: dict[str, Any] = chart.to_dict(validate=False)
    words = f"{given.pop('description', '')} Its numbers stand below it.".strip()
    spec = _shortened(given)
    heading = spec.pop("title", {})
    spec.pop("usermeta", None)
    lines = [heading.get(part, "") for part in ("text", "subtitle")]
    title, told = (line if isinstance(line, str) else " ".join(line) for line in lines)
    config = {**spec.get("config", {}), "aria": False}
    spec = {**spec, "description": _cut(words), "config": config}
    return Figure(name, title, told, words, spec)


def check_ending(path: str) -> None:
    """Reject a file ending other than that of a page."""
    ending = Path(path).suffix
    if ending.lower() not in ENDINGS:
        msg = f"cannot write {path!r}: {wrong_ending(ending)}; a page is an .html file"
        raise RecframeError(msg)


def in_json(value: Any) -> str:
    """Return JSON that ends no element of a page, whatever its texts are; numbers that JSON has no word for are null."""
    finite = _mapped(
        value, lambda one: one if not isinstance(one, float) or math.isfinite(one) else None
    )
    text = json.dumps(finite, ensure_ascii=False, separators=(",", ":"), default=str)
    # what JSON itself writes of these signs stands in texts alone
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # half of a sign of two has no bytes in a file
    return text.encode("utf-8", "replace").decode("utf-8")


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return plain data with its inner values changed."""
    if isinstance(value, Mapping):
        return {str(name): _mapped(inner, change) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(inner, change) for inner in value]
    return change(value)


def _shortened(data: Any) -> Any:
    """Return plain data with truncated texts, such as names of models and segments."""
    return _mapped(data, lambda value: _cut(value, LONGEST_OF_CHARTS))


def _cut(value: Any, longest: int = LONGEST) -> Any:
    """Return a plain text no longer than anybody reads."""
    is_long = type(value) is str and len(value) > longest
    return value[:longest] + "\u2026" if is_long else value


@lru_cache
def _file(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")


def check_installed() -> None:
    """Raise an error for missing packages of pages with charts."""
    try:
        for name in ("jinja2", "altair", "vl_convert"):
            import_module(name)
    except ModuleNotFoundError as missing:
        msg = f"a report needs {missing.name}, which is not installed; write: pip install 'recframe[report]'"
        raise RecframeError(msg) from None


@lru_cache(maxsize=1)
def _templates() -> Any:
    check_installed()
    import jinja2  # noqa: PLC0415  an extra

    return jinja2.Environment(
        autoescape=True,
        finalize=_cut,
        loader=jinja2.FunctionLoader(_file),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@lru_cache(maxsize=1)
def vega() -> str:
    """Return the scripts that draw charts, Vega and Vega-Lite, which give a page the function `vegaEmbed`.

    NOTE: to put it together takes vl-convert some seconds, so that it is kept in a folder of the user's, under the versions
    that it is made of. Where the folder cannot be written to, it is made once in each process.
    """
    import altair as alt  # noqa: PLC0415  an extra
    import vl_convert  # noqa: PLC0415

    grammar = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    version = vl_convert.__version__  # type: ignore[attr-defined]  # which its stubs leave out
    caches = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    folder = (Path(caches) if caches else Path.home() / ".cache") / "recframe"
    kept = folder / f"vega-{version}-{grammar}.js"
    with suppress(OSError, UnicodeError):
        return kept.read_text(encoding="utf-8")
    made = vl_convert.javascript_bundle(SNIPPET, vl_version=grammar)
    # what would end the element that the script stands in
    made = made.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    with suppress(OSError, RecframeError):
        folder.mkdir(parents=True, exist_ok=True)
        atomic_write.write_text(kept, made)
    return made
