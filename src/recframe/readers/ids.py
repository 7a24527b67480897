"""Ids of any kind as a column, in the dtypes of every way in."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import polars as pl

from recframe.errors import ColumnError, DataError, RecframeError, kind_of, shown
from recframe.frames.kinds.kind import Result
from recframe.frames.kinds.lookup import is_frame
from recframe.frames.rows.positions import by_item

NO_SCORE = -3e38
"""Upper bound of masked scores.

NOTE: masks are filled with minus infinity or with the lowest number of a dtype, -3.4e38 where it has 32 bits. implicit fills
lists with it that would be shorter than asked, beside items that it was to leave out.
"""


def has_a_score(name: str) -> pl.Expr:
    """Whether a number is a real score, not a mask; null counts as one."""
    score = pl.col(name).cast(pl.Float64)
    return (score > NO_SCORE) | score.is_null()  # a NaN is above all numbers


def ids_of(values: Any, name: str, size: int | None = None, of: str = "") -> pl.Series:
    """Return the ids that an argument gives, each once; the numbers from 0 where it gives none.

    `size` is how many there have to be, and `of` what they are the ids of, in words.
    """
    if values is None:
        return pl.int_range(size or 0, dtype=pl.Int64, eager=True)
    if isinstance(values, Mapping | AbstractSet | str | bytes) or is_frame(values):
        msg = f"{name}= is {kind_of(values)}; give the ids as a list, array, series or column, in the order of their places"
        raise RecframeError(msg)
    ids = column_of(values, f"{name}=")
    twice = ids.filter(ids.is_duplicated())
    if size is not None and len(ids) != size:
        found = "1 id" if len(ids) == 1 else f"{len(ids):,} ids"
        problem = f"{found}, and there are {size:,} {of}; give one id for each, in their order"
    elif ids.null_count():
        problem = f"no id at the place {ids.is_null().arg_max()}; drop that row or column, or give it an id"
    elif len(twice):
        problem = f"the id {twice[0]!r} twice; give each place its own id"
    else:
        return ids
    raise DataError(f"{name}= has {problem}")


def column_of(values: Any, title: str) -> pl.Series:
    """Return values as a column of ids, or say why they can be none."""
    is_column = isinstance(values, pl.Series) or hasattr(values, "__array_interface__")
    try:
        ids = pl.Series(values if is_column else in_python(values))
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        kinds = sorted({type(value).__name__ for value in values})
        msg = f"ids of several kinds in {title}: {', '.join(kinds)}; give ids of one kind: [str(one) for one in ids]"
        raise ColumnError(msg) from None
    if ids.dtype.is_nested() or ids.dtype == pl.Object:
        value = shown(ids.drop_nulls().first())
        msg = f"ids that are not plain values in {title}, such as {value}; write them as text or numbers"
        raise ColumnError(msg)
    return ids


def in_python(values: Any) -> list[Any]:
    """Return the values of an array, a tensor, a series or a collection as Python holds them."""
    made = getattr(values, "tolist", getattr(values, "to_list", None))
    return list(values if made is None else made())


def in_own_dtype(ids: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return ids in the dtype that they have from each way in: whole numbers are Int64, and categories text.

    NOTE: so that the lists of two models stand in one frame, whatever each of them came from. Int64 does not hold all of
    UInt64, as which hashes come.
    """
    if dtype.is_integer() and dtype not in (pl.UInt64, pl.Int128, pl.UInt128):
        return ids.cast(pl.Int64)
    return ids.cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else ids


def in_own_dtypes(rows: Result, names: Mapping[str, str]) -> Result:
    """Return columns under their names, in the dtypes of every way in."""
    schema: pl.Schema = rows.collect_schema()
    columns = {
        name: pl.col(name).cast(pl.Float64)
        if name == "number"
        else in_own_dtype(pl.col(name), schema[name])
        for name in names
        if name in schema
    }
    return rows.select(column.alias(names[name]) for name, column in columns.items())


def by_score(rows: Result, key: str, score: str) -> Result:
    """Return the rows of each list by score: the highest first, equal ones by item, NaN and null last."""
    schema: pl.Schema = rows.collect_schema()
    is_float = schema[score].is_float()
    number = pl.col(score).fill_nan(None) if is_float else pl.col(score)
    order = [pl.col(key), number, *by_item(schema)]
    return rows.sort(order, descending=[False, True, False], nulls_last=True)
