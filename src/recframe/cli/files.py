"""Files of a command by their paths, and errors of reading."""

from __future__ import annotations

import glob
import gzip
import os
import shlex
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import filterfalse
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from recframe.atomic_write import is_plain, led_to, opened, reason
from recframe.errors import RecframeError, suggestion
from recframe.frames.kinds.kind import plan_errors
from recframe.frames.roles import listed

PARQUET = (".parquet", ".pq")
BINARY = (*PARQUET, ".arrow", ".ipc", ".feather")
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
    b"{": ".ndjson",
    b"[": ".json",
}
"""The first bytes of files by which their kind is known; of binary files they say more than an ending."""
GZIP, ZSTD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
"""The first bytes of packed content."""
START = 1 << 16
"""Bytes by which a kind, an encoding and the end of lines are known."""


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

    def read(self) -> Any:
        """Return all bytes, unpacked."""
        if isinstance(self.content, bytes):
            return self.content
        with Path(self.name).open("rb") as file:
            return _bytes(file)


@contextmanager
def reading_of(path: str | None = None) -> Iterator[None]:
    """Turn errors of reading into sentences with the file and the remedy; without a path it is any file of the call."""
    try:
        with plan_errors():
            yield
    except (pl.exceptions.PolarsError, OSError, EOFError, UnicodeError, zlib.error) as error:
        # without advice meant for Polars' callers
        line = reason(error).partition(", consider passing")[0].rstrip(" .")
        if "invalid utf-8" in line:
            line = "it is no UTF-8; write its encoding, such as --encoding latin-1, or convert it"
        start = "the files cannot be read" if path is None else f"cannot read {path!r}"
        raise RecframeError(f"{start}: {line or type(error).__name__}") from None


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
    found = []
    with reading_of(path):
        target = led_to(STDIN.get(path, path))
        if path in STDIN or not (
            isinstance(target, Path) and (target.is_dir() or is_plain(target))
        ):
            with opened(target, "rb") as stream:
                content = _bytes(stream)
            kind = _kind(path, content)
            return [Source(path, kind if kind in KNOWN else ".csv", content, content[:START])]
        for place in places(path):
            place.encode()  # which fails where Polars does
            with Path(place).open("rb") as file:
                start = _bytes(file, START)
            known = None if start.startswith(ZSTD) else start
            found.append(Source(place, _kind(place, start), glob.escape(place), known))
    return found


def _bytes(file: Any, n: int = -1) -> Any:
    """Return the first bytes of an open file, or all, without the packing of gzip."""
    is_packed = file.peek(len(GZIP)).startswith(GZIP)
    return (gzip.GzipFile(fileobj=file) if is_packed else file).read(n)


def _kind(name: str, start: bytes) -> str:
    """Return the ending that says how a file is read: its own, or that of its first bytes."""
    ending = ending_of(name)
    if start.startswith(ZIP) and ending != ".xlsx":
        raise RecframeError(
            f"cannot read {name!r}: it is an archive; unpack it first: unzip {shlex.quote(name)}"
        )
    known = next((kind for first, kind in STARTS.items() if start.startswith(first)), ending)
    return known if known in BINARY or ending not in KNOWN else ending


def places(path: str) -> list[str]:
    """Return the files that a path stands for.

    These are the file, those that match a pattern such as `recs/*.csv`, or all Parquet files below a directory, without hidden
    ones and those of Spark's own.
    """
    place = Path(path).expanduser()
    pattern = glob.escape(str(place)) if place.exists() else str(place)
    is_folder, folder = place.is_dir(), place.parent
    if any(place.glob("_delta_log")) or any(place.glob("metadata/*.metadata.json")):
        raise RecframeError(
            f"{path!r} is a table of Delta or Iceberg, some of whose files count no longer; write those that do into one file "
            f"first: pl.scan_delta({path!r}), or pl.scan_iceberg, and .sink_parquet('table.parquet')"
        )
    if is_folder:
        pattern += "/**/*.parquet"
    # NOTE: Path.glob takes no absolute pattern, and finds hidden files
    matches = filterfalse(os.path.isdir, sorted(glob.glob(pattern, recursive=True)))  # noqa: PTH207
    start = len(str(place))
    found = [one for one in matches if not is_folder or f"{os.sep}_" not in one[start:]]
    if found:
        return found
    said = f"there is no file {path!r}"
    if is_folder:
        said = f"the directory {path!r} has no .parquet files; name another kind by a pattern: {str(place / '*.csv')!r}"
    elif folder.is_dir():
        said += suggestion(place.name, os.listdir(folder))  # noqa: PTH208  names, not paths
    else:
        said += f"; there is no directory {str(folder)!r}"
    raise RecframeError(said)


RANKED = {"recs", "reference"}
"""Files with recommendations."""
OF_NO_PAIRS = {"users", "items", "last"}
"""Files whose rows are no pairs of a user and an item."""
NUMBERS = ("relevance", "propensity")
"""Roles of numbers in other files; recommendations have ranks and scores too."""
ONLY_NAMED = {"model", "training", "weight", "time"}
"""Roles whose columns are read only where they are named."""
NEEDED = {"users": ("user",), "items": ("item",), "train": ("item",), "last": ()}
"""The roles whose columns a file has, where these are not those of users and items."""


OF_TEXT = (
    "; text without a header line takes --header user,item,rank, columns between other marks --separator ';', and lists such "
    "as 'a b c' --lists-separator ' '"
)
"""Advice for a text file that lacks a column."""


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
    def roles(self) -> dict[str, str]:
        """The columns that the call reads: ids, segments among them, numbers, and times."""
        numbers = ("weight",) if self.name in OF_NO_PAIRS else NUMBERS
        kinds = dict.fromkeys(("user", "item", "model", "training"), "id")
        kinds |= dict.fromkeys(numbers, "number") | {"time": "time"}
        if self.name in RANKED:
            kinds |= {"rank": "number", "score": "number"}
        read = {role for role in kinds if role in self.columns or role not in ONLY_NAMED}
        segments = [*(self.options.get("by") or []), self.options.get("cluster")]
        return dict.fromkeys(segments, "id") | {self.column(role): kinds[role] for role in read}

    def names(self, source: Source, columns: Sequence[str]) -> dict[str, str]:
        """Return the names that columns of a file have in the call; one whose name another takes is left out."""
        named = (self.options["columns"] or {}).items()
        own = {role: name for (file, role), name in named if file == self.name}
        needed = NEEDED.get(self.name, ("user", "item"))
        taken = {}
        for role in dict.fromkeys((*needed, *own, *self.columns)):
            column = own.get(role, self.column(role))
            if column not in columns and role not in own and source.kind in (*TREC, *JSON):
                # of dictionaries and TREC files the columns are named as the roles
                column = role
            if column in columns:
                taken[column] = self.column(role)
            elif role in (*needed, *own) and f"{column}s" not in columns:
                raise self.lacks(source, role, column, columns)
        hidden = {"", *taken.values()} - {*taken}
        return {column: taken.get(column, column) for column in columns if column not in hidden}

    def lacks(
        self, source: Source, role: str, column: str, columns: Sequence[str]
    ) -> RecframeError:
        """Return the error of a file without the column of a role."""
        return RecframeError(
            f"{source.name!r} has no column {column!r}. It has {listed(columns)}. Name the column of the {role}: --columns "
            f"{role}=NAME, or in this file alone --columns {self.name}={role}=NAME{OF_TEXT * (source.kind not in BINARY)}"
        )
