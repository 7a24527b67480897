"""Results as tables for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, TypeAlias

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from recframe.charts.formatting import MINUS, number, p_value, signed_share
from recframe.cli.output import is_terminal, say, width_of
from recframe.errors import CUT, visible
from recframe.statistics.stored_results import decimals_of

Columns: TypeAlias = dict[str, list[str]]
"""The cells of a table by its columns."""
MOST_ROWS, MOST_IN_PIPE = 100, 5_000
"""Rows of a table on a terminal, and in a pipe, which takes some 0.1 ms a row; data for programs has a format."""
LONGEST_CELL = 1_000
"""Characters above which a cell is cut."""
SPACE, LEAST_SPACE = 2, 1
"""Blanks between columns, and where a table is too wide."""
WIDEST_WORD = 30
"""Width from which a word is broken where a table does not fit otherwise."""
BREAK = re.compile(r"\n| (?!%|[-+]?\d|\[|x\b)(?<!< )")
"""Where a cell may be broken into lines: not within a number."""
NAME_BREAK = re.compile(r"(?<=_)(?=[a-z]{5})|(?=@\d+$)")
NARROWER = (
    (re.compile(r" (?=\[)"), slice(1, None)),
    (NAME_BREAK, slice(0, 1)),
    (NAME_BREAK, slice(1, None)),
    (re.compile(r"(?<=,) (?=[-+.\d]+\])"), slice(1, None)),
)
"""Where a table that is too wide has breaks, one after the other: before intervals, in heads, in names, in intervals."""
NOTE = "note"
"""The column whose texts stand below a table."""
SHARES = ("relative", "detectable_relative", "wanted")
COUNTS = re.compile("n|n_.*|rows.*|users.*|.*_users")
BEHIND_KEYS = {
    *("baseline", "metric", "requirement", "segment", "n_users", "n_lists"),
    *("check", "aliases", "profile"),
}
"""Columns that are behind the keys, as numbers are; a null key is a group of its own."""
IN_ROWS = {"verdict", "state", "severity", "value", "difference", "gap", "users_needed", NOTE}
"""Columns that stay in the rows where all values are the same."""
GO_FIRST = ("p_value", "std", "baseline_value")
"""Columns that go first where a table is too wide, before the last columns."""
STYLES = {
    **dict.fromkeys(("better", "holds", "not worse"), "green"),
    **dict.fromkeys(("worse", "fails", "missing", "error", "not better"), "red"),
    **dict.fromkeys(("open", "few", "warning"), "yellow"),
}
"""Colours of words."""


# Cells


def cells_of(frame: pl.DataFrame) -> Columns:
    """Return the cells of a result; an interval stands with its number, and notes where there is one.

    >>> import polars as pl
    >>> cells_of(pl.DataFrame({"model": ["a", None], "value": [0.25, None], "value_low": 0.125, "value_high": 0.375}))
    {'model': ['a', 'null'], 'value': ['0.25 [0.12, 0.38]', '[0.12, 0.38]']}
    """
    schema = frame.schema
    none = pl.Series([None] * frame.height, dtype=pl.Null)
    keys = {
        *takewhile(lambda name: name not in BEHIND_KEYS and not schema[name].is_float(), schema)
    }
    columns: Columns = {}
    for column in frame:
        name = re.sub("_(low|high)$", "", column.name)
        ends = [f"{name}_low", f"{name}_high"]
        if not {*ends} <= schema.keys():
            name, ends = column.name, []
        if name not in columns and (name != NOTE or column.count()):
            rows = zip(
                *(frame.get_column(part, default=none) for part in (name, *ends)), strict=True
            )
            absent = "null" if name in keys else ""
            columns[name] = [_written(name, *row) or absent for row in rows]
    return columns


def _written(name: str, value: Any, *ends: float | None) -> str:
    """Return the cell of a value, without signs of control and of a bearable length."""
    text = "" if value is None else str(value).removesuffix(" 00:00:00")
    if (isinstance(value, int) and COUNTS.fullmatch(name)) or (
        value is not None and name.startswith("median_")
    ):
        text = f"{value:,}".removesuffix(".0")
    elif isinstance(value, float) and name in SHARES:
        text = signed_share(value)
    elif isinstance(value, float) and name.startswith("p_"):
        text = p_value(value)
    elif isinstance(value, float) or any(end is not None for end in ends):
        digits = decimals_of(*ends) if ends else None
        numbers = ["" if one is None else number(one, decimals=digits) for one in (value, *ends)]
        interval = f"[{', '.join(numbers[1:])}]" if any(numbers[1:]) else ""
        text = f"{numbers[0]} {interval}".strip()
    text = text.replace(MINUS, "-")
    return visible(text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + CUT)


# Tables


def print_frame(frame: pl.DataFrame, words: Sequence[str] = ()) -> None:
    """Print a result as a table.

    On a terminal what is the same in all rows stands above it, with further words, and notes stand below. Where it is too wide,
    intervals stand below their numbers, heads and names are broken; then columns are left out, which a line below names.
    """
    width, is_seen = width_of(), is_terminal()
    shown = frame.head(MOST_ROWS if is_seen else MOST_IN_PIPE)
    columns = cells_of(shown)
    below: list[str] = []
    if is_seen:
        below = _numbered(columns.get(NOTE, []))
        same = [f"{name} {columns.pop(name)[0]}" for name in _constants(frame) if name in columns]
        say(", ".join([*same, *words]) or None)
    columns = {name: [visible(name), *cells] for name, cells in columns.items()}
    for place, part in NARROWER:
        if _least(columns) > width:
            for cells in columns.values():
                cells[part] = [place.sub("\n", cell) for cell in cells[part]]
    space = SPACE if _least(columns) <= width else LEAST_SPACE
    below += _left_out(columns, width, space)
    say(_table(columns, frame.schema, width, space))
    say("\n".join(below) or None)
    more = frame.height - shown.height
    if more:
        say(f"{more:,} more rows: -o FILE, or --format csv, has all {frame.height:,}", err=True)


def _constants(frame: pl.DataFrame) -> list[str]:
    """Return the keys and counts that are the same in all of several rows."""
    return [
        column.name
        for column in frame
        if column.name not in IN_ROWS
        and not column.dtype.is_float()
        and column.n_unique() == 1 < frame.height
    ]


def _numbered(cells: list[str]) -> list[str]:
    """Put numbers in place of notes, and return what they stand for."""
    notes = [*filter(None, dict.fromkeys("; ".join(cells).split("; ")))]
    for place, cell in enumerate(cells):
        found = [notes.index(part) + 1 for part in cell.split("; ") if part]
        cells[place] = ", ".join(map(str, found))
    return [f"note {number}: {text}" for number, text in enumerate(notes, 1)]


def _left_out(columns: Columns, width: int, space: int) -> Iterator[str]:
    """Remove columns of a table that is too wide, the last ones first, and say which."""
    names = [name for name in columns if name not in (*GO_FIRST, NOTE)]
    order = [name for name in GO_FIRST if name in columns] + names[::-1]
    gone = []
    while _least(columns, space) > width and order:
        gone.append(order.pop(0))
        del columns[gone[-1]]
    if gone:
        yield f"without {', '.join(gone)}, for want of room: -o FILE has all columns"


def _table(columns: Columns, schema: pl.Schema, width: int, space: int) -> Table:
    """Return columns as a table of rich of at most a width, in which no word and no number is broken that fits."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, space - 1, 0, 0))
    spare = width - _least(columns, space)
    for name, cells in columns.items():
        least = _widest(cells)
        more = min(
            max(cell_len(line) for cell in cells for line in cell.split("\n")) - least, spare
        )
        spare -= more
        is_number = schema.get(name, pl.Float64()).is_numeric()
        side: Any = "right" if is_number else "left"
        table.add_column(Text(cells[0]), justify=side, width=least + more, overflow="fold")
    for row in zip(*(cells[1:] for cells in columns.values()), strict=True):
        table.add_row(*(Text(cell, STYLES.get(cell, "")) for cell in row))
    return table


def _widest(cells: Sequence[str]) -> int:
    """Return the width of a column's longest word or number."""
    words = (cell_len(word) for cell in cells for word in BREAK.split(cell))
    return min(max(words), WIDEST_WORD)


def _least(columns: Columns, space: int = SPACE) -> int:
    """Return the least width of a table."""
    return sum(_widest(cells) + space for cells in columns.values()) - space


def print_findings(found: pl.DataFrame) -> None:
    """Print findings as a table, and below it what is done about each and how to mend it."""
    if found.is_empty():
        say("nothing odd was found")
        return
    print_frame(found.drop("treatment", "remedy"))
    checks = found.select("check", "treatment", "remedy").unique(maintain_order=True)
    for check, treatment, remedy in checks.iter_rows():
        say(f"{check}: {treatment}. To mend: {remedy}.")
