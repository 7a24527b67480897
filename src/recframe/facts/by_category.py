"""Rows by the categories of their items: each once for every category, to be summed up for each list and category.

Of large eager frames the users and the categories are whole numbers that fit into one, if they can: rows in the order of that
number are summed up, and joined, in a fraction of the time that a hash table of two columns takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from recframe.facts.features import Feature
from recframe.frames.collecting import Ask
from recframe.frames.rows.joins import distinct_names
from recframe.frames.rows.lookups import Lookup, lookup

BOTH = "user and part"
"""The number of a user and a part."""
MOST = 2**20
"""A share may be counted in so many parts, of 2^40 rows together."""
CODES, DESCRIBED = "codes", "described"
PARTS, SIZES = 2**20, 2**12
"""A code says which part it is, below `PARTS`, and how many of them its item has, below `SIZES`."""


@dataclass(frozen=True)
class Codes:
    """The items' parts as numbers."""

    of_items: Lookup
    """Each item's codes, and whether it has any."""
    whole: int
    """A number that all shares of items are whole parts of; 0 where it is too high to count with."""


@dataclass(frozen=True)
class ByCategory:
    """Rows of items, once for each of their parts."""

    rows: pl.LazyFrame
    """The keys, unit, share, and what else was kept."""
    keys: list[str]
    """What tells the lists, or users, and their parts apart."""
    whole: int = 0
    """See `Codes`."""

    def shares(self) -> pl.LazyFrame:
        """Return the sum of the shares, as `value`, for each list and part.

        NOTE: whole numbers that are summed up along all rows leave exact sums between any two; a group for each costs thrice.
        """
        if not self.whole:
            return self.summed([pl.col("share").sum().alias("value")])
        total, last = pl.col("total"), (pl.col(BOTH) != pl.col(BOTH).shift(-1))
        parts = (pl.col("share") * self.whole).round().cast(pl.Int64)
        sums = self.rows.select(BOTH, total=parts.cum_sum()).filter(last.fill_null(value=True))
        value = (total - total.shift().fill_null(0)) / self.whole
        return sums.select(BOTH, value=value).set_sorted(BOTH)

    def summed(self, columns: Sequence[pl.Expr]) -> pl.LazyFrame:
        """Return sums for each list and part."""
        if self.keys != [BOTH]:
            return self.rows.group_by(self.keys).agg(columns)
        return self.rows.group_by(BOTH, maintain_order=True).agg(columns).set_sorted(BOTH)


def with_users(sums: pl.LazyFrame, user: pl.DataType) -> pl.LazyFrame:
    """Return rows in the order of the number of a user and a part with the user."""
    return sums.with_columns(user=(pl.col(BOTH) // PARTS).cast(user)).set_sorted("user")


def by_category(
    rows: pl.LazyFrame, keys: Sequence[str], feature: Feature, codes: Codes | None, *kept: str
) -> ByCategory:
    """Return rows once for each part of their items; `codes` are those of the items, where they are known."""
    if codes is None:
        return ByCategory(rows.join(feature.parts(), on="item"), [*keys, "part"])
    number = pl.col("number")
    found = codes.of_items.beside(rows.select(distinct_names("user", "item", *kept)), [CODES])
    found = found.filter(pl.col(CODES).is_not_null()).select("user", CODES, *kept)
    found = found.explode(CODES).select(
        *kept, number=pl.col("user").cast(pl.Int64) * (PARTS * SIZES) + pl.col(CODES)
    )
    size = (number % SIZES).cast(pl.Float64)
    found = found.sort("number").select(
        *kept, (number // SIZES).alias(BOTH), unit=1 / size.sqrt(), share=1 / size
    )
    return ByCategory(found.set_sorted(BOTH), [BOTH], codes.whole)


def codes_of(feature: Feature, item: pl.DataType, ask: Ask) -> Codes | None:
    """Return the codes of each item's parts; None where there are too many, or the items are no numbers of a small range."""
    parts = feature.numbered(ask).known
    size = (1 / pl.col("share")).round()
    if (
        parts is None
        or parts.select((pl.col("part").max() >= PARTS) | (size.max() >= SIZES)).item()
    ):
        return None
    code = pl.col("part").cast(pl.UInt32) * SIZES + size.cast(pl.UInt32)
    codes = parts.group_by("item").agg(code.alias(CODES), pl.lit(value=True).alias(DESCRIBED))
    found = lookup(codes, "item", item)
    whole = math.lcm(*parts.select(size.cast(pl.Int64).unique()).to_series())
    return None if found is None else Codes(found, whole if whole < MOST else 0)
