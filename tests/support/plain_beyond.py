"""The metrics beyond accuracy said a second time, in plain Python: loops over lists, pairs of items and pairs of users.

Written from the definitions and the papers, not from the library, and always the long way round: where the library has a
closed form, this goes over the pairs. A value is None where there is nothing to measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile
from typing import Any

from plain_corrections import estimates
from plain_popularity import (
    WEIGHTS,
    coverage,
    efd,
    efd_of_rows,
    entropy,
    epc,
    fall_out,
    gini,
    long_tail,
    long_tail_count,
    long_tail_share,
    mcc,
    mean_percentile_rank,
    novelty,
    popularity,
    popularity_lift,
    repeat_rate,
    tail_coverage,
    user_coverage,
)
from plain_scene import Scene, cut, mean, ratio


def likeness(one: Sequence[Any], other: Sequence[Any], similarity: str) -> float:
    n, m = len(one), len(other)
    return len(set(one) & set(other)) / (math.sqrt(n * m) if similarity == "cosine" else min(n, m))


def personalization(
    scene: Scene,
    users: Sequence[Any],
    k: int | None,
    *,
    similarity: str = "cosine",
    against: str = "segment",
) -> float | None:
    """Over the pairs of lists; against all, each list's mean over the pairs with any other list."""
    lists = {user: scene.found(user, k) for user in (scene.lists if against == "all" else users)}
    lists = {user: own for user, own in lists.items() if own}
    if against == "segment":
        return mean(
            1 - likeness(one, other, similarity) for one, other in combinations(lists.values(), 2)
        )
    pairs = {
        user: [lists[other] for other in lists if other != user] for user in users if user in lists
    }
    return mean(
        mean(1 - likeness(lists[user], other, similarity) for other in others)
        for user, others in pairs.items()
    )


def similar(one: Any, other: Any, distance: str = "cosine") -> float:
    """Cosine of two vectors or of two sets of categories as 0-1 vectors, or what Jaccard gives of the sets."""
    if isinstance(one, frozenset):
        common = len(one & other)
        return (
            common / len(one | other)
            if distance == "jaccard"
            else common / math.sqrt(len(one) * len(other))
        )
    lengths = math.hypot(*one) * math.hypot(*other)
    return math.fsum(left * right for left, right in zip(one, other, strict=True)) / lengths


def diversity(  # noqa: PLR0913
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    of: str = "",
    distance: str = "cosine",
    scaled: bool = False,
    single: str = "null",
) -> float | None:
    found = scene.found(user, k)
    features = [feature for item in found if (feature := scene.feature(item, of)) is not None]
    value = mean(1 - similar(one, other, distance) for one, other in combinations(features, 2))
    if value is None:
        return 0.0 if single == "zero" and found else None
    return value / 2 if scaled else value


def category_coverage(
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    of: str = "",
    denominator: str = "catalogue",
    relevance: bool = False,
) -> float | None:
    """With relevance, of the relevant items of the list: Zhai et al. 2003, whose whole is that of all relevant items."""
    found, relevant = scene.found(user, k), scene.relevant(user)
    counted = [item for item in found if item in relevant] if relevance else found
    covered = {category for item in counted for category in scene.categories(item, of)}
    there = {category for item in scene.catalogue() for category in scene.categories(item, of)}
    sought = {category for item in relevant for category in scene.categories(item, of)}
    whole = {"catalogue": len(there), "relevant": len(sought), "k": len(found) if k is None else k}[
        denominator
    ]
    value = ratio(len(covered), whole) if found else None
    return None if value is None else min(value, 1.0)


Ranked = Sequence[tuple[Any, float]]


