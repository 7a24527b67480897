"""Sums per list by item feature: unit vectors, categories, category-sharing pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import polars as pl

from recframe.frames.rows.joins import joined
from recframe.side_info import attributes
from recframe.side_info.aggregation_levels import Level, Levels
from recframe.side_info.features import ANY, CATEGORIES, Feature
from recframe.side_info.sources import Fact, Sides, fact


@dataclass(frozen=True)
class Rows:
    """Rows of the lists up to k, the columns requested of them, and the side frames."""

    sides: Sides
    asked: Levels
    rows: pl.LazyFrame
    """Each item of a list once, at its best rank."""
    segment_keys: list[str]
    lists: pl.LazyFrame = field(default_factory=pl.LazyFrame)
    """Each list with its plain sums."""

    @property
    def keys(self) -> list[str]:
        """The keys of a list."""
        return self.sides.held.list_keys

    def described(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the segments that are properties of their users."""
        return self.sides.inputs.attach(rows, "users")

    def with_facts(self, *levels: str) -> pl.LazyFrame:
        """Return the rows joined with the facts that some levels request."""
        facts = self.asked.facts_in(*levels)
        return self.sides.joined(self.rows, facts, "pair", "row", "item", "segment", "whole")

    def beside(self, lists: pl.LazyFrame) -> pl.LazyFrame:
        """Return lists with plain sums, joined with all requested sums by feature."""
        for one in self.asked.sums_of_lists.values():
            lists = joined(lists, one.build(replace(self, lists=lists)), self.keys)
        return lists


@fact("sums", "items", takes=ANY)
def vectors(rows: Rows, of: str) -> pl.LazyFrame:
    """The sum of the items' unit vectors, each times a value: its square, or its product with the sum over the history.

    NOTE: a column for each dimension where the schema tells their number, which takes a twentieth of the time and a quarter of
    the memory of a row for each.
    """
    levels = [Level.OF_LIST.of("square", of), Level.OF_LIST.of("product", of)]
    squares, products = map(rows.asked.named, levels)
    names = [value.meta.output_name() for value in [*squares, *products]]
    feature = rows.sides.feature(of)
    columns = ["unit"] if feature.width is None else feature.dimensions
    # what is the same for all items is no column of theirs
    beside = [value for value in [*squares, *products] if value.meta.root_names()]
    same = {value.meta.output_name(): value for value in squares if not value.meta.root_names()}
    values = rows.with_facts(*levels).with_columns(beside)
    if not squares:
        values = values.filter(pl.any_horizontal(pl.col(name) != 0 for name in names))
    totals = [
        (same.get(name, pl.col(name)) * pl.col(column)).sum().alias(f"{name} {column}")
        for name in names
        for column in columns
    ]
    factors = [(name, name if place < len(squares) else "") for place, name in enumerate(names)]
    found = [_product(name, other, columns) for name, other in factors]
    if feature.width is not None:
        sums = values.join(feature.wide(), on="item").group_by(rows.keys).agg(totals)
        if products:
            sums = joined(sums, _history(rows.sides, feature), rows.sides.user_keys)
        return sums.select(*rows.keys, *found)
    sums = rows.sides.sums_by_part(values, rows.keys, of, totals)
    if products:
        history = Fact(attributes.history_along, (of,))
        sums = rows.sides.joined(sums, [history], "part").rename({history.name: "unit"})
    return sums.group_by(rows.keys).agg(one.sum() for one in found)


def _history(sides: Sides, feature: Feature) -> pl.LazyFrame:
    """Return the sums of the unit vectors of each user's train items, a column for each dimension."""
    history = sides.with_item_keys(sides.train).join(feature.wide(), on="item")
    return history.group_by(sides.user_keys).agg(pl.col(feature.dimensions).sum())


def _product(name: str, other: str, columns: Iterable[str]) -> pl.Expr:
    """Return the inner product of the sums of a name and those of another, or of the history, which have none."""
    products = (
        pl.col(f"{name} {column}") * pl.col(f"{other} {column}".strip()) for column in columns
    )
    return pl.sum_horizontal(products).alias(name)


@fact("sums", "items", takes=CATEGORIES)
def categories(rows: Rows, of: str) -> pl.LazyFrame:
    """The categories of the items, with sums over the items of each, and what the history has of it."""
    inner, outer = Level.IN_CATEGORY.of(of), Level.OF_LIST.of("categories", of)
    sums = rows.asked.named(inner)
    found = rows.sides.sums_by_part(rows.with_facts(inner), rows.keys, of, sums)
    if beside := _beside_categories(rows, outer):
        found = joined(found, rows.lists.select(*rows.keys, *beside), rows.keys)
    facts = rows.asked.facts_in(outer)
    found = rows.sides.joined(found, facts, "part", "list", "user", "segment", "whole")
    return found.group_by(rows.keys).agg(rows.asked.named(outer))


def _beside_categories(rows: Rows, level: str) -> list[pl.Expr]:
    """Return the list values that a level reads with each category."""
    roots = {name for one in rows.asked.named(level) for name in one.meta.root_names()}
    whole = rows.asked.named(Level.BESIDE_CATEGORIES)
    return [one for one in whole if one.meta.output_name() in roots]


@fact("sums", "items", takes=CATEGORIES)
def pairs(rows: Rows, of: str) -> pl.LazyFrame:
    """The pairs of items with a common category, self-pairs included: the lower item's rank, and their similarity."""
    found = rows.rows.join(rows.sides.feature(of).parts(), on="item")
    one, other = (
        found.select(*rows.keys, "part", "rank", "share", pl.col("item").alias(name))
        for name in ("one", "other")
    )
    both = one.join(other, on=[*rows.keys, "part"], nulls_equal=True)
    union = (1 / pl.col("share") + 1 / pl.col("share_right")).max() - pl.len()
    both = both.group_by(*rows.keys, "one", "other").agg(
        rank=pl.max_horizontal("rank", "rank_right").max(), likeness=pl.len() / union
    )
    return both.group_by(rows.keys).agg(rows.asked.named(Level.OF_LIST.of("pairs", of)))
