"""Accuracy counts: hits, first rank, list length and judged share.

Symbols in the formulas: k is the cut-off; a hit is a relevant item with a rank r up to k.
"""

from __future__ import annotations

import math

import polars as pl

from recframe.metrics.language.at import At, ratio
from recframe.metrics.language.definition import COUNT, UNIT
from recframe.metrics.language.registry import metric

__all__ = ["first_rank", "judged", "list_length", "n_hits"]


@metric(
    family="accuracy",
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
    family="accuracy",
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
    family="accuracy",
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
    family="accuracy",
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
