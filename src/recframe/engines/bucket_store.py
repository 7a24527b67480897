"""Rows of buckets on this machine, from when they are read until the buckets are run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import polars as pl

from recframe.frames.collecting import batches
from recframe.frames.dtypes import as_text, common
from recframe.frames.kinds.engine import Routed, rows_with

FAN_OUT = 64
"""Buckets that rows are put into, of which several are run as one where they are small."""
ROWS_OF_BUCKET = 1_500_000
"""Rows of the buckets that are run as one, approximately."""
BUCKET = "bucket"


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

    def rows(self, n_buckets: int) -> pl.LazyFrame:
        """Return the rows that are read, each with its bucket."""
        frame: pl.LazyFrame = self.routed.frame
        places = frame.collect_schema().names()
        read = [places.index(name) for name in self.routed.columns]
        rows = rows_with(frame.select(pl.nth(read)), self.routed.present, most=self.routed.most)
        rows = rows.select(pl.nth(place).alias(name) for place, name in enumerate(self.names))
        return rows.with_columns((self._key.hash() % n_buckets).cast(pl.UInt32).alias(BUCKET))

    @property
    def _key(self) -> pl.Expr:
        """Users in the dtype that those of all frames have, since equal users of two dtypes have two hashes."""
        user = pl.col(self.names[self.routed.columns.index(self.routed.user)])
        dtype = self.routed.schema[self.routed.user]
        return as_text(user, dtype) if self.user is None else user.cast(self.user)

    def in_columns(self, pieces: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """Return pieces of a bucket as one frame, in the frame's own columns."""
        found = pl.concat(pieces) if pieces else pl.DataFrame(schema=self.routed.schema)
        found.columns = self.routed.columns
        return found


class Store:
    """Rows of the buckets, until these are run."""

    def __init__(self, routed: Mapping[str, Routed], n_buckets: int) -> None:
        user = common({name: one.schema[one.user] for name, one in routed.items()})
        self.sides = {name: Side(one, user) for name, one in routed.items()}
        self.n_buckets = n_buckets
        self.pieces: dict[tuple[int, str], list[pl.DataFrame]] = {}
        self.heights = [0] * n_buckets

    def fill(self) -> None:
        """Read all frames once."""
        for name, side in self.sides.items():
            for rows in batches(side.rows(self.n_buckets)):
                self.put(name, rows)

    def put(self, name: str, rows: pl.DataFrame) -> None:
        """Put rows into the buckets of their users."""
        parts = rows.partition_by(BUCKET, as_dict=True, include_key=False)
        for (bucket,), part in parts.items():
            self.pieces.setdefault((bucket, name), []).append(part)
            self.heights[bucket] += part.height

    def take(self, buckets: Sequence[int]) -> dict[str, pl.DataFrame]:
        """Return the rows of some buckets as one, which the store then has no more."""
        found = {}
        for name, side in self.sides.items():
            pieces = [self.pieces.pop((bucket, name), []) for bucket in buckets]
            found[name] = side.in_columns([*chain.from_iterable(pieces)])
        return found

    def together(self, n_parts: int | None) -> list[list[int]]:
        """Return the buckets, those together that are run as one."""
        if n_parts is not None:
            return [[one] for one in range(self.n_buckets)]
        found: list[list[int]] = [[]]
        n_rows = 0
        for bucket, height in enumerate(self.heights):
            if n_rows and n_rows + height > ROWS_OF_BUCKET:
                found.append([])
                n_rows = 0
            found[-1].append(bucket)
            n_rows += height
        return found
