"""The metrics of the catalogue, of novelty and of popularity said a second time, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from plain_scene import One, Scene, Several, mean, ratio

WEIGHTS: dict[str, Callable[[float], float]] = {
    "none": lambda rank: 1.0,  # noqa: ARG005
    "log": lambda rank: 1 / math.log2(rank + 1),
    "geometric": lambda rank: 0.85 ** (rank - 1),
    "reciprocal": lambda rank: 1 / rank,
}


def exposures(lists: Several, weight: str) -> list[float]:
    """Return the exposure of each item of the catalogue, zeros included."""
    found: dict[Any, list[float]] = {item: [] for item in lists.scene.catalogue}
    for item, rank in lists.listed:
        if item in found:
            found[item].append(WEIGHTS[weight](rank))
    return [math.fsum(own) for own in found.values()]


def coverage(lists: Several) -> float | None:
    counts = exposures(lists, "none")
    return ratio(sum(count > 0 for count in counts), len(counts))


def gini(lists: Several, *, weight: str = "none", normalizer: str = "corrected") -> float | None:
    """Half the relative mean difference, over all ordered pairs of items."""
    found = exposures(lists, weight)
    total, n = math.fsum(found), len(found)
    if not total:
        return None
    differences = math.fsum(abs(one - other) for one in found for other in found)
    return differences / (2 * total * (n if normalizer == "n" else max(n - 1, 1)))


def entropy(lists: Several, *, weight="none", normalized=False, log_base=2) -> float | None:
    found = exposures(lists, weight)
    total = math.fsum(found)
    if not total:
        return None
    value = math.fsum(one / total * math.log(total / one, log_base) for one in found if one)
    return ratio(value, math.log(len(found), log_base)) if normalized else value


def user_coverage(one: One, *, at_least: str = "one") -> float:
    return float(len(one.listed) >= (one.k if at_least == "k" and one.k is not None else 1))


def confusion(one: One, denominator: str = "list") -> tuple[int, int, int, int]:
    """Count (tp, fp, fn, tn) over the catalogue."""
    catalogue = one.scene.catalogue
    listed, relevant = catalogue & {*one.found}, catalogue & {*one.relevant}
    tp = len(listed & relevant)
    # more than k items where ranks repeat
    places = len(listed) if denominator == "list" or one.k is None else max(one.k, tp)
    fp, fn = places - tp, len(relevant) - tp
    return tp, fp, fn, max(len(catalogue) - tp - fp - fn, 0)


def fall_out(one: One) -> float:
    _, fp, _, tn = confusion(one)
    return ratio(fp, fp + tn) or 0.0


def mcc(one: One, *, denominator: str = "list") -> float:
    tp, fp, fn, tn = confusion(one, denominator)
    return ratio(tp * tn - fp * fn, math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))) or 0.0


def places_above(one: One) -> list[float]:
    """Of each relevant item of the catalogue the places above its own: behind the list the mean of those that are left."""
    ranks, n = dict(one.listed), len(one.scene.catalogue)
    left = mean(range(min(len(ranks), n), n))
    left = n - 0.5 if left is None else left
    relevant = one.scene.catalogue & {*one.relevant}
    return [ranks[item] - 1 if item in ranks else left for item in relevant]


def mean_percentile_rank(one: One, **_average: str) -> float | None:
    """Hu et al. 2008; over all pairs of a user and a relevant item, if these are averaged, which is one thing of one user."""
    above, n = mean(places_above(one)), len(one.scene.catalogue)
    return None if above is None else min(above, n - 1) / n


def novelty(one: One, *, cold="one", normalized=False, log_base=2, denominator="list"):
    n_users = len(one.scene.train_users)
    popular = [one.scene.popularity[item] for item in one.found]
    if cold == "drop":
        popular = [pop for pop in popular if pop]
    if not popular or not n_users:
        return None
    informed = math.fsum(math.log(n_users / max(pop, 1), log_base) for pop in popular)
    # more than k items stand up to k where ranks repeat
    by_list = denominator == "list" or one.k is None
    value = informed / (len(popular) if by_list else max(len(popular), one.k))
    return ratio(value, math.log(n_users, log_base)) if normalized else value


def discounted(
    ones: Iterable[One], novel: Callable[[Scene, Any], float], *, discount="none", relevance=False
) -> float | None:
    """Expected novelty in the browsing model of Vargas and Castells: discounts sum to 1 over the list, or over all rows."""
    total, parts = [], []
    for one in ones:
        for item, rank in one.listed:
            weight = WEIGHTS[discount](rank)
            total.append(weight)
            parts.append(weight * novel(one.scene, item) * (not relevance or item in one.relevant))
    return ratio(math.fsum(parts), math.fsum(total))


def epc(one: One, **how: Any) -> float | None:
    def novel(scene: Scene, item: Any) -> float:
        return 1 - scene.popularity[item] / len(scene.train_users)

    return discounted([one], novel, **how) if one.scene.train else None


def efd(one: One, **how: Any) -> float | None:
    return efd_of_rows(Several(one.scene, [one.user], one.k), **how)


def efd_of_rows(
    lists: Several, *, log_base=2, cold="one", average="rows", **how: Any
) -> float | None:
    del average  # of one user both are the same

    def novel(scene: Scene, item: Any) -> float:
        pop = scene.popularity[item]
        share = len(scene.train) / max(pop, 1)
        return 0.0 if cold == "zero" and not pop else math.log(share, log_base)

    return discounted(lists, novel, **how) if lists.scene.train else None


def quantile(scene: Scene, item: Any) -> float:
    """The share of train's items that the item is as popular as, counting half of the others of its own popularity."""
    pop, others = scene.popularity[item], [*scene.popularity.values()]
    same = sum(other == pop for other in others)
    return (sum(other < pop for other in others) + (same + 1) / 2) / len(others) if same else 0.0


