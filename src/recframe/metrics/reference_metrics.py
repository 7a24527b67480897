"""Agreement with reference lists of the same users.

Symbols in the formulas: L is a user's list up to k, n its number of items, B the user's reference list up to k. The reference
is bound as `rec(reference=...)`, a frame of lists or the name of a model. A metric is null for a list without an item up to
k, and the mean runs over the others; a user without a reference list has an empty one.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import polars as pl

from recframe.metrics.language.at import ratio
from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import COUNT, UNIT, Bounds, Share
from recframe.metrics.language.registry import metric
from recframe.side_info import reference_lists

__all__ = ["least_item_promoted", "overlap", "rbo", "unexpectedness"]

Places = Literal["list", "k"]
Depth = Annotated[float, Bounds(above=-1)]


@metric(
    over="lists",
    range=UNIT,
    direction="",
    formula="items of L and B / n",
    latex=r"\frac{|L \cap B|}{n}",
)
def overlap(at: AtLists, *, reference_k: Depth = 0, denominator: Places = "list") -> pl.Expr:
    """Share of the list that the user's reference list has too: 1 is all of it, 0 none.

    Use it for how much a new model changes the lists. Not for their order: use `rbo`; not for quality: use `ndcg`.

    |L and B| / n, B cut at k, or at `reference_k` where that is not 0; `denominator="k"` divides by k also for a short list
    (by n where there is no k). 0 without a reference list; null without a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> popular = pl.DataFrame({"user": [1, 1], "item": [2, 3], "rank": [1, 2]})
    >>> df.rec(reference=popular).overlap(k=2)
    0.5

    Source: RecTools' `Intersection`.
    """
    return _share(at, at.in_reference(reference_k), denominator)


@metric(
    over="lists",
    range=UNIT,
    direction="higher",
    formula="1 - items of L and B / n",
    latex=r"1 - \frac{|L \cap B|}{n}",
)
def unexpectedness(
    at: AtLists,
    *,
    reference_k: Depth = 0,
    denominator: Places = "list",
    without_reference: Literal["one", "zero"] = "one",
) -> pl.Expr:
    """Share of the list that the user's reference list does not have: 1 is all of it, 0 none.

    Use it against an obvious list, such as the most popular items. Not alone, as random lists score high: use `serendipity`.

    1 - |L and B| / n, B cut at k, or at `reference_k` where that is not 0; `denominator="k"` divides by k, so that empty places
    of a short list count as unexpected. 1 without a reference list; `without_reference="zero"` makes that 0 (RePlay has both).
    Null without a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> popular = pl.DataFrame({"user": [1, 1], "item": [2, 3], "rank": [1, 2]})
    >>> df.rec(reference=popular).unexpectedness(k=2)
    0.5

    Source: Murakami, Mori and Orihara 2008, Metrics for evaluating the serendipity of recommendation lists; RePlay.
    """
    found = at.in_reference(reference_k)
    value = (
        at.mean((~found).cast(pl.Float64))
        if denominator == "list"
        else 1 - _share(at, found, denominator)
    )
    if without_reference == "one":
        return value
    return pl.when(at.has_reference | value.is_null()).then(value).otherwise(0.0)


@metric(
    over="lists",
    range=COUNT,
    direction="",
    formula="max(0, max over the items of L of q - k), q their rank in the reference list",
    latex=r"\max\left(0,\ \max_{i \in L} q_i - k\right), \quad q_i = \text{rank of } i \text{ in the reference list}",
)
def least_item_promoted(at: AtLists) -> pl.Expr:
    """Number of places below the cut-off from which the list took an item of the reference list: 0 if from none.

    Use it for a list that was made by reordering the reference list. Not for how many items it changed: use `overlap`.

    max(0, max q - k), q the rank of an item of L in the whole reference list; without a cut-off k is n. Items that the
    reference list does not have are left out; 0 where it has none of them. Null without a list or a reference list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": ["a", "d"], "rank": [1, 2]})
    >>> before = pl.DataFrame({"user": [1] * 5, "item": ["a", "b", "c", "d", "e"], "rank": [1, 2, 3, 4, 5]})
    >>> df.rec(reference=before).least_item_promoted(k=2)
    2.0

    Source: LensKit's `least_item_promoted`, which counts places from 0 and so gives one less where ours is above 0.
    """
    rank = at.fact(reference_lists.reference_rank)
    below = at.highest(rank) - (at.n_listed if at.k is None else at.k)
    value = below.clip(lower_bound=0.0).fill_null(0.0)
    return pl.when((at.n_listed > 0) & at.has_reference).then(value)


def _share(at: AtLists, found: pl.Expr, denominator: Places) -> pl.Expr:
    """Return how many of the items a word is true of, over n or k."""
    one = found.cast(pl.Float64)
    if denominator == "list" or at.k is None:
        return at.mean(one)
    # NOTE: with repeated ranks more than k items may stand up to k.
    return pl.when(at.n_listed > 0).then((at.sum(one) / at.k).clip(upper_bound=1.0))


@metric(
    over="lists",
    range=UNIT,
    direction="",
    formula="(1 - p) · Σ over depths d of p^(d - 1) · items of L and B up to d / d, beyond the lists as at their end",
    latex=(
        r"(1 - p) \sum_{d = 1}^{\infty} p^{\,d - 1} \, \frac{X_d}{d}"
        "\n"
        r"X_d = \text{items that the first } d \text{ places of both have in common}"
    ),
    tapers=True,
)
def rbo(
    at: AtLists,
    *,
    p: Share = 0.9,
    form: Literal["extrapolated", "min", "truncated"] = "extrapolated",
) -> pl.Expr:
    """Rank-biased overlap, how far two rankings agree, above all at the top: 1 is the same order, 0 no item in common.

    Use it for whether two models, or two trainings of one, rank alike. Not where the order does not matter: use `overlap`.

    (1 - p) · Σ over d = 1, 2, ... of p^(d - 1) · X_d / d, X_d the number of items that the first d places of both lists have in
    common; `p` is the probability that a reader goes on to the next place. `form` says what counts after the lists end:
    "extrapolated" continues the agreement at their ends (equation 32 of the source; 1 for a list against itself, 0 for lists
    without a common item); "min" assumes no further common item (equation 11, below 1 for a list against itself); "truncated"
    is the mean over the depths of both lists, weighted by p^(d - 1). "min" and "truncated" ignore the rest of the longer list.
    Places count, not ranks: gaps are closed, and equal ranks are ordered by item. 0 without a reference list; null without a
    list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "item": ["a", "b", "c", "d"], "rank": [1, 2, 3, 4]})
    >>> other = pl.DataFrame({"user": [1] * 4, "item": ["b", "a", "d", "c"], "rank": [1, 2, 3, 4]})
    >>> round(df.rec(reference=other).rbo(), 6)
    0.873

    Source: Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings.
    """
    found = at.fact(reference_lists.agreement, p, at.k or 0).struct
    both = reference_lists.Agreement(*map(found.field, reference_lists.Agreement.__annotations__))
    further = (1 - p) / p
    s, l, end = both.shorter, both.longer, _power(p, both.shorter)  # noqa: E741  the source's letter
    at_end = ratio(both.common_in_shorter, s)
    if form == "min":
        value = further * -(both.common_in_shorter * math.log1p(-p) + both.before_in_shorter)
    elif form == "truncated":
        value = further * ratio(
            both.common_in_shorter * both.sum_to_shorter - both.before_in_shorter, 1 - end
        )
    else:
        inside = both.common * both.sum_to_longer - both.before
        beyond = p * (end - _power(p, l)) / (1 - p) - s * (both.sum_to_longer - both.sum_to_shorter)
        rest = (ratio(both.common - both.common_in_shorter, l) + at_end) * _power(p, l)
        value = further * (inside + at_end * beyond) + rest
    return pl.when(at.n_listed > 0).then(value.clip(0.0, 1.0))


def _power(p: float, place: pl.Expr) -> pl.Expr:
    return (place * math.log(p)).exp()
