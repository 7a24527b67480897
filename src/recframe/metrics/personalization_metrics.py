"""Personalization: differences between the lists of different users.

Symbols in the formulas: L_u is the list of user u up to k, n_u its number of items, U the number of users with such an item.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import UNIT
from recframe.metrics.language.registry import metric

__all__ = ["personalization"]

Similarity = Literal["cosine", "overlap"]
Against = Literal["segment", "all"]


@metric(
    shape="set",
    over="lists",
    range=UNIT,
    direction="higher",
    formula="1 - mean over the pairs of users of |L_u and L_v| / √(n_u · n_v)",
    latex=r"1 - \frac{2}{U (U - 1)} \sum_{u < v} \frac{|L_u \cap L_v|}{\sqrt{n_u \cdot n_v}}",
)
def personalization(
    at: AtLists, *, similarity: Similarity = "cosine", against: Against = "segment"
) -> pl.Expr:
    """How different the lists of two users are, on average: 1 if no two share an item, 0 if all get the same items.

    Use it to find models that show everybody the same. Not for quality, as random lists score high: use `ndcg`.

    1 - the mean over all pairs of users of |L_u and L_v| / √(n_u · n_v), or of |L_u and L_v| / min(n_u, n_v) with
    `similarity="overlap"`; a set metric. It is computed by items, not by pairs: with w_i the sum of 1 / √n_u over the lists
    that have item i, the cosine is 1 - (Σ w_i² - U) / (U · (U - 1)), for lists of any lengths. The pairs are those inside the
    segment; with `against="all"` those of a user of the segment with any other. Users without an item up to k are left out;
    null with fewer than two.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 3], "rank": [1, 2, 1, 2]})
    >>> round(df.rec.personalization(k=10), 6)
    0.5

    Source: recmetrics; jurity's `InterListDiversity`; Jaccard's form cannot be computed by items alone.
    """
    whole = against == "all"
    lists = at.n_lists
    others = (at.in_all(lists) if whole else lists) - 1
    pairs = pl.when((lists > 0) & (others > 0)).then(lists * others)
    length = at.beside(at.n_listed)
    if similarity == "cosine":
        weight = at.per_item(1 / length.sqrt(), bounded=True)
        shared = at.over_items(weight * (at.everywhere(weight) if whole else weight)) - lists
    else:
        shared = at.over_items(at.per_item(at.shared_with_others(length, everywhere=whole)))
        shared = shared if whole else shared * 2
    return (1 - shared / pairs).clip(0.0, 1.0)
