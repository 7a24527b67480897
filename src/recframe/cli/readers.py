"""Readers of file kinds by ending: tables, text, JSON, TREC."""

from __future__ import annotations

import csv
import glob
import gzip
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

import recframe as rf
from recframe.errors import RecframeError
from recframe.frames.atomic_write import reason

PIECE = 1 << 16
"""Bytes that are read at once, of which gzip makes a thousand times as many at most."""
MOST = 3_000_000_000
MOST_OF_JSON = 500_000_000
"""Bytes of content that take 8 GB of memory at worst: text of a single line thrice its size, JSON sixteen times."""
GZIP, ZSTD, ZLIB = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", (b"x\x01", b"x\x9c", b"x\xda")
"""The first bytes of packed files, by which Polars knows them too, whatever their names."""
ARROW_STREAM = b"\xff\xff\xff\xff"
"""The first bytes of an Arrow stream, which Polars reads by another call than an Arrow file."""


def most_of(ending: str, given: int | None) -> int:
    """Return the largest allowed size of a file's unpacked content, in bytes."""
    return given or (MOST_OF_JSON if ending == ".json" else MOST)


def check_packed(place: str, path: str, most: int) -> None:
    """Reject packed files that are damaged or exceed a content size; others pass."""
    if not start_of(place).startswith((GZIP, ZSTD, *ZLIB)):
        return
    counted = 0
    for piece in unpacked(place):
        counted += len(piece)
        if counted > most:
            raise RecframeError(too_long(path, "unpacks to", most))


def unpacked(place: str) -> Iterator[bytes]:
    """Give the content of a file in pieces, unpacked where it is packed, or say that it is damaged."""
    with Path(place).open("rb") as file:
        try:
            yield from _pieces(file, start_of(place))
        except _errors() as error:
            why = reason(error)
            raise RecframeError(
                f"cannot read {place!r}: it is cut off or damaged, since it cannot be unpacked ({why}); copy or pack it again"
            ) from None


def start_of(place: str) -> bytes:
    """Return the first bytes of a file, which identify its format."""
    with Path(place).open("rb") as file:
        return file.read(6)


def _pieces(file: BinaryIO, start: bytes) -> Iterator[bytes]:
    if start.startswith(ZLIB):
        unpack = zlib.decompressobj()
        yield from (unpack.decompress(piece) for piece in iter(partial(file.read, PIECE), b""))
        if not unpack.eof:
            raise EOFError("it ends too early")
        return
    inner: Any = file
    if start.startswith(GZIP):
        inner = gzip.GzipFile(fileobj=file)
    elif start.startswith(ZSTD):
        inner = _zstd().ZstdFile(file)
    yield from iter(partial(inner.read, PIECE), b"")


def _zstd() -> Any:
    """Return Python's module of Zstandard, which before 3.14 is a package of its own."""
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise RecframeError(
            f"files that are packed by zstd need {name}, which is not installed; write: pip install 'recframe[cli]'"
        ) from None


def _errors() -> tuple[type[Exception], ...]:
    """Return the exception types that damaged files raise."""
    module = next((one for name, one in sys.modules.items() if name.endswith(".zstd")), None)
    own = getattr(module, "ZstdError", EOFError)
    return (EOFError, gzip.BadGzipFile, zlib.error, own)


def too_long(path: str, does: str, most: int) -> str:
    """Return that a file has more than a number of bytes, and how to allow them."""
    twice = f"{2 * most / 1e9:g}GB" if most >= MOST_OF_JSON else 2 * most
    return f"{path!r} {does} more than {most:,} bytes; if it is meant to, allow more: --max-bytes {twice}"


ROWS = 10_000
"""JSON rows checked, which takes a few hundredths of a second."""
FIRST_BYTES = 16_000_000
_RENAMED = re.compile(r"(.+)_duplicated_\d+")
_BETWEEN = re.compile(r"[\s,\[]*")


def first_lines(pattern: str, n: int) -> list[str]:
    """Return lines of a text file, packed or not, as they are; `pattern` is one that Polars finds it by."""
    # NOTE: no text has this sign, and JSON may not have it
    lines = pl.scan_csv(
        pattern, has_header=False, separator="\x01", quote_char=None, infer_schema=False
    )
    return lines.head(n).collect().to_series().fill_null("").to_list()


