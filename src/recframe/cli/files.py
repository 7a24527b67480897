"""Files, folders, patterns and pipes by their paths, and the errors of reading them."""

from __future__ import annotations

import glob
import gzip
import os
import shlex
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import polars as pl

from recframe.errors import RecframeError, plan_errors, suggestion
from recframe.frames.atomic_write import is_plain, is_utf8, led_to, opened, reason

PARQUET = (".parquet", ".pq")
ARROW_STREAM = ".arrows"
TABLES = (*PARQUET, ".arrow", ".ipc", ".feather", ARROW_STREAM)
"""Endings of files that hold their columns in bytes."""
JSON = (".json", ".ndjson", ".jsonl")
TREC = (".run", ".qrels", ".qrel")
KNOWN = (*PARQUET, ".csv", ".tsv", *JSON, *TABLES[2:], *TREC)
"""Endings of files that are read."""
PACKED = (".gz", ".zst")
STDIN = {"-": "/dev/stdin"}
BINARY = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ARROW_STREAM}
"""The first bytes of files that hold their columns in bytes, which say more than an ending."""
OF_JSON = {b"{": ".ndjson", b"[": ".json"}
"""The first bytes of JSON in a pipe."""
ARCHIVES = {b"PK\x03\x04": "unzip", b"BZh": "bunzip2", b"\xfd7zXZ": "unxz"}
"""The first bytes of packed files that are not read, and what unpacks them."""
LAKES = {"scan_delta": "_delta_log", "scan_iceberg": "metadata/*.metadata.json"}
"""Calls of Polars for folders some of whose files count no longer, and what these folders have."""
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
"""The first bytes of packed content."""
START = 6
"""Bytes by which the kind of a file is known."""
REMEDIES = {
    "invalid utf-8": "it is no UTF-8; write its encoding, such as --encoding latin-1, or convert it",
    "could not parse": "a value is no number; write Parquet",
    "empty CSV": "it is empty",
}
"""What to write, by the words of Polars' errors."""


class Source(NamedTuple):
    """A file of a path, or what a pipe gave."""

    name: str
    """The path, as messages have it."""
    kind: str
    """The ending that says how it is read."""
    content: str | bytes
    """What Polars scans: a pattern of this path alone, or bytes."""

    @property
    def place(self) -> str | bytes:
        """What Polars reads at once: a path, which is no pattern, or bytes."""
        return self.name if isinstance(self.content, str) else self.content


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
    line = str(error).strip().partition("\n")[0]
    line = line.partition(", consider passing")[0]
    return line.rstrip(" .") or type(error).__name__


def is_address(path: str) -> bool:
    """Return whether a path is an address, such as `s3://`, and no file of this machine."""
    return "://" in path


def ending_of(path: str) -> str:
    """Return a path's ending in lower case, without that of a compression where it is a text file."""
    name = Path(path.partition("?")[0] if is_address(path) else path)
    outer, inner = name.suffix.lower(), Path(name.stem).suffix.lower()
    return inner if outer in PACKED and inner and inner not in TABLES else outer


def sources(path: str) -> list[Source]:
    """Return the files that a path stands for, or what a pipe gives, which can be read once."""
    if is_address(path):
        return [Source(path, ending_of(path), path)]
    with reading_of(path):
        piped = _piped(path)
        if piped is not None:
            kind = _kind(path, piped)
            known = kind if kind in KNOWN else _by_start(piped, OF_JSON) or ".csv"
            return [Source(path, known, piped)]
        return [Source(place, _kind(place), glob.escape(place)) for place in places(path)]


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
        raise RecframeError(f"cannot read {path!r}: {reason(error)}") from None


def _kind(name: str, content: bytes | None = None) -> str:
    """Return the ending that says how a file is read: that of its first bytes, or its own."""
    if content is None:
        with Path(name).open("rb") as file:
            content = file.read(START)
    ending = ending_of(name)
    unpack = _by_start(content, ARCHIVES)
    if unpack and ending != ".xlsx":
        msg = (
            f"cannot read {name!r}: it is an archive; unpack it first: {unpack} {shlex.quote(name)}"
        )
        raise RecframeError(msg)
    return _by_start(content, BINARY) or ending


def _by_start(content: bytes, known: Mapping[bytes, str]) -> str:
    """Return the word for a content by its first bytes, nothing where these are not known."""
    return next((word for first, word in known.items() if content.startswith(first)), "")


def places(path: str) -> list[str]:
    """Return the files that a path stands for.

    These are a file, those that match a pattern such as `recs/*.csv`, or all Parquet files below a directory.
    """
    place = Path(path).expanduser()
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
