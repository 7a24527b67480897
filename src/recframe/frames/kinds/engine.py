"""Interface to engines that run a call in buckets of users.

An engine is the processes of a cluster, or the threads of this one.

A call is made three times, by the same methods and plans as on a frame in memory (`api/engine_plan.py`):

1. Over frames without rows (`engines/tasks.py`, `Trial`). That checks the call against the schemas, and tells which columns
   are read, what sums the plans have, by which keys, and the result's schema.
2. In each bucket of users, over all rows of these users (`Summing`): up to the sums that add up. A bucket never cuts a user
   in two; about a million rows are one.
3. Once, on the few rows of sums that the engine has added up (`Finishing`): from the sums to means, intervals and verdicts.

A call by user has no third step on a cluster: a bucket's rows are rows of the result (`Whole`).

`Work` says all of this to an engine, which knows no metric. So a further engine is one file in `engines`, with a `Kind`
whose `engine` has these methods:

    schema              the dtypes that a frame's columns have in a bucket
    read                some columns of a small frame (items)
    distinct, counted   small frames of all users: models, items of the catalogue, popularities
    stacked             the frames of several models as one
    run                 routes rows to buckets by a hash of their user, in one shuffle for each frame; has `work.bucket` make
                        a frame of each bucket's frames; adds sums up (`work.added`); has `work.finish` make the result

The functions of a work can be pickled, and need recframe and Polars where they run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import polars as pl

from recframe.frames.collecting import stream_all

Adds = Callable[[pl.LazyFrame, Sequence[str], Sequence[str]], pl.LazyFrame]
"""Type of functions that add up a bucket's sums, given keys and constant columns."""
Frames = Mapping[str, pl.DataFrame]
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
class Routed:
    """Frame whose rows are shuffled to the buckets of their users."""

    frame: Any
    """The engine's frame, or a LazyFrame of this process."""
    schema: pl.Schema
    """The columns that are read, in dtypes that the engine has."""
    user: str
    """Column of users."""
    present: tuple[str, ...] = ()
    """Columns in which a null makes a row ignored, so that it is not shuffled."""
    most: tuple[str, float] | None = None
    """Rank column, and the largest rank that is read."""
    in_memory: bool = False
    """Whether it is in the memory of this process."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are read."""
        return self.schema.names()


MOST = "largest of"
"""Prefix of columns aggregated by maximum instead of sum."""


