"""Docstrings as Markdown: paragraphs, lists of arguments, examples and sources."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection

import listings

ENTRY = re.compile(r"^([^:]{1,60}): ")
"""How a line begins that says what an argument, a state or a choice is."""


def as_markdown(text: str, arguments: Collection[str] = ()) -> str:
    """Return a docstring as Markdown; the names of arguments tell where one ends and the next begins."""
    parts = re.split(r"\n\s*\n", inspect.cleandoc(text))
    return "\n\n".join(_part(part, frozenset(arguments)) for part in parts)


def first_sentence(text: str) -> str:
    """Return a docstring's first paragraph, in one line."""
    return _escaped(" ".join(inspect.cleandoc(text).partition("\n\n")[0].split()))


def _part(part: str, arguments: frozenset[str]) -> str:
    if part.startswith(">>> "):
        return f"```python\n{part}\n```"
    lines = part.splitlines()
    first = next((place for place, line in enumerate(lines) if line.startswith("    ")), len(lines))
    said = _escaped(" ".join(line.strip() for line in lines[:first]))
    said = re.sub(r"^Source: ", "*Source:* ", said)
    inner = inspect.cleandoc("\n".join(lines[first:]))
    below = _list(inner, arguments) if inner else ""
    return "\n\n".join(filter(None, [said, below]))


def _list(inner: str, arguments: frozenset[str]) -> str:
    """Return an indented part: a list of what its lines begin with, or else code."""
    lines = inner.splitlines()
    if not ENTRY.match(lines[0]) or re.match(r"(def|for|class|with) ", lines[0]):
        language = "python" if re.search(r"[(=]\w*", inner) and ";" not in inner else "text"
        return f"```{language}\n{inner}\n```"
    entries: list[str] = []
    for line in lines:
        if line.startswith(" ") or not ENTRY.match(line):
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line)
    return "\n".join(f"- {one}" for entry in entries for one in _entries(entry, arguments))


def _entries(entry: str, arguments: frozenset[str]) -> list[str]:
    """Return an entry with its name in code; of two arguments in one line, two entries."""
    names = "|".join(map(re.escape, sorted(arguments, key=len, reverse=True)))
    if names:
        entry = re.sub(rf"(?<=[.;]) (?=(?:{names})(?:, (?:{names}))*: )", "\0", entry)
    return [_named(one) for one in entry.split("\0")]


def _named(entry: str) -> str:
    name, _, said = entry.partition(": ")
    names = ", ".join(f"`{one}`" for one in name.replace("`", "").split(", "))
    return f"{names}: {_escaped(said)}"


def _escaped(text: str) -> str:
    """Return text without signs that Markdown or HTML would take for theirs."""
    return listings.outside_code(
        text, lambda part: re.sub(r"([*\\])", r"\\\1", part).replace("<", "&lt;")
    )
