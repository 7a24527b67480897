"""Vocabulary of metrics over users, and the formulas of its words."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Protocol

import polars as pl

from recframe.errors import NoOrderError, RecframeError, sentence, suggestion
from recframe.frames.options import Sharing
from recframe.metrics.language.reading import SCALED, GoesOn, mean_gain, scaled
from recframe.metrics.language.sums_over_ranks import (
    sum_of_discounts,
    sum_of_unshifted_discounts,
)

HITS_BY_CATEGORY, BEST_BY_CATEGORY = "hits by category ", "best by category "
RELEVANT_BY_CATEGORY = "relevant by category "
HITS_BY_VALUE, BEST_BY_VALUE = "hits by value ", "best by value "
"""Prefixes of columns of hits by item value, followed by settings and word."""
AGREEMENT_BEFORE = "agreement before "
"""Prefix of the columns of `agreement_before`, followed by p."""
EULER = 0.5772156649015329


def ratio(part: pl.Expr, whole: pl.Expr, *, empty: float | None = 0.0) -> pl.Expr:
    """Return part / whole, and where the whole is 0 what stands for an empty one: 0, or None for null; null of null."""
    return pl.when(whole <= 0).then(empty).otherwise(part / whole)


def discount(rank: pl.Expr) -> pl.Expr:
    """Return 1 / log2(rank + 1)."""
    return math.log(2) / (rank.cast(pl.Float64) + 1).log()


def geometric_discount(rank: pl.Expr, p: float) -> pl.Expr:
    """Return p^(rank - 1)."""
    return ((rank.cast(pl.Float64) - 1) * math.log(p)).exp()


def unshifted_discount(rank: pl.Expr, base: float) -> pl.Expr:
    """Return 1 / log_base(max(rank, base))."""
    return math.log(base) / rank.cast(pl.Float64).clip(lower_bound=base).log()


def harmonic(n: pl.Expr) -> pl.Expr:
    """Return 1 + 1/2 + ... + 1/n of whole numbers, by the asymptotic series sixteen terms on, which is exact to 1e-16."""
    far = n.cast(pl.Float64) + 16
    square = far**2
    series = (1 / 252 - (1 / 240 - 1 / (132 * square)) / square) / square
    tail = (1 / 12 - (1 / 120 - series) / square) / square
    return (
        far.log()
        + EULER
        + 1 / (2 * far)
        - tail
        - pl.sum_horizontal(1 / (n + place) for place in range(1, 17))
    )


_BEST = {"given": "", "relevant": "ideal_", "list": "", "all": "ideal_"}
"""Prefix of the columns of an order's words."""


class Source(Protocol):
    """Interface that supplies columns to the words."""

    def column(self, name: str) -> pl.Expr:
        """Return the column of a name; asking for one is what makes a plan build it."""

    def running(self, expression: pl.Expr) -> pl.Expr:
        """Return a cumulative expression of hit words, worked out list by list in the order of the ranks."""

    def by_worth(self, worth: Callable[[Source], pl.Expr]) -> str:
        """Return the name of the columns of relevant rows in the order of a worth that is made of the columns of hits."""

    def of_rows(self, value: Callable[[Source], pl.Expr]) -> pl.Expr:
        """Return a value of a list's rows of one kind, such as the relevant ones; 0 without such a row.

        A plan computes it before the others, so that the many rows of a kind are summed once.
        """

    def mean(self, metric: Valued, at: At) -> pl.Expr:
        """Return the mean of another metric over the lists of a segment; of a single list its value."""


class Valued(Protocol):
    """Interface of another metric, for means of its values."""

    def value(self, at: At) -> pl.Expr:
        """Return the expression of one list's value."""


