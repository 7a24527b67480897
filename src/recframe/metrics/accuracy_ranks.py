"""Counts, ranks of hits, and nearness to the ideal list.

Symbols in the formulas: k is the cut-off; a hit is a relevant item with a rank r up to k; n_relevant is the number of the
user's relevant items, listed or not.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Literal

import polars as pl

from recframe.errors import RecframeError
from recframe.metrics import accuracy
from recframe.metrics.language.at import At, geometric_discount, harmonic, ratio
from recframe.metrics.language.definition import COUNT, UNIT, Bounds, Closed
from recframe.metrics.language.registry import metric

__all__ = [
    "compatibility",
    "first_rank",
    "infap",
    "judged",
    "list_length",
    "n_hits",
    "ncrr",
    "recall_at_precision",
]

Persistence = Annotated[float, Bounds(0.001, 0.999, closed=True)]
TINY = 1e-5
"""What smooths the precision of a sample, as in trec_eval."""
MOST_CUTS = 1_000
ROUNDING = 1e-9
"""How far a mean may be below a threshold that it equals but for the order of a sum."""


@metric(
    range=COUNT,
    direction="higher",
    formula="hits",
    latex=r"\text{hits} = \text{relevant items with } r \leq k",
)
def n_hits(at: At) -> pl.Expr:
    """Number of relevant items among the first k: 0 if none is, at most k; more is better.

    Use it for counts in plain numbers. Not to compare cut-offs or users: use `precision` or `recall`.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> df.rec.n_hits(k=3)
    2.0
    """
    return at.n_hits


@metric(
    range=(1.0, math.inf),
    direction="lower",
    formula="rank of the first hit",
    latex=r"\min_{\text{hits}} r",
)
def first_rank(at: At) -> pl.Expr:
    """Rank of the first relevant item in lists that have one: 1 if it always comes first; smaller is better.

    Use it for how far users scroll. Not alone, as lists without a hit are left out: use `mrr`, or show `hit_rate` beside it.

    Null without a hit. With `ties="expected"` and a cut-off it is the expectation over the orders that have a hit.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rank": [1, 2, 1], "relevance": [0, 1, 0]})
    >>> df.rec.first_rank()
    2.0
    """
    found = at.first_hit.sum()
    return pl.when(found > 0).then(at.sum(lambda hit: hit.first_hit * hit.rank) / found)


@metric(
    range=COUNT,
    direction="",
    formula="items with r <= k",
    latex=r"\text{items with } r \leq k",
)
def list_length(at: At) -> pl.Expr:
    """Number of items in the list, up to k: k if it is full, 0 without a list.

    Use it to check that models fill their lists. Not for quality: use `precision`.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, None], "relevance": [0, 1, 1]})
    >>> df.rec.list_length()
    2.0
    """
    return at.listed.sum()


@metric(
    range=UNIT,
    direction="higher",
    formula="judged items with r <= k, over items with r <= k",
    latex=r"\frac{\text{judged items with } r \leq k}{\text{items with } r \leq k}",
)
def judged(at: At) -> pl.Expr:
    """Share of the first k items whose relevance is known: 1 if all were judged, 0 if none was.

    Use it to see whether a low number may come from gaps in the truth. Not for quality: use `precision`.

    Judged items with r <= k, over items with r <= k; 0 for an empty list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 2, "item": [1, 2], "rank": [1, 2], "relevance": [0, None]})
    >>> df.rec.judged(k=2)
    0.5

    Source: ir_measures' Judged@k.
    """
    return ratio(at.judged.sum(), at.listed.sum())


@metric(
    range=UNIT,
    direction="higher",
    formula="Σ over hits of 1 / r, over 1 + 1/2 + ... + 1/m with m = min(k, n_relevant)",
    latex=r"\frac{\sum_{\text{hits}} 1 / r}{\sum_{j=1}^{m} 1 / j}, \quad m = \min(k,\, n_{\text{relevant}})",
)
def ncrr(at: At, *, denominator: Literal["relevant", "list"] = "relevant") -> pl.Expr:
    """Normalized cumulative reciprocal rank of all relevant items: 1 if they come before all others, 0 if none is found.

    Use it as an nDCG whose discount is 1 / r, which falls faster. Not where one relevant item is enough: use `mrr`.

    Σ over hits of 1 / r, over the same sum of a list that begins with the relevant items: 1 + 1/2 + ... + 1/m, m = min(k,
    n_relevant). `denominator="list"` takes m = min(k, n_relevant, n_listed), so that a short list of hits alone scores 1. 0
    without a hit.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 1]})
    >>> round(df.rec.ncrr(k=3), 6)
    0.888889

    Source: Cornac's `NCRR`, which takes m as `denominator="list"` does.
    """
    most = at.n_relevant
    if denominator == "list":
        most = pl.min_horizontal(most, at.list_length)
    found = at.sum(lambda hit: hit.hit / hit.rank)
    return ratio(found, harmonic(at.up_to_k(most))).clip(upper_bound=1.0)


@metric(
    aliases=("compat",),
    range=UNIT,
    direction="higher",
    formula="S(L, I) / S(I, I), S(A, B) = Σ over depths d = 1..D of p^(d - 1) · items of A and B up to d / d",
    latex=(
        r"\frac{S(L, I)}{S(I, I)}, \quad S(A, B) = \sum_{d=1}^{D} p^{d-1} \frac{|A_{1..d} \cap B_{1..d}|}{d}"
    ),
    tapers=True,
)
def compatibility(at: At, *, p: Persistence = 0.95, normalize: bool = True) -> pl.Expr:
    """Agreement of the list with the ideal list that is nearest to it: 1 if it begins with it, 0 if no relevant item is listed.

    Use it where judgements say which of two items is better, not by how much. Not where gains count: use `ndcg`.

    Rank-biased overlap of L with I, all relevant items by relevance descending, those of one relevance in the order of L and
    then those that are not listed. S(A, B) = Σ over d = 1..D of `p`^(d - 1) · |items of both up to d| / d, over Σ of p^(d - 1);
    the value is S(L, I) / S(I, I), with `normalize=False` S(L, I). D is the larger of n, the length of L, and n_relevant; where
    ranks have gaps, at least the rank of the last hit. A cut-off cuts L and never I. 0 without a hit.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 2]})
    >>> round(df.rec.compatibility(p=0.5), 6)
    0.25

    Source: Clarke, Smucker and Vtyurina 2021, Assessing top-k preferences; ir_measures' `Compat`.
    """

    def share(depth: pl.Expr) -> pl.Expr:
        return geometric_discount(depth, p) / depth

    # an item is common from the later of its two places on
    place = pl.max_horizontal(at.rank, at.place_in_best_order).ceil()
    before = at.agreement_before(p)
    to_relevant = at.best(lambda best: share(best.rank).sum(), "all")
    to_end = pl.max_horizontal(
        at.over_places(share), to_relevant, (before + share(place)).max().fill_null(0.0)
    )
    found = at.n_hits * to_end - before.sum()
    relevant = at.n_relevant
    if normalize:
        best = _weights(relevant, p) + relevant * (to_end - to_relevant)
    else:
        n = at.over_places(pl.Expr.is_not_null)
        best = _weights(pl.max_horizontal(n, relevant, place.max()), p)
    return ratio(found, best).clip(0.0, 1.0)


def _weights(n: pl.Expr, p: float) -> pl.Expr:
    """Return 1 + p + ... + p^(n - 1)."""
    return (1 - (n * math.log(p)).exp()) / (1 - p)


@metric(
    aliases=("inferred_ap",),
    range=UNIT,
    direction="higher",
    formula="1/R · Σ over hits of 1/r · (1 + (rel + non + pool) · (rel + e) / (rel + non + 2e)), e = 0.00001",
    latex=(
        r"\frac{1}{R} \sum_{\text{hits}} \frac{1}{r} "
        r"\left(1 + (\text{rel} + \text{non} + \text{pool}) \frac{\text{rel} + e}{\text{rel} + \text{non} + 2e}\right), "
        r"\quad e = 10^{-5}"
    ),
)
def infap(at: At) -> pl.Expr:
    """Average precision inferred from a sample of the judgements: 1 if the relevant items come first, 0 if none is found.

    Use it where only a sample of the pooled items was judged. Not where all were: use `map`.

    1/R · Σ over hits of 1/r · (1 + (rel + non + pool) · (rel + e) / (rel + non + 2e)), R = n_relevant, e = 0.00001. Of the
    items above the hit rel are relevant, non are judged not relevant, and pool were in the pool but not judged, which a
    **relevance below 0** says, such as the -1 of qrels. An item that is not in the truth, or whose relevance is null, was not
    in the pool; where null says that it was, write -1: pl.col("relevance").fill_null(-1). For other metrics a relevance below
    0 is judged not relevant. A cut-off cuts the list first. 0 without a hit.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "item": [1, 2, 3, 4], "rank": [1, 2, 3, 4], "relevance": [1, -1, 0, 1]})
    >>> round(df.rec.infap(), 6), round(df.rec.map(), 6)
    (0.8125, 0.75)

    Source: Yilmaz and Aslam 2006, Estimating average precision with incomplete and imperfect judgments; trec_eval's `infAP`.
    """
    judged = at.hits_above + at.graded_misses_above
    pooled = at.hits_above + at.judged_misses_above
    above = pooled * (at.hits_above + TINY) / (judged + 2 * TINY)
    # more items than ranks may be above one where ranks repeat
    place = pl.max_horizontal(at.relevant_rank, pooled + 1)
    return ratio(((1 + above) / place).sum(), at.n_relevant)


@metric(
    range=UNIT,
    direction="higher",
    formula="max over j = 1..k with P_j >= precision of R_j, the mean precision@j and the mean recall@j of all users",
    latex=(
        r"\max_{j \leq k,\ P_j \geq \text{precision}} R_j, \quad "
        r"P_j,\, R_j = \text{mean precision@}j \text{ and recall@}j"
    ),
)
def recall_at_precision(
    at: At, *, precision: Closed = 0.5, denominator: Literal["k", "list"] = "k"
) -> pl.Expr:
    """Highest mean recall at a cut-off where the mean precision is at least `precision`: 1 is best, 0 if it never is.

    Use it where a share of the places must be right, and the cut-off is free. Not for lists of a fixed length: use `recall`.

    One function of a segment: P_j and R_j are the means over its users of precision@j, with its `denominator`, and recall@j,
    and the value is the highest R_j of j = 1..k with P_j >= `precision`. 0 if there is none.

    Raises a RecframeError without a cut-off, and for one above 1,000, as each j has means of its own.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "item": [1, 2, 3, 4], "rank": [1, 2, 3, 4], "relevance": [1, 0, 0, 1]})
    >>> df.rec.recall_at_precision(k=3), df.rec.recall_at_precision(k=4)
    (0.5, 1.0)

    Source: torchmetrics' `RetrievalRecallAtFixedPrecision`, whose `adaptive_k` is `denominator="list"`.
    """
    if at.k is None or at.k > MOST_CUTS:
        raise RecframeError(
            f"recall_at_precision tries every cut-off up to k, which is at most {MOST_CUTS:,}; write recall_at_precision@10"
        )
    found = []
    for k in range(1, at.k + 1):
        here = replace(at, k=k, cut=False)
        right = here.mean(accuracy.precision(denominator=denominator)) >= precision - ROUNDING
        # null without users, whose means are null
        found.append(pl.when(right).then(here.mean(accuracy.recall)).when(~right).then(0.0))
    return pl.max_horizontal(found)
