"""Vocabulary of metrics over one judged list, inside users' own expressions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from recframe.errors import RecframeError, fails_if
from recframe.metrics.language.at import (
    AGREEMENT_BEFORE,
    At,
    Source,
    Valued,
    discount,
)
from recframe.metrics.language.sums_over_ranks import sums_of_shares
from recframe.ranking.data_checks import INFINITE_RELEVANCE, RANK_BELOW_1, STEEP_RELEVANCE, STEEPEST
from recframe.ranking.judged_frame import is_rank

SEVERAL_LISTS = (
    "more items are above a rank than there are places, so the group has rows of several lists, or dense ranks; an "
    "expression takes one list: group by the user too, or write frame.rec.evaluate(..., by=...) for the mean over users"
)


@dataclass(frozen=True)
class JudgedList:
    """Column source of `Metric.expr`, computed inside a group-by.

    Every column is as long as the list and null where its words are; items take the order of their ids, hits that of
    their ranks.

    NOTE: sorting inside a group takes a group-by out of streaming. An expression on its own has no other way; `rec` has.
    """

    rank: pl.Expr
    relevance: pl.Expr
    item: pl.Expr

    def column(self, name: str) -> pl.Expr:
        """Return the column of a name."""
        if name.startswith("list_ideal_rank@"):
            return self._list_ideal_rank(name.partition("@")[2])
        if name.startswith(AGREEMENT_BEFORE):
            return self._agreement_before(float(name.removeprefix(AGREEMENT_BEFORE)))
        found: Callable[[], pl.Expr] | None = getattr(self, f"_{name}", None)
        if found is None:
            raise RecframeError(
                "a metric over the catalogue or over lists is not an expression over one list; call it on frame.rec"
            )
        return found()

    def running(self, expression: pl.Expr) -> pl.Expr:
        """Return the expression as it is: the hits already stand in the order of their ranks."""
        return expression

    def by_worth(self, worth: Callable[[Source], pl.Expr]) -> str:
        """Say that one list has no such order."""
        return str(self.column(f"worth of {worth}"))

    def of_rows(self, value: Callable[[Source], pl.Expr]) -> pl.Expr:
        """Return the value as it is."""
        return value(self)

    def mean(self, metric: Valued, at: At) -> pl.Expr:
        """Return the list's own value."""
        return metric.value(at)

    # What a row says

    @property
    def _grade(self) -> pl.Expr:
        return self.relevance.cast(pl.Float64).fill_nan(None)

    @property
    def _relevant(self) -> pl.Expr:
        return (self._grade > 0).fill_null(value=False)

    @property
    def _is_judged(self) -> pl.Expr:
        return self._grade.is_not_null()

    @property
    def _valid_rank(self) -> pl.Expr:
        return pl.when(is_rank(self.rank)).then(self.rank.cast(pl.Float64))

    @property
    def _valid_gain(self) -> pl.Expr:
        return pl.when(self._relevant).then(self._grade)

    # NOTE: the checks are added to finished columns; Polars 1 mixes up groups where a sum with them is sorted.

    @property
    def _rank_check(self) -> pl.Expr:
        below = fails_if(self._valid_rank.min() < 1, str(RANK_BELOW_1))
        return below + fails_if(self._is_of_several_lists, SEVERAL_LISTS)

    @property
    def _is_of_several_lists(self) -> pl.Expr:
        """Whether more distinct items than positions are above the last rank, as with rows of several lists."""
        rank, last = self._valid_rank, self._valid_rank.max()
        return self.item.filter(rank < last).drop_nulls().n_unique() >= last

    @property
    def _gain_check(self) -> pl.Expr:
        return fails_if(self._valid_gain.max().is_infinite(), INFINITE_RELEVANCE)

    def _by_item(self, column: pl.Expr, *order: pl.Expr) -> pl.Expr:
        """Return a column on the first row of each item, in an order of the item's rows; null on its other rows.

        NOTE: no key of an order is null; Polars 1 does not put nulls last where several columns order a group.
        """
        items = self.item.sort()
        first = items.is_not_null() & items.is_first_distinct()
        return pl.when(first).then(column.sort_by(self.item, *order))

    # The relevant items

    @property
    def _best_gain(self) -> pl.Expr:
        return self._by_item(self._valid_gain, -self._valid_gain.fill_null(0.0))

    @property
    def _best_rank(self) -> pl.Expr:
        rank = pl.when(self._relevant).then(self._valid_rank)
        return self._by_item(rank, rank.fill_null(math.inf))

    def _relevant_gain(self) -> pl.Expr:
        return self._best_gain + self._gain_check

    def _steepness(self) -> pl.Expr:
        return fails_if(self._valid_gain.max() > STEEPEST, STEEP_RELEVANCE)

    def _ideal_gain(self) -> pl.Expr:
        return self._best_gain.sort(descending=True, nulls_last=True) + self._gain_check

    def _ideal_rank(self) -> pl.Expr:
        gain = self._ideal_gain()
        return pl.when(gain.is_not_null()).then(gain.cum_count())

    def _ideal_discount(self) -> pl.Expr:
        return discount(self._ideal_rank())

    # The hits, in the order of their ranks

    def _by_rank(self, column: pl.Expr) -> pl.Expr:
        # NOTE: one key and a stable sort, since items stand in order already; by two keys that were worked out inside the
        # group, Polars 1 mixes up groups.
        rank = self._best_rank
        ranked = pl.when(rank.is_not_null()).then(column)
        return ranked.sort_by(rank.fill_null(math.inf), maintain_order=True)

    def _rank(self) -> pl.Expr:
        rank = self._by_rank(self._best_rank)
        place = rank.cum_count().cast(pl.Int64)
        return place + (rank - place).cum_max() + self._rank_check

    def _gain(self) -> pl.Expr:
        return self._by_rank(self._best_gain) + self._gain_check

    def _discount(self) -> pl.Expr:
        return discount(self._rank())

    def _hits_so_far(self) -> pl.Expr:
        rank = self._rank()
        return pl.when(rank.is_not_null()).then(rank.cum_count())

    def _place_in_best_order(self) -> pl.Expr:
        """Return the places of hits in the order of their gains."""
        rank = self._best_rank.fill_null(math.inf)
        gain = self._best_gain.sort_by(rank, maintain_order=True)
        place = gain.rank("ordinal", descending=True).cast(pl.Float64)
        return pl.when(self._rank().is_not_null()).then(place)

    def _agreement_before(self, p: float) -> pl.Expr:
        sums = sums_of_shares(p)
        numbers = [float(number) for number in range(len(sums))]
        before = pl.max_horizontal(self._rank(), self._place_in_best_order()).ceil() - 1
        known = before.clip(upper_bound=numbers[-1])
        return known.replace_strict(numbers, sums, default=None, return_dtype=pl.Float64)

    def _list_ideal_rank(self, k: str) -> pl.Expr:
        inside = pl.when(self._rank() <= int(k)).then(self._gain()) if k else self._gain()
        return inside.rank("ordinal", descending=True)

    # The items of the list: each at its best rank as a relevant item, else at its best rank

    def _listed_rank(self) -> pl.Expr:
        rank = self._valid_rank
        return (
            self._by_item(rank, rank.is_null(), ~self._relevant, rank.fill_null(math.inf))
            + self._rank_check
        )

    def _whole_rank(self) -> pl.Expr:
        return self._listed_rank()

    def _relevant_rank(self) -> pl.Expr:
        relevant = self._by_item(self._relevant, self._valid_rank.is_null(), ~self._relevant)
        return pl.when(relevant).then(self._listed_rank())

    def _listed_judged(self) -> pl.Expr:
        return self._by_item(self._is_judged, self._valid_rank.is_null(), ~self._is_judged)

    def _listed_place(self) -> pl.Expr:
        return self._listed_rank().rank("ordinal")

    def _misses_above(self) -> pl.Expr:
        rank = self._listed_rank()
        return rank.rank("average") - self._relevant_rank().rank("average")

    def _judged_misses_above(self) -> pl.Expr:
        return self._misses_among(self._listed_judged())

    def _graded_misses_above(self) -> pl.Expr:
        graded = self._grade >= 0
        relevant = self._relevant_rank().is_not_null()
        best = self._by_item(graded, self._valid_rank.is_null(), ~graded.fill_null(value=False))
        return self._misses_among(best | relevant)

    def _hits_above(self) -> pl.Expr:
        return self._relevant_rank().rank("min").cast(pl.Int64) - 1

    def _misses_among(self, counted: pl.Expr) -> pl.Expr:
        """Return how many of the rows that are counted, of which the relevant ones are some, stand above as misses."""
        rank = pl.when(counted).then(self._listed_rank()).rank("min").cast(pl.Int64)
        return rank - self._relevant_rank().rank("min").cast(pl.Int64)

    # The counts of the whole list

    def _each_n_relevant(self) -> pl.Expr:
        return self._relevant_gain().is_not_null().sum()

    def _each_n_not_relevant(self) -> pl.Expr:
        judged = self._by_item(self._is_judged, ~self._is_judged)
        return (judged & self._best_gain.is_null()).sum()
