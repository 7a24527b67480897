"""Recall and DCG with inverse propensities, in plain Python: each hit counts for the pairs like it that nobody observed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from beyond_reference import ratio
from beyond_scene import Scene


@dataclass(frozen=True)
class Propensities:
    """How likely it was to observe a relevant pair: as given, or a power of the item's popularity in train."""

    exponent: float = 1.0
    floor: float = 1e-4

    def of(self, scene: Scene, user: Any, item: Any) -> float:
        if scene.propensity is not None:
            given = scene.propensity.get((user, item))
            return max(given, self.floor) if given is not None and given > 0 else self.floor
        most = max(map(scene.popularity, scene.train_items()), default=0)
        return max((scene.popularity(item) / most) ** self.exponent, self.floor) if most else self.floor


def weighted(
    scene: Scene, user: Any, k: int | None, weights: str, propensities: Propensities, worth: Callable[[float, float], float]
) -> float:
    """Sum what a listed relevant item is worth at its rank over its propensity; SNIPS divides by the sum of 1 / propensity."""
    relevant = scene.relevant(user)
    chances = {item: propensities.of(scene, user, item) for item in relevant}
    listed = [(item, rank) for item, rank in scene.listed(user, k) if item in relevant]
    total = math.fsum(worth(rank, relevant[item]) / chances[item] for item, rank in listed)
    return total if weights == "ips" else ratio(total, math.fsum(1 / chance for chance in chances.values())) or 0.0


def weighted_recall(scene: Scene, user: Any, k: int | None, weights: str, propensities: Propensities) -> float:
    return weighted(scene, user, k, weights, propensities, lambda rank, gain: 1.0)  # noqa: ARG005


def weighted_dcg(scene: Scene, user: Any, k: int | None, weights: str, propensities: Propensities) -> float:
    return weighted(scene, user, k, weights, propensities, lambda rank, gain: gain / math.log2(rank + 1))


WEIGHTED: dict[str, Callable[..., float]] = {"recall": weighted_recall, "dcg": weighted_dcg}
