"""A page in one file: a template with its styles, scripts and data, under a policy that lets it ask nothing of any network.

Another page (a history's, say) is made as the report is:

    content = Content("Title", "what is seen, in a sentence", [Section("overview", "Overview", "One plain sentence.", [
        Table("caption", [Column("model"), Column("ndcg@10", "number")], [[Cell("svd"), Cell("0.312", "0.30 to 0.32")]]),
        figure("chart-name", chart_of_rec_plot, "In words what the chart shows."),
    ])])
    Page(content).save("page.html")

Sections of text, tables and figures need nothing else; a page with parts of its own has a template that extends
`page.html.j2` and overrides its blocks (`report.html.j2` does), and a script and styles of its own, by their names.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import escape
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from recframe.errors import RecframeError, short, wrong_ending
from recframe.frames import atomic_write
from recframe.look.pages import specs, vega
from recframe.look.pages.parts import Content, Figure
from recframe.look.themes import FONT, THEMES

ENDINGS = (".html", ".htm")
LONGEST = 2000
"""Of a text that stands in a page, in letters; cells and titles are shorter."""
HEIGHT = 720
"""Of the frame that a page has in a notebook, in pixels."""


def figure(name: str, chart: Any, alt: str, *, title: str | None = None) -> Figure:
    """Return a chart of `rec.plot`, drawn in the light theme, as a figure of a page."""
    spec, own, told = specs.of_page(chart)
    return Figure(name, own if title is None else title, told, alt, spec)


@dataclass(frozen=True)
class Page:
    """A page: a notebook shows it, `.save(path)` writes it as one file, and `.html` is its text."""

    content: Content
    template: str = "page.html.j2"
    styles: tuple[str, ...] = ()
    """Files beside `page.css`."""
    scripts: tuple[str, ...] = ()
    """Files beside `page.js`."""

    @cached_property
    def html(self) -> str:
        """The page as text, with all that it needs in it."""
        charts = self.content.specs
        scripts = [*([vega.script()] if charts else []), *map(_file, ("page.js", *self.scripts))]
        early = _file("theme.js")
        made: str = (
            _templates()
            .get_template(self.template)
            .render(
                content=self.content,
                styles="\n".join([_variables(), *map(_file, ("page.css", *self.styles))]),
                early=early,
                scripts=scripts,
                blocks={"charts": in_json(charts), "data": in_json(specs.short(self.content.data))},
                policy=_policy([early, *scripts]),
            )
        )
        return made

    @property
    def data(self) -> dict[str, Any]:
        """The numbers of the page, as they stand in it."""
        return dict(self.content.data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file that ends in .html, which is there whole or not at all."""
        target = Path(path).expanduser()
        check_ending(str(path))
        if not target.parent.is_dir():
            msg = f"cannot write {str(path)!r}: there is no directory {str(target.parent)!r}"
            raise RecframeError(msg)
        atomic_write.write_text(path, self.html)

    def __repr__(self) -> str:
        n = len(self.content.sections)
        return f"<{short(self.content.title)}: a page of {n} section{'s' * (n != 1)}; .save('report.html') writes it>"

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, whose scripts and styles do not reach the notebook."""
        return (
            f'<iframe title="{escape(self.content.title)}" sandbox="allow-scripts" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:6px" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def check_ending(path: str) -> None:
    """Say that a file's ending is not that of a page."""
    ending = Path(path).suffix
    if ending.lower() not in ENDINGS:
        msg = f"cannot write {path!r}: {wrong_ending(ending)}; a page is an .html file"
        raise RecframeError(msg)


def in_json(value: Any) -> str:
    """Return JSON that ends no element of a page, whatever its texts are; numbers that JSON has no word for are null."""
    text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), default=str)
    # what JSON itself writes of these signs stands in texts alone
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # half of a sign of two has no bytes in a file
    return text.encode("utf-8", "replace").decode("utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _policy(scripts: list[str]) -> str:
    """Return the policy of a page: nothing is loaded from anywhere, and no other script than these runs."""
    hashes = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _variables() -> str:
    """Return the colours of the themes as variables of the page's styles."""
    light, dark = THEMES["light"], THEMES["dark"]
    of_charts = specs.pairs().items()

    def written(colours: list[tuple[str, str]]) -> str:
        return "".join(f"{name}:{value};" for name, value in colours)

    names = ("background", "ink", "quiet", "grid", "band")
    on_light = [(f"--{name}", getattr(light, name)) for name in names]
    on_light += [(specs.variable(one), one) for one, _ in of_charts]
    on_dark = [(f"--{name}", getattr(dark, name)) for name in names]
    on_dark += [(specs.variable(one), other) for one, other in of_charts]
    dark_text = written(on_dark)
    return (
        f":root{{--font:{FONT};{written(on_light)}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark_text}}}}}"
        f"@media screen{{:root[data-theme=dark]{{{dark_text}}}}}"
    )


@lru_cache
def _file(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _with_an_end(value: Any) -> Any:
    """Return what a template writes, of a plain text no more than anybody reads."""
    is_long = type(value) is str and len(value) > LONGEST
    return value[:LONGEST] + "\u2026" if is_long else value


def check_installed() -> None:
    """Say what is not installed that a page with charts needs."""
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
        finalize=_with_an_end,
        loader=jinja2.FunctionLoader(_file),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
