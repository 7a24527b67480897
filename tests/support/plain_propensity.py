"""Sums over hits with inverse propensities, in plain Python: each hit counts for the pairs like it that nobody observed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plain_scene import One, ratio


def propensity(one: One, item: Any, exponent: float, floor: float) -> float:
    """Return how likely it was to observe the pair: as given, or by the item's popularity, which has this exponent."""
    scene = one.scene
    if scene.propensity is not None:
        return max(scene.propensity[one.user, item] or 0.0, floor)
    most = max(scene.popularity.values(), default=1)
    return max((max(scene.popularity[item], 1) / most) ** ((exponent + 1) / 2), floor)


@dataclass(frozen=True)
class Observed:
    """A list whose relevant items have each 1 / its propensity."""

    one: One
    inverse: dict[Any, float]
    snips: bool

    def total(self, worth: Callable[[float, float], float]) -> float:
        """Sum what a hit is worth by its rank and gain, over its propensity."""
        gains = self.one.relevant
        hits = [(item, rank) for item, rank in self.one.listed if item in gains]
        return math.fsum(self.inverse[item] * worth(rank, gains[item]) for item, rank in hits)

    def over(self, total: float, whole: float) -> float:
        """Divide by the whole, which SNIPS estimates by the sum of 1 / propensity."""
        return ratio(total, math.fsum(self.inverse.values()) if self.snips else whole) or 0.0

    def share(self, total: float) -> float:
        """Take each weight relative to the mean weight of the relevant items, if asked for."""
        found = self.over(total, 1.0)
        return min(found * len(self.inverse), 1.0) if self.snips else found


def observed(one: One, weights: str, exponent=1.0, min_propensity=1e-4) -> Observed:
    inverse = {item: 1 / propensity(one, item, exponent, min_propensity) for item in one.relevant}
    return Observed(one, inverse, weights == "snips")


def recall(one: One, **how: Any) -> float:
    own = observed(one, **how)
    return own.over(own.total(lambda _rank, _gain: 1.0), len(one.relevant))


def dcg(one: One, **how: Any) -> float:
    own = observed(one, **how)
    return own.over(own.total(lambda rank, gain: gain / math.log2(rank + 1)), 1.0)


def precision(one: One, **how: Any) -> float:
    own = observed(one, **how)
    places = len(one.listed) if one.k is None else one.k
    return own.share(ratio(own.total(lambda _rank, _gain: 1.0), places) or 0.0)


def rbp(one: One, *, p: float = 0.8, **how: Any) -> float:
    own = observed(one, **how)
    return own.share((1 - p) * own.total(lambda rank, _gain: p ** (rank - 1)))


def ndcg(one: One, *, gain: str = "linear", **how: Any) -> float:
    own = observed(one, **how)

    def raised(g: float) -> float:
        return {"linear": g, "exp": 2**g - 1, "binary": 1.0}[gain]

    found = own.total(lambda rank, g: raised(g) / math.log2(rank + 1))
    weighed = [raised(g) * (own.inverse[i] if own.snips else 1.0) for i, g in one.relevant.items()]
    best = enumerate(sorted(weighed, reverse=True)[: one.k], start=1)
    return ratio(found, math.fsum(value / math.log2(place + 1) for place, value in best)) or 0.0


def auc(one: One, **how: Any) -> float | None:
    """Of each relevant item of the list: which share of the others stands below it."""
    own = observed(one, **how)
    misses = [rank for item, rank in one.listed if item not in one.relevant]
    if not misses or len(misses) == len(one.listed):
        return None
    total = own.total(lambda rank, _: sum(rank < miss for miss in misses) / len(misses))
    weights = own.total(lambda _rank, _gain: 1.0)
    return total / (weights if own.snips else len(one.listed) - len(misses))


WEIGHTED: dict[str, Callable[..., float | None]] = {
    one.__name__: one for one in (recall, dcg, precision, rbp, ndcg, auc)
}
