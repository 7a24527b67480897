"""The metrics beyond accuracy said a second time, in plain Python: loops over lists, pairs of items and pairs of users.

Written from the definitions and the papers, not from the library, and always the long way round: where the library has a
closed form, this goes over the pairs. A value is None where there is nothing to measure. A function of `One` has a value
for a user's list, a function of `Several` one for all lists of a segment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile
from typing import Any

import plain_popularity as pop
from plain_corrections import estimates
from plain_popularity import WEIGHTS
from plain_scene import One, Scene, Several, cut, mean, ratio


def likeness(one: Sequence[Any], other: Sequence[Any], similarity: str) -> float:
    n, m = len(one), len(other)
    return len(set(one) & set(other)) / (math.sqrt(n * m) if similarity == "cosine" else min(n, m))


def personalization(lists: Several, *, similarity="cosine", against="segment") -> float | None:
    """Over the pairs of lists; against all, each list's mean over the pairs with any other list."""
    every = Several(lists.scene, [*lists.scene.lists], lists.k)
    there = {one.user: one.found for one in (every if against == "all" else lists) if one.found}

    def unlike(pairs: Iterable[tuple[Any, Any]]) -> float | None:
        return mean(1 - likeness(there[one], there[other], similarity) for one, other in pairs)

    if against == "segment":
        return unlike(combinations(there, 2))
    own = [user for user in lists.users if user in there]
    return mean(unlike((user, other) for other in there if other != user) for user in own)


def similar(one: Any, other: Any, distance: str = "cosine") -> float:
    """Cosine of two vectors or of two sets of categories as 0-1 vectors, or what Jaccard gives of the sets."""
    if isinstance(one, frozenset):
        common = len(one & other)
        width = len(one | other) if distance == "jaccard" else math.sqrt(len(one) * len(other))
        return common / width
    lengths = math.hypot(*one) * math.hypot(*other)
    return math.fsum(left * right for left, right in zip(one, other, strict=True)) / lengths


def diversity(one: One, *, of="", distance="cosine", scaled=False, single="null") -> float | None:
    features = one.features(one.found, of).values()
    value = mean(1 - similar(*pair, distance) for pair in combinations(features, 2))
    if value is None:
        return 0.0 if single == "zero" and one.found else None
    return value / 2 if scaled else value


def category_coverage(one: One, *, of="", denominator="catalogue", relevance=False):
    """With relevance, of the relevant items of the list: Zhai et al. 2003, whose whole is that of all relevant items."""
    scene, found = one.scene, one.found
    covered = scene.categories((i for i in found if i in one.relevant or not relevance), of)
    whole = {
        "catalogue": len(scene.categories(scene.catalogue, of)),
        "relevant": len(scene.categories(one.relevant, of)),
        "k": len(found) if one.k is None else one.k,
    }
    value = ratio(len(covered), whole[denominator]) if found else None
    return None if value is None else min(value, 1.0)


Ranked = Sequence[tuple[Any, float]]


def ranked_hits(one: One) -> Ranked:
    """The relevant items of a list, no two ranks closer than 1."""
    hits: list[tuple[Any, float]] = []
    for item, rank in one.listed:
        if item in one.relevant:
            hits.append((item, max(rank, hits[-1][1] + 1) if hits else rank))
    return [hit for hit in hits if one.k is None or hit[1] <= one.k]


@dataclass(frozen=True)
class Intents:
    """The relevant items of a user with their categories: one seen m times above adds (1 - alpha)^m."""

    relevant: Mapping[Any, Any]
    alpha: float

    def gain(self, item: Any, above: Sequence[Any]) -> float:
        seen = [sum(one in self.relevant[other] for other in above) for one in self.relevant[item]]
        return math.fsum((1 - self.alpha) ** times for times in seen)

    def value(self, ranked: Ranked, discount: Callable[[float], float]) -> float:
        order = [item for item, _ in ranked]
        gains = [self.gain(item, order[:place]) for place, item in enumerate(order)]
        return math.fsum(g * discount(rank) for g, (_, rank) in zip(gains, ranked, strict=True))

    def best(self, k: int | None) -> Ranked:
        """The item that adds most each time; of equally good items the last one, as in ndeval."""
        ideal: list[Any] = []
        for _ in [*self.relevant][:k]:
            left = (item for item in self.relevant if item not in ideal)
            ideal.append(max(left, key=lambda item: (self.gain(item, ideal), item)))
        return [(item, float(rank)) for rank, item in enumerate(ideal, start=1)]


