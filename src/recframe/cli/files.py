"""Files and pipes with tables, found by pattern and scanned lazily."""

from __future__ import annotations

import errno
import glob
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click
import polars as pl

from recframe.cli import process
from recframe.cli.readers import (
    ARROW_STREAM,
    PIECE,
    READERS,
    SEPARATORS,
    TABLES,
    Form,
    check_columns,
    check_packed,
    ending_of,
    escaped,
    is_address,
    is_text,
    most_of,
    scan_text,
    separator_in,
    start_of,
    too_long,
    unpacked,
)
from recframe.errors import RecframeError, suggestion, wrong_ending
from recframe.frames.atomic_write import is_plain, is_utf8, led_to, opened, reason
from recframe.frames.dtypes import as_text

STARTS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    ARROW_STREAM: ".arrow",
    b"{": ".ndjson",
    b"[": ".json",
}
"""The first bytes of a pipe's content, with the ending of a file of it."""
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


def lay_down(path: str, given: int | None) -> None:
    """Write the content of a pipe or a stream, such as /dev/stdin, into a file, which is read in its place."""
    if is_address(path) or path in laid_down():
        return
    try:
        target = led_to(path)
        if is_plain(target) or (isinstance(target, Path) and target.is_dir()):
            return
        place = Path(_folder()) / Path(path).name
        with opened(target, "rb") as source:
            _copy(source, place, path, most_of(ending_of(path), given))
        laid_down()[path] = str(place)
        laid_down()[path] = str(_with_ending(place))
    except OSError as error:
        folder = (
            f" in {tempfile.gettempdir()!r}, where pipes are laid down; another is that of TMPDIR"
        )
        msg = f"cannot read {path!r}: {reason(error)}{folder * (error.errno == errno.ENOSPC)}"
        raise RecframeError(msg) from None


def _copy(source: BinaryIO, place: Path, path: str, most: int) -> None:
    with place.open("wb") as file:
        while piece := source.read(PIECE):
            if file.tell() + len(piece) > most:
                raise RecframeError(too_long(path, "has", most))
            file.write(piece)


def _folder() -> str:
    """Return a new folder, which is removed when the command ends."""
    folder = tempfile.mkdtemp(prefix="recframe-")
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    click.get_current_context().find_root().call_on_close(remove)
    process.last_steps.append(remove)
    return folder


def _with_ending(place: Path) -> Path:
    """Return the place of a file under an ending that is that of its content, where it has none that is known."""
    if ending_of(str(place)) in READERS:
        return place
    start = next(unpacked(str(place)), b"")
    head = start.partition(b"\n")[0]
    text = ".tsv" if b"\t" in head and b"," not in head else ".csv"
    known = (ending for first, ending in STARTS.items() if start.startswith(first))
    return place.rename(f"{place}{next(known, text)}")


FIRST_BYTES = {b"PAR1": ".parquet", b"ARROW1": ".arrow"}
NO_FORM = Form()
MOST_COLUMNS = 100_000
"""Most columns of a file; with more, a command would take minutes."""


def scan(
    path: str, text: Iterable[str] = (), form: Form = NO_FORM, most: int | None = None
) -> pl.LazyFrame:
    """Return a file's table as a LazyFrame; `text` names columns that are read as text, where the table has them.

    The path is a file, a pattern such as `recs/*.parquet` (the matching files are one table), a directory (all Parquet
    files below it, with Hive's `column=value` folders as columns), or an address that Polars can scan, such as `s3://`.
    `form` says how a text file is written, where its ending does not; `most` is how many bytes a packed file may unpack to.

    Raises a RecframeError for what is not there, has an unknown ending or cannot be read.
    """
    lay_down(path, most)
    found = places(path)
    ending = _ending(found, path, form)
    _check_content(found[0], ending)
    for place in found:
        if not is_address(place):
            check_packed(place, place if len(found) > 1 else path, most_of(ending, most))
    try:
        if is_text(ending, form):
            frame = scan_text(found, form, ending, text)
            schema = frame.collect_schema()
            _check_width(schema, path)
            _check_separator(schema, path, ending, form)
            return frame
        frame = _scan_by_ending(found, ending, path)
        schema = frame.collect_schema()
        _check_width(schema, path)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        msg = f"cannot read {path!r}: {first_line(error)}"
        raise RecframeError(msg) from None
    ids = {name: schema[name] for name in text if name in schema and schema[name] != pl.String}
    return frame.with_columns(as_text(pl.col(name), dtype) for name, dtype in ids.items())


