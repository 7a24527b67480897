"""Findings of an audit to read, in a terminal and as HTML."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from operator import itemgetter
from typing import Any, Generic, TypeVar

from recframe.audit.data import SEVERITIES
from recframe.audit.report import CHECKS, CHECKS_OF_SPLITS

T = TypeVar("T")
WIDTH = 100
PARTS = {"found": "in", "example": "example", "treatment": "recframe", "remedy": "remedy"}
"""The parts of a finding, each with the word before it."""


@dataclass(frozen=True)
class Findings(Generic[T]):
    """The findings that `rec.findings` returns: shown, each in full; `frame` is what `rec.audit` returns."""

    frame: T
    rows: Sequence[Mapping[str, Any]] | None
    """The findings; None where the frame is lazy."""

    def __str__(self) -> str:
        blocks = [_block(place, row) for place, row in enumerate(self._told, 1)]
        return "\n\n".join([self._title, *blocks])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self._told:
            return f"<p>{escape(self._title)}</p>"
        names = ["check", "severity", "what", *PARTS]
        lines = [_line("th", [PARTS.get(name, name) for name in names])]
        lines += [_line("td", itemgetter(*names)(row)) for row in self._told]
        return f"<p>{escape(self._title)}</p><table>{''.join(lines)}</table>"

    @property
    def _told(self) -> list[dict[str, str]]:
        return [_told(row) for row in self.rows or ()]

    @property
    def _title(self) -> str:
        if self.rows is None:
            return "The findings are in .frame, a LazyFrame: collect it."
        if not self.rows:
            return "Nothing odd was found."
        counts = Counter(row["severity"] for row in self.rows)
        each = [_counted(counts[severity], severity) for severity in SEVERITIES if counts[severity]]
        return f"{_counted(len(self.rows), 'finding')}: {', '.join(each)}"


def meanings_of_checks() -> dict[str, str]:
    """Return the meaning of each check, by name."""
    return {check.name: check.meaning for check in [*CHECKS_OF_SPLITS, *CHECKS]}


def _told(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the printed fields of a finding, in words."""
    meanings = meanings_of_checks()
    users = f", {_counted(row['users'], 'user')}" if row["users"] else ""
    frame = row["frame"] if row["frame"] == "recommendations" else f"{row['frame']} frame"
    found = f"the {frame}: {_counted(row['rows'], 'row')}{users}"
    told = {
        name: str(row[name]) for name in ("check", "severity", "example", "treatment", "remedy")
    }
    return told | {"what": meanings.get(row["check"], ""), "found": found}


def _block(place: int, row: Mapping[str, str]) -> str:
    """Return a finding as lines of text."""
    head = _wrapped(f"{place}. {row['check']} ({row['severity']}): {row['what']}", "   ")
    width = max(map(len, PARTS.values()))
    lines = [
        _wrapped(f"   {word:<{width}}  {row[name]}", " " * (width + 5))
        for name, word in PARTS.items()
    ]
    return "\n".join([head, *lines])


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _line(tag: str, texts: Sequence[str]) -> str:
    """Return a line of a table of HTML."""
    opened = f'<{tag} style="text-align: left; white-space: normal">'
    return f"<tr>{''.join(f'{opened}{escape(text)}</{tag}>' for text in texts)}</tr>"


def _counted(number: int, noun: str) -> str:
    plural = "" if number == 1 or noun == "info" else "s"
    return f"{number:,} {noun}{plural}"
