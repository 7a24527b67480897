"""What the sums of a segment lose without one of its lists, for each of them: sums over lists, and over items."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from recframe.facts.levels import Level, Levels
from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.joins import distinct_names, joined
from recframe.plan.of_lists import N_PLACES, Cut, items_of
from recframe.plan.runs import Run


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
        sums = ExactSums({name: less(name) for name in self._over_lists})
        segments = sums.of(lists, self.keys)
        if self._over_items:
            wholes = {name: pl.col(f"whole {name}").cast(pl.Float64) for name in self._over_items}
            steps = {f"step {name}": pl.col(f"step {name}") for name in self._placed}
            found = ExactSums(wholes | steps).of(self._items, self.keys)
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
        """Return each list with what each sum loses without it."""
        own = (
            term.cast(pl.Float64).fill_null(0.0).alias(f"less {name}")
            for name, term in self._over_lists.items()
        )
        names = [f"less {name}" for name in self._names_lost(self._over_items)]
        lists = self._with_lost(cut, names) if names else cut.lists()
        return lists.select(*cut.held.list_keys, *names, *own)

    def _with_lost(self, cut: Cut, names: Sequence[str]) -> pl.LazyFrame:
        """Return the lists with the sums of what their rows lose; all sums at once, unless the others are at hand."""
        rows, sums, on = self._losing_rows(cut, names), pl.col(names).sum(), cut.held.list_keys
        if cut.summed is None:
            return cut.lists(rows, sums)
        lost = rows.group_by(on).agg(sums)
        return cut.summed.join(lost, on=on, how="left", nulls_equal=True)

    def _losing_rows(self, cut: Cut, lost: Sequence[str]) -> pl.LazyFrame:
        """Return the rows of the lists with what the sums over items lose without each."""
        lists, on = cut.held.list_keys, distinct_names(*self.keys, "item")
        shares = self._shares if self._by_row else {}
        rows = cut.places().select(
            *distinct_names(*lists, *on, "rank"),
            *(share.alias(f"share of {name}") for name, share in shares.items()),
        )
        alike = self._items if shares else self._items.select(*on, *lost)
        found = rows.join(alike, on=on, how="left", nulls_equal=True)
        columns = {name: pl.col(f"share of {name}") for name in shares}
        moving = [name for name in self._by_row if name in self._placed]
        if staying := [name for name in self._by_row if name not in moving]:
            found = self._losing(found, staying, columns)
        if moving:
            keys = [*on, *(f"share of {name}" for name in self._read_by(moving) if name in shares)]
            each = rows.select(keys).unique().join(self._items, on=on, nulls_equal=True)
            each = self._losing(each, moving, columns, moved=True)
            names = [f"less {name}" for name in self._names_lost(moving)]
            found = found.join(each.select(*keys, *names), on=keys, how="left", nulls_equal=True)
        return found.select(*distinct_names(*lists, "item", "rank"), *lost)

    @cached_property
    def _items(self) -> pl.LazyFrame:
        """Each item of each segment with its value in each sum over items, and what that loses without a list that has it.

        The latter where it is the same for all of these lists.
        """
        one = self.cuts[0]
        items = items_of(self.cuts, self.run)
        items = one.with_places(one.with_facts(items)).with_columns(
            *(term.alias(f"whole {name}") for name, term in self._over_items.items()),
            *(pl.col(name).cast(pl.Float64).alias(f"all {name}") for name in self._shares),
            *(value.alias(f"value of {name}") for name, (_, value) in self._placed.items()),
        )
        items = self._valued(one.with_places(items, "min"), "before", self._over_items)
        items = items.rename({f"step before {name}": f"step {name}" for name in self._placed})
        # NOTE: sums that were taken twice may differ in their last digit, and an item then stand below itself.
        items = items.cache()
        for name in self._placed:
            if name in self._by_row:
                items = self._with_those_below(items, items, name, pl.col(f"value of {name}"))
        same = [name for name in self._over_items if name not in self._by_row]
        shares = {name: share for name, share in self._shares.items() if _is_the_same(share)}
        items = self._losing(items, same, shares) if same else items
        return items.cache()

    def _losing(
        self,
        rows: pl.LazyFrame,
        names: Collection[str],
        shares: dict[str, pl.Expr],
        *,
        moved: bool = False,
    ) -> pl.LazyFrame:
        """Return rows with what an item's values in some sums lose without its share; `moved` where it may pass others.

        NOTE: an item that has no other place is then no item of the segment, whatever its value would be.
        """
        others = pl.col(N_PLACES) > 1
        smaller = (
            (pl.col(f"all {name}") - share.fill_null(0.0)).alias(name)
            for name, share in shares.items()
            if name in self._read_by(names)
        )
        rows = rows.with_columns(smaller)
        placed = [name for name in names if name in self._placed]
        for name in placed:
            place, value = self._placed[name]
            left = pl.when(others).then(value)
            gone = pl.col(place).is_not_null() & left.is_null()
            rows = rows.with_columns(gone.cast(pl.Float64).alias(f"less items of {name}"))
            rows = self._moved(rows, name, left) if moved else rows
        rows = self._valued(rows, "after", names)
        before = {name: pl.col(f"before {name}") for name in names}
        after = {name: pl.col(f"after {name}") for name in names}
        for name in placed:
            before[name] -= pl.col(f"passed {name}") if moved else 0.0
            before[f"step {name}"] = pl.col(f"step {name}")
            after[f"step {name}"] = pl.col(f"step after {name}")
        return rows.with_columns(
            (before[name] - pl.when(others).then(after[name]).fill_null(0.0)).alias(f"less {name}")
            for name in before
        )

    def _moved(self, rows: pl.LazyFrame, name: str, left: pl.Expr) -> pl.LazyFrame:
        """Return rows with the place that an item then has, and what those that it passes gain, which are one place up."""
        place, _ = self._placed[name]
        counts = (f"n below {name}", f"steps below {name}")
        first = rows.rename({count: f"first {count}" for count in counts})
        found = self._with_those_below(self._items, first, name, left)
        n, steps = (
            pl.when(pl.col(place).is_not_null())
            .then(pl.col(f"first {count}") - pl.col(count))
            .otherwise(0)
            for count in counts
        )
        return found.with_columns(steps.alias(f"passed {name}"), pl.col(place) - n)

    def _with_those_below(
        self, items: pl.LazyFrame, rows: pl.LazyFrame, name: str, value: pl.Expr
    ) -> pl.LazyFrame:
        """Return rows with the number of items below a value, and the sum of their steps; in order of the segments before.

        NOTE: a sort takes the time of a few items, and counts of earlier segments drop out of differences.
        """
        step = pl.col(f"step {name}")
        marks = items.filter(pl.col(f"value of {name}").is_not_null())
        marks = marks.select(*self.keys, at=f"value of {name}", mark=1, marked=step)
        asked = rows.with_columns(at=value.fill_null(-math.inf), mark=0, marked=0.0)
        both = pl.concat([asked, marks], how="diagonal").sort(*self.keys, "at", "mark")
        both = both.with_columns(
            pl.col("mark").cum_sum().alias(f"n below {name}"),
            pl.col("marked").cum_sum().alias(f"steps below {name}"),
        )
        return both.filter(pl.col("mark") == 0).drop("at", "mark", "marked")

    def _valued(self, rows: pl.LazyFrame, when: str, names: Collection[str]) -> pl.LazyFrame:
        """Return rows with their items' values in some sums, and by how much each would rise with the item one place up."""
        terms = {name: self._over_items[name].cast(pl.Float64).fill_null(0.0) for name in names}
        rows = rows.with_columns(one.alias(f"{when} {name}") for name, one in terms.items())
        if not (placed := {name: self._placed[name][0] for name in names if name in self._placed}):
            return rows
        steps = (
            (terms[name] - pl.col(f"{when} {name}")).alias(f"step {when} {name}") for name in placed
        )
        places = pl.col(list(dict.fromkeys(placed.values())))
        return rows.with_columns(places + 1).with_columns(steps).with_columns(places - 1)

    def _read_by(self, names: Iterable[str]) -> set[str]:
        """Return the columns that sums over items read, and the places in them."""
        terms = [self._over_items[name] for name in names]
        terms += [self._placed[name][1] for name in names if name in self._placed]
        return {root for term in terms for root in term.meta.root_names()}

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
        return [name for name in self._over_items if vary & self._read_by([name])]


def _is_the_same(share: pl.Expr) -> bool:
    """Return whether an item has the same share from all lists that have it."""
    return {*share.meta.root_names()} <= {"item"}
