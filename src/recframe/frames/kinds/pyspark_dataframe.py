"""Frames of Spark, classic and Connect: rows of all frames travel once, to the buckets of their users.

The plan of a call is one union of the frames that travel, each cut to the columns that are read; one exchange by the bucket,
`pmod(xxhash64(user), buckets)`; the library's own plan on the Arrow table of each bucket; an exchange of the sums, which
Spark adds up before and behind it; and one task that makes the result of them. Nothing runs before the result is asked for,
but for small tables: items, and where they are needed models and popularities.

NOTE: buckets are groups of `groupBy`, and no partitions: on a table that is bucketed by user Spark drops a repartition by
it, and `mapInArrow` then has users cut in two. A group is held in memory, which is why it is about a million rows.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from inspect import signature
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with pyspark[sql] and [connect]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from pyspark.sql import functions as F  # noqa: N812  as everyone writes it
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import LongType

from recframe.errors import ColumnError, RecframeError
from recframe.frames.kinds.engine import Added, Engine, Routed, Work
from recframe.frames.kinds.kind import Kind, Seen, Taken
from recframe.frames.kinds.polars_dataframe import may_be_labels, of_numbers

ROWS_OF_BUCKET = 1_000_000
"""About as many rows are held by a task at a time."""
FEWEST_ROWS = 100_000
"""Buckets of fewer rows would cost more than they share out."""
BYTES_OF_VALUE = 8
UNKNOWN = 2**60
"""Spark gives the sizes of frames that it knows nothing of as such numbers of bytes."""
SETTING = "spark.recframe.buckets"
"""The number of buckets, where the user sets it: spark.conf.set("spark.recframe.buckets", 4000)."""
# NOTE: Spark wants times back in UTC, whatever zone it shows them in; older versions know no other.
IN_UTC: dict[str, Any] = (
    {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
)
SIDE = "side"
FLOATS = {"float", "double"}
_SIZE = re.compile(r"sizeInBytes=([0-9.E+]+) ?(\w+)(?:, rowCount=([0-9.E+]+))?")
_UNITS = {
    unit: 1024.0**power
    for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
}


class Spark(Engine):
    """Spark, classic or Connect."""

    name = "Spark"

    def none(self, frame: Any) -> pa.Table:
        """Return a table without rows, whose schema is a frame's."""
        return to_arrow_schema(frame.schema, **IN_UTC).empty_table()

    def read(self, frame: Any, columns: Sequence[str]) -> pa.Table:
        """Return some columns of a small frame."""
        return frame.select([_column(name) for name in columns]).toArrow()

    def distinct(
        self, frame: Any, column: str, present: Sequence[str], any_of: Sequence[str]
    ) -> pa.Table:
        """Return the values of a column, of rows that have others."""
        rows = _present(frame, present)
        if any_of:
            rows = rows.filter(
                reduce(lambda a, b: a | b, (_is_finite(rows, name) for name in any_of))
            )
        return rows.select(_column(column)).distinct().toArrow()

    def counted(self, frame: Any, user: str, item: str) -> tuple[pa.Table, int]:
        """Return each item with its number of users, and the number of all users."""
        pairs = _present(frame, [user, item]).select(
            _column(user).alias("user"), _column(item).alias("item")
        )
        items = pairs.distinct().groupBy("item").agg(F.count(F.lit(1)).alias("value")).toArrow()
        n_users = pairs.agg(F.countDistinct("user").alias("n")).toArrow()
        return items, n_users["n"][0].as_py()

    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames below each other, with a column that has their names; where one lacks a column, it is null there."""
        named = [frame.withColumn(model, F.lit(name)) for name, frame in frames.items()]
        return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), named)

    def run(self, frame: Any, work: Work) -> Any:
        """Return the result of a call, which Spark makes when it is asked for."""
        session = frame.sparkSession
        packed = Packed(session, work.routed)
        rows = packed.rows()
        bucket = F.pmod(F.xxhash64("slot0"), F.lit(_buckets(session, packed.frames)))
        made = rows.groupBy(bucket.alias("bucket")).applyInArrow(
            _arrow_function(packed.unpacking(work.bucket)), _spark_schema(work.of_bucket)
        )
        if work.added is None:
            return made
        added = _added(made, work.added, work.of_bucket.column_names)
        return added.groupBy().applyInArrow(
            _arrow_function(work.finish), _spark_schema(work.result)
        )


class SparkFrame(Kind):
    """A pyspark.sql.DataFrame."""

    engine = Spark()
    is_lazy = True

    def __init__(self, frame: Any) -> None:
        super().__init__(frame)
        if not hasattr(frame, "sparkSession"):  # of pyspark.pandas, whose class has the same name
            msg = "the frame is pandas' on Spark, which has an order of its own; give Spark's: frame.to_spark()"
            raise RecframeError(msg)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.columns)

    def labels(self) -> list[str]:
        """Return the names of the columns whose values may be labels."""
        return may_be_labels(self._schema)

    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers."""
        return of_numbers(self._schema)

    @property
    def _schema(self) -> pl.Schema:
        return pl.DataFrame(self.engine.none(self.frame)).schema

    def take(
        self, named: Mapping[str, str], ids: Collection[str] = (), numbers: Collection[str] = ()
    ) -> Taken:
        """Say that the lists have to be Spark's, too."""
        del named, ids, numbers
        msg = (
            "a side frame is Spark's and the lists are not: give them to Spark, spark.createDataFrame(recs), or take the "
            "side frame from it, truth.toPandas()"
        )
        raise RecframeError(msg)

    def give(self, plan: pl.LazyFrame, sources: Mapping[str, Any], seen: Seen | None = None) -> Any:
        """Say that plans of Polars have no result in Spark."""
        del plan, sources, seen
        raise NotImplementedError

    def rows(self, result: Any) -> None:
        """Return None: nothing is collected."""
        del result


