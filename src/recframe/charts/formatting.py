"""Numbers, words and tables as charts and pages write them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar, Literal

Row = Mapping[str, Any]
NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
DIGITS = 3
SMALL = 0.001
"""Value below which a number has two significant digits."""
LEAST, ROUNDING = 1e-6, 1e-9
"""Values up to which a number is 0: alone, and as a share of half its interval."""
MOST_DECIMALS = 9
LEAST_P = 0.001
TIMES = 10
"""Relative difference from which it is written as a multiple."""
MOST_NOTES = 5


def text(value: object) -> str:
    """Return a value as text, None as nothing."""
    return "" if value is None else str(value)


def named(value: object) -> str:
    """Return a value as text, None as a dash."""
    return NONE if value is None else str(value)


def number(value: float | None, ends: Sequence[float] = (), *, sign: bool = False) -> str:
    """Return a number, to two digits of half the width of its interval; a number that reads 0 keeps its sign.

    There is one digit more where an end of the interval would read 0. Without an interval there are three decimals, fewer for
    a large number, and two significant digits near 0.

    >>> number(0.0382, (0.0301, 0.0463)), number(163.2, (140.0, 190.0)), number(0.002, (-0.00001, 0.004))
    ('0.0382', '163', '0.00200')
    >>> number(0.0000001, (0.0000001, 0.004)), number(0.25), number(1234.5)
    ('+0.00000', '0.250', '1,234')
    """
    if value is None:
        return NONE
    size, half = abs(value), (ends[1] - ends[0]) / 2 if ends else 0.0
    least, digits = LEAST, 0 if size >= 1000 else 1 if size >= 10 else DIGITS  # noqa: PLR2004  four digits in all
    if 0.0 < half < math.inf:
        digits = min(max(1 - math.floor(math.log10(half)), 0), MOST_DECIMALS)
        least = ROUNDING * half
        digits += any(least < abs(end) < 0.5 / 10**digits for end in ends)
    elif LEAST < size < SMALL:
        digits = 1 - math.floor(math.log10(size))
    known = value if size > least else 0.0
    text = f"{known:+,.{digits}f}".replace("-", MINUS)
    is_zero = not text.strip(f"+{MINUS}0.,")
    return text if known and (sign or is_zero) else text.lstrip("+")


def signed(value: float | None, ends: Sequence[float] = ()) -> str:
    """Return a number with its sign."""
    return number(value, ends, sign=True)


def written(value: object, ends: Sequence[float] = ()) -> str:
    """Return a value as text: a number by its interval, a time without a midnight."""
    if isinstance(value, float):
        return number(value, ends)
    return f"{value:,}" if isinstance(value, int) else str(value).removesuffix(" 00:00:00")


def per_cent(value: float, ends: Sequence[float] = ()) -> str:
    """Return a share in per cent as a sentence has it, by its interval or to two digits.

    >>> per_cent(0.3764), per_cent(0.0042), per_cent(1.714), per_cent(0.3764, (0.35, 0.41))
    ('38 %', '0.42 %', '171 %', '37.6 %')
    """
    size = 100 * value
    if ends:
        return f"{number(size, [100 * end for end in ends])} %"
    digits = f"{size:,.0f}" if abs(size) >= 10 else f"{size:.2g}"  # noqa: PLR2004  two digits
    return f"{digits.replace('-', MINUS)} %"


def signed_share(value: float | None) -> str:
    """Return a relative difference in per cent with its sign; from ten times on as a multiple: 64 x the other."""
    if value is not None and value >= TIMES:
        return f"{1 + value:,.0f} x"
    return NONE if value is None else f"{100 * value:+.1f}%".replace("-", MINUS)


def p_value(value: float | None) -> str:
    """Return a p value."""
    if value is None:
        return NONE
    return f"< {LEAST_P}" if value < LEAST_P else f"{value:.3f}"


def count(value: float | None) -> str:
    """Return a whole number, in groups of three digits."""
    return NONE if value is None else f"{value:,.0f}"


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


def counted(n: int, noun: str, several: str = "") -> str:
    """Return a number of things."""
    return f"{n:,} {noun if n == 1 else several or noun + 's'}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names in a sentence: a, b and c; of many the first and how many more there are."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1:,} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


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
