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
"""What a cosine of 1 is in sums, which are of whole numbers, so that no order of rows changes one."""
place, other, near = pl.col("place"), pl.col("other"), pl.col("near")


def nearest(rows: FoldRows, items: pl.LazyFrame, recent: int, k: int) -> pl.LazyFrame:
    """Return the k items that are nearest to each user's own, of those that he has not seen: `u`, `rank` and `place`.

    `items` has the `place` of each item of train, ascending. A user's own items are his last ones, up to `recent`.
    """
    own = _last(rows, items, rows.train, "user", recent)
    table = _held(rows, _table(rows, _held(rows, own.select("start", "place")), recent))
    of_users = _last(rows, items, rows.own, "u", recent)
    sums = of_users.join(table, on="place").group_by("u", "other").agg(near.sum())
    seen = rows.own.join(items, on="item").select("u", other="place")
    unseen = sums.join(seen, on=["u", "other"], how="anti")
    unseen = unseen.sort("u", "near", "other", descending=[False, True, False])
    placed = with_places(unseen, ["u"]).filter(place <= k)
    return placed.select("u", rank="place", place="other")


def _last(
    rows: FoldRows, items: pl.LazyFrame, known: pl.LazyFrame, key: str, recent: int
) -> pl.LazyFrame:
    """Return the last items of users: the user's key, the item's `place`, and `start`, a number of the user."""
    placed = with_places(rows.last_first(known, key), [key]).filter(place <= recent)
    return placed.select(key, "start", "item").join(items.select("item", "place"), on="item")


def _table(rows: FoldRows, own: pl.LazyFrame, recent: int) -> pl.LazyFrame:
    """Return the items near to each: `place`, `other` and `near`, c / sqrt(n m) of n and m users with c in common."""
    both = _checked(rows, own, recent).join(own.rename({"place": "other"}), on="start")
    key = place.cast(pl.UInt64) * HALF + other.cast(pl.UInt64)
    common = both.filter(place < other).select(key=key).group_by("key").agg(common=pl.len())
    first, second = (pl.col("key") // HALF).cast(pl.Int64), (pl.col("key") % HALF).cast(pl.Int64)
    pairs = [
        common.select("common", place=one, other=two)
        for one, two in ((first, second), (second, first))
    ]
    users = own.group_by("place").agg(users=pl.len())
    found = pl.concat(pairs).join(users, on="place")
    found = found.join(users.select(other="place", others="users"), on="other")
    product = pl.col("users").cast(pl.Float64) * pl.col("others")
    cosine = (pl.col("common") / product.sqrt() * UNIT).round().cast(pl.Int64)
    found = found.select("place", "other", near=cosine)
    found = found.sort("place", "near", "other", descending=[False, True, False])
    numbered = with_places(found.rename({"place": "item"}), ["item"]).filter(place <= NEIGHBOURS)
    return numbered.select("other", "near", place="item")


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
