"""What stands where on the site: its sections, the order of pages in them, and the generator's configuration."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import project

import recframe as rf

SECTIONS: dict[str, list[Any]] = {
    "Start": [
        *("index.md", "start.md", "ways_in.md", "which_metric.md", "gallery.md", "questions.md"),
        {"Notebooks": ["notebooks/"]},
    ],
    "How to": [
        *("how_to/", "shell.md"),
        {
            "Concepts": [
                *("concepts/", "uncertainty.md", "over_time.md", "engines.md", "audit.md"),
            ]
        },
    ],
    "Metrics": ["metrics/"],
    "Coming from": ["from/", "equivalents.md"],
    "Reference": [
        "reference/",
        {"Methods of rec": ["reference/rec/"]},
        {"Charts": ["reference/plot/"]},
        {"Splits": ["reference/split/"]},
    ],
    "About": [
        *("about.md", "benchmarks.md", "architecture.md", "contributing.md", "releasing.md"),
        "changelog.md",
    ],
}
"""The pages of each tab: a folder with all that stands right in it, a table with a group of them."""

TITLES = {"index.md": "recframe"}
"""Pages whose title is too long for a menu."""


def config(pages: Mapping[str, str]) -> str:
    """Return the configuration of the generator."""
    fixed = (Path(__file__).parent / "zensical.toml").read_text(encoding="utf-8")
    nav = [{title: one} for title, one in sections(pages).items()]
    named = {
        "site_description": project.DESCRIPTION,
        "site_url": project.ON_SITE,
        "nav": nav,
    }
    head = "\n".join(f"{key} = {_toml(value)}" for key, value in named.items())
    return fixed.replace("[project]\n", f"[project]\n{head}\n", 1).replace(
        "REPOSITORY", project.REPOSITORY
    )


def sections(pages: Mapping[str, str]) -> dict[str, Any]:
    """Return the sections, each its one page or a list of what is in it, as the generator takes it."""
    found = {title: _section(parts, pages) for title, parts in SECTIONS.items()}
    placed = {*re.findall(r"[\w/.-]+\.md", json.dumps(found))}
    if lost := {page for page in pages if page.endswith(".md")} - placed:
        msg = f"pages that stand in no section of docs/_build/navigation.py: {sorted(lost)}"
        raise ValueError(msg)
    return {title: one for title, one in found.items() if one}


def _section(parts: list[Any], pages: Mapping[str, str]) -> list[Any]:
    """Return the pages and groups of a section."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, dict):
            groups = {name: _section(inside, pages) for name, inside in part.items()}
            found += [{name: inside} for name, inside in groups.items() if inside]
            continue
        paths = _paths(part, pages)
        found += _by_family(paths, pages) if part == "metrics/" else _titled(paths, pages)
    return found


def title_of(text: str) -> str:
    """Return a page's title: its first heading, without code marks."""
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    if found is None:
        msg = f"a page without a title: {text[:80]!r}"
        raise ValueError(msg)
    return found[1].strip().replace("`", "")


def _paths(part: str, pages: Mapping[str, str]) -> list[str]:
    """Return the pages of a part of a section: the index, those that it links in that order, then the rest by title."""
    if not part.endswith("/"):
        return [part] if part in pages else []
    inside = [
        path for path in pages if path.endswith(".md") and f"{posixpath.dirname(path)}/" == part
    ]
    index = f"{part}index.md"
    linked = re.findall(r"\]\(([^)#\s]+\.md)", pages.get(index, ""))
    named = [posixpath.normpath(part + one) for one in linked]
    order = {path: place for place, path in reversed([*enumerate([index, *named])])}
    return sorted(inside, key=lambda path: (order.get(path, len(named) + 1), title_of(pages[path])))


def _titled(paths: list[str], pages: Mapping[str, str]) -> list[Any]:
    return [
        # an index has no line of its own: it stands behind its section's title
        path if posixpath.basename(path) == "index.md" and path != "index.md"
        else {TITLES.get(path) or title_of(pages[path]): path}
        for path in paths
    ]  # fmt: skip


def _by_family(paths: list[str], pages: Mapping[str, str]) -> list[Any]:
    """Return the pages of metrics by their families, other pages before them."""
    family = dict(rf.list_metrics().select("name", "family").iter_rows())
    names = {path: posixpath.basename(path).removesuffix(".md") for path in paths}
    found = _titled([path for path in paths if names[path] not in family], pages)
    for one in dict.fromkeys(family.values()):
        inside = [path for path in paths if family.get(names[path]) == one]
        found += [{one.capitalize(): _titled(inside, pages)}] if inside else []
    return found


def _toml(value: Any) -> str:
    """Return strings, lists and tables as TOML has them."""
    if isinstance(value, dict):
        return (
            f"{{ {', '.join(f'{json.dumps(key)} = {_toml(one)}' for key, one in value.items())} }}"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)
