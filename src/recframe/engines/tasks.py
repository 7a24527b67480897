"""The three phases of a call in buckets: dry run, partial sums, result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl
from polars.io.plugins import register_io_source

from recframe.errors import RecframeError
from recframe.frames.collecting import run_by_size, stream
from recframe.frames.kinds.engine import MOST, Added, Tables
from recframe.frames.kinds.kind import Applied, Kind, Named, Names, Seen, Sources, Taken, chosen
from recframe.frames.kinds.lookup import kind_for

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
        if name in {*self.keys, *self.same}:
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
        if self.schema[name] != pl.Int128 or name in {*self.keys, *self.same, *self.most}:
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


Given = Callable[[pl.DataFrame], Any]
"""Type of functions that give a collected result as a frame of the caller's kind."""


class Task(ABC):
    """Handler of a call's plans over one bucket of users."""

    divided = True
    """Whether plans stop at sums that other buckets add to."""
    looks = False
    """Whether rows are in memory and may be profiled."""
    warns = False
    """Whether warnings of the call are told: once, however often it is made."""
    searches = True
    """Whether the rows are read again for what the result makes odd, and told in warnings."""

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
    def gives(self, plan: pl.LazyFrame, columns: Sequence[str] | None, given: Given) -> Any:
        """Take the plan of a call's result, of which some columns are given, or all."""


@dataclass(frozen=True)
class Bucket:
    """Rows of some users, their frame's name, and the task's handler."""

    KIND: ClassVar[type[Kind]]
    rows: Any
    """A DataFrame; before and after all buckets a frame of any kind, whose rows no plan reads."""
    name: str
    task: Task


class BucketOfUsers(Kind):
    """A bucket of users."""

    def __init__(self, frame: Bucket) -> None:
        super().__init__(frame.rows)
        self.name, self.task, self.tables = frame.name, frame.task, frame.task.tables
        self.rows_of_users = kind_for(frame.rows)
        self.is_lazy = not self.task.looks
        self.size = self.rows_of_users.size
        self.adds = self.task.adds if self.task.divided else None
        self.index_names = self.rows_of_users.index_names

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.rows_of_users.columns

    @property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The dtypes that the columns have."""
        return self.rows_of_users.schema

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> Taken:
        """Return some columns."""
        rows = self.rows_of_users.take(named, ids, numbers)
        return self.task.taken(self.name, named.values(), rows)

    def labels(self) -> list[str]:
        """Return no names: system columns are detected over all users, not per bucket."""
        return []

    def source(self, name: str) -> Any:
        """Return what a result's column is made like."""
        return self.rows_of_users.source(name)

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Apply a function to a plan's result."""
        return self.task.applied(plan, to, schema)

    def give(
        self,
        plan: pl.LazyFrame,
        sources: Sources,
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> Any:
        """Leave a call's plan to the task."""

        def given(result: pl.DataFrame) -> Any:
            if seen is not None and self.is_shown and self.task.searches:
                seen(result, stream)
            return (self.results or self.rows_of_users).in_kind(chosen(result, columns), sources)

        return self.task.gives(plan, columns, given)


Bucket.KIND = BucketOfUsers


class Trial(Task):
    """Dry run of a call on empty frames: columns read, sums, result."""

    def __init__(self, *, divided: bool, is_here: bool) -> None:
        super().__init__(Tables())
        self.divided, self.warns, self.holds_users = divided, not is_here, is_here
        self.columns: dict[str, dict[str, None]] = {}
        self.plans: list[Sums] = []
        self.result = pl.Schema()

    def taken(self, name: str, columns: Names, rows: Taken) -> pl.LazyFrame:
        """Record the columns of a frame, and return them empty and lazy, so that no code treats them as data."""
        self.columns.setdefault(name, {}).update(dict.fromkeys(columns))
        return rows.lazy()

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Record the sums of a plan."""
        schema = sums.collect_schema()
        if "user" in keys and self.holds_users:
            same = [name for name in schema if name not in keys]
        elif "user" in keys:
            msg = (
                "the interval of a number of all lists needs all lists at once, but buckets hold only some users; "
                "evaluate() has the numbers without intervals"
            )
            raise RecframeError(msg)
        kept = tuple(name for name in same if name in schema)
        self.plans.append(Sums(len(self.plans), schema, tuple(keys), kept))
        return pl.LazyFrame(schema=schema)

    def gives(self, plan: pl.LazyFrame, columns: Sequence[str] | None, given: Given) -> None:
        """Record the result's schema."""
        del given
        self.result = chosen(plan, columns).collect_schema()


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

    def gives(self, plan: pl.LazyFrame, columns: Sequence[str] | None, given: Given) -> None:
        """Ignore the plan, since it lacks other buckets' sums."""

    def table(self) -> pl.DataFrame:
        """Return the sums of all plans, and a null row, since engines drop empty tables."""
        sums = [run_by_size(one, self.size) for one in self.found]
        rows = [plan.sent(one) for plan, one in zip(self.plans, sums, strict=True)]
        of_none = pl.DataFrame({PLAN: [None]}, schema={PLAN: pl.Int32})
        return pl.concat([*rows, of_none], how="diagonal").select(schema_of(self.plans).names())


class Whole(Task):
    """Run of a call over one bucket whose rows are final."""

    divided = False
    looks = True

    def __init__(self, result: pl.Schema, tables: Tables, size: int = 0) -> None:
        super().__init__(tables)
        self.result, self.size = result, size
        self._found = pl.DataFrame(schema=result)

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Apply a function to a plan's result."""
        del schema
        return to(run_by_size(plan, self.size)).lazy()

    def gives(self, plan: pl.LazyFrame, columns: Sequence[str] | None, given: Given) -> Any:
        """Keep the result."""
        del given
        self._found = run_by_size(chosen(plan, columns), self.size).cast(self.result)

    def table(self) -> pl.DataFrame:
        """Return the rows of the result."""
        return self._found


class Finishing(Whole):
    """Final run of a call, from all buckets' sums to its result."""

    divided = True
    looks = False

    def __init__(
        self, result: pl.Schema, tables: Tables, plans: Sequence[Sums], sums: pl.DataFrame
    ) -> None:
        super().__init__(result, tables, len(sums))
        self._sums = iter([plan.received(sums).lazy() for plan in plans])

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


class Answering(Finishing):
    """Final run of a call on frames of this process, in whose kind the result is given, after warnings of what it shows."""

    warns = True
    rows: pl.DataFrame | None = None
    """The rows of the result, where buckets have made them."""

    def gives(self, plan: pl.LazyFrame, columns: Sequence[str] | None, given: Given) -> Any:
        """Return the result."""
        del columns
        return given(self.rows if self.rows is not None else run_by_size(plan, self.size))

    def taken(self, _name: str, _columns: Names, rows: Taken) -> Taken:
        """Return the rows, which warnings of an odd result may read."""
        return rows.lazy()
