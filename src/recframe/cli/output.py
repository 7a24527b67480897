"""Output: tables on a terminal, results in files, notes and errors."""

from __future__ import annotations

import math
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeAlias

import click
import polars as pl
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

import recframe as rf
from recframe.cli import files
from recframe.cli.files import BINARY, ENDINGS, FORMATS, WRITERS
from recframe.errors import CUT, RecframeError, readable, visible, wrong_ending
from recframe.frames import atomic_write, hints
from recframe.frames.hints import InShell

Options: TypeAlias = dict[str, Any]
"""A command's options by their names."""
GAP = "   "
MOST_ROWS = 100
"""Rows above which a table is cut on a terminal, so that its head stays in sight."""
FIRST_ROWS = 20
LONGEST_CELL = 1_000
"""Characters above which a cell is cut on a terminal."""
ROWS_AT_ONCE = 1_000
SPACE = 2
"""Blanks between columns on a terminal."""
WIDEST_WORD = 30
"""Width from which a word is broken where a table does not fit otherwise."""
NOTE = "note"
"""The column whose texts stand below a table on a terminal."""
COUNTS = {"n_users", "n_lists", "users_needed", "rows", "users"}
IN_ROWS = {"verdict", "state", "severity", "value", "difference", "gap", "users_needed", NOTE}
"""Columns that stay in the rows where all values are the same."""
LEFT_OUT = ("p_adjusted", "rest", "baseline_value", "bound", "n_users")
"""Columns that a table on a terminal goes without where it is too wide, the first first."""
Columns: TypeAlias = dict[str, list[str]]
"""The values of a table's columns as text."""
STYLES = {
    **dict.fromkeys(("better", "holds", "not worse"), "green"),
    **dict.fromkeys(("worse", "fails", "missing", "error", "not better"), "red"),
    **dict.fromkeys(("open", "few", "warning"), "yellow"),
}
"""Colours of words."""
_BREAK = re.compile(r"\n| (?![%\d])(?<!< )")
"""Where a cell may be broken into lines: not within a number."""
DIGITS = 6
TINY = 1e-3
LEAST, LARGE = 1e-9, 1e12
"""Values below and from which numbers are shown in scientific notation."""


def say(text: str = "", *, err: bool = False) -> None:
    """Print text for people, without control characters in ids and names.

    NOTE: all that a command prints goes by this function, or by `put` where it is data.
    """
    click.echo("\n".join(map(visible, text.split("\n"))), err=err)


def tell(text: str, *, err: bool = False, hanging: int | None = None) -> None:
    """Print prose: on a terminal in lines of its width, broken between words."""
    stream = sys.stderr if err else sys.stdout
    width = shutil.get_terminal_size().columns
    say(folded(text, width, hanging) if stream.isatty() else text, err=err)


def folded(text: str, width: int, hanging: int | None = None) -> str:
    """Return text in lines of a width, broken between words; the later ones stand below the first word of a line."""
    lines: list[str] = []
    for line in text.split("\n"):
        start = re.match(r" *(\d+\. |- |-> |>>> )?", line)
        size = start.end() if start else 0
        indent = (
            "...     " if line.startswith(">>> ") else " " * (size if hanging is None else hanging)
        )
        fit = textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        lines += fit or [""]
    return "\n".join(lines)


def fit_behind(start: str, text: str) -> str:
    """Return text that is printed to stderr behind a start, in lines of a terminal's width."""
    if not sys.stderr.isatty():
        return text
    return folded(start + text, shutil.get_terminal_size().columns).removeprefix(start)


def in_lines(command: str) -> str:
    """Return a command in lines of a terminal's width, which a shell reads as one, unless words in it have blanks."""
    if not is_terminal() or "'" in command:
        return command
    return folded(command, shutil.get_terminal_size().columns - 2, 4).replace("\n", " \\\n")


