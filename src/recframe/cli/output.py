"""Tables for people, results in files, notes and errors."""

from __future__ import annotations

import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeAlias

import click
import polars as pl
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

import recframe as rf
from recframe.charts.formatting import MINUS, NONE, count, number, p_value, signed_share
from recframe.charts.table import plain
from recframe.cli import files
from recframe.errors import CUT, RecframeError, readable, visible, wrong_ending
from recframe.frames import atomic_write
from recframe.statistics.stored_results import decimals_of

Options: TypeAlias = Mapping[str, Any]
"""A command's options by their names."""
Columns: TypeAlias = dict[str, list[str]]
"""The cells of a table by its columns."""
UNLIMITED = 1_000_000
"""The width of a pipe."""
MOST_ROWS, FIRST_ROWS = 100, 20
"""Rows above which a table is cut on a terminal, so that its head stays in sight, and the rows that stay."""
LONGEST_CELL = 1_000
"""Characters above which a cell is cut."""
SPACE = 2
"""Blanks between columns."""
WIDEST_WORD = 30
"""Width from which a word is broken where a table does not fit otherwise."""
NOTE = "note"
"""The column whose texts stand below a table."""
SHARES = ("relative", "detectable_relative", "wanted")
IN_ROWS = {"verdict", "state", "severity", "value", "difference", "gap", "users_needed", NOTE}
"""Columns that stay in the rows where all values are the same."""
LONG = {"metric", "requirement"}
"""Columns of results with a row for each number."""
STYLES = {
    **dict.fromkeys(("better", "holds", "not worse"), "green"),
    **dict.fromkeys(("worse", "fails", "missing", "error", "not better"), "red"),
    **dict.fromkeys(("open", "few", "warning"), "yellow"),
}
"""Colours of words."""
BREAK = re.compile(r"\n| (?!%|[-+]?\d|\[|x\b)(?<!< )")
"""Where a cell may be broken into lines: not within a number."""
STDOUT, TABLE = "-", "table"


# Text


def is_terminal() -> bool:
    """Return whether stdout is a terminal."""
    return sys.stdout.isatty()


def say(shown: str | Table | None = "", *, err: bool = False) -> None:
    """Print prose or a table, or nothing for None: in the width of a terminal, elsewhere in its own.

    NOTE: all that a command prints goes by this function, or by `put` where it is data.
    """
    if shown is None:
        return
    stream = sys.stderr if err else sys.stdout
    # NOTE: FORCE_COLOR, which many logs set, makes no terminal of a pipe
    console = Console(
        file=stream, force_terminal=stream.isatty(), width=_width_of(stream), height=100
    )
    if isinstance(shown, str):
        shown = "\n".join(map(visible, shown.split("\n")))
    with console.capture() as printed:
        console.print(shown, markup=False, highlight=False, emoji=False)
    click.echo(re.sub(" +$", "", printed.get(), flags=re.MULTILINE), nl=False, err=err)


def _width_of(stream: TextIO) -> int:
    return shutil.get_terminal_size().columns if stream.isatty() else UNLIMITED


def put(data: bytes) -> None:
    """Write data to stdout: into a file or a pipe the bytes that `-o` writes, on a terminal as text."""
    if is_terminal():
        say(data.decode(errors="replace").removesuffix("\n"))
    else:
        # NOTE: of text click takes out what is an escape sequence, and Windows writes other line ends
        click.echo(data, nl=False)


class Failure(click.ClickException):
    """An error of files, columns, metrics or data, in a line."""

    def __init__(self, message: str) -> None:
        super().__init__(files.in_words(message))

    def show(self, file: Any = None) -> None:
        """Print the line to stderr."""
        del file
        say(f"error: {' '.join(readable(self.message).split())}", err=True)


class NotJudged(Failure):
    """An error that keeps requirements from being judged, with a status other than that of one that fails."""

    exit_code = 2


def note(text: str) -> None:
    """Print a note to stderr."""
    say(f"note: {' '.join(text.split())}", err=True)


