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
from itertools import groupby, pairwise, takewhile, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import click
import polars as pl
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
LINES = 2
"""Lines that a row takes at most where there is another way."""
FOLDED, STACKED = 30, 50
"""Widths in which any text is fit to be broken into lines: alone, and above or below others."""
NOTE = "note"
"""The column whose texts stand below a table on a terminal."""
COUNTS = {"n_users", "n_lists", "users_needed", "rows", "users"}
IN_ROWS = {"verdict", "state", "severity", "value", "difference", "gap", "users_needed", NOTE}
"""Columns that stay in the rows where all values are the same."""
OF_ROWS = {"metric", "requirement"}
"""The last key of a result."""
ENDS = {"n_users", "n_lists", *OF_ROWS}
PAIRS = {
    *(("model", "baseline"), ("value", "baseline_value"), ("value", "bound"), ("value", "rest")),
    *(("best", "worst"), ("best_value", "worst_value"), ("detectable", "detectable_relative")),
    *(("difference", "p_adjusted"), ("name", "aliases"), ("rows", "users")),
    ("formula", "parameters"),
}
"""Columns of which the second stands below the first where not all fit side by side."""
STYLES = {
    **dict.fromkeys(("better", "holds", "not worse"), "green"),
    **dict.fromkeys(("worse", "fails", "missing", "error", "not better"), "red"),
    **dict.fromkeys(("open", "few", "warning"), "yellow"),
}
"""Colours of words."""
_NUMBER = re.compile(r"(< )?-?[\d.,e+-]+( %| x)?( \[.*\])?|null|-?inf|nan|")
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


class _Column(NamedTuple):
    """A column of a table on a terminal."""

    cells: list[str]
    """Its title, and its values as text."""
    is_number: bool
    """Whether its cells stand to the right."""

    @property
    def width(self) -> int:
        """The width of its longest cell."""
        return max(map(cell_len, self.cells))

    def least(self, *, alone: bool) -> int:
        """Return the least width: that of a number, or of text in lines without a broken word; two lines if it is alone."""
        if all(map(_NUMBER.fullmatch, self.cells[1:])):
            return self.width
        longest = max(cell_len(word) for cell in self.cells for word in cell.split() or [""])
        few = min(max(map(_halved, self.cells)), FOLDED) if alone else STACKED
        return min(self.width, max(longest, few))


def _halved(text: str) -> int:
    """Return the least width in which text takes two lines."""
    words = text.split()
    ends = [cell_len(" ".join(words[:at])) for at in range(len(words) + 1)]
    starts = [cell_len(" ".join(words[at:])) for at in range(len(words) + 1)]
    return min(map(max, ends, starts))


Columns: TypeAlias = dict[str, _Column]
Slots: TypeAlias = list[list[str]]
"""The columns of a table from left to right, in each place those that stand below one another."""


def _print_table(frame: pl.DataFrame, once: Sequence[str]) -> None:
    """Print a table in a terminal's width.

    What is the same in all rows stands above it, with what is said `once`, and notes stand below. Columns that do not fit stand
    below one another, in two lines a row, or leading ones in lines above their rows; values of metrics in blocks.
    """
    width = shutil.get_terminal_size().columns
    cut = frame.height > MOST_ROWS
    shown = frame.head(FIRST_ROWS) if cut else frame
    columns = {name: _read(shown[name]) for name in shown.columns}
    notes = _as_numbers(columns[NOTE].cells) if shown.columns[-1:] == [NOTE] else []
    if frame.height > 1 or _needs(columns, [[name] for name in columns]) > width:
        same = [f"{name} {columns.pop(name).cells[-1]}" for name in _same(frame)]
    else:
        same = []
    if same or once:
        say(_joined([*same, *once], width))
    console = Console(width=width, highlight=False)
    heads = {name: columns.pop(name) for name in _heads(columns, shown.schema, width)}
    for number, block in enumerate(_blocks(columns, shown.schema, width)):
        if number:
            say()
        _print_block(console, block, heads)
    for note in notes:
        tell(note)
    say()
    if cut:
        more = f"{frame.height - FIRST_ROWS:,} more rows"
        tell(f"{more}: -o FILE, or a pipe, has all {frame.height:,}", err=True)


def _read(column: pl.Series) -> _Column:
    """Return a column as people read it: counts in groups of three digits."""
    if column.name in COUNTS and column.dtype.is_integer():
        cells = ["" if value is None else f"{value:,}" for value in column]
    else:
        cells = _cells(column)
    cells = [visible(cell) for cell in (column.name, *cells)]
    cells = [cell if len(cell) <= LONGEST_CELL else cell[:LONGEST_CELL] + CUT for cell in cells]
    return _Column(cells, column.dtype.is_numeric())


