"""Checks that the generator does not make: of files, texts of pictures, the network, and addresses in messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import project

LOADING = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
"""Elements for which a browser fetches a file."""
NOT_FETCHED = {"canonical", "alternate", "next", "prev", "edit"}
ELSEWHERE = [project.ROOT / name for name in ("README.md", "pyproject.toml", "CITATION.cff")]
"""Files that name addresses of the site, besides those of the package."""


class Page(HTMLParser):
    """A page: the files that it links, those that it loads, and its pictures without a text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.linked: list[str] = []
        self.loaded: list[str] = []
        self.wrong: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read an element."""
        has = {name: value or "" for name, value in attrs}
        source = has.get(LOADING.get(tag, ""), "")
        if source and not NOT_FETCHED & {*has.get("rel", "").split()}:
            self.loaded.append(source)
        if tag == "a" and has.get("href"):
            self.linked.append(has["href"])
        if tag == "img" and not has.get("alt", "").strip():
            self.wrong.append(f"a picture without a text: {source}")


def wrong() -> list[str]:
    """Return what is wrong with the site."""
    paths = sorted(project.SITE.rglob("*.html"))
    flaws = [f"{path.relative_to(project.SITE)}: {flaw}" for path in paths for flaw in _of(path)]
    return [*flaws, *_from_elsewhere()]


def _of(path: Path) -> Iterator[str]:
    page = Page(path)
    yield from page.wrong
    for url in page.loaded:
        if urlsplit(url).netloc:
            yield f"asks a network for {url}"
    # the page for what is not found may be shown at any address, so its links start at the site's
    for url in [*page.linked, *page.loaded] if path.name != "404.html" else ():
        parts = urlsplit(url)
        inside = not parts.scheme and not parts.netloc and parts.path
        if inside and not _is_there(path.parent / unquote(parts.path)):
            yield f"{url} leads nowhere"


def _from_elsewhere() -> Iterator[str]:
    """Walk the addresses of the site in messages, docstrings and other files that no page has."""
    for path in [*ELSEWHERE, *sorted((project.ROOT / "src").rglob("*.py"))]:
        text = path.read_text(encoding="utf-8")
        for url in re.findall(rf"{re.escape(project.ON_SITE)}[^\s)#\"'\\]*", text):
            if not _is_there(project.SITE / url.removeprefix(project.ON_SITE)):
                yield f"{path.relative_to(project.ROOT)}: {url} leads nowhere"


def _is_there(path: Path) -> bool:
    return (path / "index.html" if path.is_dir() else path).is_file()