@contextmanager
def noted() -> Iterator[None]:
    """Print recframe's warnings as notes when all is done, each once; others are shown as they are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rf.RecframeWarning)
        yield
    for text, one in {str(one.message): one for one in caught}.items():
        if issubclass(one.category, rf.RecframeWarning):
            note(text)
        else:
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)


# Cells


def cells_of(frame: pl.DataFrame) -> Columns:
    """Return the cells of a result as people read them; an interval stands with its number, and a note where there is one."""
    columns: Columns = {}
    for name in frame.columns:
        of_end = re.sub("_(low|high)$", "", name)
        is_end = {f"{of_end}_low", f"{of_end}_high"} <= {*frame.columns}
        whole = of_end if is_end else name
        if whole not in columns and not (name == NOTE and not frame[NOTE].count()):
            columns[whole] = _cells(frame, whole)
    return columns


def _cells(frame: pl.DataFrame, name: str) -> list[str]:
    none = pl.Series([None] * frame.height, dtype=pl.Float64)
    values, low, high = (
        frame.get_column(one, default=none) for one in (name, f"{name}_low", f"{name}_high")
    )
    written: Iterable[str]
    if name in SHARES:
        written = map(signed_share, values)
    elif name.startswith("p_"):
        written = map(p_value, values)
    elif values.dtype.is_float():
        written = map(_with_interval, values, low, high)
    elif values.dtype.is_integer() and re.search("^(n_|rows|users)|_users$", name):
        written = map(count, values)
    else:
        none_of = "" if name == NOTE else "null"
        written = (none_of if value is None else str(value) for value in values)
    return [_short(text.replace(MINUS, "-").removeprefix(NONE)) for text in written]


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Return a number with its interval: 0.251 [0.193, 0.317], or the one of them that there is."""
    digits = decimals_of(low, high)
    ends = [number(end, decimals=digits) for end in (low, high) if end is not None]
    text = number(value, decimals=digits)
    return f"{text} [{', '.join(ends)}]".removeprefix(f"{NONE} ") if ends else text


def _short(text: str) -> str:
    return visible(text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + CUT)


# Tables


def print_frame(frame: pl.DataFrame, words: Sequence[str] = ()) -> None:
    """Print a result as a table.

    On a terminal what is the same in all rows stands above it, with further words, and notes stand below. Where it is too wide,
    intervals stand below their numbers; then the last columns are left out, which a line below names, and metrics that stand
    side by side come in blocks.
    """
    width, is_seen = _width_of(sys.stdout), is_terminal()
    shown = frame.head(FIRST_ROWS) if is_seen and frame.height > MOST_ROWS else frame
    columns, below = cells_of(shown), list[str]()
    if is_seen:
        below = _numbered(columns.get(NOTE, []))
        same = [f"{name} {columns.pop(name)[0]}" for name in _constants(frame) if name in columns]
        say(", ".join([*same, *words]) or None)
    if _least(columns) > width:
        for name, cells in columns.items():
            columns[name] = [cell.replace(" [", "\n[") for cell in cells]
    is_wide = not LONG & {*frame.columns} and any(dtype.is_float() for dtype in frame.dtypes)
    last = [name for name in columns if name != NOTE]
    gone: list[str] = []
    while not is_wide and _least(columns) > width:
        gone.insert(0, last.pop())
        del columns[gone[0]]
    for block in _blocks(columns, frame.schema, width):
        say(_table(block, frame.schema, width))
    left_out = (
        f"without {', '.join(gone)}, for want of room: -o FILE has all columns" if gone else ""
    )
    say("\n".join(filter(None, [*below, left_out])) or None)
    if shown.height < frame.height:
        more = frame.height - shown.height
        say(f"{more:,} more rows: -o FILE, or a pipe, has all {frame.height:,}", err=True)


def _table(columns: Columns, schema: Mapping[str, pl.DataType], width: int) -> Table:
    """Return columns as a table of rich of at most a width, in which no word and no number is broken that fits."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    spare = width - _least(columns)
    for name, cells in columns.items():
        least = _widest(name, cells)
        lines = (line for cell in (name, *cells) for line in cell.split("\n"))
        more = min(max(map(cell_len, lines)) - least, spare)
        spare -= more
        is_number = name not in schema or schema[name].is_numeric()
        table.add_column(
            Text(visible(name)),
            justify="right" if is_number else "left",
            width=least + more,
            overflow="fold",
        )
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text(cell, STYLES.get(cell, "")) for cell in row))
    return table


def _widest(name: str, cells: Sequence[str]) -> int:
    """Return the width of a column's longest word or number."""
    words = (word for cell in (name, *cells) for word in BREAK.split(cell))
    return min(max(map(cell_len, words)), WIDEST_WORD)


def _least(columns: Columns) -> int:
    """Return the least width of a table."""
    return sum(_widest(name, cells) + SPACE for name, cells in columns.items()) - SPACE


def _constants(frame: pl.DataFrame) -> list[str]:
    """Return the keys and counts that are the same in all of several rows."""
    names = [
        name for name in frame.columns if name not in IN_ROWS and not frame.schema[name].is_float()
    ]
    same = [name for name in names if frame.height > 1 and frame[name].n_unique() == 1]
    return same if len(same) < frame.width else same[1:]


