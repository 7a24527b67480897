"""Rows on their way to buckets, and sums on their way back.

Both are bytes in few columns. An engine that holds rows one by one then moves, sorts and copies a handful of them for each
half a million. What comes in for a bucket is one table, or, where it is more than was expected, one table after the other, of
some users each. What comes back is a row for each kind of sums, whose dtypes an engine need not have.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with every engine
import pyarrow.compute as pc  # type: ignore[import-untyped]

from recframe.frames.kinds.engine import Added, NamedRows, Routes, Summing
from recframe.frames.kinds.pyarrow_frames import table_of

FEWEST_SENT, MOST_SENT = 500_000, 8_000_000
"""Rows partitioned at a time, approximately: minimum, and maximum for any number of buckets."""
ROWS_OF_PIECE = 400
"""Rows per bucket and piece, if memory allows: pieces of 25 take eight times the bytes per row."""
ROWS_OF_PART = 1_500_000
"""Rows from which a bucket is processed in parts."""
BUCKET, SIDE, N_ROWS, ROWS = "bucket", "side", "n_rows", "rows"
SENT = pa.schema(
    [(BUCKET, pa.int32()), (SIDE, pa.int32()), (N_ROWS, pa.int32()), (ROWS, pa.binary())]
)
"""The columns of what is sent: `side` is the place of a frame among the frames, or of sums among the sums."""
_Batches = Iterator[pa.RecordBatch]
Tabled = Callable[[pa.Table], pa.Table]
"""Type of functions of a table that was sent."""


@dataclass(frozen=True)
class Side:
    """Frame whose rows are shuffled."""

    schema: pl.Schema
    """The dtypes of the rows."""
    user: str
    common: pl.DataType
    """Common dtype of all frames' users, so that hashes agree."""

    @property
    def names(self) -> list[str]:
        """The names of the columns on the way, which may be any signs elsewhere."""
        return [f"column {place}" for place in range(len(self.schema))]

    @property
    def on_the_way(self) -> pl.Schema:
        """The dtypes by the names on the way."""
        return pl.Schema(zip(self.names, self.schema.dtypes(), strict=True))

    def put_in_buckets(self, rows: pl.DataFrame, number: int) -> pa.RecordBatch:
        """Return a row for each bucket, of rows that have its number in a last column."""
        parts = rows.cast(self.on_the_way).partition_by(BUCKET, as_dict=True, include_key=False)
        sent = {
            BUCKET: [bucket for (bucket,) in parts],
            SIDE: [number] * len(parts),
            N_ROWS: [part.height for part in parts.values()],
            ROWS: [_bytes(part) for part in parts.values()],
        }
        return pa.RecordBatch.from_pydict(sent, SENT)

    def received(self, pieces: Any, part: int, n_parts: int) -> pl.DataFrame:
        """Return the rows of all pieces, of the users of a part."""
        user = pl.col(self.names[self.schema.names().index(self.user)])
        mine = user.cast(self.common).hash() % n_parts == part
        found = [pl.DataFrame(schema=self.on_the_way)]
        for piece in pieces:
            rows = _read(piece)
            found.append(rows if n_parts == 1 else rows.filter(mine))
        rows = pl.concat(found, rechunk=True)
        rows.columns = self.schema.names()
        return rows


def sides_of(routed: Routes) -> dict[str, Side]:
    """Return the frames that are shuffled; users that are whole numbers of different widths may match."""
    first = next(iter(routed.values()))
    dtype = first.schema[first.user]
    users = pl.Int64() if dtype.is_integer() else dtype
    return {name: Side(one.schema, one.user, users) for name, one in routed.items()}


def _bytes(rows: pl.DataFrame) -> bytes:
    """Return rows as bytes.

    NOTE: zstd makes half of the bytes of lz4, for some 6 ns a row more.
    """
    return rows.write_ipc_stream(None, compression="zstd").getvalue()


def sending(side: Side, number: int, n_buckets: int) -> Callable[[_Batches], _Batches]:
    """Return a function of the rows of a frame, as they are where they are read."""
    n_enough = min(max(FEWEST_SENT, ROWS_OF_PIECE * n_buckets), MOST_SENT)

    def sent(batches: _Batches) -> _Batches:
        for rows in _gathered(batches, n_enough):
            yield side.put_in_buckets(pl.DataFrame(rows), number)

    return sent


def _gathered(batches: _Batches, n_enough: int) -> Iterator[pa.Table]:
    """Walk rows in tables of so many rows or little more."""
    gathered: list[pa.RecordBatch] = []
    n_rows = 0
    for batch in batches:
        gathered.append(batch)
        n_rows += batch.num_rows
        if n_rows >= n_enough:
            yield pa.Table.from_batches(gathered)
            gathered, n_rows = [], 0
    if n_rows:
        yield pa.Table.from_batches(gathered)


def parts_of(sent: pa.Table, sides: Mapping[str, Side]) -> Iterator[NamedRows]:
    """Walk the rows of all frames in a bucket, in parts of whole users where they are many.

    NOTE: nobody knows how many rows a bucket gets before they are there; a part never cuts a user.
    """
    n_rows = pc.sum(sent[N_ROWS]).as_py() or 0
    n_parts = 1 if n_rows <= ROWS_OF_PART else -(-2 * n_rows // ROWS_OF_PART)
    pieces = [sent.filter(pc.equal(sent[SIDE], number))[ROWS] for number in range(len(sides))]
    for part in range(n_parts):
        each = zip(sides.items(), pieces, strict=True)
        yield {name: side.received(mine, part, n_parts) for (name, side), mine in each}


def summing(sides: Mapping[str, Side], made: Summing, added: Sequence[Added]) -> Tabled:
    """Return a function of a bucket's rows as they were sent that returns its sums."""

    def summed(sent: pa.Table) -> pa.Table:
        found = _added([made(frames) for frames in parts_of(sent, sides)], added)
        return sent_sums(found, sent[BUCKET][0].as_py() if len(sent) else 0)

    return summed


def adding(added: Sequence[Added]) -> Tabled:
    """Return a function of sums of several buckets that adds them up."""

    def both(sent: pa.Table) -> pa.Table:
        return sent_sums(_added(sums_of(sent, len(added)), added), sent[BUCKET][0].as_py())

    return both


def _added(parts: Sequence[Sequence[pl.DataFrame]], added: Sequence[Added]) -> list[pl.DataFrame]:
    return [how.up(some) for how, some in zip(added, zip(*parts, strict=True), strict=True)]


def sent_sums(sums: Sequence[pl.DataFrame], bucket: int) -> pa.Table:
    """Return sums as rows that are sent."""
    rows = {
        BUCKET: [bucket] * len(sums),
        SIDE: [*range(len(sums))],
        N_ROWS: [*map(len, sums)],
        ROWS: [*map(_bytes, sums)],
    }
    return pa.Table.from_pydict(rows, SENT)


def sums_of(sent: pa.Table, n_sums: int) -> list[list[pl.DataFrame]]:
    """Return the sums of several buckets that were sent."""
    each = (sent.filter(pc.equal(sent[SIDE], at))[ROWS] for at in range(n_sums))
    return [[*map(_read, parts)] for parts in zip(*each, strict=True)]


def making(sides: Mapping[str, Side], made: Summing, none: pa.Table) -> Tabled:
    """Return a function of a bucket's rows as they were sent that returns rows of the result."""

    def rows_of(sent: pa.Table) -> pa.Table:
        each = [table_of(*made(frames)).cast(none.schema) for frames in parts_of(sent, sides)]
        return pa.concat_tables(each)

    return rows_of


def _read(sent: pa.Scalar) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(sent.as_py()))
