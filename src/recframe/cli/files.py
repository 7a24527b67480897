"""Files and pipes with tables, scanned lazily, and formats of results."""

from __future__ import annotations

import glob
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click
import polars as pl

from recframe.charts.table import plain
from recframe.cli.readers import (
    ARROW_STREAM,
    READERS,
    SEPARATORS,
    TABLES,
    Form,
    ending_of,
    escaped,
    is_address,
    is_text,
    scan_text,
    separator_in,
    start_of,
)
from recframe.errors import RecframeError, suggestion, wrong_ending
from recframe.frames.atomic_write import is_plain, is_utf8, led_to, opened, reason

STARTS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    ARROW_STREAM: ".arrow",
    b"{": ".ndjson",
    b"[": ".json",
}
"""The first bytes of a pipe's content, with the ending of a file of it."""
HEAD = 1 << 16
"""Bytes by which the content of a pipe is known, the first line of text among them."""
LAID_DOWN = "recframe: places of pipes"
"""Key of the temporary files in click's context, kept while the command runs."""


def laid_down() -> dict[str, str]:
    """Return the temporary files of pipes' content in this command, by path."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.find_root().meta.setdefault(LAID_DOWN, {})


def in_words(text: str) -> str:
    """Return a message with the paths of pipes, where it has those of what was laid down."""
    for path, place in laid_down().items():
        text = text.replace(place, path)
    return text


def lay_down(path: str) -> None:
    """Write the content of a pipe or a stream, such as /dev/stdin, into a file, which is read in its place."""
    if is_address(path) or path in laid_down():
        return
    try:
        target = led_to(path)
        if is_plain(target) or (isinstance(target, Path) and target.is_dir()):
            return
        place = Path(_folder()) / Path(path).name
        with opened(target, "rb") as source, place.open("wb") as file:
            shutil.copyfileobj(source, file)
        laid_down()[path] = str(place)
        laid_down()[path] = str(_with_ending(place))
    except OSError as error:
        raise RecframeError(f"cannot read {path!r}: {reason(error)}") from None


def _folder() -> str:
    """Return a new folder, which is removed when the command ends."""
    folder = tempfile.mkdtemp(prefix="recframe-")
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    click.get_current_context().find_root().call_on_close(remove)
    return folder


def _with_ending(place: Path) -> Path:
    """Return the place of a file under an ending that is that of its content, where it has none that is known."""
    if ending_of(str(place)) in READERS:
        return place
    with place.open("rb") as file:
        start = file.read(HEAD)
    head = start.partition(b"\n")[0]
    text = ".tsv" if b"\t" in head and b"," not in head else ".csv"
    known = (ending for first, ending in STARTS.items() if start.startswith(first))
    return place.rename(f"{place}{next(known, text)}")


OF_TABLES = (b"PAR1", b"ARROW1")
"""Starts of files that are no text, whatever their endings."""
NO_FORM = Form()
_RENAMED = re.compile(r"(.+)_duplicated_\d+")


def scan(path: str, text: Iterable[str] = (), form: Form = NO_FORM) -> pl.LazyFrame:
    """Return a file's table as a LazyFrame; `text` names columns of a text file that are read as text, where it has them.

    The path is a file, a pattern such as `recs/*.parquet` (the matching files are one table), a directory (all Parquet
    files below it, with Hive's `column=value` folders as columns), or an address that Polars can scan, such as `s3://`.
    `form` says how a text file is written, where its ending does not.

    Raises a RecframeError for what is not there, has an unknown ending or cannot be read.
    """
    lay_down(path)
    found = places(path)
    ending = _ending(found, path, form)
    _check_content(found[0], ending)
    try:
        frame = _scanned(found, path, ending, form, text)
        schema = frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise RecframeError(f"cannot read {path!r}: {first_line(error)}") from None
    if is_text(ending, form):
        _check_separator(schema, path, form.separator or SEPARATORS[ending], form)
    return frame


def _scanned(
    found: list[str], path: str, ending: str, form: Form, text: Iterable[str]
) -> pl.LazyFrame:
    if is_text(ending, form):
        return scan_text(found, form, ending, text)
    read = READERS[ending]
    if read is not None:
        return read(found)
    return pl.scan_parquet(escaped(found), hive_partitioning="=" in found[0] and found != [path])


def first_line(error: BaseException) -> str:
    """Return an error's message in one line, without advice meant for Polars' callers."""
    line = str(error).strip().partition("\n")[0].partition(", consider passing")[0]
    return line.rstrip(" .") or type(error).__name__


def places(path: str) -> list[str]:
    """Return the files that a path or pattern matches."""
    if is_address(path):
        return [path]
    place = Path(laid_down().get(path, path)).expanduser()
    if place.is_dir():
        found = sorted(str(file) for file in place.rglob("*.parquet") if file.is_file())
        missing = f"the directory {path!r} has no .parquet files; name another kind by a pattern: '{place / '*.csv'}'"
    elif place.exists():
        return [str(place)]
    elif glob.has_magic(path):
        matches = glob.glob(str(place), recursive=True)  # noqa: PTH207  Path.glob takes no absolute pattern
        found = sorted(file for file in matches if Path(file).is_file())
        missing = f"no file matches the pattern {path!r}"
    else:
        found, missing = [], f"there is no file {path!r}{_close_file(place)}"
    if not found:
        raise RecframeError(missing)
    wrong = next((one for one in found if not is_utf8(one)), None)
    if wrong is not None:
        raise RecframeError(
            f"cannot read {with_bytes(wrong)}: its name is not UTF-8, which Polars needs; rename it"
        )
    return found


def with_bytes(name: str) -> str:
    """Return a name in quotes, with the numbers of bytes that are no UTF-8."""
    return f"'{os.fsencode(name).decode(errors='backslashreplace')}'"


def _close_file(place: Path) -> str:
    folder = place.parent
    if not folder.is_dir():
        return f"; there is no directory {str(folder)!r}"
    try:
        names = os.listdir(folder)  # noqa: PTH208  names, not paths
    except OSError:
        return ""
    close = suggestion(place.name, names)
    same = [name for name in names if Path(name).stem == place.stem and ending_of(name) in READERS]
    return close or (f"; did you mean {min(same)!r}?" if same else "")


def _ending(found: Sequence[str], path: str, form: Form) -> str:
    """Return the ending that all files have, in lower case and without that of a compression."""
    ending, *others = dict.fromkeys(map(ending_of, found))
    if others:
        kinds = ", ".join([ending, *others])
        raise RecframeError(
            f"{path!r} stands for files of several kinds ({kinds}); give a pattern of one kind"
        )
    if ending not in READERS and not is_text(ending, form):
        raise RecframeError(
            f"cannot read {path!r}: {wrong_ending(ending)}; known are {', '.join(READERS)}. If it is text "
            "in columns, say what stands between them: --separator tab"
        )
    return ending


def _check_content(place: str, ending: str) -> None:
    """Reject binary files read as text, whose bytes Polars would take for column names."""
    if is_address(place) or ending in TABLES:
        return
    try:
        start = start_of(place)
    except OSError as error:
        raise RecframeError(f"cannot read {place!r}: {error.strerror}") from None
    actual = next((STARTS[one] for one in OF_TABLES if start.startswith(one)), None)
    if actual is not None:
        raise RecframeError(
            f"cannot read {place!r}: it is no {ending} file but has the content of a {actual} file; rename it"
        )


def _check_separator(schema: pl.Schema, path: str, separator: str, form: Form) -> None:
    if len(schema) != 1 or form.names is not None:
        return
    name = next(iter(schema))
    mark = separator_in(name)
    if mark is not None:
        raise RecframeError(
            f"{path!r} has the one column {name!r}: it seems to be separated by {mark}, where {separator!r} is expected "
            f"between columns; write --separator {mark}"
        )


def check_header(schema: pl.Schema, path: str, wanted: str, form: Form) -> None:
    """Reject text files whose header is a data row or repeats a name."""
    place = places(path)[0]
    if form.names is not None or not is_text(ending_of(place), form):
        return
    if wanted not in schema and any(_is_number(name) for name in schema):
        found = ", ".join(_RENAMED.sub(r"\1", name) for name in schema)
        raise RecframeError(
            f"{path!r} seems to have no header line, as its first line is {found!r}; name its columns: "
            "--header user,item,rank"
        )
    # as Polars renames the second of two columns of one name
    twice = next(
        (one[1] for one in map(_RENAMED.fullmatch, schema) if one and one[1] in schema), None
    )
    if twice is not None:
        raise RecframeError(
            f"{path!r} has two columns named {twice!r}; drop or rename one of them. If its first line is no header, name the "
            "columns: --header user,item,rank"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
