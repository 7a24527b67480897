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

from recframe.errors import ColumnError
from recframe.frames.dtypes import as_text
from recframe.frames.kinds.engine import Added, Engine, Routed, Work
from recframe.frames.kinds.engine_frame import EngineFrame
from recframe.frames.kinds.pandas_frames import dtype_name, series
from recframe.frames.kinds.pyarrow_frames import (
    counted,
    in_plain_types,
    plain,
    rows_with,
    table_of,
)
from recframe.frames.kinds.sent_rows import BUCKET, N_ROWS, ROWS, SENT, SIDE, Side, unpacking

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


class Dask(Engine):
    """Dask."""

    name = "Dask"

    def none(self, frame: Any) -> pa.Table:
        """Return a table without rows, whose schema is that of a frame's meta, of the columns that can be read."""
        types = {name: _type(frame._meta, name) for name in frame.columns}  # noqa: SLF001  Dask's word
        known = [(name, one) for name, one in types.items() if one is not None]
        return pa.schema(known).empty_table()

    def read(self, frame: Any, columns: Sequence[str]) -> pa.Table:
        """Return some columns of a small frame."""
        cut = _Cut(self.none(frame).select(list(columns)).schema)
        sent = _each(frame[list(columns)], lambda rows: _one(cut(rows)))
        return _whole(sent.compute(), cut.schema)

    def distinct(
        self, frame: Any, column: str, present: Sequence[str], any_of: Sequence[str]
    ) -> pa.Table:
        """Return the values of a column, of rows that have others."""
        columns = list(dict.fromkeys([column, *present, *any_of]))
        schema = self.none(frame).select(columns).schema
        cut = _Cut(schema, tuple(present), any_of=tuple(any_of))
        only, how = pa.schema([schema.field(column)]), Added((column,), (), ())
        values = _each(
            frame[columns], lambda rows: _one(_added(cut(rows).select([column]), how, only))
        )
        return _whole(_in_a_tree(values, how, only).compute(), only)

    def counted(self, frame: Any, user: str, item: str) -> tuple[pa.Table, int]:
        """Return each item with its number of users, and the number of all users, which is that of no item."""
        kind = self.none(frame).schema.field(item).type
        counts = pa.schema([("item", kind), ("value", pa.int64())])

        def of_bucket(tables: Mapping[str, pa.Table]) -> pa.Table:
            items, n_users = counted(pl.DataFrame(tables["pairs"]).select(user=user, item=item))
            of_none = pl.DataFrame({"item": [None], "value": [n_users]}, schema=items.schema)
            return pl.concat([items, of_none]).to_arrow().cast(counts)

        packed = _Packed({"pairs": Routed(frame, (user, item), user, (user, item))})
        sums = _in_a_tree(packed.each(of_bucket, _one), Added(("item",), ("value",), ()), counts)
        found = pl.DataFrame(_whole(sums.compute(), counts))
        n_users = found.filter(pl.col("item").is_null())["value"].sum()
        return found.drop_nulls("item").to_arrow(), int(n_users)

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
        packed, schema, finish = _Packed(work.routed), work.of_bucket.schema, work.finish
        if work.added is None:
            return packed.each(work.bucket, in_pandas, in_pandas(work.of_bucket))
        added = _in_a_tree(packed.each(work.bucket, _one), work.added, schema)

        def finished(sent: pd.DataFrame) -> pd.DataFrame:
            return in_pandas(finish(_whole(sent, schema)))

        return _each(added, finished, in_pandas(work.result))


class DaskFrame(EngineFrame):
    """A dask.dataframe.DataFrame."""

    engine = Dask()
    from_polars = "dask.dataframe.from_pandas(recs)"
    to_local = "truth.compute()"

    @property
    def index_names(self) -> list[object]:  # type: ignore[override]  # of a frame, and of no kind
        """The names that its index has."""
        return [name for name in self.frame._meta.index.names if name is not None]  # noqa: SLF001  Dask's word


