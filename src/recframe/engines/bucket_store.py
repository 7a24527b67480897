"""Rows of buckets, from reading until the buckets are run."""

from __future__ import annotations

import errno
import io
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, count, pairwise
from pathlib import Path
from threading import Condition, RLock
from typing import IO, Any

import polars as pl

from recframe.engines.memory_bound import MOST_ROWS, Bound, in_words, needed, size_of_rows
from recframe.errors import NeedsAllUsersError, RecframeError
from recframe.frames.collecting import batches, in_threads, run_as_it_is, stream
from recframe.frames.dtypes import as_text, common
from recframe.frames.hints import Given
from recframe.frames.kinds.engine import Routed, rows_with
from recframe.frames.rows.integer_keys import SMALL_INTEGERS

FAN_OUT, MOST_AT_ONCE = 64, 1024
"""Buckets that rows are put into at least and at most; small ones are run together, large ones are divided again."""
BUCKET = "bucket"
_SOURCES = ("Parquet SCAN [", "IPC SCAN [", "Ipc SCAN [", "DF [")
"""Beginnings of the lines of a plan with sources that skip rows without reading them."""
_ROW_BY_ROW = ("SELECT [", "WITH_COLUMNS", "[", "simple", "PROJECT", "SLICE:", "ESTIMATED ROWS")
"""Beginnings of the other lines of a plan through which a slice goes down to its source."""


