"""Catalogue metrics: coverage, concentration of exposure, confusion over the catalogue.

Symbols in the formulas: I is the catalogue, the items of the items frame, or where there is none those of train, truth and all
recommendations; N is its size. e_i is the exposure of item i: the number of lists that have it up to k, or the sum of the
weights of its ranks. m is the number of items of I with an exposure. Listed items outside I do not count.
"""

from __future__ import annotations

import math
from typing import Literal

import polars as pl

from recframe.metrics.language.at import At, ratio
from recframe.metrics.language.at_lists import AtLists, Weight
from recframe.metrics.language.definition import COUNT, UNIT, LogBase
from recframe.metrics.language.registry import metric
from recframe.metrics.language.weighing import unregistered

__all__ = [
    "coverage",
    "entropy",
    "fall_out",
    "gini",
    "mcc",
    "mean_percentile_rank",
    "user_coverage",
]

Exposure = Literal["none", "log", "geometric"]


@metric(
    shape="set",
    over="lists",
    range=UNIT,
    direction="higher",
    formula="items of I in any list / N",
    latex=r"\frac{|\{i \in I : e_i > 0\}|}{N}",
    grows=True,
)
def coverage(at: AtLists) -> pl.Expr:
    """Share of the catalogue that is in anybody's list: 1 if every item is, 0 if none is.

    Use it for how much of the catalogue is shown. Not for how evenly: use `gini`; not to compare different numbers of users, as
    it grows with them.

    |{i in I: e_i > 0}| / N, a set metric: one function of all lists of a segment. It grows with the number of users. 0
    without lists; an empty catalogue is an error; null in a segment of items without items.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rank": [1, 2, 1]})
    >>> df.rec(items=pl.DataFrame({"item": [1, 2, 3, 4]})).coverage(k=10)
    0.5

    Source: Ge, Delgado-Battenfeld and Jannach 2010, Beyond accuracy.
    """
    return ratio(
        at.over_items(at.in_catalogue & (at.n_lists_with > 0), counts=True),
        at.n_catalogue,
        empty=None,
    )


@metric(
    range=UNIT,
    direction="higher",
    formula="1 if the list has an item up to k, else 0",
    latex=r"\min(n,\, 1), \quad n = \text{listed items with } r \leq k",
)
def user_coverage(at: At, *, at_least: Literal["one", "k"] = "one") -> pl.Expr:
    """Share of the users who get a list at all: 1 if everybody does, 0 if nobody does.

    Use it for models that cannot serve everybody. Not for whether lists are full: use `at_least="k"` or `list_length`.

    1 if n >= 1, else 0, with n the number of listed items up to k; `at_least="k"` needs k of them. The mean runs over the users
    of the accuracy metrics, by default those of the truth.

    >>> import polars as pl, recframe
    >>> recs = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> df = recs.rec(truth=pl.DataFrame({"user": [1, 2], "item": [1, 1]})).judge()
    >>> df.rec.user_coverage(k=10)
    0.5

    Source: Ge, Delgado-Battenfeld and Jannach 2010, Beyond accuracy; Elliot's `UserCoverage` and `UserCoverageAtN`.
    """
    least = 1 if at_least == "one" or at.k is None else at.k
    return (at.n_listed >= least).cast(pl.Float64)


@metric(
    shape="set",
    over="lists",
    range=UNIT,
    direction="lower",
    formula="Σ over j of (2j - N - 1) · e_(j) / ((N - 1) · Σ e), with e_(1) <= ... <= e_(N)",
    latex=r"\frac{\sum_{j=1}^{N} (2j - N - 1)\, e_{(j)}}{(N - 1) \sum_{j} e_{(j)}}, \quad e_{(1)} \leq \ldots \leq e_{(N)}",
    grows=True,
)
def gini(
    at: AtLists, *, weight: Exposure = "none", normalizer: Literal["corrected", "n"] = "corrected"
) -> pl.Expr:
    """How unevenly the catalogue's items are shown: 0 if all are shown equally often, 1 if only one is shown.

    Use it for how much goes to few items. Not for groups of items: use `exposure_disparity`; not to compare different numbers
    of users, as it falls with them.

    Gini coefficient of the exposures: Σ over j of (2j - N - 1) · e_(j) / ((N - 1) · Σ e), in rising order, zeros included.
    `weight` is what a rank r adds to its item's exposure: 1 (`"none"`), 1 / log2(r + 1) (`"log"`) or 0.85^(r - 1)
    (`"geometric"`); `normalizer="n"` divides by N in place of N - 1 and does not reach 1. It falls as users are added. Null
    where no item of I is listed; 0 where N is 1.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 1]})
    >>> df.rec(items=pl.DataFrame({"item": [1, 2, 3]})).gini(k=10)
    1.0

    Source: Shani and Gunawardana 2011, Evaluating recommendation systems.
    """
    exposure = _exposure(at, weight)
    place, n = at.place(exposure), at.n_catalogue
    unlisted = n - at.over_items(exposure.is_not_null(), counts=True)
    total = at.over_items(exposure)
    spread = 2 * at.over_items(place * exposure) + (2 * unlisted - n - 1) * total
    whole = total * (n if normalizer == "n" else n - 1)
    return pl.when(total > 0).then(ratio(spread, whole).clip(0.0, 1.0))


