"""Category counts per user, packed into integers, and sums from them.

Each item is a few numbers that are looked up, and each user the sums of these: rows are not multiplied by their items' parts,
and not sorted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import polars as pl

from recframe.frames.rows.exploding import AS_EVER
from recframe.frames.rows.lookups import Lookup, lookup

BOTH = "user and part"
"""Column with user and category packed into one integer."""
BITS = 62
"""Bits of counts per integer."""
_ROOM = 2**BITS
MOST_NUMBERS = 16
"""Most integers per item; with more, exploding rows by category is faster."""
MOST_PARTS = 64
"""Most categories with a sum for every list; with more, rows for a list's own categories are fewer."""
MOST_UNITS = 2**20
"""Largest denominator of a count's integer weight in a sum."""
NEARLY = 1e-9


@dataclass(frozen=True)
class Tally:
    """Items' categories to count, with a cache of count layouts."""

    parts: pl.DataFrame
    """The parts of the items: `item`, `part`, and `size`, how many the item has."""
    item: pl.DataType
    """The dtype of the items among the rows."""
    longest: int
    """Largest number of rows of a user."""
    made: dict[tuple[object, ...], Counts | None] = field(default_factory=dict)
    """Cache of count layouts, by the weights of items of each size."""

    def counts(self, sums: Sequence[pl.Expr]) -> Counts | None:
        """Return how rows are counted for sums of what is above 0, and all the same for items of one size; None if by too much.

        Of the rows the columns `share` and `unit` are looked at.
        """
        size = pl.col("size").cast(pl.Float64)
        sizes = self.parts.select(pl.col("size").unique())
        sizes = sizes.with_columns(share=1 / size, unit=1 / size.sqrt())
        sizes = sizes.group_by("size").agg(one.cast(pl.Float64) for one in sums)
        names = [one.meta.output_name() for one in sums]
        if not sizes.select(pl.all_horizontal((pl.col(names) > 0).all())).item():
            return None
        added = tuple(sizes.sort("size").rows())
        if added not in self.made:
            self.made[added] = self._made(sizes, names)
        found = self.made[added]
        return None if found is None else found.named(names)

    def _made(self, sizes: pl.DataFrame, names: list[str]) -> Counts | None:
        adds = _whole(sizes, names)
        keys = ["part", "size"] if adds is None else ["part"]
        adds = sizes.with_columns(adds=pl.lit(1, dtype=pl.Int64)) if adds is None else adds
        return _counts(self, keys, adds, names)


