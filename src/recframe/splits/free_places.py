"""Places of an order between those that users have taken."""

from __future__ import annotations

import polars as pl

from recframe.frames.rows.exploding import AS_EVER
from recframe.frames.rows.integer_keys import in_order

HALF = 2**32
"""Factor of the user in a packed number of a user and a place."""
place = pl.col("place")


def packed(rows: pl.LazyFrame, shift: int = 0) -> pl.LazyFrame:
    """Return as `key` one number for a user's number `u` and a place, whose order is theirs."""
    key = pl.col("u").cast(pl.UInt64) * HALF + (place.cast(pl.Int64) + shift).cast(pl.UInt64)
    return rows.select(key=key)


def unpacked(rows: pl.LazyFrame, shift: int = 0) -> pl.LazyFrame:
    """Return `u` and `place` of packed numbers."""
    key = pl.col("key")
    return rows.select(u=(key // HALF).cast(pl.UInt32), place=(key % HALF).cast(pl.Int64) - shift)


def free_places(users: pl.LazyFrame, taken: pl.LazyFrame, k: int) -> pl.LazyFrame:
    """Return the first free places of each user, up to k: `u`, `rank` and `place`, in the order of users and ranks.

    `users` has `u`, the `end` behind the last place of the order, and `had`, the ranks that the user has already; `taken` has
    `u` and `place`, where a pair may stand more than once.

    NOTE: the places between two taken ones are a run, made as a range. So no list is longer than k, however many are taken.
    """
    begins = users.select("u", place=pl.lit(-1, pl.Int64))
    ends = users.select("u", place="end")
    of_users = [packed(frame, 1) for frame in (begins, ends)]
    keys = in_order(pl.concat([*of_users, packed(taken, 1)]), "key")
    rows = unpacked(keys.filter(pl.col("key").ne_missing(pl.col("key").shift())), 1)
    same = pl.col("u").eq_missing(pl.col("u").shift(-1))
    rows = rows.with_row_index("row").with_columns(
        pl.col("row").cast(pl.Int64),
        next=pl.when(same).then(place.shift(-1)),
        is_first=pl.col("u").ne_missing(pl.col("u").shift()),
    )
    start = pl.when("is_first").then("row").otherwise(0).cum_max()
    rows = rows.with_columns(n_taken=pl.col("row") - start)
    rows = rows.filter(pl.col("next") > place + 1).join(users, on="u", maintain_order="left")
    # the rank of a free place is its own place from 1 in the order, less those taken before it
    behind = pl.col("n_taken") - pl.col("had") - 1
    rows = rows.with_columns(behind=behind)
    most = pl.min_horizontal("next", pl.col("behind") + k + 1)
    runs = rows.with_columns(end=most).filter(pl.col("end") > place + 1)
    runs = runs.select("u", "behind", place=pl.int_ranges(place + 1, pl.col("end")))
    found = runs.explode("place", **AS_EVER)
    return found.select("u", "place", rank=place - pl.col("behind"))
