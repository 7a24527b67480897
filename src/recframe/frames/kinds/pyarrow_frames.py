"""Tables of Arrow, and types that every engine has."""

from __future__ import annotations

from typing import cast

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with every engine

from recframe.errors import ColumnError
from recframe.frames.kinds.kind import EagerKind, Rows, Sources

# NOTE: views of pyarrow before 25 end the process in Polars where all texts are short, so that there is no text to be shared.
VIEWS_ARE_READ = int(pa.__version__.partition(".")[0]) >= 25  # noqa: PLR2004  the version above
VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
PLAIN = {
    pa.types.is_large_string: pa.string(),
    pa.types.is_string_view: pa.string(),
    pa.types.is_large_binary: pa.binary(),
    pa.types.is_binary_view: pa.binary(),
    pa.types.is_unsigned_integer: pa.int64(),
    pa.types.is_null: pa.float64(),
}


def table_of(rows: pl.DataFrame) -> pa.Table:
    """Return rows as a table."""
    return in_plain_types(rows.to_arrow())


def without_rows(schema: pl.Schema) -> pa.Table:
    """Return a table of some dtypes without rows."""
    return table_of(pl.DataFrame(schema=schema))


def in_plain_types(table: pa.Table) -> pa.Table:
    """Return a table in types that every engine has: text and bytes with offsets of 32 bits, numbers with a sign."""
    fields = [pa.field(field.name, plain(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields))


def plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that every engine has for another."""
    if pa.types.is_dictionary(kind):
        return plain(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(one.name, plain(one.type)) for one in kind])
    return next((other for is_one, other in PLAIN.items() if is_one(kind)), kind)


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
            raise ColumnError(
                f"the pyarrow table has {n_columns} columns named {name!r}; drop or rename all but one"
            )
        column = self.frame.column(name)
        taken = _read(column)
        if taken is None:
            raise ColumnError(
                f"column {name!r} of the pyarrow table is {column.type}, which Polars does not have; cast it first"
            )
        return taken

    def source(self, name: str) -> pa.DataType:
        """Return the type that a result's column is to have."""
        return self.frame.schema.field(name).type

    def gathered(self, places: pl.Series, beside: pl.DataFrame) -> pa.Table:
        """Return the rows of some places, with more columns beside."""
        rows = self.frame.take(places.to_arrow())
        for column in in_plain_types(beside.to_arrow()).itercolumns() if beside.width else ():
            rows = rows.append_column(
                beside.columns[rows.num_columns - self.frame.num_columns], column
            )
        return rows

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