def _scan_by_ending(found: list[str], ending: str, path: str) -> pl.LazyFrame:
    if ending in {".parquet", ".pq"}:
        in_folders = "=" in found[0] and found != [path]
        return pl.scan_parquet(escaped(found), hive_partitioning=in_folders)
    read = READERS[ending]
    return scan_text(found, NO_FORM, ending, ()) if read is None else read(found)


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
        found = sorted(
            file
            for file in glob.glob(str(place), recursive=True)  # noqa: PTH207  Path.glob takes no absolute pattern
            if Path(file).is_file()
        )
        missing = f"no file matches the pattern {path!r}"
    else:
        found, missing = [], f"there is no file {path!r}{_close_file(place)}"
    if not found:
        raise RecframeError(missing)
    wrong = next((one for one in found if not is_utf8(one)), None)
    if wrong is not None:
        msg = f"cannot read {with_bytes(wrong)}: its name is no UTF-8, in which Polars takes names; rename it"
        raise RecframeError(msg)
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
    same = [
        name
        for name in sorted(names)
        if Path(name).stem == place.stem and ending_of(name) in READERS
    ]
    return suggestion(place.name, names) or (f"; did you mean {same[0]!r}?" if same else "")


def _ending(found: Sequence[str], path: str, form: Form) -> str:
    """Return the ending that all files have, in lower case and without that of a compression."""
    endings = dict.fromkeys(ending_of(place) for place in found)
    if len(endings) > 1:
        msg = f"{path!r} stands for files of several kinds ({', '.join(endings)}); give a pattern of one kind"
        raise RecframeError(msg)
    ending = next(iter(endings))
    if ending not in READERS and not is_text(ending, form):
        msg = f"cannot read {path!r}: {wrong_ending(ending)}; known are {', '.join(READERS)}. If it is text "
        raise RecframeError(msg + "in columns, say what stands between them: --separator tab")
    return ending


def _check_content(place: str, ending: str) -> None:
    """Reject binary files read as text, whose bytes Polars would take for column names."""
    if is_address(place) or ending in TABLES:
        return
    try:
        start = start_of(place)
    except OSError as error:
        msg = f"cannot read {place!r}: {error.strerror}"
        raise RecframeError(msg) from None
    for first, actual in FIRST_BYTES.items():
        if start.startswith(first):
            msg = f"cannot read {place!r}: it is no {ending} file but has the content of a {actual} file; rename it"
            raise RecframeError(msg)


def _check_width(schema: pl.Schema, path: str) -> None:
    if len(schema) > MOST_COLUMNS:
        msg = f"{path!r} has {len(schema):,} columns, more than the {MOST_COLUMNS:,} that a file may have; keep those that are "
        raise RecframeError(
            msg + "needed; where each item has a column, write a row for each user and item"
        )


def _check_separator(schema: pl.Schema, path: str, ending: str, form: Form) -> None:
    if len(schema) != 1 or form.names is not None:
        return
    name = next(iter(schema))
    mark = separator_in(name)
    if mark is not None:
        expected = form.separator or SEPARATORS.get(ending)
        msg = f"{path!r} has the one column {name!r}: it seems to be separated by {mark}"
        msg += f", where {expected!r} is expected between columns; write --separator {mark}"
        raise RecframeError(msg)


def check_header(schema: pl.Schema, path: str, wanted: str, form: Form) -> None:
    """Reject text files whose header is a data row or repeats a name."""
    place = places(path)[0]
    if form.names is not None or not is_text(ending_of(place), form):
        return
    if wanted not in schema and any(_is_number(name) for name in schema):
        found = ", ".join(re.sub(r"_duplicated_\d+$", "", name) for name in schema)
        msg = f"{path!r} seems to have no header line, as its first line is {found!r}; name its columns: "
        raise RecframeError(msg + "--header user,item,rank")
    separator = form.separator or SEPARATORS[ending_of(place)]
    check_columns(schema, path, escaped([place])[0], separator)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