def of_intents(
    one: One, of: str, alpha: float, discount: Callable[[float], float], highest: float | None
) -> float | None:
    """The sum of the hits, over that of the best order, or over the highest that any list has for each of the categories."""
    relevant = {item: one.scene.feature(item, of) or frozenset() for item in one.relevant}
    if not relevant:
        return 0.0
    intents, n_intents = (
        Intents(relevant, alpha),
        len({c for own in relevant.values() for c in own}),
    )
    best = intents.value(intents.best(one.k), discount) if highest is None else highest * n_intents
    return min(intents.value(ranked_hits(one), discount) / best, 1.0) if n_intents else None


def alpha_ndcg(one: One, *, of="", alpha=0.5) -> float | None:
    """Clarke et al. 2008."""
    return of_intents(one, of, alpha, lambda rank: 1 / math.log2(rank + 1), None)


def err_ia(one: One, *, of="", alpha=0.5, normalizer="any") -> float | None:
    """ndeval's: a list whose items all have every category would gain (1 - alpha)^(r - 1) / r of each at every rank."""
    ranks = range(1, (100_000 if one.k is None else one.k) + 1)
    terms = takewhile(lambda t: t > 1e-18, ((1 - alpha) ** (rank - 1) / rank for rank in ranks))
    highest = math.fsum(terms) if normalizer == "any" else None
    return of_intents(one, of, alpha, lambda rank: 1 / rank, highest)


def nrbp(one: One, *, of="", alpha=0.5, beta=0.5, normalizer="any") -> float | None:
    """Clarke et al. 2009: the highest is that of an endless list, a geometric series."""
    highest = 1 / (1 - (1 - alpha) * beta) if normalizer == "any" else None
    return of_intents(one, of, alpha, lambda rank: beta ** (rank - 1), highest)


def value(one: One, *, of="", normalizer="none", discount="none") -> float | None:
    """What the hits are worth, over what the best list of k, or all relevant items in their best order, are."""

    def worth(ranked: Ranked) -> float:
        log = discount == "log"
        return math.fsum(price / (math.log2(rank + 1) if log else 1) for price, rank in ranked)

    prices = {item: (one.scene.items or {}).get(item, {}).get(of) for item in one.relevant}
    there = [(item, price) for item, price in prices.items() if price is not None]
    known = {item: price for item, price in there if math.isfinite(price)}
    found = worth([(known[item], rank) for item, rank in ranked_hits(one) if item in known])
    if normalizer == "none" or not prices:
        return found
    best = [(price, float(rank)) for rank, price in enumerate(sorted(known.values())[::-1], 1)]
    whole = worth(best[: one.k if normalizer == "best" else None])
    return found / whole if whole else None


def corrected(one: One, *, metric="recall", n_items=10_000, n_negatives=100, **how: Any):
    """Krichene and Rendle 2020: each relevant item against the sample alone."""
    gamma = None if how.get("estimator") == "rank" else how.get("gamma", 0.1)
    table = estimates(metric, one.k, n_negatives, n_items, gamma)
    listed = One(one.scene, one.user, None).listed
    others = [rank for item, rank in listed if item not in one.relevant]
    own = [rank for item, rank in listed if item in one.relevant]
    if listed and len(others) != n_negatives:
        return None
    above = [sum((other < rank) + (other == rank) / 2 for other in others) for rank in own]
    found = [(table[math.floor(m)] + table[math.ceil(m)]) / 2 for m in above]
    return math.fsum(found) / len(one.relevant) if one.relevant else 0.0


def serendipity(one: One, *, of="", against="history") -> float | None:
    if against == "reference":
        usual = dict(one.reference(one.k))
        surprise = {item: float(item not in usual) for item in one.found}
    elif against == "popularity":
        surprise = {item: above_popularity(one.scene, item, rank) for item, rank in one.listed}
    else:
        before = [feature for item in one.history for feature in one.features([item], of).values()]
        if not before:
            return None
        features = one.features(one.found, of)
        surprise = {i: 1 - mean(similar(one, b) for b in before) for i, one in features.items()}
    return mean(float(item in one.relevant) * much for item, much in surprise.items())


