"""Data available before the plan runs (eager frames only)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from recframe.frames.collecting import LARGE
from recframe.frames.kinds.kind import Taken


def eager(taken: Mapping[str, Taken]) -> dict[str, pl.DataFrame]:
    """Return the eager ones of some frames."""
    return {name: frame for name, frame in taken.items() if isinstance(frame, pl.DataFrame)}


def at_hand(taken: Taken) -> pl.DataFrame | None:
    """Return a frame with data available before a plan runs; None if it is lazy."""
    return None if isinstance(taken, pl.LazyFrame) else taken


def is_complete(taken: Taken, names: Iterable[str]) -> bool:
    """Whether a frame is known to have no null in some columns."""
    return isinstance(taken, pl.DataFrame) and not any(taken[name].null_count() for name in names)


def are_small(taken: Iterable[Taken]) -> bool:
    """Whether frames are eager, and too small for precomputation."""
    return all(isinstance(one, pl.DataFrame) and len(one) <= LARGE for one in taken)


def is_small_and_from(taken: Taken, name: str, least: float) -> bool:
    """Whether a small eager frame has no number below a bound in a column."""
    if not isinstance(taken, pl.DataFrame) or len(taken) > LARGE or name not in taken.columns:
        return False
    lowest: Any = taken[name].min()
    return lowest is None or bool(lowest >= least)


def with_own_dtype(taken: Taken, name: str) -> Taken:
    """Return a frame with a column in the dtype that its values suggest.

    Lists of floats of one length become arrays, and empty ones null. Whole numbers in floats become integers, since pandas
    has integers as floats where one is missing.
    """
    if isinstance(taken, pl.LazyFrame):
        return taken
    dtype, column = taken.schema[name], pl.col(name)
    if isinstance(dtype, pl.List) and dtype.inner.is_float():
        widths = taken[name].list.len().unique().drop_nulls()
        widths = widths.filter(widths > 0)
        present = pl.when(column.list.len() > 0).then(column)
        return taken.with_columns(present.list.to_array(widths[0])) if len(widths) == 1 else taken
    if dtype.is_float():
        numbers = taken[name].drop_nulls().drop_nans()
        whole = bool((numbers == numbers.floor()).all()) and bool(
            numbers.is_between(-(2**53), 2**53).all()
        )
        return taken.with_columns(column.fill_nan(None).cast(pl.Int64)) if whole else taken
    return taken
