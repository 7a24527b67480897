"""Files, folders, patterns and pipes by their paths."""

from __future__ import annotations

import glob
import os
import shlex
import shutil
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import click

from recframe.errors import RecframeError, suggestion
from recframe.frames.atomic_write import is_plain, is_utf8, led_to, opened, reason

PARQUET = (".parquet", ".pq")
TABLES = (*PARQUET, ".arrow", ".ipc", ".feather")
"""Endings of files that hold their columns in bytes."""
JSON = (".json", ".ndjson", ".jsonl")
TREC = (".run", ".qrels", ".qrel")
KNOWN = (*PARQUET, ".csv", ".tsv", *JSON, *TABLES[2:], *TREC)
"""Endings of files that are read."""
PACKED = (".gz", ".zst")
STDIN = {"-": "/dev/stdin"}
ARROW_STREAM = b"\xff\xff\xff\xff"
"""The first bytes of an Arrow stream, which Polars reads by another call than an Arrow file."""
BINARY = {b"PAR1": ".parquet", b"ARROW1": ".arrow", ARROW_STREAM: ".arrow"}
"""The first bytes of files that hold their columns in bytes, which say more than an ending."""
STARTS = BINARY | {b"{": ".ndjson", b"[": ".json"}
"""The first bytes of a pipe's content, with the ending of a file of it."""
ARCHIVES = {b"PK\x03\x04": "unzip", b"BZh": "bunzip2", b"\xfd7zXZ": "unxz"}
"""The first bytes of packed files that are not read, and what unpacks them."""
LAKES = {"scan_delta": "_delta_log", "scan_iceberg": "metadata/*.metadata.json"}
"""Calls of Polars for folders some of whose files count no longer, and what these folders have."""
START = 6
"""Bytes by which the kind of a file is known."""
LAID_DOWN, DECODED = "recframe: places of pipes", "recframe: decoded files"
"""Keys of temporary files in click's context, kept while the command runs."""


def is_address(path: str) -> bool:
    """Return whether a path is an address, such as `s3://`, and no file of this machine."""
    return "://" in path


def ending_of(path: str) -> str:
    """Return a path's ending in lower case, without that of a compression where it is a text file."""
    name = Path(path.partition("?")[0] if is_address(path) else path)
    outer, inner = name.suffix.lower(), Path(name.stem).suffix.lower()
    return inner if outer in PACKED and inner and inner not in TABLES else outer


def kind_of(place: str) -> str:
    """Return the ending that says how a file is read: that of its first bytes, or its own."""
    ending = ending_of(place)
    if is_address(place) or ending in TABLES:
        return ending
    with Path(place).open("rb") as file:
        start = file.read(START)
    for first, unpack in ARCHIVES.items():
        if start.startswith(first) and ending != ".xlsx":
            msg = f"cannot read {place!r}: it is an archive; unpack it first: {unpack} {shlex.quote(place)}"
            raise RecframeError(msg)
    return _by_start(start, BINARY) or ending


def _by_start(start: bytes, known: dict[bytes, str]) -> str:
    """Return the ending of a content by its first bytes, nothing where these are not known."""
    return next((ending for first, ending in known.items() if start.startswith(first)), "")


def escaped(place: str) -> str:
    """Return a path with glob patterns escaped, for Polars."""
    return place if is_address(place) else glob.escape(place)


def _kept(key: str = LAID_DOWN) -> dict[str, str]:
    """Return the temporary files of this command, by the paths that they stand for."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.find_root().meta.setdefault(key, {})


def in_words(text: str) -> str:
    """Return a message with the paths that a command has, where it has those of temporary files."""
    for key in (DECODED, LAID_DOWN):
        for path, place in _kept(key).items():
            text = text.replace(place, path)
    return text


def temporary(path: str, name: str, key: str = DECODED) -> Path:
    """Return the place of a temporary file that stands for a path until the command ends."""
    folder = tempfile.mkdtemp(prefix="recframe-")
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    click.get_current_context().find_root().call_on_close(remove)
    place = Path(folder) / name
    _kept(key)[path] = str(place)
    return place


def lay_down(path: str) -> None:
    """Write the content of a pipe or a stream, such as /dev/stdin, into a file, which is read in its place."""
    if is_address(path) or path in _kept():
        return
    source = STDIN.get(path, path)
    try:
        target = led_to(source)
        is_folder = isinstance(target, Path) and target.is_dir()
        if is_folder or (is_plain(target) and path not in STDIN):
            return
        with opened(target, "rb") as stream:
            start = stream.read(START)
            name = Path(source).name
            if ending_of(name) not in KNOWN:
                name += _by_start(start, STARTS) or ".csv"
            with temporary(path, name, LAID_DOWN).open("wb") as file:
                file.write(start)
                shutil.copyfileobj(stream, file)
    except OSError as error:
        raise RecframeError(f"cannot read {path!r}: {reason(error)}") from None


def first_line(error: BaseException) -> str:
    """Return an error's message in one line, without advice meant for Polars' callers."""
    line = str(error).strip().partition("\n")[0]
    line = line.partition(", consider passing")[0]
    return line.rstrip(" .") or type(error).__name__


def places(path: str) -> list[str]:
    """Return the files that a path stands for.

    These are a file, those that match a pattern such as `recs/*.csv`, or all Parquet files below a directory.
    """
    if is_address(path):
        return [path]
    place = Path(_kept().get(path, path)).expanduser()
    if place.is_dir():
        found = _below(place, path)
    elif place.exists():
        found = [str(place)]
    else:
        matches = glob.glob(str(place), recursive=True)  # noqa: PTH207  Path.glob takes no absolute pattern
        found = sorted(match for match in matches if Path(match).is_file())
    if not found:
        raise RecframeError(f"there is no file {path!r}{_close_file(place)}")
    for one in found:
        if not is_utf8(one):
            name = repr(os.fsencode(one)).removeprefix("b")
            raise RecframeError(
                f"cannot read {name}: its name is not UTF-8, which Polars needs; rename it"
            )
    return found


def _below(folder: Path, path: str) -> list[str]:
    """Return the Parquet files below a folder, without those of Spark's own."""
    for call, sign in LAKES.items():
        if any(folder.glob(sign)):
            raise RecframeError(
                f"{path!r} is a table of versions, some of whose files count no longer; write those that do into one file "
                f"first: pl.{call}({path!r}).sink_parquet('table.parquet')"
            )
    found = []
    for place in sorted(folder.rglob("*.parquet")):
        parts = place.relative_to(folder).parts
        is_own = any(part.startswith((".", "_")) for part in parts)
        if place.is_file() and not is_own:
            found.append(str(place))
    if not found:
        pattern = str(folder / "*.csv")
        msg = f"the directory {path!r} has no .parquet files; name another kind by a pattern: {pattern!r}"
        raise RecframeError(msg)
    return found


def _close_file(place: Path) -> str:
    """Return the closest name in a file's folder, or that there is no such folder."""
    if not place.parent.is_dir():
        return f"; there is no directory {str(place.parent)!r}"
    with suppress(OSError):
        return suggestion(place.name, os.listdir(place.parent))  # noqa: PTH208  names, not paths
    return ""
