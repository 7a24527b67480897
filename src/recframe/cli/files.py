"""Files of a command by their paths, and errors of reading."""

from __future__ import annotations

import glob
import gzip
import os
import re
import shlex
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from recframe.atomic_write import is_plain, is_utf8, led_to, opened, reason
from recframe.errors import RecframeError, suggestion
from recframe.frames.kinds.kind import plan_errors
from recframe.frames.roles import listed

Role: TypeAlias = Literal["id", "number", "time"]
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
START = 1 << 16
"""Bytes by which a kind, an encoding and the end of lines are known."""
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
    start: bytes | None
    """The first bytes, unpacked; None of what Polars alone reads."""

    def read(self) -> bytes:
        """Return all bytes, unpacked."""
        return self.content if isinstance(self.content, bytes) else _bytes(self.name)


@contextmanager
def reading_of(path: str | None = None) -> Iterator[None]:
    """Turn errors of reading into sentences with the file and the remedy; without a path it is any file of the call."""
    try:
        with plan_errors():
            yield
    except (pl.exceptions.PolarsError, OSError, EOFError, UnicodeError, zlib.error) as error:
        # without advice meant for Polars' callers
        line = reason(error).partition(", consider passing")[0].rstrip(" .")
        why = next((remedy for words, remedy in REMEDIES.items() if words in line), line)
        start = "the files cannot be read" if path is None else f"cannot read {path!r}"
        raise RecframeError(f"{start}: {why or type(error).__name__}") from None


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
        return [Source(path, ending_of(path), path, None)]
    with reading_of(path):
        target = led_to(STDIN.get(path, path))
        is_there = isinstance(target, Path) and (target.is_dir() or is_plain(target))
        if is_there and path not in STDIN:
            return [_source(place) for place in places(path)]
        with opened(target, "rb") as stream:
            content = stream.read()
        if content.startswith(GZIP):
            content = gzip.decompress(content)
        kind = _kind(path, content)
        return [Source(path, kind if kind in KNOWN else ".csv", content, content[:START])]


def _source(place: str) -> Source:
    """Return a file, whose name Polars can take."""
    if not is_utf8(place):
        shown = repr(os.fsencode(place)).removeprefix("b")
        raise RecframeError(
            f"cannot read {shown}: its name is not UTF-8, which Polars needs; rename it"
        )
    start = _bytes(place, START)
    known = None if start.startswith(ZSTD) else start
    return Source(place, _kind(place, start), glob.escape(place), known)


def _bytes(place: str, n: int = -1) -> bytes:
    """Return the first bytes of a file, or all, without the packing of gzip."""
    with Path(place).open("rb") as file:
        is_packed = file.peek(2).startswith(GZIP)
        return gzip.GzipFile(fileobj=file).read(n) if is_packed else file.read(n)


def _kind(name: str, start: bytes) -> str:
    """Return the ending that says how a file is read: its own, or that of its first bytes."""
    ending = ending_of(name)
    for first, unpack in ARCHIVES.items():
        if start.startswith(first) and ending != ".xlsx":
            command = f"{unpack} {shlex.quote(name)}"
            raise RecframeError(
                f"cannot read {name!r}: it is an archive; unpack it first: {command}"
            )
    known = next((kind for first, kind in STARTS.items() if start.startswith(first)), ending)
    return known if known in BINARY or ending not in KNOWN else ending


def places(path: str) -> list[str]:
    """Return the files that a path stands for.

    These are the file, those that match a pattern such as `recs/*.csv`, or all Parquet files below a directory, without hidden
    ones and those of Spark's own.
    """
    place = Path(path).expanduser()
    is_folder = place.is_dir()
    pattern = glob.escape(str(place)) if place.exists() else str(place)
    if is_folder:
        _reject_lakes(place, path)
        pattern += "/**/*.parquet"
    found = []
    # NOTE: Path.glob takes no absolute pattern, and finds hidden files
    for match in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207
        is_hidden = is_folder and f"{os.sep}_" in match.removeprefix(str(place))
        if not is_hidden and not Path(match).is_dir():
            found.append(match)
    if found:
        return found
    msg, folder = f"there is no file {path!r}", place.parent
    if is_folder:
        other = str(place / "*.csv")
        msg = f"the directory {path!r} has no .parquet files; name another kind by a pattern: {other!r}"
    elif folder.is_dir():
        msg += suggestion(place.name, os.listdir(folder))  # noqa: PTH208  names, not paths
    else:
        msg += f"; there is no directory {str(folder)!r}"
    raise RecframeError(msg)