@metric(
    shape="set",
    over="lists",
    range=COUNT,
    direction="higher",
    formula="-Σ over i of p_i · log2(p_i), with p_i = e_i / Σ e",
    latex=r"-\sum_{i \in I} p_i \log_2 p_i, \quad p_i = \frac{e_i}{\sum_{j} e_j}",
    grows=True,
)
def entropy(
    at: AtLists, *, weight: Exposure = "none", normalized: bool = False, log_base: LogBase = 2
) -> pl.Expr:
    """How evenly the catalogue's items are shown, in bits: 0 if only one is shown; larger is more even.

    Use it to compare with results that report it. Otherwise use `gini`, which is between 0 and 1.

    Shannon entropy: -Σ over i of p_i · log_b(p_i), p_i = e_i / Σ e, b = `log_base`; at most log_b(N), by which
    `normalized=True` divides (null where N is 1). `weight` is as in gini. It grows with the number of users. Null where no item
    of I is listed.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 2], "rank": [1, 1]})
    >>> df.rec(items=pl.DataFrame({"item": [1, 2, 3]})).entropy(k=10)
    1.0

    Source: Shani and Gunawardana 2011, Evaluating recommendation systems.
    """
    exposure = _exposure(at, weight)
    total = at.over_items(exposure)
    nats = total.log() - at.over_items(exposure * exposure.log()) / total
    bits = pl.when(total > 0).then(nats.clip(lower_bound=0.0))
    if normalized:
        return ratio(bits, at.n_catalogue.log(), empty=None).clip(upper_bound=1.0)
    # by a product, since Polars divides many rows by one number in another way than one row
    return bits * (1 / math.log(log_base))


@metric(
    range=UNIT,
    direction="lower",
    formula="fp / (N - R), fp the listed items that are no hits",
    latex=r"\frac{\text{fp}}{N - R}, \quad \text{fp} = \text{listed items that are no hits}",
)
def fall_out(at: At) -> pl.Expr:
    """Share of the catalogue's not relevant items that are listed: 0 if none is, 1 if all are; smaller is better.

    Use it for ROC curves. Not for large catalogues, where it is near 0 for every model: use `precision`.

    fp / (N - R): fp the listed items up to k that are not relevant, R the user's relevant items, both only of the catalogue. 0
    where every item of the catalogue is relevant, and without a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "item": [1, 2, 3, 4], "rank": [1, 2, 3, None], "relevance": [1, 0, 0, 1]})
    >>> round(df.rec(items=pl.DataFrame({"item": range(1, 9)})).fall_out(k=3), 6)
    0.333333

    Source: Manning, Raghavan and Schuetze 2008, Introduction to Information Retrieval, chapter 8.
    """
    misses = at.n_listed_in_catalogue.cast(pl.Float64) - at.n_hits_in_catalogue
    return ratio(misses, at.n_catalogue - at.n_relevant_in_catalogue)