@dataclass(frozen=True)
class Intents:
    """The relevant items of a user with their categories: one seen m times above adds (1 - alpha)^m."""

    relevant: Mapping[Any, Any]
    alpha: float

    def gain(self, item: Any, above: Sequence[Any]) -> float:
        return math.fsum(
            (1 - self.alpha) ** sum(one in self.relevant[other] for other in above)
            for one in self.relevant[item]
        )

    def value(self, ranked: Ranked, discount: Callable[[float], float]) -> float:
        order = [item for item, _ in ranked]
        return math.fsum(
            self.gain(item, order[:place]) * discount(rank)
            for place, (item, rank) in enumerate(ranked)
        )

    def best(self, k: int | None) -> Ranked:
        """The item that adds most each time; of equally good items the last one, as in ndeval."""
        ideal: list[Any] = []
        while len(ideal) < (len(self.relevant) if k is None else min(k, len(self.relevant))):
            ideal.append(
                max(
                    (item for item in self.relevant if item not in ideal),
                    key=lambda item: (self.gain(item, ideal), item),
                )
            )
        return [(item, float(rank)) for rank, item in enumerate(ideal, start=1)]

    def hits(self, listed: Ranked, k: int | None) -> Ranked:
        hits: list[tuple[Any, float]] = []
        for item, rank in listed:
            if item in self.relevant:
                hits.append((item, max(rank, hits[-1][1] + 1) if hits else rank))
        return [hit for hit in hits if k is None or hit[1] <= k]


def of_intents(  # noqa: PLR0913, PLR0917
    scene: Scene, user: Any, k: int | None, of: str, alpha: float, discount: Any, highest: Any
) -> float | None:
    """The sum of the hits, over that of the best order, or over the highest that any list has for each of the categories."""
    relevant = {item: scene.categories(item, of) for item in scene.relevant(user)}
    if not relevant:
        return 0.0
    intents = Intents(relevant, alpha)
    n_intents = len({one for categories in relevant.values() for one in categories})
    whole = intents.value(intents.best(k), discount) if highest is None else highest * n_intents
    found = intents.value(intents.hits(scene.listed(user, k), k), discount)
    return min(found / whole, 1.0) if n_intents else None


def alpha_ndcg(
    scene: Scene, user: Any, k: int | None, *, of: str = "", alpha: float = 0.5
) -> float | None:
    """Clarke et al. 2008."""
    return of_intents(scene, user, k, of, alpha, lambda rank: 1 / math.log2(rank + 1), None)


def err_ia(
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    of: str = "",
    alpha: float = 0.5,
    normalizer: str = "any",
) -> float | None:
    """ndeval's: a list whose items all have every category would gain (1 - alpha)^(r - 1) / r of each at every rank."""
    places = 100_000 if k is None else k
    terms = takewhile(
        lambda term: term > 1e-18,
        ((1 - alpha) ** (rank - 1) / rank for rank in range(1, places + 1)),
    )
    highest = math.fsum(terms) if normalizer == "any" else None
    return of_intents(scene, user, k, of, alpha, lambda rank: 1 / rank, highest)


def nrbp(  # noqa: PLR0913
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    of: str = "",
    alpha: float = 0.5,
    beta: float = 0.5,
    normalizer: str = "any",
) -> float | None:
    """Clarke et al. 2009: the highest is that of an endless list, a geometric series."""
    highest = 1 / (1 - (1 - alpha) * beta) if normalizer == "any" else None
    return of_intents(scene, user, k, of, alpha, lambda rank: beta ** (rank - 1), highest)


def value(
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    of: str = "",
    normalizer: str = "none",
    discount: str = "none",
) -> float | None:
    """What the hits are worth, over what the best list of k, or all relevant items in their best order, are."""

    def worth(ranked: Ranked) -> float:
        log = discount == "log"
        return math.fsum(price / (math.log2(rank + 1) if log else 1) for price, rank in ranked)

    items = scene.items or {}
    prices = {item: items.get(item, {}).get(of) for item in scene.relevant(user)}
    known = {
        item: price for item, price in prices.items() if price is not None and math.isfinite(price)
    }
    hits = Intents(prices, 0).hits(scene.listed(user, k), k)
    found = worth([(known[item], rank) for item, rank in hits if item in known])
    if normalizer == "none" or not prices:
        return found
    best = [(price, float(rank)) for rank, price in enumerate(sorted(known.values())[::-1], 1)]
    whole = worth(best[: k if normalizer == "best" else None])
    return found / whole if whole else None


