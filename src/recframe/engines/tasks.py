"""The three phases of a call: dry run, partial sums, result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import polars as pl
from polars.io.plugins import register_io_source

from recframe.errors import NeedsAllUsersError, RecframeError
from recframe.frames.collecting import Ask, run_by_size, stream
from recframe.frames.kinds.engine import MOST, Added, Tables
from recframe.frames.kinds.kind import (
    Applied,
    Kind,
    Named,
    Names,
    Rows,
    Seen,
    Sources,
    Taken,
    chosen,
)
from recframe.frames.kinds.lookup import kind_for

PLAN = "plan"
"""Column with the number of a row's plan."""
PIECE = 43
"""Bits per piece of a 128-bit integer, since no engine adds these directly."""


_NULL = pl.lit(None)


@dataclass(frozen=True)
class Sums:
    """Columns of the sums of one plan."""

    place: int
    schema: pl.Schema
    keys: tuple[str, ...]
    same: tuple[str, ...]
    round: int = 0
    """Number of rounds over the buckets before this one: its rows read the sums of these."""

    @property
    def mark(self) -> str:
        """Name by which a plan that reads these sums is known."""
        return f"recframe sums {self.place}."

    @property
    def none(self) -> pl.LazyFrame:
        """The sums of nobody, marked."""
        return pl.LazyFrame(schema=self.schema).with_columns(_NULL.alias(self.mark)).drop(self.mark)

    @property
    def most(self) -> list[str]:
        """The columns of which the largest is taken."""
        return [name for name in self.schema if name.startswith(MOST) and name not in self.keys]

    def named(self, column: str) -> str:
        """Return the name that a column has in the table of all plans, which share keys of one dtype."""
        is_shared = column in self.keys and not self.schema[column].is_nested()
        return f"key {column}" if is_shared else f"{self.place} {column}"

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
        return sums.select(self._columns_sent)

    @cached_property
    def _columns_sent(self) -> list[pl.Expr]:
        columns = [
            one.cast(self._wide(name)).alias(column)
            for name in self.schema
            for column, one in self._parts(name).items()
        ]
        return [pl.lit(self.place, pl.Int32).alias(PLAN), *columns]

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
    sees_all = False
    """Whether the rows are those of all users, as they were given, and the result is theirs."""
    searches = True
    """Whether the rows are read again for what the result makes odd, and told in warnings."""
    in_one_round = False
    """Whether each bucket is seen once, when it comes."""

    def __init__(self, tables: Tables | None) -> None:
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

    def shown(self, plan: pl.LazyFrame, columns: Sequence[str] | None) -> pl.LazyFrame:
        """Return the columns that a result shows, and of a bucket's rows all, since warnings read others too."""
        return chosen(plan, columns) if self.divided else plan

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
        self.is_lazy = not (self.task.looks or self.task.sees_all)
        self.in_one_round = self.task.in_one_round
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
        """Return the columns that may name systems, which are looked for over all users, and in no bucket."""
        return self.rows_of_users.labels() if self.task.sees_all else []

    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers."""
        return self.rows_of_users.numbers()

    @property
    def asks(self) -> Ask | None:
        """The function that collects precomputed plans of a large bucket."""
        return super().asks if self.task.looks else None

    def source(self, name: str) -> Any:
        """Return what a result's column is made like."""
        return self.rows_of_users.source(name)

    def in_rows(self, result: Any) -> Rows | None:
        """Return the rows of a result, where it is there."""
        return None if result is None else kind_for(result).in_rows(result)

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
            given = self.rows_of_users
            kind = self.results or given.results or given
            return kind.in_kind(chosen(result, columns), sources)

        return self.task.gives(plan, columns, given)


Bucket.KIND = BucketOfUsers


WHOLE = {"items"}
"""Frames that every bucket has in full."""
ROWS = "PYTHON SCAN"
"""Step of a plan that reads rows of users, where these are not to be had."""


def without_rows(rows: Taken) -> pl.LazyFrame:
    """Return columns whose rows no plan may read."""

    def gone(*_: Any) -> Iterator[pl.DataFrame]:
        msg = "a plan reads rows of users after its sums; this is a bug in recframe"
        raise RecframeError(msg)

    return register_io_source(io_source=gone, schema=rows.collect_schema())


