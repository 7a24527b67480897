"""Frames as tables on the terminal, or in full where the output goes into a file or a pipe."""

from __future__ import annotations

from collections.abc import Iterator

import click
import polars as pl
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

ROWS_BY_RICH = 500
GAP = 3


def print_frame(frame: pl.DataFrame, *, wrapped: bool = False) -> None:
    """Print a frame as a table: in full where the output is no terminal, else in blocks of columns that fit side by side.

    `wrapped` breaks long text into lines on a terminal instead.
    """
    columns = {name: _cells(frame[name]) for name in frame.columns}
    widths = {name: max(map(cell_len, [name, *cells])) for name, cells in columns.items()}
    terminal = Console()
    width = terminal.width if terminal.is_terminal else sum(widths.values()) + GAP * len(widths)
    for names in [frame.columns] if wrapped else _blocks(frame, widths, width):
        # Numbers are put to the right here: rich would take away the spaces behind them that align their points.
        cells = {
            name: _aligned(name, columns[name], widths[name], frame.schema[name]) for name in names
        }
        needed = sum(widths[name] + GAP for name in names)
        # The height is given too: rich reads a width alone as 80 on terminals that cannot tell theirs.
        console = Console(width=width if wrapped else max(width, needed), height=terminal.height)
        console.print(_table(cells, widths, wrapped=wrapped))
        for row in zip(*(cells[name][ROWS_BY_RICH + 1 :] for name in names), strict=True):
            padded = (
                cell + " " * (widths[name] - cell_len(cell))
                for name, cell in zip(names, row, strict=True)
            )
            click.echo((" " * GAP).join(padded).rstrip())
        click.echo()


def _aligned(name: str, cells: list[str], width: int, dtype: pl.DataType) -> list[str]:
    """Return the head and the cells of a column, to the right where they are numbers."""
    return [cell.rjust(width if dtype.is_numeric() else 0) for cell in [name, *cells]]


def _table(columns: dict[str, list[str]], widths: dict[str, int], *, wrapped: bool) -> Table:
    """Return the head and the first rows as a table of rich, which takes a millisecond for each row."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, cells in columns.items():
        # Spaces make the head as wide as all rows; with min_width rich sets edge columns one wider before 14.3.
        head = cells[0] + " " * (0 if wrapped else widths[name] - cell_len(cells[0]))
        table.add_column(Text(head), no_wrap=not wrapped or name == "name")
    for row in zip(*(cells[1 : ROWS_BY_RICH + 1] for cells in columns.values()), strict=True):
        table.add_row(*map(Text, row))
    return table


def _blocks(frame: pl.DataFrame, widths: dict[str, int], width: int) -> Iterator[list[str]]:
    """Give the columns in blocks that fit the width, each with the columns that tell rows apart."""
    keys = [name for name, dtype in frame.schema.items() if dtype != pl.Float64]
    block = list(keys)
    for name in frame.columns:
        if name in keys:
            continue
        if (
            len(block) > len(keys)
            and sum(widths[one] + GAP for one in [*block, name]) - GAP > width
        ):
            yield block
            block = list(keys)
        block.append(name)
    yield block


def _cells(column: pl.Series) -> list[str]:
    """Return values as text: numbers to six significant digits, with their points one under the other."""
    if not column.dtype.is_float():
        return ["null" if value is None else str(value).replace("\n", "\\n") for value in column]
    cells = ["null" if value is None else f"{value + 0.0:.6g}" for value in column]  # without -0
    behind = [
        len(cell.partition(".")[2]) if "." in cell and "e" not in cell else -1 for cell in cells
    ]
    most = max(behind, default=-1)
    return [cell + " " * (most - digits) for cell, digits in zip(cells, behind, strict=True)]
