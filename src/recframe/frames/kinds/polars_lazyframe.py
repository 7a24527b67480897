"""Lazy frames of Polars: no data is looked at, and results are plans."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from recframe.frames.kinds.kind import Kind, Seen, chosen
from recframe.frames.kinds.polars_dataframe import may_be_labels, of_numbers


class LazyPolars(Kind):
    """A polars.LazyFrame."""

    frame: pl.LazyFrame
    is_lazy = True

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.frame.collect_schema().names()

    def labels(self) -> list[str]:
        """Return the names of the columns whose values may be labels."""
        return may_be_labels(self.frame.collect_schema())

    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers."""
        return of_numbers(self.frame.collect_schema())

    def take(
        self, named: Mapping[str, str], ids: Collection[str] = (), numbers: Collection[str] = ()
    ) -> pl.LazyFrame:
        """Return some columns, with null for NaN."""
        del ids  # they stand as they are
        # NOTE: by position, since a column may be named "*" or "^.*$", which Polars reads as a pattern.
        places = {name: place for place, name in enumerate(self.columns)}
        dtypes = self.frame.collect_schema().dtypes()
        found = {inside: pl.nth(places[name]) for inside, name in named.items()}
        floats = {
            inside for inside, name in named.items() if dtypes[places[name]].is_float()
        }.difference(numbers)
        chosen = (
            (column.fill_nan(None) if inside in floats else column).alias(inside)
            for inside, column in found.items()
        )
        return self.frame.select(chosen)

    def give(
        self,
        plan: pl.LazyFrame,
        sources: Mapping[str, Any],
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> pl.LazyFrame:
        """Return the plan, which whoever asked for it collects."""
        del sources, seen
        return chosen(plan, columns)

    def rows(self, result: pl.LazyFrame) -> None:
        """Return None: nothing is collected."""
        del result


KIND = LazyPolars
