"""Scans of some users each, within a bound on memory."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path

import polars as pl

from recframe.atomic_write import reason
from recframe.errors import RecframeError
from recframe.frames.dtypes import as_text, common
from recframe.frames.hints import Given
from recframe.frames.kinds.engine import NamedRows, Routed, Routes, columns_of, rows_with
from recframe.frames.kinds.kind import stream

GROUPS = 4096
"""Groups of users by a hash of their id; a scan reads several."""
GROUP = "group of users"
_PER_ROW, _PER_BYTE, _OF_WHOLE_LISTS = 20, 2.5, 80
"""Bytes of a plan for each row, for each byte of its rows, and for each row of lists that no cut-off ends; measured."""
_OF_READER = 100_000_000
"""Bytes that Polars takes to read files, whatever is read at once, measured."""
_OF_WRITER = 500_000_000
"""Bytes that Polars takes to write files of many scans, beside the rows that wait, measured."""
_FEW = 8
"""Scans of all rows that take as long as to write the rows of each scan to files of its own, measured."""
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_FREE = Path("/proc/meminfo")
_UNKNOWN = 4_000_000_000
"""Bytes that are taken to be free where the system does not say it, as on macOS and Windows."""
_SAMPLE = 10_000
"""Rows by which the bytes of a row are known."""
_SCANS = ("Parquet SCAN [", "IPC SCAN [", "Ipc SCAN [", "DF [")
"""Beginnings of lines of a plan that reads files, or rows in memory."""
_OF_SCANS = ("PROJECT", "SELECTION:", "ESTIMATED ROWS", "simple")
"""Beginnings of lines on what a scan leaves out."""


def rows_of(one: Routed) -> pl.LazyFrame:
    """Return the rows and columns that are read of a frame: to leave out rows without ids takes a look at all of them."""
    return rows_with(columns_of(one.frame, one.columns), (), most=one.most)


class Scans:
    """Frames of a call, read in scans that the bound on memory holds one by one."""

    def __init__(self, read: Routes, memory: int) -> None:
        self.read, self.memory = dict(read), memory
        self._user = common({name: one.schema[one.user] for name, one in read.items()})
        self._folders: dict[str, Path] = {}
        """The folders of frames whose rows are in files of each scan."""
        self._opened = ExitStack()

    def close(self) -> None:
        """Remove the temporary files."""
        self._opened.close()

    @cached_property
    def _bytes_of_row(self) -> dict[str, float]:
        """The bytes that a row of each frame takes in its plan."""
        found = {}
        for name, one in self.read.items():
            rows = stream(rows_of(one).head(_SAMPLE))
            more = _OF_WHOLE_LISTS * (name == "recommendations" and one.most is None)
            found[name] = (
                _PER_ROW + more + _PER_BYTE * sum(map(_bytes_of, rows)) / max(len(rows), 1)
            )
        return found

    @cached_property
    def needed(self) -> float:
        """Bytes that all rows take in one plan."""
        counted = {name: rows_of(one).select(pl.len()) for name, one in self.read.items()}
        each = {name: stream(one).item() for name, one in counted.items()}
        return float(sum(n_rows * self._bytes_of_row[name] for name, n_rows in each.items()))

    @property
    def room(self) -> int:
        """Bytes for the rows of a scan and their plan."""
        return max(self.memory - _OF_READER, self.memory // 4)

    @property
    def hold_all(self) -> bool:
        """Whether the bound holds all rows in one plan."""
        return self.needed <= self.room

    def _group(self, name: str) -> pl.Expr:
        """Return the group of a row's user: by the dtype that users of all frames have, since hashes differ by it."""
        one = self.read[name]
        user, dtype = pl.nth(one.columns.index(one.user)), one.schema[one.user]
        is_text = self._user is None or dtype in (pl.Categorical, pl.Enum)
        user = as_text(user, dtype) if is_text else user.cast(self._user or dtype)
        return user.hash(1) % GROUPS

    @cached_property
    def _ranges(self) -> list[tuple[int, int]]:
        """The groups of users that are read together, from the first to the last."""
        sizes = dict.fromkeys(range(GROUPS), 0.0)
        for name, one in self.read.items():
            groups = rows_of(one).select(self._group(name).alias(GROUP)).group_by(GROUP).len()
            for group, n_rows in stream(groups).rows():
                sizes[group] += n_rows * self._bytes_of_row[name]
        if max(sizes.values()) > self.room:
            least = self.least(max(sizes.values()))
            raise RecframeError(
                f"{Given('memory', in_words(self.memory))} is too little for the user with the most rows and those who are "
                f"read with them, who need about {least}; write {Given('memory', least)} or more"
            )
        found, first, size = [], 0, 0.0
        for group, more in sizes.items():
            if size + more > self.room:
                found.append((first, group - 1))
                first, size = group, 0.0
            size += more
        return [*found, (first, GROUPS - 1)]

    def least(self, need: float) -> str:
        """Return the bound that has room for so many bytes."""
        return in_words(need + _OF_READER)

    def write_files(self) -> None:
        """Write the rows of frames that are no scans to temporary files, and those of many scans to files of each."""
        for name, one in self.read.items():
            if not is_scan(one.frame):
                with self._temporary() as folder:
                    path = folder / "rows.parquet"
                    path.touch(0o600)
                    rows_of(replace(one, most=None)).sink_parquet(path)
                self.read[name] = replace(one, frame=pl.scan_parquet(path))
        is_room = self.room > _OF_WRITER
        if is_room and len(self) > _FEW and hasattr(pl, "PartitionBy"):  # Polars 1.37 and later
            self._folders = {name: self._divided(name) for name in self.read}

    def _divided(self, name: str) -> Path:
        """Return a folder of files of each scan, in row groups that wait in memory until they are full."""
        one = self.read[name]
        number = next(key for key in map(str, count()) if key not in one.columns)
        # a sum, which Polars streams, and no lookup of the group
        scan = pl.sum_horizontal(self._group(name) > last for _, last in self._ranges)
        waiting = (self.room - _OF_WRITER) / len(self) / self._bytes_of_row[name]
        with self._temporary() as folder:
            files = pl.PartitionBy(folder, key=number, include_key=False)
            rows = rows_of(one).with_columns(scan.alias(number))
            rows.sink_parquet(files, row_group_size=math.ceil(waiting), compression="lz4")
        return folder

    @contextmanager
    def _temporary(self) -> Iterator[Path]:
        """Give a new folder that its owner alone can open, since its rows have users' ids."""
        place = _place()
        try:
            made = tempfile.TemporaryDirectory(
                prefix="recframe-", dir=place, ignore_cleanup_errors=True
            )
            yield Path(self._opened.enter_context(made))
        except OSError as error:
            raise RecframeError(
                f"rows beyond {Given('memory', in_words(self.memory))} could not be written to {place}: {reason(error)}; set "
                "the environment variable POLARS_TEMP_DIR to a folder with more room, or allow more memory"
            ) from error

    def __len__(self) -> int:
        """Return the number of scans."""
        return len(self._ranges)

    def whole(self) -> dict[str, pl.LazyFrame]:
        """Return the frames with the rows of all users."""
        return {name: one.frame for name, one in self.read.items()}

    def parts(self, names: Collection[str]) -> Iterator[NamedRows]:
        """Walk the rows of some frames, those of some users after those of others."""
        for scan in range(len(self)):
            yield {name: stream(self._part(name, scan)) for name in self.read if name in names}

    def _part(self, name: str, scan: int) -> pl.LazyFrame:
        """Return the rows of a scan's users."""
        rows, folder = rows_of(self.read[name]), self._folders.get(name)
        if folder is None:
            return rows.filter(self._group(name).is_between(*self._ranges[scan]))
        files = sorted(folder.glob(f"*={scan}/*"))
        return pl.scan_parquet(files) if files else rows.clear()


