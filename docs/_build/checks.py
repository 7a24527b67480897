"""What must hold of the site as it was written: links and pictures are there, with anchors and texts; nothing is fetched."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import project
import redirects

LOADING = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
"""Elements that a browser fetches something for."""
ELSEWHERE = [project.ROOT / name for name in ("README.md", "pyproject.toml", "CITATION.cff")]
"""Files that name addresses of the site, beside those of the package."""
NOT_FETCHED = {"canonical", "alternate", "next", "prev", "edit"}


class Page(HTMLParser):
    """A page: what it links, what it loads and what can be linked in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.linked: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.wrong: list[str] = []
        self.levels: list[int] = []
        self.feed(text)
        if self.levels.count(1) != 1:
            self.wrong.append(f"{self.levels.count(1)} titles")
        if any(after > before + 1 for before, after in pairwise(self.levels)):
            self.wrong.append(f"headings that leave a level out: {self.levels}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element."""
        has = dict(attrs)
        self.anchors |= {has.get("id") or "", has.get("name") or ""}
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "a" and has.get("href"):
            self.linked.append(has["href"] or "")
        fetched = not (NOT_FETCHED & {*(has.get("rel") or "").split()})
        if tag in LOADING and has.get(LOADING[tag]) and fetched:
            self.loaded.append(has[LOADING[tag]] or "")
        if tag == "img" and not (has.get("alt") or "").strip():
            self.wrong.append(f"a picture without a text: {has.get('src')}")


@cache
def read(path: Path) -> Page:
    """Read a page."""
    return Page(path.read_text(encoding="utf-8"))


def wrong() -> list[str]:
    """Return what is wrong with the site."""
    paths = sorted(project.SITE.rglob("*.html"))
    found = [f"{path.relative_to(project.SITE)}: {one}" for path in paths for one in _of(path)]
    return [*found, *_from_elsewhere()]


def _from_elsewhere() -> Iterator[str]:
    """Walk the addresses of the site that stand in messages, docstrings and other files, and that no page has any more."""
    for path in [*ELSEWHERE, *sorted((project.ROOT / "src").rglob("*.py"))]:
        text = path.read_text(encoding="utf-8")
        for url in re.findall(rf"{re.escape(project.ON_SITE)}[^\s)#\"'\\]*", text):
            inside = url.removeprefix(project.ON_SITE)
            goal = project.SITE / inside
            there = (goal / "index.html" if goal.is_dir() else goal).is_file()
            if not there or inside in redirects.MOVED:
                yield f"{path.relative_to(project.ROOT)}: {url} leads nowhere"


def _of(path: Path) -> Iterator[str]:
    page = read(path)
    yield from page.wrong
    yield from (f"asks a network for {one}" for one in page.loaded if urlsplit(one).netloc)
    # the page for what is not found may be shown at any address, so its links start at the site's
    if path.name != "404.html":
        for one in [*page.linked, *page.loaded]:
            if not _leads(path, one):
                yield f"{one} leads nowhere"


def _leads(path: Path, link: str) -> bool:
    """Tell whether a link of a page leads to a file of the site, and to an anchor that it has."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return parts.scheme in {"https", "mailto"}
    own = path.relative_to(project.SITE).as_posix()
    inside = posixpath.normpath(posixpath.join(posixpath.dirname(own), unquote(parts.path)))
    goal = project.SITE / inside if parts.path else path
    goal = goal / "index.html" if goal.is_dir() else goal
    if not goal.is_file():
        return False
    anchor = re.sub(r"^:~:.*", "", unquote(parts.fragment))
    return not anchor or goal.suffix != ".html" or anchor in read(goal).anchors