class Packed:
    """The frames that travel as one, whose rows say which frame they are of; columns of one type share a slot."""

    def __init__(self, session: Any, routed: Mapping[str, Routed]) -> None:
        self.session, self.routed = session, routed
        self.frames = {name: _cut(session, one) for name, one in routed.items()}
        ids = {name: one.columns.index(one.user) for name, one in routed.items()}
        types = {name: _types(one) for name, one in self.frames.items()}
        self.slots: list[Any] = [_common([types[name][place] for name, place in ids.items()])]
        self.places = {name: self._placed(found, ids[name]) for name, found in types.items()}

    def _placed(self, types: Sequence[Any], user: int) -> list[int]:
        """Return the slot of each column: users in the first, others in one of their type that the frame has free."""
        places: list[int] = []
        for place, kind in enumerate(types):
            fits = [slot > 0 and one == kind for slot, one in enumerate(self.slots)]
            free = (slot for slot, good in enumerate(fits) if good and slot not in places)
            slot = 0 if place == user else next(free, len(self.slots))
            if slot == len(self.slots):
                self.slots.append(kind)
            places.append(slot)
        return places

    def rows(self) -> Any:
        """Return the rows of all frames, and one of none, so that there is a bucket where there are no rows."""
        empty = self.session.range(1).select(*self._slots({}), F.lit(-1).alias(SIDE))
        frames = [self._packed(number, name) for number, name in enumerate(self.routed)]
        return reduce(lambda a, b: a.union(b), frames, empty)

    def _packed(self, number: int, name: str) -> Any:
        frame = self.frames[name]
        columns = dict(zip(self.places[name], frame.columns, strict=True))
        return frame.select(*self._slots(columns), F.lit(number).alias(SIDE))

    def _slots(self, columns: Mapping[int, str]) -> list[Any]:
        return [
            (_column(columns[slot]) if slot in columns else F.lit(None))
            .cast(kind)
            .alias(f"slot{slot}")
            for slot, kind in enumerate(self.slots)
        ]

    def unpacking(self, bucket: Callable[[Mapping[str, pa.Table]], pa.Table]) -> Callable[..., Any]:
        """Return a function of a bucket's rows."""
        columns = {name: one.columns for name, one in self.routed.items()}
        places = self.places

        def unpacked(rows: pa.Table) -> pa.Table:
            found = {}
            for number, name in enumerate(columns):
                mine = rows.filter(pc.equal(rows[SIDE], number))
                taken = [mine[f"slot{slot}"] for slot in places[name]]
                found[name] = pa.table(taken, names=list(columns[name]))
            return bucket(found)

        return unpacked