def check_columns(names: Iterable[str], path: str, pattern: str, separator: str) -> None:
    """Reject repeated column names of a text file; `names` are Polars' names for them."""
    known = set(names)
    renamed = {one: found[1] for one in known if (found := _RENAMED.fullmatch(one))}
    # a file may have such a name of its own
    twice = [one for one, name in renamed.items() if name in known]
    if not twice:
        return
    header: list[str] = []
    with suppress(csv.Error):
        header = next(filter(None, csv.reader(first_lines(pattern, 100), delimiter=separator)), [])
    name = next((renamed[one] for one in sorted(twice) if one not in header), None)
    if name is not None:
        raise RecframeError(
            f"{path!r} has two columns named {name!r}; drop or rename one of them. If its first line is no header, name the "
            "columns: --header user,item,rank"
        )


def check_keys(text: str, place: str) -> None:
    """Reject repeated keys of a JSON object, in the first rows of a list or of lines."""
    # NOTE: numbers stay text, of which Python takes not all
    hook = partial(_once, place=place)
    decoder = json.JSONDecoder(object_pairs_hook=hook, parse_int=str, parse_float=str)
    end = 0
    # what is no JSON, or is cut off here, is told by what reads it
    with suppress(json.JSONDecodeError, RecursionError):
        for _ in range(ROWS):
            found = _BETWEEN.match(text, end)
            _, end = decoder.raw_decode(text, end if found is None else found.end())


def _once(pairs: list[tuple[str, Any]], place: str) -> dict[str, Any]:
    """Return an object of JSON, or say which key it has twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise RecframeError(
            f"{place!r} has a row with two keys named {twice!r}; drop or rename one of them"
        )
    return found


# Ids are often numbers for a long while before the first text comes; Polars' own 100 rows decide too early.
ROWS_TO_INFER = 10_000
SEPARATORS = {".csv": ",", ".tsv": "\t"}
COMPRESSED = (".gz", ".zst")
TREC_FIELDS = {6: rf.scan_trec_run, 4: rf.scan_trec_qrels}

Scan = Callable[[list[str]], pl.LazyFrame]


@dataclass(frozen=True)
class Form:
    """The form of a text file: its separator, and names of columns where it has no header line."""

    separator: str | None = None
    names: tuple[str, ...] | None = None


def is_address(path: str) -> bool:
    """Return whether a path is an address, such as `s3://`, and no file of this machine."""
    return "://" in path


def ending_of(path: str) -> str:
    """Return a path's ending in lower case, without that of a compression where it is a text file."""
    name = Path(path.partition("?")[0] if is_address(path) else path)
    outer, inner = name.suffix.lower(), Path(name.stem).suffix.lower()
    return inner if outer in COMPRESSED and inner and inner not in TABLES else outer


def is_text(ending: str, form: Form) -> bool:
    """Return whether files of an ending are read as text in columns: those of any other, if it is said what separates them."""
    return ending in SEPARATORS or (form.separator is not None and ending not in READERS)


def scan_text(places: list[str], form: Form, ending: str, text: Iterable[str]) -> pl.LazyFrame:
    """Return the table of text files; `text` names columns that are read as text, where the table has them."""
    separator = form.separator or SEPARATORS[ending]
    read = partial(
        pl.scan_csv,
        escaped(places),
        separator=separator,
        infer_schema_length=ROWS_TO_INFER,
        has_header=form.names is None,
    )
    schema = read().collect_schema()
    names = {name: name for name in schema}
    if form.names is not None:
        _check_names(form.names, places[0], separator)
        names = {name: column for column, name in zip(schema, form.names, strict=False) if name}
    overrides = {names[name]: pl.String() for name in text if name in names}
    frame = read(schema_overrides=overrides)
    if form.names is None:
        return frame
    return frame.select(pl.col(column).alias(name) for name, column in names.items())


def _check_names(names: Sequence[str], place: str, separator: str) -> None:
    """Say that there are more names than columns, or a header line."""
    first = pl.read_csv(
        escaped([place])[0] if is_address(place) else place,
        separator=separator,
        has_header=False,
        infer_schema=False,
        n_rows=1,
    )
    found = [(value or "").strip() for value in first.row(0)]
    if len(names) > len(found):
        mark = separator_in(found[0])
        raise RecframeError(
            f"{place!r} has {len(found)} column{'s' * (len(found) != 1)} with {separator!r} between, "
            f"but --header names {len(names)}: {', '.join(names)}"
            + (f"; write --separator {mark}" if mark else "")
        )
    if any(name and name == value for name, value in zip(names, found, strict=False)):
        raise RecframeError(
            f"{place!r} has a header line, {separator.join(found)!r}; leave out --header, or say which file has none: "
            f"--header recs={','.join(names)}"
        )


