"""What the library needs of a kind of frame: its columns taken, plans run for it, and results given back in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

from recframe.frames.collecting import LARGE, Ask, Collect, ask, run_by_size
from recframe.frames.kinds.engine import Adds, Engine
from recframe.frames.kinds.tables import Tables

Taken = pl.LazyFrame | pl.DataFrame
"""Columns of a frame under the names of their roles; eager where the frame is."""
Applied = Callable[[pl.DataFrame], pl.DataFrame]
"""Makes another frame of a small one."""
Seen = Callable[[pl.DataFrame, Collect], object]
"""Is called with a result that was collected, and with what collects further plans."""
Result = TypeVar("Result", pl.LazyFrame, pl.DataFrame)


def chosen(result: Result, columns: Sequence[str] | None) -> Result:
    """Return some columns of a result, in that order; without `columns` all.

    NOTE: by position, since names such as "^.*$" are patterns to Polars.
    """
    if columns is None:
        return result
    names = result.collect_schema().names()
    return result.select([pl.nth(names.index(one)) for one in columns])


class Kind(ABC):
    """A frame of one kind."""

    frame: Any
    size = 0
    """The number of rows, where it is known."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    library: str | None = None
    """The library whose frames a history of such results is read as; None for Polars."""
    is_lazy = False
    """Whether results stay lazy."""
    engine: Engine | None = None
    """What holds the frame, where that is no library of this process: calls are then run bucket by bucket of users."""
    adds: Adds | None = None
    """What adds up the sums of plans over some of the users, where these are those of a bucket."""
    tables: Tables | None = None
    """What is known of all users, where the frame has those of a bucket."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The names of the columns."""

    @property
    def index_names(self) -> list[object]:
        """The names that an index has beside the columns."""
        return []

    @abstractmethod
    def labels(self) -> list[str]:
        """Return the names of the columns whose values may be labels: text, categories, whole numbers and Booleans."""

    @abstractmethod
    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers, and of Booleans, which are 0 and 1."""

    @abstractmethod
    def take(
        self, named: Mapping[str, str], ids: Collection[str] = (), numbers: Collection[str] = ()
    ) -> Taken:
        """Return some columns under the names that are the keys of `named`.

        `ids` are the keys whose values must match those of other frames. NaN comes as null, which pandas' floats cannot
        tell from it, but for those `numbers` of which whoever reads them says what NaN is.
        """

    def stand_beside(self, size: int) -> None:
        """Have plans run as those of so many rows are, which a frame beside this one has: the largest frame decides."""
        self.size = max(self.size, size)

    def source(self, _name: str) -> Any:
        """Return what is needed to give a column back as it came; None where the plan's own dtypes say it."""
        return None

    @property
    def asks(self) -> Ask | None:
        """What collects questions to the data, where the frame is so large that they cost less than a plan without answers."""
        return None

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's result, which is small: it runs when the plan does."""
        whole = dict.fromkeys(
            ("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False
        )
        return plan.map_batches(to, **whole, schema=schema)

    @abstractmethod
    def give(
        self,
        plan: pl.LazyFrame,
        sources: Mapping[str, Any],
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> Any:
        """Return a plan's result as a frame of this kind, of which only some `columns` are given where they are named.

        `sources` has what its columns came from, by their names.
        """

    @abstractmethod
    def rows(self, result: Any) -> list[dict[str, Any]] | None:
        """Return the rows of a small result of this kind; None where they are not at hand."""


class EagerKind(Kind):
    """A frame whose data is in memory, so that its size is known and its plans are collected at once."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame)
        self.size = len(frame)

    @property
    def asks(self) -> Ask | None:
        """What collects questions, for a large frame."""
        return ask if self.size > LARGE else None

    def run(self, plan: pl.LazyFrame) -> pl.DataFrame:
        """Collect a plan by the engine that is the fastest for so many rows."""
        return run_by_size(plan, self.size)

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's result, which is collected."""
        del schema
        return to(self.run(plan)).lazy()

    def give(
        self,
        plan: pl.LazyFrame,
        sources: Mapping[str, Any],
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> Any:
        """Return a plan's result, collected."""
        result = self.run(plan)
        if seen is not None:
            seen(result, self.run)
        return self.in_kind(chosen(result, columns), sources)

    @abstractmethod
    def in_kind(self, result: pl.DataFrame, sources: Mapping[str, Any]) -> Any:
        """Return a collected result as a frame of this kind."""
