"""Rows exploded by item category, to aggregate per list and category.

Of large eager frames the users and the categories are whole numbers that fit into one, if they can: rows in the order of that
number are summed up, and joined, in a fraction of the time that a hash table of two columns takes. Sums that no more than the
categories decide are made of counts, of which no row for each category is needed at all: see `tallies`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.frames.collecting import Ask, stream
from recframe.frames.rows.exploding import AS_EVER
from recframe.frames.rows.joins import distinct_names, joined
from recframe.frames.rows.lookups import Lookup, lookup
from recframe.side_info.category_counts import BOTH, MOST_PARTS, Counts, History, Tally
from recframe.side_info.features import Feature

CODES, DESCRIBED = "codes", "described"
PARTS, SIZES = 2**20, 2**12
"""Upper bounds of a code's category, and of the item's number of categories."""


@dataclass(frozen=True)
class Codes:
    """Integer codes of the items' categories, with counts and shares."""

    of_items: Lookup
    """Each item's codes, and whether it has any."""
    n_parts: int
    """Number of categories, or an upper bound."""
    tally: Tally
    user: pl.DataType
    """The dtype of users among the rows."""

    def with_users(self, sums: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows in the order of the number of a user and a part with the user."""
        of = (pl.col(BOTH) // self.n_parts).cast(self.user)
        return sums.with_columns(user=of).set_sorted("user")

    def counts(self, sums: Sequence[pl.Expr]) -> Counts | None:
        """Return the count layout for some sums, if only the items' categories determine them."""
        roots = {name for one in sums for name in one.meta.root_names()}
        return self.tally.counts(sums) if roots <= {"share", "unit"} else None

    def few_counts(self, sums: Sequence[pl.Expr]) -> Counts | None:
        """Return the same if there are few enough categories for dense sums per list."""
        counts = self.counts(sums)
        return counts if counts is not None and counts.n_parts <= MOST_PARTS else None

    def history(self, rows: pl.LazyFrame, of: str) -> History | None:
        """Return the category counts of users' histories, if users are integers of a small range."""
        counts = self.counts([pl.col(of).sum()])
        if counts is None:
            return None
        found = lookup(stream(counts.of_users(rows)), "user", self.user)
        return None if found is None else History(counts, found, self.n_parts)


@dataclass(frozen=True)
class ByCategory:
    """Rows exploded by the categories of their items."""

    rows: pl.LazyFrame
    """The keys, unit, share, and what else was kept."""
    keys: list[str]
    """Keys of a list or user, and of the category."""
    given: pl.LazyFrame
    """The rows of the items."""
    codes: Codes | None = None

    def summed(self, sums: Sequence[pl.Expr]) -> pl.LazyFrame:
        """Return sums for each list and category in it."""
        if self.codes is None:
            return self.rows.group_by(self.keys).agg(sums)
        if (counts := self.codes.few_counts(sums)) is not None:
            return counts.summed(self.given, self.codes.n_parts)
        return self.rows.group_by(BOTH, maintain_order=True).agg(sums).set_sorted(BOTH)

    def beside(self, lists: pl.LazyFrame, sums: Sequence[pl.Expr]) -> pl.LazyFrame:
        """Return sums per list and category, with the keys and the lists' values."""
        if self.codes is None:
            return joined(self.summed(sums), lists, [key for key in self.keys if key != "part"])
        # in the order of the parts they are sooner joined than a hash table is made
        return joined(self.codes.with_users(self.summed(sums)), lists.sort("user"), ["user"])


def by_category(
    rows: pl.LazyFrame, keys: Sequence[str], feature: Feature, codes: Codes | None, *kept: str
) -> ByCategory:
    """Return rows exploded by their items' categories; `codes` are integer codes, if precomputed."""
    if codes is None:
        return ByCategory(rows.join(feature.parts(), on="item"), [*keys, "part"], rows)
    number = pl.col("number")
    found = codes.of_items.beside(rows.select(distinct_names("user", "item", *kept)), [CODES])
    found = found.filter(pl.col(CODES).is_not_null()).select("user", CODES, *kept)
    found = found.explode(CODES, **AS_EVER).select(
        *kept, number=pl.col("user").cast(pl.Int64) * (codes.n_parts * SIZES) + pl.col(CODES)
    )
    size = (number % SIZES).cast(pl.Float64)
    found = found.sort("number").select(
        *kept, (number // SIZES).alias(BOTH), unit=1 / size.sqrt(), share=1 / size
    )
    return ByCategory(found.set_sorted(BOTH), [BOTH], rows, codes)


def codes_of(
    feature: Feature, dtypes: Mapping[str, pl.DataType], ask: Ask, longest: int
) -> Codes | None:
    """Return integer codes of items' categories; None if too many, or unless ids are integers of a small range.

    The dtypes are those of the lists' rows; no user has more than the `longest` number of them.
    """
    parts, item = feature.numbered(ask).known, dtypes["item"]
    size = (1 / pl.col("share")).round()
    if (
        parts is None
        or parts.select((pl.col("part").max() >= PARTS) | (size.max() >= SIZES)).item()
    ):
        return None
    parts = parts.with_columns(size=size.cast(pl.UInt32))
    code = pl.col("part").cast(pl.UInt32) * SIZES + pl.col("size")
    codes = parts.group_by("item").agg(code.alias(CODES), pl.lit(value=True).alias(DESCRIBED))
    found = lookup(codes, "item", item)
    if found is None:
        return None
    n_parts: int = parts.select(pl.col("part").max() + 1).item()
    tally = Tally(parts.select("item", "part", "size"), item, longest)
    return Codes(found, n_parts, tally, dtypes["user"])