def corrected(  # noqa: PLR0913
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    metric: str = "recall",
    n_items: int = 10_000,
    n_negatives: int = 100,
    estimator: str = "bias_variance",
    gamma: float = 0.1,
) -> float | None:
    """Krichene and Rendle 2020: each relevant item against the sample alone."""
    table = estimates(metric, k, n_negatives, n_items, gamma if estimator != "rank" else None)
    relevant, listed = scene.relevant(user), scene.listed(user, None)
    others = [rank for item, rank in listed if item not in relevant]
    own = [rank for item, rank in listed if item in relevant]
    if listed and len(others) != n_negatives:
        return None
    above = [sum((one < rank) + (one == rank) / 2 for one in others) for rank in own]
    found = [(table[math.floor(m)] + table[math.ceil(m)]) / 2 for m in above]
    return math.fsum(found) / len(relevant) if relevant else 0.0


def serendipity(
    scene: Scene, user: Any, k: int | None, *, of: str = "", against: str = "history"
) -> float | None:
    relevant = scene.relevant(user)
    listed = scene.listed(user, k)
    if against == "reference":
        usual = {item for item, _ in cut(scene.reference.get(user, ()), k)}
        return mean(float(item in relevant and item not in usual) for item, _ in listed)
    if against == "popularity":
        return mean(
            float(item in relevant) * above_popularity(scene, item, rank) for item, rank in listed
        )
    before = [
        feature for item in scene.history(user) if (feature := scene.feature(item, of)) is not None
    ]
    if not before:
        return None
    features = {
        item: feature for item, _ in listed if (feature := scene.feature(item, of)) is not None
    }
    return mean(
        float(item in relevant)
        * (1 - math.fsum(similar(feature, one) for one in before) / len(before))
        for item, feature in features.items()
    )


def above_popularity(scene: Scene, item: Any, rank: float) -> float:
    """How much better the item stands in the list than in the order of popularity, in places, over the catalogue's size."""
    n, pop = len(scene.whole_catalogue()), scene.popularity(item)
    more_popular = {
        scene.popularity(other) for other in scene.train_items() if scene.popularity(other) > pop
    }
    usual = max((n + 1 - (len(more_popular) + 1)) / n, 0.0) if pop else 0.0
    return max((n + 1 - rank) / n - usual, 0.0)


def overlap(
    scene: Scene, user: Any, k: int | None, *, reference_k: int = 0, denominator: str = "list"
) -> float | None:
    found = scene.found(user, k)
    usual = {item for item, _ in cut(scene.reference.get(user, ()), reference_k or k)}
    if not found:
        return None
    shared = len(set(found) & usual)
    return min(shared / (len(found) if denominator == "list" or k is None else k), 1.0)


def unexpectedness(
    scene: Scene, user: Any, k: int | None, *, without_reference: str = "one", **how: Any
) -> float | None:
    share = overlap(scene, user, k, **how)
    usual = [item for item, _ in cut(scene.reference.get(user, ()), None) if scene.inside(item)]
    if share is not None and not usual and without_reference == "zero":
        return 0.0
    return None if share is None else 1 - share


def rbo(
    scene: Scene, user: Any, k: int | None, *, p: float = 0.9, form: str = "extrapolated"
) -> float | None:
    """Webber, Moffat and Zobel 2010, by depths; a list's places count, not its ranks."""
    one = scene.found(user, k)
    other = [item for item, _ in cut(scene.reference.get(user, ()), k) if scene.inside(item)]
    if not one:
        return None
    if not other:
        return 0.0
    s, deepest = sorted((len(one), len(other)))
    agree = [len(set(one[:depth]) & set(other[:depth])) for depth in range(deepest + 1)]
    if form == "truncated":
        weights = {depth: p ** (depth - 1) for depth in range(1, s + 1)}
        return math.fsum(
            weight * agree[depth] / depth for depth, weight in weights.items()
        ) / math.fsum(weights.values())
    if form == "min":
        known = math.fsum((agree[depth] - agree[s]) * p**depth / depth for depth in range(1, s + 1))
        return (1 - p) / p * (known - agree[s] * math.log(1 - p))
    # equation 32: past the end of the shorter list, its agreement there goes on
    seen = math.fsum(agree[depth] / depth * p**depth for depth in range(1, deepest + 1))
    assumed = math.fsum(
        agree[s] * (depth - s) / (s * depth) * p**depth for depth in range(s + 1, deepest + 1)
    )
    return (1 - p) / p * (seen + assumed) + (
        (agree[deepest] - agree[s]) / deepest + agree[s] / s
    ) * p**deepest


