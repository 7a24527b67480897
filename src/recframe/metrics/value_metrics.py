"""Value of the hits by an item's number: price, margin, minutes.

Symbols in the formulas: a hit is a relevant item with a rank r up to k, and v what its item is worth.
"""

from __future__ import annotations

import math
from typing import Literal

import polars as pl

from recframe.metrics.language.at import At, ratio
from recframe.metrics.language.at import discount as of_rank
from recframe.metrics.language.definition import UNIT
from recframe.metrics.language.registry import metric

__all__ = ["value"]


@metric(
    aliases=("revenue",),
    range=(-math.inf, math.inf),
    ranges={("normalizer", "best"): UNIT, ("normalizer", "relevant"): UNIT},
    direction="higher",
    formula="Σ over hits of v",
    latex=r"\sum_{\text{hits}} v",
)
def value(
    at: At,
    *,
    of: str = "",
    normalizer: Literal["none", "best", "relevant"] = "none",
    discount: Literal["none", "log"] = "none",
) -> pl.Expr:
    """Worth of the relevant items among the first k, such as their prices: 0 if none is found, no upper limit.

    Use it for revenue, margin or minutes. Not for relevance alone: use `ndcg`.

    Σ over hits of v, with v the column `of` of the items frame, by default the only one beside the item; `discount="log"`
    divides each v by log2(r + 1). With prices its mean over the users is the revenue per user. `normalizer="best"` divides by
    the same sum over the k relevant items that are worth most, listed or not; `"relevant"` by that over all relevant items.

    The mean runs over the users of the accuracy metrics: 0 without a hit, a list or a relevant item. An item whose number is
    null, NaN or infinite, or that the items frame does not have, adds nothing; a normalizer of 0 gives null where there are
    relevant items. Without a normalizer v may be negative, such as a margin.

    Raises a ColumnError where the items frame or the column is missing, or it holds no numbers; and with a normalizer a
    DataError where a relevant item is worth less than 0.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "rank": [1, 2, None], "relevance": [1, 0, 1]})
    >>> items = pl.DataFrame({"item": [1, 2, 3], "price": [10.0, 99.0, 30.0]})
    >>> df.rec(items=items).value(k=2), df.rec(items=items).value(k=2, normalizer="best")
    (10.0, 0.25)

    Source: Louca et al. 2019, Joint optimization of profit and relevance for recommendation systems in e-commerce.
    """

    def worth(rank: pl.Expr, number: pl.Expr) -> pl.Expr:
        return number if discount == "none" else number * of_rank(rank)

    total = at.over_hits_by_value(of, worth)
    if normalizer == "none":
        return total
    whole = at.over_best_by_value(of, worth, cut=normalizer == "best")
    share = ratio(total, whole).clip(0.0, 1.0)
    return pl.when((whole > 0) | (at.n_relevant == 0)).then(share)
