"""Frames of Polars: eager and lazy."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from recframe.frames.collecting import ask
from recframe.frames.kinds.kind import EagerKind, Kind, Named, Names

HELD = "column of the log"
"""Prefix of a frame's own columns beside those of its roles."""


def _held(kind: Kind, names: Iterable[str], named: Named, numbers: Names) -> pl.LazyFrame:
    """Return columns of roles, and all columns by their places, since they may have any name."""
    own = [pl.nth(place).alias(f"{HELD} {place}") for place, _ in enumerate(names)]
    places = {name: place for place, name in enumerate(names)}
    schema = kind.schema
    roles = []
    for inside, name in named.items():
        column = pl.nth(places[name])
        is_float = schema[name].is_float() and inside not in numbers
        roles.append((column.fill_nan(None) if is_float else column).alias(inside))
    rows: pl.LazyFrame = kind.frame.lazy().select(*roles, *own)
    return rows


def _given(kind: Kind, rows: pl.LazyFrame, beside: Named) -> pl.LazyFrame:
    own = [pl.col(f"{HELD} {place}").alias(name) for place, name in enumerate(kind.columns)]
    return rows.select(*own, *(pl.col(inside).alias(name) for inside, name in beside.items()))


class EagerPolars(EagerKind):
    """A polars.DataFrame."""

    frame: pl.DataFrame

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns with their dtypes; Polars' own schema takes ten times as long."""
        return dict(zip(self.frame.columns, self.frame.dtypes, strict=True))

    def column(self, name: str, inside: str, *, is_id: bool) -> pl.Series:
        """Return a column as it is."""
        del inside, is_id
        return self.frame.get_column(name)

    def held_rows(self, named: Named, numbers: Names = ()) -> pl.LazyFrame:
        """Return some columns, and all by their places."""
        return _held(self, self.columns, named, numbers)

    def give_held(self, rows: pl.LazyFrame, beside: Named) -> pl.DataFrame:
        """Return rows with the frame's own columns, and some of `rows` under other names."""
        return ask([_given(self, rows, beside)])[0]


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

    def held_rows(self, named: Named, numbers: Names = ()) -> pl.LazyFrame:
        """Return some columns, and all by their places."""
        return _held(self, self.columns, named, numbers)

    def give_held(self, rows: pl.LazyFrame, beside: Named) -> pl.LazyFrame:
        """Return rows with the frame's own columns, and some of `rows` under other names."""
        return _given(self, rows, beside)
