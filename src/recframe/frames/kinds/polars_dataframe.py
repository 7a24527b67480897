"""Eager frames of Polars: data in memory, answers at once."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from recframe.frames.kinds.kind import EagerKind

TEXT_OR_BOOLEAN = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)


def may_be_labels(schema: Mapping[str, pl.DataType]) -> list[str]:
    """Return the names of the columns of Polars whose values may be labels."""
    return [
        name for name, dtype in schema.items() if dtype.is_integer() or dtype in TEXT_OR_BOOLEAN
    ]


def of_numbers(schema: Mapping[str, pl.DataType]) -> list[str]:
    """Return the names of the columns of numbers and Booleans of Polars."""
    return [name for name, dtype in schema.items() if dtype.is_numeric() or dtype == pl.Boolean]


def without_nan(column: pl.Series, numbers: Collection[str]) -> pl.Series:
    """Return a column with null for NaN, unless it is one of the numbers that are read as given.

    NOTE: a sum is NaN where a number is, and is had in less time than a mask.
    """
    if not column.dtype.is_float() or column.name in numbers or not math.isnan(column.sum()):
        return column
    return column.fill_nan(None)


class EagerPolars(EagerKind):
    """A polars.DataFrame."""

    frame: pl.DataFrame

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.frame.columns

    def labels(self) -> list[str]:
        """Return the names of the columns whose values may be labels."""
        return may_be_labels(self._dtypes)

    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers."""
        return of_numbers(self._dtypes)

    @property
    def _dtypes(self) -> dict[str, pl.DataType]:
        """The columns with their dtypes; Polars' own schema takes ten times as long."""
        return dict(zip(self.frame.columns, self.frame.dtypes, strict=True))

    def take(
        self, named: Mapping[str, str], ids: Collection[str] = (), numbers: Collection[str] = ()
    ) -> pl.DataFrame:
        """Return some columns, with null for NaN."""
        del ids  # they stand as they are
        # NOTE: by position, since a column may be named "*" or "^.*$", which Polars reads as a pattern.
        places = {name: place for place, name in enumerate(self.columns)}
        taken = (self.frame.to_series(places[name]).alias(inside) for inside, name in named.items())
        return pl.DataFrame([without_nan(column, numbers) for column in taken])

    def in_kind(self, result: pl.DataFrame, sources: Mapping[str, Any]) -> pl.DataFrame:
        """Return the result as it is."""
        del sources
        return result

    def rows(self, result: pl.DataFrame) -> list[dict[str, Any]]:
        """Return the rows of a result."""
        return result.to_dicts()


KIND = EagerPolars
