"""Results as text in a format, on stdout or in a file, in full precision; or as a table to look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import BinaryIO

import polars as pl

from recframe.cli import files
from recframe.cli.printing import print_frame, put, say
from recframe.cli.readers import is_address
from recframe.errors import RecframeError, wrong_ending
from recframe.frames import atomic_write
from recframe.look.table import plain
from recframe.tracking.kept import is_kept

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
    lines = [map(_cell, frame.columns), rules, *(map(_cell, row) for row in frame.iter_rows())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(value: object) -> str:
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


def check_output(path: str, form: str | None, inputs: Iterable[str] = ()) -> None:
    """Say before any work is done that a result cannot be written to a path, or would overwrite an input."""
    if path == STDOUT:
        return
    ending = Path(path).suffix.lower()
    if form is None and ending not in WRITERS:
        msg = f"cannot write {path!r}: {wrong_ending(ending)}; known are {', '.join(WRITERS)}"
        raise RecframeError(msg)
    if form is not None and (form == TABLE or (ending in WRITERS and ENDINGS.get(ending) != form)):
        msg = f"cannot write {path!r}: --format {form} is not what its ending says; leave out one of the two"
        raise RecframeError(msg)
    check_place(path, inputs)


def check_place(path: str, inputs: Iterable[str]) -> None:
    """Say that there is no such directory, or that an input or a run of a history would be overwritten."""
    target = Path(path).expanduser()
    if not target.parent.is_dir():
        msg = f"cannot write {path!r}: there is no directory {str(target.parent)!r}"
        raise RecframeError(msg)
    if is_kept(target):
        msg = f"cannot write {path!r}: it belongs to a history; name a file elsewhere"
        raise RecframeError(msg)
    read = [place for one in inputs if not is_address(one) for place in files.places(one)]
    if target.exists() and any(target.samefile(place) for place in read):
        msg = f"cannot write {path!r}: it is one of the input files"
        raise RecframeError(msg)


def is_table(path: str | None, form: str | None) -> bool:
    """Return whether a result is shown as a table, and not written in full precision."""
    return form == TABLE or (form is None and path is None)


def give(frame: pl.DataFrame, path: str | None, form: str | None) -> None:
    """Show a frame as a table, or write it in full precision: to a file, or to stdout, as CSV if nothing else is said."""
    if is_table(path, form):
        print_frame(frame)
    elif path in {None, STDOUT}:
        put(FORMATS[form or "csv"](frame))
    elif path is not None:
        write(frame, path, form)
        say(f"wrote {path} ({frame.height} row{'s' * (frame.height != 1)})", err=True)


def write(frame: pl.DataFrame, path: str, form: str | None) -> None:
    """Write a result in the format of the path's ending, or in one that is given; see `check_output`."""
    ending = Path(path).suffix.lower()
    if form is None and ending in BINARY:
        atomic_write.write(path, partial(BINARY[ending], frame))
    else:
        atomic_write.write_text(path, FORMATS[form or ENDINGS[ending]](frame))
