"""What the sums of a segment lose without one of its lists, for each of them: sums over lists, and over items."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from recframe.facts.levels import Level, Levels
from recframe.frames.rows.joins import aggregate, distinct_names, joined
from recframe.plan.of_lists import Cut
from recframe.plan.runs import Run

N_PLACES = "n places"
"""The number of rows that an item has in the lists of a segment."""


def less(name: str) -> pl.Expr:
    """Return the column of what a sum loses without the list."""
    return pl.col(f"less {name}")


@dataclass(frozen=True)
class Removal:
    """The sums of the segments, and what each of them loses without a list.

    A sum over lists loses the list's own value. A sum over items loses what each item of the list loses, whose value is
    another one once the list's share is gone from the item's own sums.
    """

    cuts: Sequence[Cut]
    """The lists, part by part."""
    asked: Levels
    keys: list[str]
    run: Run

    def rows(self, values: Sequence[pl.Expr], counts: Sequence[pl.Expr]) -> pl.LazyFrame:
        """Return each list with an item up to the largest k: the keys, the user, the sums of the segment and their losses.

        Values are made of such sums; they stand beside as `whole 0`, ..., and counts as `n 0`, ...
        """
        keys = distinct_names(*self.keys, "user")
        found = [cut.described(self._lists(cut)) for cut in self.cuts]
        lists = self.run.added([one.select(*keys, pl.col("^less .*$")) for one in found], keys)
        segments = self._segments(lists, values).with_columns(
            *(value.alias(f"whole {number}") for number, value in enumerate(values)),
            *(count.alias(f"n {number}") for number, count in enumerate(counts)),
        )
        return joined(lists, segments, self.keys)

    def _segments(self, lists: pl.LazyFrame, values: Sequence[pl.Expr]) -> pl.LazyFrame:
        """Return each segment with its sums, and the facts that values read."""
        sums = [less(name).sum().alias(name) for name in self._over_lists]
        segments = aggregate(lists, self.keys, sums)
        if self._over_items:
            sums = [pl.col(f"whole {name}").sum().alias(name) for name in self._over_items]
            steps = [pl.col(f"step {name}").sum() for name in self._placed]
            found = aggregate(self._items, self.keys, [*sums, *steps])
            segments = joined(segments, found, self.keys)
        roots = {name for value in values for name in value.meta.root_names()}
        facts = [fact for name, fact in self.asked.facts.items() if name in roots]
        return self.cuts[0].sides.joined(segments, facts, "segment", "whole")

    def remaining(self) -> list[pl.Expr]:
        """Return the sums without the list, where both of the above stand in one row.

        NOTE: an item without a list had one of the lowest places, so that those of all others are one lower without it.
        """
        names = [*self._over_lists, *self._over_items]
        found = {name: pl.col(name).cast(pl.Float64) - less(name) for name in names}
        for name in self._placed:
            steps = pl.col(f"step {name}") - less(f"step {name}")
            found[name] -= less(f"items of {name}") * steps
        return [one.alias(name) for name, one in found.items()]

    def _lists(self, cut: Cut) -> pl.LazyFrame:
        lost = [f"less {name}" for name in self._names_lost(self._over_items)]
        sums = [pl.col(name).sum() for name in lost]
        lists = cut.lists(self._losing_rows(cut, lost), *sums) if lost else cut.lists()
        own = (
            term.cast(pl.Float64).fill_null(0.0).alias(f"less {name}")
            for name, term in self._over_lists.items()
        )
        return lists.select(*cut.held.list_keys, *lost, *own)

    def _losing_rows(self, cut: Cut, lost: Sequence[str]) -> pl.LazyFrame:
        """Return the rows of the lists with what the sums over items lose without each."""
        on, rows = distinct_names(*self.keys, "item"), cut.places()
        kept = distinct_names(*cut.held.list_keys, *on, "rank")
        if not self._by_row:
            rows = rows.select(kept).join(
                self._items.select(*on, *lost), on=on, how="left", nulls_equal=True
            )
            return rows.select(*distinct_names(*cut.held.list_keys, "item", "rank"), *lost)
        shares = {name: pl.col(f"share of {name}") for name in self._shares}
        rows = rows.select(
            *kept, *(share.alias(f"share of {name}") for name, share in self._shares.items())
        )
        rows = rows.join(self._items, on=on, how="left", nulls_equal=True)
        rows = self._losing(rows, self._by_row, shares)
        return rows.select(*distinct_names(*cut.held.list_keys, "item", "rank"), *lost)

    @cached_property
    def _items(self) -> pl.LazyFrame:
        """Each item of each segment with its value in each sum over items, and what that loses without a list that has it.

        The latter where it is the same for all of these lists.
        """
        one, keys = self.cuts[0], distinct_names(*self.keys, "item")
        n_places = pl.len().cast(pl.Int64).alias(N_PLACES)
        items = self.run.added([cut.items(n_places) for cut in self.cuts], keys)
        items = one.with_places(one.with_facts(items)).with_columns(
            *(term.alias(f"whole {name}") for name, term in self._over_items.items()),
            *(pl.col(name).cast(pl.Float64).alias(f"all {name}") for name in self._shares),
        )
        items = self._valued(one.with_places(items, "min"), "before", self._over_items)
        items = items.rename({f"step before {name}": f"step {name}" for name in self._placed})
        same = [name for name in self._over_items if name not in self._by_row]
        shares = {name: share for name, share in self._shares.items() if _is_the_same(share)}
        items = self._losing(items, same, shares) if same else items
        return items.cache()

    def _losing(
        self, rows: pl.LazyFrame, names: Collection[str], shares: dict[str, pl.Expr]
    ) -> pl.LazyFrame:
        """Return rows with what an item's values in some sums lose without its share.

        NOTE: an item that has no other place is then no item of the segment, whatever its value would be.
        """
        rows = rows.with_columns(
            (pl.col(f"all {name}") - share.fill_null(0.0)).alias(name)
            for name, share in shares.items()
        )
        others = pl.col(N_PLACES) > 1
        gone = {
            name: pl.col(place).is_not_null() & ~(others & value.is_not_null())
            for name, (place, value) in self._placed.items()
            if name in names
        }
        rows = rows.with_columns(
            one.cast(pl.Float64).alias(f"less items of {name}") for name, one in gone.items()
        )
        rows = self._valued(rows, "after", names)
        before = {name: f"before {name}" for name in names} | {
            f"step {name}": f"step {name}" for name in gone
        }
        after = {name: f"after {name}" for name in names} | {
            f"step {name}": f"step after {name}" for name in gone
        }
        return rows.with_columns(
            (pl.col(before[name]) - pl.when(others).then(after[name]).fill_null(0.0)).alias(
                f"less {name}"
            )
            for name in before
        )

    def _valued(self, rows: pl.LazyFrame, when: str, names: Collection[str]) -> pl.LazyFrame:
        """Return rows with their items' values in some sums, and by how much each would rise with the item one place up."""
        rows = rows.with_columns(
            self._over_items[name].cast(pl.Float64).fill_null(0.0).alias(f"{when} {name}")
            for name in names
        )
        if not (placed := {name: self._placed[name][0] for name in names if name in self._placed}):
            return rows
        places = list(dict.fromkeys(placed.values()))
        steps = (
            (
                self._over_items[name].cast(pl.Float64).fill_null(0.0) - pl.col(f"{when} {name}")
            ).alias(f"step {when} {name}")
            for name in placed
        )
        one = pl.col(places)
        return rows.with_columns(one + 1).with_columns(steps).with_columns(one - 1)

    def _names_lost(self, names: Iterable[str]) -> list[str]:
        placed = [name for name in names if name in self._placed]
        return [*names, *(f"{what} {name}" for what in ("step", "items of") for name in placed)]

    @cached_property
    def _over_lists(self) -> dict[str, pl.Expr]:
        return self._terms(Level.OVER_LISTS)

    @cached_property
    def _over_items(self) -> dict[str, pl.Expr]:
        return self._terms(Level.OVER_ITEMS)

    @cached_property
    def _shares(self) -> dict[str, pl.Expr]:
        return self._terms(Level.OF_ITEM)

    def _terms(self, level: Level) -> dict[str, pl.Expr]:
        """Return what the columns of a level sum up, by their names."""
        names = [one.meta.output_name() for one in self.asked.named(level)]
        return {name: self.asked.terms[name] for name in names}

    @cached_property
    def _placed(self) -> dict[str, tuple[str, pl.Expr]]:
        """The sums over items that read an item's place: its column, and the value that it is the place of."""
        named = [one.meta.output_name() for one in self.asked.named(Level.PLACE)]
        places = dict(zip(named, self.asked.columns.get(Level.PLACE, []), strict=True))
        return {
            name: (root, places[root])
            for name, term in self._over_items.items()
            for root in term.meta.root_names()
            if root in places
        }

    @cached_property
    def _by_row(self) -> list[str]:
        """The sums over items that lose more without one list that has the item than without another."""
        vary = {name for name, share in self._shares.items() if not _is_the_same(share)}
        read = {name: {*term.meta.root_names()} for name, term in self._over_items.items()}
        for name, (_, value) in self._placed.items():
            read[name].update(value.meta.root_names())
        return [name for name, roots in read.items() if vary & roots]


def _is_the_same(share: pl.Expr) -> bool:
    """Return whether an item has the same share from all lists that have it."""
    return {*share.meta.root_names()} <= {"item"}