def _arrow_function(made: Callable[[pa.Table], pa.Table]) -> Callable[[pa.Table], pa.Table]:
    """Return a function in the form that Spark asks for, which reads its signature."""

    def of_rows(rows: pa.Table) -> pa.Table:
        return made(rows)

    return of_rows


def _cut(session: Any, one: Routed) -> Any:
    """Return the rows and columns of a frame that are read."""
    frame = one.frame
    if isinstance(frame, pa.Table):
        frame = session.createDataFrame(frame.select(list(one.columns)))
    rows = _present(frame, one.present)
    if one.most is not None:
        rank, most = one.most
        rows = rows.filter(_column(rank) <= F.lit(most))
    return rows.select([_column(name) for name in one.columns])


def _added(rows: Any, how: Added, names: Sequence[str]) -> Any:
    """Return sums added up by their keys, under the names and in the order of the rows."""
    sums = [F.sum(_column(name)).alias(name) for name in how.sums]
    same = [F.first(_column(name), ignorenulls=True).alias(name) for name in how.same]
    found = rows.groupBy([_column(name) for name in how.keys]).agg(*sums, *same)
    return found.select([_column(name) for name in names])


def _column(name: str) -> Any:
    """Return a column by its name, whatever signs that has."""
    return F.col("`" + name.replace("`", "``") + "`")


def _has(frame: Any, name: str) -> Any:
    """Return whether a row has a value, which NaN is none."""
    kind, column = frame.schema[name].dataType.typeName(), _column(name)
    return column.isNotNull() & ~F.isnan(column) if kind in FLOATS else column.isNotNull()


def _is_finite(frame: Any, name: str) -> Any:
    """Return whether a row has a value, which an infinite one is none."""
    is_float = frame.schema[name].dataType.typeName() in FLOATS
    bounded = F.abs(_column(name)) < F.lit(math.inf)
    return _has(frame, name) & bounded if is_float else _has(frame, name)


def _present(frame: Any, names: Sequence[str]) -> Any:
    return reduce(lambda rows, name: rows.filter(_has(rows, name)), names, frame)


def _common(types: Sequence[Any]) -> Any:
    """Return the type of the users of all frames, whose hashes have to be the same."""
    names = {one.typeName() for one in types}
    if len(names) > 1 and names <= {"byte", "short", "integer", "long"}:
        return LongType()
    if len(names) > 1:
        msg = f"the user ids have different types, {', '.join(sorted(names))}; cast them to one, so that they can meet"
        raise ColumnError(msg)
    return types[0]


def _types(frame: Any) -> list[Any]:
    return [field.dataType for field in frame.schema]


def _spark_schema(none: pa.Table) -> Any:
    return from_arrow_schema(none.schema, prefer_timestamp_ntz=True)


def _buckets(session: Any, frames: Mapping[str, Any]) -> int:
    """Return the number of buckets: what the user sets, or of about a million rows by Spark's estimate of sizes."""
    setting = session.conf.get(SETTING, None)
    if setting is not None:
        return max(int(setting), 1)
    n_rows = sum(_rows(frame) for frame in frames.values())
    partitions = int(session.conf.get("spark.sql.shuffle.partitions", "200"))
    return max(
        math.ceil(n_rows / ROWS_OF_BUCKET), min(partitions, math.ceil(n_rows / FEWEST_ROWS)), 1
    )


def _rows(frame: Any) -> float:
    """Return about how many rows a frame has; those that Spark knows nothing of are counted."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        frame.explain(mode="cost")
    found = _SIZE.search(told.getvalue())
    if found is None:
        return float(frame.count())
    size, unit, rows = found.groups()
    if rows is not None:
        return float(rows)
    n_bytes = float(size) * _UNITS.get(unit, 1.0)
    return (
        n_bytes / (BYTES_OF_VALUE * len(frame.columns))
        if n_bytes < UNKNOWN
        else float(frame.count())
    )


KIND = SparkFrame
