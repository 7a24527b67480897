"""The sums of several plans as one table, so that an engine adds them up at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.kinds.engine import MOST, Added

PLAN = "plan"
"""The column that has the place of a row's plan."""
PIECE = 43
"""The bits of a piece of a number of 128: no engine adds these up as they are."""


@dataclass(frozen=True)
class Sums:
    """The columns of the sums of one plan."""

    place: int
    schema: pl.Schema
    keys: tuple[str, ...]
    same: tuple[str, ...]

    @property
    def most(self) -> list[str]:
        """The columns of which the largest is taken."""
        return [name for name in self.schema if name.startswith(MOST) and name not in self.keys]

    def named(self, column: str) -> str:
        """Return the name that a column has in the table of all plans, which share their keys."""
        return f"key {column}" if column in self.keys else f"{self.place} {column}"

    @property
    def dtypes(self) -> dict[str, pl.DataType]:
        """The dtypes of the columns in that table, by their names there: numbers in 64 bits, longer ones in several."""
        return {
            column: self._wide(name)
            for name in self.schema
            for column in (self._pieces(name) or [self.named(name)])
        }

    def _wide(self, name: str) -> pl.DataType:
        dtype = self.schema[name]
        if name in self.keys or (name in self.same and not dtype.is_numeric()):
            return pl.String() if dtype in (pl.Categorical, pl.Enum) else dtype
        if not dtype.is_numeric() and dtype not in (pl.Boolean, pl.Null):
            msg = f"the sums {name!r} are {dtype}, which no engine adds up"
            raise RecframeError(msg)
        return pl.Int64() if dtype.is_integer() or dtype == pl.Boolean else pl.Float64()

    def sent(self, sums: pl.DataFrame) -> pl.DataFrame:
        """Return sums as rows of the table of all plans."""
        columns = [
            one.cast(self._wide(name)).alias(column)
            for name in self.schema
            for column, one in (self._cut(name) or {self.named(name): pl.col(name)}).items()
        ]
        return sums.select(pl.lit(self.place, pl.Int32).alias(PLAN), *columns)

    def received(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the sums of this plan, whose nulls an engine may have made of zeros."""
        mine = rows.filter(pl.col(PLAN) == self.place)
        kept = {*self.keys, *self.same, *self.most}
        columns = [
            pl.col(self.named(name)) if name in kept else self._whole(name) for name in self.schema
        ]
        dtypes = zip(columns, self.schema.items(), strict=True)
        return mine.select(column.cast(dtype).alias(name) for column, (name, dtype) in dtypes)

    def _pieces(self, name: str) -> list[str]:
        """Return the names of the columns that a number of 128 bits travels in, the lowest bits first."""
        if self.schema[name] != pl.Int128:
            return []
        return [f"{self.named(name)} {place}" for place in range(-(-128 // PIECE))]

    def _cut(self, name: str) -> dict[str, pl.Expr]:
        """Return the pieces of such numbers, of which each has room for the sums of a million buckets."""
        pieces, found = self._pieces(name), {}
        rest = pl.col(name)
        for column in pieces[:-1]:
            found[column] = rest % 2**PIECE
            rest = (rest - found[column]) // 2**PIECE
        return found | dict.fromkeys(pieces[-1:], rest)

    def _whole(self, name: str) -> pl.Expr:
        """Return a column of sums, put together of its pieces."""
        columns = [pl.col(one).fill_null(0) for one in self._pieces(name) or [self.named(name)]]
        whole, *others = reversed(columns)
        for one in others:
            whole = whole.cast(pl.Int128) * 2**PIECE + one
        return whole


def schema_of(plans: Sequence[Sums]) -> pl.Schema:
    """Return the schema of the table of all plans."""
    found: dict[str, pl.DataType] = {PLAN: pl.Int32()}
    for one in plans:
        found |= one.dtypes
    return pl.Schema(found)


def added_of(plans: Sequence[Sums]) -> Added:
    """Return how the rows of the table of all plans are added up."""
    keys = dict.fromkeys([PLAN, *(one.named(key) for one in plans for key in one.keys)])
    same = [one.named(name) for one in plans for name in one.same]
    most = [one.named(name) for one in plans for name in one.most]
    sums = [name for name in schema_of(plans) if name not in {*keys, *same, *most}]
    return Added(tuple(keys), tuple(sums), tuple(same), tuple(most))
