"""Files, folders, patterns and pipes by path, and errors of reading."""

from __future__ import annotations

import glob
import gzip
import os
import shlex
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import polars as pl

from recframe.atomic_write import is_plain, is_utf8, led_to, opened, reason
from recframe.errors import RecframeError, suggestion
from recframe.frames.kinds.kind import plan_errors

PARQUET = (".parquet", ".pq")
ARROW_STREAM = ".arrows"
BINARY = (*PARQUET, ".arrow", ".ipc", ".feather", ARROW_STREAM)
"""Endings of files that hold their columns in bytes."""
JSON = (".json", ".ndjson", ".jsonl")
TREC = (".run", ".qrels", ".qrel")
KNOWN = (*PARQUET, ".csv", ".tsv", *JSON, *BINARY[2:], *TREC)
"""Endings of files that are read."""
PACKED = (".gz", ".zst")
STDIN = {"-": "/dev/stdin"}
STARTS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ARROW_STREAM,
    b"{": ".ndjson",
    b"[": ".json",
}
"""The first bytes of files by which their kind is known; of binary files they say more than an ending."""
ARCHIVES = {b"PK\x03\x04": "unzip", b"BZh": "bunzip2", b"\xfd7zXZ": "unxz"}
"""The first bytes of packed files that are not read, and what unpacks them."""
LAKES = {"scan_delta": "_delta_log", "scan_iceberg": "metadata/*.metadata.json"}
"""Calls of Polars for folders some of whose files count no longer, and what these folders have."""
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
"""The first bytes of packed content."""
REMEDIES = {
    "invalid utf-8": "it is no UTF-8; write its encoding, such as --encoding latin-1, or convert it",
    "could not parse": "a value is no number; write Parquet",
    "empty CSV": "it is empty",
}
"""Remedies, by the words of Polars' errors."""


class Source(NamedTuple):
    """A file of a path, or what a pipe gave."""

    name: str
    """The path, as messages have it."""
    kind: str
    """The ending that says how it is read."""
    content: str | bytes
    """The pattern of this path alone, or the bytes, that Polars scans."""


@contextmanager
def reading_of(path: str | None = None) -> Iterator[None]:
    """Turn errors of reading into sentences with the file and the remedy; without a path it is any file of the call."""
    try:
        with plan_errors():
            yield
    except (pl.exceptions.PolarsError, OSError, EOFError, UnicodeError, zlib.error) as error:
        line = first_line(error)
        why = next((remedy for words, remedy in REMEDIES.items() if words in line), line)
        start = "the files cannot be read" if path is None else f"cannot read {path!r}"
        msg = f"{start}: {why}"
        raise RecframeError(msg) from None


def first_line(error: BaseException) -> str:
    """Return an error's message in one line, without advice meant for Polars' callers."""
    line = str(error).strip().partition("\n")[0].partition(", consider passing")[0]
    return line.rstrip(" .") or type(error).__name__


def is_address(path: str) -> bool:
    """Return whether a path is an address, such as `s3://`, and no file of this machine."""
    return "://" in path


def ending_of(path: str) -> str:
    """Return a path's ending in lower case, without that of a compression where it is a text file."""
    name = Path(path.partition("?")[0] if is_address(path) else path)
    outer, inner = name.suffix.lower(), Path(name.stem).suffix.lower()
    return inner if outer in PACKED and inner and inner not in BINARY else outer


def sources(path: str) -> list[Source]:
    """Return the files that a path stands for, or what a pipe gives, which can be read once."""
    if is_address(path):
        return [Source(path, ending_of(path), path)]
    with reading_of(path):
        piped = _piped(path)
        if piped is not None:
            kind = _kind(path, piped)
            return [Source(path, kind if kind in KNOWN else ".csv", piped)]
        return [
            Source(place, _kind(place, _start(place)), glob.escape(place)) for place in places(path)
        ]


def _piped(path: str) -> bytes | None:
    """Return what a pipe or a stream gives, such as /dev/stdin; None for files, folders and patterns."""
    try:
        target = led_to(STDIN.get(path, path))
        is_folder = isinstance(target, Path) and target.is_dir()
        if is_folder or (is_plain(target) and path not in STDIN):
            return None
        with opened(target, "rb") as stream:
            content = stream.read()
        return gzip.decompress(content) if content.startswith(GZIP) else content
    except OSError as error:
        msg = f"cannot read {path!r}: {reason(error)}"
        raise RecframeError(msg) from None


def _start(place: str) -> bytes:
    """Return the first bytes of a file, whose name Polars can take."""
    if not is_utf8(place):
        shown = repr(os.fsencode(place)).removeprefix("b")
        msg = f"cannot read {shown}: its name is not UTF-8, which Polars needs; rename it"
        raise RecframeError(msg)
    with Path(place).open("rb") as file:
        return file.read(max(map(len, [*STARTS, *ARCHIVES])))


def _kind(name: str, content: bytes) -> str:
    """Return the ending that says how a file is read: its own, or that of its first bytes."""
    ending = ending_of(name)
    for first, unpack in ARCHIVES.items():
        if content.startswith(first) and ending != ".xlsx":
            command = f"{unpack} {shlex.quote(name)}"
            msg = f"cannot read {name!r}: it is an archive; unpack it first: {command}"
            raise RecframeError(msg)
    known = next((kind for first, kind in STARTS.items() if content.startswith(first)), ending)
    return known if known in BINARY or ending not in KNOWN else ending


def places(path: str) -> list[str]:
    """Return the files that a path stands for.

    These are a file, those that match a pattern such as `recs/*.csv`, or all Parquet files below a directory.
    """
    place = Path(path).expanduser()
    if place.is_dir():
        return _below(place, path)
    if place.exists():
        return [str(place)]
    matches = glob.glob(str(place), recursive=True)  # noqa: PTH207  Path.glob takes no absolute pattern
    found = sorted(match for match in matches if Path(match).is_file())
    if not found:
        folder = place.parent
        close = f"; there is no directory {str(folder)!r}"
        if folder.is_dir():
            close = suggestion(place.name, os.listdir(folder))  # noqa: PTH208  names, not paths
        raise RecframeError(f"there is no file {path!r}{close}")
    return found


def _below(folder: Path, path: str) -> list[str]:
    """Return the Parquet files below a folder, without those of Spark's own."""
    for call, sign in LAKES.items():
        if any(folder.glob(sign)):
            msg = (
                f"{path!r} is a table of versions, some of whose files count no longer; write those that do into one file "
                f"first: pl.{call}({path!r}).sink_parquet('table.parquet')"
            )
            raise RecframeError(msg)
    found = []
    for place in sorted(folder.rglob("*.parquet"), key=str):
        is_hidden = any(part[0] in "._" for part in place.relative_to(folder).parts)
        if place.is_file() and not is_hidden:
            found.append(str(place))
    if not found:
        pattern = str(folder / "*.csv")
        msg = f"the directory {path!r} has no .parquet files; name another kind by a pattern: {pattern!r}"
        raise RecframeError(msg)
    return found