def in_long_lines(text: str) -> str:
    """Return a docstring with each paragraph, and each item of a list, in one line; code as it is."""
    parts = text.split("\n\n")
    return "\n\n".join(
        part if part.startswith(">>>") else re.sub(r"\n(?!- )\s*", " ", part) for part in parts
    )


def put(text: str) -> None:
    """Write data to stdout: into a file or a pipe the bytes that `-o` writes, on a terminal as words for people."""
    if is_terminal():
        say(text.removesuffix("\n"))
    else:
        # NOTE: of text click takes out what is an escape sequence, and Windows writes other line ends
        click.echo(text.encode(), nl=False)


def print_frame(frame: pl.DataFrame, once: Sequence[str] = ()) -> None:
    """Print a frame as a table: elsewhere than on a terminal each row on one line, in full, and nothing that is said `once`."""
    if is_terminal():
        _print_table(frame, once)
    else:
        _print_lines(frame)


def is_terminal() -> bool:
    """Return whether stdout is a terminal. NOTE: FORCE_COLOR, which many logs set, makes no terminal of a pipe."""
    return sys.stdout.isatty()


def _print_lines(frame: pl.DataFrame) -> None:
    """Print each row on a line, whatever its length."""
    columns = {name: [name, *_cells(frame[name])] for name in frame.columns}
    widths = {name: max(map(cell_len, cells)) for name, cells in columns.items()}
    padded = [
        _padded(cells, widths[name], to_right=frame.schema[name].is_numeric())
        for name, cells in columns.items()
    ]
    head, *rows = (GAP.join(row).rstrip() for row in zip(*padded, strict=True))
    say(head)
    say(_sign("─", "-") * (sum(widths.values()) + len(GAP) * (len(widths) - 1)))
    for start in range(0, len(rows), ROWS_AT_ONCE):
        say("\n".join(rows[start : start + ROWS_AT_ONCE]))
    say()


def _padded(cells: list[str], width: int, *, to_right: bool) -> Iterator[str]:
    """Give the cells of a column in its display width; wide characters take two places."""
    for cell in cells:
        space = " " * (width - cell_len(cell))
        yield space + cell if to_right else cell + space


def _print_table(frame: pl.DataFrame, once: Sequence[str]) -> None:
    """Print a table in a terminal's width.

    What is the same in all rows stands above it, with what is said `once`, and notes stand below. Of a table that is too wide
    intervals stand below their values, then columns are left out, which a line below names, then metrics stand in blocks.
    """
    width = shutil.get_terminal_size().columns
    shown = frame.head(FIRST_ROWS) if frame.height > MOST_ROWS else frame
    columns = {name: _shown(shown[name]) for name in shown.columns}
    notes = _numbered(columns[NOTE]) if NOTE in columns else []
    same = [f"{name} {columns.pop(name)[0]}" for name in _same(frame)]
    if same or once:
        tell(_sign(" · ", ", ").join([*same, *once]))
    if _width(columns) > width:
        columns = {
            name: [cell.replace(" [", "\n[") for cell in cells] for name, cells in columns.items()
        }
    gone = []
    for name in LEFT_OUT:
        if name in columns and _width(columns) > width:
            gone.append(name)
            del columns[name]
    if gone:
        notes.append(f"without {', '.join(gone)}, which have no room here: -o FILE has all columns")
    console = Console(width=width, highlight=False)
    for number, block in enumerate(_blocks(columns, shown.schema, width)):
        if number:
            say()
        console.print(_table(block, shown.schema))
    for note in notes:
        tell(note)
    say()
    if len(shown) < len(frame):
        more = f"{len(frame) - len(shown):,} more rows: -o FILE, or a pipe, has all {len(frame):,}"
        tell(more, err=True)


def _shown(column: pl.Series) -> list[str]:
    """Return values as people read them: counts in groups of three digits, nothing for no value, long texts cut."""
    is_count = column.name in COUNTS and column.dtype.is_integer()
    cells = (
        [f"{value:,}" for value in column.drop_nulls()] if is_count else _cells(column.drop_nulls())
    )
    cut = (cell if len(cell) <= LONGEST_CELL else cell[:LONGEST_CELL] + CUT for cell in cells)
    return [next(cut) if present else "" for present in column.is_not_null()]


