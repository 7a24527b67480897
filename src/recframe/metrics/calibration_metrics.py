"""Calibration: category shares of the list against the user's history.

Symbols in the formulas: L is a user's list up to k, p(g) the share of category g in the user's train items, q(g) its share in
L; an item of several categories is split among them, and one without a category is left out.
"""

from __future__ import annotations

import math
from typing import Literal

import polars as pl

from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import COUNT, UNIT, LogBase, Share
from recframe.metrics.language.registry import metric
from recframe.side_info import attributes

__all__ = ["miscalibration"]


@metric(
    over="lists",
    aliases=("calibration",),
    range=COUNT,
    ranges={("divergence", "hellinger"): UNIT},
    direction="lower",
    formula="Σ over g of p(g) · log2(p(g) / ((1 - a) · q(g) + a · p(g)))",
    latex=r"\sum_{g} p(g) \cdot \log_2 \frac{p(g)}{(1 - a)\, q(g) + a\, p(g)}, \quad a = \text{alpha}",
)
def miscalibration(
    at: AtLists,
    *,
    of: str = "",
    divergence: Literal["kl", "js", "hellinger"] = "kl",
    alpha: Share = 0.01,
    log_base: LogBase = 2,
    weight: Literal["none", "log", "reciprocal"] = "none",
) -> pl.Expr:
    """Distance of the list's mix of categories from that of the user's history: 0 is the same mix; larger is further.

    Use it where each of a user's tastes should get its share. Not for finding new tastes: use `diversity` or `serendipity`.

    Σ over g of p(g) · log_b(p(g) / ((1 - a) · q(g) + a · p(g))), a = `alpha` and b = `log_base`; at most -log_b(a).
    `divergence="js"` is the Jensen-Shannon divergence, at most log_b(2), and `"hellinger"` √(1 - Σ √(p · q)), at most 1;
    neither is smoothed. In q an item of rank r weighs 1, or 1 / log2(r + 1) with `weight="log"`, or 1 / r with
    `"reciprocal"`. Null where the list or the history has no item with a category.

    Raises a ColumnError where a frame or the column `of` of the items is missing, or it holds no categories, see `diversity`.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> items = pl.DataFrame({"item": [1, 2, 3], "genre": ["drama", "crime", "drama"]})
    >>> train = pl.DataFrame({"user": [1], "item": [3]})
    >>> round(df.rec(train=train, items=items).miscalibration(k=10), 6)
    0.985645

    Source: Steck 2018, Calibrated recommendations.
    """
    weighed = at.weight(weight)
    total = at.sum(pl.when(at.has_feature(of)).then(weighed))
    described = at.fact(attributes.n_described_history, of)
    p = at.fact(attributes.history_in_category, of).fill_null(0.0) / described
    q = at.in_category(of, weighed * at.category_share) / at.beside_categories(total)
    # NOTE: the rest is exactly 0 where the list has all categories of the history, as the root of 1e-16 would be 1e-8.
    covers = at.over_categories(of, p > 0) == at.fact(attributes.n_categories_of_history, of)
    rest = pl.when(covers).then(0.0).otherwise((1 - at.over_categories(of, p)).clip(0.0, 1.0))
    half = (p + q) / 2
    one, of_rest = {
        "kl": (_relative(p, (1 - alpha) * q + alpha * p), -math.log(alpha)),
        "js": ((_relative(p, half) + _relative(q, half)) / 2, math.log(2) / 2),
        # half the square of the distance of the roots
        "hellinger": ((p.sqrt() - q.sqrt()) ** 2 / 2, 0.5),
    }[divergence]
    value = (at.over_categories(of, one) + of_rest * rest).clip(lower_bound=0.0)
    value = value.sqrt() if divergence == "hellinger" else value / math.log(log_base)
    return pl.when((total > 0) & (described > 0)).then(value)


def _relative(share: pl.Expr, other: pl.Expr) -> pl.Expr:
    return pl.when(share > 0).then(share * (share / other).log()).otherwise(0.0)
