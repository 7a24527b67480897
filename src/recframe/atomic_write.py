"""Atomic file writes: a temporary file, moved into place when complete."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import polars as pl

from recframe.errors import RecframeError

File = str | os.PathLike[str]
UNFINISHED = ".unfinished"
MOST_LINKS = 40
"""Symbolic links followed before a loop is assumed, as on Linux."""
OWN_STREAMS = ("/dev/fd", "/proc/self/fd")
"""Folders of the streams that this process has open, by their numbers."""


def write(path: File, fill: Callable[[BinaryIO], object]) -> None:
    """Write a file by `fill`, atomically: the old content stays until the new one is complete.

    A link stays, and what it leads to is replaced; permissions stay. Devices, pipes and streams of this process, such as
    /dev/stdout, are written straight.
    """
    try:
        target = led_to(path)
        if isinstance(target, Path) and is_plain(target):
            _replace(target, fill)
        else:
            with opened(target, "wb") as file:
                fill(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RecframeError(f"cannot write {os.fspath(path)!r}: {reason(error)}") from error


def write_text(path: File, text: str) -> None:
    """Write a file of text."""
    write(path, lambda file: file.write(text.encode()))


def led_to(path: File) -> Path | int:
    """Return the place that a path leads to through links, or the number of a stream of this process."""
    place = Path(path).expanduser()
    for _ in range(MOST_LINKS):
        place = place.parent.resolve() / place.name
        if place.parent in {Path(one).resolve() for one in OWN_STREAMS} and place.name.isdecimal():
            return int(place.name)
        if not place.is_symlink():
            return place
        place = place.parent / place.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def is_plain(target: Path | int) -> bool:
    """Return whether a target is a file, or a place where there is nothing yet."""
    return not isinstance(target, int) and (target.is_file() or not target.exists())


def opened(target: Path | int, mode: str) -> BinaryIO:
    """Open a target; of a stream a copy, so that closing it leaves the stream open."""
    source = os.dup(target) if isinstance(target, int) else target
    return open(source, mode)  # type: ignore[return-value]  # noqa: PTH123  mode has a b; a number is no path


def reason(error: Exception) -> str:
    """Return why a file cannot be read or written, in one line and without the layers that it came through."""
    text = (getattr(error, "strerror", None) or str(error)).strip().partition("\n")[0]
    found = re.search(r"([^:]+) \(os error \d+\)", text)
    return found[1].strip() if found else text


def _replace(target: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Write a file beside its place, and move it there once it is whole."""
    beside = target.with_name(f".{uuid4().hex}{UNFINISHED}")
    try:
        with beside.open("xb") as file:
            if target.exists():
                with target.open("r+b") as there:  # which fails where nobody may write
                    beside.chmod(stat.S_IMODE(os.fstat(there.fileno()).st_mode))
            fill(file)
            file.flush()
            # so that after a crash of the machine the place has one of the two files, and no empty one
            os.fsync(file.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
