"""Lazy frames of Polars: no data is looked at, and results are plans."""

from __future__ import annotations

import polars as pl

from recframe.frames.kinds.kind import Kind, Named, Names


class LazyPolars(Kind):
    """A polars.LazyFrame."""

    frame: pl.LazyFrame
    is_lazy = True
    collects = False

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names()

    @property
    def schema(self) -> pl.Schema:
        """The columns with their dtypes."""
        return self.frame.collect_schema()

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> pl.LazyFrame:
        """Return some columns, with null for NaN."""
        del ids  # they stand as they are
        # NOTE: by position, since a column may be named "*" or "^.*$", which Polars reads as a pattern.
        columns = {
            name: (pl.nth(place), dtype.is_float())
            for place, (name, dtype) in enumerate(self.schema.items())
        }
        taken = {inside: columns[name] for inside, name in named.items()}
        return self.frame.select(
            (column.fill_nan(None) if is_float and inside not in numbers else column).alias(inside)
            for inside, (column, is_float) in taken.items()
        )


KIND = LazyPolars