def separator_in(text: str) -> str | None:
    """Return the likely column separator of a text, in an option's notation."""
    found = next((mark for mark in ",;\t|" if mark in text), None)
    return None if found is None else "tab" if found == "\t" else repr(found)


def escaped(places: Sequence[str]) -> list[str]:
    """Return paths with glob patterns escaped, for Polars."""
    return [place if is_address(place) else glob.escape(place) for place in places]


def _scan_json(places: list[str]) -> pl.LazyFrame:
    return pl.concat([_scan_one_json(place) for place in places])


def _scan_one_json(place: str) -> pl.LazyFrame:
    """Return the rows of a JSON file: a list of them, or one in each line."""
    if is_address(place):
        raise RecframeError(
            f"cannot read {place!r}: .json is read from files alone; write NDJSON or Parquet"
        )
    content = b"".join(unpacked(place))
    check_keys(content[:FIRST_BYTES].decode("utf-8-sig", errors="replace"), place)
    read: Any = pl.read_json if content.lstrip()[:1] == b"[" else pl.read_ndjson
    frame: pl.DataFrame = read(BytesIO(content), infer_schema_length=None)
    if pl.Struct in frame.dtypes:
        raise RecframeError(
            f'cannot read {place!r}: it is no list of rows such as [{{"user": 1, "item": 2, "rank": 1}}]; pandas writes '
            "one with to_json(orient='records')"
        )
    return frame.lazy()


def _scan_trec(places: list[str], scan: Callable[[str], pl.LazyFrame] | None) -> pl.LazyFrame:
    """Return TREC files as one table; of several runs with a column `model`, which has each file's name."""
    frames = []
    for place in places:
        if is_address(place):
            raise RecframeError(f"cannot read {place!r}: TREC files are read from files alone")
        frame = (scan or TREC_FIELDS[_n_fields(place)])(place)
        if "rank" in frame.collect_schema() and len(places) > 1:
            # a file's name without its endings
            name = Path(place).name.removesuffix(".gz").rpartition(".")[0]
            frame = frame.with_columns(model=pl.lit(name))
        frames.append(frame)
    return pl.concat(frames)


def _n_fields(place: str) -> int:
    """Return the number of fields of the first non-empty line: six in a run, four in qrels."""
    opened: Any = gzip.open if place.lower().endswith(".gz") else Path.open
    with opened(Path(place), "rt") as lines:
        found: list[str] = next(filter(None, map(str.split, lines)), [])
    if len(found) not in TREC_FIELDS:
        raise RecframeError(
            f"cannot read {place!r}: a line of a TREC run has 6 fields and one of qrels 4; its first has {len(found)}"
        )
    return len(found)


def _scan_ndjson(places: list[str]) -> pl.LazyFrame:
    patterns = escaped(places)
    for place, pattern in zip(places, patterns, strict=True):
        check_keys("\n".join(first_lines(pattern, ROWS)), place)
    return pl.scan_ndjson(patterns, infer_schema_length=ROWS_TO_INFER)


def _scan_ipc(places: list[str]) -> pl.LazyFrame:
    streams = [
        place for place in places if not is_address(place) and start_of(place)[:4] == ARROW_STREAM
    ]
    files = [place for place in places if place not in streams]
    frames = [pl.read_ipc_stream(stream).lazy() for stream in streams]
    return pl.concat([*frames, *(pl.scan_ipc(one) for one in escaped(files))])


PARQUET = (".parquet", ".pq")
TABLES = (*PARQUET, ".arrow", ".ipc", ".feather")
"""Endings of files that hold their columns in bytes."""
READERS: dict[str, Scan | None] = {
    **dict.fromkeys((*PARQUET, *SEPARATORS)),
    ".json": _scan_json,
    ".ndjson": _scan_ndjson,
    ".jsonl": _scan_ndjson,
    **dict.fromkeys(TABLES[2:], _scan_ipc),
    ".run": partial(_scan_trec, scan=rf.scan_trec_run),
    ".qrels": partial(_scan_trec, scan=rf.scan_trec_qrels),
    ".qrel": partial(_scan_trec, scan=rf.scan_trec_qrels),
    ".trec": partial(_scan_trec, scan=None),
}
"""Readers of files by their endings; Parquet and text are read with what a command says of them, see `files.scan`."""
