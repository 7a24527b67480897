"""Results as tables for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TypeAlias

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from recframe.charts.formatting import MINUS, NONE, count, number, p_value, signed_share
from recframe.cli.output import is_terminal, say, width_of
from recframe.errors import CUT, visible
from recframe.statistics.stored_results import decimals_of

Columns: TypeAlias = dict[str, list[str]]
"""The cells of a table by its columns."""
Schema: TypeAlias = Mapping[str, pl.DataType]
MOST_ROWS, FIRST_ROWS = 100, 20
"""Rows above which a table is cut on a terminal, so that its head stays in sight, and the rows that stay."""
MOST_IN_PIPE = 5_000
"""Rows of a table in a pipe, which takes some 0.1 ms a row; data for programs has a format."""
LONGEST_CELL = 1_000
"""Characters above which a cell is cut."""
SPACE = 2
"""Blanks between columns."""
WIDEST_WORD = 30
"""Width from which a word is broken where a table does not fit otherwise."""
BREAK = re.compile(r"\n| (?!%|[-+]?\d|\[|x\b)(?<!< )")
"""Where a cell may be broken into lines: not within a number."""
HEAD_BREAK = re.compile("(?<=_)(?=[a-z]{5})|(?=@)")
"""Where the head of a column may be broken into lines."""
NOTE = "note"
"""The column whose texts stand below a table."""
SHARES = ("relative", "detectable_relative", "wanted")
COUNTS = re.compile("n|n_.*|rows.*|users.*|.*_users")
NO_KEYS = {"baseline", "best", "worst", "segment"}
"""Columns before the results that are no keys."""
IN_ROWS = {"verdict", "state", "severity", "value", "difference", "gap", "users_needed", NOTE}
"""Columns that stay in the rows where all values are the same."""
GO_FIRST = {
    "p_value": "p_adjusted",
    "baseline_value": "relative",
    "value": "relative",
    "rest": "difference",
    "n_users": "verdict",
    "difference": "relative",
}
"""Columns that go first from a table that is too wide, each where there is another that says more."""
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
    names = [*frame.columns]
    has_notes = NOTE in names and frame[NOTE].count() > 0
    if NOTE in names and not has_notes:
        names.remove(NOTE)
    columns: Columns = {}
    keys = {*takewhile(lambda name: not _is_result(name, frame.schema[name]), names)} - NO_KEYS
    for name in names:
        whole = re.sub("_(low|high)$", "", name)
        is_end = f"{whole}_low" in names and f"{whole}_high" in names
        of_number = whole if is_end else name
        if of_number not in columns:
            columns[of_number] = _cells(frame, of_number, is_key=name in keys)
    return columns


def _is_result(name: str, dtype: pl.DataType) -> bool:
    """Return whether a column is no key of a result's rows."""
    return name in IN_ROWS or dtype.is_float() or COUNTS.fullmatch(name) is not None