def _table(columns: Columns, schema: pl.Schema) -> Table:
    """Return columns as a table of rich, in which no word and no number is broken that fits."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name, cells in columns.items():
        side: Any = "right" if schema[name].is_numeric() else "left"
        least = _least(name, cells)
        table.add_column(Text(visible(name)), justify=side, min_width=least, overflow="fold")
    for row in zip(*columns.values(), strict=True):
        lines = ["\n".join(map(visible, cell.split("\n"))) for cell in row]
        table.add_row(*(Text(cell, STYLES.get(cell, "")) for cell in lines))
    return table


def _least(name: str, cells: Sequence[str]) -> int:
    """Return the width of a column's longest word or number."""
    words = (word for cell in (name, *cells) for word in _BREAK.split(cell))
    return min(max(map(cell_len, words)), WIDEST_WORD)


def _width(columns: Columns) -> int:
    """Return the least width of a table."""
    return sum(_least(name, cells) + SPACE for name, cells in columns.items()) - SPACE


def _same(frame: pl.DataFrame) -> list[str]:
    """Return the keys and facts that are the same in all of several rows."""
    names = [
        name for name in frame.columns if name not in IN_ROWS and not frame.schema[name].is_float()
    ]
    same = [name for name in names if frame.height > 1 and frame[name].n_unique() == 1]
    return same if len(same) < frame.width else same[1:]


def _blocks(columns: Columns, schema: pl.Schema, width: int) -> Iterator[Columns]:
    """Yield columns in blocks that fit a width, values of metrics behind the columns before them."""
    names = [*columns]
    keys = [*takewhile(lambda name: not schema[name].is_float(), names)]
    start = block = {name: columns[name] for name in keys if len(keys) < len(names)}
    for name in names[len(start) :]:
        if len(block) > len(start) and _width({**block, name: columns[name]}) > width and start:
            yield block
            block = start
        block = {**block, name: columns[name]}
    yield block


def _numbered(cells: list[str]) -> list[str]:
    """Put numbers in place of the notes of a column, and return what they stand for."""
    numbers: dict[str, int] = {}
    for at, cell in enumerate(cells):
        parts = filter(None, cell.split("; "))
        cells[at] = ", ".join(str(numbers.setdefault(part, len(numbers) + 1)) for part in parts)
    return [f"note {number}: {part}" for part, number in numbers.items()]


def _sign(text: str, plain: str) -> str:
    """Return text, or what stands in for it where an output cannot show it."""
    return text if (sys.stdout.encoding or "").lower().startswith("utf") else plain


def _cells(column: pl.Series) -> list[str]:
    """Return values as text, the numbers of a column with as many decimals each."""
    values = column.to_list()
    if not column.dtype.is_float():
        return ["null" if value is None else str(value) for value in values]
    finite = [abs(value) for value in values if value is not None and math.isfinite(value)]
    if max(finite, default=0) >= LARGE or 0 < max(finite, default=0) < LEAST:
        return ["null" if value is None else f"{value:.{DIGITS}g}" for value in values]
    digits = _decimals(finite)
    return [
        "null" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # without -0
        for value in values
    ]


def _decimals(values: Sequence[float]) -> int:
    """Return the number of decimals for six significant digits of the largest number, or fewer if enough."""
    largest = max(values, default=0.0)
    if not largest:
        return 0
    # the digits before the point, below 0 the zeros behind it
    before = math.floor(math.log10(largest)) + 1
    # most metrics are from 0 to 1, and have six decimals whether they come near 1 or not
    most = DIGITS if TINY <= largest <= 1 else max(DIGITS - before, 0)
    return max(len(f"{value:.{most}f}".partition(".")[2].rstrip("0")) for value in values)


