"""Accuracy curves: precision over recall, and hits over misses (AUC).

Symbols in the formulas: a hit is a relevant item with a rank r up to k, hits(r) the number of hits up to r; n_relevant is
the number of the user's relevant items, listed or not.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from recframe.metrics.language.at import At, ratio
from recframe.metrics.language.definition import UNIT, Closed, Definition, Metric, Positive, Share
from recframe.metrics.language.registry import metric
from recframe.metrics.language.weighing import BY_IPS, Exponent, Weights, refusal

__all__ = [
    "auc",
    "bpref",
    "eleven_point_precision",
    "gauc",
    "interpolated_precision",
    "partial_auc",
]

TINY = 1e-9
OfUser = Literal["impressions", "relevant", "pairs"]
Rounding = Literal["up", "tenth", "nearest"]


@metric(
    aliases=("iprec",),
    range=UNIT,
    direction="higher",
    formula="highest hits(r) / r over the hits with hits(r) >= recall · n_relevant",
    latex=r"\max_{\text{hits}(r) \,\geq\, \text{recall} \,\cdot\, n_{\text{relevant}}} \frac{\text{hits}(r)}{r}",
)
def interpolated_precision(at: At, *, recall: Closed = 0.5, rounding: Rounding = "up") -> pl.Expr:
    """Highest precision at a rank where a share `recall` of the relevant items is found: 1 is best, 0 if it never is.

    Use it to draw a precision-recall curve. Not as the one number of a model: use `map`.

    Highest hits(r) / r over the hits with hits(r) >= `recall` · n_relevant. 0 where the list does not reach that recall, and
    without a hit. Its means at the recalls 0, 0.1, ..., 1 are the curve of precision over recall.

    So `recall` · n_relevant is rounded up to whole items. trec_eval needs fewer for some lists: version 9 and pytrec_eval the
    whole part of `recall` · n_relevant + 0.9 (`rounding="tenth"`; in floating point, so that 0.7 of 3 items are 2), version 10
    the nearest whole number, halves up (`"nearest"`).

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> round(df.rec.interpolated_precision(recall=1), 6), df.rec.interpolated_precision(recall=0.5)
    (0.666667, 1.0)

    Source: Manning, Raghavan and Schuetze 2008, Introduction to Information Retrieval, chapter 8.
    """
    wanted = recall * at.each_n_relevant
    # NOTE: a recall as people write it is no sum of powers of two: 0.55 of 100 items is to be 55 of them.
    fewest = {
        "up": wanted - TINY,
        "tenth": (wanted + 0.9).floor(),
        "nearest": (wanted + 0.5).floor(),
    }
    enough = at.certain(at.hits_so_far) >= fewest[rounding]
    return pl.when(enough).then(at.hits_so_far / at.rank).max().fill_null(0.0)


@metric(
    range=UNIT,
    direction="higher",
    formula="1/11 · Σ over the recalls 0, 0.1, ..., 1 of interpolated_precision",
    latex=(
        r"\frac{1}{11} \sum_{x \in \{0,\, 0.1,\, \ldots,\, 1\}} "
        r"\max_{\text{hits}(r) \,\geq\, x \,\cdot\, n_{\text{relevant}}} \frac{\text{hits}(r)}{r}"
    ),
)
def eleven_point_precision(at: At, *, rounding: Rounding = "up") -> pl.Expr:
    """Mean of the precision-recall curve at recalls 0, 0.1, ..., 1: 1 if all relevant items come first, 0 if none is listed.

    Use it to compare with results that report it, such as TREC's. Otherwise use `map`.

    1/11 · Σ over x = 0, 0.1, ..., 1 of the highest hits(r) / r over the hits with hits(r) >= x · n_relevant. A recall that the
    list does not reach adds 0. 0 without a hit, and without relevant items. `rounding` is that of interpolated_precision.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> round(df.rec.eleven_point_precision(), 6)
    0.848485

    Source: Manning, Raghavan and Schuetze 2008, Introduction to Information Retrieval, chapter 8; trec_eval's 11pt_avg.
    """
    points = [
        interpolated_precision(recall=tenth / 10, rounding=rounding).value(at)
        for tenth in range(11)
    ]
    return pl.sum_horizontal(points) / len(points)


@metric(
    range=UNIT,
    ranges=BY_IPS,
    direction="higher",
    formula="share of the list's (relevant, not relevant) pairs in the right order",
    latex=(
        r"1 - \frac{\sum_{\text{relevant, listed}} \text{not relevant items above}}"
        r"{\text{relevant} \cdot \text{not relevant items of the list}}"
    ),
)
def auc(
    at: At,
    *,
    over: Literal["list", "catalogue"] = "list",
    without_pair: Literal["null", "hit"] = "null",
    weights: Weights = "none",
    exponent: Exponent = 1.5,
    min_propensity: Share = 1e-4,
) -> pl.Expr:
    """Chance that a relevant item of the list ranks above a not relevant one: 1 is always, 0.5 random order, 0 never.

    Use it for lists that were shown, with and without clicks. Not for the top of long lists: use `ndcg`; weighted by list
    length: `gauc`.

    1 - Σ over the relevant items of the list of (not relevant items above) / (relevant · not relevant items in the list); a
    pair of equal ranks counts a half. A cut-off cuts the list first. Null for a list without such a pair; `without_pair="hit"`
    makes that 1 with a hit and 0 without one or without a list, as RePlay's RocAuc does.

    `over="catalogue"` takes the pairs of all items of the catalogue, as implicit does: each of the first k places without a hit
    is a not relevant item, and all items after k share the last place, so that a pair of them counts a half. With m = k - hits,
    P the number of the user's relevant items and N that of the others, at least m, it is (Σ over hits of (m - (r - hits(r))) +
    (hits + P) / 2 · (N - m)) / (P · N).

    `weights` corrects for relevant items that were not observed, by the π of recall, with its `exponent` and `min_propensity`:
    the pairs of a relevant item of the list count 1/π times. "ips" still divides by the number of these items, so that the
    value may exceed 1; "snips" divides by their Σ of 1/π.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> df.rec.auc()
    0.5

    Source: Hanley and McNeil 1982, The meaning and use of the area under a ROC curve.
    """
    if over == "catalogue":
        if weights != "none":
            raise refusal("auc", weights, "takes the pairs of the list", "over='catalogue'")
        hits, share = at.n_hits_in_catalogue, _auc_of_catalogue(at)
    else:
        hits, listed = at.relevant.sum().cast(pl.Float64), at.listed.sum()
        pairs = hits * (listed - hits)
        share = 1 - at.misses_above.sum() / pairs
        if weights != "none":
            weight = at.relevant_inverse_propensity(exponent, min_propensity)
            whole = hits if weights == "ips" else weight.sum()
            share = (weight.sum() - (weight * at.misses_above).sum() / (listed - hits)) / whole
            share = share.clip(lower_bound=0.0)
        share = pl.when(pairs > 0).then(share)
    return share if without_pair == "null" else share.fill_null((hits > 0).cast(pl.Float64))


def _auc_of_catalogue(at: At) -> pl.Expr:
    """Return the share of the pairs of the catalogue's items in the right order, those behind k all at the last place."""
    hits = at.n_hits_in_catalogue.cast(pl.Float64)
    misses = (at.cutoff - hits).clip(lower_bound=0.0)
    relevant = at.n_relevant_in_catalogue.cast(pl.Float64)
    others = pl.max_horizontal(at.n_catalogue - relevant, misses)
    above = at.ranks_of_hits_in_catalogue - hits * (hits + 1) / 2
    ordered = (hits * misses - above).clip(lower_bound=0.0)
    ordered += (hits + relevant) / 2 * (others - misses)
    return pl.when(relevant * others > 0).then(ordered / (relevant * others))