def least_item_promoted(scene: Scene, user: Any, k: int | None) -> float | None:
    usual = dict(one for one in cut(scene.reference.get(user, ()), None) if scene.inside(one[0]))
    found = scene.found(user, k)
    if not found or not usual:
        return None
    k = len(found) if k is None else k
    return max([0.0, *(usual[item] - k for item in found if item in usual)])


def mix(weighted: Iterable[tuple[frozenset[Any], float]]) -> dict[Any, float]:
    """Each category's share, an item's weight split evenly over its categories; items without any are left out."""
    described = [(categories, weight) for categories, weight in weighted if categories]
    total = math.fsum(weight for _, weight in described)
    shares: dict[Any, list[float]] = {}
    for categories, weight in described:
        for category in categories:
            shares.setdefault(category, []).append(weight / len(categories) / total)
    return {category: math.fsum(parts) for category, parts in shares.items()}


def divergence_of(p: Mapping[Any, float], q: Mapping[Any, float], log_base: float) -> float:
    return math.fsum(
        share * math.log(share / q[one], log_base) for one, share in p.items() if share
    )


def category_entropy(  # noqa: PLR0913
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    of: str = "",
    weight: str = "none",
    p: float = 0.85,
    smoothing: float = 0,
) -> float | None:
    """Of every category of the catalogue, whether the list has it or not."""
    weights = dict.fromkeys(
        (one for item in scene.catalogue() for one in scene.categories(item, of)), smoothing
    )
    described = [one for one in scene.listed(user, k) if scene.categories(one[0], of)]
    for item, rank in described:
        for one in scene.categories(item, of):
            weights[one] += (p ** (rank - 1) if weight == "geometric" else 1) / len(
                scene.categories(item, of)
            )
    total = math.fsum(weights.values())
    shares = [weight / total for weight in weights.values() if weight] if described else []
    return -math.fsum(share * math.log2(share) for share in shares) if shares else None


def miscalibration(  # noqa: PLR0913
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    of: str = "",
    divergence: str = "kl",
    alpha: float = 0.01,
    log_base: float = 2,
    weight: str = "none",
) -> float | None:
    p = mix((scene.categories(item, of), 1.0) for item in scene.history(user))
    q = mix(
        (scene.categories(item, of), WEIGHTS[weight](rank)) for item, rank in scene.listed(user, k)
    )
    if not p or not q:
        return None
    both = {one: (p.get(one, 0.0), q.get(one, 0.0)) for one in {*p, *q}}
    if divergence == "hellinger":
        # 1 - sum of sqrt(p q), without what is lost where the two are nearly the same
        return math.sqrt(
            math.fsum((math.sqrt(left) - math.sqrt(right)) ** 2 for left, right in both.values())
            / 2
        )
    if divergence == "js":
        middle = {one: (left + right) / 2 for one, (left, right) in both.items()}
        return (divergence_of(p, middle, log_base) + divergence_of(q, middle, log_base)) / 2
    return divergence_of(
        p,
        {one: (1 - alpha) * right + alpha * left for one, (left, right) in both.items()},
        log_base,
    )


def exposure_share(
    scene: Scene, users: Sequence[Any], k: int | None, *, weight: str = "none"
) -> float | None:
    """The segment's part of all rows of these users' lists."""
    rows = [one for user in users for one in cut(scene.lists.get(user, ()), k)]
    inside = math.fsum(WEIGHTS[weight](rank) for item, rank in rows if scene.inside(item))
    return ratio(inside, math.fsum(WEIGHTS[weight](rank) for _, rank in rows))


