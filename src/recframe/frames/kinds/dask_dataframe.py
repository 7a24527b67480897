"""Frames of Dask: rows travel once, to the buckets of their users, as bytes of Arrow.

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
from recframe.frames.kinds.plain_tables import in_plain_types, plain, table_of
from recframe.frames.pandas_columns import dtype_name, series

SETTING = "recframe.buckets"
"""The number of buckets, where the user sets it: dask.config.set({"recframe.buckets": 4000})."""
SUMS_AT_ONCE = 8
"""The sums of so many buckets are added up at a time."""
TO = "_partitions"
"""The name by which Dask's shuffle knows the numbers of partitions."""
BYTES = pd.ArrowDtype(pa.large_binary())
COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
NONE_TO_SEND = pd.DataFrame(
    {
        TO: pd.Series(dtype="int64"),
        "side": pd.Series(dtype="int64"),
        "rows": pd.Series(dtype=BYTES),
    }
)


@dataclass(frozen=True)
class Step:
    """A function of a partition; Dask names its tasks by a token, and not by what the function holds."""

    made: Callable[[pd.DataFrame], pd.DataFrame]
    token: str = field(default_factory=lambda: uuid4().hex)

    def __call__(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return what the function makes of a partition."""
        return self.made(rows)

    def __dask_tokenize__(self) -> str:
        """Return what no other step has."""
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
        return _received(sent.compute(), cut.schema)

    def distinct(
        self, frame: Any, column: str, present: Sequence[str], any_of: Sequence[str]
    ) -> pa.Table:
        """Return the values of a column, of rows that have others."""
        columns = list(dict.fromkeys([column, *present, *any_of]))
        schema = self.none(frame).select(columns).schema
        cut = _Cut(schema, tuple(present), any_of=tuple(any_of))
        only = pa.schema([schema.field(column)])
        how = Added((column,), (), ())
        values = _each(
            frame[columns], lambda rows: _one(_added(cut(rows).select([column]), how, only))
        )
        return _received(_in_a_tree(values, how, only).compute(), only)

    def counted(self, frame: Any, user: str, item: str) -> tuple[pa.Table, int]:
        """Return each item with its number of users, and the number of all users, which is that of no item."""
        none = self.none(frame).select([user, item])
        counts = pa.schema([("item", none.schema.field(item).type), ("value", pa.int64())])
        how = Added(("item",), ("value",), ())

        def of_bucket(tables: Mapping[str, pa.Table]) -> pa.Table:
            pairs = pl.DataFrame(tables["pairs"]).select(user=user, item=item).unique()
            n_users = pl.DataFrame({"value": [pairs["user"].n_unique()]})
            items = pairs.group_by("item").agg(pl.len().alias("value").cast(pl.Int64))
            both = pl.concat([items, n_users], how="diagonal")
            return both.select("item", "value").to_arrow().cast(counts)

        routed = {"pairs": Routed(frame, (user, item), user, (user, item))}
        made = _each(_in_buckets(routed), _unpacking(routed, of_bucket, _one))
        found = pl.DataFrame(_received(_in_a_tree(made, how, counts).compute(), counts))
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
        rows = _in_buckets(work.routed)
        if work.added is None:
            made = _unpacking(work.routed, work.bucket, in_pandas)
            return _each(rows, made, meta=in_pandas(work.of_bucket))
        schema, finish = work.of_bucket.schema, work.finish
        sums = _each(rows, _unpacking(work.routed, work.bucket, _one))
        added = _in_a_tree(sums, work.added, schema)

        def finished(sent: pd.DataFrame) -> pd.DataFrame:
            return in_pandas(finish(_received(sent, schema)))

        return _each(added, finished, meta=in_pandas(work.result))


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
    """Makes a table of a partition: the columns that are read, and the rows that any plan reads."""

    schema: pa.Schema
    present: tuple[str, ...] = ()
    most: tuple[str, float] | None = None
    any_of: tuple[str, ...] = ()

    def __call__(self, rows: pd.DataFrame) -> pa.Table:
        """Return a partition's rows as a table."""
        table = pa.table([_column(rows, one) for one in self.schema], schema=self.schema)
        frame = pl.DataFrame(table)
        kept = [_has(frame, name) for name in self.present]
        if self.any_of:
            kept.append(pl.any_horizontal([_is_finite(frame, name) for name in self.any_of]))
        if self.most is not None:
            rank, most = self.most
            kept += [_has(frame, rank), pl.col(rank) <= most]
        if not kept:
            return table
        return table.filter(frame.select(pl.all_horizontal(kept)).to_series().to_arrow())


def _has(frame: pl.DataFrame, name: str) -> pl.Expr:
    """Return whether a row has a value, which NaN is none."""
    column = pl.col(name)
    if not frame.schema[name].is_float():
        return column.is_not_null()
    return column.is_not_nan().fill_null(value=False)


def _is_finite(frame: pl.DataFrame, name: str) -> pl.Expr:
    """Return whether a row has a value, which an infinite one is none."""
    column = pl.col(name)
    if not frame.schema[name].is_float():
        return column.is_not_null()
    return column.is_finite().fill_null(value=False)


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


def _packed(table: pa.Table, user: str, side: int, n_buckets: int) -> pd.DataFrame:
    """Return a table's rows as one row for each bucket."""
    buckets = _buckets_of(table[user], n_buckets)
    order = np.argsort(buckets, kind="stable")
    numbers, starts = np.unique(buckets[order], return_index=True)
    rows = table.take(pa.array(order)).combine_chunks()
    sizes = np.diff(starts, append=len(rows))
    sent = [_bytes(rows.slice(start, size)) for start, size in zip(starts, sizes, strict=True)]
    return _sent(numbers, side, sent)


def _sent(buckets: Any, side: int, sent: Sequence[bytes]) -> pd.DataFrame:
    columns = {
        TO: pd.Series(buckets, dtype="int64"),
        "side": pd.Series([side] * len(sent), dtype="int64"),
        "rows": pd.Series(sent, dtype=BYTES),
    }
    return pd.DataFrame(columns)


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=COMPRESSED) as stream:
        stream.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _one(table: pa.Table) -> pd.DataFrame:
    """Return a table as the one row that is sent."""
    return _sent([0], 0, [_bytes(table)])


