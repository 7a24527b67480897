"""What the site has for machines: llms.txt, which names every page, and llms-full.txt, which holds them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import listings
import navigation
import project

ABOUT = """\
Each page is Markdown; its HTML stands beside it, under the same name. All pages in one: [llms-full.txt](llms-full.txt).
"""
LATER = {"About"}
"""Sections that few need, which stand under "Optional"."""


def write(pages: Mapping[str, str]) -> None:
    """Write both."""
    (project.SITE / "llms.txt").write_text(overview(pages), encoding="utf-8")
    (project.SITE / "llms-full.txt").write_text(whole(pages), encoding="utf-8")


def overview(pages: Mapping[str, str]) -> str:
    """Return the form of llmstxt.org: sections of links to Markdown, each with a sentence."""
    found: dict[str, list[str]] = {"main": [], "later": []}
    for title, paths in _sections(pages).items():
        lines = [_line(path, pages[path]) for path in paths]
        found["later" if title in LATER else "main"] += (
            lines if title in LATER else [f"\n## {title}\n", *lines]
        )
    head = [
        "# recframe",
        "",
        f"> {project.DESCRIPTION}",
        "",
        ABOUT,
    ]
    return "\n".join([*head, *found["main"], "\n## Optional\n", *found["later"], ""])


def whole(pages: Mapping[str, str]) -> str:
    """Return all pages but those that few need, one after the other."""
    paths = [
        path for title, found in _sections(pages).items() if title not in LATER for path in found
    ]
    return "\n\n".join(f"<!-- {path} -->\n\n{pages[path].strip()}" for path in paths) + "\n"


def _sections(pages: Mapping[str, str]) -> dict[str, list[str]]:
    found = navigation.sections(pages)
    return {title: re.findall(r"[\w/.-]+\.md", json.dumps(one)) for title, one in found.items()}


def _line(path: str, text: str) -> str:
    """Return a page's line: its title and the first sentence of its text."""
    title = navigation.title_of(text)
    prose = listings.FENCED.sub("\n", text)
    said = re.search(r"^(?![#|>!=-]|\$\$)(\S.*?)(?:\n\n|\Z)", prose, re.MULTILINE | re.DOTALL)
    sentence = re.split(r"(?<=[.?]) (?=[A-Z`])", " ".join(said[1].split()))[0] if said else ""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence).rstrip(":.")
    return f"- [{title}]({path})" + (f": {plain}" if plain else "")
