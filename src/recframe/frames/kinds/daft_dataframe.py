"""Frames of Daft: rows of all frames travel once, to the buckets of their users.

The plan of a call is one concatenation of the frames that travel, each cut to the columns that are read, which become one
struct; a grouping by the bucket, whose Arrow tables the library's own plan gets; a grouping of the sums by their keys; and one
group that makes the result of them. Nothing runs before the result is collected, but for small tables: items, and where they
are needed models and popularities.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import daft
import daft.functions as F  # noqa: N812  as for other engines
import pyarrow as pa  # type: ignore[import-untyped]  # comes with the extra
from daft import DataType, col, lit

from recframe.frames.kinds.engine import Added, Engine, Routed, Work
from recframe.frames.kinds.engine_frame import EngineFrame
from recframe.frames.kinds.plain_tables import in_plain_types

ROWS_OF_BUCKET = 1_000_000
"""About as many rows are held at a time for each bucket."""
SETTING = "RECFRAME_DAFT_BUCKETS"
"""The number of buckets, where the user sets it in the environment."""
BUCKET, SIDE, MADE = "bucket", "side", "made"
_ROWS = re.compile(r"Approx num rows = ([\d,]+)")


class Daft(Engine):
    """Daft."""

    name = "Daft"

    def none(self, frame: Any) -> pa.Table:
        """Return a table without rows, whose schema is a frame's."""
        return frame.schema().to_pyarrow_schema().empty_table()

    def read(self, frame: Any, columns: Sequence[str]) -> pa.Table:
        """Return some columns of a small frame."""
        return frame.select(*columns).to_arrow()

    def distinct(
        self, frame: Any, column: str, present: Sequence[str], any_of: Sequence[str]
    ) -> pa.Table:
        """Return the values of a column, of rows that have others."""
        rows = _present(frame, present)
        if any_of:
            rows = rows.where(
                reduce(lambda a, b: a | b, (_is_finite(rows, name) for name in any_of))
            )
        return rows.select(column).distinct().to_arrow()

    def counted(self, frame: Any, user: str, item: str) -> tuple[pa.Table, int]:
        """Return each item with its number of users, and the number of all users."""
        columns = col(user).alias("user"), col(item).alias("item")
        pairs = _present(frame, [user, item]).select(*columns).distinct()
        counts = pairs.groupby("item").agg(col("user").count().alias("value")).to_arrow()
        return counts.select(["item", "value"]), pairs.select("user").distinct().count_rows()

    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames below each other, with a column that has their names; where one lacks a column, it is null there."""
        named = [frame.with_column(model, lit(name)) for name, frame in frames.items()]
        return reduce(lambda a, b: a.union_all_by_name(b), named)

    def run(self, frame: Any, work: Work) -> Any:
        """Return the result of a call, which Daft makes when it is collected."""
        del frame
        packed = _Packed(work.routed)
        made = _made(packed.unpacking(work.bucket), work.of_bucket.schema)
        sides = [col(name) for name in packed.sides]
        rows = packed.rows().groupby(BUCKET).map_groups(made(col(SIDE), *sides).alias(MADE))
        if work.added is None:
            return _unpacked(rows, work.of_bucket)
        added = _added(_unpacked(rows, work.of_bucket), work.added)
        names, finished = work.of_bucket.column_names, _finishing(work.of_bucket, work.finish)
        one = added.select(lit(0).alias(BUCKET), *(col(name) for name in names))
        made = _made(finished, work.result.schema)
        columns = [col(name) for name in names]
        whole = one.groupby(BUCKET).map_groups(made(col(BUCKET), *columns).alias(MADE))
        return _unpacked(whole, work.result)


class DaftFrame(EngineFrame):
    """A daft.DataFrame."""

    engine = Daft()
    from_polars = "daft.from_arrow(recs.to_arrow())"
    to_local = "truth.to_arrow()"

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.column_names)


class _Packed:
    """The frames that travel as one: a bucket, the number of the frame, and a struct of columns for each frame."""

    def __init__(self, routed: Mapping[str, Routed]) -> None:
        self.routed = routed
        self.frames = {name: _cut(one) for name, one in routed.items()}
        self.sides = [f"side {number}" for number in range(len(routed))]
        self.schemas = [
            in_plain_types(Daft().none(one)).schema.remove_metadata()
            for one in self.frames.values()
        ]
        self.types = [_struct_of(one) for one in self.frames.values()]

    def rows(self) -> Any:
        """Return the rows of all frames, and one of none, so that there is a bucket where there are no rows."""
        n_buckets = _n_buckets(self.frames.values())
        empty = daft.from_pydict({"none": [0]})
        found = [empty.select(*self._columns(-1, lit(0).cast(DataType.uint64())))]
        for number, (name, frame) in enumerate(self.frames.items()):
            bucket = F.hash(_id(frame, self.routed[name].user)) % lit(n_buckets).cast(
                DataType.uint64()
            )
            found.append(
                frame.select(*self._columns(number, bucket.cast(DataType.uint64()), frame))
            )
        return reduce(lambda a, b: a.concat(b), found)

    def _columns(self, number: int, bucket: Any, frame: Any = None) -> list[Any]:
        sides = [
            lit(None).cast(kind).alias(name)
            for name, kind in zip(self.sides, self.types, strict=True)
        ]
        if frame is not None:
            mine = F.to_struct(*(col(one) for one in frame.column_names))
            sides[number] = mine.alias(self.sides[number])
        return [bucket.alias(BUCKET), lit(number).cast(DataType.int32()).alias(SIDE), *sides]

    def unpacking(self, bucket: Callable[[Mapping[str, pa.Table]], pa.Table]) -> Callable[..., Any]:
        """Return a function of a bucket's columns."""
        names, schemas = list(self.routed), self.schemas

        def unpacked(side: Any, *structs: Any) -> pa.Table:
            number = side.to_arrow()
            found = {}
            for place, (name, schema) in enumerate(zip(names, schemas, strict=True)):
                mine = structs[place].to_arrow().filter(pa.compute.equal(number, place))
                found[name] = pa.table(mine.flatten(), names=schema.names).cast(schema)
            return bucket(found)

        return unpacked