def print_findings(found: pl.DataFrame) -> None:
    """Print what was found as a table, and below it what is done about each and how to mend it."""
    if found.is_empty():
        tell("nothing odd was found")
        return
    print_frame(found.drop("treatment", "remedy"))
    checks = found.select("check", "treatment", "remedy").unique(maintain_order=True)
    for check, treatment, remedy in checks.iter_rows():
        tell(f"{check}: {treatment}. To mend: {remedy}.", hanging=2)


STDOUT = "-"
TABLE = "table"


def check_output(path: str | None, form: str | None, inputs: Iterable[str] = ()) -> None:
    """Say before any work is done that a result cannot be written to a path, or would overwrite an input."""
    if path is None or path == STDOUT:
        return
    ending = Path(path).suffix.lower()
    if form is None and ending not in WRITERS:
        raise RecframeError(
            f"cannot write {path!r}: {wrong_ending(ending)}; known are {', '.join(WRITERS)}"
        )
    if form is not None and (form == TABLE or (ending in WRITERS and ENDINGS.get(ending) != form)):
        raise RecframeError(
            f"cannot write {path!r}: --format {form} is not what its ending says; leave out one of the two"
        )
    check_place(path, inputs)


def check_place(path: str, inputs: Iterable[str]) -> None:
    """Say that there is no such directory, or that an input would be overwritten."""
    target = Path(path).expanduser()
    read = (place for name in inputs if not files.is_address(name) for place in files.places(name))
    reason = None
    if not target.parent.is_dir():
        reason = f"there is no directory {str(target.parent)!r}"
    elif target.exists() and any(target.samefile(place) for place in read):
        reason = "it is one of the input files"
    if reason is not None:
        raise RecframeError(f"cannot write {path!r}: {reason}")


def is_table(options: Options) -> bool:
    """Return whether a result is shown as a table, and not written in full precision."""
    path, form = options.get("output"), options["form"]
    return form == TABLE or (form is None and path is None)


def give(frame: pl.DataFrame, options: Options, once: Sequence[str] = ()) -> None:
    """Show a frame as a table, or write it in full precision: to a file, or to stdout, as CSV if nothing else is said."""
    path, form = options.get("output"), options["form"]
    if is_table(options):
        print_frame(frame, once)
    elif path in {None, STDOUT}:
        put(FORMATS[form or "csv"](frame))
    else:
        write(frame, path, form)
        say_written(path, frame)


def say_written(path: str, frame: pl.DataFrame) -> None:
    """Say that rows are in a file."""
    say(f"wrote {path} ({frame.height} row{'s' * (frame.height != 1)})", err=True)


def write(frame: pl.DataFrame, path: str, form: str | None) -> None:
    """Write a result in the format of the path's ending, or in one that is given; see `check_output`."""
    ending = Path(path).suffix.lower()
    if form is None and ending in BINARY:
        atomic_write.write(path, partial(BINARY[ending], frame))
    else:
        atomic_write.write_text(path, FORMATS[form or ENDINGS[ending]](frame))


class Failure(click.ClickException):
    """An error of files, columns, metrics or data, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(files.in_words(message))

    def show(self, file: Any = None) -> None:
        """Print the line to stderr."""
        del file
        tell(f"error: {' '.join(readable(self.message).split())}", err=True)


@contextmanager
def noted() -> Iterator[None]:
    """Print recframe's warnings as notes when all is done; others are shown as they are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rf.RecframeWarning)
        yield
    # a command of two calls says the same once
    for text, one in {str(one.message): one for one in caught}.items():
        if issubclass(one.category, rf.RecframeWarning):
            note(text)
        else:
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)


def note(text: str) -> None:
    """Print a note to stderr."""
    tell(f"note: {' '.join(text.split())}", err=True)


@contextmanager
def words_of_the_shell(paths: dict[str, str]) -> Iterator[None]:
    """Word messages with command options and files in place of Python's names."""
    with hints.in_words(InShell(paths)):
        yield
