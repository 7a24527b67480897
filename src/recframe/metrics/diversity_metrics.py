"""Diversity of the items in one list, by a feature.

Symbols in the formulas: L is a user's list up to k, n its number of items, m the number of those that have a feature. A metric
over lists is null for a list without an item up to k, and the mean runs over the others.

Vectors are fast as an Array, whose schema has their length, and in eager frames also as a List; a List in a LazyFrame takes
seven times the time and five times the memory: convert it with `pl.col("embedding").list.to_array(64)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Literal

import polars as pl

from recframe.errors import RecframeError
from recframe.metrics.language.at import (
    At,
    discount,
    geometric_discount,
    ratio,
)
from recframe.metrics.language.at_lists import AtLists, Distance
from recframe.metrics.language.definition import COUNT, UNIT, Bounds, Closed, Share
from recframe.metrics.language.registry import metric
from recframe.metrics.language.sums_over_ranks import sum_of_reciprocals
from recframe.side_info import sources

__all__ = ["alpha_ndcg", "category_coverage", "category_entropy", "diversity", "err_ia", "nrbp"]

Highest = Literal["any", "best"]
Alpha = Annotated[float, Bounds(0.001, 1, closed=True)]


@metric(
    over="lists",
    aliases=("ild",),
    range=(0.0, 2.0),
    ranges={("scaled", True): UNIT, ("distance", "jaccard"): UNIT},
    direction="higher",
    formula="mean over the pairs of items of L of 1 - cos(x_i, x_j)",
    latex=r"\frac{2}{m (m - 1)} \sum_{i < j} \left(1 - \cos(x_i, x_j)\right)",
)
def diversity(
    at: AtLists,
    *,
    of: str = "",
    distance: Distance = "cosine",
    scaled: bool = False,
    single: Literal["null", "zero"] = "null",
) -> pl.Expr:
    """How different the items of a list are, the mean distance of two: 0 if all are alike, 1 if no two have anything in common.

    Use it for variety within a list. Not between users: use `personalization`; not for how many categories there are: use
    `category_coverage`.

    The mean over all pairs of the m items with a feature of 1 - cos(x_i, x_j), or with `distance="jaccard"` of 1 - |A and B| /
    |A or B|. It is computed by items, not by pairs: with S the sum of the unit vectors x_i / |x_i|, the cosine is 1 - (|S|² -
    m) / (m · (m - 1)). Lists of categories are vectors of 0 and 1, so the distance of items of one category each is 0 or 1.
    Jaccard needs the pairs of a list that share a category, so it is slower and its memory grows with k². In [0, 1], for
    vectors with negative numbers in [0, 2]; `scaled=True` halves it. Null with fewer than two items with a feature;
    `single="zero"` makes that 0 where there is a list.

    The feature is the column `of` of the items frame, by default the only one beside the item: floats in an Array or a List are
    a vector, any other List holds categories, and text or a whole number is one category. An item whose feature is null, empty
    or all zeros has none.

    Raises a ColumnError where the items frame or the column is missing, or it holds no feature.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "rank": [1, 2, 3]})
    >>> items = pl.DataFrame({"item": [1, 2, 3, 4], "genre": ["drama", "drama", "crime", "war"]})
    >>> round(df.rec(items=items).diversity(k=10), 6)
    0.666667

    Source: Ziegler et al. 2005, Improving recommendation lists through topic diversification; Vargas and Castells 2011.
    """
    m = at.sum(at.has_feature(of).cast(pl.Float64))
    alike = at.likeness_of_pairs(of, distance) - m
    value = (1 - ratio(alike, m * (m - 1), empty=None)).clip(0.0, 2.0)
    value = value / 2 if scaled else value
    return value if single == "null" else pl.when(at.n_listed > 0).then(value.fill_null(0.0))


@metric(
    over="lists",
    instead={"s_recall": "category_coverage(relevance=true)"},
    range=UNIT,
    direction="higher",
    formula="categories of the items of L / categories of the catalogue",
    latex=r"\frac{\text{categories of the items of } L}{\text{categories of the catalogue}}",
)
def category_coverage(
    at: AtLists,
    *,
    of: str = "",
    denominator: Literal["catalogue", "k", "relevant"] = "catalogue",
    relevance: bool = False,
) -> pl.Expr:
    """Share of the catalogue's categories that the list has: 1 is all of them, 0 none.

    Use it where a list should have something of everything. Not for the balance between categories: use `diversity` or
    `miscalibration`.

    |categories of the items of L| / |categories of all items|, in a segment of items both of the segment's. `denominator="k"`
    divides by k instead (n where there is no k), also for short lists, and is at most 1. 0 for a list whose items have no
    category; null where the catalogue has none.

    `relevance=True` counts only the categories of the relevant items of L: subtopic recall, RankSys's and Elliot's SRecall;
    with `denominator="relevant"` over the categories of all the user's relevant items, as in the source. The mean then runs
    only over the lists of the accuracy metrics' users, and is null where there is no such category.

    Raises a ColumnError where the items frame or its column `of` is missing, or it holds no categories, see `diversity`.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "rank": [1, 2, 3]})
    >>> items = pl.DataFrame({"item": [1, 2, 3, 4], "genre": ["drama", "drama", "crime", "war"]})
    >>> round(df.rec(items=items).category_coverage(k=10), 6)
    0.666667

    Source: Zhai, Cohen and Lafferty 2003, Beyond independent relevance: methods and evaluation metrics for subtopic retrieval.
    """
    if denominator == "relevant" and not relevance:
        raise RecframeError(
            "category_coverage(denominator='relevant') counts relevant items alone; write relevance=True too"
        )
    one = pl.lit(1.0, dtype=pl.Float64)
    covered = at.over_categories(
        of, at.in_category(of, at.relevant.cast(pl.Float64) if relevance else one) > 0
    )
    wholes = {
        "catalogue": lambda: at.n_categories(of),
        "relevant": lambda: at.fact(sources.n_categories_of_relevant, of),
        "k": lambda: at.n_listed if at.k is None else one * at.k,
    }
    whole = wholes[denominator]()
    return pl.when(at.n_listed > 0).then(ratio(covered, whole, empty=None).clip(0.0, 1.0))


@metric(
    over="lists",
    aliases=("rank_biased_entropy",),
    range=COUNT,
    direction="higher",
    formula="-Σ over categories g of q_g · log2(q_g), q_g the share of g in L",
    latex=r"-\sum_{g} q_g \log_2 q_g, \quad q_g = \text{share of category } g \text{ in } L",
)
def category_entropy(
    at: AtLists,
    *,
    of: str = "",
    weight: Literal["none", "geometric"] = "none",
    p: Share = 0.85,
    smoothing: Closed = 0,
) -> pl.Expr:
    """How evenly a list mixes its categories, in bits: 0 if all its items are of one; larger is more even.

    Use it for balance within a list. Not for how many of the catalogue's categories there are: use `category_coverage`; not for
    the balance that a user's history has: use `miscalibration`.

    -Σ over g of q_g · log2(q_g), at most log2 of the number of categories of the catalogue. q_g = (Σ over the items of L of w ·
    p_g + `smoothing`) / the sum of the same over all categories; p_g is 1 / the number of the item's categories for each of
    them. The weight w of an item is 1, or `p`^(r - 1) with `weight="geometric"`, rank-biased entropy. Null for a list without
    an item that has a category.

    Raises a ColumnError where the items frame or its column `of` is missing, or it holds no categories, see `diversity`.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "rank": [1, 2, 3]})
    >>> items = pl.DataFrame({"item": [1, 2, 3, 4], "genre": ["drama", "drama", "crime", "war"]})
    >>> round(df.rec(items=items).category_entropy(k=10), 6)
    0.918296

    Source: LensKit's `Entropy` and `RankBiasedEntropy`, which smooth by 1e-6.
    """
    weighed = at.weight("none") if weight == "none" else geometric_discount(at.rank, p)
    total = at.sum(pl.when(at.has_feature(of)).then(weighed))
    found = at.in_category(of, weighed * at.category_share)

    def whole(total: pl.Expr) -> pl.Expr:
        return total + smoothing * at.n_categories(of) if smoothing else total

    bits = at.over_categories(
        of,
        pl.when(found > 0).then(_bits((found + smoothing) / whole(at.beside_categories(total)))),
    )
    if smoothing:
        others = at.n_categories(of) - at.over_categories(of, found > 0)
        bits += others.clip(lower_bound=0.0) * _bits(smoothing / whole(total))
    return pl.when(total > 0).then(bits.clip(lower_bound=0.0))


def _bits(share: pl.Expr) -> pl.Expr:
    """Return what a share adds to an entropy."""
    return share * share.log() * (-1 / math.log(2))


@metric(
    range=UNIT,
    direction="higher",
    formula="Σ over hits and their categories of (1 - a)^seen / log2(r + 1), over that of the best order",
    latex=(
        r"\frac{\sum_{\text{hits}} \sum_{\text{categories}} (1 - a)^{s} \,/ \log_2(r + 1)}{\text{the same of the best order}}"
        "\n"
        r"a = \text{alpha}, \quad s = \text{hits above with the category}"
    ),
)
def alpha_ndcg(at: At, *, of: str = "", alpha: Closed = 0.5) -> pl.Expr:
    """The list's nDCG where further items of a category count less: 1 is the best order, 0 has no relevant item.

    Use it where a user may want any of several things. Not without relevance: use `diversity`.

    Σ over the hits and their categories of (1 - a)^s / log2(r + 1), a = `alpha` and s the number of hits above that have the
    category, over the same sum of the best k relevant items: at each place the one that adds most, of equals the last by id.
    That greedy order is not always the best, so the ratio is cut at 1. The mean runs over the users of the accuracy metrics, as
    ndcg's does: 0 without a hit or a list; a user without a relevant item is 0, left out or null by `no_relevant`. Null for a
    user whose relevant items have no category.

    Raises a ColumnError where the items frame or its column `of` is missing, or it holds no categories, see `diversity`; and a
    RecframeError for lists of categories without a cut-off or with one above 100, as their best order is found rank by rank,
    which does not stream. With one category for each item there is no such limit.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 1, 1]})
    >>> items = pl.DataFrame({"item": [1, 2, 3], "genre": ["drama", "drama", "crime"]})
    >>> round(df.rec(items=items).alpha_ndcg(k=10), 6)
    0.965195

    Source: Clarke et al. 2008, Novelty and diversity in information retrieval evaluation.
    """

    def gain(rank: pl.Expr, seen: pl.Expr) -> pl.Expr:
        return pl.lit(1.0 - alpha, dtype=pl.Float64) ** seen * discount(rank)

    best = at.over_best_by_category(of, gain, alpha=alpha)
    value = ratio(at.over_hits_by_category(of, gain), best).clip(0.0, 1.0)
    return pl.when((best > 0) | (at.n_relevant == 0)).then(value)


@metric(
    aliases=("erria",),
    range=UNIT,
    direction="higher",
    formula="Σ over hits and their categories of (1 - a)^seen / r, over that of a list whose items have every category",
    latex=(
        r"\frac{\sum_{\text{hits}} \sum_{c} (1 - a)^{\text{seen}_c} / r}{S \sum_{r=1}^{k} (1 - a)^{r - 1} / r}, "
        r"\quad a = \text{alpha}"
    ),
)
def err_ia(at: At, *, of: str = "", alpha: Alpha = 0.5, normalizer: Highest = "any") -> pl.Expr:
    """How soon a user finds the category they came for, whichever it is: 1 is as soon as possible, 0 never.

    Use it where one item of the right category is enough. Not where users want several: use `alpha_ndcg`.

    Intent-aware expected reciprocal rank: Σ over the hits and their categories of (1 - a)^s / r, a = `alpha` and s the number
    of hits above that have the category, over the highest possible value up to k: S · Σ over r = 1..k of (1 - a)^(r - 1) / r,
    with S the number of categories of the user's relevant items (ndeval's ERR-IA); without k, over all r. `normalizer="best"`
    divides by the sum of the best k relevant items instead, as alpha_ndcg does (nERR-IA). 0 without a hit or a list; null where
    no relevant item has a category.

    Raises a ColumnError where the items frame or its column `of` is missing, or it holds no categories, see `diversity`; and
    with `normalizer="best"` a RecframeError for lists of categories without a cut-off or with one above 100, as alpha_ndcg.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> items = pl.DataFrame({"item": [1, 2, 3], "genre": ["drama", "war", "crime"]})
    >>> df.rec(items=items).err_ia(k=2), df.rec(items=items).err_ia(k=3, normalizer="best")
    (0.4, 0.8888888888888888)

    Source: Chapelle et al. 2009, Expected reciprocal rank for graded relevance; Clarke et al. 2011; ndeval.
    """

    def gain(rank: pl.Expr, seen: pl.Expr) -> pl.Expr:
        return pl.lit(1.0 - alpha, dtype=pl.Float64) ** seen / rank

    return _of_intents(at, of, gain, alpha, normalizer, sum_of_reciprocals(at.k, 1 - alpha))


@metric(
    range=UNIT,
    direction="higher",
    formula="(1 - (1 - a) b) / S · Σ over hits and their categories of (1 - a)^seen · b^(r - 1)",
    latex=(
        r"\frac{1 - (1 - a)\, b}{S} \sum_{\text{hits}} \sum_{c} (1 - a)^{\text{seen}_c}\, b^{\,r - 1}, "
        r"\quad a = \text{alpha},\ b = \text{beta}"
    ),
)
def nrbp(
    at: At, *, of: str = "", alpha: Closed = 0.5, beta: Share = 0.5, normalizer: Highest = "any"
) -> pl.Expr:
    """Rank-biased precision in which repeated categories count less: 1 is the highest possible, 0 has no relevant item.

    Use it in place of `rbp` where repetition bores. Not where you do not know how far users read: use `alpha_ndcg`.

    Novelty- and rank-biased precision: (1 - (1 - a) b) / S · Σ over the hits and their categories of (1 - a)^s · b^(r - 1), a =
    `alpha`, b = `beta` the probability of going on to the next rank, s the number of hits above that have the category and S
    the number of categories of the user's relevant items: 1 for an endless list of items with all of them. `normalizer="best"`
    divides the sum by that of the best k relevant items instead, as alpha_ndcg does (nNRBP). ndeval has both for the whole list
    alone. 0 without a hit or a list; null where no relevant item has a category.

    `of` and the errors are those of err_ia.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> items = pl.DataFrame({"item": [1, 2, 3], "genre": ["drama", "war", "crime"]})
    >>> df.rec(items=items).nrbp()
    0.46875

    Source: Clarke, Kolla and Vechtomova 2009, An effectiveness measure for ambiguous and underspecified queries; ndeval.
    """

    def gain(rank: pl.Expr, seen: pl.Expr) -> pl.Expr:
        return pl.lit(1.0 - alpha, dtype=pl.Float64) ** seen * geometric_discount(rank, beta)

    return _of_intents(at, of, gain, alpha, normalizer, 1 / (1 - (1 - alpha) * beta))


def _of_intents(
    at: At,
    of: str,
    gain: Callable[[pl.Expr, pl.Expr], pl.Expr],
    alpha: float,
    normalizer: Highest,
    of_one: float,
) -> pl.Expr:
    """Return the gains of the hits over the highest there are; `of_one` category, in a list whose items all have it."""
    intents = at.n_categories_of_relevant(of)
    best = (
        at.over_best_by_category(of, gain, alpha=alpha)
        if normalizer == "best"
        else intents * of_one
    )
    value = ratio(at.over_hits_by_category(of, gain), best).clip(0.0, 1.0)
    return pl.when((intents > 0) | (at.n_relevant == 0)).then(value)
