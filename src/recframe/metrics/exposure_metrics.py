"""Exposure of item groups: shares of places and disparity.

Symbols in the formulas: L is a user's list up to k; a group g is a set of items with one property, and A is the number of
groups; w(r) is what a rank r weighs. Both metrics are of all lists of a segment together, and no means of users' values: a
segment of a few users has few places.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from recframe.metrics.language.at import ratio
from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import COUNT, UNIT
from recframe.metrics.language.registry import metric
from recframe.side_info.groups_of_items import Target

__all__ = ["exposure_disparity", "exposure_share"]


@metric(
    shape="set",
    over="lists",
    range=UNIT,
    direction="",
    formula="Σ over the rows of g of w(r) / Σ over all rows of w(r)",
    latex=r"\frac{\sum_{\text{rows of } g} w(r)}{\sum_{\text{all rows}} w(r)}",
)
def exposure_share(at: AtLists, *, weight: Literal["none", "log"] = "none") -> pl.Expr:
    """Share of the places of all lists that a group of items gets: 1 is all of them, 0 none.

    Use it for who is shown: brands, sellers, languages. Not for whether groups of different sizes have equal chances: use
    `exposure_disparity`.

    Σ over the rows of g of w(r) / Σ over all rows of w(r), up to k, with w(r) = 1, or 1 / log2(r + 1) with `weight="log"`; a
    set metric. The groups are the values of a property of items in `by=`; a list of categories is one value. With `by=["genre",
    "country"]` it is the genre's share of the places of the country's users: the shares of all genres sum to 1. Without a
    property of items in `by=` it is 1. Null where nobody has a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "rank": [1, 2, 3]})
    >>> items = pl.DataFrame({"item": [1, 2, 3], "genre": ["a", "b", "a"]})
    >>> df.rec(items=items).exposure_share(k=2, by="genre")
    shape: (2, 4)
    ┌───────┬─────────┬─────────┬──────────────────┐
    │ genre ┆ n_users ┆ n_lists ┆ exposure_share@2 │
    │ ---   ┆ ---     ┆ ---     ┆ ---              │
    │ str   ┆ i64     ┆ i64     ┆ f64              │
    ╞═══════╪═════════╪═════════╪══════════════════╡
    │ a     ┆ 1       ┆ 1       ┆ 0.5              │
    │ b     ┆ 1       ┆ 1       ┆ 0.5              │
    └───────┴─────────┴─────────┴──────────────────┘

    Source: Singh and Joachims 2018, Fairness of exposure in rankings.
    """
    exposure = at.over_lists(at.sum(at.weight(weight)))
    return ratio(exposure, at.across_items(exposure), empty=None).clip(0.0, 1.0)


@metric(
    shape="set",
    over="lists",
    range=COUNT,
    direction="lower",
    formula="standard deviation over g of P_g / mean over g of P_g, P_g the listed share of the group's items",
    latex=(
        r"\frac{\sqrt{\frac{1}{A} \sum_{g} (P_g - \bar{P})^2}}{\bar{P}}"
        r", \quad P_g = \frac{\sum_{u} |L_u \cap g|}{\sum_{u} |g|}"
        "\n"
        r"\bar{P} = \text{mean of } P_g"
        "\n"
        r"\text{both of items that } u \text{ does not have in train}"
    ),
)
def exposure_disparity(at: AtLists, *, of: str = "", target: Target = "catalogue") -> pl.Expr:
    """Inequality of the chances of item groups to be listed: 0 if they are equal; larger is more unequal.

    Use it for fairness between groups of items. Not for single items: use `gini`.

    Coefficient of variation of P_g over the groups g: standard deviation / mean, with P_g = Σ over users of |L and g| / Σ over
    users of |g|. Only items that the user does not have in train count (RSP, statistical parity); with `target="relevant"` only
    items relevant to the user (REO, equal opportunity). A set metric over the users with a list; at most √(A - 1). `of` names a
    column of items, of one category or of a list of categories, all of which count; it may be left out where there is only one.
    Where the items have no such column, the groups are the head and the tail of popularity, as in long_tail_share. Without a
    train frame no item is left out for a user. A group with nothing to list is left out; null with fewer than two groups, and
    where nothing is listed.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> items = pl.DataFrame({"item": [1, 2, 3, 4], "genre": ["a", "a", "b", "b"]})
    >>> df.rec(items=items).exposure_disparity(k=2)
    1.0

    Source: Zhu, Wang and Caverlee 2020, Measuring and mitigating item under-recommendation bias in personalized ranking.
    """
    share = at.unseen_share(of, target)
    groups, mean = at.over_groups(share.is_not_null().sum()), at.over_groups(share.mean())
    return pl.when(groups > 1).then(ratio(at.over_groups(share.std(ddof=0)), mean, empty=None))