def exposure_disparity(
    scene: Scene, users: Sequence[Any], k: int | None, *, of: str = "", target: str = "catalogue"
) -> float | None:
    """The coefficient of variation, over groups of items, of how often their unseen (or unseen relevant) items are listed."""
    shares = []
    catalogue = scene.catalogue()
    featureless = scene.items is None or all(len(row) == 1 for row in scene.items.values())
    if not of and featureless:
        tail = long_tail(scene, "interactions", 0.8)
        groups = [tail, catalogue - tail]
    else:
        categories = {one for item in catalogue for one in scene.categories(item, of)}
        groups = [
            {item for item in catalogue if one in scene.categories(item, of)} for one in categories
        ]
    for own in groups:
        listed = possible = 0
        for user in scene.with_lists(users, k):
            there = own - set(scene.history(user))
            # of which some are listed: those of the list alone would say nothing
            there = there & scene.all_relevant(user) if target == "relevant" else there
            listed += len(there & set(scene.found(user, k)))
            possible += len(there)
        if possible:
            shares.append(listed / possible)
    average = mean(shares)
    if len(shares) < 2 or not average:
        return None
    return math.sqrt(math.fsum((share - average) ** 2 for share in shares) / len(shares)) / average


OF_LISTS: dict[str, Callable[..., float | None]] = {
    one.__name__: one
    for one in (
        novelty,
        epc,
        efd,
        popularity,
        long_tail_share,
        long_tail_count,
        repeat_rate,
        diversity,
        category_coverage,
        category_entropy,
        serendipity,
        overlap,
        unexpectedness,
        rbo,
        least_item_promoted,
        miscalibration,
    )
}
"""A value for each list, and the mean over the users who have one."""


def follows(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a metric of lists asks what is relevant, and so runs over users of the universe alone."""
    return name == "serendipity" or (name in OF_LISTS and bool(parameters.get("relevance")))


OF_USERS: dict[str, Callable[..., float | None]] = {
    one.__name__: one
    for one in (
        user_coverage,
        fall_out,
        mcc,
        mean_percentile_rank,
        alpha_ndcg,
        err_ia,
        nrbp,
        value,
        corrected,
    )
}
"""A value for each user of the accuracy metrics, list or not."""

OF_SETS: dict[str, Callable[..., float | None]] = {
    one.__name__: one
    for one in (
        coverage,
        gini,
        entropy,
        tail_coverage,
        popularity_lift,
        personalization,
        exposure_share,
        exposure_disparity,
    )
}
"""One value of all lists of a segment, and never a mean."""

OF_ROWS: dict[str, Callable[..., float | None]] = {"efd": efd_of_rows}
"""With `average="rows"` one value of all rows of a segment."""


def set_of(name: str, parameters: Mapping[str, Any]) -> Callable[..., float | None] | None:
    """Return the function of all lists of a segment, of a metric that is one."""
    return OF_ROWS[name] if parameters.get("average") == "rows" else OF_SETS.get(name)


def values(
    name: str, scene: Scene, users: Iterable[Any], k: int | None, **parameters: Any
) -> Iterator[tuple[Any, Any]]:
    """(user, value) of a metric of lists or of users."""
    over = OF_LISTS.get(name) or OF_USERS[name]
    for user in users:
        yield user, over(scene, user, k, **parameters)


def overall(
    name: str, scene: Scene, k: int | None, users: Iterable[Any] | None = None, **parameters: Any
) -> float | None:
    """One number: of the set of lists, or the mean over the users who count."""
    users = [*scene.lists] if users is None else [*users]
    if (of_set := set_of(name, parameters)) is not None:
        return of_set(scene, users, k, **parameters)
    counted = scene.with_lists(users, k) if name in OF_LISTS else users
    return mean(value for _, value in values(name, scene, counted, k, **parameters))
