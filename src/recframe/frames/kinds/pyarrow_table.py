"""pyarrow's tables: columns go in without a copy, and come back in the types that they had."""

from __future__ import annotations

from typing import cast

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # a table is given, so it is loaded

from recframe.errors import ColumnError
from recframe.frames.kinds.kind import EagerKind, Rows, Sources
from recframe.frames.kinds.plain_tables import VIEWS, VIEWS_ARE_READ


class Arrow(EagerKind):
    """A pyarrow.Table."""

    frame: pa.Table

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.column_names)

    @property
    def schema(self) -> pl.Schema:
        """The dtypes that the columns have in Polars, of those that it can read and whose names are their own."""
        none, names = self.frame.slice(0, 0), self.columns
        found = {name: _read(none.column(name)) for name in names if names.count(name) == 1}
        return pl.Schema({name: one.dtype for name, one in found.items() if one is not None})

    def column(self, name: str, inside: str, *, is_id: bool) -> pl.Series:
        """Return a column, or say why it cannot be had."""
        del inside, is_id
        n_columns = self.columns.count(name)
        if n_columns > 1:
            msg = f"the pyarrow table has {n_columns} columns named {name!r}; drop or rename all but one"
            raise ColumnError(msg)
        column = self.frame.column(name)
        taken = _read(column)
        if taken is None:
            msg = f"column {name!r} of the pyarrow table is {column.type}, which Polars has not; cast it before"
            raise ColumnError(msg)
        return taken

    def source(self, name: str) -> pa.DataType:
        """Return the type that a result's column is to have."""
        return self.frame.schema.field(name).type

    def in_kind(self, result: pl.DataFrame, sources: Sources) -> pa.Table:
        """Return a result with the types of the columns that it came from."""
        columns = [
            _in_type(column.to_arrow(), sources.get(column.name)) for column in result.get_columns()
        ]
        return pa.table(columns, names=result.columns)

    def in_rows(self, result: pa.Table) -> Rows:
        """Return the rows of a result."""
        return cast("Rows", result.to_pylist())


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
