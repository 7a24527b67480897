"""Packed files: unpacked in pieces, and counted before anybody reads them."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

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
    """Return the bytes that a file may have when it is unpacked."""
    return given or (MOST_OF_JSON if ending == ".json" else MOST)


def check(place: str, path: str, most: int) -> None:
    """Say so where a packed file is damaged, or has more content than a number of bytes; others are as they are."""
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
            msg = f"cannot read {place!r}: it is cut off or damaged, since it cannot be unpacked ({why}); copy or pack it again"
            raise RecframeError(msg) from None


def start_of(place: str) -> bytes:
    """Return the first bytes of a file, which tell what it is."""
    with Path(place).open("rb") as file:
        return file.read(6)


def _pieces(file: BinaryIO, start: bytes) -> Iterator[bytes]:
    if start.startswith(ZLIB):
        unpack = zlib.decompressobj()
        yield from (unpack.decompress(piece) for piece in iter(partial(file.read, PIECE), b""))
        if not unpack.eof:
            msg = "it ends too early"
            raise EOFError(msg)
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
        msg = f"files that are packed by zstd need {name}, which is not installed; write: pip install 'recframe[cli]'"
        raise RecframeError(msg) from None


def _errors() -> tuple[type[Exception], ...]:
    """Return what is raised of damaged files."""
    module = next((one for name, one in sys.modules.items() if name.endswith(".zstd")), None)
    own = getattr(module, "ZstdError", EOFError)
    return (EOFError, gzip.BadGzipFile, zlib.error, own)


def too_long(path: str, does: str, most: int) -> str:
    """Return that a file has more than a number of bytes, and how to allow them."""
    twice = f"{2 * most / 1e9:g}GB" if most >= MOST_OF_JSON else 2 * most
    return f"{path!r} {does} more than {most:,} bytes; if it is meant to, allow more: --max-bytes {twice}"
