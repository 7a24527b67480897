"""Links of pages that are written by hand, which lead from file to file in a clone: on the site they lead from page to page."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping
from pathlib import Path

import listings
import project

LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?((?: \"[^\"]*\")?\))")


def on_the_site(text: str, source: Path, places: Mapping[str, str], made: Collection[str]) -> str:
    """Return a page's text with its links as they are on the site.

    A link to a file that is a page leads to the page, one to a file that the site does not have to the repository.
    """
    own = places[source.as_posix()]

    def led(found: re.Match[str]) -> str:
        before, target, anchor, behind = found[1], found[2], found[3] or "", found[4]
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        goal = _goal(posixpath.normpath((source.parent / target).as_posix()), places, made)
        if goal is None:
            msg = f"{source}: {target} leads nowhere"
            raise ValueError(msg)
        if not goal.startswith("https:"):
            goal = posixpath.relpath(goal, posixpath.dirname(own) or ".")
        return f"{before}{goal}{anchor}{behind}"

    return listings.outside_code(text, lambda part: LINK.sub(led, part))


def _goal(path: str, places: Mapping[str, str], made: Collection[str]) -> str | None:
    """Return the page that a path of the repository is, its address, or None where there is no such path."""
    inside = path.removeprefix("docs/")
    on_site = {*made, *places.values()}
    named = (places.get(path), inside, f"{inside}/index.md", path.replace(".ipynb", ".md"))
    found = next((one for one in named if one in on_site), None)
    if found is not None:
        return found
    there = project.ROOT / path
    if not there.exists() or not there.resolve().is_relative_to(project.ROOT):
        return None
    if path.startswith("docs/") and not inside.startswith("_build") and there.is_file():
        return inside
    return f"{project.REPOSITORY}/{'tree' if there.is_dir() else 'blob'}/main/{path}"
