"""Dask frames: one shuffle of Arrow bytes into buckets of users.

Each partition is cut to the columns that are read and becomes a row for each bucket, with the bucket's number and the rows as
Arrow writes them; one shuffle of all frames brings these to their buckets, whose tables the library's own plan gets; and
sums are added up in a tree. Nothing runs before the result is computed, but for small tables: items, and where they are
needed models and popularities.

NOTE: bytes, since pandas has no dtype for some columns (whole numbers with nulls, decimals, lists), whose values a shuffle
would then change; and partitions of a frame may differ in dtype where they have no values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with dask[dataframe]

from recframe.engines.engine_frames import EngineFrame, OfTables, in_tables, local_rows
from recframe.engines.sent_rows import (
    BUCKET,
    N_ROWS,
    ROWS,
    SENT,
    SIDE,
    Bucket,
    Side,
    sides_of,
    unpacking,
)
from recframe.errors import ColumnError
from recframe.frames.dtypes import as_text
from recframe.frames.kinds.engine import Added, Frames, Routed, Work, counted, rows_with
from recframe.frames.kinds.pandas_frames import dtype_name, series
from recframe.frames.kinds.pyarrow_frames import in_plain_types, plain, table_of, without_rows

SETTING = "recframe.buckets"
"""Dask setting with the number of buckets: dask.config.set({"recframe.buckets": 4000})."""
SUMS_AT_ONCE = 8
"""Buckets whose sums are added in one task."""
TO = "_partitions"
"""Column name of partition numbers in Dask's shuffle."""
BYTES = pd.ArrowDtype(pa.large_binary())
LARGE = SENT.set(0, pa.field(TO, pa.int64())).set(3, pa.field(ROWS, pa.large_binary()))
"""The schema of what is sent, in which a partition may have any number of bytes."""
COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class Step:
    """Function of a partition, named by a token in Dask's graph."""

    made: Callable[[pd.DataFrame], pd.DataFrame]
    token: str = field(default_factory=lambda: uuid4().hex)

    def __call__(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Apply the function to a partition."""
        return self.made(rows)

    def __dask_tokenize__(self) -> str:
        """Return the token, which is unique."""
        return self.token


class Dask(OfTables):
    """Dask."""

    name = "Dask"

    def none(self, frame: Any) -> pa.Table:
        """Return a table without rows, whose schema is that of a frame's meta, of the columns that can be read."""
        types = {name: _type(frame._meta, name) for name in frame.columns}  # noqa: SLF001  Dask's word
        known = [(name, one) for name, one in types.items() if one is not None]
        return pa.schema(known).empty_table()

    def read(self, frame: Any, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns of a small frame."""
        schema = self.none(frame).select(list(columns)).schema
        sent = _each(frame[list(columns)], lambda rows: _sent_whole(_table(rows, schema)))
        return pl.DataFrame(in_plain_types(_received(sent.compute(), schema)))

    def distinct(
        self, frame: Any, columns: Sequence[str], present: Sequence[str], any_of: Sequence[str]
    ) -> pl.DataFrame:
        """Return the values of columns, of rows that have others."""
        read = list(dict.fromkeys([*columns, *present, *any_of]))
        schema = self.none(frame).select(read).schema
        only, how = pa.schema(map(schema.field, columns)), Added(tuple(columns), (), ())

        def values(rows: pd.DataFrame) -> pd.DataFrame:
            kept = rows_with(pl.DataFrame(_table(rows, schema)), present, any_of)
            return _sent_whole(_added(kept.select(columns), how, only))

        found = _in_a_tree(_each(frame[read], values), how, only).compute()
        return pl.DataFrame(_received(found, only))

    def counted(self, frame: Any, user: str, item: str) -> tuple[pl.DataFrame, int]:
        """Return each item with its number of users, and the number of all users, which is that of no item."""
        none = in_plain_types(self.none(frame).select([user, item]))
        counts = pa.schema([("item", none.schema.field(item).type), ("value", pa.int64())])

        def of_bucket(frames: Frames) -> pa.Table:
            items, n_users = counted(frames["pairs"].lazy().select(user=user, item=item))
            of_none = pl.DataFrame({"item": [None], "value": [n_users]}, schema=items.schema)
            return pl.concat([items, of_none]).to_arrow().cast(counts)

        pairs = Routed(frame, pl.DataFrame(none).schema, user, (user, item))
        sent = _each_bucket({"pairs": pairs}, of_bucket)
        sums = _in_a_tree(sent, Added(("item",), ("value",), ()), counts)
        found = pl.DataFrame(_received(sums.compute(), counts))
        n_users = found.filter(pl.col("item").is_null())["value"].sum()
        return found.drop_nulls("item"), int(n_users)

    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames below each other, with a column that has their names; where one lacks a column, it is null there."""
        named = [
            one.reset_index(drop=True).clear_divisions().assign(**{model: name})
            for name, one in frames.items()
        ]
        return dd.concat(named)

    def run(self, frame: Any, work: Work) -> Any:
        """Return the result of a call, which Dask makes when it is computed."""
        del frame
        tables = in_tables(work)
        if work.added is None:
            meta = in_pandas(tables.of_bucket)
            return _each_bucket(work.routed, tables.bucket, in_pandas, meta)
        schema, finish = tables.of_bucket.schema, tables.finish
        sums = _in_a_tree(_each_bucket(work.routed, tables.bucket), work.added, schema)
        return _each(
            sums, lambda sent: in_pandas(finish(_received(sent, schema))), in_pandas(tables.result)
        )


class DaskFrame(EngineFrame):
    """A dask.dataframe.DataFrame."""

    engine = Dask()
    from_polars = "dask.dataframe.from_pandas(recs)"
    to_local = "truth.compute()"

    @property
    def index_names(self) -> list[object]:  # type: ignore[override]  # of a frame, and of no kind
        """The names that its index has."""
        return [name for name in self.frame._meta.index.names if name is not None]  # noqa: SLF001  Dask's word


def _type(meta: pd.DataFrame, name: Any) -> pa.DataType | None:
    """Return the type of a column by its meta, in which objects and unknown categories are text; None where it has none."""
    if not isinstance(name, str) or meta[name].ndim > 1:
        return None
    column = meta[name]
    if dtype_name(column.dtype) == "CategoricalDtype":
        column = column.cat.categories.to_series()
        meta = column.to_frame(name)
    if column.dtype == object:
        return pa.string()
    try:
        return plain(series(meta[:0], name, name, is_id=True).to_arrow().type)
    except ColumnError:
        return None


def _table(rows: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    """Return a partition's rows as a table, in the types that the frame's meta tells."""
    return pa.table([_column(rows, field) for field in schema], schema=schema)


def _column(rows: pd.DataFrame, field: pa.Field) -> pa.Array:
    """Return a column of a partition in the type that the frame's meta tells."""
    values = series(rows, field.name, field.name, is_id=True)
    if isinstance(values.dtype, pl.Enum | pl.Categorical):
        values = values.cast(pl.String)
    found = values.to_arrow()
    if pa.types.is_null(found.type) or plain(found.type) == field.type or _widens(found, field):
        return found.cast(field.type)
    msg = (
        f"column {field.name!r} is {plain(found.type)} in a partition, and {field.type} by the frame's meta; cast it first, "
        f"for example frame.astype({{{field.name!r}: 'string'}})"
    )
    raise ColumnError(msg)


def _widens(found: pa.Array, field: pa.Field) -> bool:
    """Whether a partition's type is of the same family as the one by the meta, which pandas may tell them apart by."""

    def is_number(kind: pa.DataType) -> bool:
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))

    families = (is_number, pa.types.is_timestamp, pa.types.is_decimal)
    return any(of(found.type) and of(field.type) for of in families)


def _buckets_of(values: pl.Series, n_buckets: int) -> Any:
    """Return the number of each user's bucket.

    NOTE: by pandas' hashes, which are the same on all machines; whole numbers of any width have the same.
    """
    if values.dtype.is_integer() or (values.dtype.is_temporal() and values.dtype != pl.Time):
        numbers = values.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
        hashes = pd.util.hash_array(numbers)
    else:
        texts = values.to_frame().select(as_text(pl.nth(0), values.dtype).fill_null(""))
        hashes = pd.util.hash_array(texts.to_series().to_numpy().astype(object))
    return (hashes % np.uint64(n_buckets)).astype(np.int64)


def _each_bucket(
    routed: Mapping[str, Routed],
    bucket: Bucket,
    made: Callable[[pa.Table], pd.DataFrame] | None = None,
    meta: pd.DataFrame | None = None,
) -> Any:
    """Return what is made of each bucket: rows of all frames, in as many partitions as there are buckets of users."""
    n_buckets, made = _n_buckets(routed), made or _sent_whole
    sides = sides_of(routed)
    sent = [
        _in_buckets(one, sides[name], number, n_buckets)
        for number, (name, one) in enumerate(routed.items())
    ]
    rows = sent[0] if len(sent) == 1 else dd.concat(sent)
    shuffled = partial(rows.shuffle, TO, ignore_index=True)
    rows = (rows.repartition if n_buckets == 1 else shuffled)(npartitions=n_buckets)
    unpacked = unpacking(sides, bucket)
    return _each(
        rows, lambda one: made(unpacked(pa.Table.from_pandas(one, preserve_index=False))), meta
    )


def _in_buckets(routed: Routed, side: Side, number: int, n_buckets: int) -> Any:
    """Return a frame's rows as one row for each bucket of each partition."""
    schema, present, most = without_rows(side.schema).schema, routed.present, routed.most

    def packed(read: pl.DataFrame) -> pd.DataFrame:
        rows = rows_with(read, present, most=most)
        to = pl.Series(BUCKET, _buckets_of(rows.get_column(side.user), n_buckets))
        rows.columns = side.names
        return _in_bytes(side.put_in_buckets(rows.with_columns(to), number))

    if isinstance(routed.frame, pl.LazyFrame):
        return dd.from_pandas(packed(local_rows(routed)), npartitions=1, sort=False)
    return _each(
        routed.frame[side.columns], lambda rows: packed(pl.DataFrame(_table(rows, schema)))
    )


def _in_bytes(sent: pa.RecordBatch) -> pd.DataFrame:
    """Return what is sent as a frame of pandas, which has the bytes as they are."""
    table = pa.Table.from_batches([sent]).rename_columns(LARGE.names).cast(LARGE)
    found: pd.DataFrame = table.to_pandas(types_mapper={pa.large_binary(): BYTES}.get)
    return found


def _sent_whole(table: pa.Table) -> pd.DataFrame:
    """Return a table as the one row that is sent."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=COMPRESSED) as stream:
        stream.write_table(table)
    row = {BUCKET: [0], SIDE: [0], N_ROWS: [len(table)], ROWS: [sink.getvalue().to_pybytes()]}
    return _in_bytes(pa.RecordBatch.from_pydict(row, SENT))


def _received(sent: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    """Return the rows of all tables that were sent."""
    tables = [pa.ipc.open_stream(one).read_all() for one in sent[ROWS]]
    return pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in tables)])


def _each(
    frame: Any, made: Callable[[pd.DataFrame], pd.DataFrame], meta: pd.DataFrame | None = None
) -> Any:
    """Return what is made of each partition, rows that are sent where no other frame is named."""
    meta = _in_bytes(pa.RecordBatch.from_pylist([], SENT)) if meta is None else meta
    return frame.map_partitions(Step(made), meta=meta, enforce_metadata=False).clear_divisions()


def _in_a_tree(sent: Any, how: Added, schema: pa.Schema) -> Any:
    """Return the sums of all partitions in one."""

    def added(some: pd.DataFrame) -> pd.DataFrame:
        return _sent_whole(_added(_received(some, schema), how, schema))

    while sent.npartitions > 1:
        fewer = -(-sent.npartitions // SUMS_AT_ONCE)
        sent = _each(sent.repartition(npartitions=fewer), added)
    return sent


def _added(rows: pa.Table | pl.DataFrame, how: Added, schema: pa.Schema) -> pa.Table:
    """Return sums added up by their keys."""
    return table_of(how.up(pl.DataFrame(rows).select(schema.names))).cast(schema)


def in_pandas(table: pa.Table) -> pd.DataFrame:
    """Return a table in dtypes of pandas that hold its nulls: a partition without any has the same as others."""
    found: pd.DataFrame = table.to_pandas(types_mapper=_dtype)
    return found


def _dtype(kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return pd.StringDtype("pyarrow")
    if pa.types.is_integer(kind):
        return pd.Int64Dtype() if kind == pa.int64() else pd.ArrowDtype(kind)
    if pa.types.is_boolean(kind):
        return pd.BooleanDtype()
    as_it_is = pa.types.is_floating(kind) or pa.types.is_timestamp(kind)
    return None if as_it_is else pd.ArrowDtype(kind)


def _n_buckets(routed: Mapping[str, Routed]) -> int:
    """Return the number of buckets: what the user sets, or of the frame with the most partitions."""
    setting = dask.config.get(SETTING, None)
    if setting is not None:
        return max(int(setting), 1)
    frames = (one.frame for one in routed.values())
    return max(
        (frame.npartitions for frame in frames if not isinstance(frame, pl.LazyFrame)), default=1
    )
