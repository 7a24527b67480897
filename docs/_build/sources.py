"""Gathers the pages: those written by hand, and those that modules of this folder make with `pages()`."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import keywords
import links
import listings
import project

AT_THE_ROOT = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""Pages that stand beside the README, where people look for them."""


def pages() -> dict[str, Any]:
    """Return every page that is gathered or made, by its path on the site."""
    written = by_hand()
    made = generated()
    if twice := written.keys() & made.keys():
        msg = f"pages written by hand and made by a module: {', '.join(sorted(twice))}"
        raise ValueError(msg)
    places = {source.as_posix(): page for page, source in written.items()}
    every = {
        page: links.on_the_site(
            (project.ROOT / source).read_text(encoding="utf-8"), source, places, made.keys()
        )
        for page, source in written.items()
    } | made
    return {
        name: _page(name, text) if name.endswith(".md") else text for name, text in every.items()
    }


def by_hand() -> dict[str, Path]:
    """Return the pages that are written by hand, each with its file, relative to the root."""
    inside = {
        path.relative_to(project.DOCS).as_posix(): path.relative_to(project.ROOT)
        for path in sorted(project.DOCS.rglob("*.md"))
        if "_build" not in path.parts
    }
    return inside | {page: Path(name) for name, page in AT_THE_ROOT.items()}


def generated() -> dict[str, Any]:
    """Return the pages that are made; a module that makes some has a function `pages()`."""
    made: dict[str, Any] = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        says = path.read_text(encoding="utf-8")
        if path != Path(__file__) and re.search(r"^def pages\(\)", says, re.MULTILINE):
            made |= importlib.import_module(path.stem).pages()
    return made


def assets() -> dict[str, Path]:
    """Return the files that go to the site as they are, each by its path there."""
    kinds = {".css", ".js", ".png", ".svg", ".txt"}
    return {
        path.relative_to(project.DOCS).as_posix(): path
        for path in sorted(project.DOCS.rglob("*"))
        if path.suffix in kinds and "_build" not in path.parts
    }


def _page(name: str, text: str) -> str:
    """Return a page without comments, its examples as code that can be pasted and what it shows."""
    text = keywords.shown(name, text)
    return listings.outside_code(
        listings.to_paste(text), lambda part: re.sub(r"<!--.*?-->\n?", "", part, flags=re.DOTALL)
    )
