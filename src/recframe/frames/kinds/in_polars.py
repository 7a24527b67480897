"""A frame of any kind whose results are collected frames of Polars, for what reads them at once, such as a chart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from recframe.frames.collecting import Ask, run_by_size, stream
from recframe.frames.kinds.kind import Applied, Kind, Seen, Taken, chosen


class InPolars(Kind):
    """A frame of any kind, which is taken as it is; a LazyFrame's plans are run by the streaming engine."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind.frame)
        self.kind, self.is_lazy, self.size = kind, kind.is_lazy, kind.size

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.kind.columns

    @property
    def index_names(self) -> list[object]:
        """The names that an index has beside the columns."""
        return self.kind.index_names

    def labels(self) -> list[str]:
        """Return the names of the columns whose values may be labels."""
        return self.kind.labels()

    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers."""
        return self.kind.numbers()

    def take(
        self, named: Mapping[str, str], ids: Collection[str] = (), numbers: Collection[str] = ()
    ) -> Taken:
        """Return some columns."""
        return self.kind.take(named, ids, numbers)

    @property
    def asks(self) -> Ask | None:
        """What collects questions, for a large eager frame."""
        return self.kind.asks

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's result."""
        return self.kind.applied(plan, to, schema)

    def run(self, plan: pl.LazyFrame) -> pl.DataFrame:
        """Collect a plan."""
        return stream(plan) if self.is_lazy else run_by_size(plan, self.size)

    def give(
        self,
        plan: pl.LazyFrame,
        sources: Mapping[str, Any],
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """Return a plan's result, collected; what looks at results asks nothing more of a LazyFrame."""
        del sources
        result = self.run(plan)
        if seen is not None and not self.is_lazy:
            seen(result, self.run)
        return chosen(result, columns)

    def rows(self, result: pl.DataFrame) -> list[dict[str, Any]]:
        """Return the rows of a small result."""
        return result.to_dicts()