def _received(sent: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    """Return the rows of all that was sent."""
    tables = [pa.ipc.open_stream(one).read_all() for one in sent["rows"]]
    return pa.concat_tables([schema.empty_table(), *(one.cast(schema) for one in tables)])


def _each(
    frame: Any, made: Callable[[pd.DataFrame], pd.DataFrame], meta: Any = NONE_TO_SEND
) -> Any:
    return frame.map_partitions(Step(made), meta=meta, enforce_metadata=False).clear_divisions()


def _in_buckets(routed: Mapping[str, Routed]) -> Any:
    """Return the rows of all frames in as many partitions as there are buckets."""
    n_buckets = _n_buckets(routed)
    sent = [_routed(one, side, n_buckets) for side, one in enumerate(routed.values())]
    rows = sent[0] if len(sent) == 1 else dd.concat(sent)
    if n_buckets == 1:
        return rows.repartition(npartitions=1)
    return rows.shuffle(TO, npartitions=n_buckets, ignore_index=True)


def _routed(one: Routed, side: int, n_buckets: int) -> Any:
    columns, user = list(one.columns), one.user
    if isinstance(one.frame, pa.Table):
        table = _plain_rows(one)
        return dd.from_pandas(_packed(table, user, side, n_buckets), npartitions=1, sort=False)
    schema = Dask().none(one.frame).select(columns).schema
    cut = _Cut(schema, one.present, one.most)

    def packed(rows: pd.DataFrame) -> pd.DataFrame:
        return _packed(cut(rows), user, side, n_buckets)

    return _each(one.frame[columns], packed)


def _plain_rows(one: Routed) -> pa.Table:
    """Return the rows of a table that are read."""
    table = in_plain_types(one.frame.select(list(one.columns)))
    frame = pl.DataFrame(table)
    kept = [_has(frame, name) for name in one.present]
    if not kept:
        return table
    return table.filter(frame.select(pl.all_horizontal(kept)).to_series().to_arrow())


def _unpacking(
    routed: Mapping[str, Routed],
    bucket: Callable[[Mapping[str, pa.Table]], pa.Table],
    made: Callable[[pa.Table], pd.DataFrame],
) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a function of a bucket's rows as they were sent."""
    schemas = {name: _schema(one) for name, one in routed.items()}

    def unpacked(sent: pd.DataFrame) -> pd.DataFrame:
        found = {
            name: _received(sent[sent["side"] == side], schema)
            for side, (name, schema) in enumerate(schemas.items())
        }
        return made(bucket(found))

    return unpacked


def _schema(one: Routed) -> pa.Schema:
    table = one.frame if isinstance(one.frame, pa.Table) else Dask().none(one.frame)
    return in_plain_types(table.slice(0, 0).select(list(one.columns))).schema


def _in_a_tree(sent: Any, how: Added, schema: pa.Schema) -> Any:
    """Return the sums of all partitions in one."""

    def added(some: pd.DataFrame) -> pd.DataFrame:
        return _one(_added(_received(some, schema), how, schema))

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


KIND = DaskFrame
