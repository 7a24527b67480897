"""Output of results, notes and errors: to terminals, pipes and files."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from glob import glob
from io import BytesIO
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
from recframe import atomic_write
from recframe.charts.formatting import MINUS, counted, p_value, signed_share, written
from recframe.errors import short, visible, wrong_ending

Options: TypeAlias = Mapping[str, Any]
"""A command's options by their names."""
Columns: TypeAlias = dict[str, list[str]]
"""The texts of a table by its columns, the head first."""
UNLIMITED = 1_000_000
"""The width of a pipe."""
MOST_ROWS, MOST_IN_PIPE = 100, 5_000
"""Rows of a table on a terminal, and in a pipe, which takes some 0.1 ms a row; data for programs has a format."""
BREAKS = (
    r"() (?=\[)|(?<=_)(?=[a-z]{5,}$)|(?=@\d+$)",
    *(rf"(?=.{{{width + 1}}})(.{{1,{width}}}) +" for width in (60, 30, 16)),
)
"""Where a table that is too wide has breaks: before intervals and in names, then in texts, the longest first."""
GO_FIRST = ("p_value", "std", "baseline_value")
"""Columns that go first where a table is too wide, before the last columns."""
NOTE = "note"
"""The column whose texts stand below a table."""
WRITERS: Mapping[str, Any] = {
    "relative": signed_share,
    "detectable_relative": signed_share,
    "wanted": signed_share,
    "p_value": p_value,
    "p_adjusted": p_value,
}
"""Functions that write shares and probabilities."""
COUNTS = "n|n_.*|rows.*|users.*|.*_users"
STYLES = {
    "better": "green",
    "not worse": "green",
    "holds": "green",
    "worse": "red",
    "not better": "red",
    "fails": "red",
    "changed": "red",
    "missing": "red",
    "error": "red",
    "open": "yellow",
    "few": "yellow",
    "warning": "yellow",
}
"""Colours of words."""
STDOUT = "-"


# Words


def console_of(stream: Any) -> Console:
    """Return the console of a stream, as wide as its terminal; another stream breaks no line."""
    is_terminal = stream.isatty()
    return Console(
        stderr=stream is sys.stderr,
        # NOTE: FORCE_COLOR, which many logs set, makes no terminal of a pipe
        force_terminal=is_terminal,
        width=None if is_terminal else UNLIMITED,
        markup=False,
        highlight=False,
        emoji=False,
    )


def say(shown: Any, *, err: bool = False) -> None:
    """Print prose or a table.

    NOTE: all that a command prints goes by this function, or by `put` where it is data.
    """
    console = console_of(sys.stderr if err else sys.stdout)
    if isinstance(shown, str):
        shown = "\n".join(map(visible, shown.split("\n")))
    with console.capture() as printed:
        console.print(shown)
    click.echo(re.sub("(?m) +$", "", printed.get()), nl=False, err=err)


def put(data: bytes) -> None:
    """Write data to stdout: into a file or a pipe the bytes that `-o` writes, on a terminal as text."""
    if sys.stdout.isatty():
        say(data.decode(errors="replace").removesuffix("\n"))
    else:
        # NOTE: of text click takes out what is an escape sequence, and Windows writes other line ends
        click.echo(data, nl=False)


def note(text: str) -> None:
    """Print a note to stderr."""
    say(f"note: {' '.join(text.split())}", err=True)


