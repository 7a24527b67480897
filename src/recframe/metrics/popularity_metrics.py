"""Popularity of the listed items in train: novelty, long tail, repeats.

Symbols in the formulas: L is a user's list up to k, n its number of items; pop(i) is the number of train users of item i,
0 for a cold one; U is the number of train users. A metric is null for a list without an item up to k, and the mean runs
over the others.
"""

from __future__ import annotations

import math
from typing import Literal

import polars as pl

from recframe.metrics.language.at import ratio
from recframe.metrics.language.at_lists import AtLists, Tail
from recframe.metrics.language.definition import COUNT, UNIT, LogBase, Share
from recframe.metrics.language.registry import metric
from recframe.side_info import attributes, sources

__all__ = [
    "efd",
    "epc",
    "long_tail_count",
    "long_tail_share",
    "novelty",
    "popularity",
    "popularity_lift",
    "repeat_rate",
    "tail_coverage",
]

Discount = Literal["none", "log"]
Average = Literal["users", "rows"]


@metric(
    over="lists",
    aliases=("miuf", "self_information"),
    range=COUNT,
    direction="higher",
    formula="1/n · Σ over L of -log2(max(pop(i), 1) / U)",
    latex=r"\frac{1}{n} \sum_{i \in L} -\log_2 \frac{\max(\text{pop}(i),\, 1)}{U}",
)
def novelty(
    at: AtLists,
    *,
    cold: Literal["one", "drop"] = "one",
    normalized: bool = False,
    log_base: LogBase = 2,
    denominator: Literal["list", "k"] = "list",
) -> pl.Expr:
    """How little known the listed items are, in bits: 0 if all train users have them, 1 more each time their users halve.

    Use it for whether a model shows more than bestsellers. Not alone, as random lists score high: show `ndcg` beside it.

    Mean self-information: 1/n · Σ over L of -log_b(max(pop(i), 1) / U), b = `log_base`; at most log_b(U), by which
    `normalized=True` divides (null where U is 1). An item that nobody has in train counts like an item of one user;
    `cold="drop"` leaves it out of the sum and of n. `denominator="k"` divides by k also for a short list, as RePlay's Surprisal
    and recmetrics do (by n where there is no k). Null without a list, and where no item is left.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 1, 2, 3]})
    >>> df.rec(train=train).novelty(k=10)
    1.5

    Source: Zhou et al. 2010, Solving the apparent diversity-accuracy dilemma of recommender systems.
    """
    informed = at.popularity.clip(lower_bound=1.0).log()
    if cold == "drop":
        known = at.popularity > 0
        mean = ratio(
            at.sum(pl.when(known).then(informed)), at.sum(known.cast(pl.Float64)), empty=None
        )
    else:
        mean = at.mean(informed)
    nats = at.n_train_users.log() - mean
    if denominator == "k" and at.k is not None:
        # NOTE: with repeated ranks more than k items may stand up to k.
        filled = at.sum(at.popularity > 0) if cold == "drop" else at.n_listed
        nats = nats * (filled / at.k).clip(upper_bound=1.0)
    if normalized:
        return ratio(nats, at.n_train_users.log(), empty=None).clip(0.0, 1.0)
    return pl.when(at.n_train_users > 0).then(nats.clip(lower_bound=0.0)) / math.log(log_base)


