"""The seam to engines that hold frames on many machines: what an engine has to do, and all that it is told.

A call on such a frame is made three times, by the same methods and plans as on one machine (`namespace/divided.py`):

1. On the driver, over frames without rows (`engines/tasks.py`, `Trial`). That checks the call against the schemas, and tells
   which columns are read, what sums the plans have, by which keys, and the result's schema.
2. In each bucket of users, over Arrow tables of all rows of these users (`Summing`): up to the sums that add up. A bucket is
   never a user, and never cuts one in two; about a million rows are one.
3. Once, on the few rows of sums that the engine has added up (`Finishing`): from the sums to means, intervals and verdicts.

A call by user has no third step: a bucket's rows are rows of the result (`Whole`).

`Work` says all of this to an engine, which knows no metric. So a further engine is one file in `frames/kinds`, with a `Kind`
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
"""Takes the sums of a bucket, their keys, and the columns that are the same in each; returns those of all buckets."""
Table = Any
"""A pyarrow.Table, whose library is imported where an engine's frame comes in."""


@dataclass(frozen=True)
class Routed:
    """A frame whose rows go to the bucket of their user."""

    frame: Any
    """The engine's, or a table to be made one."""
    columns: tuple[str, ...]
    """Those that are read."""
    user: str
    """The name of the column of users."""
    present: tuple[str, ...] = ()
    """The columns of which a row without a value is ignored, and need not travel."""
    most: tuple[str, float] | None = None
    """A column of ranks, and the largest that is read."""


MOST = "largest of"
"""The beginning of the names of columns of which the largest of all parts is taken, and not the sum."""


@dataclass(frozen=True)
class Added:
    """How sums are added up: the rows of all buckets with the same keys become one."""

    keys: tuple[str, ...]
    sums: tuple[str, ...]
    same: tuple[str, ...]
    """The columns that are the same in each row, or null."""
    most: tuple[str, ...] = ()
    """The columns of which the largest is taken."""


@dataclass(frozen=True)
class Work:
    """What an engine does for a call."""

    routed: Mapping[str, Routed]
    """The frames that travel, by their names."""
    bucket: Callable[[Mapping[str, Table]], Table]
    """Makes the rows of a bucket of its rows of the routed frames, by their names; each may be empty."""
    of_bucket: Table
    """A table without rows, whose schema is theirs."""
    added: Added | None
    """How the rows of all buckets become one table; None where they are the result."""
    finish: Callable[[Table], Table]
    """Makes the result of it."""
    result: Table
    """A table without rows, whose schema is the result's."""


class Engine(ABC):
    """What holds frames on many machines."""

    name = ""
    """What messages call it."""

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
    """Tables by their names; without any it writes down which are asked for, and gives tables without rows."""

    def __init__(self, found: Mapping[str, pl.DataFrame] | None = None) -> None:
        self.found = found
        self.asked: set[str] = set()

    def get(self, name: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """Return a table in some dtypes."""
        self.asked.add(name)
        if self.found is None:
            return pl.LazyFrame(schema=dict(schema))
        return self.found[name].lazy().select(pl.col(one).cast(schema[one]) for one in schema)
