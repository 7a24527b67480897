"""Rank metrics: places of all relevant items, nearness to the ideal list.

Symbols in the formulas: k is the cut-off; a hit is a relevant item with a rank r up to k; n_relevant is the number of the
user's relevant items, listed or not.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from recframe.metrics.language.at import At, harmonic, ratio
from recframe.metrics.language.definition import UNIT
from recframe.metrics.language.registry import metric

__all__ = ["ncrr"]


@metric(
    family="accuracy",
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
