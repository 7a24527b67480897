"""Side frames of one call, and the builders of facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import polars as pl

from recframe.errors import fails_if
from recframe.frames.hints import FrameOf
from recframe.frames.inputs import Frames
from recframe.frames.rows.integer_keys import grouped_as_number, joined_as_numbers
from recframe.frames.rows.joins import joined
from recframe.ranking.judged_frame import PAIR, Judged
from recframe.side_info import features
from recframe.side_info.features import CATEGORIES, Feature, Shape
from recframe.side_info.reference_ranks import Places

Kind = Literal[
    "item",
    "pair",
    "row",
    "user",
    "member",
    "part",
    "list",
    "segment",
    "whole",
    "sums",
]
"""Kinds of fact, by their keys: item; user and item; these in a segment of rows; user (with item
segments); user in each segment that cuts lists; user and category; list; item segment; none. Sums are made of list rows."""
Setting = str | int | float | bool
VALUE = pl.col("value")
COUNT = pl.len().cast(pl.Float64).alias("value")


@dataclass(frozen=True)
class Builder:
    """Function that builds a fact, its required side frames and keys."""

    kind: Kind
    needs: tuple[str, ...]
    build: Callable[..., pl.LazyFrame | pl.Expr]
    takes: tuple[Shape, ...] = ()
    """Shapes of feature that the first setting may name."""
    uses: tuple[str, ...] = ()
    """Side frames that are read if they are bound."""


@dataclass(frozen=True)
class Fact:
    """Fact with its settings: a keyed frame, or one global value."""

    builder: Builder
    settings: tuple[Setting, ...] = ()

    @property
    def name(self) -> str:
        """The name of its column."""
        return " ".join(map(str, (self.kind, self.builder.build.__name__, *self.settings)))

    @property
    def kind(self) -> Kind:
        """The keys of the fact, by kind."""
        return self.builder.kind

    def build(self, of: Any) -> Any:
        """Return the frame, from what the function takes: `Sides`, or rows of lists that are summed up."""
        return self.builder.build(of, *self.settings)


def fact(
    kind: Kind, *needs: str, takes: tuple[Shape, ...] = (), uses: tuple[str, ...] = ()
) -> Callable[[Callable[..., pl.LazyFrame | pl.Expr]], Builder]:
    """Turn a function of `Sides`, or of rows of lists, and some settings into a builder of facts."""
    return lambda function: Builder(kind, needs, function, takes, uses)


@dataclass(frozen=True)
class Sides:
    """Side frames of one call, prepared for building facts."""

    inputs: Frames
    held: Judged
    """Lists joined with the truth; of one part of the users where the call runs in parts."""
    pairs: pl.LazyFrame | None = None
    """Distinct pairs of train, if precomputed."""
    popular: pl.LazyFrame | None = None
    """Train items with their number of users, if precomputed."""
    at_hand: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    """Precomputed facts by name."""
    narrow: bool = False
    """Whether user and item fit into one 64-bit integer, in the rows and in facts on pairs."""
    numbered: Mapping[str, Feature] = field(default_factory=dict)
    """Features with numbers in place of categories, where lists are told apart by users that are narrow: all, or none."""
    beside: frozenset[str] = frozenset()
    """Names of facts that are columns of the list rows already."""
    shown: pl.LazyFrame | None = None
    """Distinct items of all frames, if precomputed."""
    places: Places | None = None
    """Ranked items of lists and references as narrow integers, if precomputed."""

    def sums_by_part(
        self, rows: pl.LazyFrame, keys: Sequence[str], of: str, sums: Sequence[pl.Expr]
    ) -> pl.LazyFrame:
        """Return the sums over the rows that each list or user has of a category, or dimension, of a feature."""
        rows, keys = rows.join(self.feature(of).parts(), on="item"), [*keys, "part"]
        return (
            grouped_as_number(rows, keys, sums)
            if of in self.numbered
            else rows.group_by(keys).agg(sums)
        )

    @property
    def item_keys(self) -> list[str]:
        """The keys of the segments that are properties of the item."""
        return self.inputs.item_keys

    @property
    def user_keys(self) -> list[str]:
        """The keys of a user's own facts."""
        return [*self.item_keys, "user"]

    def feature(self, of: str) -> Feature:
        """Return a feature of the items."""
        return self.numbered[of] if of in self.numbered else features.read(self.inputs, of)

    @cached_property
    def train(self) -> pl.LazyFrame:
        """Each pair of a user and an item of the train frame once."""
        if self.pairs is not None:
            return self.pairs
        return _frame(self.inputs.train).drop_nulls().unique()

    @cached_property
    def popularity(self) -> pl.LazyFrame:
        """The items of train with their number of users."""
        if self.popular is not None:
            return self.popular

        def popularity() -> pl.LazyFrame:
            return self.train.group_by("item").agg(value=pl.len().cast(pl.Float64))

        return self.inputs.added("popularity", popularity, ["item"])

    @cached_property
    def catalogue(self) -> pl.LazyFrame:
        """The items of the catalogue, each once in each segment, with those that are properties of them."""
        return self.inputs.added_to(self.items, "items")

    @property
    def items(self) -> pl.LazyFrame:
        """The items of the catalogue, each once."""
        if self.inputs.items is not None:
            return self.inputs.items.filter(pl.col("item").is_not_null())
        if self.shown is not None:
            return self.shown
        if self.inputs.all_users is None:
            return pl.concat(self.all_items).unique()
        each = enumerate(self.all_items)
        items = [self.inputs.added(f"items {at}", one.unique, ["item"]) for at, one in each]
        return pl.concat(items).unique()

    @property
    def all_items(self) -> list[pl.LazyFrame]:
        """The items of each of the frames of which any item is shown, where there is no frame of items."""
        given = [self.inputs.counted("recommendations")]
        given += [] if self.inputs.truth is None else [self.inputs.counted("truth")]
        given += [] if self.inputs.train is None else [self.inputs.train.drop_nulls()]
        return [one.select("item") for one in given]

    def with_item_keys(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of items with the segments that are properties of them."""
        return self.inputs.attach(rows, "items")

    def built(self, one: Fact) -> Any:
        """Return a fact, precomputed or built from the side frames."""
        return self.at_hand[one.name] if one.name in self.at_hand else one.build(self)

    def table(
        self, kind: Kind, facts: Sequence[Fact]
    ) -> tuple[list[str], pl.LazyFrame | None, list[pl.Expr]]:
        """Return the keys of a kind of fact, a frame of the facts by these keys, and the facts that are the same for all."""
        keys = {"item": ["item"], "pair": PAIR, "user": self.user_keys, "segment": self.item_keys}
        keys |= {"row": [*self.held.of_rows, *PAIR], "member": self.held.user_keys}
        keys |= {"part": [*self.user_keys, "part"], "list": self.held.list_keys}
        on, table, same = keys.get(kind, []), None, []
        for one in (one for one in facts if one.kind == kind):
            built = self.built(one)
            if isinstance(built, pl.Expr):
                same.append(built.alias(one.name))
                continue
            built = built.rename({"value": one.name})
            table = built if table is None else joined(table, built, on, "full")
        return on, table, same

    def joined(
        self,
        rows: pl.LazyFrame,
        facts: Sequence[Fact],
        *kinds: Kind,
        named: Mapping[str, str] | None = None,
    ) -> pl.LazyFrame:
        """Return rows joined with the facts of some kinds; `named` has other names of the keys."""
        if self.beside:
            there = {*rows.collect_schema().names()}
            facts = [one for one in facts if one.name not in there]
        for kind in kinds:
            on, table, same = self.table(kind, facts)
            if table is not None:
                others = {key: (named or {}).get(key, key) for key in on}
                table, on = table.rename(others), list(others.values())
                rows = (
                    joined_as_numbers(rows, table, on, "left")
                    if (self.narrow and on == PAIR) or (self.numbered and kind == "part")
                    else joined(rows, table, on)
                )
            rows = rows.with_columns(same) if same else rows
        return rows


def _frame(frame: Any) -> pl.LazyFrame:
    return pl.LazyFrame(schema={"user": pl.Int64, "item": pl.Int64}) if frame is None else frame


@fact("item", "train")
def popularity_quantile(sides: Sides) -> pl.LazyFrame:
    """The share of train's items that an item is as popular as or more; those of one popularity share their mean place."""
    counts = sides.popularity.group_by("value").agg(same=pl.len().cast(pl.Float64)).sort("value")
    same = pl.col("same")
    places = counts.with_columns(quantile=(same.cum_sum() - (same - 1) / 2) / same.sum())
    return sides.popularity.join(places, on="value").select("item", value=pl.col("quantile"))


@fact("member", "relevance")
def in_universe(sides: Sides) -> pl.LazyFrame | pl.Expr:
    """Whether a user with a list is of the universe; every one is, where the universe has all users with a list."""
    if sides.held.universe in {"truth", "both"}:
        return sides.held.judged_users.unique().with_columns(value=pl.lit(value=True))
    return pl.lit(value=True)


# Of lists


@fact("list", "relevance")
def has_relevant(sides: Sides) -> pl.LazyFrame | pl.Expr:
    """Whether a list's user has a relevant item; not computed where users without one count as well."""
    if sides.inputs.context.no_relevant == "zero":
        return pl.lit(value=True)
    return (
        sides.held.relevant_items()
        .select(sides.held.list_keys)
        .unique()
        .with_columns(value=pl.lit(value=True))
    )


@fact("list", "relevance", "items", takes=CATEGORIES)
def n_categories_of_relevant(sides: Sides, of: str) -> pl.LazyFrame:
    """The number of categories of a user's relevant items, listed or not; in a segment of items, of its own."""
    found = sides.held.relevant_items().join(sides.feature(of).parts(), on="item")
    return (
        found.select(*sides.held.list_keys, "part")
        .unique()
        .group_by(sides.held.list_keys)
        .agg(COUNT)
    )


def counted_items() -> pl.Expr:
    """Return the number of items in the catalogue, or fail when the plan runs and there are none."""
    return pl.len().cast(pl.Float64) + fails_if(
        pl.len() == 0, f"the catalogue is empty: {FrameOf('items')} has no item"
    )


# Of the whole


@fact("whole", "catalogue")
def n_whole_catalogue(sides: Sides) -> pl.LazyFrame:
    """The number of items in the catalogue, in a segment of items too."""
    return sides.items.select(value=counted_items())
