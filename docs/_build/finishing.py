"""What is done to the pages that the generator wrote: formulas are set, and each page stands beside its Markdown."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Mapping

import keywords
import latex2mathml.converter
import project

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[\[(](.*?)\\[\])]</\1>', re.DOTALL)
UNSEARCHED = ("changelog.html",)
"""Pages that the search does not find: they have every word, and answer no question."""


def finish(pages: Mapping[str, str]) -> None:
    """Finish every page of the site."""
    for name in pages:
        path = project.SITE / name.replace(".md", ".html")
        text = path.read_text(encoding="utf-8")
        path.write_text(beside_markdown(with_formulas(text), path.stem), encoding="utf-8")
        shutil.copy(project.PAGES / name, project.SITE / name)
    finish_search()


def finish_search() -> None:
    """Leave the changelog and formulas, which would be TeX, out of the search, and add keywords to it."""
    path = project.SITE / "search.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index["items"] = [one for one in index["items"] if not one["location"].startswith(UNSEARCHED)]
    for item in index["items"]:
        item["text"] = keywords.without(item["text"])
        item["text"] = re.sub(r"\\\[.*?\\\]|\\\(.*?\\\)", "", item["text"], flags=re.DOTALL)
    index["items"] += keywords.searched(index["items"])
    text = json.dumps(index, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    # what a page reads that was opened from the disk
    (project.SITE / "search.js").write_text(f"var __index = {text};", encoding="utf-8")


def with_formulas(text: str) -> str:
    """Return a page with its formulas as MathML, which browsers set without a script or a font of ours."""
    return FORMULA.sub(_set, text)


def _set(found: re.Match[str]) -> str:
    tag, tex = found[1], html.unescape(found[2]).strip()
    display = "block" if tag == "div" else "inline"
    mathml = latex2mathml.converter.convert(tex, display=display)
    if "\\" in re.sub(r"<annotation.*?</annotation>", "", mathml):
        msg = f"a formula with a command that cannot be set: {tex}"
        raise ValueError(msg)
    # a wide formula can be scrolled, so it has to be reached by keyboard
    reach = ' tabindex="0" role="group" aria-label="formula"' if tag == "div" else ""
    return f'<{tag} class="formula"{reach}>{mathml}</{tag}>'


def beside_markdown(text: str, stem: str) -> str:
    """Return a page that says where its Markdown is, to people and to machines."""
    alternate = f'<link rel="alternate" type="text/markdown" href="{stem}.md">'
    shown = f'<p class="as-markdown"><a href="{stem}.md">This page as Markdown</a></p>'
    return text.replace("</head>", f"{alternate}</head>", 1).replace(
        "</article>", f"{shown}</article>", 1
    )
