"""Vocabulary of metrics over lists."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import polars as pl

from recframe.errors import sentence, suggestion
from recframe.metrics.language.at import discount, ratio
from recframe.side_info import (
    attributes,
    groups_of_items,
    reference_lists,
    sums_by_feature,
)
from recframe.side_info.aggregation_levels import Level, Levels
from recframe.side_info.groups_of_items import Target
from recframe.side_info.sources import Builder, Fact, Setting

Weight = Literal["none", "log", "geometric", "reciprocal"]
Tail = Literal["interactions", "items"]
Distance = Literal["cosine", "jaccard"]
PATIENCE = 0.85
"""Probability of continuing to the next rank, in `weight="geometric"`."""


@dataclass(frozen=True)
class AtLists:
    """Words for writing a metric over lists (`over="lists"`, or `shape="set"`), for lists cut at `k`.

    Words of one item in one list: `rank`, `discount`, `weight(...)`, `relevant`, `gain`, `in_history`, `in_reference(...)`; of
    an item in any list: `popularity`, `in_catalogue`, `in_tail(...)`. `beside(...)` repeats a value of the list for its items;
    `shared_with_others(...)` compares the list with others that have the item. Of one list, up to k: `sum(...)`, `mean(...)`
    and `highest(...)` of such words, `n_listed`; of its user `has_reference`. Of one item in all lists of a segment:
    `per_item(...)`, a sum over its places, `n_lists_with`, `place(...)`, and `everywhere(...)`. Of a group of items in a
    segment: `unseen_share(...)`. Of a segment: `over_items(...)` and `over_lists(...)`, sums, `over_groups(...)`, `n_lists`,
    `in_all(...)` and `across_items(...)`. Of a feature of the items: `has_feature(...)` of an item; `likeness_of_pairs(...)`
    and `likeness_to_history(...)` of a list; of a category of a list `in_category(...)`, a sum of words of its items and of
    `category_share`, and `beside_categories(...)`, which `over_categories(...)` sums for the list. Of the side frames:
    `n_train_users`, `n_interactions`, `n_catalogue`, `n_categories(...)`.

    A metric of user shape returns a value of a list, one of set shape a value of a segment. `fact(...)` requests any other
    column of the side frames, such as `at.fact(attributes.max_popularity)`.
    """

    k: int | None
    """The cut-off; None for the whole list."""
    asked: Levels
    cut: bool = False
    """Whether the rows are already cut at k."""

    def __getattr__(self, name: str) -> pl.Expr:
        words = [word for word in dir(type(self)) if not word.startswith("_")]
        found = sentence(
            f"{name!r} is not a word for writing metrics over lists",
            suggestion(name, words),
        )
        raise AttributeError(f"{found} There are {', '.join(words)}")

    # Words of one item in one list

    @property
    def rank(self) -> pl.Expr:
        """The rank, from 1, as Float64."""
        return pl.col("rank").cast(pl.Float64)

    @property
    def discount(self) -> pl.Expr:
        """1 / log2(rank + 1)."""
        return discount(pl.col("rank"))

    def weight(self, weight: Weight) -> pl.Expr:
        """Return the weight of a rank r: 1, 1 / log2(r + 1), 0.85^(r - 1) or 1 / r."""
        weights = {
            "none": pl.lit(1.0, dtype=pl.Float64),
            "log": self.discount,
            "geometric": ((self.rank - 1) * math.log(PATIENCE)).exp(),
            "reciprocal": 1 / self.rank,
        }
        return weights[weight]

    @property
    def relevant(self) -> pl.Expr:
        """Whether the item is relevant to the user."""
        return self.fact(attributes.relevant).fill_null(value=False)

    @property
    def gain(self) -> pl.Expr:
        """The item's relevance to the user; 0 of one that is not relevant."""
        return self.fact(attributes.gain).fill_null(0.0)

    @property
    def in_history(self) -> pl.Expr:
        """Whether the train frame has the item for the user."""
        return self.fact(attributes.in_history).fill_null(value=False)

    def in_reference(self, k: float = 0) -> pl.Expr:
        """Return whether the reference has the item for the user up to k; 0 means the metric's cut-off."""
        return self.fact(reference_lists.in_reference, int(k) or self.k or 0).fill_null(value=False)

    def beside(self, value: pl.Expr) -> pl.Expr:
        """Return a value of the list for each of its items."""
        return self.asked.column(Level.BESIDE, value)

    def shared_with_others(self, length: pl.Expr, *, everywhere: bool) -> pl.Expr:
        """Return 1 / length for each list of the segment that has the item and comes before this one, the longest first.

        Its sum over the item's places is 1 / min of two lengths over all pairs of lists that have it. `everywhere=True` counts
        all other lists, before or after this one, in any segment of users. It holds the rows in memory.
        """
        level = Level.ALONG_ALL if everywhere else Level.ALONG
        return self.asked.column(level, self._cut(1 / length))

    # Words of one item

    @property
    def popularity(self) -> pl.Expr:
        """The number of train users of the item; 0 for a cold one."""
        return self.fact(attributes.popularity).fill_null(0.0)

    @property
    def in_catalogue(self) -> pl.Expr:
        """Whether the item is one of the items frame, or where there is none, of any frame."""
        return self.fact(attributes.in_catalogue).fill_null(value=False)

    def in_tail(self, tail: Tail, share: float) -> pl.Expr:
        """Return whether the item is in the long tail: outside the head of the interactions, or the rear of the items."""
        if tail == "items":
            return self.fact(attributes.in_rear, share).fill_null(value=False)
        return self.in_catalogue & ~self.fact(attributes.in_head, share).fill_null(value=False)

    # Words of one list

    @property
    def n_listed(self) -> pl.Expr:
        """The number of items of the list, up to k."""
        return self.asked.column(Level.OF_LIST, self._n_rows).cast(pl.Float64)

    def sum(self, value: pl.Expr) -> pl.Expr:
        """Return the sum of a word over the items of the list, up to k."""
        if not value.meta.root_names():  # the same for all items
            return value.cast(pl.Float64) * self.n_listed
        return self.asked.summed(Level.OF_LIST, self._cut(value)).cast(pl.Float64)

    def highest(self, value: pl.Expr) -> pl.Expr:
        """Return the highest value of a word among the items of the list, up to k; null where it has none."""
        return self.asked.column(Level.OF_LIST, self._cut(value).max()).cast(pl.Float64)

    def mean(self, value: pl.Expr, weight: Weight = "none") -> pl.Expr:
        """Return the mean of a word over the items of the list, up to k, weighed by rank; null without an item."""
        if weight == "none":
            return ratio(self.sum(value), self.n_listed, empty=None)
        return ratio(
            self.sum(self.weight(weight) * value), self.sum(self.weight(weight)), empty=None
        )

    @property
    def has_reference(self) -> pl.Expr:
        """Whether the list's user has a reference list, of any length."""
        return self.fact(reference_lists.has_reference).fill_null(value=False)

    # Words of one item in all lists of a segment

    def per_item(self, value: pl.Expr, *, bounded: bool = False) -> pl.Expr:
        """Return the sum of a word over the item's places in the lists of the segment, up to k.

        `bounded=True` says that it is never above 1 or below -1.
        """
        return self.asked.summed(Level.OF_ITEM, self._cut(value), bounded=bounded).cast(pl.Float64)

    @property
    def n_lists_with(self) -> pl.Expr:
        """The number of lists of the segment that have the item, up to k."""
        one = self._cut(pl.lit(1.0, dtype=pl.Float64))
        return self.asked.summed(Level.OF_ITEM, one, total=self._n_rows).cast(pl.Float64)

    def place(self, value: pl.Expr) -> pl.Expr:
        """Return the item's place, from 1, among the segment's items, the lowest value first; those of value null have none.

        Items of one value share the mean of their places.
        """
        return self.asked.column(Level.PLACE, value).cast(pl.Float64)

    def everywhere(self, value: pl.Expr) -> pl.Expr:
        """Return a value of the item in all segments of users together, instead of this one."""
        return self.asked.column(Level.EVERYWHERE, value)

    # Words of a group of items

    def unseen_share(self, of: str, target: Target) -> pl.Expr:
        """Return the share of the group's items that are listed, of those that could be.

        Those are the items of the catalogue, or the relevant ones, that the user does not have in train; null without any. `of`
        names a column of the items; it is empty for the only one, or for the head and the tail of popularity.
        """
        sums = Fact(groups_of_items.unseen, (of, target, self.k or 0))
        self.asked.sums_of_groups[sums.name] = sums
        found = pl.col(sums.name).struct
        return ratio(found.field("listed"), found.field("possible"), empty=None)

    # Words of a segment

    def over_groups(self, value: pl.Expr) -> pl.Expr:
        """Return an aggregate over the groups, such as the sum or the mean of a value."""
        return self.asked.column(Level.OVER_GROUPS, value)

    def across_items(self, value: pl.Expr) -> pl.Expr:
        """Return a sum over the lists of a segment in all segments of items together, instead of this one."""
        return self.asked.column(Level.ACROSS, value)

    def over_items(self, value: pl.Expr, *, counts: bool = False) -> pl.Expr:
        """Return the same of the listed items."""
        total = value.sum() if counts else None
        return (
            self.asked.summed(Level.OVER_ITEMS, value, total=total).cast(pl.Float64).fill_null(0.0)
        )

    def over_lists(self, value: pl.Expr, *, counts: bool = False) -> pl.Expr:
        """Return the sum of a value of the lists over them, 0 without any; `counts=True` says that it is true or false."""
        total = value.sum() if counts else None
        return (
            self.asked.summed(Level.OVER_LISTS, value, total=total).cast(pl.Float64).fill_null(0.0)
        )

    def in_all(self, value: pl.Expr) -> pl.Expr:
        """Return a sum over the lists of a segment in all segments of users together, instead of this one."""
        return self.asked.column(Level.IN_ALL, value)

    @property
    def n_lists(self) -> pl.Expr:
        """The number of lists with an item up to k."""
        return self.over_lists(self.n_listed > 0, counts=True)

    # Words of a feature: a column of the items frame, by its name, or empty for the only one

    def has_feature(self, of: str) -> pl.Expr:
        """Return whether the item has a feature."""
        return self.fact(attributes.has_feature, of).fill_null(value=False)

    def likeness_of_pairs(self, of: str, distance: Distance) -> pl.Expr:
        """Return the sum over all pairs of items, each with itself too, of their cosine, or of shared over all categories."""
        if distance == "jaccard":
            likeness = self._up_to_k(pl.col("likeness")).sum()
            return self._summed(sums_by_feature.pairs, "pairs", of, likeness)
        one = pl.lit(1.0, dtype=pl.Float64)
        one = one if self._whole else self._cut(one)
        return self._summed(sums_by_feature.vectors, "square", of, one)

    def likeness_to_history(self, of: str, value: pl.Expr) -> pl.Expr:
        """Return a sum over the list: a value of the item, times the sum of its cosines with the user's train items."""
        self.fact(attributes.history_along, of)
        return self._summed(sums_by_feature.vectors, "product", of, self._cut(value))

    @property
    def category_share(self) -> pl.Expr:
        """1 / the number of categories of the item; to be summed up in a category."""
        return pl.col("share")

    def in_category(self, of: str, value: pl.Expr) -> pl.Expr:
        """Return the sum of a word over the items that the list has of a category, up to k."""
        self._sums_of_lists(sums_by_feature.categories, of)
        value = self._cut(value, "share")
        return self.asked.column(Level.IN_CATEGORY, value.sum(), of).cast(pl.Float64)

    def beside_categories(self, value: pl.Expr) -> pl.Expr:
        """Return a value of the list, made of sums over it, for each of its categories."""
        return self.asked.column(Level.BESIDE_CATEGORIES, value)

    def over_categories(self, of: str, value: pl.Expr) -> pl.Expr:
        """Return the sum of a value of a category over those of the list; some may only have items after k."""
        self._sums_of_lists(sums_by_feature.categories, of)
        column = self.asked.summed(Level.OF_LIST, value, "categories", of)
        return column.cast(pl.Float64).fill_null(0.0)

    def n_categories(self, of: str) -> pl.Expr:
        """Return the number of categories in the catalogue; in a segment of items, of its own."""
        return self.fact(attributes.n_categories, of).fill_null(0.0)

    def _summed(self, summing: Builder, what: str, of: str, value: pl.Expr) -> pl.Expr:
        self._sums_of_lists(summing, of)
        return self.asked.column(Level.OF_LIST, value, what, of).cast(pl.Float64).fill_null(0.0)

    def _sums_of_lists(self, summing: Builder, of: str) -> None:
        sums = Fact(summing, (of,))
        self.asked.sums_of_lists[sums.name] = sums

    def _up_to_k(self, value: pl.Expr) -> pl.Expr:
        return value if self.k is None else pl.when(pl.col("rank") <= self.k).then(value)

    # Words of the side frames

    @property
    def n_train_users(self) -> pl.Expr:
        """The number of users in train."""
        return self.fact(attributes.n_train_users)

    @property
    def n_interactions(self) -> pl.Expr:
        """The number of pairs of a user and an item in train."""
        return self.fact(attributes.n_interactions)

    @property
    def n_catalogue(self) -> pl.Expr:
        """The number of items in the catalogue; in a segment of items, of its own."""
        return self.fact(attributes.n_catalogue).fill_null(0.0)

    def fact(self, builder: Builder, *settings: Setting) -> pl.Expr:
        """Return the column of a fact."""
        return self.asked.fact(Fact(builder, settings))

    @property
    def _whole(self) -> bool:
        return self.k is None or self.cut

    @property
    def _n_rows(self) -> pl.Expr:
        return pl.len() if self._whole else (pl.col("rank") <= self.k).sum()

    def _cut(self, value: pl.Expr, beside: str = "item") -> pl.Expr:
        """Return a value of the rows up to k, null behind it."""
        if self._whole and value.meta.root_names():
            return value
        # a literal alone would be summed up once for all rows
        counts = pl.col(beside).is_not_null() if self._whole else pl.col("rank") <= self.k
        return pl.when(counts).then(value)
