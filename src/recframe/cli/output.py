"""Output of results, notes and errors: to terminals, pipes and files."""

from __future__ import annotations

import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
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
from recframe.charts.formatting import MINUS, counted, number, p_value, signed_share
from recframe.charts.table import plain
from recframe.cli import files
from recframe.errors import CUT, visible, wrong_ending

Options: TypeAlias = Mapping[str, Any]
"""A command's options by their names."""
Columns: TypeAlias = dict[str, list[str]]
"""The cells of a table by its columns, in which the first can be the head."""
UNLIMITED = 1_000_000
"""The width of a pipe."""
MOST_ROWS, MOST_IN_PIPE = 100, 5_000
"""Rows of a table on a terminal, and in a pipe, which takes some 0.1 ms a row; data for programs has a format."""
LONGEST_CELL = 1_000
"""Characters above which a cell is cut."""
BREAKS = (
    r"() (?=\[)|(?<=_)(?=[a-z]{5})|(?=@\d+$)",
    r"(?<=,)() (?=[-+.\d]+\])",
    *(rf"(?=.{{{width + 1}}})(.{{1,{width}}}) +" for width in (40, 24, 16)),
    r"(\S{30})(?=\S)",
)
"""Where a table that is too wide has breaks, one after the other: before intervals, in names, in intervals, in texts."""
NOTE = "note"
"""The column whose texts stand below a table."""
WORDS = ("baseline", "correction", "level")
"""Options that the reader of a result has to know."""
WRITERS: Mapping[str, Callable[[float], str]] = {
    **dict.fromkeys(("relative", "detectable_relative", "wanted"), signed_share),
    **dict.fromkeys(("p_value", "p_adjusted"), p_value),
}
COUNTS = "n|n_.*|rows.*|users.*|.*_users"
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
STDOUT, TABLE = "-", "table"


# Words


def width_of(stream: Any) -> int:
    """Return the width of a terminal; another stream breaks no line."""
    return shutil.get_terminal_size().columns if stream.isatty() else UNLIMITED


def say(shown: Any, *, err: bool = False) -> None:
    """Print prose or a table, in the width of a terminal, elsewhere in its own.

    NOTE: all that a command prints goes by this function, or by `put` where it is data.
    """
    stream = sys.stderr if err else sys.stdout
    # NOTE: FORCE_COLOR, which many logs set, makes no terminal of a pipe
    console = Console(
        force_terminal=stream.isatty(),
        width=width_of(stream),
        markup=False,
        highlight=False,
        emoji=False,
    )
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
    """Return the cells of a result; an interval stands with its number, and notes where there is one.

    >>> import polars as pl
    >>> cells_of(pl.DataFrame({"model": ["a", None], "value": [0.25, None], "value_low": 0.125, "value_high": 0.375}))
    {'model': ['a', 'null'], 'value': ['0.25 [0.12, 0.38]', '[0.12, 0.38]']}
    """
    columns: Columns = {}
    absent = "null"
    for column in frame:
        name = column.name
        ends = [end for end in (f"{name}_low", f"{name}_high") if end in frame.columns]
        if name in BEHIND_KEYS or column.dtype.is_float():
            absent = ""
        is_end = re.sub("_(low|high)$", "", name) in columns
        if not is_end and (name != NOTE or column.count()):
            rows = frame.select(name, *ends).rows()
            columns[name] = [_written(name, *row) or absent for row in rows]
    return columns


def _written(name: str, value: Any, *ends: float | None) -> str:
    """Return the cell of a value, without signs of control and of a bearable length."""
    limits = [end for end in ends if end is not None]
    write: Any = WRITERS.get(name, partial(number, ends=limits))
    text = "" if value is None else str(value).removesuffix(" 00:00:00")
    if isinstance(value, float):
        text = write(value)
    elif isinstance(value, int) and re.fullmatch(COUNTS, name):
        text = f"{value:,}"
    if limits:
        text = f"{text} [{', '.join(map(write, limits))}]".strip()
    text = text.replace(MINUS, "-")
    return visible(text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + CUT)


def print_frame(frame: pl.DataFrame, words: Iterable[str] = ()) -> None:
    """Print a result as a table.

    On a terminal what is the same in all rows stands above it, with further words, and notes stand below. Where it is too wide,
    intervals stand below their numbers, names and texts are broken; then columns are left out, which a line below names.
    """
    is_seen = sys.stdout.isatty()
    shown = frame.head(MOST_ROWS if is_seen else MOST_IN_PIPE)
    columns = cells_of(shown)
    above, below = list[str](), list[str]()
    if is_seen:
        above = [*_constants(frame, columns), *words]
        below = _numbered(columns.get(NOTE, []))
    texts = {name: [visible(name), *cells] for name, cells in columns.items()}
    gone = _narrowed(texts)
    if gone:
        below.append(f"without {', '.join(gone)}, for want of room: -o FILE has all columns")
    for part in filter(None, (", ".join(above), _table(texts, frame.schema), *below)):
        say(part)
    more = frame.height - shown.height
    if more:
        say(f"{more:,} more rows: -o FILE, or --format csv, has all {frame.height:,}", err=True)