def above_popularity(scene: Scene, item: Any, rank: float) -> float:
    """How much better the item stands in the list than in the order of popularity, in places, over the catalogue's size."""
    n, own = len(scene.whole_catalogue), scene.popularity[item]
    more_popular = {count for count in scene.popularity.values() if count > own}
    usual = max((n - len(more_popular)) / n, 0.0) if own else 0.0
    return max((n + 1 - rank) / n - usual, 0.0)


def overlap(one: One, *, reference_k=0, denominator="list") -> float | None:
    if not one.found:
        return None
    shared = len({*one.found} & {*dict(one.reference(reference_k or one.k))})
    by_list = denominator == "list" or one.k is None
    return min(shared / (len(one.found) if by_list else one.k), 1.0)


def unexpectedness(one: One, *, without_reference="one", **how: Any) -> float | None:
    share = overlap(one, **how)
    if share is not None and not one.reference_inside() and without_reference == "zero":
        return 0.0
    return None if share is None else 1 - share


def rbo(one: One, *, p=0.9, form="extrapolated") -> float | None:
    """Webber, Moffat and Zobel 2010, by depths; a list's places count, not its ranks."""
    found, other = one.found, [item for item, _ in one.reference_inside(one.k)]
    if not found or not other:
        return 0.0 if found else None
    s, deepest = sorted((len(found), len(other)))
    agree = [len(set(found[:depth]) & set(other[:depth])) for depth in range(deepest + 1)]
    shared, beyond = range(1, s + 1), range(s + 1, deepest + 1)
    if form == "truncated":
        weights = math.fsum(p ** (d - 1) for d in shared)
        return math.fsum(p ** (d - 1) * agree[d] / d for d in shared) / weights
    if form == "min":
        known = math.fsum((agree[d] - agree[s]) * p**d / d for d in shared)
        return (1 - p) / p * (known - agree[s] * math.log(1 - p))
    # equation 32: past the end of the shorter list, its agreement there goes on
    seen = math.fsum(agree[d] / d * p**d for d in range(1, deepest + 1))
    assumed = math.fsum(agree[s] * (d - s) / (s * d) * p**d for d in beyond)
    last = (agree[deepest] - agree[s]) / deepest + agree[s] / s
    return (1 - p) / p * (seen + assumed) + last * p**deepest


def least_item_promoted(one: One) -> float | None:
    usual = dict(one.reference_inside())
    if not one.found or not usual:
        return None
    k = len(one.found) if one.k is None else one.k
    return max([0.0, *(usual[item] - k for item in one.found if item in usual)])


def mix(weighted: Iterable[tuple[frozenset[Any] | None, float]]) -> dict[Any, float]:
    """Each category's part, an item's weight split evenly over its categories; items without any are left out."""
    shares: dict[Any, list[float]] = {}
    for categories, weight in weighted:
        for category in categories or ():
            shares.setdefault(category, []).append(weight / len(categories))
    return {category: math.fsum(parts) for category, parts in shares.items()}


def shares_of(weights: Mapping[Any, float]) -> dict[Any, float]:
    total = math.fsum(weights.values())
    return {category: weight / total for category, weight in weights.items()}


def divergence_of(p: Mapping[Any, float], q: Mapping[Any, float], log_base: float) -> float:
    return math.fsum(
        share * math.log(share / q[one], log_base) for one, share in p.items() if share
    )


def category_entropy(one: One, *, of="", weight="none", p=0.85, smoothing=0) -> float | None:
    """Of every category of the catalogue, whether the list has it or not."""
    ranks = [p ** (rank - 1) if weight == "geometric" else 1 for _, rank in one.listed]
    features = [one.scene.feature(item, of) for item in one.found]
    own = mix(zip(features, ranks, strict=True))
    if not own:
        return None
    there = {*one.scene.categories(one.scene.catalogue, of), *own} if smoothing else {*own}
    shares = shares_of({category: smoothing + own.get(category, 0) for category in there})
    return -math.fsum(share * math.log2(share) for share in shares.values())


