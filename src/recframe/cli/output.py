"""Output: tables on a terminal, results in files, notes and errors."""

from __future__ import annotations

import math
import re
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import click
import polars as pl
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

import recframe as rf
from recframe.charts.table import plain
from recframe.cli import files
from recframe.cli.readers import ROWS_TO_INFER, is_address
from recframe.errors import CUT, RecframeError, plan_errors, readable, visible, wrong_ending
from recframe.frames import atomic_write, hints
from recframe.frames.hints import InShell
from recframe.statistics.stored_results import with_interval
from recframe.tracking.histories import is_kept

Options: TypeAlias = dict[str, Any]
"""A command's options by their names."""
GAP = "   "
MOST_ROWS = 100
"""Rows above which a table is cut on a terminal, so that its head stays in sight."""
FIRST_ROWS = 20
LONGEST_CELL = 1_000
"""Characters above which a cell is cut on a terminal."""
ROWS_AT_ONCE = 1_000
NOTE = "note"
"""The column that is a line below a row where it does not fit."""
DIGITS = 6
TINY = 1e-3
LARGE = 1e12
"""Value from which numbers are shown in scientific notation."""


def say(text: str = "", *, err: bool = False, bold: bool = False) -> None:
    """Print text for people, without control characters in ids and names.

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
    columns = {name: [name, *_cells(shown[name])] for name in shown.columns}
    for name, cells in columns.items():
        columns[name] = [visible(_cut(cell) if width else cell) for cell in cells]
    if wrapped and width is not None:
        Console(width=width).print(_wrapped(columns))
        say()
    else:
        _print_blocks(shown, columns, width)
    if cut:
        more = f"{frame.height - FIRST_ROWS:,} more rows"
        say(f"{more}: -o FILE, or a pipe, has all {frame.height:,}", err=True)


def _cut(cell: str) -> str:
    return cell if len(cell) <= LONGEST_CELL else cell[:LONGEST_CELL] + CUT


def is_terminal() -> bool:
    """Return whether stdout is a terminal. NOTE: FORCE_COLOR, which many logs set, makes no terminal of a pipe."""
    return sys.stdout.isatty()


def _print_blocks(frame: pl.DataFrame, columns: dict[str, list[str]], width: int | None) -> None:
    """Print columns in blocks that fit a width, or in one."""
    widths = {name: max(map(cell_len, cells)) for name, cells in columns.items()}
    notes: list[str] = []
    if width is not None and frame.columns[-1:] == [NOTE] and _total(widths.values()) > width:
        # a line below each row with a note
        given = zip(frame[NOTE], columns[NOTE][1:], strict=True)
        notes = [f"\n{GAP}{text}" if note else "" for note, text in given]
        frame = frame.drop(NOTE)
    # a terminal that cannot show a line has a hyphen
    line = "─" if (sys.stdout.encoding or "").lower().startswith("utf") else "-"
    blocks = [frame.columns] if width is None else list(_blocks(frame, widths, width))
    for names in blocks:
        padded = [
            _padded(columns[name], widths[name], to_right=frame.schema[name].is_numeric())
            for name in names
        ]
        head, *rows = (GAP.join(row).rstrip() for row in zip(*padded, strict=True))
        say(head, bold=True)
        say(line * _total(widths[name] for name in names))
        if names == blocks[-1]:
            rows = [row + note for row, note in zip_longest(rows, notes, fillvalue="")]
        for start in range(0, len(rows), ROWS_AT_ONCE):
            say("\n".join(rows[start : start + ROWS_AT_ONCE]))
        say()


def _total(widths: Iterable[int]) -> int:
    """Return the total width of columns, in characters."""
    return sum(width + len(GAP) for width in widths) - len(GAP)


def _padded(cells: list[str], width: int, *, to_right: bool) -> Iterator[str]:
    """Give the cells of a column in its display width; wide characters take two places."""
    for cell in cells:
        space = " " * (width - cell_len(cell))
        yield space + cell if to_right else cell + space


def _wrapped(columns: dict[str, list[str]]) -> Table:
    """Return a table of rich, which breaks long text into lines."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, (title, *_) in columns.items():
        table.add_column(Text(title), no_wrap=name == "name", overflow="fold")
    for row in zip(*(cells[1:] for cells in columns.values()), strict=True):
        table.add_row(*map(Text, row))
    return table


def _blocks(frame: pl.DataFrame, widths: dict[str, int], width: int) -> Iterator[list[str]]:
    """Yield the columns in blocks that fit the width, each with the key columns."""
    keys = [name for name, dtype in frame.schema.items() if dtype != pl.Float64]
    block = keys
    for name in frame.columns:
        if name in keys:
            continue
        if block != keys and _total(widths[one] for one in [*block, name]) > width:
            yield block
            block = keys
        block = [*block, name]
    yield block


