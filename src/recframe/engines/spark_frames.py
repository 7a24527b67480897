"""Spark frames (classic, Connect): one shuffle into buckets of users.

Each frame is cut to the columns that are read and, where it is read, half a million rows become one for each bucket,
`pmod(xxhash64(user), buckets)`, as bytes of Arrow; a union of these, and one exchange by the bucket; the library's own plan on
the tables of each bucket; and sums as bytes, which are added up once more on the workers. The driver makes the result of the
last few. Rows of users stay with Spark, and nothing of these runs before they are read.

NOTE: buckets are groups of `groupBy`, and no partitions: on a table that is bucketed by user Spark drops a repartition by
it, and `mapInArrow` then has users cut in two. Such a table is sent like any other: to compute on it where it lies, Spark has
to sort its rows, which takes more CPU time than to send them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from inspect import signature
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with pyspark[sql] and [connect]
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  as everyone writes it
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructField, StructType

from recframe.engines.engine_frames import EngineFrame, OfTables, local_rows
from recframe.engines.sent_rows import (
    BUCKET,
    SENT,
    Side,
    Tabled,
    adding,
    making,
    sending,
    sides_of,
    summing,
    sums_of,
)
from recframe.errors import RecframeError
from recframe.frames.kinds.engine import Added, Routed, Routes, Summing
from recframe.frames.kinds.pyarrow_frames import in_plain_types, table_of, without_rows

SETTING = "spark.sql.shuffle.partitions"
"""Spark's setting with the number of buckets: spark.conf.set("spark.sql.shuffle.partitions", 4000)."""
N_BUCKETS = 200
"""Number of buckets where the setting is no number, which is Spark's own default."""
# NOTE: Spark wants times back in UTC, whatever zone it shows them in; older versions know no other.
IN_UTC: dict[str, Any] = (
    {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
)
FLOATS = {"float", "double"}
_spark_schema = partial(from_arrow_schema, prefer_timestamp_ntz=True)
_SENT = _spark_schema(SENT)


def _column(name: str) -> Any:
    """Return a column by its name, whatever signs that has."""
    return F.col("`" + name.replace("`", "``") + "`")


def _below(frame: Any, other: Any) -> Any:
    """Return frames below each other; where one lacks a column, it is null there."""
    return frame.unionByName(other, allowMissingColumns=True)


class Spark(OfTables):
    """Spark, classic or Connect."""

    name = "Spark"

    def none(self, frame: Any) -> pa.Table:
        """Return a table without rows, whose schema is a frame's, but for columns of types that Arrow lacks."""
        _check(frame)
        fields = [field for field in frame.schema if _is_in_arrow(field)]
        return to_arrow_schema(StructType(fields), **IN_UTC).empty_table()

    def read(self, frame: Any, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns of a small frame."""
        _check(frame)
        return pl.DataFrame(in_plain_types(frame.select(*map(_column, columns)).toArrow()))

    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames below each other, with a column that has their names; where one lacks a column, it is null there."""
        for frame in frames.values():
            _check(frame)
        named = [frame.withColumn(model, F.lit(name)) for name, frame in frames.items()]
        return reduce(_below, named)

    def sums(
        self, frame: Any, routed: Routes, summed: Summing, added: Sequence[Added]
    ) -> list[list[pl.DataFrame]]:
        """Return the sums of all buckets, added up in a tree but for the last few."""
        of_buckets = _in_buckets(frame, routed, summing(sides_of(routed), summed, added), _SENT)
        few = _in_a_tree(of_buckets, added, _n_buckets(frame.sparkSession))
        return sums_of(few.toArrow(), len(added))

    def rows(self, frame: Any, routed: Routes, made: Summing, schema: pl.Schema) -> Any:
        """Return the rows that are made of each bucket, which Spark computes lazily."""
        none = without_rows(schema)
        return _in_buckets(
            frame, routed, making(sides_of(routed), made, none), _spark_schema(none.schema)
        )

    def give(self, frame: Any, result: pl.DataFrame) -> Any:
        """Return a small result as a frame of Spark."""
        table = table_of(result)
        return frame.sparkSession.createDataFrame(table, _spark_schema(table.schema))


class SparkFrame(EngineFrame):
    """A pyspark.sql.DataFrame."""

    engine = Spark()
    from_polars = "spark.createDataFrame(recs)"
    to_local = "truth.toPandas()"

    def __init__(self, frame: Any) -> None:
        super().__init__(frame)
        if not hasattr(frame, "sparkSession"):  # of pyspark.pandas, whose class has the same name
            raise RecframeError(
                "the frame is pandas on Spark, which has an order; give Spark's own: frame.to_spark()"
            )

    @property
    def columns(self) -> list[str]:
        """The names of the columns, of a frame that can be read to its end."""
        _check(self.frame)
        return list(self.frame.columns)


def _check(frame: Any) -> None:
    """Reject a frame that cannot be read to its end."""
    session = frame.sparkSession
    # the former of Spark Connect, which has no context
    stopped = getattr(session, "is_stopped", None)
    if session.sparkContext._jsc is None if stopped is None else stopped:  # noqa: SLF001  Spark tells it nowhere else
        raise RecframeError(
            "the session of this frame of Spark was stopped; start one, SparkSession.builder.getOrCreate(), and read the "
            "frame again"
        )
    if frame.isStreaming:
        raise RecframeError(
            "a streaming DataFrame of Spark has no last row; use its batches, which are DataFrames: "
            "stream.writeStream.foreachBatch(function)"
        )


def _is_in_arrow(field: StructField) -> bool:
    """Whether a column can be converted to Arrow."""
    try:
        to_arrow_schema(StructType([field]), **IN_UTC)
    except PySparkException:
        return False
    return True


def _in_buckets(frame: Any, routed: Routes, made: Tabled, schema: Any) -> Any:
    """Return what is made of each bucket, after a shuffle of rows as Arrow bytes."""
    n_buckets = _n_buckets(frame.sparkSession)
    sides = sides_of(routed)
    sent = [
        _sent(_cut(one, frame), sides[name], number, n_buckets)
        for number, (name, one) in enumerate(routed.items())
    ]
    rows = reduce(lambda one, other: one.union(other), sent)
    return rows.groupBy(BUCKET).applyInArrow(made, schema)


def _cut(one: Routed, beside: Any) -> Any:
    """Return the rows and columns of a frame that are read, in the session of another frame."""
    rows = one.frame
    if isinstance(rows, pl.LazyFrame):
        rows = beside.sparkSession.createDataFrame(table_of(local_rows(one)))
    for name in one.present:
        rows = rows.filter(_has(rows, name))
    if one.most is not None:
        rank, most = one.most
        rows = rows.filter(_has(rows, rank) & (_column(rank) <= F.lit(most)))
    return rows.select(*map(_column, one.columns))


def _has(frame: Any, name: str) -> Any:
    """Return whether a row has a value, which NaN is none."""
    column = _column(name)
    if frame.schema[name].dataType.typeName() not in FLOATS:
        return F.isnotnull(column)
    return column <= F.lit(math.inf)


def _sent(rows: Any, side: Side, number: int, n_buckets: int) -> Any:
    """Return rows of a frame as rows that are sent, one for each bucket."""
    common = _spark_schema(without_rows(pl.Schema({"user": side.common})).schema)
    # in the type that users of all frames have, since hashes differ by it
    user = _column(side.user).cast(common["user"].dataType)
    bucket = F.pmod(F.xxhash64(user), F.lit(n_buckets)).cast("int")
    named = zip(side.schema, side.names, strict=True)
    columns = [_column(column).alias(name) for column, name in named]
    return rows.select(*columns, bucket.alias(BUCKET)).mapInArrow(
        sending(side, number, n_buckets), _SENT
    )


def _in_a_tree(sums: Any, added: Sequence[Added], n_buckets: int) -> Any:
    """Return sums of which few parts are left."""
    n_left = math.isqrt(n_buckets)
    if n_left == 1:
        return sums
    left = F.pmod(F.col(BUCKET), F.lit(n_left))
    return sums.groupBy(left).applyInArrow(adding(added), _SENT)


def _n_buckets(session: Any) -> int:
    """Return the number of buckets: that of the partitions of a shuffle, which may be no number where Spark chooses it."""
    partitions = session.conf.get(SETTING)
    return int(partitions) if partitions.isdecimal() else N_BUCKETS
