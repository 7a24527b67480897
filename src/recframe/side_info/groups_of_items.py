"""Sums per item group and segment, over items new to the user."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import polars as pl

from recframe.errors import ColumnError
from recframe.frames.hints import Either, SideFrame
from recframe.frames.rows.joins import aggregate, distinct_names, joined
from recframe.ranking.judged_frame import PAIR
from recframe.side_info import attributes, features
from recframe.side_info.sources import Sides, fact
from recframe.side_info.sums_by_feature import Rows

Target = Literal["catalogue", "relevant"]
CALL = "exposure_disparity"
"""The metric whose groups these are."""
HEAD_SHARE = 0.8
"""The share of the interactions that the head of popularity holds."""


@fact("sums", "catalogue", uses=("train",))
def unseen(rows: Rows, of: str, target: Target, k: int) -> pl.LazyFrame:
    """Return sums by segment and group: listed and possible items that users do not have in train.

    The groups are the categories of a column of items, or the head and the tail of popularity, where items have none; k=0 is
    no cut-off.
    """
    rows = replace(rows, rows=rows.rows.filter(pl.col("rank") <= k)) if k else rows
    groups = rows.sides.with_item_keys(_groups(rows.sides, of))
    counts = {"catalogue": _of_catalogue, "relevant": _of_relevant}[target](rows, groups)
    keys, sums = [*rows.segment_keys, "group"], pl.col("listed", "possible").sum()
    return pl.concat(counts, how="diagonal").group_by(keys).agg(sums)


def _of_catalogue(rows: Rows, groups: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Return the listed and the possible items of each group, without the user's train items."""
    sides, lists, known = rows.sides, _lists(rows), _history(rows.sides)
    shown = rows.rows.join(known, on=PAIR, how="anti")
    size = pl.len().cast(pl.Float64).alias("size")
    sizes = groups.group_by(*distinct_names(*sides.item_keys, "group")).agg(size)
    possible = joined(_count(rows, lists, "possible"), sizes, sides.item_keys, "inner")
    possible = possible.with_columns(pl.col("possible") * pl.col("size"))
    if sides.item_keys:
        of_items = groups.select(*distinct_names("item", *sides.item_keys)).unique()
        known = known.join(of_items, on="item")
    seen = joined(lists, known, ["user", *sides.item_keys], "inner")
    seen = _count_of_groups(rows, seen, "possible", groups)
    return [
        _count_of_groups(rows, shown, "listed", groups),
        possible.select(*rows.segment_keys, "group", "possible"),
        seen.with_columns(-pl.col("possible")),
    ]


def _of_relevant(rows: Rows, groups: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Return the listed and the relevant items of each group, without the user's train items."""
    held = rows.sides.held
    relevant = held.relevant_pairs(held.rows).drop("gain")
    relevant = relevant.join(_history(rows.sides), on=PAIR, how="anti")
    on = ["user", *held.rows]
    listed = joined(rows.rows, relevant, distinct_names(*on, "item"), "inner")
    possible = joined(_lists(rows), relevant, on, "inner")
    return [
        _count_of_groups(rows, listed, "listed", groups),
        _count_of_groups(rows, possible, "possible", groups),
    ]


def _lists(rows: Rows) -> pl.LazyFrame:
    """Return the lists with a row."""
    return rows.rows.select(rows.keys).unique()


def _count(of: Rows, rows: pl.LazyFrame, name: str, *also: str) -> pl.LazyFrame:
    """Return the number of rows in each segment, and in each value of other columns."""
    keys = distinct_names(*of.segment_keys, *also)
    return aggregate(of.described(rows), keys, [pl.len().cast(pl.Float64).alias(name)])


def _count_of_groups(of: Rows, rows: pl.LazyFrame, name: str, groups: pl.LazyFrame) -> pl.LazyFrame:
    """Return, for each item in each of its groups, the number of its rows in each segment; items are few, rows many."""
    items = _count(of, rows, name, "item").join(groups.select("item", "group"), on="item")
    return items.select(*of.segment_keys, "group", name)


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
        raise ColumnError(
            f"{CALL} needs groups of items: a column of {SideFrame('items')}, "
            f"{Either(f'recs.rec(items=items).{CALL}', CALL)}(of='genre'), or popularity, "
            f"{Either(f'recs.rec(train=train).{CALL}()', str(SideFrame('train')))}"
        )
    head: Any = attributes.in_head.build(sides, HEAD_SHARE)
    items = sides.items.select("item").join(head, on="item", how="left")
    return items.select("item", group=pl.col("value").fill_null(value=False))