@metric(
    over="lists",
    range=UNIT,
    direction="higher",
    formula="Σ over L of w(r) · (1 - pop(i) / U) / Σ over L of w(r)",
    latex=r"\frac{\sum_{i \in L} w(r_i) \left(1 - \text{pop}(i) / U\right)}{\sum_{i \in L} w(r_i)}",
)
def epc(at: AtLists, *, discount: Discount = "none", relevance: bool = False) -> pl.Expr:
    """Share of the train users who do not know a listed item, on average: 1 is all users, 0 none.

    Use it for novelty between 0 and 1. Not to tell rare items apart, which all score near 1: use `novelty`.

    Expected popularity complement: Σ over L of w(r) · (1 - pop(i) / U) / Σ over L of w(r). The rank r weighs 1, or 1 / log2(r +
    1) with `discount="log"`; with `relevance=True` only relevant items count in the numerator, and the mean runs only over the
    lists of the accuracy metrics' users, by `universe` and `no_relevant`. Null without a list or without train users.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 1, 2, 3]})
    >>> df.rec(train=train).epc(k=10)
    0.625

    Source: Vargas and Castells 2011, Rank and relevance in novelty and diversity metrics for recommender systems.
    """
    known = ratio(
        _browsed(at, at.popularity, discount, relevance=relevance), at.n_train_users, empty=None
    )
    return (
        _browsed(at, pl.lit(1.0, dtype=pl.Float64), discount, relevance=relevance) - known
    ).clip(0.0, 1.0)


@metric(
    over="lists",
    range=COUNT,
    direction="higher",
    shapes={("average", "rows"): "set"},
    formula="Σ over L of w(r) · -log2(max(pop(i), 1) / Σ pop) / Σ over L of w(r)",
    latex=(
        r"\frac{\sum_{i \in L} w(r_i) \cdot \left(-\log_2 \frac{\max(\text{pop}(i),\, 1)}{\sum_{j} \text{pop}(j)}\right)}"
        r"{\sum_{i \in L} w(r_i)}"
    ),
)
def efd(
    at: AtLists,
    *,
    discount: Discount = "none",
    relevance: bool = False,
    log_base: LogBase = 2,
    cold: Literal["one", "zero"] = "one",
    average: Average = "users",
) -> pl.Expr:
    """How rare the listed items are among train's interactions, in bits: 1 more each time their number halves; larger is rarer.

    Use it to compare with results that report it, such as Microsoft's. Otherwise use `novelty`.

    Expected free discovery: Σ over L of w(r) · -log_b(max(pop(i), 1) / Σ pop) / Σ over L of w(r), Σ pop the number of pairs in
    train, b = `log_base`. `discount` and `relevance` are those of epc. A cold item counts like an item of one user; with
    `cold="zero"` it adds 0 and still counts as an item of L. The mean runs over the lists; `average="rows"` is the mean over
    all items of all lists of a segment, in which long lists weigh more: with both it is Microsoft's novelty. Null without a
    list or train.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 1, 2, 3]})
    >>> df.rec(train=train).efd(k=10)
    1.5

    Source: Vargas and Castells 2011, Rank and relevance in novelty and diversity metrics for recommender systems.
    """
    one = pl.lit(1.0, dtype=pl.Float64) if cold == "one" else (at.popularity > 0).cast(pl.Float64)
    counted = _browsed(at, one, discount, average, relevance=relevance)
    known = _browsed(
        at, at.popularity.clip(lower_bound=1.0).log(), discount, average, relevance=relevance
    )
    nats = (counted * at.n_interactions.log() - known).clip(lower_bound=0.0)
    return pl.when(at.n_interactions > 0).then(nats) / math.log(log_base)


def _browsed(
    at: AtLists, value: pl.Expr, discount: Discount, average: Average = "users", *, relevance: bool
) -> pl.Expr:
    """Return the mean of a value over the list, or all rows, weighed by rank; with relevance 0 for what is not relevant."""
    value = pl.when(at.relevant).then(value) if relevance else value
    if average == "users":
        return at.mean(value, discount)
    weight = at.weight(discount)
    return ratio(at.over_lists(at.sum(weight * value)), at.over_lists(at.sum(weight)), empty=None)


