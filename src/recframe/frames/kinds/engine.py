"""Interface to distributed engines: required methods and the work they receive.

A call on such a frame is made three times, by the same methods and plans as on one machine (`api/engine_plan.py`):

1. On the driver, over frames without rows (`engines/tasks.py`, `Trial`). That checks the call against the schemas, and tells
   which columns are read, what sums the plans have, by which keys, and the result's schema.
2. In each bucket of users, over Arrow tables of all rows of these users (`Summing`): up to the sums that add up. A bucket is
   never a user, and never cuts one in two; about a million rows are one.
3. Once, on the few rows of sums that the engine has added up (`Finishing`): from the sums to means, intervals and verdicts.

A call by user has no third step: a bucket's rows are rows of the result (`Whole`).

`Work` says all of this to an engine, which knows no metric. So a further engine is one file in `engines`, with a `Kind`
whose `engine` has these methods:

    none                a table without rows, whose schema is a frame's
    read                some columns of a small frame (items), as a table
    distinct, counted   small tables of all users: models, items of the catalogue, popularities
    stacked             the frames of several models as one
    run                 routes rows to buckets by a hash of their user, in one shuffle for each frame; has `work.bucket` make
                        a table of each bucket's tables; adds sums up (`work.added`); has `work.finish` make the result

The functions of a work can be pickled, and need recframe and Polars where they run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

Adds = Callable[[pl.LazyFrame, Sequence[str], Sequence[str]], pl.LazyFrame]
"""Type of functions that add up a bucket's sums, given keys and constant columns."""
Table = Any
"""A pyarrow.Table, whose library is imported where an engine's frame comes in."""


@dataclass(frozen=True)
class Routed:
    """Frame whose rows are shuffled to the buckets of their users."""

    frame: Any
    """The engine's frame, or a table to convert."""
    none: Table
    """Empty table of the columns that are read, in types that every engine has."""
    user: str
    """Column of users."""
    present: tuple[str, ...] = ()
    """Columns in which a null makes a row ignored, so that it is not shuffled."""
    most: tuple[str, float] | None = None
    """Rank column, and the largest rank that is read."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are read."""
        return list(self.none.column_names)


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


@dataclass(frozen=True)
class Work:
    """Work of an engine for one call."""

    routed: Mapping[str, Routed]
    """Shuffled frames by name."""
    bucket: Callable[[Mapping[str, Table]], Table]
    """Function of a bucket's tables, possibly empty, by frame name."""
    of_bucket: Table
    """Empty table with the schema of `bucket`'s result."""
    added: Added | None
    """Aggregation over all buckets; None where the buckets' rows are the result."""
    finish: Callable[[Table], Table]
    """Function from the aggregated table to the result."""
    result: Table
    """Empty table with the schema of the result."""


class Engine(ABC):
    """Distributed engine that holds frames on many machines."""

    name = ""
    """Name in messages."""

    @abstractmethod
    def none(self, frame: Any) -> Table:
        """Return a table without rows, whose schema is a frame's."""

    @abstractmethod
    def read(self, frame: Any, columns: Sequence[str]) -> Table:
        """Return some columns of a small frame as a table."""

    @abstractmethod
    def distinct(
        self, frame: Any, column: str, present: Sequence[str], any_of: Sequence[str]
    ) -> Table:
        """Return a column's values, of rows with a value in all of `present`, and a finite one in any of `any_of`."""

    @abstractmethod
    def counted(self, frame: Any, user: str, item: str) -> tuple[Table, int]:
        """Return each item with its number of users, as `item` and `value`, and the number of users of all items."""

    @abstractmethod
    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames of one kind below each other, with a column that has their names."""

    @abstractmethod
    def run(self, frame: Any, work: Work) -> Any:
        """Return the result of a call on a frame, as a frame of its kind; nothing needs to run yet."""


MODELS, POPULARITY, TRAIN_USERS, CATALOGUE = "models", "popularity", "train users", "catalogue"


class Tables:
    """Global tables by name; a dry run records the requested names."""

    def __init__(self, found: Mapping[str, pl.DataFrame] | None = None) -> None:
        self.found = found
        self.asked: set[str] = set()

    def get(self, name: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """Return a table in some dtypes."""
        self.asked.add(name)
        if self.found is None:
            return pl.LazyFrame(schema=dict(schema))
        return self.found[name].lazy().select(pl.col(one).cast(schema[one]) for one in schema)