def _same(frame: pl.DataFrame) -> list[str]:
    """Return the columns that have one value in all rows, and are no results; the first column only of several rows."""
    names = frame.columns if frame.height > 1 else frame.columns[1:]
    names = [name for name in names if name not in IN_ROWS and not frame.schema[name].is_float()]
    found = [name for name in names if frame[name].n_unique() == 1]
    return found if len(found) < frame.width else found[1:]


def _as_numbers(cells: list[str]) -> list[str]:
    """Put numbers in place of the notes of a column, and return what they stand for."""
    numbers: dict[str, int] = {}
    for at, cell in enumerate(cells[1:], 1):
        parts = [] if cell in {"", "null"} else cell.split("; ")
        cells[at] = ", ".join(str(numbers.setdefault(part, len(numbers) + 1)) for part in parts)
    return [f"note {number}: {part}" for part, number in numbers.items()]


def _joined(items: Iterable[str], width: int) -> str:
    """Return items behind one another, in lines that fit a width."""
    lines: list[str] = []
    for item in items:
        longer = f"{lines[-1]}{_sign(' · ', ', ')}{item}" if lines else item
        lines[-1:] = [longer] if cell_len(longer) <= width else [*lines[-1:], item]
    return folded("\n".join(lines), width)


def _sign(text: str, plain: str) -> str:
    """Return text, or what stands in for it where an output cannot show it."""
    return text if (sys.stdout.encoding or "").lower().startswith("utf") else plain


def _heads(columns: Columns, schema: pl.Schema, width: int) -> list[str]:
    """Return the leading columns whose values are to stand above their rows, as few as leave two lines to a row."""
    keys = [name for name in _keys(columns, schema) if name not in OF_ROWS]
    best, least = 0, math.inf
    for n in range(min(len(keys) + 1, len(columns))):
        below = {name: one for name, one in columns.items() if name not in keys[:n]}
        lines = max(LINES, *map(len, _slots(next(_blocks(below, schema, width)), width)))
        # so that rows have their values in common
        groups = {*zip(*(columns[name].cells[1:] for name in keys[:n]), strict=True)}
        if lines < least and (n == 0 or len(groups) < len(columns[keys[0]].cells) - 1):
            best, least = n, lines
    return keys[:best]


def _keys(columns: Columns, schema: pl.Schema) -> list[str]:
    """Return the leading columns, up to the metric or the number of users, or else up to the first value."""
    names = schema.names()
    ends = [at + (name in OF_ROWS) for at, name in enumerate(names) if name in ENDS]
    keys = names[: ends[0]] if ends else takewhile(lambda name: not schema[name].is_float(), names)
    return [name for name in keys if name in columns]


def _blocks(columns: Columns, schema: pl.Schema, width: int) -> Iterator[Columns]:
    """Yield the columns in blocks that fit the width, each behind the keys, if values of metrics are among them."""
    keys = _keys(columns, schema) if any(schema[name].is_float() for name in columns) else columns
    block = start = {name: columns[name] for name in keys}
    for name in [name for name in columns if name not in start]:
        longer = {**block, name: columns[name]}
        if len(block) > len(start) and _needs(longer, [[one] for one in longer]) > width:
            yield block
            longer = {**start, name: columns[name]}
        block = longer
    yield block


def _slots(columns: Columns, width: int) -> Slots:
    """Return the columns in as few lines a row as fit a width, those that belong together below one another."""
    slots = [[name] for name in columns]
    while len(slots) > 1 and _needs(columns, slots) > width:
        costs = [_cost(columns, *pair) for pair in pairwise(slots)]
        at = costs.index(min(costs))
        slots[at : at + 2] = [slots[at] + slots[at + 1]]
    if max(map(len, slots)) <= LINES:
        return slots
    narrow = _narrowest(columns)
    return narrow if _needs(columns, narrow) <= width else slots


def _narrowest(columns: Columns) -> Slots:
    """Return the columns in two lines a row, in the least width."""
    names = [*columns]
    best: list[Slots] = [[]]
    for end in range(1, len(names) + 1):
        found = [[*best[start], names[start:end]] for start in range(max(end - LINES, 0), end)]
        best.append(min(found, key=lambda slots: _needs(columns, slots)))
    return best[-1]