def _constants(frame: pl.DataFrame, columns: Columns) -> list[str]:
    """Remove the keys and counts that are the same in all of several rows, and return what they are."""
    facts = [frame[name] for name in columns if name not in IN_ROWS]
    same = [one.name for one in facts if one.n_unique() == 1 < len(one)]
    return [f"{name} {columns.pop(name)[0]}" for name in same if not frame[name].dtype.is_float()]


def _numbered(cells: list[str]) -> list[str]:
    """Put numbers in place of notes, and return what they stand for."""
    notes = [*filter(None, dict.fromkeys(cells))]
    cells[:] = [str(notes.index(cell) + 1) if cell else "" for cell in cells]
    return [f"note {number}: {text}" for number, text in enumerate(notes, 1)]


def _narrowed(texts: Columns) -> list[str]:
    """Break the texts of a table that is too wide, then remove columns, and return the names of these."""
    gone = []
    for place in BREAKS:
        if _is_too_wide(texts):
            for cells in texts.values():
                cells[:] = [re.sub(place, r"\1\n", cell) for cell in cells]
    for name in (*GO_FIRST, *reversed(texts.copy())):
        if _is_too_wide(texts) and name in texts and name != NOTE:
            gone.append(name)
            del texts[name]
    return gone


def _is_too_wide(texts: Columns, space: int = 1) -> bool:
    """Return whether a table is wider than the terminal, with some blanks between columns."""
    widths = [max(map(cell_len, "\n".join(cells).split("\n"))) for cells in texts.values()]
    return sum(widths) + space * len(widths) - space > width_of(sys.stdout)


def _table(texts: Columns, schema: pl.Schema) -> Table:
    """Return columns of texts as a table of rich."""
    more = 0 if _is_too_wide(texts, 2) else 1
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, more, 0, 0))
    for name, (head, *_) in texts.items():
        side: Any = "right" if schema[name].is_numeric() else "left"
        table.add_column(Text(head), justify=side, overflow="fold")
    for row in zip(*(cells[1:] for cells in texts.values()), strict=True):
        table.add_row(*(Text(cell, STYLES.get(cell, "")) for cell in row))
    return table


def print_findings(found: pl.DataFrame, _: object = ()) -> None:
    """Print findings as a table, and below it what is done about each and how to mend it."""
    if found.is_empty():
        say("nothing odd was found")
        return
    print_frame(found.drop("treatment", "remedy"))
    for one in found.unique(["check", "treatment", "remedy"], maintain_order=True).to_dicts():
        say("{check}: {treatment}. To mend: {remedy}.".format_map(one))


# Files


def _markdown(frame: pl.DataFrame, file: Any) -> None:
    """Write a result as a Markdown table, with the cells that people read."""
    columns = [[name, "---", *cells] for name, cells in cells_of(frame).items()]
    for row in zip(*columns, strict=True):
        file.write(f"| {' | '.join(map(plain, row))} |\n".encode())


FORMATS: Mapping[str, Callable[[pl.DataFrame, Any], object]] = {
    "csv": pl.DataFrame.write_csv,
    "tsv": partial(pl.DataFrame.write_csv, separator="\t"),
    "json": lambda frame, file: file.write(frame.write_json().encode()),
    "ndjson": pl.DataFrame.write_ndjson,
    "md": _markdown,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
}
"""Functions that write a result, by the names of formats, which are endings of files too."""


def form_of(options: Options, known: Sequence[str], inputs: Iterable[str]) -> str:
    """Return the form of a result; say before any work is done that it cannot be written, or would overwrite an input."""
    path, form = options["output"], options.get("form")
    if path in (None, STDOUT):
        return form or (known[0] if path else TABLE)
    target = Path(path).expanduser()
    ending = target.suffix.lower()
    near = (name for name in inputs if not files.is_address(name) and name not in files.STDIN)
    reason = None
    if form == TABLE:
        reason = "--format table is for stdout; leave out one of the two"
    elif form is None and ending[1:] not in known:
        reason = f"{wrong_ending(ending)}; known are .{', .'.join(known)}"
    elif not target.parent.is_dir():
        reason = f"there is no directory {str(target.parent)!r}"
    elif target.resolve() in {Path(one).resolve() for name in near for one in files.places(name)}:
        reason = "it is one of the input files"
    if reason:
        raise rf.RecframeError(f"cannot write {str(path)!r}: {reason}")
    return form or ending[1:]


def give(result: pl.DataFrame, options: Options, show: Any = print_frame) -> None:
    """Show a result as a table, or write it in full precision: to a file, or to stdout."""
    path, form = options["output"], options["form"]
    if form == TABLE:
        named = [name for name in WORDS if options.get(name) is not None]
        show(result, [f"{name} {options[name]}" for name in named if name not in result.columns])
    elif path in (None, STDOUT):
        content = BytesIO()
        FORMATS[form](result, content)
        put(content.getvalue())
    else:
        write(result, path, form)


def write(result: pl.DataFrame, path: Any, form: str) -> None:
    """Write a result to a file."""
    atomic_write.write(path, partial(FORMATS[form], result))
    say(f"wrote {path} ({counted(result.height, 'row')})", err=True)


def show_page(page: Any, options: Options) -> None:
    """Write a page, or a table to publish."""
    path = options["output"]
    if path == STDOUT:
        put(f"{page.html}\n".encode())
    else:
        page.save(path)
        say(f"wrote {path}", err=True)
