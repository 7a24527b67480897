"""Daft frames: one shuffle of rows into buckets of users.

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
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any

import daft
import daft.functions as F  # noqa: N812  as for other engines
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with the extra
from daft import DataType, Expression, col, lit

from recframe.engines.engine_frames import EngineFrame, OfExpressions, in_tables
from recframe.engines.sent_rows import BUCKET
from recframe.engines.sent_rows import Bucket as OfBucket
from recframe.frames.kinds.engine import Routed, Work
from recframe.frames.kinds.pyarrow_frames import without_rows

ROWS_OF_BUCKET = 1_000_000
"""Rows per bucket, approximately, held in memory at a time."""
SETTING = "RECFRAME_DAFT_BUCKETS"
"""Environment variable with the number of buckets."""
MADE = "made"
_ROWS = re.compile(r"Approx num rows = ([\d,]+)")


class Daft(OfExpressions):
    """Daft."""

    name = "Daft"
    groups_structs = False  # where a row of other sums has none
    column = staticmethod(col)
    literal = staticmethod(lit)
    is_there = staticmethod(Expression.not_null)
    adding = (Expression.sum, partial(Expression.any_value, ignore_nulls=True), Expression.max)
    count = staticmethod(Expression.count)

    def is_float(self, frame: Any, name: str) -> bool:
        """Whether a column has floats."""
        return frame.schema()[name].dtype in {DataType.float32(), DataType.float64()}

    def n_rows(self, frame: Any) -> int:
        """Count the rows."""
        return int(frame.count_rows())

    def made_of(self, table: pa.Table, beside: Any) -> Any:
        """Return a table as a frame."""
        del beside
        return daft.from_arrow(table)

    def none(self, frame: Any) -> pa.Table:
        """Return a table without rows, whose schema is a frame's."""
        return frame.schema().to_pyarrow_schema().empty_table()

    def table(self, frame: Any) -> pa.Table:
        """Return the rows of a small frame."""
        return frame.to_arrow()

    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames below each other, with a column that has their names; where one lacks a column, it is null there."""
        named = [frame.with_column(model, lit(name)) for name, frame in frames.items()]
        return reduce(lambda a, b: a.union_all_by_name(b), named)

    def run(self, frame: Any, work: Work) -> Any:
        """Return the result of a call, which Daft makes when it is collected."""
        del frame
        schemas = {name: without_rows(one.schema).schema for name, one in work.routed.items()}
        tables = in_tables(work)
        of_bucket = tables.of_bucket
        made = _of_groups(_in_buckets(self, work.routed), schemas, tables.bucket, of_bucket)
        if work.added is None:
            return made
        names, finish = of_bucket.column_names, tables.finish
        sums = self.added(made, work.added).select(lit(0).alias(BUCKET), _struct(names, MADE))
        of_sums = {MADE: of_bucket.schema}
        return _of_groups(sums, of_sums, lambda one: finish(one[MADE]), tables.result)


class DaftFrame(EngineFrame):
    """A daft.DataFrame."""

    engine = Daft()
    from_polars = "daft.from_arrow(recs.to_arrow())"
    to_local = "truth.to_arrow()"

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.column_names)


def _in_buckets(engine: Daft, routed: Mapping[str, Routed]) -> Any:
    """Return the rows of all frames, each with its bucket and a struct of the columns of its frame.

    There is a row of no frame, so that there is a bucket where there are no rows.
    """
    frames = {name: engine.cut(one, None) for name, one in routed.items()}
    n_buckets = lit(_n_buckets(frames.values())).cast(DataType.uint64())
    rows = [daft.from_pydict({BUCKET: [0]}).select(col(BUCKET).cast(DataType.uint64()))]
    for name, frame in frames.items():
        bucket = (F.hash(_id(frame, routed[name].user)) % n_buckets).cast(DataType.uint64())
        rows.append(frame.select(bucket.alias(BUCKET), _struct(frame.column_names, name)))
    return reduce(lambda a, b: a.union_all_by_name(b), rows)


def _struct(names: Sequence[str], under: str) -> Any:
    return F.to_struct(*map(col, names)).alias(under)


def _of_groups(
    rows: Any,
    sides: Mapping[str, pa.Schema],
    made: OfBucket,
    none: pa.Table,
) -> Any:
    """Return what is made of the rows of each bucket, which have a struct for each of some tables."""
    schema = none.schema

    def of_group(*structs: Any) -> pa.StructArray:
        held = zip(sides.items(), structs, strict=True)
        frames = {name: _rows(one.to_arrow(), columns) for (name, columns), one in held}
        return made(frames).to_struct_array().combine_chunks()

    batch = daft.func.batch(return_dtype=DataType.from_arrow_type(pa.struct(list(schema))))
    found = rows.groupby(BUCKET).map_groups(batch(of_group)(*map(col, sides)).alias(MADE))
    return found.select(*(col(MADE).get(name).alias(name) for name in schema.names))


def _rows(structs: pa.StructArray, schema: pa.Schema) -> pl.DataFrame:
    """Return the rows of a frame, of those of all frames."""
    mine = structs.filter(structs.is_valid())
    return pl.DataFrame(pa.table(mine.flatten(), names=schema.names).cast(schema))


def _id(frame: Any, user: str) -> Any:
    """Return users such that whole numbers of any width have the same hash."""
    kind = frame.schema()[user].dtype
    return col(user).cast(DataType.int64()) if kind.is_integer() else col(user)


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
    return Daft().n_rows(frame) if found is None else int(found[1].replace(",", ""))
