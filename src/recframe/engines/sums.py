"""The sums of several plans as one table, so that an engine adds them up at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.kinds.engine import Added

PLAN = "plan"
"""The column that has the place of a row's plan."""


@dataclass(frozen=True)
class Sums:
    """The columns of the sums of one plan."""

    place: int
    schema: pl.Schema
    keys: tuple[str, ...]
    same: tuple[str, ...]

    def named(self, column: str) -> str:
        """Return the name that a column has in the table of all plans, which share their keys."""
        return f"key {column}" if column in self.keys else f"{self.place} {column}"

    @property
    def dtypes(self) -> dict[str, pl.DataType]:
        """The dtypes of the columns in that table, by their names there: numbers in 64 bits."""
        return {self.named(name): self._wide(name) for name in self.schema}

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
            pl.col(name).cast(self._wide(name)).alias(self.named(name)) for name in self.schema
        ]
        return sums.select(pl.lit(self.place, pl.Int32).alias(PLAN), *columns)

    def received(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the sums of this plan, whose nulls an engine may have made of zeros."""
        mine = rows.filter(pl.col(PLAN) == self.place)
        kept = {*self.keys, *self.same}
        columns = [
            pl.col(self.named(name)).fill_null(0) if name not in kept else pl.col(self.named(name))
            for name in self.schema
        ]
        dtypes = zip(columns, self.schema.items(), strict=True)
        return mine.select(column.cast(dtype).alias(name) for column, (name, dtype) in dtypes)


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
    sums = [name for name in schema_of(plans) if name not in {*keys, *same}]
    return Added(tuple(keys), tuple(sums), tuple(same))
