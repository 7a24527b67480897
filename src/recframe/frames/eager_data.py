"""Data available before the plan runs (eager frames only)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from recframe.frames.collecting import LARGE
from recframe.frames.kinds.kind import Taken


def eager(taken: Mapping[str, Taken]) -> dict[str, pl.DataFrame]:
    """Return the eager ones of some frames."""
    return {name: frame for name, frame in taken.items() if isinstance(frame, pl.DataFrame)}


def at_hand(taken: Taken) -> pl.DataFrame | None:
    """Return a frame with data available before a plan runs; None if it is lazy."""
    return None if isinstance(taken, pl.LazyFrame) else taken


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
        complete, lists = set(), taken["recommendations"]
        for name in ("recommendations", "truth"):
            rows = taken.get(name)
            if isinstance(rows, pl.DataFrame) and not (
                rows["user"].null_count() or rows["item"].null_count()
            ):
                complete.add(name)
        few = True
        for rows in taken.values():
            few &= isinstance(rows, pl.DataFrame) and len(rows) <= LARGE
        lowest: Any = 0
        if isinstance(lists, pl.DataFrame) and len(lists) <= LARGE and "rank" in lists.columns:
            lowest = lists["rank"].min()
        ranks_hold = lowest is None or bool(lowest >= 1)
        return cls(frozenset(complete), ranks_hold, few, rows_are_items)


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
        whole = (numbers == numbers.floor()).all() and numbers.is_between(-(2**53), 2**53).all()
        return taken.with_columns(column.fill_nan(None).cast(pl.Int64)) if whole else taken
    return taken
