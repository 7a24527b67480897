"""Frames as tables: in blocks that fit a terminal, or in full where the output goes into a file or a pipe."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import click
import polars as pl
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recframe.errors import CUT, visible

GAP = "   "
MOST_ROWS = 100
"""A table of more rows is cut on a terminal, where its head would be out of sight."""
FIRST_ROWS = 20
LONGEST_CELL = 1_000
"""Text of more signs is cut on a terminal."""
ROWS_AT_ONCE = 1_000
NOTE = "note"
"""The column that is a line below a row where it does not fit."""
DIGITS = 6
TINY = 1e-3
LARGE = 1e12
"""From here up numbers are shown as powers of ten."""


def say(text: str = "", *, err: bool = False, bold: bool = False) -> None:
    """Print words for people, in which no id and no name has a sign that a terminal obeys.

    NOTE: all that a command prints goes by this function, or by `put` where it is data.
    """
    lines = "\n".join(map(visible, text.split("\n")))
    click.echo(click.style(lines, bold=True) if bold else lines, err=err)


def put(text: str) -> None:
    """Write data to stdout: into a file or a pipe the bytes that `-o` writes, on a terminal as words for people."""
    if is_terminal():
        say(text.removesuffix("\n"))
    else:
        # NOTE: of text click takes out what is an escape sequence, and Windows writes other line ends
        click.echo(text.encode(), nl=False)


def print_frame(frame: pl.DataFrame, *, wrapped: bool = False) -> None:
    """Print a frame as a table: each row on one line, in full where the output is no terminal.

    On a terminal columns stand in blocks that fit side by side, and a last column of notes that does not is lines below the
    rows; or with `wrapped` long text is broken into lines. Of a long table the first rows are shown, and how many more there
    are.
    """
    width = shutil.get_terminal_size().columns if is_terminal() else None
    cut = width is not None and frame.height > MOST_ROWS
    shown = frame.head(FIRST_ROWS) if cut else frame
    most = None if width is None else LONGEST_CELL
    columns = {name: _texts([name, *_cells(shown[name])], most) for name in shown.columns}
    if wrapped and width is not None:
        Console(width=width).print(_wrapped(columns))
        say()
    else:
        _print_blocks(shown, columns, width)
    if cut:
        more = f"{frame.height - FIRST_ROWS:,} more rows"
        say(f"{more}: -o FILE, or a pipe, has all {frame.height:,}", err=True)


def is_terminal() -> bool:
    """Return whether stdout is looked at. NOTE: FORCE_COLOR, which many logs set, makes no terminal of a pipe."""
    return sys.stdout.isatty()


def _print_blocks(frame: pl.DataFrame, columns: dict[str, list[str]], width: int | None) -> None:
    """Print columns in blocks that fit a width, or in one."""
    widths = {name: max(map(_places, cells)) for name, cells in columns.items()}
    notes: list[str] = []
    if width is not None and frame.columns[-1:] == [NOTE] and _total(widths.values()) > width:
        frame, notes = frame[:, :-1], _below(frame[NOTE], columns)
    blocks = [frame.columns] if width is None else list(_blocks(frame, widths, width))
    for names in blocks:
        # a terminal that cannot show a line has a hyphen
        line = "─" if (sys.stdout.encoding or "").lower().startswith("utf") else "-"
        right = [frame.schema[name].is_numeric() for name in names]
        padded = [
            _column(columns[name], widths[name], right=to_right)
            for name, to_right in zip(names, right, strict=True)
        ]
        head, *rows = zip(*padded, strict=True)
        say(GAP.join(head).rstrip(), bold=True)
        say(line * _total(widths[name] for name in names))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            told = notes[some] if names == blocks[-1] else []
            lines = (GAP.join(row).rstrip() for row in rows[some])
            say("\n".join(line + note for line, note in zip_longest(lines, told, fillvalue="")))
        say()


def _total(widths: Iterable[int]) -> int:
    """Return how many places columns of some widths take."""
    return sum(width + len(GAP) for width in widths) - len(GAP)


def _below(notes: pl.Series, columns: dict[str, list[str]]) -> list[str]:
    """Return a line below each row that has a note, and nothing below others."""
    given = zip(notes, columns[NOTE][1:], strict=True)
    return [f"\n{GAP}{text}" if note else "" for note, text in given]


def _column(cells: list[str], width: int, *, right: bool) -> list[str]:
    return [_padded(cell, width, right=right) for cell in cells]


def _padded(cell: str, width: int, *, right: bool) -> str:
    space = " " * (width - _places(cell))
    return space + cell if right else cell + space


def _places(cell: str) -> int:
    """Return how many places on the screen a text takes, of which some signs take two."""
    return len(cell) if cell.isascii() else cell_len(cell)


def _wrapped(columns: dict[str, list[str]]) -> Table:
    """Return a table of rich, which breaks long text into lines."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, (title, *_) in columns.items():
        table.add_column(Text(title), no_wrap=name == "name", overflow="fold")
    for row in zip(*(cells[1:] for cells in columns.values()), strict=True):
        table.add_row(*map(Text, row))
    return table


def _blocks(frame: pl.DataFrame, widths: dict[str, int], width: int) -> Iterator[list[str]]:
    """Give the columns in blocks that fit the width, each with the columns that tell rows apart."""
    keys = [name for name, dtype in frame.schema.items() if dtype != pl.Float64]
    block = list(keys)
    for name in frame.columns:
        if name in keys:
            continue
        needed = _total(widths[one] for one in [*block, name])
        if len(block) > len(keys) and needed > width:
            yield block
            block = list(keys)
        block.append(name)
    yield block


def _texts(cells: list[str], most: int | None) -> list[str]:
    """Return cells in one line each, of which a terminal obeys no sign, cut to a length or not."""
    is_long = [most is not None and len(cell) > most for cell in cells]
    cut = zip(cells, is_long, strict=True)
    return [visible(cell[:most] + CUT if long else cell) for cell, long in cut]


def _cells(column: pl.Series) -> list[str]:
    """Return values as text, the numbers of a column with as many decimals each."""
    if not column.dtype.is_float():
        return ["null" if value is None else str(value) for value in column]
    values = column.to_list()
    finite = [abs(value) for value in values if value is not None and math.isfinite(value)]
    digits = _decimals(finite)
    if max(finite, default=0) >= LARGE:
        return ["null" if value is None else f"{value:.{DIGITS}g}" for value in values]
    return [
        "null" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # without -0
        for value in values
    ]


def _decimals(values: Sequence[float]) -> int:
    """Return the decimals that give the largest number six significant digits, or fewer where all need fewer."""
    largest = max(values, default=0.0)
    if not largest or largest >= LARGE:
        return 0
    # the digits before the point, below 0 the zeros behind it
    before = math.floor(math.log10(largest)) + 1
    # most metrics are from 0 to 1, and have six decimals whether they come near 1 or not
    most = DIGITS if TINY <= largest <= 1 else DIGITS - before
    texts = [f"{value:.{max(most, 0)}f}" for value in values]
    behind = [len(text.partition(".")[2].rstrip("0")) for text in texts]
    return max(behind)
