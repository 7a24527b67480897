"""Integer positions of list and reference items, for large eager frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from recframe.frames.rows.integer_ids import Lookup

PLACE = pl.col("place")


@dataclass(frozen=True)
class Places:
    """Ranked list and reference items as narrow integers (large eager frames)."""

    own: pl.DataFrame
    other: pl.DataFrame
    n_items: int
    """Upper bound of the items' numbers."""
    deepest: int
    """Largest position."""
    lengths: Mapping[int, pl.DataFrame]
    """The lengths of each list and its reference, by where both are cut; see `_lengths`."""
    of_users: Mapping[int, Lookup]
    """The same, where users are numbers of a small range."""

    def common(self, k: int) -> pl.LazyFrame:
        """Return the items that both have, with the later of the two places and the shorter length, in the order of the users.

        NOTE: all in one number, an item that both have follows itself: one sort in place of a hash table.
        """
        n_places = self.deepest + 1
        number = pl.col("user").cast(pl.Int64) * self.n_items + pl.col("item").cast(pl.Int64)
        number = number * n_places + PLACE
        rows = pl.concat(up_to(one, k).select(number=number) for one in (self.own, self.other))
        one, next_one = pl.col("number"), pl.col("next")
        rows = rows.sort("number").with_columns(next=one.shift(-1))
        rows = rows.filter(one // n_places == next_one // n_places)
        user = (one // (n_places * self.n_items)).cast(self.own.schema["user"])
        depth = pl.max_horizontal(one % n_places, next_one % n_places).cast(pl.Int32)
        rows = rows.select(user=user, depth=depth)
        rows = rows.set_sorted("user")
        if k in self.of_users:
            return self.of_users[k].beside(rows, ["shorter"])
        return rows.join(self.lengths[k].lazy().select("user", "shorter"), on="user")


def up_to(rows: pl.DataFrame, k: int) -> pl.LazyFrame:
    """Return rows up to k; 0 is no cut-off."""
    return rows.lazy().filter(pl.col("rank") <= k) if k else rows.lazy()
