"""Results on stdout and in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from recframe.charts.formatting import counted
from recframe.charts.table import Table, plain
from recframe.cli import files
from recframe.cli.output import Options, put, say
from recframe.cli.tables import cells_of, print_frame
from recframe.errors import RecframeError, wrong_ending
from recframe.frames import atomic_write

STDOUT, TABLE = "-", "table"
MARKDOWN: dict[str, Any] = {
    "tbl_formatting": "ASCII_MARKDOWN",
    "tbl_hide_column_data_types": True,
    "tbl_hide_dataframe_shape": True,
    "tbl_rows": -1,
    "tbl_cols": -1,
    "tbl_width_chars": 60_000,
    "fmt_str_lengths": 60_000,
}
"""Polars' way to print a whole table as Markdown."""


def _markdown(frame: pl.DataFrame, file: BinaryIO) -> None:
    """Write a result as a Markdown table, with the cells that people read."""
    cells = {plain(name): [*map(plain, of_rows)] for name, of_rows in cells_of(frame).items()}
    with pl.Config(**MARKDOWN):
        file.write(f"{pl.DataFrame(cells)}\n".encode())


def _json(frame: pl.DataFrame, file: BinaryIO) -> None:
    """Write a list of rows."""
    file.write(f"{frame.write_json()}\n".encode())


FORMATS: dict[str, Callable[[pl.DataFrame, BinaryIO], object]] = {
    "csv": pl.DataFrame.write_csv,
    "tsv": partial(pl.DataFrame.write_csv, separator="\t"),
    "json": _json,
    "ndjson": pl.DataFrame.write_ndjson,
    "md": _markdown,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
}
"""Functions that write a result, by the names of formats, which are endings of files too."""


def check_output(options: Options, inputs: Iterable[str] = (), also: Iterable[str] = ()) -> None:
    """Say before any work is done that a result cannot be written, or would overwrite an input; `also` are endings."""
    path = options["output"]
    if path is None or path == STDOUT:
        return
    known = [f".{name}" for name in FORMATS] if "form" in options else []
    known += also
    ending = Path(path).suffix.lower()
    if options.get("form") is None and ending not in known:
        msg = f"cannot write {path!r}: {wrong_ending(ending)}; known are {', '.join(known)}"
        raise RecframeError(msg)
    check_place(path, inputs)


def check_place(path: str, inputs: Iterable[str]) -> None:
    """Say that there is no such directory, or that an input would be overwritten."""
    target = Path(path).expanduser()
    if not target.parent.is_dir():
        msg = f"cannot write {path!r}: there is no directory {str(target.parent)!r}"
        raise RecframeError(msg)
    if not target.exists():
        return
    near = (name for name in inputs if not files.is_address(name) and name not in files.STDIN)
    if any(target.samefile(place) for name in near for place in files.places(name)):
        msg = f"cannot write {path!r}: it is one of the input files"
        raise RecframeError(msg)


def is_table(options: Options) -> bool:
    """Return whether a result is shown as a table, and not written in full precision."""
    path, form = options["output"], options["form"]
    return form == TABLE or (form is None and path is None)


def give(frame: pl.DataFrame, options: Options, words: Sequence[str] = ()) -> None:
    """Show a result as a table, or write it in full precision: to a file, or to stdout."""
    path, form = options["output"], options["form"]
    if is_table(options):
        print_frame(frame, words)
    elif path is None or path == STDOUT:
        content = BytesIO()
        FORMATS[form or "csv"](frame, content)
        put(content.getvalue())
    else:
        write(frame, path, form)


def write(frame: pl.DataFrame, path: str, form: str | None = None) -> None:
    """Write a result in the format of the path's ending, or in another."""
    fill = FORMATS[form or Path(path).suffix.lower()[1:]]
    atomic_write.write(path, partial(fill, frame))
    _say_written(path, frame.height)


def publish(table: Table, options: Options) -> None:
    """Write a table to publish, in the form that its path's ending names."""
    path = options["output"]
    table.save(path)
    _say_written(path, len(table.rows))


def _say_written(path: str, n_rows: int) -> None:
    """Say what was written."""
    say(f"wrote {path} ({counted(n_rows, 'row')})", err=True)