@metric(
    range=UNIT,
    direction="higher",
    formula="1/R · Σ over relevant listed of 1 - min(judged misses above, R) / min(R, N)",
    latex=(
        r"\frac{1}{R} \sum_{\text{relevant, listed}} \left(1 - \frac{\min(n, R)}{\min(R, N)}\right)"
        "\n"
        r"R,\, N:\text{ judged relevant, not relevant};\quad n:\text{ of these } N \text{ above the item}"
    ),
)
def bpref(at: At) -> pl.Expr:
    """Binary preference, how often relevant items come before those judged not relevant: 1 is always, 0 never.

    Use it where many items were never judged and some were judged not relevant. Not without the latter: it equals `recall`
    then.

    1/R · Σ over the relevant items of the list of 1 - min(n, R) / min(R, N), with n the number of items above it that are
    judged not relevant, R = n_relevant and N the number of items judged not relevant, listed or not. A cut-off cuts the list
    first. Items without a judgement are ignored. Equal to recall where no item is judged not relevant; 0 without relevant
    items.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> df.rec.bpref()
    0.5

    Source: Buckley and Voorhees 2004, Retrieval evaluation with incomplete information; trec_eval's form.
    """
    most = pl.min_horizontal(at.each_n_relevant, at.each_n_not_relevant)
    lost = pl.when(at.judged_misses_above > 0).then(at.judged_misses_above / most).otherwise(0.0)
    kept = pl.when(at.relevant).then(1 - lost.clip(upper_bound=1.0))
    return ratio(kept.sum(), at.n_relevant)