@dataclass(frozen=True)
class At:
    """Words for writing a metric, for one list cut at `k`.

    Row words have one value per row and are null on every other row, so a sum, count, minimum or maximum of them covers only
    their rows. List words have one value per list, like such sums.

    Hits (relevant, with a rank up to k): `hit`, `first_hit`, `rank`, `gain`, `exp_gain`, `discount`,
    `geometric_discount(...)`, `hits_so_far`, `running(...)`, `inverse_propensity(...)`, `scaled_gain(...)`,
    `place_in_best_order`, `agreement_before(...)`; `sum(...)` of a value of theirs; `reader(...)` of the probability to
    read on; `over_hits_by_category(...)` and `over_best_by_category(...)`, `n_categories_of_relevant(...)`;
    `over_hits_by_value(...)` and `over_best_by_value(...)`; `over_most_worth(...)`.
    Relevant rows, listed or not, in their best order up to k: `ideal_gain`, all words of `ideal(...)`;
    `best(...)` is a metric's value in that order.
    Rows of the list up to k: `listed`, `judged`, `relevant`; on the relevant ones `relevant_rank`, `misses_above`,
    `judged_misses_above`, `graded_misses_above`, `hits_above`, `relevant_inverse_propensity(...)`.
    On each of those rows, for comparisons row by row: `each_n_relevant`, `each_n_not_relevant`.
    Per list: `n_listed`, `n_hits`, `n_relevant`, of items of the catalogue `n_listed_in_catalogue`,
    `n_hits_in_catalogue`, `ranks_of_hits_in_catalogue`, `n_relevant_in_catalogue`, `n_catalogue`; `k`, `cutoff`,
    `up_to_k(...)`, `list_length`, `all_discounts`, `all_unshifted_discounts(...)`, `inverse_propensities(...)`;
    `over_places(...)`; `certain(...)` for a count of hits that is not only summed; `user_weight`.
    Per segment: `mean(...)`.

    With `ties="expected"` the hits' rows are the places that tied hits may take: `rank` and `discount` are the place's, and
    `hit`, `first_hit`, `gain`, `exp_gain` and `hits_so_far` are expectations there, each with the probability that there is a
    hit in it. So a metric holds in expectation if it sums one of these words, alone or times a function of the rank; words
    without an expectation raise an error. With `ties="last"` the rows are ties: `rank` and `discount` are those of the tie's
    last place, the other words sums over its hits, with 1 in `first_hit` for the first.
    """

    k: int | None
    """The cut-off; None for the whole list."""
    source: Source
    cut: bool = False
    """Whether the hits are already cut at k."""
    order: Literal["given", "relevant", "list", "all"] = "given"
    """Ranks in use: those given, or those of the ideal ranking of the relevant rows, of the list's hits, or of
    the relevant rows without a cut."""
    sharing: Sharing | None = None
    """Tie policy under which words are expectations over the orders of tied items, or take ties as a whole."""

    def __getattr__(self, name: str) -> pl.Expr:
        words = [word for word in dir(type(self)) if not word.startswith("_")]
        found = sentence(f"{name!r} is not a word for writing metrics", suggestion(name, words))
        raise AttributeError(f"{found} There are {', '.join(words)}")

    # Words of the hits

    @property
    def rank(self) -> pl.Expr:
        """The rank of a hit, from 1, as Float64."""
        if self.order == "list":
            return self.source.column(f"list_ideal_rank@{self.k or ''}")
        return self._of_hit("rank")

    @property
    def gain(self) -> pl.Expr:
        """The relevance of a hit, as Float64."""
        return self._of_hit("gain")

    @property
    def exp_gain(self) -> pl.Expr:
        """2^relevance - 1 of a hit; a relevance above 1000 is an error when the plan runs."""
        of_ties = self.sharing and self.order == "given"
        gain = self._of_hit("exp_gain") if of_ties else pl.lit(2.0, pl.Float64) ** self.gain - 1
        return gain + self.source.column("steepness")

    @property
    def hit(self) -> pl.Expr:
        """True on a hit, with a rank up to k."""
        if self.sharing and self.order == "given":
            return self._of_hit("hit")
        rank = self.source.column(f"{_BEST[self.order]}rank")
        is_whole = self.k is None or self.cut or self.order == "all"
        return rank.is_not_null() if is_whole else (rank <= self.k)

    @property
    def first_hit(self) -> pl.Expr:
        """True on the first hit, False on the others."""
        of_ties = self.sharing and self.order == "given"
        return self._of_hit("first_hit") if of_ties else self.hits_so_far == 1

    @property
    def discount(self) -> pl.Expr:
        """1 / log2(rank + 1) of a hit."""
        if self.order == "list":
            return discount(self.rank)
        return self._of_hit("discount")

    def geometric_discount(self, p: float) -> pl.Expr:
        """Return p^(rank - 1) of a hit."""
        return geometric_discount(self.rank, p)

    @property
    def hits_so_far(self) -> pl.Expr:
        """The number of hits up to and including this one."""
        return self.rank if self.order != "given" else self._of_hit("hits_so_far")

    @property
    def place_in_best_order(self) -> pl.Expr:
        """The place of a hit, from 1, among all relevant rows by relevance, with equal ones in the order of the list."""
        self._needs_an_order("it orders the relevant items one by one")
        return self._of_hit("place_in_best_order")

    def agreement_before(self, p: float) -> pl.Expr:
        """Return the sum of p^(d - 1) / d over the depths d from 1 where a hit is not in both the list and the best order."""
        self._needs_an_order("it orders the relevant items one by one")
        return self._of_hit(f"{AGREEMENT_BEFORE}{p}")

    def inverse_propensity(self, exponent: float, least: float) -> pl.Expr:
        """Return 1 / the probability, at least `least`, that a hit's pair was observed.

        It comes from the truth, or from the train frame as (popularity / the highest popularity)^((exponent + 1) / 2).
        """
        self._needs_an_order("it weighs each hit by its own item")
        given, share = (
            self.source.column(name) for name in ("given_propensity", "popularity_share")
        )
        return self._cut(_inverse(given, share, exponent, least))

    def over_hits_by_category(
        self, of: str, value: Callable[[pl.Expr, pl.Expr], pl.Expr]
    ) -> pl.Expr:
        """Return the sum over the categories of the hits, in a feature of the items, of a value of (rank, seen).

        `seen` is the number of hits above with the category.
        """
        self._needs_an_order("it counts the categories above each hit")

        return self._over(_columns(HITS_BY_CATEGORY, [of], "rank", "seen"), value)

    def over_best_by_category(
        self, of: str, value: Callable[[pl.Expr, pl.Expr], pl.Expr], *, alpha: float
    ) -> pl.Expr:
        """Return the same over the best k relevant items, each the one whose categories add most next.

        A category that was seen m times adds (1 - alpha)^m.
        """
        columns = _columns(BEST_BY_CATEGORY, [of, alpha], "rank", "seen")
        return self._over([f"{name}@{self.k or ''}" for name in columns], value)

    def n_categories_of_relevant(self, of: str) -> pl.Expr:
        """Return the number of categories that the relevant items have, listed or not, in a feature of the items."""
        return self._count(*_columns(RELEVANT_BY_CATEGORY, [of], "rank"))

    def over_hits_by_value(self, of: str, value: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> pl.Expr:
        """Return the sum over the hits whose items have a number, such as a price, of a value of (rank, number)."""
        self._needs_an_order("it weighs each hit by its own item")
        return self._over(_columns(HITS_BY_VALUE, [of], "rank", "value"), value)

    def over_best_by_value(
        self, of: str, value: Callable[[pl.Expr, pl.Expr], pl.Expr], *, cut: bool = True
    ) -> pl.Expr:
        """Return the same over the relevant items with the highest numbers, listed or not, up to k; a number below 0 fails."""
        return self._over(_columns(BEST_BY_VALUE, [of], "rank", "value"), value, cut=cut)

    def over_most_worth(
        self,
        worth: Callable[[At], pl.Expr],
        weight: Callable[[pl.Expr], pl.Expr],
        *,
        cut: bool = True,
    ) -> pl.Expr:
        """Return the sum of worth times a weight of the rank over the relevant items, listed or not, that are worth most.

        `worth` is a value of a hit that does not depend on its rank, such as its gain over its propensity.
        """
        name = self.source.by_worth(lambda source: worth(replace(self, k=None, source=source)))
        columns = [f"{name} rank", f"{name} worth"]
        return self._over(columns, lambda rank, worth: worth * weight(rank), cut=cut)

    def sum(self, value: Callable[[At], pl.Expr]) -> pl.Expr:
        """Return the sum of a value of a hit over the hits, as in `at.sum(lambda hit: hit.gain * hit.discount)`.

        NOTE: the value is cut at k once, not word by word, so it is computed once for all cut-offs.
        """
        if isinstance(value, pl.Expr):
            raise RecframeError(
                "at.sum() takes a function of a hit, at.sum(lambda hit: hit.gain); a value has its own sum, at.gain.sum()"
            )
        return self._cut(value(replace(self, cut=True))).sum()

    def running(self, expression: pl.Expr) -> pl.Expr:
        """Return a cumulative expression of hit words (`cum_sum`, `cum_prod`, `shift`), taken from the best rank down."""
        self._needs_an_order("it multiplies or shifts along the ranks")
        return self.source.running(expression)

    def scaled_gain(self, max_grade: float, min_grade: float = 0) -> pl.Expr:
        """Return the gain of a hit on a scale from 0, up to `min_grade`, to 1, from `max_grade` on."""
        if max_grade <= min_grade:
            raise RecframeError(
                f"max_grade is above min_grade; found max_grade={max_grade:g}, min_grade={min_grade:g}"
            )
        name = f"{SCALED}{json.dumps([min_grade, max_grade])}"
        of_ties = self.sharing and self.order == "given"
        return self._of_hit(name) if of_ties else scaled(name, self.gain)

    def reader(
        self,
        goes_on: GoesOn,
        *,
        depth: int | None = None,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> pl.Expr:
        """Return the mean gain of the places read, by a reader who goes on with a probability `goes_on(place, gain)`.

        A place's gain is `scaled_gain(...)` of its hit, or 0: below k and behind the list too. The reader stops at `depth`, as
        in depth=at.k, and at place 1,000 at the latest.
        """
        return mean_gain(self, lambda hit: hit.scaled_gain(max_grade, min_grade), goes_on, depth)

    # Words of the best order

    def ideal(self, order: Literal["relevant", "list", "all"] = "relevant") -> At:
        """Return the same words for the best order: of the relevant rows up to k, of the list's own hits, of all without k."""
        if order == "list":
            self._needs_an_order("it orders the hits among the first k one by one")
        return replace(self, order=order, cut=self.cut and order == "list")

    def best(
        self, value: Callable[[At], pl.Expr], order: Literal["relevant", "list", "all"] = "relevant"
    ) -> pl.Expr:
        """Return the value of a metric in the best order, for one that is 0 without a relevant row."""
        if order == "list":
            return value(self.ideal(order))
        return self.source.of_rows(lambda source: value(replace(self.ideal(order), source=source)))

    @property
    def ideal_gain(self) -> pl.Expr:
        """The relevance of the relevant rows in their best order, up to k of them."""
        return self.ideal().gain

    # Words of the list's rows

    @property
    def listed(self) -> pl.Expr:
        """True on a row of the list with a rank up to k."""
        return self._is_listed(
            self.source.column("whole_rank" if self.k is None else "listed_rank")
        )

    @property
    def judged(self) -> pl.Expr:
        """True on a listed row whose relevance is not null."""
        return pl.when(self.source.column("listed_judged")).then(self.listed)

    @property
    def relevant(self) -> pl.Expr:
        """True on a listed row that is relevant."""
        rank = self.source.column("relevant_rank")
        return pl.when(rank.is_not_null()).then(self._is_listed(rank))

    def relevant_inverse_propensity(self, exponent: float, least: float) -> pl.Expr:
        """Return `inverse_propensity(...)` of a listed row that is relevant."""
        self._needs_an_order("it weighs each hit by its own item")
        given, share = (
            self.source.column(f"listed_{name}")
            for name in ("given_propensity", "popularity_share")
        )
        return pl.when(self.relevant).then(_inverse(given, share, exponent, least))

    @property
    def relevant_rank(self) -> pl.Expr:
        """The rank of a relevant listed row, from 1, as Float64."""
        return pl.when(self.relevant).then(self.source.column("relevant_rank"))

    @property
    def misses_above(self) -> pl.Expr:
        """On a relevant listed row, the number of not relevant rows above it; a row of equal rank counts a half."""
        if self.k is not None and self.sharing == "expected":
            self._needs_an_order("the pairs that a cut-off leaves are uncertain")
        return pl.when(self.relevant).then(self.source.column("misses_above"))

    @property
    def judged_misses_above(self) -> pl.Expr:
        """On a relevant listed row, the number of rows above it that are judged not relevant."""
        self._needs_an_order("it takes the smaller of two counts")
        return pl.when(self.relevant).then(self.source.column("judged_misses_above"))

    @property
    def graded_misses_above(self) -> pl.Expr:
        """On a relevant listed row, the number of such rows above it whose relevance is not below 0."""
        self._needs_an_order("it divides by a count of the rows above")
        return pl.when(self.relevant).then(self.source.column("graded_misses_above"))

    @property
    def hits_above(self) -> pl.Expr:
        """On a relevant listed row, the number of relevant rows above it."""
        self._needs_an_order("it divides by a count of the rows above")
        return pl.when(self.relevant).then(self.source.column("hits_above"))

    # Words of the whole list

    @property
    def n_hits(self) -> pl.Expr:
        """The number of hits."""
        return self.hit.sum()

    @property
    def n_listed(self) -> pl.Expr:
        """The number of items of the list up to k, judged or not."""
        return self._count_up_to_k("cut_rank")

    @property
    def n_listed_in_catalogue(self) -> pl.Expr:
        """The number of items of the list up to k that are in the catalogue."""
        return self._count_up_to_k("catalogue_cut_rank")

    @property
    def n_hits_in_catalogue(self) -> pl.Expr:
        """The number of hits whose items are in the catalogue."""
        return self._count_up_to_k("catalogue_hit_rank")

    @property
    def ranks_of_hits_in_catalogue(self) -> pl.Expr:
        """The sum of the ranks of the hits whose items are in the catalogue."""
        self._needs_an_order("it sums up the ranks of the catalogue's items one by one")
        return self._over(["catalogue_hit_rank"], lambda rank: rank)

    @property
    def n_relevant_in_catalogue(self) -> pl.Expr:
        """The number of relevant rows, listed or not, of items of the catalogue."""
        self._needs_an_order("it counts over the catalogue")
        return self._count("catalogue_relevant")

    @property
    def n_catalogue(self) -> pl.Expr:
        """The number of items in the catalogue; in a segment of items, of its own; 0 for a user without rows of such items."""
        return self.source.column("each_n_catalogue").max().fill_null(0.0)

    def certain(self, count: pl.Expr) -> pl.Expr:
        """Return a count or gain of hits for division or comparison, where it differs from its expectation.

        It differs with `ties="last"` too, where a row counts all hits of a tie together.
        """
        self._needs_an_order("it divides by a count of hits, or compares their counts or gains")
        return count

    @property
    def n_relevant(self) -> pl.Expr:
        """The number of relevant rows, listed or not."""
        return self.source.of_rows(
            lambda source: source.column("relevant_gain").is_not_null().sum()
        )

    def inverse_propensities(self, exponent: float, least: float) -> pl.Expr:
        """Return the sum of 1 / propensity over the relevant rows: an estimate of their number, observed or not."""
        columns = ["relevant_given_propensity", "relevant_popularity_share"]
        inverse = partial(_inverse, exponent=exponent, least=least)
        return self._over(columns, inverse, cut=False)

    @property
    def each_n_relevant(self) -> pl.Expr:
        """`n_relevant` on every hit and every listed row, for comparisons row by row."""
        return self.source.column("each_n_relevant")

    @property
    def each_n_not_relevant(self) -> pl.Expr:
        """The number of rows judged not relevant, listed or not, on every hit and every listed row."""
        return self.source.column("each_n_not_relevant")

    @property
    def list_length(self) -> pl.Expr:
        """The number of items in the whole list."""
        return self._count("whole_rank")

    @property
    def cutoff(self) -> pl.Expr:
        """The number k; without a cut-off the length of the list."""
        return self.list_length if self.k is None else pl.lit(float(self.k))

    def up_to_k(self, count: pl.Expr) -> pl.Expr:
        """Return min(k, count); without a cut-off the count."""
        return count if self.k is None else pl.min_horizontal(count, pl.lit(float(self.k)))

    @property
    def all_discounts(self) -> pl.Expr:
        """The sum of the discounts of the ranks 1 to k; without a cut-off to the length of the list."""
        if self.k is None:
            return self._over_places(discount)
        return pl.lit(sum_of_discounts(self.k))

    def all_unshifted_discounts(self, base: float = 2) -> pl.Expr:
        """The sum of 1 / log_base(max(rank, base)) over the ranks 1 to k; without a cut-off to the length of the list."""
        if self.k is None:
            return self._over_places(partial(unshifted_discount, base=base))
        return pl.lit(sum_of_unshifted_discounts(self.k, base))

    @property
    def user_weight(self) -> pl.Expr:
        """Weight of the user, from the users column named by `rec(weight=...)`; null without one."""
        return self.source.column("user_weight").max()

    # Words of the segment

    def mean(self, metric: Valued) -> pl.Expr:
        """Return the mean of another metric, at the same k, over the lists of the segment; of a single list its value."""
        return self.source.mean(metric, self)

    def _needs_an_order(self, reason: str) -> None:
        if self.sharing is not None:
            raise NoOrderError(reason)

    def _count_up_to_k(self, rank: str) -> pl.Expr:
        """Return the number of rows with a rank up to k."""
        self._needs_an_order("it counts the items among the first k one by one")
        k = math.inf if self.k is None else self.k
        return self._over([rank], lambda rank: rank <= k, cut=False)

    def _count(self, column: str) -> pl.Expr:
        """Return the number of rows that have a column."""
        # NOTE: count() inside a group-by of Polars 1.35 counts the nulls of a computed column.
        return self._over([column], pl.Expr.is_not_null, cut=False)

    def over_places(self, value: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
        """Return the sum of a value of the places, from 1 on, of the rows of the list with a rank up to k."""
        return self._over(["listed_rank", "listed_place"], lambda _, place: value(place))

    def _over_places(self, value: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
        """Return the sum of a value of the places 1 to n_listed."""
        return self._over(["listed_place"], value, cut=False)

    def _over(
        self, columns: Sequence[str], value: Callable[..., pl.Expr], *, cut: bool = True
    ) -> pl.Expr:
        """Return the sum over the rows of one kind of a value of some columns, cut at k by the first of them."""

        def total(source: Source) -> pl.Expr:
            rank, *others = map(source.column, columns)
            return (
                self._up_to(rank, value(rank, *others)).sum() if cut else value(rank, *others).sum()
            )

        return self.source.of_rows(total)

    def _is_listed(self, rank: pl.Expr) -> pl.Expr:
        # the share of the tie's places that are up to k
        if self.sharing == "expected" and self.k is not None:
            return ((self.k + 1 - rank).floor() / self.source.column("listed_tied")).clip(0.0, 1.0)
        return rank.is_not_null() if self.k is None else (rank <= self.k)

    def _up_to(self, rank: pl.Expr, value: pl.Expr) -> pl.Expr:
        return value if self.k is None else pl.when(rank <= self.k).then(value)

    def _of_hit(self, word: str) -> pl.Expr:
        column = self.source.column(_BEST[self.order] + word)
        return column if self.cut else self._cut(column)

    def _cut(self, column: pl.Expr) -> pl.Expr:
        if self.k is None or self.cut or self.order == "all":
            return column
        return pl.when(self.source.column(f"{_BEST[self.order]}rank") <= self.k).then(column)


def _inverse(given: pl.Expr, share: pl.Expr, exponent: float, least: float) -> pl.Expr:
    return 1 / pl.coalesce(given, share ** ((exponent + 1) / 2)).clip(lower_bound=least)


def _columns(kind: str, settings: list[object], *words: str) -> list[str]:
    """Return the names of a kind's columns under some settings."""
    return [f"{kind}{json.dumps(settings)} {word}" for word in words]
