"""Dask frames: one shuffle of Arrow bytes into buckets of users.

Each partition is cut to the columns that are read and becomes a row for each bucket, with the bucket's number and the rows as
Arrow writes them; one shuffle of all frames brings these to their buckets, where the plan of the call runs; and sums are added
up in a tree. The driver makes the result of them. Rows of users stay with Dask, and nothing of these runs before they are
computed.

NOTE: bytes, since pandas has no dtype for some columns (whole numbers with nulls, decimals, lists), whose values a shuffle
would then change; and partitions of a frame may differ in dtype where they have no values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import uuid4

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with dask[dataframe]

from recframe.engines.engine_frames import EngineFrame, OfTables, local_rows
from recframe.engines.sent_rows import (
    BUCKET,
    ROWS,
    SENT,
    Side,
    Tabled,
    adding,
    making,
    sides_of,
    summing,
    sums_of,
)
from recframe.errors import ColumnError
from recframe.frames.dtypes import as_text
from recframe.frames.kinds.engine import Added, Routed, Routes, Summing, rows_with
from recframe.frames.kinds.pandas_frames import dtype_name, series
from recframe.frames.kinds.pyarrow_frames import plain, table_of, without_rows

SUMS_AT_ONCE = 8
"""Parts of sums that are added up at once."""
TO = "_partitions"
"""Column name of partition numbers in Dask's shuffle."""
BYTES = pd.ArrowDtype(pa.large_binary())
LARGE = SENT.set(0, pa.field(TO, pa.int64())).set(3, pa.field(ROWS, pa.large_binary()))
"""The schema of what is sent, in which a partition may have any number of bytes."""


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
        schema = self.schema(frame)
        return _rows(
            frame[[*columns]].compute(), pl.Schema({name: schema[name] for name in columns})
        )

    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames below each other, with a column that has their names; where one lacks a column, it is null there."""
        named = [
            one.reset_index(drop=True).clear_divisions().assign(**{model: name})
            for name, one in frames.items()
        ]
        return dd.concat(named)

    def sums(
        self, frame: Any, routed: Routes, summed: Summing, added: Sequence[Added]
    ) -> list[list[pl.DataFrame]]:
        """Return the sums of all buckets, added up in a tree."""
        del frame
        sides = sides_of(routed)
        sent = _each_bucket(routed, sides, summing(sides, summed, added), _in_bytes)
        both = adding(added)
        while sent.npartitions > 1:
            fewer = -(-sent.npartitions // SUMS_AT_ONCE)
            sent = _each(
                sent.repartition(npartitions=fewer),
                lambda one: _in_bytes(both(_table_of_sent(one))),
            )
        return sums_of(_table_of_sent(sent.compute()), len(added))

    def rows(self, frame: Any, routed: Routes, made: Summing, schema: pl.Schema) -> Any:
        """Return the rows that are made of each bucket, when they are computed."""
        del frame
        sides, none = sides_of(routed), without_rows(schema)
        return _each_bucket(routed, sides, making(sides, made, none), in_pandas, in_pandas(none))

    def give(self, frame: Any, result: pl.DataFrame) -> Any:
        """Return a small result as a frame of Dask."""
        del frame
        return dd.from_pandas(in_pandas(table_of(result)), npartitions=1, sort=False)


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


def _rows(rows: pd.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Return a partition's rows in the dtypes that the frame's meta tells."""
    fields = without_rows(schema).schema
    columns = [_column(rows, field, schema[field.name]) for field in fields]
    return pl.DataFrame(pa.table(columns, schema=fields))


def _column(rows: pd.DataFrame, field: pa.Field, dtype: pl.DataType) -> pa.Array:
    """Return a column of a partition; by the kind of a number or a time pandas may tell partitions apart."""
    values = series(rows, field.name, field.name, is_id=True)
    if isinstance(values.dtype, pl.Enum | pl.Categorical):
        values = values.cast(pl.String)
    own = values.dtype
    if own in (pl.Null, dtype.base_type()) or (own.is_numeric() and dtype.is_numeric()):
        return values.to_arrow().cast(field.type)
    found = plain(values.to_arrow().type)
    raise ColumnError(
        f"column {field.name!r} is {found} in a partition, and {field.type} by the frame's meta; cast it first, for example "
        f"frame.astype({{{field.name!r}: 'string'}})"
    )