@metric(
    aliases=("pauc",),
    range=UNIT,
    direction="higher",
    formula="Σ over hits of max(misses - misses above, 0) / (misses · n_relevant)",
    latex=(
        r"\frac{\sum_{\text{hits}} \max(m - (r - \text{hits}(r)),\, 0)}{m \cdot n_{\text{relevant}}}"
        r", \quad m = \text{misses}"
    ),
)
def partial_auc(at: At, *, misses: Positive = 10, hits: Literal["all", "first"] = "all") -> pl.Expr:
    """Share of the pairs of a relevant item and one of the first misses that are in the right order: 1 is all, 0 none.

    Use it for AUC of the top of the list alone. Not for graded relevance: use `ndcg`.

    Σ over hits of max(m - (r - hits(r)), 0) / (m · n_relevant), m = `misses` and r - hits(r) the number of misses above. A
    relevant item that was not found adds 0. `hits="first"` takes only the first m hits, over m · min(m, n_relevant). A cut-off
    cuts the list first. 0 without relevant items.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> df.rec.partial_auc(misses=2)
    0.75

    Source: RecTools' `PartialAUC` and, of the first hits, `PAP`; Budhiraja et al. 2020, Rich-item recommendations.
    """
    found = at.certain(at.hits_so_far)
    above = (misses - (at.rank - found)).clip(lower_bound=0.0)
    if hits == "all":
        return ratio(above.sum(), misses * at.n_relevant)
    counted = pl.when(found <= misses).then(above)
    return ratio(counted.sum(), misses * pl.min_horizontal(at.n_relevant, pl.lit(misses)))


@metric(
    range=UNIT,
    direction="higher",
    formula="Σ over users of n_listed · auc / Σ over users of n_listed, of those with a pair",
    latex=(
        r"\frac{\sum_{u} n_{\text{listed}}(u) \cdot \text{auc}(u)}{\sum_{u} n_{\text{listed}}(u)}, "
        r"\quad u \text{ over the users with a pair}"
    ),
)
def gauc(at: At, *, weight: OfUser = "impressions") -> pl.Expr:
    """Grouped AUC, how often a user's relevant items rank above the others, weighted by list length: 1 always, 0.5 random.

    Use it for click models on lists that were shown. Not where each user counts the same: use `auc`.

    Σ over users of w · auc / Σ over users of w, over the users whose list has a relevant and a not relevant item. w = n_listed,
    the impressions; with `weight="relevant"` it is the number of relevant items of the list (RecBole's GAUC), with `"pairs"`
    relevant · not relevant items, so that all pairs weigh the same. A cut-off cuts the lists first. Null without such a user.

    `auc` (UAUC) weights all users the same; gauc is WUAUC. A pooled AUC over the rows of all users compares the scores of
    different users, which lists do not have: use sklearn.metrics.roc_auc_score.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame(
    ...     {"user": [1, 1, 2, 2, 2], "item": [1, 2, 1, 2, 3], "rank": [1, 2, 1, 2, 3], "relevance": [1, 0, 0, 0, 1]}
    ... )
    >>> df.rec.gauc(), df.rec.auc()
    (0.4, 0.5)

    Source: Zhou et al. 2018, Deep interest network for click-through rate prediction; Zhu et al. 2017.
    """
    settings = (("weight", weight),)
    weighed: Metric[...] = Metric(Definition("weighed_auc", _weighed), settings)
    weights: Metric[...] = Metric(Definition("weight_of_auc", _weight), settings)
    return ratio(at.mean(weighed), at.mean(weights), empty=None)


def _weighed(at: At, *, weight: OfUser = "impressions") -> pl.Expr:
    return auc.value(at) * _weight(at, weight=weight)


def _weight(at: At, *, weight: OfUser) -> pl.Expr:
    """Return what a list's auc weighs; null without a pair, as the auc is."""
    relevant, listed = at.relevant.sum().cast(pl.Float64), at.listed.sum().cast(pl.Float64)
    pairs = relevant * (listed - relevant)
    weights = {"impressions": listed, "relevant": relevant, "pairs": pairs}
    return pl.when(pairs > 0).then(weights[weight])
