"""Kinds of frames, with those of Polars, and their lookup."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import polars as pl

from recframe.errors import RecframeError, kind_of, shown
from recframe.frames.collecting import (
    LARGE,
    Ask,
    Collect,
    ask,
    check_threads,
    run_by_size,
    stream,
)
from recframe.frames.hints import Either
from recframe.frames.kinds.engine import AllUsers, Engine
from recframe.frames.rows.joins import beside_one_another

Taken = pl.LazyFrame | pl.DataFrame
"""Columns under their roles' names; eager if the frame is."""
Named = Mapping[str, str]
"""The names of columns by those that they are taken under."""
Names = Collection[str]
Sources = Mapping[str, Any]
"""Origins of a result's columns, by name."""
Rows = list[dict[str, Any]]
Applied = Callable[[pl.DataFrame], pl.DataFrame]
"""Type of functions of a small frame."""
Seen = Callable[[pl.DataFrame, Collect], object]
"""Type of callbacks with a collected result and a function to collect plans."""
Result = TypeVar("Result", pl.LazyFrame, pl.DataFrame)
ROW = "number of the row"
"""Column by which whole rows of an eager frame are found again."""
HELD = "column of the log"
"""Prefix of a lazy frame's own columns beside those of its roles."""
TEXT_OR_BOOLEAN = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)


def chosen(result: Result, columns: Sequence[str] | None) -> Result:
    """Return some columns of a result, in that order; without `columns` all.

    NOTE: by position, since names such as "^.*$" are patterns to Polars.
    """
    if columns is None:
        return result
    names = result.collect_schema().names()
    return result.select([pl.nth(names.index(column)) for column in columns])


def at_hand(taken: Taken) -> pl.DataFrame | None:
    """Return a frame with data available before a plan runs; None if it is lazy."""
    return None if isinstance(taken, pl.LazyFrame) else taken


def eager(taken: Mapping[str, Taken]) -> dict[str, pl.DataFrame]:
    """Return the eager ones of some frames."""
    return {name: rows for name, rows in taken.items() if isinstance(rows, pl.DataFrame)}


class Known(NamedTuple):
    """Facts of the eager frames of a call."""

    complete: frozenset[str] = frozenset()
    """Frames of lists and truth in which every row has a user and an item."""
    ranks_hold: bool = False
    """Whether all ranks are known to be at least 1."""
    few: bool = False
    """Whether all frames are small, so that plan steps cost more than rows."""
    rows_are_items: bool = False
    """Whether a judged frame has no item column: each row is an item, identified by its number."""

    @classmethod
    def of(cls, taken: Mapping[str, Taken], *, rows_are_items: bool) -> Known:
        """Return what is known of frames; ranks are looked at where these are few."""
        complete, few, ranks_hold = set(), True, False
        for name, rows in taken.items():
            is_small = isinstance(rows, pl.DataFrame) and len(rows) <= LARGE
            few = few and is_small
            if isinstance(rows, pl.LazyFrame) or name not in {"recommendations", "truth"}:
                continue
            if not (rows["user"].null_count() or rows["item"].null_count()):
                complete.add(name)
            if is_small and name == "recommendations" and "rank" in rows.columns:
                lowest: Any = rows["rank"].min()
                ranks_hold = lowest is None or bool(lowest >= 1)
        return cls(frozenset(complete), ranks_hold, few, rows_are_items)


def is_number(dtype: pl.DataType) -> bool:
    """Whether a dtype is of numbers, or of Booleans, which are 0 and 1."""
    return dtype.is_numeric() or dtype == pl.Boolean


def without_nan(rows: pl.DataFrame, numbers: Names) -> pl.DataFrame:
    """Return rows with null for NaN, but in the numbers that are read as given.

    NOTE: a sum is NaN where a number is, and is had in less time than a mask.
    """
    for name, dtype in zip(rows.columns, rows.dtypes, strict=True):
        if dtype.is_float() and name not in numbers and math.isnan(rows[name].sum()):
            rows = rows.with_columns(rows[name].fill_nan(None))
    return rows


