"""What must hold of the site as it was written: links and pictures are there, with anchors and texts; nothing is fetched."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import project

LOADING = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
"""Elements that a browser fetches something for."""
NOT_FETCHED = {"canonical", "alternate", "next", "prev", "edit"}


class Page(HTMLParser):
    """A page: what it links, what it loads and what can be linked in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.linked: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.wrong: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element."""
        has = dict(attrs)
        self.anchors |= {has.get("id") or "", has.get("name") or ""}
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
    return [*found, *(f"README.md: {one} leads nowhere" for one in _from_the_readme())]


def _from_the_readme() -> Iterator[str]:
    """Walk the README's links to pages of the site that are not there."""
    text = (project.ROOT / "README.md").read_text(encoding="utf-8")
    for url in re.findall(rf"{re.escape(project.ON_SITE)}[^\s)#]*", text):
        goal = project.SITE / url.removeprefix(project.ON_SITE)
        if not (goal / "index.html" if goal.is_dir() else goal).is_file():
            yield url


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
