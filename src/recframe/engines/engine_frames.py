"""Frames of an engine as a kind, with queries of expressions."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from typing import Any, NoReturn

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with every engine

from recframe.errors import RecframeError
from recframe.frames.collecting import stream
from recframe.frames.kinds.engine import Added, Engine, Routed, Work
from recframe.frames.kinds.kind import Kind, Named, Names
from recframe.frames.kinds.pyarrow_frames import Arrow, in_plain_types, table_of, without_rows


class OfTables(Engine):
    """An engine whose rows travel as Arrow tables, in types that every engine has."""

    @abstractmethod
    def none(self, frame: Any) -> pa.Table:
        """Return a table without rows, whose schema is a frame's."""

    def schema(self, frame: Any) -> pl.Schema:
        """Return the dtypes that a frame's columns have in a bucket."""
        return Arrow(in_plain_types(self.none(frame))).schema

    def sent(self, schema: pl.Schema) -> pl.Schema:
        """Return the dtypes that columns of a local frame have in a bucket."""
        return pl.DataFrame(without_rows(schema)).schema


def in_tables(work: Work) -> Any:
    """Return a work whose functions return tables, and whose schemas are tables without rows."""
    of_bucket, result = without_rows(work.of_bucket), without_rows(work.result)
    return replace(
        work,
        bucket=partial(_as_table, work.bucket, of_bucket),
        of_bucket=of_bucket,
        finish=partial(_as_table, work.finish, result),
        result=result,
    )


def _as_table(made: Callable[[Any], pl.DataFrame], none: pa.Table, rows: Any) -> pa.Table:
    given = pl.DataFrame(rows) if isinstance(rows, pa.Table) else rows
    return table_of(made(given)).cast(none.schema)


def local_rows(one: Routed) -> pl.DataFrame:
    """Return the columns that are read of a frame of this process: by position, since names may be patterns to Polars."""
    names = one.frame.collect_schema().names()
    return stream(one.frame.select(pl.nth(names.index(name)) for name in one.columns))


class EngineFrame(Kind):
    """A frame of an engine."""

    engine: Engine
    is_lazy = True
    from_polars = ""
    """Python code in messages that converts the lists to a frame of this engine."""
    to_local = ""
    """Python code in messages that converts a side frame to a local one."""

    @property
    def schema(self) -> pl.Schema:
        """The dtypes that the columns have in Polars."""
        return self.engine.schema(self.frame)

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> NoReturn:
        """Say that the lists have to be the engine's, too."""
        del named, ids, numbers
        name = self.engine.name
        msg = (
            f"a side frame is a frame of {name}, but the lists are not: give the lists to {name}, {self.from_polars}, or "
            f"collect the side frame, {self.to_local}"
        )
        raise RecframeError(msg)


class OfExpressions(OfTables):
    """An engine whose frames are asked by expressions: what it calls its verbs, and what is made of them."""

    column: Callable[[str], Any]
    literal: Callable[[object], Any]
    is_there: Callable[[Any], Any]
    """Whether an expression has a value."""
    adding: tuple[Callable[[Any], Any], ...]
    """The aggregates of `Added`: of its sums, of what is the same in each row, and of what the largest is taken."""
    count: Callable[[Any], Any]

    @abstractmethod
    def is_float(self, frame: Any, name: str) -> bool:
        """Whether a column has floats."""

    @abstractmethod
    def n_rows(self, frame: Any) -> int:
        """Count the rows."""

    @abstractmethod
    def made_of(self, table: pa.Table, beside: Any) -> Any:
        """Return a table as a frame of the engine's, as another one is."""

    def has(self, frame: Any, name: str, *, finite: bool = False) -> Any:
        """Return whether a row has a value, which NaN is none, and if it is to be finite an infinite one neither."""
        column, bound = self.column(name), self.literal(math.inf)
        if not self.is_float(frame, name):
            return self.is_there(column)
        return (column < bound) & (column > self.literal(-math.inf)) if finite else column <= bound

    def present(self, frame: Any, names: Sequence[str]) -> Any:
        """Return the rows that have a value in all of some columns."""
        return reduce(lambda rows, name: rows.filter(self.has(rows, name)), names, frame)

    @abstractmethod
    def table(self, frame: Any) -> pa.Table:
        """Return the rows of a small frame."""

    def read(self, frame: Any, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns of a small frame."""
        return pl.DataFrame(in_plain_types(self.table(frame.select(*map(self.column, columns)))))

    def distinct(
        self, frame: Any, columns: Sequence[str], present: Sequence[str], any_of: Sequence[str]
    ) -> pl.DataFrame:
        """Return the values of columns, of rows that have others."""
        rows = self.present(frame, present)
        if any_of:
            rows = rows.filter(reduce(or_, (self.has(rows, name, finite=True) for name in any_of)))
        return self.read(rows.select(*map(self.column, columns)).distinct(), columns)

    def counted(self, frame: Any, user: str, item: str) -> tuple[pl.DataFrame, int]:
        """Return each item with its number of users, and the number of all users."""
        columns = self.column(user).alias("user"), self.column(item).alias("item")
        pairs = self.present(frame, [user, item]).select(*columns).distinct()
        n_users = self.count(self.column("user")).alias("value")
        items = self.read(pairs.groupby("item").agg(n_users), ["item", "value"])
        return items, self.n_rows(pairs.select("user").distinct())

    def cut(self, one: Routed, beside: Any) -> Any:
        """Return the rows and columns of a frame that are read."""
        frame = one.frame
        if isinstance(frame, pl.LazyFrame):
            frame = self.made_of(table_of(local_rows(one)), beside)
        rows = self.present(frame, one.present)
        if one.most is not None:
            rank, most = one.most
            rows = rows.filter(self.has(rows, rank) & (self.column(rank) <= self.literal(most)))
        return rows.select(*map(self.column, one.columns))

    def added(self, rows: Any, how: Added) -> Any:
        """Return sums added up by their keys."""
        named = zip(self.adding, (how.sums, how.same, how.most), strict=True)
        columns = [made(self.column(name)).alias(name) for made, names in named for name in names]
        return rows.groupby(*map(self.column, how.keys)).agg(*columns)
