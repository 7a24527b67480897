"""Results on stdout and in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from recframe import atomic_write
from recframe.charts.formatting import counted
from recframe.charts.table import plain
from recframe.cli import files
from recframe.cli.output import Options, put, say
from recframe.cli.tables import cells_of, print_frame
from recframe.errors import RecframeError, wrong_ending

STDOUT, TABLE = "-", "table"


def _markdown(frame: pl.DataFrame, file: BinaryIO) -> None:
    """Write a result as a Markdown table, with the cells that people read."""
    columns = [[name, "---", *cells] for name, cells in cells_of(frame).items()]
    file.writelines(
        f"| {' | '.join(map(plain, row))} |\n".encode() for row in zip(*columns, strict=True)
    )


FORMATS: dict[str, Callable[[pl.DataFrame, Any], object]] = {
    "csv": pl.DataFrame.write_csv,
    "tsv": partial(pl.DataFrame.write_csv, separator="\t"),
    "json": lambda frame, file: file.write(frame.write_json().encode()),
    "ndjson": pl.DataFrame.write_ndjson,
    "md": _markdown,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
}
"""Functions that write a result, by the names of formats, which are endings of files too."""


def check_output(options: Options, inputs: Iterable[str] = (), endings: Iterable[str] = ()) -> None:
    """Say before any work is done that a result cannot be written, or would overwrite an input; `endings` are further ones."""
    path = options["output"]
    if path is None or path == STDOUT:
        return
    known = [*[f".{name}" for name in FORMATS if "form" in options], *endings]
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
    near = (name for name in inputs if not files.is_address(name) and name not in files.STDIN)
    read = {Path(place).resolve() for name in near for place in files.places(name)}
    if target.resolve() in read:
        msg = f"cannot write {path!r}: it is one of the input files"
        raise RecframeError(msg)


def is_table(options: Options) -> bool:
    """Return whether a result is shown as a table, and not written in full precision."""
    return (options["form"] or (TABLE if options["output"] is None else "")) == TABLE


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
    say(f"wrote {path} ({counted(frame.height, 'row')})", err=True)
