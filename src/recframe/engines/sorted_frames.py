"""Frames in memory that are sorted by user, cut into buckets without a copy."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import polars as pl

from recframe.engines.memory_bound import Bound
from recframe.frames.kinds.engine import Routed
from recframe.frames.rows.integer_keys import SMALL_INTEGERS


def cut(
    routed: Mapping[str, Routed], bound: Bound, n_parts: int | None = None
) -> list[dict[str, pl.DataFrame]] | None:
    """Return slices of sorted frames, each with all rows of its users; None where one is not sorted or not in memory.

    Frames with a user who has more rows than a bucket are not cut either, nor are users of several dtypes, since these have
    several orders.
    """
    rows = {name: one.rows for name, one in routed.items() if one.rows is not None}
    users = [frame[routed[name].user] for name, frame in rows.items()]
    if len(rows) < len(routed) or not _have_one_order(users):
        return None
    of_bucket = bound.rows_of_bucket([one.schema for one in routed.values()])
    n_rows = sum(map(len, users))
    longest = max(users, key=len)
    n_buckets = max(1, min(n_parts or -(-n_rows // of_bucket), len(longest)))
    first = [longest[place * len(longest) // n_buckets] for place in range(1, n_buckets)]
    starts = [[0, *(user.search_sorted(one) for one in first), len(user)] for user in users]
    lengths = [[end - start for start, end in pairwise(one)] for one in starts]
    if n_parts is None and max(map(sum, zip(*lengths, strict=True))) > 2 * of_bucket:
        return None
    return [
        {
            name: frame.slice(start[place], length[place])
            for (name, frame), start, length in zip(rows.items(), starts, lengths, strict=True)
        }
        for place in range(n_buckets)
    ]


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