@metric(
    over="lists",
    aliases=("arp",),
    range=COUNT,
    ranges={("normalizer", "quantile"): UNIT},
    direction="lower",
    formula="1/n · Σ over L of pop(i)",
    latex=r"\frac{1}{n} \sum_{i \in L} \text{pop}(i)",
)
def popularity(
    at: AtLists, *, normalizer: Literal["none", "users", "max", "interactions", "quantile"] = "none"
) -> pl.Expr:
    """Mean number of train users who have a listed item: 0 if nobody has one; the larger, the better known the items.

    Use it for how far a model leans on bestsellers. Not between data sets of different sizes: use `normalizer="quantile"`.

    1/n · Σ over L of pop(i); `normalizer` divides by U (`"users"`), by the popularity of the most popular item (`"max"`) or by
    the number of pairs in train (`"interactions"`). A cold item counts 0. `"quantile"` replaces pop(i) with the item's place
    among the items of train, the least popular first, over their number; equally popular items share their mean place. Null
    without a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 1, 2, 3]})
    >>> df.rec(train=train).popularity(k=10), df.rec(train=train).popularity(k=10, normalizer="quantile")
    (1.5, 0.75)

    Source: Yin, Cui, Li, Yao and Chen 2012, Challenging the long tail recommendation; `quantile`: LensKit's `MeanPopRank`.
    """
    if normalizer == "quantile":
        return at.mean(at.fact(sources.popularity_quantile).fill_null(0.0))
    whole = {
        "none": lambda: pl.lit(1.0, dtype=pl.Float64),
        "users": lambda: at.n_train_users,
        "max": lambda: at.fact(attributes.max_popularity),
        "interactions": lambda: at.n_interactions,
    }
    return ratio(at.mean(at.popularity), whole[normalizer](), empty=None)


@metric(
    over="lists",
    aliases=("aplt",),
    range=UNIT,
    direction="higher",
    formula="items of L in the long tail / n",
    latex=r"\frac{|L \cap T|}{n}, \quad T = \text{the long tail}",
)
def long_tail_share(at: AtLists, *, tail: Tail = "interactions", share: Share = 0.8) -> pl.Expr:
    """Share of the list that is from the long tail, the less popular items: 1 is all of it, 0 none.

    Use it for the mix of bestsellers and other items. Not for how many different tail items are shown: use `tail_coverage`.

    |L and T| / n. The tail T is the catalogue without the head: the most popular items that together have `share` of the pairs
    in train, in the order of popularity, then of id; the item that reaches the share is in the head. With `tail="items"` the
    head is that share of the catalogue's items, so T is the least popular 1 - `share` of them, rounded down, at least one
    (RecBole's tail_ratio 0.1 is `share=0.9`). The catalogue is the items frame, or all items of all frames; in a segment of
    items, those of the segment. Null without a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 3], "rank": [1, 2]})
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4, 4], "item": [1, 1, 1, 1, 3]})
    >>> df.rec(train=train).long_tail_share(k=10)
    0.5

    Source: Abdollahpouri, Burke and Mobasher 2019, Managing popularity bias with personalized re-ranking.
    """
    return at.mean(at.in_tail(tail, share).cast(pl.Float64))


@metric(
    over="lists",
    aliases=("aclt",),
    range=COUNT,
    direction="higher",
    formula="items of L in the long tail",
    latex=r"|L \cap T|, \quad T = \text{the long tail}",
)
def long_tail_count(at: AtLists, *, tail: Tail = "interactions", share: Share = 0.8) -> pl.Expr:
    """Number of the list's items that are from the long tail, the less popular items: 0 if none is, at most k.

    Use it to compare with results that report it. Otherwise use `long_tail_share`, which does not grow with the list.

    |L and T|, with `tail` and `share` as in long_tail_share. The source calls it coverage of the tail; the coverage that its
    text describes is tail_coverage. Null without a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 3], "rank": [1, 2]})
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4, 4], "item": [1, 1, 1, 1, 3]})
    >>> df.rec(train=train).long_tail_count(k=10)
    1.0

    Source: Abdollahpouri, Burke and Mobasher 2019, Managing popularity bias with personalized re-ranking, equation 7.
    """
    return pl.when(at.n_listed > 0).then(at.sum(at.in_tail(tail, share).cast(pl.Float64)))


