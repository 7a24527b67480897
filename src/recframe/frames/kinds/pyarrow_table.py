"""pyarrow's tables: columns go in without a copy, and come back in the types that they had."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # a table is given, so it is loaded

from recframe.errors import ColumnError
from recframe.frames.kinds.kind import EagerKind
from recframe.frames.kinds.plain_tables import VIEWS, VIEWS_ARE_READ
from recframe.frames.kinds.polars_dataframe import may_be_labels, of_numbers, without_nan


class Arrow(EagerKind):
    """A pyarrow.Table."""

    frame: pa.Table

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.column_names)

    def labels(self) -> list[str]:
        """Return the names of the columns whose values may be labels."""
        return may_be_labels(self._schema)

    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers."""
        return of_numbers(self._schema)

    @property
    def _schema(self) -> pl.Schema:
        """The dtypes that the columns have in Polars, of those that it can read and whose names are their own."""
        none = self.frame.slice(0, 0)
        found = {
            name: _read(none.column(place))
            for place, name in enumerate(self.columns)
            if self.columns.count(name) == 1
        }
        return pl.Schema({name: one.dtype for name, one in found.items() if one is not None})

    def take(
        self, named: Mapping[str, str], ids: Collection[str] = (), numbers: Collection[str] = ()
    ) -> pl.DataFrame:
        """Return some columns, with null for NaN."""
        del ids  # they stand as they are
        taken = (self._column(name).alias(inside) for inside, name in named.items())
        return pl.DataFrame([without_nan(column, numbers) for column in taken])

    def _column(self, name: str) -> pl.Series:
        """Return a column, or say why it cannot be had."""
        found = [place for place, other in enumerate(self.columns) if other == name]
        if len(found) > 1:
            msg = f"the pyarrow table has {len(found)} columns named {name!r}; drop or rename all but one"
            raise ColumnError(msg)
        column = self.frame.column(found[0])
        taken = _read(column)
        if taken is None:
            msg = f"column {name!r} of the pyarrow table is {column.type}, which Polars has not; cast it before"
            raise ColumnError(msg)
        return taken

    def source(self, name: str) -> pa.DataType:
        """Return the type that a result's column is to have."""
        return self.frame.schema.field(self.columns.index(name)).type

    def in_kind(self, result: pl.DataFrame, sources: Mapping[str, Any]) -> pa.Table:
        """Return a result with the types of the columns that it came from."""
        columns = [
            _in_type(column.to_arrow(), sources.get(column.name)) for column in result.get_columns()
        ]
        return pa.table(columns, names=result.columns)

    def rows(self, result: pa.Table) -> list[dict[str, Any]]:
        """Return the rows of a result."""
        return cast("list[dict[str, Any]]", result.to_pylist())


def _read(column: pa.ChunkedArray) -> pl.Series | None:
    """Return a column of Arrow, or None where Polars has no such dtype.

    NOTE: lists as a table, since Polars 1.35 does not make its own dtypes of what stands in those of a lone column; others
    not, since Polars panics at a table with a type that it has not.
    """
    try:
        if not VIEWS_ARE_READ:
            column = column.cast(VIEWS.get(column.type, column.type))
        if pa.types.is_nested(column.type):
            table = pl.from_arrow(pa.table([column], names=["column"]))
            return cast("pl.DataFrame", table).to_series()
        return cast("pl.Series", pl.from_arrow(column))
    except (pl.exceptions.PolarsError, pa.ArrowException, TypeError, ValueError):
        return None


def _in_type(values: pa.Array, wanted: pa.DataType | None) -> pa.Array:
    """Return values in a type, or as they are where it holds them not: a match with another frame may widen them."""
    if wanted is None or values.type == wanted:
        return values
    try:
        if pa.types.is_dictionary(wanted):
            return values.cast(wanted.value_type).dictionary_encode().cast(wanted)
        return values.cast(wanted)
    except pa.ArrowException:
        return values


KIND = Arrow
