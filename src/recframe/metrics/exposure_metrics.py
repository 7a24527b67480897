"""Exposure of item groups: shares of places and disparity.

Symbols in the formulas: L is a user's list up to k; a group g is a set of items with one property, and A is the number of
groups; w(r) is what a rank r weighs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Literal

import polars as pl

from recframe.errors import RecframeError
from recframe.metrics.calibration_metrics import distance_terms
from recframe.metrics.language.at import At, geometric_discount, ratio, unshifted_discount
from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import COUNT, UNIT, OrShares, Share
from recframe.metrics.language.registry import metric
from recframe.side_info.groups_of_items import Target

__all__ = ["awrf", "expected_exposure", "exposure_disparity", "exposure_gap", "exposure_share"]

Shares = Annotated[
    str | Mapping[str, float], OrShares(("uniform", "catalogue", "train", "relevant"))
]


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
    needs=("catalogue",),
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
    share = at.unseen_share(of, target, call="exposure_disparity")
    groups, mean = at.over_groups(share.is_not_null().sum()), at.over_groups(share.mean())
    return pl.when(groups > 1).then(ratio(at.over_groups(share.std(ddof=0)), mean, empty=None))


@metric(
    over="lists",
    needs=("items",),
    range=UNIT,
    direction="higher",
    formula="1 - 1/2 · Σ over g of |e(g) - t(g)|, e(g) = Σ over the items of g of w(r) / Σ over all items of w(r)",
    latex=(
        r"1 - \frac{1}{2} \sum_{g} |e(g) - t(g)|, \quad e(g) = \frac{\sum_{i \in L \cap g} w(r_i)}{\sum_{i \in L} w(r_i)}"
        "\n"
        r"w(r) = \frac{1}{\log_2(r + 1)}, \quad t(g) = \frac{1}{A}"
    ),
)
def awrf(
    at: AtLists,
    *,
    of: str = "",
    target: Shares = "uniform",
    discount: Literal["log2", "unshifted", "geometric"] = "log2",
    p: Share = 0.5,
    distance: Literal["difference", "js"] = "difference",
) -> pl.Expr:
    """Attention-weighted rank fairness, how near the exposure of item groups is to a target: 1 is the target, 0 furthest.

    Use it where each list should show groups of items in given shares. Not for the chances over all lists: use
    `exposure_disparity`; not for the user's own mix: use `miscalibration`.

    1 - d(e, t): e(g) is the share of group g in Σ w(r) over the list's items that have a group, t(g) its target share, and
    d(e, t) = 1/2 · Σ over g of |e(g) - t(g)|, or with `distance="js"` the Jensen-Shannon divergence in nats, at most ln 2. An
    item of several categories is split among them. `target` is "uniform" (1 / A), "catalogue" (the group's share of the items),
    "train" (of the rows of train), "relevant" (of the user's relevant items), or a share for each group of the catalogue.
    w(r) = 1 / log2(r + 1); `discount="unshifted"` is 1 / log2(max(r, 2)), "geometric" p^(r - 1), `p` the chance to go on to the
    next rank (Raj and Ekstrand 2022). Null where no item of the list, or of those that the target is taken from, has a group.

    Raises an error where given shares do not add up to 1, or a group of the catalogue has none; a ColumnError where a frame or
    the column `of` of the items is missing, or holds no categories.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "rank": [1, 2, 3]})
    >>> items = pl.DataFrame({"item": [1, 2, 3, 4], "genre": ["a", "b", "b", "b"]})
    >>> round(df.rec(items=items).awrf(k=3), 6)
    0.969279
    >>> round(df.rec(items=items).awrf(k=3, target={"a": 0.25, "b": 0.75}), 6)
    0.780721

    Source: Sapiezynski et al. 2019, Quantifying the impact of user attention on fair group representation in ranked lists.
    """
    weights = {
        "log2": at.discount,
        "unshifted": unshifted_discount(at.rank, 2),
        "geometric": geometric_discount(at.rank, p),
    }
    weighed = weights[discount]
    total = at.sum(pl.when(at.has_feature(of)).then(weighed))
    share = at.in_category(of, weighed * at.category_share) / at.beside_categories(total)
    wanted = at.target_in_category(of, str(target))
    rest = (1 - at.over_categories(of, wanted)).clip(0.0, 1.0)
    one, of_rest = distance_terms(wanted, share, distance)
    value = 1 - (at.over_categories(of, one) + of_rest * rest)
    has_target = at.over_categories(of, wanted.is_null()) == 0
    return pl.when((total > 0) & has_target).then(value.clip(0.0, 1.0))


@metric(
    shape="set",
    over="lists",
    needs=("relevance", "items"),
    range=COUNT,
    direction="lower",
    formula="mean over pairs of groups of |m(g) - m(h)|, m(g) the mean over listed items of g of a(i)",
    latex=(
        r"\frac{2}{A (A - 1)} \sum_{g < h} |m_g - m_h|"
        "\n"
        r"m_g = \text{mean over listed items of } g \text{ of } a_i"
        "\n"
        r"a_i = \text{mean over lists with } i \text{ of } \frac{\text{gain}}{\log_2(r + 1)}"
    ),
)
def exposure_gap(at: AtLists, *, of: str = "") -> pl.Expr:
    """Mean difference of item groups in the gain that a listed item brings: 0 if all bring the same; larger is more unequal.

    Use it for whether items of some groups, where they are listed, serve users worse. Not for how often they are listed: use
    `exposure_disparity`; not for groups of users: use `rec.gaps`, whose column mad is the same mean.

    Mean over unordered pairs of groups of |m(g) - m(h)|, m(g) the mean of a(i) over the group's items in any list up to k, a(i)
    the mean over the lists with i of gain / log2(r + 1), where an item that is not relevant to the user has gain 0. An item of
    several categories counts whole in each. A set metric over the lists of the users whom the accuracy metrics run over. `of`
    names a column of items and may be left out where there is only one. Null with fewer than two groups listed.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [1, 0]})
    >>> items = pl.DataFrame({"item": [1, 2], "genre": ["a", "b"]})
    >>> df.rec(items=items).exposure_gap(k=2)
    1.0

    Source: Deldjoo et al. 2021, A flexible framework for evaluating user and item fairness in recommender systems.
    """
    counts = at.beside(at.counted)
    gains = at.per_item(pl.when(counts).then(at.gain * at.discount))
    places = at.per_item(pl.when(counts).then(1.0))
    return at.gap_between_groups(of, ratio(gains, places, empty=None))


@metric(
    needs=("catalogue",),
    range=COUNT,
    direction="lower",
    directions={("part", "relevance"): "higher"},
    formula="Σ over the catalogue of (E(i) - T(i))², E(i) = p^(r - 1)",
    latex=(
        r"\sum_{i} (E_i - T_i)^2, \quad E_i = p^{\,r_i - 1}"
        "\n"
        r"T_i = \frac{p^b - p^{b + m}}{m (1 - p)}, \quad m \text{ items of the grade of } i,\ b \text{ of higher ones}"
    ),
)
def expected_exposure(
    at: At,
    *,
    part: Literal["loss", "disparity", "relevance"] = "loss",
    of: str = "",
    p: Share = 0.8,
    sample: str = "",
) -> pl.Expr:
    """Distance of the exposure that items get from the one that their relevance earns: 0 is none; larger is further.

    Use it where items of one grade should be seen alike. Not for where relevant items stand: use `ndcg` or `rbp`.

    Loss: Σ over the catalogue of (E - T)² = Σ E² - 2 · Σ E · T + Σ T². E = p^(r - 1) is the exposure of an item at rank r, 0
    where it is not listed, and `p` the chance to go on to the next rank. T is the exposure in orders by grade, equal grades
    shuffled: (p^b - p^(b + m)) / (m · (1 - p)), m items of that grade and b of higher ones; all items of the catalogue that are
    not relevant are the last grade. `part="relevance"` is Σ E · T, of which higher is better. With `of`, a column of the items,
    E and T are sums over each group's items, one of several categories split among them, and the sums are over the groups.
    With `sample`, a column that tells several lists of a user apart, such as draws of a policy, E is the mean over the lists.
    `part="disparity"` is Σ E². 0 without a relevant item in the catalogue: bind no_relevant="skip". Items outside the catalogue
    do not count.

    Raises an error for `part="disparity"` without `of` and `sample`, since of one list it is the same for all; a ColumnError
    without a catalogue, where `of` holds no categories, or where the lists lack the column `sample` or ranks.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "item": ["a", "x", "c", "z"], "rank": [1, 2, 3, None], "relevance": [0, 0, 1, 1]})
    >>> items = pl.DataFrame({"item": ["a", "b", "c", "x", "z"]})
    >>> round(df.rec(items=items).expected_exposure(p=0.5), 6)
    1.688802

    Source: Diaz, Mitra, Ekstrand, Biega and Carterette 2020, Evaluating stochastic rankings with expected exposure.
    """
    if part == "disparity" and not (of or sample):
        msg = (
            "expected_exposure(part=disparity) is the same for every list of a length where each user has one; name the column "
            "that tells several lists of a user apart, sample='draw', or groups of items, of='genre'"
        )
        raise RecframeError(msg)
    exposures = partial(at.over_exposures, of, p, sample=sample)
    if part != "loss":
        return exposures(word=part)
    words = ("disparity", "relevance", "target")
    disparity, relevance, target = (exposures(word=word) for word in words)
    return (disparity - 2 * relevance + target).clip(lower_bound=0.0)