def _needs(columns: Columns, slots: Slots) -> int:
    """Return the least width of a table."""
    return sum(_least(columns, slot) for slot in slots) + SPACE * (len(slots) - 1)


def _least(columns: Columns, slot: list[str]) -> int:
    return max(columns[name].least(alone=len(slot) == 1) for name in slot)


def _cost(columns: Columns, left: list[str], right: list[str]) -> tuple[Any, ...]:
    """Return how little two places of a table are fit to be one: the fewer lines and the more alike they are, the better."""
    n_lines, kinds = len(left) + len(right), {columns[name].is_number for name in (*left, *right)}
    saved = _least(columns, left) + _least(columns, right) - _least(columns, left + right)
    apart = (left[-1], right[0]) not in PAIRS
    return n_lines > LINES, apart, saved <= 0, n_lines, len(kinds), -saved


def _print_block(console: Console, columns: Columns, heads: Columns) -> None:
    """Print a head, a line, and the rows, each group of those below its values of `heads`."""
    slots = _slots(columns, console.width)
    sizes = _sizes(columns, slots, console.width)
    console.print(_grid(columns, slots, sizes, [0]), style="bold")
    say(_sign("─", "-") * (sum(sizes) + SPACE * (len(sizes) - 1)))
    n_rows = len(next(iter(columns.values())).cells)
    for head, rows in groupby(
        range(1, n_rows), lambda row: [f"{name} {one.cells[row]}" for name, one in heads.items()]
    ):
        if head:
            console.print(Text(_joined(head, console.width), style="bold"))
        console.print(_grid(columns, slots, sizes, rows))


def _sizes(columns: Columns, slots: Slots, width: int) -> list[int]:
    """Return the widths of a table's places; what is left over goes to where text is broken into lines."""
    sizes = [min(_least(columns, slot), width) for slot in slots]
    widths = {name: one.width for name, one in columns.items()}
    wanted = [max(map(widths.__getitem__, slot)) for slot in slots]
    for _ in range(width - sum(sizes) - SPACE * (len(slots) - 1)):
        lacks = [want - size for want, size in zip(wanted, sizes, strict=True)]
        sizes[lacks.index(max(lacks))] += max(lacks) > 0
    return sizes


def _grid(columns: Columns, slots: Slots, sizes: list[int], rows: Iterable[int]) -> Table:
    """Return rows as a table of rich."""
    grid = Table.grid(padding=(0, SPACE, 0, 0), pad_edge=False)
    for slot, size in zip(slots, sizes, strict=True):
        to_right = all(columns[name].is_number for name in slot)
        grid.add_column(width=size, justify="right" if to_right else "left", overflow="fold")
    lines = max(map(len, slots))
    for row in rows:
        stacks = [
            _stack(columns, slot, row, (size, lines))
            for slot, size in zip(slots, sizes, strict=True)
        ]
        for line in zip_longest(*stacks):
            if any(line):
                grid.add_row(*line)
    return grid


def _stack(columns: Columns, slot: list[str], row: int, room: tuple[int, int]) -> list[Text]:
    """Return the cells of a row at one place; text that is alone takes its lines."""
    width, lines = room
    cells = [columns[name].cells[row] for name in slot]
    if len(slot) == 1:
        parts = folded(cells[0], width).split("\n")
        style = _style(slot[0], cells[0])
        return [Text(part, style) for part in (*parts[: lines - 1], " ".join(parts[lines - 1 :]))]
    firsts = [True] + [row == 0] * len(cells[1:])
    return [*map(Text, cells, map(_style, slot, cells, firsts))]


def _style(name: str, cell: str, first: bool = True) -> str:  # noqa: FBT001, FBT002  in a map
    """Return the style of a cell: words have colours, and what is below another cell is dim if it is no result."""
    if name in IN_ROWS:
        return STYLES.get(cell, "")
    return "" if first else "dim"


def _cells(column: pl.Series) -> list[str]:
    """Return values as text, the numbers of a column with as many decimals each."""
    values = column.to_list()
    if not column.dtype.is_float():
        # a key that is null is a segment
        nothing = "" if column.dtype.is_numeric() else "null"
        return [nothing if value is None else str(value) for value in values]
    finite = [abs(value) for value in values if value is not None and math.isfinite(value)]
    if max(finite, default=0) >= LARGE or 0 < max(finite, default=0) < LEAST:
        return ["" if value is None else f"{value:.{DIGITS}g}" for value in values]
    digits = _decimals(finite)
    return [
        "" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # without -0
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
