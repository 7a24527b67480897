"""Ids of any kind as a column, and their dtypes."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import polars as pl
from polars import selectors

from recframe.errors import ColumnError, DataError, RecframeError, kind_of
from recframe.frames.kinds.kind import is_frame

NO_SCORE = -3e38
"""Upper bound of masked scores.

NOTE: masks are filled with minus infinity or with the lowest number of a dtype, -3.4e38 where it has 32 bits. implicit fills
lists with it that would be shorter than asked, beside items that it was to leave out.
"""
WHOLE = selectors.integer() - selectors.by_dtype(pl.UInt64, pl.Int128, pl.UInt128)
CATEGORIES = selectors.by_dtype(pl.Categorical, pl.Enum)


def ids_of(values: Any, name: str, size: int | None = None) -> pl.Series:
    """Return the ids that an argument gives, each once and as many as `size`, or the numbers from 0, in their own dtypes."""
    if values is None:
        return pl.int_range(size or 0, dtype=pl.Int64, eager=True)
    if isinstance(values, Mapping | AbstractSet | str) or is_frame(values):
        raise RecframeError(
            f"{name}= is {kind_of(values)}; give the ids as a list, array, series or column, in the order of their places"
        )
    ids = column_of(values, f"{name}=")
    if size is not None and len(ids) != size:
        raise RecframeError(
            f"{name}= has {len(ids):,} ids for {size:,} {name}; give one id for each, in their order"
        )
    wrong = ids.filter(ids.is_null() | ids.is_duplicated())
    if len(wrong):
        raise DataError(
            f"{name}= has a place without an id, or an id twice: {wrong[0]!r}; give each place its own id"
        )
    return ids.to_frame(name).with_columns(in_own_dtypes(name)).to_series()


def column_of(values: Any, title: str) -> pl.Series:
    """Return values as a column of ids, or say why they can be none."""
    is_column = hasattr(values, "rechunk") or hasattr(values, "__array_interface__")
    try:
        ids = pl.Series(values if is_column else in_python(values))
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        ids = pl.Series(dtype=pl.Object)
    if ids.dtype.is_nested() or ids.dtype == pl.Object:
        raise ColumnError(
            f"ids of several kinds, or no plain values, in {title}; give ids of one kind: [str(one) for one in ids]"
        )
    return ids


def in_python(values: Any) -> list[Any]:
    """Return the values of an array, a tensor, a series or a collection as Python holds them."""
    made = getattr(values, "tolist", getattr(values, "to_list", None))
    return list(values if made is None else made())


def in_own_dtypes(*ids: str) -> list[pl.Expr]:
    """Return columns of ids in the dtypes of every way in: whole numbers are Int64, and categories text.

    NOTE: so that the lists of two models stand in one frame, whatever each of them came from. Int64 does not hold all of
    UInt64, as which hashes come.
    """
    named = selectors.by_name(*ids)
    return [(named & WHOLE).cast(pl.Int64), (named & CATEGORIES).cast(pl.String)]
