"""Frames of Polars: eager and lazy."""

from __future__ import annotations

import polars as pl

from recframe.frames.kinds.kind import EagerKind, Kind, Named, Names, without_nan
from recframe.frames.rows.joins import beside_one_another

HELD = "column of the log"
"""Prefix of a frame's own columns beside those of its roles."""


class EagerPolars(EagerKind):
    """A polars.DataFrame."""

    frame: pl.DataFrame

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns with their dtypes; Polars' own schema takes ten times as long."""
        return dict(zip(self.frame.columns, self.frame.dtypes, strict=True))

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> pl.DataFrame:
        """Return some columns, with null for NaN."""
        del ids  # they stand as they are
        columns = [self.frame.get_column(name).alias(inside) for inside, name in named.items()]
        return without_nan(pl.DataFrame(columns), numbers)

    def gathered(self, places: pl.Series, beside: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of some places, with more columns beside."""
        return beside_one_another([self.frame[places], beside])


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
        return self.frame.select(self._of_roles(named, numbers))

    def _of_roles(self, named: Named, numbers: Names) -> list[pl.Expr]:
        """Return columns under their names inside the plan.

        NOTE: by position, since a column may be named "*" or "^.*$", which Polars reads as a pattern.
        """
        schema, found = self.schema, []
        places = {name: place for place, name in enumerate(schema)}
        for inside, name in named.items():
            column = pl.nth(places[name])
            is_float = schema[name].is_float() and inside not in numbers
            found.append((column.fill_nan(None) if is_float else column).alias(inside))
        return found

    def held_rows(self, named: Named, numbers: Names = ()) -> pl.LazyFrame:
        """Return some columns, and all by their places."""
        own = (pl.nth(place).alias(f"{HELD} {place}") for place, _ in enumerate(self.columns))
        return self.frame.select(*self._of_roles(named, numbers), *own)

    def give_held(self, rows: pl.LazyFrame, beside: Named) -> pl.LazyFrame:
        """Return rows with the frame's own columns, and some of `rows` under other names."""
        own = [pl.col(f"{HELD} {place}").alias(name) for place, name in enumerate(self.columns)]
        return rows.select(*own, *(pl.col(inside).alias(name) for inside, name in beside.items()))