@dataclass(frozen=True)
class Side:
    """A frame whose rows are put into buckets."""

    routed: Routed
    user: pl.DataType | None
    """The dtype in which users of all frames match; None for text."""

    @property
    def names(self) -> list[str]:
        """The names of the columns on the way, which may be any signs elsewhere."""
        return [f"column {place}" for place in range(len(self.routed.columns))]

    def rows(self, frame: pl.LazyFrame, n_buckets: int) -> pl.LazyFrame:
        """Return the rows that are read of a frame or a slice of it, each with its bucket."""
        places = frame.collect_schema().names()
        read = [places.index(name) for name in self.routed.columns]
        rows = rows_with(frame.select(pl.nth(read)), self.routed.present, most=self.routed.most)
        rows = rows.select(pl.nth(place).alias(name) for place, name in enumerate(self.names))
        return rows.with_columns(self.bucket(n_buckets))

    def bucket(self, n_buckets: int, first: int = 0) -> pl.Expr:
        """Return each row's bucket: of those from the first on, by a hash that differs with it."""
        hashed = self.user_as_matched.hash(seed=first) % n_buckets + first
        return hashed.cast(pl.UInt32).alias(BUCKET)

    @property
    def user_as_matched(self) -> pl.Expr:
        """Users in the dtype that those of all frames have, since equal users of two dtypes have two hashes."""
        user = pl.col(self.names[self.routed.columns.index(self.routed.user)])
        dtype = self.routed.schema[self.routed.user]
        return as_text(user, dtype) if self.user is None else user.cast(self.user)

    def in_columns(self, pieces: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """Return pieces of a bucket as one frame, in the frame's own columns."""
        found = pl.concat(pieces) if pieces else pl.DataFrame(schema=self.routed.schema)
        found.columns = self.routed.columns
        return found


@dataclass(frozen=True)
class Piece:
    """Rows of a bucket, in memory or in the file."""

    rows: pl.DataFrame | None
    size: int
    """Bytes of the rows."""
    start: int = 0
    """Where they begin in the file."""


class Store:
    """Rows of the buckets, until these are run: in memory up to a bound, then in files that are removed at the end."""

    def __init__(self, routed: Mapping[str, Routed], bound: Bound, *, in_one: bool = False) -> None:
        user = common({name: one.schema[one.user] for name, one in routed.items()})
        self.sides = {name: Side(one, user) for name, one in routed.items()}
        self.bound, self.in_one = bound, in_one
        heights = [height(one.frame) for one in routed.values()]
        n_buckets = bound.n_buckets([one.schema for one in routed.values()], heights)
        fan_out = max(FAN_OUT, min(MOST_AT_ONCE, 2 * (n_buckets or 0)))
        self.n_buckets = 1 if in_one or n_buckets == 1 else fan_out
        self.pieces: dict[tuple[int, str], list[Piece]] = {}
        self.heights, self.sizes = [0] * self.n_buckets, [0] * self.n_buckets
        self.of_one_user: list[int] = []
        """Buckets that one user has most rows of, who alone is larger than a bucket: each is run by itself."""
        self._held = 0
        self._lock = RLock()
        self._turn, self._places, self._n_put = Condition(self._lock), count(), 0
        self._remove: weakref.finalize[..., Store] | None = None

    def close(self) -> None:
        """Remove the files."""
        self.pieces.clear()
        if self._remove is not None:
            with suppress(KeyError, OSError):
                self.__dict__.pop("_file").close()
            self._remove()

    def fill(self) -> None:
        """Read all frames once, put their rows into buckets, and divide buckets that are too large to be run."""
        reads, n_threads = self._reads(), self.bound.n_threads
        # with one thread nothing is read ahead of it, since the bound is small
        for _ in in_threads(reads, n_threads) if n_threads > 1 else (read() for read in reads):
            pass
        if not self.in_one:
            self._divide()

    def _reads(self) -> Iterator[Callable[[], None]]:
        """Walk all frames once, as tasks that put rows into buckets."""
        for name, side in self.sides.items():
            at_once = self.bound.rows_at_once(side.routed.schema)
            for part in slices(side.routed.frame, at_once):
                for rows in batches(side.rows(part, self.n_buckets), at_once):
                    yield partial(self.put, name, rows, next(self._places))

    def put(self, name: str, rows: pl.DataFrame, place: int) -> None:
        """Put rows into the buckets of their users; several threads may do so, of which each waits for earlier rows.

        NOTE: the rows of a user stay in their order, which ranks them with ties="order".
        """
        parts: dict[tuple[int], pl.DataFrame] = {}
        of_row = 0.0
        try:
            of_row = size_of_rows(rows) / max(len(rows), 1)
            parts = rows.partition_by(BUCKET, as_dict=True, include_key=False)
        finally:
            with self._turn:
                self._turn.wait_for(lambda: self._n_put == place)
                self._n_put += 1
                try:
                    self._add(name, parts, of_row)
                finally:
                    self._turn.notify_all()

    def _add(self, name: str, parts: Mapping[tuple[int], pl.DataFrame], of_row: float) -> None:
        for (bucket,), part in parts.items():
            size = int(of_row * len(part))
            self.pieces.setdefault((bucket, name), []).append(Piece(part, size))
            self.heights[bucket] += len(part)
            self.sizes[bucket] += size
            self._held += size
        if self._held > self.bound.held:
            self._spill()

    def _spill(self) -> None:
        """Append all rows that are in memory to the file.

        NOTE: as streams of bytes, uncompressed: the writer of whole files takes ten times as long for the few rows that a
        bucket has at a time, and lz4 as much again, for a third of the space.
        """
        try:
            file = self._file
            for pieces in self.pieces.values():
                held = [one.rows for one in pieces if one.rows is not None]
                if held:
                    sent = io.BytesIO()
                    pl.concat(held, rechunk=True).write_ipc_stream(sent)
                    written = [one for one in pieces if one.rows is None]
                    pieces[:] = [*written, Piece(None, sent.tell(), file.tell())]
                    file.write(sent.getbuffer())
            file.flush()
        except OSError as error:
            raise self._not_written(error) from error
        self._held = 0

    @cached_property
    def _file(self) -> IO[bytes]:
        """A new file in a folder that its owner alone can read, since its rows have users' ids."""
        folder = tempfile.mkdtemp(prefix="recframe-", dir=_place())
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return (Path(folder) / "rows.arrow").open("w+b")

    def _not_written(self, error: OSError) -> RecframeError:
        is_full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None))
        found = "the disk is full" if is_full else error.strerror or str(error)
        return RecframeError(
            f"rows beyond {Given('memory', in_words(self.bound.memory))} could not be written to {_place()}: {found}; set "
            "the environment variable POLARS_TEMP_DIR to a folder with more room, or allow more memory"
        )

    @property
    def has_spilled(self) -> bool:
        """Whether rows were written to the file, since memory does not hold them."""
        return self._remove is not None

    def take(self, buckets: Sequence[int]) -> dict[str, pl.DataFrame]:
        """Return the rows of some buckets as one, which the store then has no more."""
        found = {}
        for name, side in self.sides.items():
            pieces = [self._taken(bucket, name) for bucket in buckets]
            found[name] = side.in_columns([*chain.from_iterable(pieces)])
        return found

    def _taken(self, bucket: int, name: str) -> Iterator[pl.DataFrame]:
        """Give the rows of a bucket, and forget them."""
        for piece in self.pieces.pop((bucket, name), []):
            if piece.rows is None:
                yield pl.read_ipc_stream(self._sent(piece))
            else:
                with self._lock:
                    self._held -= piece.size
                yield piece.rows

    def _sent(self, piece: Piece) -> bytes:
        with self._lock:
            self._file.seek(piece.start)
            sent = self._file.read(piece.size)
            self._file.seek(0, os.SEEK_END)
        return sent

    def _divide(self) -> None:
        """Divide buckets that are too large to be run, until one user has most of the rows."""
        large = [one for one in range(self.n_buckets) if self._is_large(one)]
        while large:
            bucket, first = large.pop(), len(self.heights)
            n_rows, self.heights[bucket], self.sizes[bucket] = self.heights[bucket], 0, 0
            self.heights += [0] * FAN_OUT
            self.sizes += [0] * FAN_OUT
            for name, side in self.sides.items():
                for rows in self._taken(bucket, name):
                    rows = rows.with_columns(side.bucket(FAN_OUT, first))  # noqa: PLW2901  the same
                    self.put(name, rows, next(self._places))
            for one in filter(self._is_large, range(first, first + FAN_OUT)):
                has_one_user = self.heights[one] > n_rows / 2
                (self.of_one_user if has_one_user else large).append(one)
        for bucket in self.of_one_user:
            if self._need(bucket) > self.bound.of_buckets:
                raise self.bound.too_little(self._rows_of_user(bucket), self._need(bucket))

    def check_is_one(self, why: NeedsAllUsersError) -> None:
        """Reject a call that needs all users in one bucket, whose rows the bound does not hold."""
        need = needed(sum(self.heights), sum(self.sizes))
        if need > self.bound.of_buckets:
            raise NeedsAllUsersError(
                f"{why}, or with room for all rows: {Given('memory', self.bound.least(need))}"
            )

    def _rows_of_user(self, bucket: int) -> int:
        """Return the number of rows that one user of a bucket has at most, in all frames."""
        users = [
            rows.select(side.user_as_matched.alias("user")).group_by("user").len()
            for name, side in self.sides.items()
            for rows in self._taken(bucket, name)
        ]
        rows = pl.concat(users).group_by("user").agg(pl.col("len").sum())
        return int(rows["len"].max())  # type: ignore[arg-type]  # there is one

    def _is_large(self, bucket: int) -> bool:
        return self._need(bucket) > self.bound.of_bucket

    def _need(self, bucket: int) -> int:
        return needed(self.heights[bucket], self.sizes[bucket])

    def together(self) -> list[list[int]]:
        """Return the buckets, those together that are run as one, without those of one user alone."""
        if self.in_one:
            return [[0]]
        found: list[list[int]] = [[]]
        n_rows = need = 0
        for bucket, height in enumerate(self.heights):
            if bucket in self.of_one_user:
                continue
            more = self._need(bucket)
            if n_rows and (need + more > self.bound.of_bucket or n_rows + height > MOST_ROWS):
                found.append([])
                n_rows = need = 0
            found[-1].append(bucket)
            n_rows, need = n_rows + height, need + more
        return found