@contextmanager
def noted() -> Iterator[None]:
    """Print warnings as notes when all is done, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rf.RecframeWarning)
        yield
    for text in dict.fromkeys(str(one.message) for one in caught):
        note(text)


# Tables


def cells_of(frame: pl.DataFrame) -> Columns:
    """Return the texts of a table by its columns, the head first; an interval stands with its number.

    Columns without a value are left out, but those of numbers.

    >>> import polars as pl
    >>> cells_of(pl.DataFrame({"model": ["a", None], "value": [0.25, None], "value_low": 0.125, "value_high": 0.375}))
    {'model': ['model', 'a', 'null'], 'value': ['value', '0.25 [0.12, 0.38]', '']}
    """
    columns: Columns = {}
    rows = frame.to_dicts()
    for column in frame:
        name, is_number = column.name, column.dtype.is_numeric()
        is_end = re.sub("_(low|high)$", "", name) in columns
        if not is_end and (is_number or column.count() or not rows):
            absent = "" if is_number or name == NOTE else "null"
            columns[name] = [visible(name), *(_cell(name, row, absent) for row in rows)]
    return columns


def _cell(name: str, row: Options, absent: str) -> str:
    """Return the text of a value of a row with its interval, or that of an absent value."""
    value, low, high = (row.get(part) for part in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return absent
    if isinstance(value, int) and not re.fullmatch(COUNTS, name):
        return str(value)
    ends: Any = () if low is None else (low, high)
    write: Any = WRITERS.get(name, partial(written, ends=ends))
    interval = f" [{write(low)}, {write(high)}]" if ends else ""
    return short(f"{write(value)}{interval}".replace(MINUS, "-"))


def print_frame(frame: pl.DataFrame) -> None:
    """Print a result as a table.

    On a terminal what is the same in all rows stands above it, and notes stand below. Where it is too wide, intervals stand
    below their numbers, and names and texts are broken; then columns are left out, which a line below names.
    """
    is_seen = sys.stdout.isatty()
    shown = frame.head(MOST_ROWS if is_seen else MOST_IN_PIPE)
    columns = cells_of(shown)
    above, below = list[str](), list[str]()
    if is_seen:
        notes = Counter(filter(None, columns.pop(NOTE, [])[1:]))
        below = [f"note on {counted(notes[text], 'row')}: {text}" for text in notes]
        same = [name for name in columns if _is_same(frame[name])]
        above = [f"{name} {columns.pop(name)[1]}" for name in same]
    if gone := _narrowed(columns):
        below.append(f"without {', '.join(gone)}, for want of room: -o FILE has all columns")
    if shown.height < frame.height:
        below.append(f"the first {shown.height:,} of {frame.height:,} rows: -o FILE has all")
    for part in filter(None, (", ".join(above), _table(columns, frame.schema), *below)):
        say(part)


def _is_same(column: pl.Series) -> bool:
    """Return whether a key or a count is the same in all of several rows; words with a colour stay in their rows."""
    is_value = column.dtype.is_float() or column[0] in STYLES
    return column.n_unique() == 1 < len(column) and not is_value


def _narrowed(columns: Columns) -> list[str]:
    """Break the texts of a table that is too wide, then remove columns, and return the names of these."""
    width = console_of(sys.stdout).width
    for place in BREAKS:
        if _width(columns) > width:
            for cells in columns.values():
                cells[:] = [re.sub(place, r"\1\n", cell) for cell in cells]
    names = (*GO_FIRST, *[*columns][:0:-1])
    return [name for name in names if _width(columns) > width and columns.pop(name, [])]


def _width(columns: Columns) -> int:
    """Return the width of a table with blanks between columns."""
    texts = ("\n".join(cells).split("\n") for cells in columns.values())
    return sum(1 + max(map(cell_len, lines)) for lines in texts) - 1


def _table(columns: Columns, schema: pl.Schema) -> Table:
    """Return columns of texts as a table of rich."""
    space = 0 if sys.stdout.isatty() else 1
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, space, 0, 0))
    for name, cells in columns.items():
        is_number = schema[name].is_numeric()
        table.add_column(cells[0], justify="right" if is_number else "left", overflow="fold")
    for row in [*zip(*columns.values(), strict=True)][1:]:
        table.add_row(*(Text(cell, STYLES.get(cell, "")) for cell in row))
    return table


def print_findings(found: pl.DataFrame) -> None:
    """Print findings as a table, and below it what is done about each and how to mend it."""
    if found.is_empty():
        say("nothing odd was found")
        return
    print_frame(found.drop("treatment", "remedy"))
    for one in found.unique(["check", "treatment", "remedy"], maintain_order=True).to_dicts():
        say("{check}: {treatment}. To mend: {remedy}.".format_map(one))


# Files


FORMATS: Mapping[str, Any] = {
    "csv": pl.DataFrame.write_csv,
    "json": lambda frame, file: file.write(frame.write_json().encode()),
    "ndjson": pl.DataFrame.write_ndjson,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
}
"""Functions that write a result, by the names of formats, which are endings of files too."""
PARTS = ("train", "fold_in", "truth")
"""The files of a split."""


def form_of(options: Options, known: list[str], read: Iterable[str]) -> str | None:
    """Return the format of a result; say before any work is done that it cannot be written, or would overwrite an input."""
    path, form = options["output"], options.get("form")
    if path in (None, STDOUT):
        return form or (known[0] if path else None)
    target = Path(path).expanduser().resolve()
    form = form or target.suffix.lower()[1:]
    places = {target, *target.parents, *(target / f"{part}.{form}" for part in PARTS)}
    names = [one for name in read for one in (name, *glob(name))]  # noqa: PTH207  of any pattern
    reason = None
    if form not in known:
        reason = f"{wrong_ending(target.suffix)}; known are .{', .'.join(known)}"
    elif not target.parent.is_dir():
        reason = f"there is no directory {str(Path(path).parent)!r}"
    elif places & {Path(name).resolve() for name in names}:
        reason = "it is one of the input files, or in a folder of them"
    if reason:
        raise rf.RecframeError(f"cannot write {str(path)!r}: {reason}")
    return form


def give(result: Any, options: Options, show: Any = print_frame) -> None:
    """Show a result as a table, or write it in full precision: to a file, or to stdout."""
    path, form = options["output"], options["form"]
    if form is None:
        show(result)
    elif path in (None, STDOUT) and form in FORMATS:
        content = BytesIO()
        FORMATS[form](result, content)
        put(content.getvalue())
    else:
        write(result, path, form)


def write(result: Any, path: Any, form: str) -> None:
    """Write a result, or a page, to a file."""
    if form in FORMATS:
        atomic_write.write(path, partial(FORMATS[form], result))
    else:
        result.save(path)
    say(f"wrote {path}", err=True)
