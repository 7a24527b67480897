"""Spark frames (classic, Connect): one shuffle into buckets of users.

Each frame is cut to the columns that are read and, where it is read, half a million rows become one for each bucket,
`pmod(xxhash64(user), buckets)`, as bytes of Arrow; a union of these, and one exchange by the bucket; the library's own plan on
the tables of each bucket; and sums as bytes, which are added up in a tree. The driver makes the result of the last few. Rows
of users stay with Spark, and nothing of these runs before they are read.

NOTE: buckets are groups of `groupBy`, and no partitions: on a table that is bucketed by user Spark drops a repartition by
it, and `mapInArrow` then has users cut in two. Such a table is sent like any other: to compute on it where it lies, Spark has
to sort its rows, which takes more CPU time than to send them.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial, reduce
from inspect import signature
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with pyspark[sql] and [connect]
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  as everyone writes it
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType

from recframe.engines.engine_frames import EngineFrame, OfTables, local_rows
from recframe.engines.sent_rows import (
    BUCKET,
    SENT,
    SUMS_AT_ONCE,
    Tabled,
    adding,
    making,
    sending,
    sides_of,
    summing,
    summing_in_place,
    sums_of,
)
from recframe.errors import ColumnError, RecframeError
from recframe.frames.kinds.engine import Added, Frames, Routed, Summing
from recframe.frames.kinds.pyarrow_frames import in_plain_types, table_of, without_rows

ROWS_OF_BUCKET = 1_000_000
"""Rows per task, approximately, held in memory at a time."""
FEWEST_ROWS = 200_000
"""Fewest rows of a bucket: smaller ones cost more overhead than they save."""
MOST_PARTS = SUMS_AT_ONCE**4
"""Parts of sums from which more levels of the tree would be needed."""
BYTES_OF_VALUE = 8
UNKNOWN = 2**60
"""Size in bytes from which Spark's estimate means unknown."""
SETTING = "spark.recframe.buckets"
"""Spark setting with the number of buckets: spark.conf.set("spark.recframe.buckets", 4000)."""
# NOTE: Spark wants times back in UTC, whatever zone it shows them in; older versions know no other.
IN_UTC: dict[str, Any] = (
    {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
)
FLOATS = {"float", "double"}
_SENT = from_arrow_schema(SENT)
_SIZE = re.compile(r"sizeInBytes=([0-9.E+]+) ?(\w+)(?:, rowCount=([0-9.E+]+))?")
_UNITS = {
    unit: 1024.0**power
    for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
}


def _column(name: str) -> Any:
    """Return a column by its name, whatever signs that has."""
    return F.col("`" + name.replace("`", "``") + "`")


def _below(frame: Any, other: Any) -> Any:
    """Return frames below each other; where one lacks a column, it is null there."""
    return frame.unionByName(other, allowMissingColumns=True)


class Spark(OfTables):
    """Spark, classic or Connect."""

    name = "Spark"

    def has(self, frame: Any, name: str) -> Any:
        """Return whether a row has a value, which NaN is none."""
        column = _column(name)
        if frame.schema[name].dataType.typeName() not in FLOATS:
            return F.isnotnull(column)
        return column <= F.lit(math.inf)

    def present(self, frame: Any, names: Sequence[str]) -> Any:
        """Return the rows that have a value in all of some columns."""
        return reduce(lambda rows, name: rows.filter(self.has(rows, name)), names, frame)

    def read(self, frame: Any, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns of a small frame."""
        _check(frame)
        return pl.DataFrame(in_plain_types(frame.select(*map(_column, columns)).toArrow()))

    def cut(self, one: Routed, beside: Any) -> Any:
        """Return the rows and columns of a frame that are read, in the session of another frame."""
        frame = one.frame
        if isinstance(frame, pl.LazyFrame):
            frame = beside.sparkSession.createDataFrame(table_of(local_rows(one)))
        rows = self.present(frame, one.present)
        if one.most is not None:
            rank, most = one.most
            rows = rows.filter(self.has(rows, rank) & (_column(rank) <= F.lit(most)))
        return rows.select(*map(_column, one.columns))

    def none(self, frame: Any) -> pa.Table:
        """Return a table without rows, whose schema is a frame's, but for columns of types that Arrow lacks."""
        _check(frame)
        fields = [field for field in frame.schema if _is_possible(_arrow_type, field.dataType)]
        return to_arrow_schema(StructType(fields), **IN_UTC).empty_table()

    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames below each other, with a column that has their names; where one lacks a column, it is null there."""
        for frame in frames.values():
            _check(frame)
        named = [frame.withColumn(model, F.lit(name)) for name, frame in frames.items()]
        return reduce(_below, named)

    def sums(
        self,
        frame: Any,
        routed: Mapping[str, Routed],
        summed: Summing,
        added: Sequence[Added],
        *,
        where_they_lie: bool,
    ) -> list[list[pl.DataFrame]]:
        """Return the sums of all buckets, added up in a tree but for the last few."""
        packed = Packed(frame, routed)
        made = packed.in_place(summed, added) if where_they_lie else packed.summed(summed, added)
        return sums_of(made.toArrow(), len(added))

    def rows(
        self,
        frame: Any,
        routed: Mapping[str, Routed],
        made: Callable[[Frames], pl.DataFrame],
        schema: pl.Schema,
    ) -> Any:
        """Return the rows that are made of each bucket, which Spark computes lazily."""
        packed, none = Packed(frame, routed), without_rows(schema)
        return packed.in_buckets(making(packed.sides, made, none), _spark_schema(none))

    def give(self, frame: Any, result: pl.DataFrame) -> Any:
        """Return a small result as a frame of Spark."""
        table = table_of(result)
        return frame.sparkSession.createDataFrame(table, _spark_schema(table))


class SparkFrame(EngineFrame):
    """A pyspark.sql.DataFrame."""

    engine = Spark()
    from_polars = "spark.createDataFrame(recs)"
    to_local = "truth.toPandas()"

    def __init__(self, frame: Any) -> None:
        super().__init__(frame)
        if not hasattr(frame, "sparkSession"):  # of pyspark.pandas, whose class has the same name
            msg = "the frame is pandas on Spark, which has an order; give Spark's own: frame.to_spark()"
            raise RecframeError(msg)

    @property
    def columns(self) -> list[str]:
        """The names of the columns, of a frame that can be read to its end."""
        _check(self.frame)
        return list(self.frame.columns)


class Packed:
    """All shuffled frames as one."""

    def __init__(self, frame: Any, routed: Mapping[str, Routed]) -> None:
        self.session, spark = frame.sparkSession, Spark()
        self.frames = {name: spark.cut(one, frame) for name, one in routed.items()}
        users = [self.frames[name].schema[one.user].dataType for name, one in routed.items()]
        self.user = _common(users)
        self.sides = sides_of(routed)

    def _columns(self, name: str) -> list[Any]:
        """Return the columns of a frame under the names that they have on the way."""
        side = self.sides[name]
        named = zip(side.columns, side.names, strict=True)
        return [_column(column).alias(sent) for column, sent in named]

    def _users(self, name: str) -> Any:
        """Return the users of a frame in the type that those of all frames have."""
        return _column(self.sides[name].user).cast(self.user)

    def in_buckets(self, made: Tabled, schema: Any) -> Any:
        """Return what is made of each bucket, after a shuffle of rows as Arrow bytes."""
        n_buckets = self.n_buckets
        sent = [
            self._sent_of(number, name, n_buckets).select(*_SENT.names)
            for number, name in enumerate(self.sides)
        ]
        rows = reduce(lambda a, b: a.union(b), sent)
        return rows.groupBy(BUCKET).applyInArrow(_arrow_function(made), schema)

    def summed(self, sums: Summing, added: Sequence[Added]) -> Any:
        """Return the sums of all buckets, each of which has a row for each kind of sums."""
        made = self.in_buckets(summing(self.sides, sums, added), _SENT)
        return _in_a_tree(made, added, self.n_buckets)

    def in_place(self, sums: Summing, added: Sequence[Added]) -> Any:
        """Return sums of a frame's rows where they lie."""
        ((name, side),) = self.sides.items()
        rows = self.frames[name].select(*self._columns(name), F.spark_partition_id().alias(BUCKET))
        made = rows.mapInArrow(summing_in_place(name, side, sums, added), _SENT)
        return _in_a_tree(made, added, self.n_buckets)

    @cached_property
    def n_buckets(self) -> int:
        """The number of buckets of users."""
        return _n_buckets(self.session, self.frames.values())

    def _sent_of(self, number: int, name: str, n_buckets: int) -> Any:
        bucket = F.pmod(F.xxhash64(self._users(name)), F.lit(n_buckets)).cast("int")
        rows = self.frames[name].select(*self._columns(name), bucket.alias(BUCKET))
        return rows.mapInArrow(sending(self.sides[name], number, n_buckets), _SENT)


def _in_a_tree(sums: Any, added: Sequence[Added], n_parts: int) -> Any:
    """Return sums of which few parts are left."""
    made, n_left = _arrow_function(adding(added)), MOST_PARTS
    while n_left > 1:
        n_left //= SUMS_AT_ONCE
        if 1 < n_left < n_parts:
            left = F.pmod(F.col(BUCKET), F.lit(n_left))
            sums = sums.groupBy(left).applyInArrow(made, _SENT)
    return sums


def _check(frame: Any) -> None:
    """Reject a frame that cannot be read to its end."""
    session = frame.sparkSession
    # the former of Spark Connect, which has no context
    stopped = getattr(session, "is_stopped", None)
    if session.sparkContext._jsc is None if stopped is None else stopped:  # noqa: SLF001  Spark tells it nowhere else
        msg = (
            "the session of this frame of Spark was stopped; start one, SparkSession.builder.getOrCreate(), and read the "
            "frame again"
        )
        raise RecframeError(msg)
    if frame.isStreaming:
        msg = (
            "a streaming DataFrame of Spark has no last row; use its batches, which are DataFrames: "
            "stream.writeStream.foreachBatch(function)"
        )
        raise RecframeError(msg)


def _arrow_function(made: Callable[[pa.Table], pa.Table]) -> Callable[[pa.Table], pa.Table]:
    """Return a function in the form that Spark asks for, which reads its signature."""

    def of_rows(rows: pa.Table) -> pa.Table:
        return made(rows)

    return of_rows


def _common(types: Sequence[Any]) -> Any:
    """Return the type of the users of all frames, whose hashes have to be the same."""
    names = {type_.typeName() for type_ in types}
    if len(names) > 1 and names <= {"byte", "short", "integer", "long"}:
        return LongType()
    if len(names) > 1:
        msg = f"the user ids have different types, {', '.join(sorted(names))}; cast them to one type, so that they can match"
        raise ColumnError(msg)
    return types[0]


def _spark_schema(none: pa.Table) -> Any:
    """Return Spark's schema of a table, or say which column Spark has no type for."""
    converted = partial(from_arrow_schema, prefer_timestamp_ntz=True)
    for field in none.schema:
        if not _is_possible(converted, pa.schema([field])):
            msg = f"the result's column {field.name!r} is {field.type}, for which Spark has no type; cast it first"
            raise ColumnError(msg)
    return converted(none.schema)


def _arrow_type(kind: Any) -> pa.DataType:
    return to_arrow_schema(StructType([StructField("value", kind)]), **IN_UTC).types[0]


def _is_possible(converted: Callable[[Any], object], kind: Any) -> bool:
    """Whether a type can be converted."""
    try:
        converted(kind)
    except PySparkException:
        return False
    return True


def _n_buckets(session: Any, frames: Iterable[Any]) -> int:
    """Return the number of buckets: what the user sets, or of about a million rows by Spark's estimate of sizes."""
    setting = session.conf.get(SETTING, None)
    if setting is not None:
        if not (str(setting).isdecimal() and int(setting)):
            msg = (
                f"{SETTING} is {setting!r}, but must be the number of buckets of users, 1 or more: "
                f"spark.conf.set({SETTING!r}, 4000)"
            )
            raise RecframeError(msg)
        return int(setting)
    n_rows = sum(_n_rows(frame) for frame in frames)
    partitions = int(session.conf.get("spark.sql.shuffle.partitions", "200"))
    several = min(partitions, math.ceil(n_rows / FEWEST_ROWS))
    return max(math.ceil(n_rows / ROWS_OF_BUCKET), several, 1)


def _n_rows(frame: Any) -> float:
    """Return about how many rows a frame has; those that Spark knows nothing of are counted."""
    found = _estimated(_plan(frame, "cost"), len(frame.columns))
    return float(frame.count()) if found is None else found


def _plan(frame: Any, mode: str = "simple") -> str:
    """Return Spark's explanation of a frame's plan."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        frame.explain(mode=mode)
    return told.getvalue()


def _estimated(told: str, n_columns: int) -> float | None:
    """Return the number of rows that a plan tells of, or that its bytes make; None where it knows neither."""
    found = _SIZE.search(told)
    if found is None:
        return None
    size, unit, rows = found.groups()
    if rows is not None:
        return float(rows)
    n_bytes = float(size) * _UNITS[unit] if unit in _UNITS else UNKNOWN
    return n_bytes / (BYTES_OF_VALUE * n_columns) if n_bytes < UNKNOWN else None