@dataclass(frozen=True)
class _Cut:
    """Converter of a partition to an Arrow table of required data."""

    schema: pa.Schema
    present: tuple[str, ...] = ()
    most: tuple[str, float] | None = None
    any_of: tuple[str, ...] = ()

    def __call__(self, rows: pd.DataFrame) -> pa.Table:
        """Return a partition's rows as a table."""
        table = pa.table([_column(rows, one) for one in self.schema], schema=self.schema)
        return self.kept(table)

    def kept(self, table: pa.Table) -> pa.Table:
        """Return the rows of a table that are read."""
        rows = rows_with(pl.DataFrame(table), self.present, self.any_of, self.most)
        return rows.to_arrow().cast(self.schema)


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


def _column(rows: pd.DataFrame, field: pa.Field) -> pa.Array:
    """Return a column of a partition in the type that the frame's meta tells."""
    values = series(rows, field.name, field.name, is_id=True)
    if isinstance(values.dtype, pl.Enum | pl.Categorical):
        values = values.cast(pl.String)
    found = values.to_arrow()
    if pa.types.is_null(found.type) or plain(found.type) == field.type or _widens(found, field):
        return found.cast(field.type)
    msg = (
        f"column {field.name!r} is {plain(found.type)} in a partition, and {field.type} by the frame's meta; cast it before, "
        f"for example frame.astype({{{field.name!r}: 'string'}})"
    )
    raise ColumnError(msg)


def _widens(found: pa.Array, field: pa.Field) -> bool:
    """Whether a partition's type is of the same family as the one by the meta, which pandas may tell them apart by."""
    families = (pa.types.is_integer, pa.types.is_timestamp, pa.types.is_decimal)
    both = (found.type, field.type)
    numbers = all(pa.types.is_integer(one) or pa.types.is_floating(one) for one in both)
    return numbers or any(all(map(of, both)) for of in families)


def _buckets_of(users: pa.ChunkedArray, n_buckets: int) -> Any:
    """Return the number of each user's bucket.

    NOTE: by pandas' hashes, which are the same on all machines; whole numbers of any width have the same.
    """
    values = pl.Series("user", pl.from_arrow(users))
    if values.dtype.is_integer() or (values.dtype.is_temporal() and values.dtype != pl.Time):
        numbers = values.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
        hashes = pd.util.hash_array(numbers)
    else:
        texts = values.to_frame().select(as_text(pl.col("user"), values.dtype).fill_null(""))
        hashes = pd.util.hash_array(texts.to_series().to_numpy().astype(object))
    return (hashes % np.uint64(n_buckets)).astype(np.int64)


class _Packed:
    """The frames that travel: rows of all of them in as many partitions as there are buckets of users."""

    def __init__(self, routed: Mapping[str, Routed]) -> None:
        self.routed = routed
        nones = {name: _none(one) for name, one in routed.items()}
        self.sides = {
            name: Side(one.columns, one.user, nones[name], _hashed(nones[name], one.user))
            for name, one in routed.items()
        }

    def each(
        self,
        bucket: Callable[[Mapping[str, pa.Table]], pa.Table],
        made: Callable[[pa.Table], pd.DataFrame],
        meta: pd.DataFrame | None = None,
    ) -> Any:
        """Return what is made of each bucket."""
        n_buckets = _n_buckets(self.routed)
        sent = [self._sent(number, name, n_buckets) for number, name in enumerate(self.routed)]
        rows = sent[0] if len(sent) == 1 else dd.concat(sent)
        shuffled = partial(rows.shuffle, TO, ignore_index=True)
        rows = (rows.repartition if n_buckets == 1 else shuffled)(npartitions=n_buckets)
        unpacked = unpacking(self.sides, bucket)
        return _each(
            rows, lambda one: made(unpacked(pa.Table.from_pandas(one, preserve_index=False))), meta
        )

    def _sent(self, number: int, name: str, n_buckets: int) -> Any:
        """Return a frame's rows as one row for each bucket of each partition."""
        one, side = self.routed[name], self.sides[name]
        cut = _Cut(side.none.schema, one.present, one.most)

        def packed(table: pa.Table) -> pd.DataFrame:
            buckets = pa.array(_buckets_of(table[side.user], n_buckets), pa.int32())
            rows = table.rename_columns(side.names).append_column(BUCKET, buckets)
            return _in_bytes([side.put_in_buckets(rows, number)])

        if isinstance(one.frame, pa.Table):
            table = cut.kept(in_plain_types(one.frame.select(list(one.columns))))
            return dd.from_pandas(packed(table), npartitions=1, sort=False)
        return _each(one.frame[list(one.columns)], lambda rows: packed(cut(rows)))