def miscalibration(
    one: One, *, of="", divergence="kl", alpha=0.01, log_base=2, weight="none"
) -> float | None:
    feature = one.scene.feature
    p = shares_of(mix((feature(item, of), 1.0) for item in one.history))
    q = shares_of(mix((feature(item, of), WEIGHTS[weight](rank)) for item, rank in one.listed))
    if not p or not q:
        return None
    both = {one: (p.get(one, 0.0), q.get(one, 0.0)) for one in {*p, *q}}
    if divergence == "hellinger":
        # 1 - sum of sqrt(p q), without what is lost where the two are nearly the same
        apart = [(math.sqrt(left) - math.sqrt(right)) ** 2 for left, right in both.values()]
        return math.sqrt(math.fsum(apart) / 2)
    if divergence == "js":
        middle = {one: (left + right) / 2 for one, (left, right) in both.items()}
        return (divergence_of(p, middle, log_base) + divergence_of(q, middle, log_base)) / 2
    near = {one: (1 - alpha) * right + alpha * left for one, (left, right) in both.items()}
    return divergence_of(p, near, log_base)


def exposure_share(lists: Several, *, weight="none") -> float | None:
    """The segment's part of all rows of these users' lists."""
    scene = lists.scene
    rows = [one for user in lists.users for one in cut(scene.lists.get(user, ()), lists.k)]
    inside = math.fsum(WEIGHTS[weight](rank) for item, rank in rows if scene.inside(item))
    return ratio(inside, math.fsum(WEIGHTS[weight](rank) for _, rank in rows))


def exposure_disparity(lists: Several, *, of="", target="catalogue") -> float | None:
    """The coefficient of variation, over groups of items, of how often their unseen (or unseen relevant) items are listed."""
    scene, shares = lists.scene, []
    featureless = scene.items is None or all(len(row) == 1 for row in scene.items.values())
    if not of and featureless:
        groups = [pop.long_tail(scene), scene.catalogue - pop.long_tail(scene)]
    else:
        features = {item: scene.feature(item, of) or () for item in scene.catalogue}
        categories = scene.categories(scene.catalogue, of)
        groups = [{item for item, own in features.items() if one in own} for one in categories]
    for group in groups:
        listed = possible = 0
        for one in lists.with_lists():
            there = group - {*one.history}
            # of which some are listed: those of the list alone would say nothing
            there = there & one.all_relevant if target == "relevant" else there
            listed += len(there & {*one.found})
            possible += len(there)
        if possible:
            shares.append(listed / possible)
    average = mean(shares)
    if len(shares) < 2 or not average:
        return None
    return math.sqrt(mean((share - average) ** 2 for share in shares)) / average


def by_name(*functions: Callable[..., float | None]) -> dict[str, Callable[..., float | None]]:
    return {one.__name__: one for one in functions}


OF_LISTS = by_name(
    *(pop.novelty, pop.epc, pop.efd, pop.popularity, pop.long_tail_share, pop.long_tail_count),
    *(pop.repeat_rate, diversity, category_coverage, category_entropy, serendipity, overlap),
    *(unexpectedness, rbo, least_item_promoted, miscalibration),
)
"""A value for each list, and the mean over the users who have one."""
OF_USERS = by_name(
    *(pop.user_coverage, pop.fall_out, pop.mcc, pop.mean_percentile_rank),
    *(alpha_ndcg, err_ia, nrbp, value, corrected),
)
"""A value for each user of the accuracy metrics, list or not."""
OF_SETS = by_name(
    *(pop.coverage, pop.gini, pop.entropy, pop.tail_coverage, pop.popularity_lift),
    *(personalization, exposure_share, exposure_disparity),
)
"""One value of all lists of a segment, and never a mean."""
OF_ROWS = {"efd": pop.efd_of_rows}
"""With `average="rows"` one value of all rows of a segment."""


def follows(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a metric of lists asks what is relevant, and so runs over users of the universe alone."""
    return name == "serendipity" or (name in OF_LISTS and bool(parameters.get("relevance")))


def set_of(name: str, parameters: Mapping[str, Any]) -> Callable[..., float | None] | None:
    """Return the function of all lists of a segment, of a metric that is one."""
    return OF_ROWS[name] if parameters.get("average") == "rows" else OF_SETS.get(name)


def values(name: str, lists: Several, **parameters: Any) -> Iterator[tuple[Any, Any]]:
    """(user, value) of a metric of lists or of users."""
    over = OF_LISTS.get(name) or OF_USERS[name]
    return ((one.user, over(one, **parameters)) for one in lists)


def overall(name: str, lists: Several, **parameters: Any) -> float | None:
    """One number: of the set of lists, or the mean over the users who count."""
    if (of_set := set_of(name, parameters)) is not None:
        return of_set(lists, **parameters)
    counted = lists.with_lists() if name in OF_LISTS else lists
    return mean(value for _, value in values(name, counted, **parameters))
