"""Frames in memory that are sorted by user, cut into buckets without a copy."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import polars as pl

from recframe.engines.memory_bound import Bound
from recframe.frames.collecting import run_as_it_is
from recframe.frames.kinds.engine import Routed
from recframe.frames.rows.integer_keys import SMALL_INTEGERS


def cut(
    routed: Mapping[str, Routed], bound: Bound, n_parts: int | None = None
) -> list[dict[str, pl.DataFrame]] | None:
    """Return slices of sorted frames, each with all rows of its users; None where one is not sorted or not in memory.

    Frames with a user who has more rows than a bucket are not cut either, nor are users of several dtypes, since these have
    several orders.
    """
    if not all(one.in_memory for one in routed.values()):
        return None
    rows = {name: _columns(one) for name, one in routed.items()}
    users = [frame[routed[name].user] for name, frame in rows.items()]
    if not _have_one_order(users):
        return None
    schemas = [one.schema for one in routed.values()]
    n_buckets = n_parts or bound.n_buckets(schemas, [*map(len, users)]) or 1
    longest = max(users, key=len)
    first = [
        longest[place * len(longest) // n_buckets] for place in range(1, n_buckets) if len(longest)
    ]
    slices = {name: _cut(frame, routed[name].user, first) for name, frame in rows.items()}
    buckets = [dict(zip(slices, some, strict=True)) for some in zip(*slices.values(), strict=True)]
    largest = max(sum(map(len, bucket.values())) for bucket in buckets)
    is_large = n_parts is None and largest > 2 * bound.rows_of_bucket(schemas)
    return None if is_large else buckets


def _columns(one: Routed) -> pl.DataFrame:
    """Return the columns that are read, which takes no copy of a frame in memory."""
    places = one.frame.collect_schema().names()
    return run_as_it_is(one.frame.select(pl.nth([places.index(name) for name in one.columns])))


def _cut(rows: pl.DataFrame, user: str, first: list[Any]) -> list[pl.DataFrame]:
    """Return slices of sorted rows, each but the first from its first user on."""
    starts = [0, *(rows[user].search_sorted(one) for one in first), len(rows)]
    return [rows.slice(start, end - start) for start, end in pairwise(starts)]


def _have_one_order(users: list[pl.Series]) -> bool:
    """Return whether users of all frames are sorted by the same order, nulls among none."""
    dtypes = {user.dtype for user in users}
    orders = {*SMALL_INTEGERS, pl.String()}
    return (
        len(dtypes) == 1
        and dtypes <= orders
        and not any(user.null_count() for user in users)
        and all(user.is_sorted() for user in users)
    )