def _cells(column: pl.Series) -> list[str]:
    """Return values as text, the numbers of a column with as many decimals each."""
    values = column.to_list()
    if not column.dtype.is_float():
        return ["null" if value is None else str(value) for value in values]
    finite = [abs(value) for value in values if value is not None and math.isfinite(value)]
    if max(finite, default=0) >= LARGE:
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


MOMENT = 1.5
"""Seconds after which a bar is shown."""


@contextmanager
def reading() -> Iterator[Callable[[float], None]]:
    """Read files: show a bar after a moment if stderr is a terminal, and turn errors into ones of data, in one line.

    It gives a function that sets the finished share.
    """
    console = Console(stderr=True)
    shown = Progress(
        TextColumn("reading"), BarColumn(), TimeElapsedColumn(), console=console, transient=True
    )
    task = shown.add_task("reading", total=None)
    timer = threading.Timer(MOMENT, shown.start)
    timer.daemon = True
    if console.is_terminal:
        timer.start()
    try:
        with plan_errors():
            yield lambda share: shown.update(task, total=1.0, completed=share)
    except (pl.exceptions.PolarsError, OSError) as error:
        text = files.first_line(error)
        hint = ""
        if "could not parse" in text:
            hint = f"; the first {ROWS_TO_INFER} rows are otherwise. Use --ids-as-text for ids, or write Parquet"
        raise rf.DataError(f"the files cannot be read: {text}{hint}") from None
    finally:
        timer.cancel()
        if shown.live.is_started:
            shown.stop()


STDOUT = "-"
TABLE = "table"


def markdown(frame: pl.DataFrame) -> str:
    """Return a frame as a Markdown table, numbers in full precision and to the right, null as an empty cell.

    >>> import polars as pl
    >>> print(markdown(pl.DataFrame({"country": ["DE", None], "mrr": [0.5, 1 / 3]})))
    | country | mrr |
    | :--- | ---: |
    | DE | 0.5 |
    |  | 0.3333333333333333 |
    <BLANKLINE>
    """
    rules = ["---:" if dtype.is_numeric() else ":---" for dtype in frame.dtypes]
    lines = [
        map(_markdown_cell, frame.columns),
        rules,
        *(map(_markdown_cell, row) for row in frame.iter_rows()),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _markdown_cell(value: object) -> str:
    return "" if value is None else plain(str(value))


_IN_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<=": r"$\le$",
    ">=": r"$\ge$",
    **{sign: f"${sign}$" for sign in "<>|-"},
    "\n": " ",
}
_MINUS = r"(?<![\w.-])-(?=[\d.])"
_SIGNS = re.compile(
    "|".join([_MINUS, *map(re.escape, sorted({*_IN_LATEX} - {"-"}, key=len, reverse=True))])
)