@metric(
    range=(-1.0, 1.0),
    direction="higher",
    formula="(tp · tn - fp · fn) / √((tp + fp)(tp + fn)(tn + fp)(tn + fn))",
    latex=(
        r"\frac{\text{tp} \cdot \text{tn} - \text{fp} \cdot \text{fn}}"
        r"{\sqrt{(\text{tp} + \text{fp})(\text{tp} + \text{fn})(\text{tn} + \text{fp})(\text{tn} + \text{fn})}}"
    ),
)
def mcc(at: At, *, denominator: Literal["list", "k"] = "list") -> pl.Expr:
    """Correlation between being listed and being relevant: 1 if the same items are both, 0 if unrelated, -1 if opposite.

    Use it for one number that counts hits, misses and the items rightly left out. Not for the order of a list: use `ndcg`.

    Matthews correlation: (tp · tn - fp · fn) / √((tp + fp)(tp + fn)(tn + fp)(tn + fn)), with tp the hits, fp the other listed
    items up to k, fn the relevant items that are no hits, tn the rest of the catalogue; items outside it do not count.
    `denominator="k"` takes k - tp for fp, also for short lists. 0 where the root is 0.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "item": [1, 2, 3, 4], "rank": [1, 2, 3, None], "relevance": [1, 0, 0, 1]})
    >>> round(df.rec(items=pl.DataFrame({"item": range(1, 9)})).mcc(k=3), 6)
    0.149071

    Source: Matthews 1975, Comparison of the predicted and observed secondary structure of T4 phage lysozyme.
    """
    hits, listed = (
        count.cast(pl.Float64) for count in (at.n_hits_in_catalogue, at.n_listed_in_catalogue)
    )
    places = (
        listed
        if denominator == "list" or at.k is None
        else pl.max_horizontal(hits, pl.lit(float(at.k)))
    )
    relevant, n = at.n_relevant_in_catalogue.cast(pl.Float64), at.n_catalogue
    rest = (n - places - relevant + hits).clip(lower_bound=0.0)
    misses, lost = places - hits, relevant - hits
    root = (places * relevant * (rest + misses) * (rest + lost)).sqrt()
    return ratio(hits * rest - misses * lost, root).clip(-1.0, 1.0)


@metric(
    aliases=("mpr",),
    range=UNIT,
    direction="lower",
    formula="mean over the relevant items of (r - 1) / N if listed, else (n + N - 1) / 2N",
    latex=(
        r"\frac{1}{R} \left(\sum_{\text{hits}} \frac{r - 1}{N} + (R - \text{hits}) \frac{n + N - 1}{2 N}\right)"
    ),
)
def mean_percentile_rank(at: At, *, average: Literal["users", "pairs"] = "users") -> pl.Expr:
    """Place of the relevant items in an order of the whole catalogue, as a share: 0 is the top, about 0.5 random order.

    Use it where every relevant item counts, however far down, as with implicit feedback. Not for the top of the list: use
    `ndcg`.

    The mean over the user's relevant items of (r - 1) / N, N the number of items of the catalogue; one that is not among the n
    listed items up to k counts the mean of the places left, (n + N - 1) / 2N, without a list (N - 1) / 2N. Relevant items
    outside the catalogue do not count, and no list has more than (N - 1) / N. Null without relevant items.

    The mean runs over the users' own values; `average="pairs"` is the mean over all pairs of a user and a relevant item of a
    segment: RecPack's `PercentileRanking`, which is 100 times it, but for a user without a list, who has 1/2 there.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "item": [1, 2, 3, 4], "rank": [1, 2, 3, None], "relevance": [1, 0, 1, 1]})
    >>> round(df.rec(items=pl.DataFrame({"item": range(1, 11)})).mean_percentile_rank(), 6)
    0.266667

    Source: Hu, Koren and Volinsky 2008, Collaborative filtering for implicit feedback datasets.
    """
    if average == "users":
        return ratio(*_places_and_most(at), empty=None)

    def place(at: At) -> pl.Expr:
        return ratio(*_places_and_most(at)) * at.n_relevant_in_catalogue

    def relevant(at: At) -> pl.Expr:
        return at.n_relevant_in_catalogue

    return ratio(*(at.mean(unregistered(one)) for one in (place, relevant)), empty=None)


def _places_and_most(at: At) -> tuple[pl.Expr, pl.Expr]:
    """Return the sum over the relevant items of the places above theirs, and N for each of them."""
    hits, relevant = (
        one.cast(pl.Float64) for one in (at.n_hits_in_catalogue, at.n_relevant_in_catalogue)
    )
    n = at.n_catalogue
    left = (pl.min_horizontal(at.n_listed.cast(pl.Float64), n) + n - 1) / 2
    above = at.ranks_of_hits_in_catalogue - hits + (relevant - hits) * left
    # ranks stay those of the whole list where only a part of its items is in the catalogue
    return pl.min_horizontal(above, relevant * (n - 1)), relevant * n


def _exposure(at: AtLists, weight: Weight) -> pl.Expr:
    """Return the exposure of an item of the catalogue that is listed; null of any other."""
    exposure = at.n_lists_with if weight == "none" else at.per_item(at.weight(weight), bounded=True)
    return pl.when(at.in_catalogue & (exposure > 0)).then(exposure)