class Trial(Task):
    """Dry run of a call on empty frames: columns read, sums, result."""

    def __init__(self, *, divided: bool, is_here: bool) -> None:
        super().__init__(Tables())
        self.divided, self.warns, self.holds_users = divided, not is_here, is_here
        self.columns: dict[str, dict[str, None]] = {}
        self.plans: list[Sums] = []
        self.result = pl.Schema()

    def taken(self, name: str, columns: Names, rows: Taken) -> pl.LazyFrame:
        """Record the columns of a frame, and return them lazy, so that no code treats them as data."""
        self.columns.setdefault(name, {}).update(dict.fromkeys(columns))
        return rows.lazy() if name in WHOLE else without_rows(rows)

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Record the sums of a plan."""
        schema = sums.collect_schema()
        if "user" in keys and self.holds_users:
            same = [name for name in schema if name not in keys]
        elif "user" in keys:
            msg = (
                "the interval of a number of all lists needs all lists at once, but buckets hold only some users; "
                "evaluate() has its values, without intervals"
            )
            raise RecframeError(msg)
        kept = tuple(name for name in same if name in schema)
        new = Sums(len(self.plans), schema, tuple(keys), kept, self._round_of(sums))
        self.plans.append(new)
        return new.none

    def _round_of(self, sums: pl.LazyFrame) -> int:
        """Return the round of a plan: one after those whose sums of all buckets it reads, such as a list's items' sums."""
        steps = sums.explain(optimized=False) if self.plans else ""
        return max((plan.round + 1 for plan in self.plans if plan.mark in steps), default=0)

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's result, without rows."""
        self._check(plan)
        return super().applied(plan, to, schema)

    def gives(self, plan: pl.LazyFrame, columns: Sequence[str] | None, given: Given) -> None:
        """Record the result's schema."""
        del given
        self._check(plan)
        self.result = self.shown(plan, columns).collect_schema()

    def _check(self, plan: pl.LazyFrame) -> None:
        """Reject a result that is not made of sums alone."""
        if self.divided and ROWS in plan.explain():
            msg = (
                "this call reads rows of all users at once, but buckets hold only some users; ask it of frames in memory, "
                "without memory="
            )
            raise NeedsAllUsersError(msg)


class Summing(Task):
    """Run of a call over one bucket, up to mergeable sums of one round."""

    looks = True

    def __init__(
        self,
        plans: Sequence[Sums],
        tables: Tables | None,
        size: int,
        known: Sequence[pl.DataFrame] = (),
    ) -> None:
        super().__init__(tables)
        self.plans, self.size, self.known = plans, size, known
        self._next = iter(plans)
        self.found: list[tuple[Sums, pl.LazyFrame]] = []

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Keep the sums of a plan of this round; return those of an earlier one, of all buckets."""
        del keys, same
        plan = next(self._next)
        if plan.round < len(self.known):
            return plan.received(self.known[plan.round]).lazy()
        if plan.round == len(self.known):
            self.found.append((plan, sums))
        return plan.none

    def gives(self, plan: pl.LazyFrame, columns: Sequence[str] | None, given: Given) -> None:
        """Ignore the plan, since it lacks other buckets' sums."""

    def table(self) -> pl.DataFrame:
        """Return the sums of all plans of the round, and a null row, since engines drop empty tables."""
        rows = [plan.sent(run_by_size(one, self.size)) for plan, one in self.found]
        if self.in_one_round:
            return pl.concat(rows, how="diagonal")
        of_none = pl.DataFrame(schema=schema_of(self.plans)).clear(1)
        return pl.concat([*rows, of_none], how="diagonal").select(of_none.columns)


class Whole(Task):
    """Run of a call over one bucket whose rows are final."""

    divided = False
    looks = True

    def __init__(self, result: pl.Schema, tables: Tables | None, size: int = 0) -> None:
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
        rows = run_by_size(self.shown(plan, columns), self.size)
        # column by column, since names such as "^.*$" are patterns to Polars
        self._found = pl.DataFrame([one.cast(self.result[one.name]) for one in rows])

    def table(self) -> pl.DataFrame:
        """Return the rows of the result."""
        return self._found


class Finishing(Whole):
    """Final run of a call, from all buckets' sums to its result."""

    divided = True
    looks = False

    def __init__(
        self,
        result: pl.Schema,
        tables: Tables | None,
        plans: Sequence[Sums],
        sums: Sequence[pl.DataFrame],
    ) -> None:
        super().__init__(result, tables, sum(map(len, sums)))
        self._sums = iter([plan.received(sums[plan.round]).lazy() for plan in plans])

    def taken(self, _name: str, _columns: Names, rows: Taken) -> Taken:
        """Return placeholder columns, whose rows are no longer available."""
        return without_rows(rows)

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Return the sums of the next plan."""
        del sums, keys, same
        return next(self._sums)