@metric(
    shape="set",
    over="lists",
    range=UNIT,
    direction="higher",
    formula="items of the long tail in any list / items of the long tail",
    latex=r"\frac{|T \cap \bigcup_{u} L_u|}{|T|}, \quad T = \text{the long tail}",
    grows=True,
)
def tail_coverage(at: AtLists, *, tail: Tail = "interactions", share: Share = 0.8) -> pl.Expr:
    """Share of the long tail, the less popular items, that is in anybody's list: 1 is all of it, 0 none.

    Use it for whether rare items are shown at all. Not to compare different numbers of users, as it grows with them: use
    `long_tail_share`.

    |T and the items of any list up to k| / |T|, with `tail` and `share` as in long_tail_share; a set metric. It grows with
    the number of users. 0 without lists; null where there is no tail.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 3], "rank": [1, 2]})
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4, 4, 4], "item": [1, 1, 1, 1, 3, 4]})
    >>> df.rec(train=train).tail_coverage(k=10, share=0.6)
    0.5

    Source: Abdollahpouri, Burke and Mobasher 2019, Managing popularity bias with personalized re-ranking.
    """
    found = at.over_items(at.in_tail(tail, share) & (at.n_lists_with > 0), counts=True)
    return ratio(found, at.fact(attributes.n_tail, tail, share), empty=None)


@metric(
    shape="set",
    over="lists",
    range=(-1.0, math.inf),
    direction="",
    shapes={("average", "users"): "user"},
    formula="(mean popularity of lists - mean popularity of histories) / mean popularity of histories",
    latex=(
        r"\frac{\text{GAP}(\text{lists}) - \text{GAP}(\text{histories})}{\text{GAP}(\text{histories})}"
        "\n"
        r"\text{GAP} = \text{mean over the users of the mean } \text{pop}(i)"
    ),
)
def popularity_lift(at: AtLists, *, average: Literal["ratio", "users"] = "ratio") -> pl.Expr:
    """How much more popular the listed items are than the same users' train items: 0 is as popular, 1 twice as popular.

    Use it for whether a model adds to users' own bias. Not for users who are new in train: use `popularity`.

    (GAP of lists - GAP of histories) / GAP of histories, a GAP the mean over the users of the mean pop(i) of their items; a set
    metric. Users without a list or without train items are left out of both. `average="users"` is the mean over the users of
    their own (list - history) / history instead. Null where no user is left.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [3], "item": [1], "rank": [1]})
    >>> train = pl.DataFrame({"user": [1, 2, 3], "item": [1, 1, 2]})
    >>> df.rec(train=train).popularity_lift(k=10)
    1.0

    Source: Abdollahpouri, Mansoury, Burke and Mobasher 2019, The unfairness of popularity bias in recommendation.
    """
    before = at.fact(attributes.history_popularity)
    gained = at.mean(at.popularity) - before
    if average == "users":
        return ratio(gained, before, empty=None)
    return ratio(
        at.over_lists(gained), at.over_lists(pl.when(gained.is_not_null()).then(before)), empty=None
    )


@metric(
    over="lists",
    range=UNIT,
    direction="",
    formula="items of L that the user has in train / n",
    latex=r"\frac{|L \cap \text{the user's train items}|}{n}",
)
def repeat_rate(at: AtLists) -> pl.Expr:
    """Share of the list that the user already has in train: 1 is all of it, 0 none.

    Use it to check that known items are left out, or how much is bought again. Not for quality: use `precision`.

    |L and train items of the user| / n. 0 for a user who is not in train; null without a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> df.rec(train=pl.DataFrame({"user": [1, 2], "item": [1, 2]})).repeat_rate(k=10)
    0.5

    Source: Castells, Hurley and Vargas 2022, Novelty and diversity in recommender systems.
    """
    return at.mean(at.in_history.cast(pl.Float64))
