"""The bound on the memory of a call, and its shares."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.hints import Given

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_FREE = Path("/proc/meminfo")
_UNKNOWN = 4_000_000_000
"""Bytes that are taken to be free where the system does not say it."""
_PER_ROW, _PER_BYTE = 150, 2.5
"""Bytes that a bucket's plan needs for each row and each byte of its rows, measured (docs/benchmarks.md)."""
_OF_READER = 20_000_000
"""Bytes that Polars takes to read a file, whatever is read at once, measured; the shares are of what is left of the bound."""
_OF_BUCKETS = 0.6
"""Share for the buckets that are run at once."""
_HELD = 0.1
"""Share for rows that are held until their buckets are run."""
_OF_READING = 0.06
"""Share of the bound for the rows that are read, a slice that threads put into buckets and the next one.

Reading takes three times their bytes, measured.
"""
_OF_THREAD = 16_000_000
"""Bytes for the bucket of one thread below which fewer threads run."""
LEAST_ROWS, MOST_ROWS = 2_000, 1_500_000
"""Rows between which the size of a bucket is."""
MOST_IN_ONE_PLAN = 30_000_000
"""Rows up to which one plan was measured to take less time than buckets (docs/benchmarks.md)."""
_TEXT = 52
"""Bytes of a text before one is read: 36 signs and its view."""


def default_memory() -> int:
    """Return half of the container's limit; without one, half of what is free."""
    return (_container_limit() or _free()) // 2


def _container_limit() -> int | None:
    """Return the least limit of the process's control groups that is below the machine's memory."""
    found = []
    for line in _lines(_OWN_GROUPS):
        _, controllers, group = line.split(":", 2)
        is_v1 = "memory" in controllers.split(",")
        if controllers and not is_v1:
            continue
        top = _CGROUPS / "memory" if is_v1 else _CGROUPS
        file = "memory.limit_in_bytes" if is_v1 else "memory.max"
        inside = top / group.lstrip("/")
        folders = [one for one in (inside, *inside.parents) if one.is_relative_to(top)]
        for text in (text for folder in folders for text in _lines(folder / file)):
            with suppress(ValueError):  # "max"
                found.append(int(text))
    total = _sysconf("SC_PHYS_PAGES")
    return min((one for one in found if not total or one < total), default=None)


def _free() -> int:
    for line in _lines(_FREE):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return _sysconf("SC_AVPHYS_PAGES") or _sysconf("SC_PHYS_PAGES") // 2 or _UNKNOWN


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _sysconf(name: str) -> int:
    """Return a number of pages in bytes; 0 where the system does not tell it."""
    try:
        return os.sysconf(name) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def size_of_rows(rows: pl.DataFrame) -> int:
    """Return the bytes of rows; texts count in full, which rows of one batch may share."""
    texts = [one for one in rows if one.dtype == pl.String]
    size = rows.drop([one.name for one in texts]).estimated_size()
    return int(size + sum(16 * len(one) + int(one.str.len_bytes().sum()) for one in texts))


def needed(n_rows: int, n_bytes: float) -> int:
    """Return the bytes that a bucket's plan needs, its rows included."""
    return int(_PER_ROW * n_rows + _PER_BYTE * n_bytes)


@dataclass(frozen=True)
class Bound:
    """Bytes that a call in buckets may take, and how they are divided."""

    memory: int
    """All bytes of the call."""

    @property
    def _left(self) -> int:
        return max(self.memory - _OF_READER, 0)

    @property
    def held(self) -> float:
        """Bytes of rows that wait in memory for their buckets to be run."""
        return _HELD * self._left

    @property
    def of_buckets(self) -> float:
        """Bytes of all buckets that are run at once."""
        return max(_OF_BUCKETS * self._left, needed(LEAST_ROWS, LEAST_ROWS * _TEXT))

    @property
    def n_threads(self) -> int:
        """Buckets that are run at once."""
        return max(1, min(pl.thread_pool_size(), int(self.of_buckets // _OF_THREAD)))

    @property
    def of_bucket(self) -> float:
        """Bytes of a bucket, of those that are run at once."""
        return self.of_buckets / self.n_threads

    def rows_of_bucket(self, schemas: Sequence[pl.Schema]) -> int:
        """Return the rows of a bucket, before any of them is read."""
        of_row = max(map(_row_size, schemas), default=1)
        return max(LEAST_ROWS, min(MOST_ROWS, int(self.of_bucket / needed(1, of_row))))

    def n_buckets(self, schemas: Sequence[pl.Schema], heights: Sequence[int | None]) -> int | None:
        """Return the number of buckets that a call runs in; None where a frame does not tell its rows before they are read.

        It follows from the columns that the call reads and from the heights of frames and files. A bucket has as many rows
        as a thread's share of the memory holds with what their plan needs, and no more than 1.5 million. Where all rows
        together are no more, one bucket is the whole call, which then is one plan.
        """
        known = [height for height in heights if height is not None]
        if len(known) < len(heights):
            return None
        return max(1, -(-sum(known) // self.rows_of_bucket(schemas)))

    def holds(self, schemas: Sequence[pl.Schema], heights: Sequence[int | None]) -> bool:
        """Return whether a call runs in one plan, and in buckets otherwise.

        It does where all frames and files tell their heights, their rows are 30 million at most, and the memory holds these
        with what their plan needs: 150 bytes a row, and 2.5 times the bytes of the columns that the call reads.
        """
        known = [height for height in heights if height is not None]
        if len(known) < len(heights) or sum(known) > MOST_IN_ONE_PLAN:
            return False
        sizes = map(_row_size, schemas)
        n_bytes = sum(n_rows * size for n_rows, size in zip(known, sizes, strict=True))
        return needed(sum(known), n_bytes) <= _OF_BUCKETS * self._left

    def rows_at_once(self, schema: pl.Schema) -> int:
        """Return the rows that are read at a time, while each thread puts others into buckets."""
        size = 2 * _OF_READING * self.memory / (self.n_threads + 1)
        return max(LEAST_ROWS, min(MOST_ROWS, int(size / _row_size(schema))))

    def least(self, need: float) -> str:
        """Return the bound that has room for buckets of so many bytes."""
        return in_words(need / _OF_BUCKETS + _OF_READER)

    def too_little(self, n_rows: int, need: int) -> RecframeError:
        """Return the error of one user whose rows need more than all buckets may take."""
        least, given = self.least(need), Given("memory", in_words(self.memory))
        return RecframeError(
            f"{given} is too little: the user with the most rows has {n_rows:,} rows, which need about {least}; write "
            f"{Given('memory', least)} or more"
        )


def _row_size(schema: pl.Schema) -> int:
    return sum(_TEXT if one in (pl.String, pl.Binary) else 8 for one in schema.values())


def in_words(size: float) -> str:
    """Return a number of bytes in two digits, rounded up, as `memory=` takes it."""
    unit, name = next((one for one in ((1e9, "GB"), (1e6, "MB")) if size >= one[0]), (1e3, "KB"))
    step = 10.0 ** (math.floor(math.log10(max(size, 1))) - 1)
    return f"{math.ceil(size / step) * step / unit:g}{name}"