def _struct_of(frame: Any) -> Any:
    """Return the type of a struct of a frame's columns."""
    return DataType.struct({field.name: field.dtype for field in frame.schema()})


def _finishing(none: pa.Table, finish: Callable[[pa.Table], pa.Table]) -> Callable[..., pa.Table]:
    """Return a function of the columns of all sums, behind the one by which they are a group."""

    def finished(_: Any, *columns: Any) -> pa.Table:
        arrays = [one.to_arrow() for one in columns]
        return finish(pa.table(arrays, names=none.column_names).cast(none.schema))

    return finished


def _made(made: Callable[..., pa.Table], schema: pa.Schema) -> Any:
    """Return a function of a group's columns for Daft, which makes a struct of each row."""
    kind = DataType.from_arrow_type(pa.struct(list(schema)))

    def of_group(*columns: Any) -> pa.StructArray:
        table = made(*columns).cast(schema).combine_chunks()
        arrays = [_whole(column) for column in table.columns]
        return pa.StructArray.from_arrays(arrays, fields=list(schema))

    return daft.func.batch(return_dtype=kind)(of_group)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return found if isinstance(found, pa.Array) else pa.concat_arrays(found.chunks)


def _unpacked(rows: Any, none: pa.Table) -> Any:
    return rows.select(*(col(MADE).get(name).alias(name) for name in none.column_names))


def _cut(one: Routed) -> Any:
    """Return the rows and columns of a frame that are read."""
    frame = one.frame
    if isinstance(frame, pa.Table):
        frame = daft.from_arrow(frame.select(list(one.columns)))
    rows = _present(frame, one.present)
    if one.most is not None:
        rank, most = one.most
        rows = rows.where(_has(rows, rank) & (col(rank) <= lit(most)))
    return rows.select(*one.columns)


def _added(rows: Any, how: Added) -> Any:
    """Return sums added up by their keys."""
    sums = [col(name).sum().alias(name) for name in how.sums]
    same = [col(name).any_value(ignore_nulls=True).alias(name) for name in how.same]
    most = [col(name).max().alias(name) for name in how.most]
    return rows.groupby(*how.keys).agg(*sums, *same, *most)


def _id(frame: Any, user: str) -> Any:
    """Return users such that whole numbers of any width have the same hash."""
    kind = frame.schema()[user].dtype
    return col(user).cast(DataType.int64()) if kind.is_integer() else col(user)


def _has(frame: Any, name: str) -> Any:
    """Return whether a row has a value, which NaN is none."""
    there = col(name).not_null()
    if not _is_float(frame, name):
        return there
    return there & F.fill_null(F.not_nan(col(name)), False)  # noqa: FBT003  a value


def _is_finite(frame: Any, name: str) -> Any:
    """Return whether a row has a value, which an infinite one is none."""
    if not _is_float(frame, name):
        return _has(frame, name)
    return _has(frame, name) & (F.abs(col(name)) < lit(math.inf))


def _is_float(frame: Any, name: str) -> bool:
    return frame.schema()[name].dtype in {DataType.float32(), DataType.float64()}


def _present(frame: Any, names: Sequence[str]) -> Any:
    return reduce(lambda rows, name: rows.where(_has(rows, name)), names, frame)


def _n_buckets(frames: Any) -> int:
    """Return the number of buckets: what the user sets, or of about a million rows by Daft's estimate."""
    setting = os.environ.get(SETTING)
    if setting is not None:
        return max(int(setting), 1)
    n_rows = sum(_n_rows(frame) for frame in frames)
    return max(math.ceil(n_rows / ROWS_OF_BUCKET), min(os.cpu_count() or 1, n_rows // 100_000), 1)


def _n_rows(frame: Any) -> int:
    """Return about how many rows a frame has; where Daft has no estimate they are counted."""
    told = io.StringIO()
    frame.explain(show_all=True, file=told)
    found = _ROWS.search(told.getvalue())
    return int(frame.count_rows()) if found is None else int(found[1].replace(",", ""))


KIND = DaftFrame