def is_scan(frame: pl.LazyFrame) -> bool:
    """Whether a plan is a scan of files or of a frame in memory, from which each read takes some rows alone."""
    lines = [line.strip() for line in frame.explain().splitlines()]
    return all(line.startswith((*_SCANS, *_OF_SCANS)) for line in lines)


def _bytes_of(column: pl.Series) -> int | float:
    """Return the bytes of a column; texts count in full, which rows of one batch may share."""
    if column.dtype != pl.String:
        return column.estimated_size()
    return 16 * len(column) + int(column.str.len_bytes().sum())


def _place() -> Path:
    """Return the folder of temporary files: Polars' own, or the system's."""
    return Path(os.environ.get("POLARS_TEMP_DIR") or tempfile.gettempdir())


def in_words(size: float) -> str:
    """Return a number of bytes in two digits, rounded up, as `memory=` takes it."""
    unit, name = next((one for one in ((1e9, "GB"), (1e6, "MB")) if size >= one[0]), (1e3, "KB"))
    step = 10.0 ** (math.floor(math.log10(max(size, 1))) - 1)
    return f"{math.ceil(size / step) * step / unit:g}{name}"


def default_memory() -> int:
    """Return half of what is free, or of the container's limit where that is less."""
    return min([_free(), *_limits()]) // 2


def _limits() -> list[int]:
    """Return the limits of the process's control groups."""
    found = []
    for line in _lines(_OWN_GROUPS):
        inside = _CGROUPS / line.rpartition(":")[2].lstrip("/")
        folders = [one for one in (inside, *inside.parents) if one.is_relative_to(_CGROUPS)]
        texts = [text for folder in folders for text in _lines(folder / "memory.max")]
        found += [int(text) for text in texts if text.isdecimal()]  # which "max" is not
    return found


def _free() -> int:
    for line in _lines(_FREE):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return _UNKNOWN


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
