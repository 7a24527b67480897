"""Interface to engines and to the sums of all users.

A call is one lazy plan with holes (`evaluation/plan.py`), cut where sums of users add up. Its schemas tell which columns are
read and what sums there are. A worker builds the same plan from the call and the schemas, fills in the rows of a bucket, and
gives the bucket's sums as bytes; the engine adds them up in a tree, and the driver makes the result of them. A bucket never
cuts a user in two.

An engine knows no metric, so a further engine is one file in `engines`, with a `Kind` whose `engine` has these methods:

    schema    the dtypes that a frame's columns have in a bucket
    read      some columns of a small frame (items)
    stacked   the frames of several models as one
    sums      rows routed to buckets by a hash of their user, and the sums of all buckets
    rows      the same for a result that has rows of users, which stay with the engine
    give      a small result as a frame of the engine

What runs on a worker can be pickled, and needs recframe and Polars there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import polars as pl

Adds = Callable[[pl.LazyFrame, Sequence[str], Sequence[str]], pl.LazyFrame]
"""Type of functions that add up sums over some users, given keys and constant columns."""
NamedRows = Mapping[str, pl.DataFrame]
"""Rows of some users, by the names of their frames."""


class AllUsers(Protocol):
    """Sums of all users, for a plan that has rows of some."""

    def adds(
        self, rows: pl.LazyFrame, keys: Sequence[str], same: Collection[str] = ()
    ) -> pl.LazyFrame:
        """Return the sums of all users, of sums over some by the keys; columns in `same` are the same in each."""

    def of_all(
        self, name: Hashable, rows: Callable[[], pl.LazyFrame], keys: Sequence[str]
    ) -> pl.LazyFrame:
        """Return sums of all users that several parts of the plan read under one name."""


@dataclass(frozen=True)
class Added:
    """Way in which sums over some users add up."""

    keys: tuple[str, ...]
    same: tuple[str, ...]
    """Columns that are constant or null within a key."""

    def up(self, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """Return the sums of several parts of all users; a user's own are in one part."""
        rows = pl.concat(parts)
        if "user" in self.keys:
            return rows
        columns = [self._added(name) for name in rows.columns if name not in self.keys]
        if not self.keys:
            return rows.select(columns)
        return rows.group_by(self.keys).agg(columns).select(rows.columns)

    def _added(self, name: str) -> pl.Expr:
        column = pl.col(name)
        return column.drop_nulls().first() if name in self.same else column.sum()


@dataclass(frozen=True)
class Routed:
    """Frame whose rows go to the buckets of their users."""

    frame: Any
    """The engine's frame, or a LazyFrame of this process."""
    schema: pl.Schema
    """The columns that are read, in dtypes that the engine has."""
    user: str
    """Column of users."""
    present: tuple[str, ...] = ()
    """Columns in which a null makes a row ignored, so that it is not sent."""
    most: tuple[str, float] | None = None
    """Rank column, and the largest rank that is read."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are read."""
        return self.schema.names()


Routes = Mapping[str, Routed]
"""Type of frames by the names of their sides."""


Summing = Callable[[NamedRows], list[pl.DataFrame]]
"""Type of functions of a bucket's rows that return its sums, one frame for each way to add up, or its rows of the result."""


class Engine(ABC):
    """Engine that runs a call bucket by bucket on many machines."""

    name = ""
    """Name in messages."""

    @abstractmethod
    def schema(self, frame: Any) -> pl.Schema:
        """Return the dtypes that a frame's columns have in a bucket, of those that Polars can read."""

    @abstractmethod
    def sent(self, schema: pl.Schema) -> pl.Schema:
        """Return the dtypes that columns of a local frame have in a bucket."""

    @abstractmethod
    def read(self, frame: Any, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns of a small frame."""

    @abstractmethod
    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames of one kind below each other, with a column that has their names."""

    @abstractmethod
    def sums(
        self, frame: Any, routed: Routes, summing: Summing, added: Sequence[Added]
    ) -> list[list[pl.DataFrame]]:
        """Return the sums of all buckets, of which a few parts may be left."""

    @abstractmethod
    def rows(self, frame: Any, routed: Routes, made: Summing, schema: pl.Schema) -> Any:
        """Return the rows that are made of each bucket, one frame each, as a frame of the engine; nothing needs to run yet."""

    @abstractmethod
    def give(self, frame: Any, result: pl.DataFrame) -> Any:
        """Return a small result as a frame of the same kind as another."""


Rows = TypeVar("Rows", pl.LazyFrame, pl.DataFrame)


def columns_of(frame: pl.LazyFrame, names: Iterable[str]) -> pl.LazyFrame:
    """Return columns of a frame of this process by their places, since names such as "^.*$" are patterns to Polars."""
    there = frame.collect_schema().names()
    return frame.select(pl.nth([there.index(name) for name in names]))


def has(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return whether a row has a value, which NaN is none."""
    if not dtype.is_float():
        return column.is_not_null()
    return column.is_not_nan().fill_null(value=False)


def rows_with(rows: Rows, present: Sequence[str], most: tuple[str, float] | None = None) -> Rows:
    """Return the rows with a value in all of `present`, and a rank that is read.

    NOTE: columns by their places, since names such as "^.*$" are patterns to Polars.
    """
    schema = rows.collect_schema()
    names = schema.names()
    kept = [has(pl.nth(names.index(name)), schema[name]) for name in present]
    if most is not None:
        rank, highest = most
        column = pl.nth(names.index(rank))
        kept += [has(column, schema[rank]), column <= highest]
    return rows.filter(kept) if kept else rows
