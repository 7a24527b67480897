"""Kinds of frames, those of Polars, and runs of plans."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, cast

import polars as pl

from recframe.errors import END, START, DataError, RecframeError, kind_of
from recframe.frames.hints import OF_COLUMNS, OF_ENGINES, is_loaded, made_a_frame
from recframe.frames.kinds.engine import AllUsers, Engine
from recframe.frames.rows.joins import IS_POLARS_1, beside_one_another

Ask = Callable[[list[pl.LazyFrame]], list[pl.DataFrame]]
"""Type of functions that collect precomputed plans together."""
Collect = Callable[[pl.LazyFrame], pl.DataFrame]
"""Type of functions that collect a plan."""
LARGE = 20_000
_STREAMED = 2_000_000
# Polars 1 does not know the dtype of some literals without its optimizer.
_NO_OPTIMIZER = pl.QueryOptFlags() if IS_POLARS_1 else pl.QueryOptFlags.none()
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
    if names == list(columns):
        return result
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
    hold: frozenset[str] = frozenset()
    """Numbers of lists and truth that are known to break no rule: all ranks at least 1, no relevance infinite."""
    few: bool = False
    """Whether all frames are small, so that plan steps cost more than rows."""
    rows_are_items: bool = False
    """Whether a judged frame has no item column: each row is an item, identified by its number."""

    @classmethod
    def of(
        cls,
        taken: Mapping[str, Taken],
        finite: Mapping[str, Collection[str]],
        *,
        rows_are_items: bool,
    ) -> Known:
        """Return what is known of frames, whose `finite` columns have neither NaN nor infinity.

        A column is looked at in less time than a plan takes for it.
        """
        complete, hold, few = set(), set(), True
        judging = "truth" if "truth" in taken else "recommendations"
        for name, rows in taken.items():
            few = few and isinstance(rows, pl.DataFrame) and len(rows) <= LARGE
            if isinstance(rows, pl.LazyFrame) or name not in {"recommendations", "truth"}:
                continue
            if not (rows["user"].null_count() or rows["item"].null_count()):
                complete.add(name)
            if name == "recommendations" and "rank" in rows.columns:
                lowest = summary(rows, "rank", "min")
                if lowest is None or lowest >= 1:
                    hold.add("rank")
            if name == judging:
                is_float = rows.schema["relevance"].is_float()
                if not is_float or "relevance" in finite[name]:
                    hold.add("relevance")
        return cls(frozenset(complete), frozenset(hold), few, rows_are_items)


def is_number(dtype: pl.DataType) -> bool:
    """Whether a dtype is of numbers, or of Booleans, which are 0 and 1."""
    return dtype.is_numeric() or dtype == pl.Boolean


def summary(rows: pl.DataFrame, name: str, of: Literal["min", "sum"]) -> Any:
    """Return the lowest or the sum of a column.

    NOTE: a plan of many rows takes a third of the time of their column, and one of few rows ten times as long.
    """
    if len(rows) <= _STREAMED:
        return getattr(rows[name], of)()
    return stream(rows.lazy().select(getattr(pl.col(name), of)())).item()


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
    finite: Collection[str] = ()
    """Columns that were taken last whose numbers are all finite."""
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

    def run(self, plan: Taken) -> pl.DataFrame:
        """Collect a plan, by the engine that is the fastest for so many rows; a result stays as it is."""
        if isinstance(plan, pl.DataFrame):
            return plan
        return stream(plan) if self.is_lazy else run_by_size(plan, self.size)

    def applied(self, plan: Taken, to: Applied, schema: pl.Schema) -> Taken:
        """Return what a function makes of a plan's result, which is small; of a lazy one it runs when the plan does."""
        if self.collects:
            return to(self.run(plan))
        whole = dict.fromkeys(
            ("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False
        )
        return plan.lazy().map_batches(to, **whole, schema=schema)

    def give(
        self,
        plan: Taken,
        sources: Sources,
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> Any:
        """Return a plan's result as a frame of this kind, of which only some `columns` are given where they are named."""
        if not self.collects:
            return chosen(plan.lazy(), columns)
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
        """Return some columns, with null for NaN.

        NOTE: a sum is finite where all numbers are, and is had in less time than a mask.
        """
        columns = [
            self.column(name, inside, is_id=inside in ids).alias(inside)
            for inside, name in named.items()
        ]
        rows, finite = pl.DataFrame(columns), set()
        for name, dtype in zip(rows.columns, rows.dtypes, strict=True):
            if not dtype.is_float() or name in numbers:
                continue
            if math.isfinite(summary(rows, name, "sum")):
                finite.add(name)
            else:
                rows = rows.with_columns(rows[name].fill_nan(None))
        self.finite = finite
        return rows

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

    def column(self, name: str, inside: str, *, is_id: bool) -> pl.Series:
        """Return a column as it stands."""
        del inside, is_id
        return self.frame.get_column(name)

    def in_rows(self, result: pl.DataFrame) -> Rows:
        """Return the rows of a result."""
        return result.to_dicts()

    def gathered(self, places: pl.Series, beside: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of some places, with more columns beside."""
        if not (places[1:] > places[:-1]).all():
            # chunks make a gather of many rows slow
            source = self.frame.rechunk() if len(places) > self.size else self.frame
            rows = source[places]
        elif len(places) == self.size:
            rows = self.frame
        else:
            # a filter takes a quarter of the time of a gather
            is_there = pl.repeat(value=False, n=self.size, eager=True)
            rows = self.frame.filter(is_there.scatter(places, values=True))
        return beside_one_another([rows, beside])


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


KINDS = {
    "polars.DataFrame": "frames.kinds.kind.EagerPolars",
    "polars.LazyFrame": "frames.kinds.kind.LazyPolars",
    "pandas.DataFrame": "frames.kinds.pandas_frames.Pandas",
    "pyarrow.Table": "frames.kinds.pyarrow_frames.Arrow",
    "pyspark.DataFrame": "engines.spark_frames.SparkFrame",
    "dask.DataFrame": "engines.dask_frames.DaskFrame",
}
"""The kinds of the frames of libraries, by their path below recframe."""


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
        loaded = "".join(f", a {one}" for one in OF_ENGINES if is_loaded(one))
        taken = (
            f"a polars.DataFrame, a polars.LazyFrame, a pandas.DataFrame{loaded} or an Arrow table"
        )
        raise RecframeError(
            f"{title} is {kind_of(frame)}; give {taken}{made_a_frame(frame, of_values, is_stream=_is_stream(frame))}"
        )
    return found(frame)


def collected(frame: Any, title: str = "the frame") -> pl.DataFrame:
    """Return the rows of a small frame of any kind; the plan of a LazyFrame runs, and that of an engine's frame."""
    kind = kind_for(frame, title, of_values="")
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
        raise RecframeError(
            f"{title} is {kind_of(thing)}, which gives no table through Arrow's interface ({error}); give a frame of columns"
        ) from error
    if found.is_empty() and not hasattr(thing, "columns"):
        raise RecframeError(
            f"{title} is {kind_of(thing)} without rows; a stream can be read only once: first hold it in memory, as a "
            "pyarrow.Table or a polars.DataFrame"
        )
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


# Runs of plans, by the fastest engine for their size


@contextmanager
def plan_errors() -> Iterator[None]:
    """Turn the Polars error of a failed check into a DataError with the check's own words."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        found = re.search(f"{re.escape(START)}(.*?){re.escape(END)}", str(error), re.DOTALL)
        if found is None:
            raise
        raise DataError(found.group(1)) from None


def stream(plan: pl.LazyFrame) -> pl.DataFrame:
    """Collect a plan for frames that are lazy or that have many rows."""
    check_threads()
    with plan_errors():
        return plan.collect(engine="streaming")


def stream_all(plans: list[pl.LazyFrame]) -> list[pl.DataFrame]:
    """Collect plans of large frames together."""
    check_threads()
    with plan_errors():
        return pl.collect_all(plans, engine="streaming")


def run_by_size(plan: pl.LazyFrame, size: int) -> pl.DataFrame:
    """Collect a plan with the engine that suits an eager frame's number of rows.

    NOTE: the streaming engine takes longer to start than a plan of two million rows to run, and the optimizer takes longer
    than one of a few thousand.
    """
    if size > _STREAMED:
        return stream(plan)
    if size <= LARGE:
        return run_as_it_is(plan)
    with plan_errors():
        return plan.collect(engine="in-memory")


def run_all_by_size(plans: list[pl.LazyFrame], size: int) -> list[pl.DataFrame]:
    """Collect plans together, by the engine that suits the number of rows."""
    if len(plans) == 1:
        return [run_by_size(plans[0], size)]
    return (stream_all if size > _STREAMED else ask)(plans)


def run_as_it_is(plan: pl.LazyFrame) -> pl.DataFrame:
    """Collect a plan without optimizations, which cost more than they save on small frames."""
    with plan_errors():
        return plan.collect(engine="in-memory", optimizations=_NO_OPTIMIZER)


def ask(plans: list[pl.LazyFrame]) -> list[pl.DataFrame]:
    """Collect the precomputed plans of a large eager frame."""
    with plan_errors():
        return pl.collect_all(plans, engine="in-memory")


# Processes that were forked

_MOST_SIGNS = 15
"""Characters of a thread's name that Linux keeps."""
_there, _lost = set[str](), set[str]()
"""The names of the threads of a process that is forked, and in the forked one of those that it does not have."""


def check_threads() -> None:
    """Reject a forked process in which queries would deadlock, since Polars had threads before the fork."""
    first = f"{os.environ.get('POLARS_THREAD_NAME', 'polars')}-0"[:_MOST_SIGNS]
    if first in _lost:
        raise RecframeError(
            "this process was forked from one in which Polars had started its threads; a fork does not copy them, so a "
            "query would wait for ever: start processes with multiprocessing.get_context('spawn'), workers of a data loader "
            "with multiprocessing_context='spawn', or fork them before the first query"
        )


def _look_for_threads() -> None:
    """Note the threads of a process ahead of a fork, by Linux's files of them."""
    for one in Path("/proc/self/task").glob("*/comm"):
        with suppress(OSError):  # it has ended
            _there.add(one.read_text(encoding="utf-8", errors="replace").strip())


if hasattr(os, "register_at_fork"):  # which Windows does not have
    os.register_at_fork(before=_look_for_threads, after_in_child=lambda: _lost.update(_there))
