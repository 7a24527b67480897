"""Sums over hits with inverse propensities, in plain Python: each hit counts for the pairs like it that nobody observed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plain_scene import Scene, ratio

Worth = Callable[[float, float], float]


def propensity(scene: Scene, user: Any, item: Any, exponent: float, floor: float) -> float:
    """Return how likely it was to observe the pair: as given, or by the item's popularity, which has this exponent."""
    if scene.propensity is not None:
        return max(scene.propensity[user, item] or 0.0, floor)
    most = max(map(scene.popularity, scene.train_items()), default=1)
    return max((max(scene.popularity(item), 1) / most) ** ((exponent + 1) / 2), floor)


def weighted(  # noqa: PLR0913
    scene: Scene,
    user: Any,
    k: int | None,
    worth: Worth,
    *,
    weights: str,
    exponent: float = 1.0,
    min_propensity: float = 1e-4,
    whole: int = 1,
) -> float:
    """Sum what a listed relevant item is worth at its rank over its propensity; SNIPS divides by the sum of 1 / propensity.

    IPS divides by the whole: the relevant items at hand for recall, nothing for a total.
    """
    relevant = scene.relevant(user)
    chances = {item: propensity(scene, user, item, exponent, min_propensity) for item in relevant}
    listed = [(item, rank) for item, rank in scene.listed(user, k) if item in relevant]
    total = math.fsum(worth(rank, relevant[item]) / chances[item] for item, rank in listed)
    return (
        ratio(
            total,
            whole if weights == "ips" else math.fsum(1 / chance for chance in chances.values()),
        )
        or 0.0
    )


def weighted_recall(scene: Scene, user: Any, k: int | None, **how: Any) -> float:
    return weighted(scene, user, k, lambda rank, gain: 1.0, whole=len(scene.relevant(user)), **how)  # noqa: ARG005


def weighted_dcg(scene: Scene, user: Any, k: int | None, **how: Any) -> float:
    return weighted(scene, user, k, lambda rank, gain: gain / math.log2(rank + 1), **how)


@dataclass(frozen=True)
class Observed:
    """One list cut at k, and the user's relevant items, each with 1 / its propensity."""

    relevant: dict[Any, float]
    inverse: dict[Any, float]
    listed: list[tuple[Any, float]]
    snips: bool

    def share(self, total: float) -> float:
        """Take each weight relative to the mean weight of the relevant items, if asked for."""
        mean = ratio(math.fsum(self.inverse.values()), len(self.inverse)) if self.snips else 1.0
        found = ratio(total, mean) or 0.0
        return min(found, 1.0) if self.snips else found

    def total(self, worth: Callable[[float], float]) -> float:
        return math.fsum(
            self.inverse[item] * worth(rank) for item, rank in self.listed if item in self.inverse
        )


def observed(
    scene: Scene,
    user: Any,
    k: int | None,
    weights: str,
    exponent: float = 1.0,
    min_propensity: float = 1e-4,
) -> Observed:
    relevant = scene.relevant(user)
    chances = {
        item: 1 / propensity(scene, user, item, exponent, min_propensity) for item in relevant
    }
    return Observed(relevant, chances, [*scene.listed(user, k)], weights == "snips")


def weighted_precision(scene: Scene, user: Any, k: int | None, **how: Any) -> float:
    one = observed(scene, user, k, **how)
    places = len(one.listed) if k is None else k
    return one.share(ratio(one.total(lambda rank: 1.0), places) or 0.0)  # noqa: ARG005


def weighted_rbp(scene: Scene, user: Any, k: int | None, *, p: float = 0.8, **how: Any) -> float:
    one = observed(scene, user, k, **how)
    return one.share((1 - p) * one.total(lambda rank: p ** (rank - 1)))


def weighted_ndcg(
    scene: Scene, user: Any, k: int | None, *, gain: str = "linear", **how: Any
) -> float:
    one = observed(scene, user, k, **how)
    gains = {
        item: {"linear": g, "exp": 2**g - 1, "binary": 1.0}[gain]
        for item, g in one.relevant.items()
    }
    found = math.fsum(
        gains[item] * one.inverse[item] / math.log2(rank + 1)
        for item, rank in one.listed
        if item in gains
    )
    own = one.inverse if one.snips else dict.fromkeys(gains, 1.0)
    best = sorted((gains[item] * own[item] for item in gains), reverse=True)[:k]
    return (
        ratio(found, math.fsum(value / math.log2(place + 2) for place, value in enumerate(best)))
        or 0.0
    )


def weighted_auc(scene: Scene, user: Any, k: int | None, **how: Any) -> float | None:
    """Of each relevant item of the list: which share of the others stands below it."""
    one = observed(scene, user, k, **how)
    hits = [(rank, one.inverse[item]) for item, rank in one.listed if item in one.inverse]
    misses = [rank for item, rank in one.listed if item not in one.inverse]
    if not hits or not misses:
        return None
    total = math.fsum(w * sum(rank < miss for miss in misses) / len(misses) for rank, w in hits)
    return total / (math.fsum(w for _, w in hits) if one.snips else len(hits))


WEIGHTED: dict[str, Callable[..., float | None]] = {
    "recall": weighted_recall,
    "dcg": weighted_dcg,
    "precision": weighted_precision,
    "rbp": weighted_rbp,
    "ndcg": weighted_ndcg,
    "auc": weighted_auc,
}
