"""Kinds of frames: schema, columns taken, results given; those of Polars."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from typing import Any, TypeVar

import polars as pl

from recframe.frames.collecting import LARGE, Ask, Collect, ask, run_by_size, stream
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
    found.results, found.collects = EagerKind(()), True
    return found