def _none(one: Routed) -> pa.Table:
    """Return a table without rows of what is read of a frame."""
    table = one.frame.slice(0, 0) if isinstance(one.frame, pa.Table) else Dask().none(one.frame)
    return in_plain_types(table.select(list(one.columns)))


def _hashed(none: pa.Table, user: str) -> pa.DataType:
    """Return the type in which users have the same hash in frames with whole numbers of other widths."""
    kind = none.schema.field(user).type
    return pa.int64() if pa.types.is_integer(kind) else kind


def _in_bytes(sent: Sequence[pa.RecordBatch]) -> pd.DataFrame:
    """Return what is sent as a frame of pandas, which has the bytes as they are."""
    table = pa.Table.from_batches(sent, SENT).rename_columns(LARGE.names).cast(LARGE)
    found: pd.DataFrame = table.to_pandas(types_mapper={pa.large_binary(): BYTES}.get)
    return found


def _one(table: pa.Table) -> pd.DataFrame:
    """Return a table as the one row that is sent."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=COMPRESSED) as stream:
        stream.write_table(table)
    row = {BUCKET: [0], SIDE: [0], N_ROWS: [len(table)], ROWS: [sink.getvalue().to_pybytes()]}
    return _in_bytes([pa.RecordBatch.from_pydict(row, SENT)])


def _whole(sent: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    """Return the rows of all tables that were sent."""
    tables = [pa.ipc.open_stream(one).read_all() for one in sent[ROWS]]
    return pa.concat_tables([schema.empty_table(), *(one.cast(schema) for one in tables)])


def _each(
    frame: Any, made: Callable[[pd.DataFrame], pd.DataFrame], meta: pd.DataFrame | None = None
) -> Any:
    """Return what is made of each partition, rows that are sent where no other frame is named."""
    meta = _in_bytes([]) if meta is None else meta
    return frame.map_partitions(Step(made), meta=meta, enforce_metadata=False).clear_divisions()


def _in_a_tree(sent: Any, how: Added, schema: pa.Schema) -> Any:
    """Return the sums of all partitions in one."""

    def added(some: pd.DataFrame) -> pd.DataFrame:
        return _one(_added(_whole(some, schema), how, schema))

    while sent.npartitions > 1:
        fewer = -(-sent.npartitions // SUMS_AT_ONCE)
        sent = _each(sent.repartition(npartitions=fewer), added)
    return sent


def _added(rows: pa.Table, how: Added, schema: pa.Schema) -> pa.Table:
    """Return sums added up by their keys."""
    frame = pl.DataFrame(rows)
    sums = [pl.col(name).sum() for name in how.sums]
    same = [pl.col(name).drop_nulls().first() for name in how.same]
    most = [pl.col(name).max() for name in how.most]
    added = frame.group_by(how.keys).agg(*sums, *same, *most)
    return table_of(added.select(schema.names)).cast(schema)


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
    return max((one.npartitions for one in frames if not isinstance(one, pa.Table)), default=1)
