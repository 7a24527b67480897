"""The metrics of the catalogue, of novelty and of popularity said a second time, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from plain_scene import Scene, mean, ratio

WEIGHTS: dict[str, Callable[[float], float]] = {
    "none": lambda rank: 1.0,  # noqa: ARG005
    "log": lambda rank: 1 / math.log2(rank + 1),
    "geometric": lambda rank: 0.85 ** (rank - 1),
    "reciprocal": lambda rank: 1 / rank,
}


def exposures(scene: Scene, users: Iterable[Any], k: int | None, weight: str) -> dict[Any, float]:
    """{item of the catalogue: exposure}, zeros included."""
    found: dict[Any, list[float]] = {item: [] for item in scene.catalogue()}
    for user in users:
        for item, rank in scene.listed(user, k):
            if item in found:
                found[item].append(WEIGHTS[weight](rank))
    return {item: math.fsum(own) for item, own in found.items()}


def coverage(scene: Scene, users: Sequence[Any], k: int | None) -> float | None:
    counts = exposures(scene, users, k, "none")
    return ratio(sum(count > 0 for count in counts.values()), len(counts))


def gini(
    scene: Scene,
    users: Sequence[Any],
    k: int | None,
    *,
    weight: str = "none",
    normalizer: str = "corrected",
) -> float | None:
    """Half the relative mean difference, over all ordered pairs of items."""
    found = list(exposures(scene, users, k, weight).values())
    total, n = math.fsum(found), len(found)
    if not total:
        return None
    if n == 1:
        return 0.0
    differences = math.fsum(abs(one - other) for one in found for other in found)
    return differences / (2 * total * (n if normalizer == "n" else n - 1))


def entropy(
    scene: Scene,
    users: Sequence[Any],
    k: int | None,
    *,
    weight: str = "none",
    normalized: bool = False,
    log_base: float = 2,
) -> float | None:
    found = list(exposures(scene, users, k, weight).values())
    total = math.fsum(found)
    if not total:
        return None
    value = math.fsum(one / total * math.log(total / one, log_base) for one in found if one)
    return ratio(value, math.log(len(found), log_base)) if normalized else value


def user_coverage(scene: Scene, user: Any, k: int | None, *, at_least: str = "one") -> float:
    n = len(scene.listed(user, k))
    return float(n >= (k if at_least == "k" and k is not None else 1))


def confusion(
    scene: Scene, user: Any, k: int | None, *, denominator: str = "list"
) -> tuple[int, int, int, int]:
    """Count (tp, fp, fn, tn) over the catalogue."""
    catalogue = scene.catalogue()
    listed = catalogue & set(scene.found(user, k))
    relevant = catalogue & set(scene.relevant(user))
    tp = len(listed & relevant)
    # more than k items where ranks repeat
    places = len(listed) if denominator == "list" or k is None else max(k, tp)
    fp, fn = places - tp, len(relevant) - tp
    return tp, fp, fn, max(len(catalogue) - tp - fp - fn, 0)


def fall_out(scene: Scene, user: Any, k: int | None) -> float:
    _, fp, _, tn = confusion(scene, user, k)
    return ratio(fp, fp + tn) or 0.0


def places_above(scene: Scene, user: Any, k: int | None) -> list[float]:
    """Of each relevant item of the catalogue the places above its own: behind the list the mean of those that are left."""
    ranks, n = dict(scene.listed(user, k)), len(scene.catalogue())
    places = range(min(len(ranks), n), n)
    left = sum(places) / len(places) if places else n - 0.5
    relevant = scene.catalogue() & set(scene.relevant(user))
    return [ranks[item] - 1 if item in ranks else left for item in relevant]


def mean_percentile_rank(
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    average: str = "users",  # noqa: ARG001  of one user both are the same
) -> float | None:
    """Hu et al. 2008; over all pairs of a user and a relevant item, if these are averaged."""
    above, n = mean(places_above(scene, user, k)), len(scene.catalogue())
    return None if above is None else min(above, n - 1) / n


def mcc(scene: Scene, user: Any, k: int | None, *, denominator: str = "list") -> float:
    tp, fp, fn, tn = confusion(scene, user, k, denominator=denominator)
    return ratio(tp * tn - fp * fn, math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))) or 0.0


def novelty(  # noqa: PLR0913
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    cold: str = "one",
    normalized: bool = False,
    log_base: float = 2,
    denominator: str = "list",
) -> float | None:
    n_users = len(scene.train_users())
    popular = [scene.popularity(item) for item in scene.found(user, k)]
    if cold == "drop":
        popular = [pop for pop in popular if pop]
    if not popular or not n_users:
        return None
    informed = [math.log(n_users / max(pop, 1), log_base) for pop in popular]
    value = math.fsum(informed) / places(len(informed), k, denominator)
    return ratio(value, math.log(n_users, log_base)) if normalized and value is not None else value


def places(n: int, k: int | None, denominator: str) -> int:
    """What a list of n items is divided by; more than k of them stand up to k where ranks repeat."""
    return n if denominator == "list" or k is None else max(n, k)


def discounted(
    scene: Scene,
    users: Iterable[Any],
    k: int | None,
    how: tuple[str, bool],
    novel: Callable[[Any], float],
) -> float | None:
    """Expected novelty in the browsing model of Vargas and Castells: discounts sum to 1 over the list, or over all rows."""
    discount, relevance = how
    total, parts = [], []
    for user in users:
        relevant = scene.relevant(user)
        for item, rank in scene.listed(user, k):
            total.append(WEIGHTS[discount](rank))
            parts.append(
                WEIGHTS[discount](rank) * novel(item) * (not relevance or item in relevant)
            )
    return ratio(math.fsum(parts), math.fsum(total)) if scene.train else None


def epc(
    scene: Scene, user: Any, k: int | None, *, discount: str = "none", relevance: bool = False
) -> float | None:
    n_users = len(scene.train_users())
    if not n_users:
        return None
    return discounted(
        scene, [user], k, (discount, relevance), lambda item: 1 - scene.popularity(item) / n_users
    )


def efd(scene: Scene, user: Any, k: int | None, **how: Any) -> float | None:
    return efd_of_rows(scene, [user], k, **how)


def efd_of_rows(  # noqa: PLR0913
    scene: Scene,
    users: Iterable[Any],
    k: int | None,
    *,
    discount: str = "none",
    relevance: bool = False,
    log_base: float = 2,
    cold: str = "one",
    average: str = "rows",  # noqa: ARG001  of one user both are the same
) -> float | None:
    if not scene.train:
        return None

    def novel(item: Any) -> float:
        pop = scene.popularity(item)
        return (
            0.0
            if cold == "zero" and not pop
            else math.log(len(scene.train) / max(pop, 1), log_base)
        )

    return discounted(scene, users, k, (discount, relevance), novel)


def quantile(scene: Scene, item: Any) -> float:
    """The share of train's items that the item is as popular as, counting half of the others of its own popularity."""
    pop, others = scene.popularity(item), [scene.popularity(other) for other in scene.train_items()]
    same = sum(other == pop for other in others)
    return (sum(other < pop for other in others) + (same + 1) / 2) / len(others) if same else 0.0


