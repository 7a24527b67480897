"""Serendipity: relevant items unlike the user's history or popularity.

Symbols in the formulas: L is a user's list up to k, n its number of items; rel(i) is 1 for an item relevant to the user, or 0.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from recframe.metrics.language.at import ratio
from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import UNIT
from recframe.metrics.language.registry import metric
from recframe.side_info import attributes, sources

__all__ = ["serendipity"]

Against = Literal["history", "popularity", "reference"]


@metric(
    over="lists",
    range=(0.0, 2.0),
    ranges={("against", "popularity"): UNIT, ("against", "reference"): UNIT},
    direction="higher",
    formula="mean over the items i of L of rel(i) · (1 - mean over the train items j of cos(x_i, x_j))",
    latex=(
        r"\frac{1}{n} \sum_{i \in L} \text{rel}(i) \cdot \left(1 - \frac{1}{|T|} \sum_{j \in T} \cos(x_i, x_j)\right)"
        r", \quad T = \text{the user's train items}"
    ),
)
def serendipity(at: AtLists, *, of: str = "", against: Against = "history") -> pl.Expr:
    """Share of the list that is relevant and unlike the user's history: 1 is all of it, 0 none.

    Use it for finds that users would not have looked for. Not for relevance alone: use `precision`; not for surprise alone: use
    `unexpectedness`.

    The mean over the items i of L with a feature of rel(i) · (1 - mean cosine of x_i and the user's train items). The feature
    is the column `of` of the items frame, by default the only one beside the item: a vector, one category or a list of
    categories, see `diversity`; for one category the mean cosine is the category's share of the history. In [0, 1]; for vectors
    with negative numbers in [0, 2]. Null for a list or a history without a feature. The mean runs only over the lists of the
    accuracy metrics' users, by `universe` and `no_relevant`.

    `against="popularity"` needs only train: the mean over L of rel(i) · max(P(r) - P(pop), 0), with P(x) = (N + 1 - x) / N, N
    the size of the catalogue, r the rank and pop the item's place by popularity in train; P is 0 for a cold item. In a segment
    of items, too, N is the whole catalogue, and ranks and places are those of the whole list and of all of train.
    `against="reference"` needs the reference: the share of L that is relevant and not in the reference list up to k. Both are
    in [0, 1] and null without a list.

    Raises a ColumnError where a frame or the column is missing, or it holds no feature.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [1, 1]})
    >>> items = pl.DataFrame({"item": [1, 2, 3, 4], "genre": ["drama", "crime", "drama", "drama"]})
    >>> train = pl.DataFrame({"user": [1, 1], "item": [3, 4]})
    >>> df.rec(train=train, items=items).serendipity(k=10)
    0.5

    Source: Zhang et al. 2012, Auralist: introducing serendipity into music recommendation; RecTools; Ge et al. 2010.
    """
    relevant = at.relevant.cast(pl.Float64)
    if against == "reference":
        return at.mean((at.relevant & ~at.in_reference()).cast(pl.Float64))
    if against == "popularity":
        return at.mean(relevant * _above_popularity(at))
    described = at.has_feature(of).cast(pl.Float64)
    before = at.fact(attributes.n_described_history, of)
    unlike = at.sum(relevant * described) - ratio(
        at.likeness_to_history(of, relevant), before, empty=None
    )
    return ratio(unlike, at.sum(described), empty=None).clip(0.0, 2.0)


def _above_popularity(at: AtLists) -> pl.Expr:
    """Return how much better an item stands in the list than in the order of popularity, over the catalogue's size."""
    n = at.fact(sources.n_whole_catalogue)
    place = at.fact(attributes.place_by_popularity)
    usual = (n + 1 - place).clip(lower_bound=0.0).fill_null(0.0)
    return ratio((n + 1 - at.rank - usual).clip(lower_bound=0.0), n, empty=None)