def _reject_lakes(folder: Path, path: str) -> None:
    """Reject a folder some of whose files count no longer."""
    for call, sign in LAKES.items():
        if any(folder.glob(sign)):
            raise RecframeError(
                f"{path!r} is a table of versions, some of whose files count no longer; write those that do into one file "
                f"first: pl.{call}({path!r}).sink_parquet('table.parquet')"
            )


RANKED = {"recs", "reference"}
"""Files with recommendations."""
LIKED = ("relevance", "propensity")
"""Roles of numbers in files with the items that users liked."""
NUMBERS: Mapping[str, Sequence[str]] = {
    "recs": ("rank", "score", *LIKED),
    "reference": ("rank", "score"),
    "users": ("weight",),
    "items": (),
}
"""Roles of numbers in other files."""
ONLY_NAMED = {"model", "training", "weight", "time"}
"""Roles whose columns are read only where they are named."""
NEEDED = {"users": ("user",), "items": ("item",), "train": ("item",), "last": ()}
"""The roles whose columns a file has, where these are not those of users and items."""


@dataclass(frozen=True)
class Given:
    """A file of a command, and what its options say of it."""

    name: str
    path: str
    options: Mapping[str, Any]
    columns: Mapping[str, str]
    """The names of columns by their roles, in all files."""

    def option(self, name: str) -> Any:
        """Return the value of an option for this file, which is that for all files where there is no other."""
        of_files = self.options.get(name) or {}
        return of_files.get(self.name, of_files.get(""))

    def column(self, role: str) -> str:
        """Return the name of a role's column in all files."""
        return self.columns.get(role, role)

    @cached_property
    def roles(self) -> dict[str, Role]:
        """The roles of columns that the call reads."""
        segments = [*(self.options.get("by") or []), self.options.get("cluster")]
        found: dict[str, Role] = dict.fromkeys(filter(None, segments), "id")
        kinds: dict[str, Role] = dict.fromkeys(("user", "item", "model", "training"), "id")
        kinds |= dict.fromkeys(NUMBERS.get(self.name, LIKED), "number")
        kinds["time"] = "time"
        read = (role for role in kinds if role in self.columns or role not in ONLY_NAMED)
        return found | {self.column(role): kinds[role] for role in read}

    def names(self, source: Source, columns: Sequence[str]) -> dict[str, str]:
        """Return the names that columns of a file have in the call; one whose name another takes is left out."""
        own: dict[str, str] = (self.options["columns"] or {}).get(self.name, {})
        renamed = {}
        if source.kind in (*TREC, *JSON):
            # of dictionaries and TREC files the columns are named as the roles
            renamed = {role: role for role, name in self.columns.items() if name not in columns}
        renamed |= own
        for role in (*NEEDED.get(self.name, ("user", "item")), *own):
            column = renamed.get(role, self.column(role))
            if {column, f"{column}s"}.isdisjoint(columns):
                raise RecframeError(self.lacks(source, role, column, columns))
            if role in own and self.column(role) not in self.roles:
                raise RecframeError(
                    f"--columns {self.name}={role}={column}: no {role} is read from {source.name!r}; leave it out"
                )
        taken = {column: self.column(role) for role, column in renamed.items() if column in columns}
        free = [column for column in columns if column not in taken.values()]
        return {
            column: taken.get(column, column) for column in columns if column in [*taken, *free]
        }

    def lacks(self, source: Source, role: str, column: str, columns: Sequence[str]) -> str:
        """Return what to write where a file lacks the column of a role."""
        words = (
            f"has no column {column!r}. It has {listed(columns)}. Name the column of the {role}: --columns "
            f"{role}=NAME, or in this file alone --columns {self.name}={role}=NAME"
        )
        if source.kind not in BINARY:
            words = without_header(columns) or words
        if source.kind not in BINARY and len(columns) == 1:
            words += "; or say what separates its columns: --separator ';'"
        if f"{column}s" in columns:
            words += (
                f"; where each text of {column + 's'!r} is a list, such as 'a b c', say what separates its ids: "
                "--lists-separator ' '"
            )
        return f"{source.name!r} {words}"


def without_header(names: Iterable[str]) -> str:
    """Return what to write where a first line has a number and is no header, nothing where it is a header."""
    if not any(re.fullmatch(r"[+-]?\d+([.,]\d+)?", name) for name in names):
        return ""
    line = ", ".join(names)
    return (
        f"seems to have no header line, as its first line is {line!r}; name its columns: "
        "--header user,item,rank"
    )
