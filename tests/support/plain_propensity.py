"""Recall and DCG with inverse propensities, in plain Python: each hit counts for the pairs like it that nobody observed."""

from __future__ import annotations

import math
from collections.abc import Callable
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
    exponent: float,
    min_propensity: float,
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


def weighted_recall(
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    weights: str,
    exponent: float = 1.0,
    min_propensity: float = 1e-4,
) -> float:
    how: Any = {"weights": weights, "exponent": exponent, "min_propensity": min_propensity}
    return weighted(scene, user, k, lambda rank, gain: 1.0, whole=len(scene.relevant(user)), **how)  # noqa: ARG005


def weighted_dcg(
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    weights: str,
    exponent: float = 1.0,
    min_propensity: float = 1e-4,
) -> float:
    how: Any = {"weights": weights, "exponent": exponent, "min_propensity": min_propensity}
    return weighted(scene, user, k, lambda rank, gain: gain / math.log2(rank + 1), **how)


WEIGHTED: dict[str, Callable[..., float]] = {"recall": weighted_recall, "dcg": weighted_dcg}