def popularity(one: One, *, normalizer: str = "none") -> float | None:
    scene = one.scene
    if normalizer == "quantile":
        return mean(quantile(scene, item) for item in one.found)
    found = mean(scene.popularity[item] for item in one.found)
    whole = {
        "none": 1,
        "users": len(scene.train_users),
        "max": max(scene.popularity.values(), default=0),
        "interactions": len(scene.train),
    }
    return None if found is None else ratio(found, whole[normalizer])


def long_tail(scene: Scene, tail: str = "interactions", share: float = 0.8) -> set[Any]:
    """The catalogue without the head, which holds a share of the interactions or of the items; of a segment, its part."""
    catalogue, counts = scene.catalogue, scene.popularity
    if tail == "items":
        rising = sorted(catalogue, key=lambda item: (counts[item], item))
        return set(rising[: max(int(round(1 - share, 12) * len(rising)), 1)])
    head: set[Any] = set()
    for item in sorted(counts, key=lambda item: (-counts[item], item)):
        if sum(counts[one] for one in head) >= share * len(scene.train):
            break
        head.add(item)
    return catalogue - head


def long_tail_count(one: One, **how: Any) -> float | None:
    return float(len(long_tail(one.scene, **how) & {*one.found})) if one.found else None


def long_tail_share(one: One, **how: Any) -> float | None:
    return long_tail_count(one, **how) / len(one.found) if one.found else None


def tail_coverage(lists: Several, **how: Any) -> float | None:
    there = long_tail(lists.scene, **how)
    return ratio(len({item for item, _ in lists.listed} & there), len(there))


def popularity_lift(lists: Several, *, average: str = "ratio") -> float | None:
    count = lists.scene.popularity
    pairs = [[mean(count[i] for i in items) for items in (one.found, one.history)] for one in lists]
    pairs = [pair for pair in pairs if None not in pair]
    if average == "users":
        return mean((listed - before) / before for listed, before in pairs)
    if not pairs:
        return None
    listed, before = map(mean, zip(*pairs, strict=True))
    return (listed - before) / before


def repeat_rate(one: One) -> float | None:
    return ratio(len({*one.found} & {*one.history}), len(one.found))