def _place() -> Path:
    """Return the folder of temporary files: Polars' own, or the system's."""
    return Path(os.environ.get("POLARS_TEMP_DIR") or tempfile.gettempdir())


def slices(plan: pl.LazyFrame, n_rows: int) -> list[pl.LazyFrame]:
    """Return slices of a plan that can skip rows, and others as they are.

    NOTE: the streaming engine reads files ahead, whatever their rows take, but of a slice nothing else.
    """
    total = height(plan)
    if total is None:
        return [plan]
    return [plan.slice(first, n_rows) for first in range(0, total, n_rows)]


def height(plan: pl.LazyFrame) -> int | None:
    """Return the number of rows of a frame in memory, or of files that tell it; None for other plans."""
    lines = [line.strip() for line in plan.slice(1, 1).explain().splitlines()]
    sources = [line for line in lines if line.startswith(_SOURCES)]
    skips = len(sources) == 1 and all(line.startswith((*_SOURCES, *_ROW_BY_ROW)) for line in lines)
    return int(stream(plan.select(pl.len())).item()) if skips else None


def cut(routed: Mapping[str, Routed], bound: Bound) -> list[dict[str, pl.DataFrame]] | None:
    """Return slices of sorted frames, each with all rows of its users; None where one is not sorted or not in memory.

    Frames with a user who has more rows than a bucket are not cut either, nor are users of several dtypes, since these have
    several orders.
    """
    if not all(one.in_memory for one in routed.values()):
        return None
    rows = {name: _columns(one) for name, one in routed.items()}
    users = [frame[routed[name].user] for name, frame in rows.items()]
    if not _have_one_order(users):
        return None
    schemas = [one.schema for one in routed.values()]
    n_buckets = bound.n_buckets(schemas, [*map(len, users)]) or 1
    longest = max(users, key=len)
    first = [
        longest[place * len(longest) // n_buckets] for place in range(1, n_buckets) if len(longest)
    ]
    slices = {name: _cut(frame, routed[name].user, first) for name, frame in rows.items()}
    buckets = [dict(zip(slices, some, strict=True)) for some in zip(*slices.values(), strict=True)]
    largest = max(sum(map(len, bucket.values())) for bucket in buckets)
    return None if largest > 2 * bound.rows_of_bucket(schemas) else buckets


def _columns(one: Routed) -> pl.DataFrame:
    """Return the columns that are read, which takes no copy of a frame in memory."""
    places = one.frame.collect_schema().names()
    return run_as_it_is(one.frame.select(pl.nth([places.index(name) for name in one.columns])))


def _cut(rows: pl.DataFrame, user: str, first: list[Any]) -> list[pl.DataFrame]:
    """Return slices of sorted rows, each but the first from its first user on."""
    starts = [0, *(rows[user].search_sorted(one) for one in first), len(rows)]
    return [rows.slice(start, end - start) for start, end in pairwise(starts)]


def _have_one_order(users: list[pl.Series]) -> bool:
    """Return whether users of all frames are sorted by the same order, nulls among none."""
    dtypes = {user.dtype for user in users}
    orders = {*SMALL_INTEGERS, pl.String()}
    return (
        len(dtypes) == 1
        and dtypes <= orders
        and not any(user.null_count() for user in users)
        and all(user.is_sorted() for user in users)
    )
