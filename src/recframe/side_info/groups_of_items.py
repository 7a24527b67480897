"""Sums per item group and segment, over items new to the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from recframe.errors import ColumnError
from recframe.frames.hints import Either, SideFrame
from recframe.frames.rows.joins import aggregate, distinct_names, joined
from recframe.ranking.judged import PAIR
from recframe.side_info import attributes, features
from recframe.side_info.sources import Fact, Sides, summing

Target = Literal["catalogue", "relevant"]
CALL = "exposure_disparity"
"""The metric whose groups these are."""
HEAD_SHARE = 0.8
"""The share of the interactions that the head of popularity holds."""


@dataclass(frozen=True)
class Listed:
    """Lists of the segments, as input of sums over item groups."""

    sides: Sides
    rows: pl.LazyFrame
    """The rows of the lists, each item of a list once."""
    keys: list[str]
    """Keys of a segment."""
    described: Callable[[pl.LazyFrame], pl.LazyFrame]
    """Function that joins the segments of users to lists."""

    def up_to(self, k: int) -> Listed:
        """Return the lists cut at k; 0 is no cut-off."""
        return (
            Listed(self.sides, self.rows.filter(pl.col("rank") <= k), self.keys, self.described)
            if k
            else self
        )

    @property
    def lists(self) -> pl.LazyFrame:
        """The lists with a row."""
        return self.rows.select(self.sides.held.list_keys).unique()

    def count(self, rows: pl.LazyFrame, name: str, *also: str) -> pl.LazyFrame:
        """Return the number of rows in each segment, and in each value of other columns."""
        keys = distinct_names(*self.keys, *also)
        return aggregate(self.described(rows), keys, [pl.len().cast(pl.Float64).alias(name)])

    def count_of_groups(self, rows: pl.LazyFrame, name: str, groups: pl.LazyFrame) -> pl.LazyFrame:
        """Return, for each item in each of its groups, the number of its rows in each segment; items are few, rows many."""
        items = self.count(rows, name, "item")
        return items.join(groups.select("item", "group"), on="item").select(
            *self.keys, "group", name
        )


@summing("catalogue", reads=(attributes.in_history,))
def unseen(listed: Listed, of: str, target: Target, k: int) -> pl.LazyFrame:
    """Return sums by segment and group: listed and possible items that users do not have in train.

    The groups are the categories of a column of items, or the head and the tail of popularity, where items have none.
    """
    listed = listed.up_to(k)
    groups = listed.sides.with_item_keys(_groups(listed.sides, of))
    counts = {"catalogue": _of_catalogue, "relevant": _of_relevant}[target](listed, groups)
    keys = [*listed.keys, "group"]
    merged = (
        pl.concat(counts, how="diagonal").group_by(keys).agg(pl.col("listed", "possible").sum())
    )
    return merged.select(*keys, "listed", "possible")


def _of_catalogue(listed: Listed, groups: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Return the listed and the possible items of each group, without the user's train items."""
    sides, of_lists = listed.sides, ["user", *listed.sides.item_keys]
    shown = _unknown(sides, listed.rows)
    sizes = groups.group_by(*distinct_names(*sides.item_keys, "group")).agg(
        size=pl.len().cast(pl.Float64)
    )
    lists = listed.count(listed.lists, "lists")
    possible = joined(lists, sizes, sides.item_keys, "inner").with_columns(
        possible=pl.col("lists") * pl.col("size")
    )
    known = _history(sides)
    if sides.item_keys:
        of_items = groups.select(*distinct_names("item", *sides.item_keys)).unique()
        known = known.join(of_items, on="item")
    seen = listed.count_of_groups(joined(listed.lists, known, of_lists, "inner"), "seen", groups)
    return [
        listed.count_of_groups(shown, "listed", groups),
        possible.select(*listed.keys, "group", "possible"),
        seen.select(*listed.keys, "group", possible=-pl.col("seen")),
    ]


def _of_relevant(listed: Listed, groups: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Return the listed and the relevant items of each group, without the user's train items."""
    sides, segments = listed.sides, listed.sides.held.rows
    relevant = sides.held.relevant_pairs(segments).join(_history(sides), on=PAIR, how="anti")
    on = ["user", *segments]
    shown = joined(listed.rows, relevant, distinct_names(*on, "item"), "inner")
    possible = joined(listed.lists, relevant, on, "inner")
    return [
        listed.count_of_groups(shown, "listed", groups),
        listed.count_of_groups(possible, "possible", groups),
    ]


def _unknown(sides: Sides, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the list rows whose item is not in the user's train."""
    if sides.inputs.train is None:
        return rows
    known = Fact(attributes.in_history)
    beside = sides.joined(rows, [known], "pair")
    return beside.filter(~pl.col(known.name).fill_null(value=False))


def _history(sides: Sides) -> pl.LazyFrame:
    """Return the pairs of train; none where there is no train frame."""
    return sides.train if sides.inputs.train is not None else sides.held.lists.select(PAIR).clear()


def _groups(sides: Sides, of: str) -> pl.LazyFrame:
    """Return each item of the catalogue in each of its groups: item, group."""
    described = sides.inputs.sides.get("items")
    if not of and (described is None or len(described.columns) == 1):
        return _head_and_tail(sides)
    features.check_feature(sides.inputs, of, CALL, features.CATEGORIES)
    return sides.feature(of).parts().select("item", group="part")


def _head_and_tail(sides: Sides) -> pl.LazyFrame:
    """Return the catalogue in the most popular items that hold 80 % of the pairs of train, and the others."""
    if sides.inputs.train is None:
        msg = (
            f"{CALL} needs groups of items: a column of {SideFrame('items')}, "
            f"{Either(f'recs.rec(items=items).{CALL}', CALL)}(of='genre'), or popularity, "
            f"{Either(f'recs.rec(train=train).{CALL}()', str(SideFrame('train')))}"
        )
        raise ColumnError(msg)
    head: Any = attributes.in_head.build(sides, HEAD_SHARE)
    items = sides.items.select("item").join(head, on="item", how="left")
    return items.select("item", group=pl.col("value").fill_null(value=False))
