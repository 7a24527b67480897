"""What the side frames say of an item, a user, a pair or the whole: facts that stand beside the rows of the lists.

A fact is one function of the side frames, which returns a frame of its keys and `value`; or an expression, where it is the
same for all. Words of `AtLists` ask for facts, and a plan builds those that were asked for, no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import polars as pl

from recframe import features
from recframe.errors import ColumnError, fails_if
from recframe.features import ANY, CATEGORIES, Feature, Shape
from recframe.frames import Ask
from recframe.inputs import Inputs
from recframe.judge import PAIR, Judged
from recframe.keyed import joined
from recframe.order import are_distinct, are_narrow, by_item, by_user, distinct, joined_as_numbers

Branches = Callable[[pl.LazyFrame, set[str]], list[pl.LazyFrame]]
"""Gives what the plan of users asks of rows of a kind, whose columns are named."""
Kind = Literal["item", "pair", "user", "member", "part", "list", "group", "segment", "whole", "table"]
Setting = str | int | float | bool
VALUE = pl.col("value")
_COUNT = pl.len().cast(pl.Float64).alias("value")


@dataclass(frozen=True)
class Builder:
    """A function that makes a fact out of the side frames, what the fact is a property of, and which frames it needs.

    The keys of its frame: item; user and item; user (and what `by` has of items); the user alone; those before and a part of a
    feature; all that tells lists apart; what `by` has of items; none. One of a group has a function in `recframe.groups`, which
    is given the lists of the segments. A table is no fact but rows of the lists' own, see `tables`.
    """

    kind: Kind
    needs: tuple[str, ...]
    build: Callable[..., pl.LazyFrame | pl.Expr]
    takes: tuple[Shape, ...] = ()
    """Which features the first setting may name."""


@dataclass(frozen=True)
class Fact:
    """A fact with its settings; its name is that of its column."""

    builder: Builder
    settings: tuple[Setting, ...] = ()

    @property
    def name(self) -> str:
        """The name of the column."""
        return " ".join(map(str, (self.builder.kind, self.builder.build.__name__, *self.settings)))

    def build(self, sides: Sides) -> pl.LazyFrame | pl.Expr:
        """Return the frame of the fact, or what is the same for all."""
        return self.builder.build(sides, *self.settings)

    @property
    def kind(self) -> Kind:
        """What it is a property of."""
        return self.builder.kind


def fact(kind: Kind, *needs: str, takes: tuple[Shape, ...] = ()) -> Callable[[Callable[..., pl.LazyFrame | pl.Expr]], Builder]:
    """Make a function of `Sides` and some settings a builder of facts."""
    return lambda function: Builder(kind, needs, function, takes)


def missing(inputs: Inputs, needs: Iterable[str]) -> list[str]:
    """Return the side frames that are needed and not there; the catalogue is that of `items`, or of all items of `train`."""
    found = {name for name in ("train", "items", "users", "reference") if getattr(inputs, name) is not None}
    found |= {"relevance"} | ({"catalogue"} if found & {"train", "items"} else set())
    found |= {"propensity"} if "train" in found or inputs.context.propensity is not None else set()
    return [name for name in dict.fromkeys(needs) if name not in found]


def check(inputs: Inputs, metric: Any, facts: Iterable[Fact]) -> None:
    """Say which side frame a metric lacks, and show the call; or what is wrong with a feature that it names."""
    facts = list(facts)
    lacking = missing(inputs, (need for one in facts for need in one.builder.needs))
    if not lacking:
        for of, takes in dict.fromkeys((str(one.settings[0]), one.builder.takes) for one in facts if one.builder.takes):
            features.check(inputs, of, metric.name, takes)
        return
    titles = {
        "catalogue": "the items frame, or the train frame for its items",
        "reference": "a reference, which is a frame of lists or the name of a model",
        "propensity": "a column of propensities, rec(propensity='...'), or the train frame for the items' popularity",
    }
    frames = {"catalogue": "items", "propensity": "train"}
    said = " and ".join(titles.get(name, f"the {name} frame") for name in lacking)
    bound = [name for name in ("truth", "train", "items") if getattr(inputs, name) is not None]
    options = dict.fromkeys([*bound, *(frames.get(name, name) for name in lacking)])
    call = f"{'recs' if inputs.truth is not None else 'frame'}.rec({', '.join(f'{one}={one}' for one in options)})"
    cutoff = [] if metric.k is None else [f"k={metric.k}"]
    given = ", ".join([*cutoff, *(f"{name}={value!r}" for name, value in metric.settings)])
    msg = f"{metric.name} needs {said}: {call}.{metric.name}({given})"
    raise ColumnError(msg)


@dataclass(frozen=True)
class Sides:
    """The side frames of one call in the form that facts are made of."""

    inputs: Inputs
    held: Judged
    """The lists held against the truth; one part of the users where the call goes part by part."""
    pairs: pl.LazyFrame | None = None
    """Each pair of train once, where they are at hand."""
    popular: pl.LazyFrame | None = None
    """The items of train with their number of users, where they are at hand."""
    at_hand: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    """Facts that are at hand, by their names."""
    narrow: bool = False
    """Whether users and items of the rows, and of the facts on pairs, are known to fit into one number of 64 bits."""

    def settled(self, ask: Ask, rows: pl.DataFrame, facts: Sequence[Fact]) -> Sides:
        """Return the same for a large eager frame: what several facts are made of is made once; no answer changes a number."""
        sides, on_pairs = self, [one for one in facts if one.kind == "pair"]
        if self.inputs.train is not None and any("train" in one.builder.needs for one in facts):
            train = by_user(ask([self.inputs.train.drop_nulls()])[0], "user")
            narrow, in_order = are_narrow(train, PAIR), train["user"].flags["SORTED_ASC"]
            # one sort finds out and mends
            if (narrow and not in_order) or not ask([are_distinct(train, ["user"])])[0].item():
                (train,) = ask([distinct(train.lazy(), PAIR, narrow=narrow)])
            sides = replace(self, pairs=train.lazy())
            (popular,) = ask([sides.popularity])
            sides = replace(sides, popular=popular.lazy())
        built = ask([_frame(one.build(sides)) for one in on_pairs])
        at_hand = {one.name: frame.lazy() for one, frame in zip(on_pairs, built, strict=True)}
        return replace(sides, at_hand=at_hand, narrow=all(are_narrow(frame, PAIR) for frame in (rows, *built)))

    @property
    def item_keys(self) -> list[str]:
        """The keys of the segments that are properties of the item."""
        return self.inputs.inside("items") + ["item"] * any(one.inside == "item" for one in self.inputs.segments)

    @property
    def user_keys(self) -> list[str]:
        """The keys of a user's own facts."""
        return [*self.item_keys, "user"]

    def feature(self, of: str) -> Feature:
        """Return a feature of the items."""
        return features.read(self.inputs, of)

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
        return self.train.group_by("item").agg(value=pl.len().cast(pl.Float64))

    @cached_property
    def catalogue(self) -> pl.LazyFrame:
        """The items of the catalogue, each once, with the segments that are properties of them."""
        if self.inputs.items is not None:
            return self.inputs.items.filter(pl.col("item").is_not_null())
        given = [self.inputs.counted("recommendations")]
        given += [] if self.inputs.truth is None else [self.inputs.counted("truth")]
        given += [] if self.inputs.train is None else [self.inputs.train.drop_nulls()]
        return pl.concat([one.select("item") for one in given]).unique()

    def with_item_keys(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of items with the segments that are properties of them."""
        names = self.inputs.inside("items")
        return rows.join(_frame(self.inputs.items).select("item", *names), on="item", how="left") if names else rows

    def table(self, kind: Kind, facts: Sequence[Fact]) -> tuple[list[str], pl.LazyFrame | None, list[pl.Expr]]:
        """Return the keys of a kind of fact, a frame of the facts by these keys, and the facts that are the same for all."""
        keys = {"item": ["item"], "pair": PAIR, "user": self.user_keys, "segment": self.item_keys}
        keys |= {"member": ["user"], "part": [*self.user_keys, "part"], "list": self.held.list_keys}
        on, table, same = keys.get(kind, []), None, []
        for one in (one for one in facts if one.kind == kind):
            built = self.at_hand.get(one.name, one.build(self))
            if isinstance(built, pl.Expr):
                same.append(built.alias(one.name))
                continue
            built = built.rename({"value": one.name})
            table = built if table is None else joined(table, built, on, "full")
        return on, table, same

    def joined(
        self, rows: pl.LazyFrame, facts: Sequence[Fact], *kinds: Kind, named: Mapping[str, str] | None = None
    ) -> pl.LazyFrame:
        """Return rows with the facts of some kinds beside them; `named` has other names of the keys."""
        for kind in kinds:
            on, table, same = self.table(kind, facts)
            if table is not None:
                others = {key: (named or {}).get(key, key) for key in on}
                table, on = table.rename(others), list(others.values())
                as_numbers = self.narrow and on == PAIR
                rows = joined_as_numbers(rows, table, on, "left") if as_numbers else joined(rows, table, on)
            rows = rows.with_columns(same) if same else rows
        return rows


def _frame(frame: Any) -> pl.LazyFrame:
    return pl.LazyFrame(schema={"user": pl.Int64, "item": pl.Int64}) if frame is None else frame


# ---- of items


@fact("item", "train")
def popularity(sides: Sides) -> pl.LazyFrame:
    """The number of train users of an item; an item without any has no row."""
    return sides.popularity


@fact("item", "catalogue")
def in_catalogue(sides: Sides) -> pl.LazyFrame | pl.Expr:
    """Whether an item is in the catalogue; every listed item is, where the items are those of all frames."""
    if sides.inputs.items is None:
        return pl.lit(value=True)
    return sides.catalogue.select("item", value=pl.lit(value=True))


@fact("item", "train")
def in_head(sides: Sides, share: float) -> pl.LazyFrame:
    """The most popular items that hold a share of the interactions together; the one that crosses the share is one."""
    ordered = sides.popularity.sort("value", *by_item(sides.inputs.schema), descending=[True, False])
    before = VALUE.cum_sum() - VALUE
    return ordered.filter(before < share * VALUE.sum()).select("item", value=pl.lit(value=True))


@fact("item", "train", "catalogue")
def in_rear(sides: Sides, share: float) -> pl.LazyFrame:
    """The least popular of the catalogue's items, without the share of them that is the head; at least one.

    NOTE: 1 - 0.9 is a little less than 0.1, and a tenth of ten items is one.
    """
    items = sides.catalogue.select("item").join(sides.popularity, on="item", how="left")
    ordered = items.sort(VALUE.fill_null(0.0), *by_item(sides.inputs.schema)).with_row_index("place")
    most = (round(1 - share, 12) * pl.len()).floor().clip(lower_bound=1.0)
    return ordered.filter(pl.col("place") < most).select("item", value=pl.lit(value=True))


@fact("item", "train")
def place_by_popularity(sides: Sides) -> pl.LazyFrame:
    """The place of an item of train in the order of popularity, from 1; items of one popularity share theirs."""
    popularities = sides.popularity.select("value").unique().sort("value", descending=True)
    places = popularities.with_row_index("place", offset=1)
    return sides.popularity.join(places, on="value").select("item", value=pl.col("place").cast(pl.Float64))


@fact("item", "train")
def popularity_quantile(sides: Sides) -> pl.LazyFrame:
    """The share of train's items that an item is as popular as or more; those of one popularity share their mean place."""
    counts = sides.popularity.group_by("value").agg(same=pl.len().cast(pl.Float64)).sort("value")
    same = pl.col("same")
    places = counts.with_columns(quantile=(same.cum_sum() - (same - 1) / 2) / same.sum())
    return sides.popularity.join(places, on="value").select("item", value=pl.col("quantile"))


@fact("item", "items", takes=ANY)
def has_feature(sides: Sides, of: str) -> pl.LazyFrame:
    """Whether an item has a feature."""
    return sides.feature(of).described().with_columns(value=pl.lit(value=True))


# ---- of pairs


@fact("pair", "relevance")
def relevant(sides: Sides) -> pl.LazyFrame:
    """Whether an item is relevant to a user."""
    return sides.held.relevant_pairs().with_columns(value=pl.lit(value=True))


@fact("pair", "train")
def in_history(sides: Sides) -> pl.LazyFrame:
    """Whether a user has an item in train."""
    return sides.train.select("user", "item", value=pl.lit(value=True))


# ---- of users


@fact("user", "train")
def history_popularity(sides: Sides) -> pl.LazyFrame:
    """The mean popularity of a user's train items."""
    history = sides.with_item_keys(sides.train.join(sides.popularity, on="item"))
    return history.group_by([*sides.item_keys, "user"]).agg(VALUE.mean())


@fact("user", "train", "items", takes=ANY)
def n_described_history(sides: Sides, of: str) -> pl.LazyFrame:
    """The number of a user's train items that have a feature."""
    history = sides.with_item_keys(sides.train.join(sides.feature(of).described(), on="item"))
    return history.group_by(sides.user_keys).agg(value=pl.len().cast(pl.Float64))


@fact("user", "train", "items", takes=CATEGORIES)
def n_categories_of_history(sides: Sides, of: str) -> pl.LazyFrame:
    """The number of categories of a user's train items."""
    return _history(sides, of).group_by(sides.user_keys).agg(value=pl.len().cast(pl.Float64))


@fact("part", "train", "items", takes=CATEGORIES)
def history_in_category(sides: Sides, of: str) -> pl.LazyFrame:
    """The number of a user's train items in a category; an item of several counts in each by its share."""
    return _history(sides, of)


def _history(sides: Sides, of: str) -> pl.LazyFrame:
    history = sides.with_item_keys(sides.train.join(sides.feature(of).parts(), on="item"))
    return history.group_by([*sides.user_keys, "part"]).agg(value=pl.col("share").sum())


@fact("member", "relevance")
def in_universe(sides: Sides) -> pl.LazyFrame | pl.Expr:
    """Whether a user with a list is of the universe; every one is, where the universe has all users with a list."""
    if sides.held.universe in {"truth", "both"}:
        return sides.held.judged_users.unique().with_columns(value=pl.lit(value=True))
    return pl.lit(value=True)


# ---- of lists


@fact("list", "relevance")
def has_relevant(sides: Sides) -> pl.LazyFrame | pl.Expr:
    """Whether a list's user has a relevant item; where one without counts as well, that is not asked."""
    if sides.inputs.context.no_relevant == "zero":
        return pl.lit(value=True)
    return sides.held.relevant_items().select(sides.held.list_keys).unique().with_columns(value=pl.lit(value=True))


@fact("list", "relevance", "items", takes=CATEGORIES)
def n_categories_of_relevant(sides: Sides, of: str) -> pl.LazyFrame:
    """The number of categories of a user's relevant items, listed or not; in a segment of items, of its own."""
    found = sides.held.relevant_items().join(sides.feature(of).parts(), on="item")
    return found.select(*sides.held.list_keys, "part").unique().group_by(sides.held.list_keys).agg(_COUNT)


# ---- of segments of items


@fact("segment", "items", takes=CATEGORIES)
def n_categories(sides: Sides, of: str) -> pl.LazyFrame:
    """The number of categories of the catalogue; in a segment of items, of its own."""
    parts = sides.catalogue.join(sides.feature(of).parts(), on="item").select(*sides.item_keys, "part").unique()
    return _counted(sides, parts, empty=True)


@fact("segment", "catalogue")
def n_catalogue(sides: Sides) -> pl.LazyFrame:
    """The number of items in the catalogue; in a segment of items, of its own."""
    return _counted(sides, sides.catalogue)


@fact("segment", "train", "catalogue")
def n_tail(sides: Sides, tail: str, share: float) -> pl.LazyFrame:
    """The number of the catalogue's items in the long tail."""
    part = in_rear if tail == "items" else in_head
    items: Any = part.build(sides, share)
    return _counted(sides, sides.catalogue.join(items, on="item", how="semi" if tail == "items" else "anti"), empty=True)


def _counted(sides: Sides, items: pl.LazyFrame, *, empty: bool = False) -> pl.LazyFrame:
    if sides.item_keys:
        return items.group_by(sides.item_keys).agg(_COUNT)
    return items.select(_COUNT if empty else _counted_items().alias("value"))


def _counted_items() -> pl.Expr:
    return pl.len().cast(pl.Float64) + fails_if(pl.len() == 0, "the catalogue is empty: the frame items= has no item")


# ---- of the whole


@fact("whole", "catalogue")
def n_whole_catalogue(sides: Sides) -> pl.LazyFrame:
    """The number of items in the catalogue, in a segment of items too."""
    return sides.catalogue.select(value=_counted_items())


@fact("whole", "train")
def n_train_users(sides: Sides) -> pl.LazyFrame:
    """The number of users in train."""
    return sides.train.select(value=pl.col("user").n_unique().cast(pl.Float64))


@fact("whole", "train")
def n_interactions(sides: Sides) -> pl.LazyFrame:
    """The number of pairs in train."""
    return sides.train.select(value=pl.len().cast(pl.Float64))


@fact("whole", "train")
def max_popularity(sides: Sides) -> pl.LazyFrame:
    """The popularity of the most popular item."""
    return sides.popularity.select(VALUE.max())
