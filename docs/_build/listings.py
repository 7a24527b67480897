"""Blocks of code on pages: examples written as doctests become code to paste, and what it shows."""

from __future__ import annotations

import doctest
import re
import textwrap
from collections.abc import Callable, Iterator

FENCED = re.compile(r"^( *)(`{3,}|~{3,})([^\n]*)\n(.*?)^\1\2 *$\n?", re.MULTILINE | re.DOTALL)
"""A block of code: its indentation, its fence, what stands behind that, and the code."""
CODE = re.compile(rf"{FENCED.pattern}|(`+)[^`\n](?:.*?[^`])??\5(?!`)", re.MULTILINE | re.DOTALL)
"""Code in blocks and in lines."""


def to_paste(text: str) -> str:
    """Return a page whose doctests are blocks of code without prompts, each before what it shows."""
    return FENCED.sub(_without_prompts, text)


def _without_prompts(found: re.Match[str]) -> str:
    indent, fence, kind, inner = found.groups()
    code = textwrap.dedent(inner)
    if not code.startswith(">>> ") or kind.strip() not in {"python", "pycon", ""}:
        return found[0]
    blocks = (f"{fence}{language}\n{part}\n{fence}\n" for language, part in code_and_output(code))
    return textwrap.indent("\n".join(blocks), indent)


def code_and_output(code: str) -> Iterator[tuple[str, str]]:
    """Walk the code of a doctest and what it shows, statements together up to one that shows something."""
    statements: list[str] = []
    for example in doctest.DocTestParser().get_examples(code):
        statements.append(example.source)
        if example.want:
            yield "python", "".join(statements).rstrip()
            yield "text", example.want.replace("<BLANKLINE>", "").rstrip()
            statements = []
    if statements:
        yield "python", "".join(statements).rstrip()


def outside_code(text: str, changed: Callable[[str], str]) -> str:
    """Return a page with its text changed, and its code as it is."""
    parts, end = [], 0
    for found in CODE.finditer(text):
        parts += [changed(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*parts, changed(text[end:])])
