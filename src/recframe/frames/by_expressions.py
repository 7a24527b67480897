"""Columns of segments that Polars expressions make of other columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from uuid import uuid4

import polars as pl

from recframe.errors import ColumnError, RecframeError
from recframe.frames.hints import Given
from recframe.frames.kinds.kind import Taken

ROOT = "root "
"""Prefix of the columns that an expression reads."""
WAITING = "recframe waiting "
_N_ROWS = 3


@dataclass(frozen=True)
class Made:
    """Column computed by an expression from one frame's columns."""

    key: bytes
    """Identity of the expression."""
    name: str
    """Name in the result."""
    roots: tuple[str, ...] = field(compare=False)
    """Columns that the expression reads."""
    expression: pl.Expr = field(compare=False)

    def __repr__(self) -> str:
        return str(self.expression)

    def of_ids(self, rows: pl.LazyFrame, role: str, inside: str) -> pl.LazyFrame:
        """Return rows with the column, which is made of ids alone."""
        names = rows.collect_schema().names()
        columns: pl.LazyFrame = _under_own_names(rows, names, dict.fromkeys(self.roots, role))
        return columns.select(*_back(names), self.expression.alias(inside))

    @property
    def reads_own_row(self) -> bool:
        """Whether the expression is known to read only its own row."""
        return is_elementwise(self.expression)

    def check_reads_own_row(
        self, which: str, column: str, error: type[RecframeError] = ColumnError
    ) -> None:
        """Reject an expression that reads other rows; `which` says why, and `column` what to make of it."""
        if not self.reads_own_row:
            raise error(
                f"{Given('by', self)} reads other rows than its own, {which}; first make it {column}"
            )

    def column(self, columns: Taken, inside: str, title: str) -> pl.Expr:
        """Return the column, after a check of it against a frame's columns, whose names are those of `roots`."""
        schema = columns.lazy().select(self.roots).collect_schema()
        made = self.expression.alias(inside)
        dtype = columns.lazy().select(made).collect_schema()[inside]
        if not _keeps_rows(self.expression, schema):
            raise ColumnError(
                f"{Given('by', self)} does not give a value for each row of {title}: it aggregates, filters or explodes; "
                "write an expression that does, with .over(...) after an aggregation"
            )
        return made.fill_nan(None) if dtype.is_float() else made


def with_made(taken: Taken, plain: Sequence[str], made: Mapping[str, Made], title: str) -> Taken:
    """Return some columns as they are, and those that expressions make of others, which begin with `ROOT`."""
    roots = chain.from_iterable(one.roots for one in made.values())
    columns: Taken = _under_own_names(taken, plain, {root: ROOT + root for root in roots})
    kept, inside, one = _back(plain), "", None
    try:
        for inside, one in made.items():
            kept.append(one.column(columns, inside, title))
        return columns.select(kept)
    except pl.exceptions.PolarsError as error:
        raise ColumnError(
            f"{Given('by', one)} fails on {title}: {str(error).partition(chr(10))[0]}"
        ) from error


def _under_own_names(rows: Any, plain: Sequence[str], roots: Mapping[str, str]) -> Any:
    """Return the columns that expressions read under their own names.

    NOTE: columns inside the plan may have these names as well, so that they wait behind a prefix meanwhile.
    """
    return rows.select(
        *(pl.col(name).alias(WAITING + name) for name in plain),
        *(pl.col(inside).alias(root) for root, inside in roots.items()),
    )


def _back(plain: Sequence[str]) -> list[pl.Expr]:
    return [pl.col(WAITING + name).alias(name) for name in plain]


def made_by(expression: pl.Expr) -> str | Made:
    """Return an expression as a `by` column; the name of a column, where it is no more than that."""
    try:
        several, name = expression.meta.has_multiple_outputs(), expression.meta.output_name()
        roots = tuple(dict.fromkeys(expression.meta.root_names()))
    except pl.exceptions.PolarsError:
        several, name, roots = True, "", ()
    if several or not roots:
        found = "several columns" if several else "no column"
        raise RecframeError(
            f"by= takes expressions of one column; found {str(expression)!r}, which gives {found}: "
            "by=['country', pl.col('year') // 10]"
        )
    if expression.meta.eq(pl.col(roots[0])):
        return roots[0]
    return Made(_key_of(expression), name, roots, expression)


def _key_of(expression: pl.Expr) -> bytes:
    """Return the identity of an expression; one that cannot be serialised is unique."""
    try:
        return expression.meta.serialize()
    except (
        pl.exceptions.ComputeError
    ):  # a function in Python, which Polars 1 writes with cloudpickle
        return uuid4().bytes


def _keeps_rows(expression: pl.Expr, schema: pl.Schema) -> bool:
    """Whether an expression is known to give one value per row.

    NOTE: Polars repeats a single value beside other columns without a word, so that a mean would be one segment of all.
    """
    if hasattr(expression.meta, "is_length_preserving"):  # which Polars 1 does not have
        return _unless_python(expression.meta.is_length_preserving)
    nulls = [pl.Series(name, [None] * _N_ROWS, dtype) for name, dtype in schema.items()]
    try:
        return pl.DataFrame(nulls).select(expression).height == _N_ROWS
    except pl.exceptions.PolarsError:  # such as a format that is found out from the values
        return True


def is_elementwise(expression: pl.Expr) -> bool:
    """Whether an expression is known to read only its own row.

    NOTE: Polars says it of the last step alone, so that `a - a.mean()` would read its own row.
    """
    if hasattr(expression.meta, "is_row_separable"):  # which Polars 1 does not have
        inputs = expression.meta.pop()
        is_last_step = not inputs or _unless_python(expression.meta.is_row_separable)
        return is_last_step and all(map(is_elementwise, inputs))
    own = re.sub(r"\.(str|list|arr|dt|bin|cat|struct)\.\w+\(", "", str(expression))
    return not _OF_OTHER_ROWS.search(own)


def _unless_python(asked: Callable[[], bool]) -> bool:
    """Return what Polars says of an expression; it fails on functions in Python, which mostly get values one by one."""
    try:
        return bool(asked())
    except pl.exceptions.PolarsError:
        return True


_OF_OTHER_ROWS = re.compile(
    r"\.(over|rank|shift|diff|cum_\w+|rolling\w*|ewm\w*|sort\w*|reverse|\w+ward_fill|qcut|interpolate|mean|median"
    r"|sum|min|max|std|var|quantile|count|len|n_unique|first|last|mode|rle_id|shuffle|sample|is_\w*distinct|is_unique"
    r"|is_duplicated|fill_null_with_strategy)\("
)
