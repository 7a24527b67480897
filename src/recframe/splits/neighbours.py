"""Lists of items that are near to a user's own, by cosine."""

from __future__ import annotations

import polars as pl

from recframe.errors import fails_whole_if, worded
from recframe.frames.collecting import stream
from recframe.frames.rows.positions import with_places
from recframe.splits.fold_rows import FoldRows
from recframe.splits.free_places import HALF

NEIGHBOURS = 50
"""The items that count as near to an item."""
MOST = 100_000_000
"""Most pairs of items, over all users."""
UNIT = 2.0**32
"""Units of a cosine of 1: sums of whole numbers do not depend on the order of rows."""
place, other, near = pl.col("place"), pl.col("other"), pl.col("near")


def nearest(rows: FoldRows, items: pl.LazyFrame, recent: int, k: int) -> pl.LazyFrame:
    """Return the k items that are nearest to each user's own, of those that he has not seen: `u`, `rank` and `place`.

    `items` has the `place` of each item of train, ascending. A user's own items are his last ones, up to `recent`.
    """
    own = _last(rows, items, rows.train, "user", recent)
    table = _held(rows, _table(rows, _held(rows, own.select("start", "place")), recent))
    of_users = _last(rows, items, rows.own, "u", recent).select("u", "place")
    cosines = of_users.join(table, on="place").select("near", key=_key("u", "other"))
    seen = rows.own.join(items, on="item").select(key=_key("u", "place")).unique()
    sums = cosines.group_by("key").agg(near.sum()).join(seen, on="key", how="anti")
    best = _best(_held(rows, _unpacked(sums)), k)
    return best.select(pl.col("key").cast(pl.UInt32).alias("u"), "rank", place="other")


def _last(
    rows: FoldRows, items: pl.LazyFrame, known: pl.LazyFrame, key: str, recent: int
) -> pl.LazyFrame:
    """Return the last items of users: the user's key, the item's `place`, and `start`, a number of the user."""
    placed = with_places(rows.last_first(known, key), [key]).filter(place <= recent)
    return placed.select(key, "start", "item").join(items.select("item", "place"), on="item")


def _table(rows: FoldRows, own: pl.LazyFrame, recent: int) -> pl.LazyFrame:
    """Return the items near to each: `place`, `other` and `near`, c / sqrt(n m) of n and m users with c in common."""
    both = _checked(rows, own, recent).join(own.rename({"place": "other"}), on="start")
    common = both.filter(place < other).select(key=_key("place", "other"))
    common = common.group_by("key").agg(common=pl.len())
    users = own.group_by("place").agg(users=pl.len().cast(pl.Float64))
    pairs = _unpacked(common).rename({"key": "place"}).join(users, on="place")
    pairs = pairs.join(users.select(other="place", others="users"), on="other")
    product = pl.col("users") * pl.col("others")
    cosine = (pl.col("common") / product.sqrt() * UNIT).round().cast(pl.Int64)
    pairs = _held(rows, pairs.select("other", cosine.alias("near"), key="place"))
    turned = pairs.select("near", other="key", key="other").select("other", "near", "key")
    return _best(pl.concat([pairs, turned]), NEIGHBOURS).select("other", "near", place="key")


def _key(first: str, second: str) -> pl.Expr:
    """Return two numbers packed into one."""
    return pl.col(first).cast(pl.UInt64) * HALF + pl.col(second).cast(pl.UInt64)


def _unpacked(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows with the first number of `key` in its place, and the second as `other`."""
    key = pl.col("key")
    numbers = {"key": key // HALF, "other": key % HALF}
    whole = {name: number.cast(pl.Int64) for name, number in numbers.items()}
    return rows.select(pl.exclude("key"), **whole)


def _best(pairs: pl.LazyFrame, k: int) -> pl.LazyFrame:
    """Return the k nearest others of each key, equal ones by number: `key`, `other`, `near` and `rank`.

    NOTE: those behind the k-th are left out ahead of the sort, which would take most of the time.
    """
    least = pairs.group_by("key").agg(least=near.top_k(k).min())
    left = pairs.join(least, on="key").filter(near >= pl.col("least"))
    placed = with_places(
        left.sort("key", "near", "other", descending=[False, True, False]), ["key"]
    )
    return placed.filter(place <= k).select("key", "other", "near", rank="place")


def _checked(rows: FoldRows, own: pl.LazyFrame, recent: int) -> pl.LazyFrame:
    """Return the items of users, after a check of the number of their pairs."""
    n = pl.col("n").cast(pl.Int64)
    pairs = own.group_by("start").agg(n=pl.len()).select(pairs=(n * (n - 1) // 2).sum())
    words = worded(
        "the baseline 'item_knn' would make ",
        pl.col("pairs"),
        f" pairs of items, of the last {recent} items of each user, and takes {MOST} at most; write a smaller recent=",
    )
    check = rows.held(pairs.select(check=fails_whole_if(pl.col("pairs") > MOST, words)))
    return own.join(check, how="cross").filter(pl.col("check") == 0).drop("check")


def _held(rows: FoldRows, table: pl.LazyFrame) -> pl.LazyFrame:
    """Return a table that is made once; where pairs are many it streams, so that they are not in memory."""
    return table.cache() if rows.labels.log.is_lazy else stream(table).lazy()