@dataclass(frozen=True)
class Added:
    """Aggregation of sums: rows of all buckets grouped by keys."""

    keys: tuple[str, ...]
    sums: tuple[str, ...]
    same: tuple[str, ...]
    """Columns that are constant or null within a key."""
    most: tuple[str, ...] = ()
    """Columns aggregated by maximum."""

    def up(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return sums added up by their keys, in the columns of the rows."""
        sums = [pl.col(name).sum() for name in self.sums]
        same = [pl.col(name).drop_nulls().first() for name in self.same]
        most = [pl.col(name).max() for name in self.most]
        if not self.keys:
            return rows.select(*sums, *same, *most).select(rows.columns)
        return rows.group_by(self.keys).agg(*sums, *same, *most).select(rows.columns)


@dataclass(frozen=True)
class Work:
    """Work of an engine for one call."""

    routed: Mapping[str, Routed]
    """Shuffled frames by name."""
    bucket: Callable[[Frames], pl.DataFrame]
    """Function of a bucket's frames, which may be empty."""
    of_bucket: pl.Schema
    """The schema of `bucket`'s result."""
    added: Added | None
    """Aggregation over all buckets; None where the buckets' rows are the result."""
    finish: Callable[..., Any]
    """Function from the aggregated sums to the result; with `fits=False` it reads no rows for warnings."""
    result: pl.Schema
    """The schema of the result."""


class Engine(ABC):
    """Engine that runs a call bucket by bucket, on many machines or on this one."""

    name = ""
    """Name in messages."""
    is_here = False
    """Whether buckets are run by this process, on its own frames."""

    @abstractmethod
    def schema(self, frame: Any) -> pl.Schema:
        """Return the dtypes that a frame's columns have in a bucket, of those that Polars can read."""

    def sent(self, schema: pl.Schema) -> pl.Schema:
        """Return the dtypes that columns of a local frame have in a bucket."""
        return schema

    @abstractmethod
    def read(self, frame: Any, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns of a small frame."""

    @abstractmethod
    def distinct(
        self, frame: Any, columns: Sequence[str], present: Sequence[str], any_of: Sequence[str]
    ) -> pl.DataFrame:
        """Return columns' values, of rows with a value in all of `present`, and a finite one in any of `any_of`."""

    @abstractmethod
    def counted(self, frame: Any, user: str, item: str) -> tuple[pl.DataFrame, int]:
        """Return each item with its number of users, as `item` and `value`, and the number of users of all items."""

    @abstractmethod
    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames of one kind below each other, with a column that has their names."""

    @abstractmethod
    def run(self, frame: Any, work: Work) -> Any:
        """Return the result of a call on a frame, as a frame of its kind; nothing needs to run yet."""


MODELS, TRAININGS, FOLDS = "models", "trainings", "folds with truth"
POPULARITY, TRAIN_USERS, CATALOGUE = "popularity", "train users", "catalogue"
Table = tuple[str, int | None]
"""A table's name, and the fold whose rows it is made of; None of all rows."""


class Tables:
    """Global tables by name; a dry run records the requested names."""

    def __init__(
        self, found: Mapping[Table, pl.DataFrame] | None = None, fold: int | None = None
    ) -> None:
        self.found, self.fold = found, fold
        self.asked: set[Table] = set()

    def of_fold(self, number: int) -> Tables:
        """Return the tables of one fold."""
        tables = Tables(self.found, number)
        tables.asked = self.asked
        return tables

    def get(self, name: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """Return a table in some dtypes; models are those of all folds."""
        table = (name, None if name in {MODELS, TRAININGS} else self.fold)
        self.asked.add(table)
        if self.found is None:
            return pl.LazyFrame(schema=dict(schema))
        return self.found[table].lazy().select(pl.col(one).cast(schema[one]) for one in schema)


Rows = TypeVar("Rows", pl.LazyFrame, pl.DataFrame)


def has(column: pl.Expr, dtype: pl.DataType, *, finite: bool = False) -> pl.Expr:
    """Return whether a row has a value, which NaN is none, and if it is to be finite an infinite one neither."""
    if not dtype.is_float():
        return column.is_not_null()
    return (column.is_finite() if finite else column.is_not_nan()).fill_null(value=False)


def rows_with(
    rows: Rows,
    present: Sequence[str],
    any_of: Sequence[str] = (),
    most: tuple[str, float] | None = None,
) -> Rows:
    """Return the rows with a value in all of `present`, a finite one in any of `any_of`, and a rank that is read."""
    schema = rows.collect_schema()
    names = schema.names()

    def column(
        name: str,
    ) -> pl.Expr:  # by position, since names such as "^.*$" are patterns to Polars
        return pl.nth(names.index(name))

    kept = [has(column(name), schema[name]) for name in present]
    if any_of:
        kept.append(
            pl.any_horizontal([has(column(name), schema[name], finite=True) for name in any_of])
        )
    if most is not None:
        rank, highest = most
        kept += [has(column(rank), schema[rank]), column(rank) <= highest]
    return rows.filter(kept) if kept else rows


def counted(pairs: pl.LazyFrame) -> tuple[pl.DataFrame, int]:
    """Return each item of pairs of `user` and `item` with its number of users, as `value`, and the number of all users."""
    pairs = pairs.drop_nulls().unique()
    counts = pairs.group_by("item").agg(value=pl.len().cast(pl.Int64))
    items, users = stream_all([counts, pairs.select(pl.col("user").n_unique())])
    return items, int(users.item())
