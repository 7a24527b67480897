"""Links of pages that are written by hand: files of a clone and addresses of the site become links from page to page."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping
from pathlib import Path

import listings
import project

LINK = re.compile(r"(?<=\]\()([^)\s#]+)")


def on_the_site(text: str, source: Path, places: Mapping[str, str], made: Collection[str]) -> str:
    """Return a page's text with its links as they are on the site.

    A link to a file that is a page leads to the page, a link to another file to the repository.
    """
    own = posixpath.dirname(places[source.as_posix()])

    def led(found: re.Match[str]) -> str:
        goal = _goal(found[1], source, places, made)
        if goal is None:
            msg = f"{source}: {found[1]} leads nowhere"
            raise ValueError(msg)
        return goal if re.match(r"[a-z]+:", goal) else posixpath.relpath(goal, own or ".")

    return listings.outside_code(text, lambda part: LINK.sub(led, part))


def _goal(link: str, source: Path, places: Mapping[str, str], made: Collection[str]) -> str | None:
    """Return the page that a link leads to, or its address; None where there is neither."""
    if link.startswith(project.ON_SITE):
        return _page(link.removeprefix(project.ON_SITE), {*made, *places.values()})
    if re.match(r"[a-z]+:", link):
        return link
    path = posixpath.normpath((source.parent / link).as_posix())
    named = (path.replace(".ipynb", ".md"), f"{path}/index.md")
    if page := places.get(path) or next((one for one in named if one in made), None):
        return page
    there = project.ROOT / path
    if not there.exists() or not there.resolve().is_relative_to(project.ROOT):
        return None
    if path.startswith("docs/") and "_build" not in path and there.is_file():
        return path.removeprefix("docs/")
    return f"{project.REPOSITORY}/{'tree' if there.is_dir() else 'blob'}/main/{path}"


def _page(address: str, pages: Collection[str]) -> str | None:
    """Return the page at an address of the site."""
    written = re.sub(r"(^|/)$", r"\1index.html", address)
    return next((one for one in (written, written.replace(".html", ".md")) if one in pages), None)
