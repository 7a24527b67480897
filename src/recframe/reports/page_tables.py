"""Tables of pages: columns that write cells, and the notes below."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar, Literal

from recframe.charts.formatting import NONE, listed, number

Row = Mapping[str, Any]
MOST_NOTES = 5


def text(value: object) -> str:
    """Return a value as text, None as nothing."""
    return "" if value is None else str(value)


def named(value: object) -> str:
    """Return a value as text, None as a dash."""
    return NONE if value is None else str(value)


def value_and_interval(row: Row, name: str, write: Callable[..., str] = number) -> tuple[str, str]:
    """Return a row's number and its interval, to two digits of half its width; the interval is empty where there is none."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if low is None or high is None:
        return write(row[name]), ""
    value, *ends = (write(one, (low, high)) for one in (row[name], low, high))
    return value, " to ".join(ends)


def with_interval(row: Row, name: str, write: Callable[..., str] = number) -> str:
    """Return a row's number with its interval in brackets."""
    value, ends = value_and_interval(row, name, write)
    return value + (f" ({ends})" if ends else "")


def blocks(folded: str) -> list[str | list[str]]:
    """Return the paragraphs of a text that was folded for a terminal; lines that begin with a dash are a list."""
    found: list[str | list[str]] = []
    for part in filter(str.strip, folded.replace("`", "").split("\n\n")):
        lines = [" ".join(one.removeprefix("- ").split()) for one in re.split(r"\n(?=- )", part)]
        found.append(lines if part.startswith("- ") else " ".join(part.split()))
    return found


def noted(rows: Iterable[tuple[str | None, str]]) -> list[str]:
    """Return each note once, behind its subjects, of rows of a note or None and a subject."""
    subjects: dict[str, dict[str, None]] = {}
    for note, subject in rows:
        if note:
            subjects.setdefault(note, {})[subject] = None
    lines = [f"{listed([*about])}: {note}." for note, about in subjects.items()]
    more = [f"{len(lines) - MOST_NOTES:,} more notes are in the numbers of this page."]
    return lines[:MOST_NOTES] + (more if len(lines) > MOST_NOTES else [])


@dataclass(frozen=True)
class Cell:
    """A table's text, with a small one behind or below it, such as an interval."""

    text: str
    small: str = ""
    mark: str = ""
    """Style: "best", "better", "worse", "open", "error", "warning" or "info"."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, and how its cells are written of rows."""

    title: str
    kind: Literal["text", "number", "verdict"] = "text"
    """Numbers stand to the right."""
    told: str = ""
    """The meaning of the title, shown on pointing at it."""
    field: str = ""
    """The name of its values in a row, where that is not its title."""
    write: Callable[..., str] = text
    interval: bool = False
    """Whether the interval of the number stands below it."""

    def cell(self, row: Row) -> Cell:
        """Return the cell of a row, whose small text and mark have the names of its value and `_small` and `_mark`."""
        name = self.field or self.title
        written, ends = self.write(row[name]), ""
        if self.interval:
            written, ends = value_and_interval(row, name, self.write)
        return Cell(written, row.get(f"{name}_small", ends), row.get(f"{name}_mark", ""))


@dataclass(frozen=True)
class Table:
    """Table whose first cell of each row is its name."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    """Remarks below it, such as how many rows were left out."""


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    notes: Sequence[str] = (),
    most: int | None = None,
    left: str = "{:,} more rows are not shown.",
) -> Table:
    """Return rows as a table, of many the first and a note of how many are `left` out."""
    more = 0 if most is None else len(rows) - most
    cells = [[*map(Column.cell, columns, repeat(row))] for row in rows[:most]]
    return Table(caption, columns, cells, [*notes, *([left.format(more)] if more > 0 else [])])