def latex(frame: pl.DataFrame) -> str:
    r"""Return a frame as a tabular of LaTeX, which needs no package, numbers to the right, null as an empty cell.

    >>> import polars as pl
    >>> print(latex(pl.DataFrame({"model": ["item_knn", None], "mrr": [0.5, -0.25]})))
    \begin{tabular}{lr}
    \hline
    model & mrr \\
    \hline
    item\_knn & 0.5 \\
     & $-$0.25 \\
    \hline
    \end{tabular}
    <BLANKLINE>
    """
    sides = "".join("r" if dtype.is_numeric() else "l" for dtype in frame.dtypes)
    head, *rows = (_latex_row(row) for row in [frame.columns, *frame.iter_rows()])
    body = [r"\hline", head, r"\hline", *rows, r"\hline"]
    lines = [rf"\begin{{tabular}}{{{sides}}}", *body, r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _latex_row(values: Iterable[object]) -> str:
    line = " & ".join(map(_latex_cell, values)) + r" \\"
    # behind the end of a row LaTeX takes a bracket for the space below it
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


def _latex_cell(value: object) -> str:
    if value is None:
        return ""
    return _SIGNS.sub(lambda found: _IN_LATEX[found[0]], str(value))


def _json(frame: pl.DataFrame) -> str:
    """Return a list of rows, each on a line of its own."""
    lines = _ndjson(frame).splitlines()
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"


def _ndjson(frame: pl.DataFrame) -> str:
    """Return a row on each line; JSON has no words for NaN and infinite numbers, which are null."""
    floats = [pl.col(name) for name, dtype in frame.schema.items() if dtype.is_float()]
    return frame.with_columns(pl.when(one.is_finite()).then(one) for one in floats).write_ndjson()


FORMATS: dict[str, Callable[[pl.DataFrame], str]] = {
    "json": _json,
    "ndjson": _ndjson,
    "csv": pl.DataFrame.write_csv,
    "tsv": partial(pl.DataFrame.write_csv, separator="\t"),
    "md": markdown,
    "tex": latex,
}
BINARY: dict[str, Callable[[pl.DataFrame, BinaryIO], object]] = {
    ".parquet": pl.DataFrame.write_parquet,
    ".arrow": pl.DataFrame.write_ipc,
}
ENDINGS = {f".{name}": name for name in FORMATS} | {".jsonl": "ndjson"}
WRITERS = (".csv", ".tsv", ".json", ".ndjson", ".jsonl", ".md", ".tex", *BINARY)


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
    """Say that there is no such directory, or that an input or a run of a history would be overwritten."""
    target = Path(path).expanduser()
    read = (place for name in inputs if not is_address(name) for place in files.places(name))
    reason = None
    if not target.parent.is_dir():
        reason = f"there is no directory {str(target.parent)!r}"
    elif is_kept(target):
        reason = "it belongs to a history; name a file elsewhere"
    elif target.exists() and any(target.samefile(place) for place in read):
        reason = "it is one of the input files"
    if reason is not None:
        raise RecframeError(f"cannot write {path!r}: {reason}")


def is_table(options: Options) -> bool:
    """Return whether a result is shown as a table, and not written in full precision."""
    path, form = options.get("output"), options["form"]
    return form == TABLE or (form is None and path is None)


def give(frame: pl.DataFrame, options: Options) -> None:
    """Show a frame as a table, or write it in full precision: to a file, or to stdout, as CSV if nothing else is said."""
    path, form = options.get("output"), options["form"]
    if is_table(options):
        print_frame(frame)
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


SHARES = ("detectable_relative", "margin", "wanted", "chance")
"""Columns that are shown in per cent."""
TIMES = 10
"""Share from which it is shown as a multiple."""


def view(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a short result for reading: keys, numbers with intervals, and a note."""
    names = frame.columns
    first = min(names.index(one) for one in ("metric", "requirement") if one in names)
    ends = {f"{name}_{end}" for name in names[first:] for end in ("low", "high")}
    shown = [name for name in names[first:] if name not in ends]
    if frame["note"].null_count() == frame.height:
        shown.remove("note")
    return frame.select(*names[:first], *(_read_cells(frame, name) for name in shown))


def _read_cells(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column as people read it: shares in per cent, and values with their intervals."""
    column = frame[name]
    if name == NOTE:
        return column.fill_null("")
    if name in {"p_value", "p_adjusted"}:
        return pl.Series(name, map(_p_value, column), dtype=pl.String)
    if name not in SHARES and not column.dtype.is_float():
        return column
    if name in SHARES:
        return pl.Series(name, map(_share, column), dtype=pl.String)
    ends = {f"{name}_low", f"{name}_high"} <= {*frame.columns}
    low, high = (
        frame[f"{name}_{end}"] if ends else [None] * len(column) for end in ("low", "high")
    )
    return pl.Series(name, map(with_interval, column, low, high), dtype=pl.String)


def _share(value: float | None) -> str:
    if value is None:
        return "null"
    return f"{value:,.0f} x" if value >= TIMES else f"{100 * value + 0.0:.1f} %"


def _p_value(value: float | None) -> str:
    if value is None:
        return "null"
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"  # noqa: PLR2004  the last digit


class Failure(click.ClickException):
    """An error of files, columns, metrics or data, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(files.in_words(message))

    def show(self, file: Any = None) -> None:
        """Print the line to stderr."""
        del file
        say(f"error: {' '.join(readable(self.message).split())}", err=True)


APART = " ids in common"
"""The words of the library's warning of two files with other ids."""


@contextmanager
def noted(*, ids_as_text: bool = False) -> Iterator[None]:
    """Print recframe's warnings as notes when all is done; others are shown as they are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rf.RecframeWarning)
        yield
    for one in caught:
        if issubclass(one.category, rf.RecframeWarning):
            note(str(one.message))
            if ids_as_text and APART in str(one.message):
                note("--ids-as-text compares ids sign by sign: '7.0' and '007' are not '7'")
        else:
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)


def note(text: str) -> None:
    """Print a note to stderr."""
    say(f"note: {' '.join(text.split())}", err=True)


@contextmanager
def words_of_the_shell(paths: dict[str, str]) -> Iterator[None]:
    """Word messages with command options and files in place of Python's names."""
    with hints.in_words(InShell(paths)):
        yield
