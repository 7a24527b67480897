"""Rows of a bucket of users as an Arrow table, whose plans a task runs up to where other buckets are needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # a table is given, so it is loaded

from recframe.frames.kinds.engine import Adds
from recframe.frames.kinds.kind import Applied, Named, Names, Seen, Sources, Taken, chosen
from recframe.frames.kinds.pyarrow_table import Arrow
from recframe.frames.kinds.tables import Tables


class Task(ABC):
    """What becomes of the plans that a call makes over a bucket."""

    tables = Tables()
    divided = True
    """Whether plans stop where sums of other buckets are added."""
    looks = False
    """Whether rows are at hand, and may be asked."""

    def takes(self, name: str, columns: Names) -> None:
        """Be told which columns of a frame a call reads."""
        del name, columns

    def taken(self, columns: Taken) -> Taken:
        """Return columns in the form that plans begin with."""
        return columns

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Return the sums of all buckets."""
        raise NotImplementedError

    def applied(self, _plan: pl.LazyFrame, _to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's small result, without rows where those are not to be had."""
        return pl.LazyFrame(schema=schema)

    @abstractmethod
    def gives(self, plan: pl.LazyFrame) -> Any:
        """Return what a call returns."""


@dataclass(frozen=True)
class Bucket:
    """Rows of some users, the name of the frame that has them, and what becomes of plans."""

    rows: pa.Table
    name: str
    task: Task


class BucketOfUsers(Arrow):
    """A bucket of users."""

    def __init__(self, frame: Bucket) -> None:
        super().__init__(frame.rows)
        self.name, self.task, self.tables = frame.name, frame.task, frame.task.tables
        self.is_lazy = not self.task.looks

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> Taken:
        """Return some columns."""
        self.task.takes(self.name, named.values())
        return self.task.taken(super().take(named, ids, numbers))

    def labels(self) -> list[str]:
        """Return no names: whether a column names systems is asked of all users at once."""
        return []

    @property
    def adds(self) -> Adds | None:  # type: ignore[override]  # of a frame, and of no kind
        """What adds up sums; None where a bucket's rows are those of the result."""
        return self.task.adds if self.task.divided else None

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's result."""
        return self.task.applied(plan, to, schema)

    def give(
        self,
        plan: pl.LazyFrame,
        sources: Sources,
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> Any:
        """Return what becomes of a call's plan."""
        del sources, seen
        return self.task.gives(chosen(plan, columns))


KIND = BucketOfUsers
