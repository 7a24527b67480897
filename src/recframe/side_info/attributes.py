"""Facts of items, pairs, users and segments, one function each."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.frames.rows.joins import by_item, distinct_names
from recframe.side_info.features import ANY, CATEGORIES, NUMBERS
from recframe.side_info.sources import COUNT, VALUE, Fact, Sides, counted_items, fact

# Of items


@fact("item", "train")
def popularity(sides: Sides) -> pl.LazyFrame:
    """The number of train users of an item; an item without any has no row."""
    return sides.popularity


@fact("item", "catalogue")
def in_catalogue(sides: Sides) -> pl.LazyFrame | pl.Expr:
    """Whether an item is in the catalogue; every listed item is, where the items are those of all frames."""
    if sides.inputs.items is None:
        return pl.lit(value=True)
    return sides.items.select("item", value=pl.lit(value=True))


@fact("item", "train")
def in_head(sides: Sides, share: float) -> pl.LazyFrame:
    """The most popular items that hold a share of the interactions together; the one that crosses the share is one."""
    ordered = sides.popularity.sort(
        "value", *by_item(sides.inputs.schema), descending=[True, False]
    )
    before = VALUE.cum_sum() - VALUE
    return ordered.filter(before < share * VALUE.sum()).select("item", value=pl.lit(value=True))


@fact("item", "train", "catalogue")
def in_rear(sides: Sides, share: float) -> pl.LazyFrame:
    """The least popular of the catalogue's items, without the share of them that is the head; at least one, in each segment.

    NOTE: 1 - 0.9 is a little less than 0.1, and a tenth of ten items is one.
    """
    keys, place = sides.item_keys, pl.col("place")
    items = sides.catalogue.select(distinct_names("item", *keys))
    items = items.join(sides.popularity, on="item", how="left")
    ordered = items.sort(*keys, VALUE.fill_null(0.0), *by_item(sides.inputs.schema))
    most = (round(1 - share, 12) * pl.len()).floor().clip(lower_bound=1.0) + place.min()
    rear = ordered.with_row_index("place").filter(place < (most.over(keys) if keys else most))
    return rear.select("item", value=pl.lit(value=True))


@fact("item", "train")
def place_by_popularity(sides: Sides) -> pl.LazyFrame:
    """The place of an item of train in the order of popularity, from 1; items of one popularity share theirs."""
    popularities = sides.popularity.select("value").unique().sort("value", descending=True)
    places = popularities.with_row_index("place", offset=1)
    return sides.popularity.join(places, on="value").select(
        "item", value=pl.col("place").cast(pl.Float64)
    )


@fact("item", "items", takes=ANY)
def has_feature(sides: Sides, of: str) -> pl.LazyFrame:
    """Whether an item has a feature."""
    return sides.feature(of).described().with_columns(value=pl.lit(value=True))


@fact("item", "items", takes=NUMBERS)
def number(sides: Sides, of: str) -> pl.LazyFrame:
    """The value of an item in a numeric column; one without a finite number has no row."""
    return sides.feature(of).numbers()


# Of pairs


@fact("row", "relevance")
def gain(sides: Sides) -> pl.LazyFrame:
    """The relevance of a relevant item to a user, in a segment of rows what the truth says there."""
    return sides.held.relevant_pairs(sides.held.of_rows).rename({"gain": "value"})


@fact("row", "relevance")
def relevant(sides: Sides) -> pl.LazyFrame:
    """Whether an item is relevant to a user, in a segment of rows to what the truth says there."""
    found = sides.held.relevant_pairs(sides.held.of_rows)
    return found.select(pl.exclude("gain"), value=pl.lit(value=True))


@fact("pair", "train")
def in_history(sides: Sides) -> pl.LazyFrame:
    """Whether a user has an item in train."""
    return sides.train.select("user", "item", value=pl.lit(value=True))


# Of users


@fact("user", "train")
def history_popularity(sides: Sides) -> pl.LazyFrame:
    """The mean popularity of a user's train items."""
    history = sides.with_item_keys(sides.train.join(sides.popularity, on="item"))
    return history.group_by([*sides.item_keys, "user"]).agg(VALUE.mean())


@fact("user", "train", "items", takes=ANY)
def n_described_history(sides: Sides, of: str) -> pl.LazyFrame:
    """The number of a user's train items that have a feature."""
    history = sides.with_item_keys(sides.train)
    history = history.join(sides.feature(of).described(), on="item")
    return history.group_by(sides.user_keys).agg(value=pl.len().cast(pl.Float64))


@fact("user", "train", "items", takes=CATEGORIES)
def n_categories_of_history(sides: Sides, of: str) -> pl.LazyFrame:
    """The number of categories of a user's train items."""
    found: pl.LazyFrame = sides.built(Fact(history_in_category, (of,)))
    return found.group_by(sides.user_keys).agg(value=pl.len().cast(pl.Float64))


@fact("part", "train", "items", takes=CATEGORIES)
def history_in_category(sides: Sides, of: str) -> pl.LazyFrame:
    """The number of a user's train items in a category; an item of several counts in each by its share."""
    history, share = sides.with_item_keys(sides.train), pl.col("share")
    return sides.sums_by_part(history, sides.user_keys, of, [share.sum().alias("value")])


@fact("part", "train", "items", takes=ANY)
def history_along(sides: Sides, of: str) -> pl.LazyFrame:
    """The sum of the unit vectors of a user's train items, along a part of the feature."""
    history, unit = sides.with_item_keys(sides.train), pl.col("unit")
    return sides.sums_by_part(history, sides.user_keys, of, [unit.sum().alias("value")])


# Of segments of items


@fact("segment", "items", takes=CATEGORIES)
def n_categories(sides: Sides, of: str) -> pl.LazyFrame:
    """The number of categories of the catalogue; in a segment of items, of its own."""
    parts = (
        sides.catalogue.join(sides.feature(of).parts(), on="item")
        .select(*sides.item_keys, "part")
        .unique()
    )
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
    found = sides.catalogue.join(items, on="item", how="semi" if tail == "items" else "anti")
    return _counted(sides, found, empty=True)


def _counted(sides: Sides, items: pl.LazyFrame, *, empty: bool = False) -> pl.LazyFrame:
    if sides.item_keys:
        return items.group_by(sides.item_keys).agg(COUNT)
    return items.select(COUNT if empty else counted_items().alias("value"))


@fact("whole", "train")
def n_train_users(sides: Sides) -> pl.LazyFrame:
    """The number of users in train."""

    def n_users() -> pl.LazyFrame:
        return sides.train.select(value=pl.col("user").n_unique().cast(pl.Float64))

    return sides.inputs.added("users of train", n_users, [])


@fact("whole", "train")
def n_interactions(sides: Sides) -> pl.LazyFrame:
    """The number of pairs in train."""
    if sides.inputs.all_users is not None:
        return sides.popularity.select(VALUE.sum())
    return sides.train.select(value=pl.len().cast(pl.Float64))


@fact("whole", "train")
def max_popularity(sides: Sides) -> pl.LazyFrame:
    """The popularity of the most popular item."""
    return sides.popularity.select(VALUE.max())


@fact("item", "propensity")
def popularity_share(sides: Sides) -> pl.LazyFrame:
    """The popularity of an item over that of the most popular one; an item without any has no row."""
    value = pl.col("value")
    return sides.popularity.with_columns(value / value.max())