def popularity(scene: Scene, user: Any, k: int | None, *, normalizer: str = "none") -> float | None:
    if normalizer == "quantile":
        return mean(quantile(scene, item) for item in scene.found(user, k))
    found = mean(scene.popularity(item) for item in scene.found(user, k))
    whole = {
        "none": 1,
        "users": len(scene.train_users()),
        "max": max(map(scene.popularity, scene.train_items()), default=0),
        "interactions": len(scene.train),
    }
    return None if found is None else ratio(found, whole[normalizer])


def long_tail(scene: Scene, tail: str, share: float) -> set[Any]:
    """The catalogue without the head, which holds a share of the interactions or of the items; of a segment, its part."""
    catalogue = scene.catalogue()
    if tail == "items":
        rising = sorted(catalogue, key=lambda item: (scene.popularity(item), item))
        return set(rising[: max(int(round(1 - share, 12) * len(rising)), 1)])
    head: set[Any] = set()
    for item in sorted(scene.train_items(), key=lambda item: (-scene.popularity(item), item)):
        if sum(map(scene.popularity, head)) >= share * len(scene.train):
            break
        head.add(item)
    return catalogue - head


def long_tail_count(
    scene: Scene, user: Any, k: int | None, *, tail: str = "interactions", share: float = 0.8
) -> float | None:
    found = scene.found(user, k)
    return float(len(long_tail(scene, tail, share) & set(found))) if found else None


def long_tail_share(
    scene: Scene, user: Any, k: int | None, *, tail: str = "interactions", share: float = 0.8
) -> float | None:
    count = long_tail_count(scene, user, k, tail=tail, share=share)
    return None if count is None else count / len(scene.found(user, k))


def tail_coverage(
    scene: Scene,
    users: Sequence[Any],
    k: int | None,
    *,
    tail: str = "interactions",
    share: float = 0.8,
) -> float | None:
    there = long_tail(scene, tail, share)
    return ratio(len({item for user in users for item in scene.found(user, k)} & there), len(there))


def popularity_lift(
    scene: Scene, users: Sequence[Any], k: int | None, *, average: str = "ratio"
) -> float | None:
    pairs = []
    for user in users:
        listed = mean(scene.popularity(item) for item in scene.found(user, k))
        before = mean(scene.popularity(item) for item in scene.history(user))
        if listed is not None and before is not None:
            pairs.append((listed, before))
    if average == "users":
        return mean((listed - before) / before for listed, before in pairs)
    if not pairs:
        return None
    listed, before = (math.fsum(side) / len(pairs) for side in zip(*pairs, strict=True))
    return (listed - before) / before


def repeat_rate(scene: Scene, user: Any, k: int | None) -> float | None:
    found = scene.found(user, k)
    return ratio(len(set(found) & set(scene.history(user))), len(found))