def _buckets_of(values: pl.Series, n_buckets: int) -> Any:
    """Return the number of each user's bucket.

    NOTE: by pandas' hashes, which are the same on all machines; whole numbers of any width have the same.
    """
    if values.dtype.is_integer():
        ids = values.cast(pl.Int64).fill_null(0).to_numpy()
    else:
        texts = values.to_frame().select(as_text(pl.nth(0), values.dtype).fill_null(""))
        ids = texts.to_series().to_numpy().astype(object)
    return (pd.util.hash_array(ids) % np.uint64(n_buckets)).astype(np.int64)


def _each_bucket(
    routed: Routes,
    sides: Mapping[str, Side],
    made: Tabled,
    given: Callable[[pa.Table], pd.DataFrame],
    meta: pd.DataFrame | None = None,
) -> Any:
    """Return what is made of each bucket: rows of all frames, in as many partitions as there are buckets of users."""
    n_buckets = _n_buckets(routed)
    sent = [
        _of_rows(one, partial(_packed, replace(one, frame=None), sides[name], number, n_buckets))
        for number, (name, one) in enumerate(routed.items())
    ]
    rows = sent[0] if len(sent) == 1 else dd.concat(sent)
    shuffled = partial(rows.shuffle, TO, ignore_index=True)
    rows = (rows.repartition if n_buckets == 1 else shuffled)(npartitions=n_buckets)
    return _each(rows, lambda one: given(made(_table_of_sent(one))), meta)


def _packed(
    routed: Routed, side: Side, number: int, n_buckets: int, rows: pl.DataFrame
) -> pa.Table:
    """Return rows of a frame as one row for each bucket."""
    rows = rows_with(rows, routed.present, routed.most)
    to = pl.Series(BUCKET, _buckets_of(rows.get_column(side.user), n_buckets))
    rows.columns = side.names
    return pa.Table.from_batches([side.put_in_buckets(rows.with_columns(to), number)])


def _of_rows(routed: Routed, made: Callable[[pl.DataFrame], pa.Table]) -> Any:
    """Return what is sent of each partition's rows, of the columns that are read."""
    if isinstance(routed.frame, pl.LazyFrame):
        return dd.from_pandas(_in_bytes(made(local_rows(routed))), npartitions=1, sort=False)
    schema = routed.schema
    return _each(routed.frame[routed.columns], lambda rows: _in_bytes(made(_rows(rows, schema))))


def _table_of_sent(sent: pd.DataFrame) -> pa.Table:
    """Return what was sent as a table, without the number of its bucket, which a shuffle takes away."""
    table = pa.Table.from_pandas(sent.assign(**{TO: 0})[LARGE.names], preserve_index=False)
    return table.rename_columns(SENT.names)


def _in_bytes(sent: pa.Table) -> pd.DataFrame:
    """Return what is sent as a frame of pandas, which has the bytes as they are."""
    table = sent.rename_columns(LARGE.names).cast(LARGE)
    found: pd.DataFrame = table.to_pandas(types_mapper={pa.large_binary(): BYTES}.get)
    return found


def _each(
    frame: Any, made: Callable[[pd.DataFrame], pd.DataFrame], meta: pd.DataFrame | None = None
) -> Any:
    """Return what is made of each partition, rows that are sent where no other frame is named."""
    meta = _in_bytes(SENT.empty_table()) if meta is None else meta
    return frame.map_partitions(Step(made), meta=meta, enforce_metadata=False).clear_divisions()


def in_pandas(table: pa.Table) -> pd.DataFrame:
    """Return a table in dtypes of pandas that hold its nulls: a partition without any has the same as others."""
    found: pd.DataFrame = table.to_pandas(types_mapper=_dtype)
    return found


def _dtype(kind: pa.DataType) -> Any:
    """Return the dtype of pandas that holds a type of Arrow with its nulls, None for that which pandas takes."""
    if pa.types.is_string(kind):
        return pd.StringDtype("pyarrow")
    if pa.types.is_integer(kind):
        return pd.Int64Dtype() if kind == pa.int64() else pd.ArrowDtype(kind)
    if pa.types.is_boolean(kind):
        return pd.BooleanDtype()
    as_it_is = pa.types.is_floating(kind) or pa.types.is_timestamp(kind)
    return None if as_it_is else pd.ArrowDtype(kind)


def _n_buckets(routed: Routes) -> int:
    """Return the number of buckets: that of the partitions of the frame with the most."""
    frames = (one.frame for one in routed.values())
    return max((getattr(frame, "npartitions", 1) for frame in frames), default=1)
