"""Accuracy of the lists: how many relevant items, how high up.

Symbols in the formulas: k is the cut-off; a hit is a relevant item with a rank r up to k, g its gain (its relevance) and
hits(r) the number of hits up to r; n_relevant is the number of the user's relevant items, listed or not; n_listed is the
length of the list, and k is n_listed where no cut-off is given and a formula divides by it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, Literal

import polars as pl

from recframe.metrics.language.at import (
    At,
    harmonic,
    ratio,
    unshifted_discount,
)
from recframe.metrics.language.at import discount as of_rank
from recframe.metrics.language.definition import (
    COUNT,
    UNIT,
    Bounds,
    Definition,
    LogBase,
    Metric,
    Positive,
    Share,
)
from recframe.metrics.language.registry import metric
from recframe.metrics.language.weighing import (
    BY_IPS,
    Average,
    Exponent,
    Weights,
    averaged_ratio,
    corrected_share,
    over_propensities,
    refusal,
)

__all__ = [
    "dcg", "err", "f_score", "hit_rate", "map", "mrr", "ndcg", "precision", "r_precision", "rbp", "recall",
]  # fmt: skip

Gain = Literal["linear", "exp", "binary"]
Discount = Literal["shifted", "unshifted"]
Normalizer = Literal["relevant", "min", "list", "hits", "k", "ranks"]
Offset = Annotated[float, Bounds(above=-1000, below=10)]
Places = Literal["k", "list", "achievable"]
Grade = Annotated[float, Bounds(above=0, below=1000)]
WithoutRelevant = Literal["zero", "one"]
LEAST = 1e-5
"""Lower limit of average precision in a geometric mean, as in trec_eval."""


@metric(
    aliases=("hit", "hits", "hr", "success"),
    range=UNIT,
    direction="higher",
    formula="1 if there is a hit, else 0",
    latex=r"\min(\text{hits},\, 1)",
)
def hit_rate(at: At) -> pl.Expr:
    """Share of the users whose list has at least one relevant item: 1 if every list has one, 0 if none has.

    Use it where one good item is enough. Not for how many are found, or how high: use `recall` or `ndcg`.

    0 without relevant items and without a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rank": [1, 2, 1], "relevance": [0, 1, 0]})
    >>> df.rec.hit_rate(k=2)
    0.5

    Source: Deshpande and Karypis 2004, Item-based top-N recommendation algorithms.
    """
    return at.sum(lambda hit: hit.first_hit)


@metric(
    aliases=("p",),
    range=UNIT,
    ranges=BY_IPS,
    direction="higher",
    formula="hits / k",
    latex=r"\frac{\text{hits}}{k}",
)
def precision(
    at: At,
    *,
    denominator: Places = "k",
    weights: Weights = "none",
    exponent: Exponent = 1.5,
    min_propensity: Share = 1e-4,
    average: Average = "users",
) -> pl.Expr:
    """Share of the first k places that hold a relevant item: 1 if all do, 0 if none does.

    Use it where every place counts the same, as in a row of five offers. Not for users with few relevant items, who cannot
    reach 1: use `recall`; not for the order: use `ndcg`.

    hits / k. A list shorter than k still counts k places; `denominator="list"` divides by min(k, n_listed) and
    `"achievable"` by min(k, n_relevant). Without a cut-off, k is n_listed. 0 where that is 0.

    The mean runs over the users' own values. `average="pooled"`, the micro average, divides the sum of all hits of a segment by
    the sum of all users' denominators: a user weighs as much as their denominator.

    `weights` corrects for relevant items that were not observed, by the π of recall, with its `exponent` and
    `min_propensity`: "ips" is Σ over hits of 1/π / k; "snips" is that times n_relevant / Σ over relevant items of 1/π, up to 1.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [1, 0]})
    >>> df.rec.precision(k=5), df.rec.precision(k=5, denominator="list")
    (0.2, 0.5)

    Source: Manning, Raghavan and Schuetze 2008, Introduction to Information Retrieval, chapter 8.
    """
    places = partial(_places, denominator=denominator)
    if weights == "none":
        return averaged_ratio(at, lambda at: at.n_hits, places, pooled=average == "pooled")
    if average == "pooled":
        raise refusal("precision", weights, "corrects each user's own value", "average='pooled'")
    share = ratio(over_propensities(at, _one, exponent, min_propensity), places(at))
    return corrected_share(at, share, weights, exponent, min_propensity)


def _one(hit: At) -> pl.Expr:
    return hit.hit.cast(pl.Float64)


def _places(at: At, denominator: Places) -> pl.Expr:
    if denominator == "list":
        return at.up_to_k(at.list_length)
    return at.cutoff if denominator == "k" else pl.min_horizontal(at.cutoff, at.n_relevant)


@metric(
    aliases=("r",),
    range=UNIT,
    ranges=BY_IPS,
    direction="higher",
    formula="hits / n_relevant",
    latex=r"\frac{\text{hits}}{n_{\text{relevant}}}",
)
def recall(
    at: At,
    *,
    denominator: Literal["relevant", "capped"] = "relevant",
    weights: Weights = "none",
    exponent: Exponent = 1.5,
    min_propensity: Share = 1e-4,
    average: Average = "users",
) -> pl.Expr:
    """Share of the user's relevant items that are among the first k: 1 if all are, 0 if none is.

    Use it for candidates that a later stage ranks, and where a missed item costs. Not for the order of the list: use `ndcg`.

    hits / n_relevant; `denominator="capped"` divides by min(k, n_relevant), so that a list of hits alone scores 1. 0 without
    relevant items. `average="pooled"`, the micro average, divides the sum of all hits of a segment by the sum of all users'
    denominators: a user weighs as much as their denominator.

    `weights` corrects for relevant items that were not observed. With π the probability that a pair was observed, "snips" is Σ
    over hits of 1/π / Σ over relevant items of 1/π; "ips" is Σ over hits of 1/π / n_relevant, which equals recall where every π
    is 1 and has no upper bound. π is the column of the truth that `rec(propensity="...")` names, raised to `min_propensity`
    where it is lower or missing. Without that column π is, from the train frame, (max(pop(i), 1) / highest pop)^((`exponent` +
    1) / 2), also at least `min_propensity`.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, None], "relevance": [1, 1]})
    >>> df.rec.recall(k=1), df.rec.recall(k=1, denominator="capped")
    (0.5, 1.0)

    Source: Manning, Raghavan and Schuetze 2008, Introduction to Information Retrieval, chapter 8.
    """
    if weights != "none" and denominator != "relevant":
        raise refusal("recall", weights, "has its own denominator", f"denominator={denominator!r}")

    def found(at: At) -> pl.Expr:
        if weights == "none":
            return at.n_hits
        return over_propensities(at, _one, exponent, min_propensity)

    def whole(at: At) -> pl.Expr:
        if weights == "snips":
            return at.inverse_propensities(exponent, min_propensity)
        return at.n_relevant if denominator == "relevant" else at.up_to_k(at.n_relevant)

    return averaged_ratio(at, found, whole, pooled=average == "pooled")


@metric(
    aliases=("f1",),
    range=UNIT,
    direction="higher",
    formula="(1 + b²) P R / (b² P + R) with P = precision, R = recall",
    latex=(
        r"\frac{(1 + b^2)\, P\, R}{b^2 P + R}"
        r", \quad P = \frac{\text{hits}}{k}, \quad R = \frac{\text{hits}}{n_{\text{relevant}}}"
    ),
)
def f_score(
    at: At,
    *,
    beta: Positive = 1,
    denominator: Places = "k",
    average: Literal["users", "means", "pooled"] = "users",
) -> pl.Expr:
    """Precision and recall in one number, their harmonic mean: 1 if all relevant items and no others are listed, 0 if none is.

    Use it where a list is taken as a whole and has a length of its own. Not for ranked lists cut at a fixed k: use `ndcg` or
    `map`.

    (1 + beta²) P R / (beta² P + R), with precision P = hits / k, or with its other `denominator`, and recall R = hits /
    n_relevant; recall weighs `beta` times as much. 0 where both are 0. The mean runs over the users' own F; `average="means"`
    is the F of the mean P and the mean R of all users of a segment, `"pooled"`, the micro average, the F of their pooled P and
    R.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [1, 0]})
    >>> round(df.rec.f_score(k=2), 6)
    0.666667

    Source: van Rijsbergen 1979, Information Retrieval, chapter 7.
    """
    weight = beta**2
    if average == "means":
        p, r = at.mean(precision(denominator=denominator)), at.mean(recall)
        return ratio((1 + weight) * p * r, weight * p + r)
    return averaged_ratio(
        at,
        lambda at: (1 + weight) * at.n_hits,
        lambda at: _places(at, denominator) + weight * at.n_relevant,
        pooled=average == "pooled",
    )


@metric(
    aliases=("ap",),
    range=UNIT,
    direction="higher",
    formula="1/n_relevant · Σ over hits of hits(r) / r",
    latex=r"\frac{1}{n_{\text{relevant}}} \sum_{\text{hits}} \frac{\text{hits}(r)}{r}",
)
def map(  # noqa: A001
    at: At,
    *,
    normalizer: Normalizer = "relevant",
    average: Literal["arithmetic", "geometric"] = "arithmetic",
    without_relevant: WithoutRelevant = "zero",
) -> pl.Expr:
    """Mean average precision, how early the relevant items come: 1 if all come before any other, 0 if none is found.

    Use it for ranked lists with several relevant items, each relevant or not. Not for graded relevance: use `ndcg`. Kaggle's
    MAP@k is `normalizer="min"`.

    1/N · Σ over hits of hits(r) / r, with N = n_relevant, or min(k, n_relevant) (`normalizer="min"`), min(k, n_relevant,
    n_listed) (`"list"`), the number of hits (`"hits"`) or k (`"k"`). A relevant item that was not found adds 0. `"ranks"` is
    the mean of the precision at every rank from 1 to k, hit or not: 1/k · Σ over hits of 1/r + 1/(r + 1) + ... + 1/k. 0 where N
    or k is 0; `without_relevant="one"` makes that 1 for a user without relevant items, as LightGBM does.

    `average="geometric"` is trec_eval's gm_map: exp of the mean of ln max(AP, 0.00001) over the users of a segment, AP the
    user's value above. An improvement of a poor list counts more than the same improvement of a good one.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> round(df.rec.map(k=3), 6)
    0.833333

    Source: Manning, Raghavan and Schuetze 2008, Introduction to Information Retrieval, chapter 8; Robertson 2006, On GMAP.
    """
    if average == "geometric":
        settings = (("normalizer", normalizer), ("without_relevant", without_relevant))
        return at.mean(Metric(Definition("log_map", _log_of_map), settings)).exp()
    if normalizer == "ranks":
        below = harmonic(at.cutoff) - harmonic(at.rank.ceil() - 1)
        share = ratio((at.hit * below.clip(lower_bound=0.0)).sum(), at.cutoff)
        return _if_relevant(at, share, without_relevant)
    count = {
        "relevant": lambda: at.n_relevant,
        "min": lambda: at.up_to_k(at.n_relevant),
        "list": lambda: at.up_to_k(pl.min_horizontal(at.n_relevant, at.list_length)),
        "hits": lambda: at.certain(at.n_hits),
        "k": lambda: at.cutoff,
    }
    share = ratio(at.sum(lambda hit: hit.hits_so_far / hit.rank), count[normalizer]())
    return _if_relevant(at, share, without_relevant)


def _if_relevant(at: At, value: pl.Expr, without_relevant: WithoutRelevant) -> pl.Expr:
    """Return the value of a list, or 1 where a user without relevant items is to have that."""
    if without_relevant == "zero":
        return value
    return pl.when(at.n_relevant > 0).then(value).otherwise(1.0)


def _log_of_map(
    at: At, *, normalizer: Normalizer = "relevant", without_relevant: WithoutRelevant = "zero"
) -> pl.Expr:
    value = map(normalizer=normalizer, without_relevant=without_relevant).value(at)
    return value.clip(lower_bound=LEAST).log()


@metric(
    aliases=("rr",),
    range=UNIT,
    direction="higher",
    formula="1 / rank of the first hit",
    latex=r"\frac{1}{\text{rank of the first hit}}",
)
def mrr(at: At) -> pl.Expr:
    """Mean reciprocal rank, 1 / rank of the first relevant item: 1 if it comes first, 1/2 if second, 0 if it is not listed.

    Use it where a user stops at the first good item. Not for several relevant items: use `map` or `ndcg`.

    0 without a hit.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [0, 1, 1]})
    >>> df.rec.mrr(k=10)
    0.5

    Source: Voorhees 1999, The TREC-8 question answering track report.
    """
    return at.sum(lambda hit: hit.first_hit / hit.rank)


@metric(
    range=COUNT,
    direction="higher",
    formula="Σ over hits of g / log2(r + 1)",
    latex=r"\sum_{\text{hits}} \frac{g}{\log_2(r + 1)}",
)
def dcg(  # noqa: PLR0913
    at: At,
    *,
    gain: Gain = "linear",
    log_base: LogBase = 2,
    discount: Discount = "shifted",
    offset: Offset = 0,
    weights: Weights = "none",
    exponent: Exponent = 1.5,
    min_propensity: Share = 1e-4,
) -> pl.Expr:
    """Discounted cumulative gain, the relevance that is found, less for lower ranks: 0 if none is, no upper limit.

    Use it where the total counts. Not to compare users, whose highest values differ: use `ndcg`.

    Σ over hits of gain / log_b(r + 1), b = `log_base`; with `discount="unshifted"`, as in the paper, by log_b(max(r, b)), so
    that the first b ranks count in full. The gain is the relevance g, 2^g - 1 (`gain="exp"`) or 1 (`"binary"`); `offset` is
    first added to g, and a gain below 0 is 0. 0 without a hit. With `gain="exp"` a relevance above 1000 is an error.

    `weights`, with `exponent` and `min_propensity`, corrects for relevant items that were not observed, as in recall: each hit
    counts 1/π times, and "snips" divides by Σ over relevant items of 1/π; "ips" does not divide.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [3, 0, 1]})
    >>> df.rec.dcg(k=3), df.rec.dcg(k=3, gain="exp")
    (3.5, 7.5)

    Source: Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques; `exp`: Burges et al. 2005.
    """
    shifted = discount == "shifted"

    def worth(hit: At) -> pl.Expr:
        return _gained(hit, gain, offset) * (
            hit.discount if shifted else unshifted_discount(hit.rank, log_base)
        )

    total = (
        at.sum(worth)
        if weights == "none"
        else over_propensities(at, worth, exponent, min_propensity)
    )
    if weights == "snips":
        total = ratio(total, at.inverse_propensities(exponent, min_propensity))
    return total * math.log2(log_base) if shifted else total


def _gained(hit: At, gain: Gain, offset: float) -> pl.Expr:
    """Return what a hit gains, after the offset is added to its grade."""
    one = hit.hit.cast(pl.Float64)
    if gain == "binary":
        return one
    gained = hit.gain if gain == "linear" else hit.exp_gain
    if offset:
        # 2^(g + offset) - 1, out of the 2^g - 1 that brings the check for steep grades along
        gained = gained + one * offset if gain == "linear" else (gained + one) * 2.0**offset - one
    return hit.certain(gained).clip(lower_bound=0.0) if offset < 0 else gained


@metric(
    range=UNIT,
    ranges=BY_IPS,
    direction="higher",
    formula="dcg / dcg of the best order of all relevant items, cut at k",
    latex=(
        r"\frac{\sum_{\text{hits}} g \,/ \log_2(r + 1)}"
        r"{\sum_{j=1}^{\min(k,\, n_{\text{relevant}})} g_{(j)} \,/ \log_2(j + 1)}"
        "\n"
        r"g_{(1)} \geq g_{(2)} \geq \ldots \;\text{ the gains of all relevant items}"
    ),
)
def ndcg(  # noqa: PLR0913
    at: At,
    *,
    gain: Gain = "linear",
    log_base: LogBase = 2,
    ideal: Literal["relevant", "k", "list", "all"] = "relevant",
    discount: Discount = "shifted",
    offset: Offset = 0,
    without_relevant: WithoutRelevant = "zero",
    weights: Weights = "none",
    exponent: Exponent = 1.5,
    min_propensity: Share = 1e-4,
) -> pl.Expr:
    """The list's DCG divided by that of a perfect list: 1 is perfect, 0 has no hit.

    Use it as the first metric of a ranked list: all relevant items count, higher ranks more, and grades are kept. Not where
    only the first hit counts: use `mrr`.

    Normalized discounted cumulative gain: dcg@k / ideal dcg@k. The best order is that of all relevant items, listed or not, cut
    at k; with `ideal="all"` it is not cut; with `ideal="list"` it is that of the hits among the list's own first k; with
    `ideal="k"` it is k relevant items, however many there are, and every gain is 1. `gain`, `discount` and `offset` are those
    of dcg, on both sides. With the shifted discount the base of the logarithm, `log_base`, cancels. 0 without relevant items;
    `without_relevant="one"` makes that 1, as LightGBM does.

    `weights` corrects for relevant items that were not observed, by the π of recall, with its `exponent` and
    `min_propensity`: a hit's gain counts 1/π times. "ips" may exceed 1; "snips" divides by the same sum over the best order of
    all relevant items by gain / π.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, None], "relevance": [0, 1, 1]})
    >>> round(df.rec.ndcg(k=2), 6), round(df.rec.ndcg(k=2, ideal="list"), 6)
    (0.386853, 0.63093)

    Source: Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques.
    """
    shifted = discount == "shifted"
    base = 2 if shifted else log_base
    if ideal == "k":
        best = at.all_discounts if shifted else at.all_unshifted_discounts(log_base)
        gained = dcg(gain="binary", discount=discount, log_base=base)
    else:
        gained = dcg(gain=gain, discount=discount, offset=offset, log_base=base)
        best = at.best(gained.value, ideal)
    if weights != "none":
        gained = gained(weights="ips", exponent=exponent, min_propensity=min_propensity)
    if weights == "snips":
        if ideal not in {"relevant", "all"}:
            raise refusal("ndcg", weights, "has its own best order", f"ideal={ideal!r}")
        best = at.over_most_worth(
            lambda hit: (
                _gained(hit, gain, offset) * hit.inverse_propensity(exponent, min_propensity)
            ),
            of_rank if shifted else partial(unshifted_discount, base=base),
            cut=ideal == "relevant",
        )
    share = ratio(gained.value(at), best)
    share = share.clip(upper_bound=1.0) if weights == "snips" else share
    return _if_relevant(at, share, without_relevant)


@metric(
    aliases=("rprec",),
    range=UNIT,
    direction="higher",
    formula="hits with r <= n_relevant, over n_relevant",
    latex=r"\frac{\text{hits with } r \leq n_{\text{relevant}}}{n_{\text{relevant}}}",
)
def r_precision(at: At, *, without_hit: Literal["zero", "null"] = "zero") -> pl.Expr:
    """Precision of the list cut at the user's number of relevant items: 1 if it holds them all, 0 if none.

    Use it where users have very different numbers of relevant items. Not for a fixed number of places: use `precision`.

    (hits with r <= n_relevant) / n_relevant; with a cut-off only hits up to k count. 0 without relevant items.
    `without_hit="null"` makes every 0 null, so that the mean runs over the lists with such a hit alone.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> df.rec.r_precision()
    0.5

    Source: Manning, Raghavan and Schuetze 2008, Introduction to Information Retrieval, chapter 8.
    """
    hits = at.sum(lambda hit: pl.when(hit.rank <= hit.each_n_relevant).then(hit.hit))
    share = ratio(hits, at.n_relevant)
    return share if without_hit == "zero" else pl.when(at.certain(hits) > 0).then(share)


@metric(
    range=UNIT,
    ranges=BY_IPS,
    direction="higher",
    formula="(1 - p) · Σ over hits of p^(r - 1)",
    latex=r"(1 - p) \sum_{\text{hits}} p^{\,r - 1}",
    tapers=True,
)
def rbp(
    at: At,
    *,
    p: Share = 0.8,
    weights: Weights = "none",
    exponent: Exponent = 1.5,
    min_propensity: Share = 1e-4,
) -> pl.Expr:
    """Rank-biased precision, the relevant share of the items read by a user who may stop after each: 1 is all, 0 none.

    Use it where you know how far users read. Not for lists that are seen at a glance: use `precision`.

    (1 - p) · Σ over hits of p^(r - 1): the user goes on to the next rank with probability `p`. 0 without a hit; 1 only for an
    endless list of hits.

    `weights` corrects for relevant items that were not observed, by the π of recall, with its `exponent` and
    `min_propensity`: "ips" counts a hit 1/π times; "snips" is that times n_relevant / Σ over relevant items of 1/π, up to 1.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 2, "item": [1, 2], "rank": [1, 2], "relevance": [1, 1]})
    >>> round(df.rec.rbp(p=0.5), 6)
    0.75

    Source: Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness.
    """

    def worth(hit: At) -> pl.Expr:
        return hit.hit * hit.geometric_discount(p)

    if weights != "none":
        share = (1 - p) * over_propensities(at, worth, exponent, min_propensity)
        return corrected_share(at, share, weights, exponent, min_propensity)
    return (1 - p) * at.sum(worth)


@metric(
    range=UNIT,
    direction="higher",
    formula="Σ over hits of s / r · Π over better hits of (1 - s), with s = (2^g - 1) / 2^max_grade",
    latex=(
        r"\sum_{\text{hits}} \frac{s}{r} \prod_{\text{better hits}} (1 - s)"
        r", \quad s = \frac{2^g - 1}{2^{\,\text{max grade}}}"
    ),
    tapers=True,
)
def err(at: At, *, max_grade: Grade = 4) -> pl.Expr:
    """Expected reciprocal rank of the item that satisfies the user: near 1 if the first does, 0 if nothing listed is relevant.

    Use it for graded relevance where one excellent item ends the search. Not where users want several: use `ndcg`.

    Σ over hits of s(g) / r · Π over the better ranked hits of (1 - s(g)), with s(g) = (2^g - 1) / 2^max_grade, the probability
    that a hit of relevance g satisfies the user, who then stops. A relevance above `max_grade` counts as `max_grade`. It is a
    parameter and not the highest relevance seen, so that no value depends on other users. 0 without a hit.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 2, "item": [1, 2], "rank": [1, 2], "relevance": [1, 1]})
    >>> df.rec.err(max_grade=1)
    0.625

    Source: Chapelle, Metzler, Zhang and Grinspan 2009, Expected reciprocal rank for graded relevance; gdeval.
    """
    most = math.pow(2, max_grade)
    grade = pl.lit(2.0, dtype=pl.Float64) ** at.gain.clip(upper_bound=max_grade)
    # of the highest grade too above 0, in this order
    unsatisfied = (most - grade + 1) / most
    # NOTE: to take the hit's own factor out again costs a third of a shift along the list.
    still_reading = at.running(unsatisfied.cum_prod()) / unsatisfied
    return ((grade - 1) / most * still_reading / at.rank).sum()