def _blocks(columns: Columns, schema: Mapping[str, pl.DataType], width: int) -> Iterator[Columns]:
    """Yield columns in blocks that fit a width, values of metrics behind the columns before them."""
    first = [*takewhile(lambda name: name in schema and not schema[name].is_float(), columns)]
    keys = block = {name: columns[name] for name in first}
    for name in [*columns][len(first) :]:
        if len(block) > len(keys) and _least({**block, name: columns[name]}) > width:
            yield block
            block = keys
        block = {**block, name: columns[name]}
    yield block


def _numbered(cells: list[str]) -> list[str]:
    """Put numbers in place of notes, and return what they stand for."""
    numbers: dict[str, int] = {}
    for place, cell in enumerate(cells):
        parts = filter(None, cell.split("; "))
        cells[place] = ", ".join(str(numbers.setdefault(part, len(numbers) + 1)) for part in parts)
    return [f"note {number}: {part}" for part, number in numbers.items()]


def print_findings(found: pl.DataFrame) -> None:
    """Print findings as a table, and below it what is done about each and how to mend it."""
    if found.is_empty():
        say("nothing odd was found")
        return
    print_frame(found.drop("treatment", "remedy"))
    checks = found.select("check", "treatment", "remedy").unique(maintain_order=True)
    for check, treatment, remedy in checks.iter_rows():
        say(f"{check}: {treatment}. To mend: {remedy}.")


# Files


def markdown(frame: pl.DataFrame, file: BinaryIO) -> None:
    """Write a result as a Markdown table, with the cells that people read."""
    columns = cells_of(frame)
    sides = [":---" if frame.schema.get(name) == pl.String else "---:" for name in columns]
    head, *rows = ([*map(plain, row)] for row in [columns, *zip(*columns.values(), strict=True)])
    file.writelines(f"| {' | '.join(line)} |\n".encode() for line in (head, sides, *rows))


def _json(frame: pl.DataFrame, file: BinaryIO) -> None:
    """Write a list of rows."""
    file.write(f"{frame.write_json()}\n".encode())


FORMATS: dict[str, Callable[[pl.DataFrame, BinaryIO], object]] = {
    "csv": pl.DataFrame.write_csv,
    "tsv": partial(pl.DataFrame.write_csv, separator="\t"),
    "json": _json,
    "ndjson": pl.DataFrame.write_ndjson,
    "md": markdown,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
}
"""Functions that write a result, by the names of formats, which are endings of files too."""


def check_output(options: Options, inputs: Iterable[str] = (), also: str = "") -> None:
    """Say before any work is done that a result cannot be written, or would overwrite an input; `also` is an ending."""
    path = options["output"]
    if path is None or path == STDOUT:
        return
    known = [f".{name}" for name in FORMATS] * ("form" in options) + [also] * bool(also)
    ending = Path(path).suffix.lower()
    if options.get("form") is None and ending not in known:
        msg = f"cannot write {path!r}: {wrong_ending(ending)}; known are {', '.join(known)}"
        raise RecframeError(msg)
    check_place(path, inputs)


def check_place(path: str, inputs: Iterable[str]) -> None:
    """Say that there is no such directory, or that an input would be overwritten."""
    target = Path(path).expanduser()
    read = (place for name in inputs if not files.is_address(name) for place in files.places(name))
    if not target.parent.is_dir():
        msg = f"cannot write {path!r}: there is no directory {str(target.parent)!r}"
        raise RecframeError(msg)
    if target.exists() and any(target.samefile(place) for place in read):
        msg = f"cannot write {path!r}: it is one of the input files"
        raise RecframeError(msg)


def is_table(options: Options) -> bool:
    """Return whether a result is shown as a table, and not written in full precision."""
    path, form = options["output"], options["form"]
    return form == TABLE or (form is None and path is None)


def give(frame: pl.DataFrame, options: Options, words: Sequence[str] = ()) -> None:
    """Show a result as a table, or write it in full precision: to a file, or to stdout."""
    path = options["output"]
    if is_table(options):
        print_frame(frame, words)
    elif path is None or path == STDOUT:
        content = BytesIO()
        FORMATS[options["form"] or "csv"](frame, content)
        put(content.getvalue())
    else:
        write(frame, path, options["form"])


def write(frame: pl.DataFrame, path: str, form: str | None = None) -> None:
    """Write a result in the format of the path's ending, or in another."""
    fill = FORMATS[form or Path(path).suffix.lower()[1:]]
    atomic_write.write(path, partial(fill, frame))
    say(f"wrote {path} ({frame.height} row{'s' * (frame.height != 1)})", err=True)
