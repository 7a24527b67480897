"""Tables of Arrow in types that every engine has."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with every engine

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


def table_of(rows: pl.DataFrame, schema: pl.Schema | None = None) -> pa.Table:
    """Return rows as a table, with the columns of a schema in its order."""
    chosen = rows if schema is None else rows.select(schema.names())
    return in_plain_types(chosen.to_arrow())


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
    return next((other for is_one, other in PLAIN.items() if is_one(kind)), kind)


def has(frame: pl.DataFrame, name: str, *, finite: bool = False) -> pl.Expr:
    """Return whether a row has a value, which NaN is none, and if it is to be finite an infinite one neither."""
    column = pl.col(name)
    if not frame.schema[name].is_float():
        return column.is_not_null()
    return (column.is_finite() if finite else column.is_not_nan()).fill_null(value=False)


def rows_with(
    frame: pl.DataFrame,
    present: Sequence[str],
    any_of: Sequence[str] = (),
    most: tuple[str, float] | None = None,
) -> pl.DataFrame:
    """Return the rows with a value in all of `present`, a finite one in any of `any_of`, and a rank that is read."""
    kept = [has(frame, name) for name in present]
    if any_of:
        kept.append(pl.any_horizontal([has(frame, name, finite=True) for name in any_of]))
    if most is not None:
        rank, highest = most
        kept += [has(frame, rank), pl.col(rank) <= highest]
    return frame.filter(kept) if kept else frame


def counted(pairs: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Return each item of pairs of `user` and `item` with its number of users, as `value`, and the number of all users."""
    pairs = pairs.unique()
    counts = pl.len().alias("value").cast(pl.Int64)
    return pairs.group_by("item").agg(counts), pairs["user"].n_unique()
