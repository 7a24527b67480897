"""The words of a metric over the rows of one judged list, for anyone's own `agg`, `over` and `select`."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from recframe.errors import fails_if
from recframe.terms import INFINITE_RELEVANCE, RANK_BELOW_1, STEEP_RELEVANCE, STEEPEST, discount, is_rank, is_relevant


@dataclass(frozen=True)
class JudgedList:
    """Where `Metric.expr` takes its columns from: each is worked out inside the group, by the rules of the plan.

    NOTE: sorting inside a group takes a group-by out of streaming. An expression on its own has no other way; `rec` has.
    """

    rank: pl.Expr
    relevance: pl.Expr
    item: pl.Expr

    def column(self, name: str) -> pl.Expr:
        """Return the column of a name."""
        if name.startswith("list_ideal_rank@"):
            return self._list_ideal_rank(name.partition("@")[2])
        return getattr(self, f"_{name}")()  # type: ignore[no-any-return]

    def running(self, expression: pl.Expr) -> pl.Expr:
        """Return the expression as it is: the hits already stand in the order of their ranks."""
        return expression

    # The relevant rows, one for each item, in the order of the items

    def _is_relevant(self) -> pl.Expr:
        return is_relevant(self.relevance) & self.item.is_not_null()

    def _ranks(self) -> pl.Expr:
        valid = pl.when(is_rank(self.rank)).then(self.rank.cast(pl.Float64))
        return valid + fails_if(valid.min() < 1, RANK_BELOW_1)

    def _items(self) -> pl.Expr:
        return self.item.filter(self._is_relevant())

    def _first(self) -> pl.Expr:
        return self._items().sort().is_first_distinct()

    def _best_rank(self) -> pl.Expr:
        ranks = self._ranks().filter(self._is_relevant())
        return ranks.sort_by(self._items(), ranks, nulls_last=True).filter(self._first())

    def _relevant_gain(self) -> pl.Expr:
        gains = self.relevance.cast(pl.Float64).filter(self._is_relevant())
        best = gains.sort_by(self._items(), gains, descending=[False, True]).filter(self._first())
        return best + fails_if(gains.max().is_infinite(), INFINITE_RELEVANCE)

    def _steepness(self) -> pl.Expr:
        return fails_if(self._relevant_gain().max() > STEEPEST, STEEP_RELEVANCE)

    def _ideal_gain(self) -> pl.Expr:
        return self._relevant_gain().sort(descending=True)

    def _ideal_rank(self) -> pl.Expr:
        return self._ideal_gain().cum_count()

    def _ideal_discount(self) -> pl.Expr:
        return discount(self._ideal_rank())

    # The hits, in the order of their ranks

    def _by_rank(self, column: pl.Expr) -> pl.Expr:
        rank, item = self._best_rank(), self._items().sort().filter(self._first())
        hit = rank.is_not_null()
        return column.filter(hit).sort_by(rank.filter(hit), item.filter(hit))

    def _rank(self) -> pl.Expr:
        rank = self._by_rank(self._best_rank())
        place = rank.cum_count().cast(pl.Int64)
        return place + (rank - place).cum_max()

    def _gain(self) -> pl.Expr:
        return self._by_rank(self._relevant_gain())

    def _discount(self) -> pl.Expr:
        return discount(self._rank())

    def _hits_so_far(self) -> pl.Expr:
        return self._rank().cum_count()

    def _list_ideal_rank(self, k: str) -> pl.Expr:
        inside = pl.when(self._rank() <= int(k)).then(self._gain()) if k else self._gain()
        return inside.rank("ordinal", descending=True)

    # The rows of the list, one for each item: its best rank as a relevant item, else its best rank

    def _list(self, column: pl.Expr) -> pl.Expr:
        rank = self._ranks()
        listed = rank.is_not_null() & self.item.is_not_null()
        relevant = is_relevant(self.relevance).fill_null(value=False)
        items = self.item.filter(listed)
        by_item = column.filter(listed).sort_by(items, ~relevant.filter(listed), rank.filter(listed))
        return by_item.filter(items.sort().is_first_distinct())

    def _listed_rank(self) -> pl.Expr:
        return self._list(self._ranks())

    def _listed_place(self) -> pl.Expr:
        return self._listed_rank().cum_count()

    def _listed_judged(self) -> pl.Expr:
        listed = self._ranks().is_not_null() & self.item.is_not_null()
        items, judged = self.item.filter(listed), self.relevance.is_not_null().filter(listed)
        return judged.sort_by(items, ~judged).filter(items.sort().is_first_distinct())

    def _listed_relevant(self) -> pl.Expr:
        return self._list(is_relevant(self.relevance).fill_null(value=False))

    def _misses_above(self) -> pl.Expr:
        rank = self._listed_rank()
        return rank.rank("average") - pl.when(self._listed_relevant()).then(rank).rank("average")

    def _judged_misses_above(self) -> pl.Expr:
        rank = self._listed_rank()
        judged = pl.when(self._listed_judged()).then(rank).rank("min").cast(pl.Int64)
        return judged - pl.when(self._listed_relevant()).then(rank).rank("min").cast(pl.Int64)

    def _not_relevant(self) -> pl.Expr:
        judged = self.item.filter(self.relevance.is_not_null() & self.item.is_not_null()).unique().sort()
        return judged.head(judged.len() - self._items().n_unique())

    def _each_n_relevant(self) -> pl.Expr:
        return self._relevant_gain().count()

    def _each_n_not_relevant(self) -> pl.Expr:
        return self._not_relevant().count()