class Kind:
    """Frame of one kind."""

    frame: Any
    size = 0
    """Number of rows, 0 if unknown."""
    is_lazy = False
    """Whether nothing of the frame is at hand before a plan runs."""
    collects = True
    """Whether results are collected."""
    index_names: Sequence[object] = ()
    """The names of an index, which are no columns."""
    results: Kind | None = None
    """The kind that results are of, where it is another."""
    engine: Engine | None = None
    """Engine of a remote frame, whose calls run bucket by bucket; None if local."""
    all_users: AllUsers | None = None
    """Sums of all users, where a plan has rows of some; None where it has those of all."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.columns)

    @property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The dtypes that the columns have in Polars, of those that it can read."""
        raise NotImplementedError

    def labels(self) -> list[str]:
        """Return the names of the columns whose values may be labels: text, categories, whole numbers and Booleans."""
        return [
            name
            for name, dtype in self.schema.items()
            if dtype.is_integer() or dtype in TEXT_OR_BOOLEAN
        ]

    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers, and of Booleans, which are 0 and 1."""
        return [name for name, dtype in self.schema.items() if is_number(dtype)]

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> Taken:
        """Return some columns under the names that are the keys of `named`.

        `ids` are the keys whose values must match those of other frames. NaN comes as null, which pandas' floats cannot
        tell from it, but for those `numbers` of which whoever reads them says what NaN is.
        """
        raise NotImplementedError

    def held_rows(self, named: Named, numbers: Names = ()) -> pl.LazyFrame:
        """Return some columns, as `take` does, and what `give_held` needs to give whole rows back."""
        raise NotImplementedError

    def give_held(self, rows: pl.LazyFrame, beside: Named) -> Any:
        """Return rows of `held_rows` as a frame of this kind: its own columns, and some of `rows` under other names."""
        raise NotImplementedError

    def stand_beside(self, size: int) -> None:
        """Use the size of the largest frame of the call to choose how plans run."""
        self.size = max(self.size, size)

    def source(self, _name: str) -> Any:
        """Return the data needed to restore a column's type; None where the plan's dtypes suffice."""
        return None

    @property
    def asks(self) -> Ask | None:
        """The function that collects precomputed plans, for frames so large that these pay off; None otherwise."""
        return ask if self.size > LARGE and not self.is_lazy else None

    def run(self, plan: pl.LazyFrame) -> pl.DataFrame:
        """Collect a plan, by the engine that is the fastest for so many rows."""
        return stream(plan) if self.is_lazy else run_by_size(plan, self.size)

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's result, which is small; of a lazy one it runs when the plan does."""
        if self.collects:
            return to(self.run(plan)).lazy()
        whole = dict.fromkeys(
            ("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False
        )
        return plan.map_batches(to, **whole, schema=schema)

    def give(
        self,
        plan: pl.LazyFrame,
        sources: Sources,
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> Any:
        """Return a plan's result as a frame of this kind, of which only some `columns` are given where they are named."""
        if not self.collects:
            return chosen(plan, columns)
        result = self.run(plan)
        if seen is not None:
            seen(result, self.run)
        return (self.results or self).in_kind(chosen(result, columns), sources)

    def in_kind(self, result: pl.DataFrame, _sources: Sources) -> Any:
        """Return a collected result as a frame of this kind."""
        return result

    def rows(self, result: Any) -> Rows | None:
        """Return the rows of a small result; None where they are not at hand."""
        return (self.results or self).in_rows(result)

    def in_rows(self, _result: Any) -> Rows | None:
        """Return the rows of a small result of this kind."""
        return None


class EagerKind(Kind):
    """Frame in memory: size known, plans collected at once."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.size = frame, len(frame)

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> Taken:
        """Return some columns, with null for NaN."""
        columns = [
            self.column(name, inside, is_id=inside in ids).alias(inside)
            for inside, name in named.items()
        ]
        return without_nan(pl.DataFrame(columns), numbers)

    def held_rows(self, named: Named, numbers: Names = ()) -> pl.LazyFrame:
        """Return some columns, and the number of the row."""
        return self.take(named, named, numbers).lazy().with_row_index(ROW)

    def give_held(self, rows: pl.LazyFrame, beside: Named) -> Any:
        """Return rows as a frame of this kind: its own columns, and some of `rows` under other names."""
        plan = rows.select(ROW, *(pl.col(inside).alias(name) for inside, name in beside.items()))
        found = ask([plan])[0]
        return self.gathered(found[ROW], found.drop(ROW))

    def gathered(self, places: pl.Series, beside: pl.DataFrame) -> Any:
        """Return the rows of some places, with more columns beside."""
        raise NotImplementedError

    def column(self, name: str, inside: str, *, is_id: bool) -> pl.Series:
        """Return a column, which has a name inside the plan and may be one of ids."""
        raise NotImplementedError

    def in_rows(self, result: Any) -> Rows | None:
        """Return the rows of a result."""
        # NOTE: pandas' own records take as long as a small plan
        values = zip(*(result[name].to_list() for name in result.columns), strict=True)
        return [dict(zip(result.columns, row, strict=True)) for row in values]


class EagerPolars(EagerKind):
    """A polars.DataFrame."""

    frame: pl.DataFrame

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns with their dtypes; Polars' own schema takes ten times as long."""
        return dict(zip(self.frame.columns, self.frame.dtypes, strict=True))

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> pl.DataFrame:
        """Return some columns, with null for NaN."""
        del ids  # they stand as they are
        columns = [self.frame.get_column(name).alias(inside) for inside, name in named.items()]
        return without_nan(pl.DataFrame(columns), numbers)

    def in_rows(self, result: pl.DataFrame) -> Rows:
        """Return the rows of a result."""
        return result.to_dicts()

    def gathered(self, places: pl.Series, beside: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of some places, with more columns beside."""
        return beside_one_another([self.frame[places], beside])


class LazyPolars(Kind):
    """A polars.LazyFrame."""

    frame: pl.LazyFrame
    is_lazy = True
    collects = False

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names()

    @property
    def schema(self) -> pl.Schema:
        """The columns with their dtypes."""
        return self.frame.collect_schema()

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> pl.LazyFrame:
        """Return some columns, with null for NaN."""
        del ids  # they stand as they are
        return self.frame.select(self._of_roles(named, numbers))

    def _of_roles(self, named: Named, numbers: Names) -> list[pl.Expr]:
        """Return columns under their names inside the plan.

        NOTE: by position, since a column may be named "*" or "^.*$", which Polars reads as a pattern.
        """
        schema, found = self.schema, []
        places = {name: place for place, name in enumerate(schema)}
        for inside, name in named.items():
            column = pl.nth(places[name])
            is_float = schema[name].is_float() and inside not in numbers
            found.append((column.fill_nan(None) if is_float else column).alias(inside))
        return found

    def held_rows(self, named: Named, numbers: Names = ()) -> pl.LazyFrame:
        """Return some columns, and all by their places."""
        own = (pl.nth(place).alias(f"{HELD} {place}") for place, _ in enumerate(self.columns))
        return self.frame.select(*self._of_roles(named, numbers), *own)

    def give_held(self, rows: pl.LazyFrame, beside: Named) -> pl.LazyFrame:
        """Return rows with the frame's own columns, and some of `rows` under other names."""
        own = [pl.col(f"{HELD} {place}").alias(name) for place, name in enumerate(self.columns)]
        return rows.select(*own, *(pl.col(inside).alias(name) for inside, name in beside.items()))


def with_results_of_polars(kind: Kind) -> Kind:
    """Return a kind whose results are collected frames of Polars."""
    found = copy(kind)
    found.results, found.collects = EagerPolars(pl.DataFrame()), True
    return found


OF_ENGINES = ("pyspark.sql.DataFrame", "dask.dataframe.DataFrame")
"""The classes of the frames that engines hold."""
KINDS = {
    "polars.DataFrame": "frames.kinds.kind.EagerPolars",
    "polars.LazyFrame": "frames.kinds.kind.LazyPolars",
    "pandas.DataFrame": "frames.kinds.pandas_frames.Pandas",
    "pyarrow.Table": "frames.kinds.pyarrow_frames.Arrow",
    "pyspark.DataFrame": "engines.spark_frames.SparkFrame",
    "dask.DataFrame": "engines.dask_frames.DaskFrame",
}
"""The kinds of the frames of libraries, by their path below recframe."""
READERS = {
    ".parquet": "pl.scan_parquet({})",
    ".csv": "pl.scan_csv({})",
    ".tsv": "pl.scan_csv({}, separator='\\t')",
    ".arrow": "pl.scan_ipc({})",
    ".ipc": "pl.scan_ipc({})",
    ".feather": "pl.scan_ipc({})",
    ".jsonl": "pl.scan_ndjson({})",
    ".ndjson": "pl.scan_ndjson({})",
    ".json": "pl.read_json({})",
    ".qrels": "rf.read_trec_qrels({})",
    ".run": "rf.read_trec_run({})",
}
"""The calls that read files, by the files' suffixes."""
OF_COLUMNS = ", with columns of users, items and ranks or scores: pl.DataFrame({...})"
"""How lists, dictionaries and arrays become recommendations."""


class ArrowStream(Protocol):
    """Frame of any library that exports Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the columns as a stream."""


def kind_for(frame: Any, title: object = "the frame", of_values: str = OF_COLUMNS) -> Kind:
    """Return a frame's kind, or raise an error that lists the supported frames.

    `of_values` are the words on how a list, a dictionary or an array becomes this frame.
    """
    found = kind_of_class(type(frame))  # type: ignore[arg-type]  # a class can be hashed
    if found is None:
        loaded = "".join(f", a {one}" for one in OF_ENGINES if _is_loaded(one))
        taken = (
            f"a polars.DataFrame, a polars.LazyFrame, a pandas.DataFrame{loaded} or an Arrow table"
        )
        msg = f"{title} is {kind_of(frame)}; give {taken}{_made_a_frame(frame, of_values)}"
        raise RecframeError(msg)
    return found(frame)


def collected(frame: Any, title: str = "the frame") -> pl.DataFrame:
    """Return the rows of a small frame of any kind; the plan of a LazyFrame runs, and that of an engine's frame."""
    kind = kind_for(frame, title)
    if kind.engine is not None:
        return pl.DataFrame(kind.engine.read(frame, kind.columns))
    return stream(kind.take({name: name for name in kind.columns}).lazy())


def is_frame(thing: object) -> bool:
    """Whether an object is a supported frame."""
    return kind_of_class(type(thing)) is not None or _is_stream(thing)  # type: ignore[arg-type]


def in_memory(thing: Any, title: str = "the frame") -> Any:
    """Return a frame that is known by Arrow's interface alone as a frame of Polars, and anything else as it is.

    NOTE: what is bound is read several times, and a stream can be read once, a query costs anew each time. So it is read
    here, where it is bound. It becomes a frame of Polars, since that needs no other library and has the same interface.
    """
    if kind_of_class(type(thing)) is not None or not _is_stream(thing):  # type: ignore[arg-type]
        return thing
    check_threads()
    try:
        found = pl.DataFrame(thing)
    except Exception as error:
        msg = f"{title} is {kind_of(thing)}, which gives no table through Arrow's interface ({error}); give a frame of columns"
        raise RecframeError(msg) from error
    if found.is_empty() and not hasattr(thing, "columns"):
        msg = (
            f"{title} is {kind_of(thing)} without rows; a stream can be read only once: first hold it in memory, as a "
            "pyarrow.Table or a polars.DataFrame"
        )
        raise RecframeError(msg)
    return found


def _is_stream(thing: object) -> bool:
    """Whether something gives a table through Arrow's interface; a column does too, and has a dtype of its own."""
    if not hasattr(thing, "__arrow_c_stream__"):
        return False
    is_column = hasattr(thing, "dtype") or hasattr(thing, "type")
    return hasattr(thing, "columns") or not is_column


@cache
def kind_of_class(frame_class: type) -> type[Kind] | None:
    """Return the kind of a class or of one that it is made from; a frame of recframe's own says it itself.

    NOTE: a file is imported for a frame of its own library alone, which is then loaded, so that no kind costs anything
    where it is not used.
    """
    for base in frame_class.__mro__:
        library = base.__module__.partition(".")[0]
        path, _, name = KINDS.get(f"{library}.{base.__name__}", "").rpartition(".")
        if name:
            return cast("type[Kind]", getattr(import_module(f"recframe.{path}"), name))
        if "KIND" in vars(base):
            return cast("type[Kind]", vars(base)["KIND"])
    return None


def _is_loaded(frame_class: str) -> bool:
    """Whether the library of an engine's frames is loaded, as it is where there is one."""
    return frame_class.rpartition(".")[0] in sys.modules


def _made_a_frame(thing: Any, of_values: str) -> str:
    """Return how something else becomes a frame, where that is known."""
    library, kind = type(thing).__module__.partition(".")[0], type(thing).__name__
    if _is_stream(thing):
        return str(Either(": rf.rec(frame) reads it"))
    if isinstance(thing, str | os.PathLike):
        return _read_from(os.fsdecode(thing))
    known = {
        "recframe": ", not what recframe makes of it",
        "pyarrow": ": one column of a table is none",
        "NamedFrame": str(Either(", and name its columns in the call: rf.rec(frame, user='...')")),
        "Series": ": series.reset_index()" if library == "pandas" else ": series.to_frame()",
    }
    rows = ": spark.createDataFrame(rdd, ['user', 'item', 'rank'])"
    known |= dict.fromkeys(("RDD", "PipelinedRDD"), rows)
    known |= dict.fromkeys(("list", "dict", "ndarray"), of_values)
    if "Group" in kind:
        return ": the one that was grouped, with the groups as by='...'"
    return known.get(kind) or known.get(library, "")


def _read_from(path: str) -> str:
    """Return how the file of a path is read, by its suffix."""
    for suffix in reversed(PurePath(path).suffixes):  # that of data.csv.gz is before the last
        if call := READERS.get(suffix.lower()):
            return f", not a path: {call.format(shown(path))}"
    or_table = ", or a table's name: spark.table(name)" if _is_loaded(OF_ENGINES[0]) else ""
    return f", not a path: pl.scan_parquet(path), pl.scan_csv(path){or_table}"