def _cells(frame: pl.DataFrame, name: str, *, is_key: bool) -> list[str]:
    """Return the cells of a column, which may be an interval alone; a null key is a group of its own."""
    none = pl.Series([None] * frame.height, dtype=pl.Float64)
    values = frame.get_column(name, default=none)
    written: Iterable[str]
    if name in SHARES:
        written = map(signed_share, values)
    elif name.startswith("p_"):
        written = map(p_value, values)
    elif name.startswith("median_"):
        # of counts, and so whole or a half
        written = ("" if value is None else f"{value:,.1f}".removesuffix(".0") for value in values)
    elif values.dtype.is_float():
        ends = (frame.get_column(f"{name}_{end}", default=none) for end in ("low", "high"))
        written = map(_with_interval, values, *ends)
    elif values.dtype.is_integer() and COUNTS.fullmatch(name):
        written = map(count, values)
    else:
        absent = "null" if is_key else ""
        written = (absent if value is None else str(value) for value in values)
    return [_plain(text) for text in written]


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Return a number with its interval, or the one of them that there is."""
    digits = decimals_of(low, high)
    text = number(value, decimals=digits)
    ends = [number(end, decimals=digits) for end in (low, high) if end is not None]
    if not ends:
        return text
    interval = f"[{', '.join(ends)}]"
    return interval if value is None else f"{text} {interval}"


def _plain(text: str) -> str:
    """Return a cell without signs of control and of typesetting, and of a bearable length."""
    text = text.replace(MINUS, "-").removeprefix(NONE)
    if len(text) > LONGEST_CELL:
        text = text[:LONGEST_CELL] + CUT
    return visible(text)


# Tables


def print_frame(frame: pl.DataFrame, words: Sequence[str] = ()) -> None:
    """Print a result as a table.

    On a terminal what is the same in all rows stands above it, with further words, and notes stand below. Where it is too wide,
    heads are broken, and intervals stand below their numbers; then columns are left out, which a line below names.
    """
    width, is_seen = width_of(), is_terminal()
    is_long = is_seen and frame.height > MOST_ROWS
    shown = frame.head(FIRST_ROWS if is_long else MOST_IN_PIPE)
    columns = cells_of(shown)
    below: list[str] = []
    if is_seen:
        below = _numbered(columns.get(NOTE, []))
        same = [f"{name} {columns.pop(name)[0]}" for name in _constants(frame) if name in columns]
        say(", ".join([*same, *words]) or None)
    if _least(columns) > width:
        for name, cells in columns.items():
            columns[name] = [cell.replace(" [", "\n[") for cell in cells]
    below += _left_out(columns, width)
    say(_table(columns, frame.schema, width))
    say("\n".join(below) or None)
    more = frame.height - shown.height
    if more:
        say(f"{more:,} more rows: -o FILE, or --format csv, has all {frame.height:,}", err=True)


def _constants(frame: pl.DataFrame) -> list[str]:
    """Return the keys and counts that are the same in all of several rows."""
    same = [
        column.name
        for column in frame
        if column.name not in IN_ROWS and not column.dtype.is_float() and column.n_unique() == 1
    ]
    if frame.height < 2:  # noqa: PLR2004  several rows
        return []
    return same if len(same) < frame.width else same[1:]


def _numbered(cells: list[str]) -> list[str]:
    """Put numbers in place of notes, and return what they stand for."""
    numbers: dict[str, int] = {}
    for place, cell in enumerate(cells):
        parts = filter(None, cell.split("; "))
        found = [numbers.setdefault(part, len(numbers) + 1) for part in parts]
        cells[place] = ", ".join(map(str, found))
    return [f"note {number}: {part}" for part, number in numbers.items()]


def _left_out(columns: Columns, width: int) -> Iterator[str]:
    """Remove columns of a table that is too wide, the last ones after those that say less, and say which."""
    names = [name for name in columns if name != NOTE]
    first = [name for name, other in GO_FIRST.items() if {name, other} <= columns.keys()]
    for name in [*first, *(name for name in reversed(names) if name not in first)]:
        if _least(columns) <= width:
            break
        del columns[name]
    gone = [name for name in names if name not in columns]
    if gone:
        yield f"without {', '.join(gone)}, for want of room: -o FILE has all columns"


def _table(columns: Columns, schema: Schema, width: int) -> Table:
    """Return columns as a table of rich of at most a width, in which no word and no number is broken that fits."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    spare = width - _least(columns)
    for name, cells in columns.items():
        least = _widest(name, cells)
        lines = (line for cell in (name, *cells) for line in cell.split("\n"))
        more = min(max(map(cell_len, lines)) - least, spare)
        spare -= more
        is_number = name not in schema or schema[name].is_numeric()
        head = name if cell_len(name) <= least + more else HEAD_BREAK.sub("\n", name)
        table.add_column(
            Text("\n".join(map(visible, head.split("\n")))),
            justify="right" if is_number else "left",
            width=least + more,
            overflow="fold",
        )
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text(cell, STYLES.get(cell, "")) for cell in row))
    return table


def _widest(name: str, cells: Sequence[str]) -> int:
    """Return the width of a column's longest word or number."""
    parts = (*HEAD_BREAK.split(name), *cells)
    words = (word for part in parts for word in BREAK.split(part))
    return min(max(map(cell_len, words)), WIDEST_WORD)


def _least(columns: Columns) -> int:
    """Return the least width of a table."""
    widths = [_widest(name, cells) + SPACE for name, cells in columns.items()]
    return sum(widths) - SPACE


def print_findings(found: pl.DataFrame) -> None:
    """Print findings as a table, and below it what is done about each and how to mend it."""
    if found.is_empty():
        say("nothing odd was found")
        return
    print_frame(found.drop("treatment", "remedy"))
    checks = found.select("check", "treatment", "remedy").unique(maintain_order=True)
    for check, treatment, remedy in checks.iter_rows():
        say(f"{check}: {treatment}. To mend: {remedy}.")
