"""The three phases of an engine call: dry run, partial sums, result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # a table is given, so it is loaded
from polars.io.plugins import register_io_source

from recframe.errors import RecframeError
from recframe.frames.collecting import run_by_size
from recframe.frames.kinds.engine import MOST, Added, Tables
from recframe.frames.kinds.kind import Applied, Kind, Named, Names, Seen, Sources, Taken, chosen
from recframe.frames.kinds.pyarrow_frames import Arrow, table_of

PLAN = "plan"
"""Column with the number of a row's plan."""
PIECE = 43
"""Bits per piece of a 128-bit integer, since no engine adds these directly."""


@dataclass(frozen=True)
class Sums:
    """Columns of the sums of one plan."""

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
            for column, one in self._parts(name).items()
        ]
        return sums.select(pl.lit(self.place, pl.Int32).alias(PLAN), *columns)

    def received(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the sums of this plan, with nulls restored that an engine made zeros."""
        mine = rows.filter(pl.col(PLAN) == self.place)
        dtypes = self.schema.items()
        return mine.select(self._whole(name).cast(dtype).alias(name) for name, dtype in dtypes)

    def _parts(self, name: str) -> dict[str, pl.Expr]:
        """Return the columns that a column travels in: a number of 128 bits in pieces, the lowest bits first.

        Each piece has room for the sums of a million buckets.
        """
        named, rest = self.named(name), pl.col(name)
        if self.schema[name] != pl.Int128:
            return {named: rest}
        low = rest % 2**PIECE
        rest = (rest - low) // 2**PIECE
        middle = rest % 2**PIECE
        return {f"{named} 0": low, f"{named} 1": middle, f"{named} 2": (rest - middle) // 2**PIECE}

    def _whole(self, name: str) -> pl.Expr:
        """Return a column, of sums put together of its pieces."""
        if name in {*self.keys, *self.same, *self.most}:
            return pl.col(self.named(name))
        whole, *others = (pl.col(part).fill_null(0) for part in reversed(self._parts(name)))
        for other in others:
            whole = whole.cast(pl.Int128) * 2**PIECE + other
        return whole


def schema_of(plans: Sequence[Sums]) -> pl.Schema:
    """Return the schema of the table of all plans."""
    of_none = [plan.sent(pl.DataFrame(schema=plan.schema)) for plan in plans]
    return pl.concat(of_none, how="diagonal").schema


def added_of(plans: Sequence[Sums]) -> Added:
    """Return the aggregation of the table of all plans."""
    keys = dict.fromkeys([PLAN, *(plan.named(key) for plan in plans for key in plan.keys)])
    same = [plan.named(name) for plan in plans for name in plan.same]
    most = [plan.named(name) for plan in plans for name in plan.most]
    sums = [name for name in schema_of(plans) if name not in {*keys, *same, *most}]
    return Added(tuple(keys), tuple(sums), tuple(same), tuple(most))


class Task(ABC):
    """Handler of a call's plans over one bucket of users."""

    divided = True
    """Whether plans stop at sums that other buckets add to."""
    looks = False
    """Whether rows are in memory and may be profiled."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def taken(self, _name: str, _columns: Names, rows: Taken) -> Taken:
        """Return columns of a frame in the form that plans begin with."""
        return rows

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Return the sums of all buckets."""
        raise NotImplementedError

    def applied(self, _plan: pl.LazyFrame, _to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's small result, without rows where those are not to be had."""
        return pl.LazyFrame(schema=schema)

    @abstractmethod
    def gives(self, plan: pl.LazyFrame) -> None:
        """Take the plan of a call's result."""


@dataclass(frozen=True)
class Bucket:
    """Rows of some users, their frame's name, and the task's handler."""

    KIND: ClassVar[type[Kind]]
    rows: pa.Table
    name: str
    task: Task


class BucketOfUsers(Arrow):
    """A bucket of users."""

    def __init__(self, frame: Bucket) -> None:
        super().__init__(frame.rows)
        self.name, self.task, self.tables = frame.name, frame.task, frame.task.tables
        self.is_lazy = not self.task.looks
        self.adds = self.task.adds if self.task.divided else None

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> Taken:
        """Return some columns."""
        return self.task.taken(self.name, named.values(), super().take(named, ids, numbers))

    def labels(self) -> list[str]:
        """Return no names: system columns are detected over all users, not per bucket."""
        return []

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Apply a function to a plan's result."""
        return self.task.applied(plan, to, schema)

    def give(
        self,
        plan: pl.LazyFrame,
        sources: Sources,
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        """Leave a call's plan to the task."""
        del sources, seen
        self.task.gives(chosen(plan, columns))


Bucket.KIND = BucketOfUsers


class Trial(Task):
    """Dry run of a call on empty frames: columns read, sums, result."""

    def __init__(self, *, divided: bool) -> None:
        super().__init__(Tables())
        self.divided = divided
        self.columns: dict[str, dict[str, None]] = {}
        self.plans: list[Sums] = []
        self.result = pl.Schema()

    def taken(self, name: str, columns: Names, rows: Taken) -> pl.LazyFrame:
        """Record the columns of a frame, and return them empty and lazy, so that no code treats them as data."""
        self.columns.setdefault(name, {}).update(dict.fromkeys(columns))
        return rows.lazy()

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Record the sums of a plan."""
        if "user" in keys:
            msg = (
                "the interval of a number of all lists needs all lists at once, but buckets hold only some users; "
                "evaluate() has the numbers without intervals"
            )
            raise RecframeError(msg)
        schema = sums.collect_schema()
        kept = tuple(name for name in same if name in schema)
        self.plans.append(Sums(len(self.plans), schema, tuple(keys), kept))
        return pl.LazyFrame(schema=schema)

    def gives(self, plan: pl.LazyFrame) -> None:
        """Record the result's schema."""
        self.result = plan.collect_schema()


class Summing(Task):
    """Run of a call over one bucket, up to mergeable sums."""

    looks = True

    def __init__(self, plans: Sequence[Sums], tables: Tables, size: int) -> None:
        super().__init__(tables)
        self.plans, self.size = plans, size
        self.found: list[pl.LazyFrame] = []

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Keep the sums of a plan."""
        del keys, same
        self.found.append(sums)
        return pl.LazyFrame(schema=sums.collect_schema())

    def gives(self, plan: pl.LazyFrame) -> None:
        """Ignore the plan, since it lacks other buckets' sums."""

    def table(self) -> pa.Table:
        """Return the sums of all plans, and a null row, since engines drop empty tables."""
        sums = [run_by_size(one, self.size) for one in self.found]
        rows = [plan.sent(one) for plan, one in zip(self.plans, sums, strict=True)]
        of_none = pl.DataFrame({PLAN: [None]}, schema={PLAN: pl.Int32})
        return table_of(pl.concat([*rows, of_none], how="diagonal"), schema_of(self.plans))


class Whole(Task):
    """Run of a call over one bucket whose rows are final."""

    divided = False
    looks = True

    def __init__(self, result: pl.Schema, tables: Tables, size: int = 0) -> None:
        super().__init__(tables)
        self.result, self.size = result, size
        self._found: pa.Table = None

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Apply a function to a plan's result."""
        del schema
        return to(run_by_size(plan, self.size)).lazy()

    def gives(self, plan: pl.LazyFrame) -> None:
        """Keep the result."""
        self._found = table_of(run_by_size(plan, self.size).cast(self.result), self.result)

    def table(self) -> pa.Table:
        """Return the rows of the result."""
        return self._found


class Finishing(Whole):
    """Final run of a call, from all buckets' sums to its result."""

    divided = True
    looks = False

    def __init__(
        self, result: pl.Schema, tables: Tables, plans: Sequence[Sums], sums: pa.Table
    ) -> None:
        super().__init__(result, tables)
        rows = pl.DataFrame(sums)
        self._sums = iter([plan.received(rows).lazy() for plan in plans])

    def taken(self, _name: str, _columns: Names, rows: Taken) -> Taken:
        """Return placeholder columns, whose rows are no longer available."""

        def gone(*_: Any) -> Iterator[pl.DataFrame]:
            msg = "a plan reads rows of users after its sums; this is a bug in recframe"
            raise RecframeError(msg)

        return register_io_source(io_source=gone, schema=rows.collect_schema())

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Return the sums of the next plan."""
        del sums, keys, same
        return next(self._sums)