@dataclass(frozen=True)
class Counts:
    """Layout of packed category counts, and each count's weight in sums."""

    of_items: Lookup
    """Packed counts of each single item, as `words`."""
    numbers: list[str]
    places: pl.DataFrame
    """The counts: `part`, their `number` and `place` in it, and the weight of one in each sum."""
    sums: list[str]
    highest: int
    """Upper bound of a count, a power of 2."""
    described: tuple[str, int]
    """Integer and position of the number of items with any category."""

    def named(self, names: list[str]) -> Counts:
        """Return the layout with other names of the sums."""
        places = self.places.rename(dict(zip(self.sums, names, strict=True)))
        return replace(self, places=places, sums=names)

    @property
    def words(self) -> dict[str, list[str]]:
        """The columns that are looked up and summed up, and the numbers in each."""
        return _words(self.numbers)

    def of_words(self, prefix: str = "") -> list[pl.Expr]:
        """Return the numbers of words, or of sums of words; the names of all begin with the prefix."""
        return [
            number.alias(f"{prefix}{name}")
            for word, names in self.words.items()
            for name, number in zip(names, _numbers(f"{prefix}{word}", len(names)), strict=True)
        ]

    def of_users(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the counts of each user of the rows, in the order of the users."""
        counts = self.of_items.beside(rows.select("user", "item"), [*self.words])
        sums = counts.group_by("user").agg(pl.col([*self.words]).sum()).sort("user")
        return sums.select("user", *self.of_words())

    def summed(self, rows: pl.LazyFrame, n_parts: int) -> pl.LazyFrame:
        """Return the sums for each user and part that one of the user's items has, in the order of the number of both."""
        user = pl.col("user").cast(pl.Int64)
        columns = {name: self.sums_by_part(name) for name in self.sums}
        columns[BOTH] = [user * n_parts + part for part in range(self.n_parts)]
        found = self.of_users(rows).select(
            pl.concat_arr(parts).alias(name) for name, parts in columns.items()
        )
        return found.explode(*columns, **AS_EVER).filter(pl.col(self.sums[0]) > 0).set_sorted(BOTH)

    @property
    def n_parts(self) -> int:
        """The number of categories."""
        n_parts: int = self.places.select(pl.col("part").max() + 1).item()
        return n_parts

    def sums_by_part(self, name: str, renamed: Mapping[str, str] | None = None) -> list[pl.Expr]:
        """Return the sum over the counts of each part of what they add; the numbers may be `renamed`."""
        sums: list[list[pl.Expr]] = [[] for _ in range(self.n_parts)]
        columns = self.places.select("part", "number", "place", name)
        for part, number, place, weight in zip(*columns, strict=True):
            count = self._count(renamed[number] if renamed else number, place)
            sums[part].append(count * weight)
        return [reduce(add, ofs) for ofs in sums]

    def n_described(self) -> pl.Expr:
        """Return the number of items with any category."""
        number, place = self.described
        return self._count(number, place)

    def n_parts_had(self) -> pl.Expr:
        """Return the number of distinct categories among the items."""
        one, zero = pl.lit(1.0, dtype=pl.Float64), pl.lit(0.0, dtype=pl.Float64)
        sums = self.sums_by_part(self.sums[0])
        # a number made of a truth value takes longer than one chosen by it
        return pl.sum_horizontal(pl.when(had > 0).then(one).otherwise(zero) for had in sums)

    def _count(self, number: str, place: int) -> pl.Expr:
        # the bits of a number are taken in half of the time of its remainder
        return (pl.col(number) // place & self.highest - 1).cast(pl.Float64)


@dataclass(frozen=True)
class History:
    """Category counts of users' histories, summed on demand."""

    counts: Counts
    of_users: Lookup
    """Packed counts of each user, from the lowest to the highest id."""
    n_parts: int

    def beside(self, lists: pl.LazyFrame, name: str) -> tuple[pl.LazyFrame, dict[str, str]]:
        """Return lists joined with their users' counts, and the count columns' names."""
        renamed = {number: f"{name} {number}" for number in self.counts.numbers}
        return self.of_users.beside(lists, renamed), renamed

    def of_each_user(self, of: Callable[[Counts], pl.Expr], user: pl.DataType) -> pl.LazyFrame:
        """Return a value of the counts of each user who has some: user, in a dtype, and value."""
        rows = self.of_users.table.lazy().filter(pl.col(self.counts.numbers[0]).is_not_null())
        return rows.select(pl.col("user").cast(user), value=of(self.counts))

    def value(self) -> pl.Expr:
        """Return the sum of a user and a part, by the number of both."""
        slot = pl.int_range(pl.len()).over("part")
        places = self.counts.places.with_columns(slot=slot)
        slots = range(places.select(pl.col("slot").max() + 1).item())
        in_a_row = pl.concat_arr(self.counts.numbers).explode(**AS_EVER)
        numbers = self.of_users.table.select(in_a_row).to_series()
        added = (self._added(places.filter(pl.col("slot") == one), numbers) for one in slots)
        return pl.sum_horizontal(added)

    def _added(self, places: pl.DataFrame, numbers: pl.Series) -> pl.Expr:
        """Return what a count of each part adds, of the numbers of all users."""
        names, parts = self.counts.numbers, pl.DataFrame({"part": range(self.n_parts)})
        places = parts.join(
            places.with_columns(pl.col("part").cast(pl.Int64)),
            on="part",
            how="left",
            maintain_order="left",
        )
        part, user = pl.col(BOTH) % self.n_parts, pl.col(BOTH) // self.n_parts
        first = self.of_users.place(user) * len(names)
        which = places["number"].replace_strict(names, range(len(names)), return_dtype=pl.Int64)
        number = pl.lit(numbers).gather(first + pl.lit(which).gather(part))
        count = number // pl.lit(places["place"]).gather(part) & self.counts.highest - 1
        return count.cast(pl.Float64) * pl.lit(places[self.counts.sums[0]]).gather(part)


def _whole(sizes: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame | None:
    """Return how many times what a count adds to the sum an item of each size adds, if there is one sum and they are whole."""
    name, units = names[0], math.lcm(*sizes["size"])
    added = sizes[name] * units
    whole = added.round().cast(pl.Int64, strict=False)
    if len(names) > 1 or units > MOST_UNITS or not ((added - whole).abs() < NEARLY).all():
        return None
    once = math.gcd(*whole)
    return sizes.select("size", pl.lit(once / units).alias(name), adds=whole // once)


def _counts(tally: Tally, keys: list[str], sizes: pl.DataFrame, sums: list[str]) -> Counts | None:
    """Return the counts by some keys, as many to a number as fit; `sizes` says what items add to them, and they to the sums."""
    most: Any = sizes["adds"].max()
    bits = (tally.longest * most).bit_length()
    each = max(1, BITS // bits)
    rows = tally.parts.join(sizes, on="size")
    field, two = pl.col("field"), pl.lit(2, dtype=pl.Int64)
    places = rows.select(*keys, *sums).unique().sort(keys).with_row_index("field")
    numbers = [f"number {place}" for place in range(len(places) // each + 1)]
    if bits > BITS or len(numbers) > MOST_NUMBERS:
        return None
    described = (numbers[-1], 2 ** (bits * (len(places) % each)))
    places = places.with_columns(
        number=pl.format("number {}", field // each),
        place=two ** (bits * (field % each).cast(pl.Int64)),
    )
    rows = rows.join(places.select(*keys, "number", "place"), on=keys)
    added = pl.col("place") * pl.col("adds")
    own = (pl.when(pl.col("number") == number).then(added).alias(number) for number in numbers)
    of_items = rows.select("item", *own).group_by("item").agg(pl.col(numbers).sum())
    of_items = of_items.with_columns(pl.col(described[0]) + described[1])
    of_items = of_items.select("item", **{one: _word(*of) for one, of in _words(numbers).items()})
    found = lookup(of_items, "item", tally.item)
    return None if found is None else Counts(found, numbers, places, sums, 2**bits, described)


def _words(numbers: Sequence[str]) -> dict[str, list[str]]:
    """Return words, each of two numbers, the last maybe of one.

    NOTE: to look a word up and sum it up takes as long as one number, and rows have no more than these.
    """
    pairs = (list(numbers[first : first + 2]) for first in range(0, len(numbers), 2))
    return {f"word {place}": pair for place, pair in enumerate(pairs)}


def _word(low: str, high: str | None = None) -> pl.Expr:
    return pl.col(low) if high is None else pl.col(high).cast(pl.Int128) * _ROOM + pl.col(low)


def _numbers(word: str, n: int) -> list[pl.Expr]:
    both = pl.col(word)
    return [both] if n == 1 else [one.cast(pl.Int64) for one in (both % _ROOM, both // _ROOM)]
