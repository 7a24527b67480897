"""Exposure of groups of items said a second time, in plain Python: every item of the catalogue by itself, every pair of groups.

Written from the papers (Raj and Ekstrand 2022; Diaz et al. 2020; Deldjoo et al. 2021) and not from the library, the long way
round: shares of all groups of the catalogue, targets of all its items.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from plain_scene import Scene, mean


def groups_of(scene: Scene, of: str) -> set[Any]:
    return {one for item in scene.catalogue() for one in scene.categories(item, of)}


def shares(scene: Scene, of: str, weighted: Iterable[tuple[Any, float]]) -> dict[Any, float] | None:
    """Of each group of the catalogue its share of the weight of the items that have one; None where none has."""
    weights = [(item, weight) for item, weight in weighted if scene.categories(item, of)]
    whole = math.fsum(weight for _, weight in weights)
    if not whole:
        return None
    return {
        group: math.fsum(
            weight / len(scene.categories(item, of)) / whole
            for item, weight in weights
            if group in scene.categories(item, of)
        )
        for group in groups_of(scene, of)
    }


def target_of(scene: Scene, user: Any, of: str, target: str) -> dict[Any, float] | None:
    groups = groups_of(scene, of)
    if target == "uniform":
        return {group: 1 / len(groups) for group in groups}
    if target == "catalogue":
        return shares(scene, of, ((item, 1.0) for item in scene.catalogue()))
    if target == "train":
        return shares(scene, of, ((item, 1.0) for _, item in scene.train if scene.inside(item)))
    if target == "relevant":
        return shares(scene, of, ((item, 1.0) for item in scene.relevant(user)))
    return {group: json.loads(target).get(str(group)) for group in groups}


def relative(one: Mapping[Any, float], other: Mapping[Any, float]) -> float:
    return math.fsum(part * math.log(part / other[key]) for key, part in one.items() if part)


DISCOUNTS: dict[str, Callable[[float, float], float]] = {
    "log2": lambda rank, _: 1 / math.log2(rank + 1),
    "unshifted": lambda rank, _: 1 / math.log2(max(rank, 2)),
    "geometric": lambda rank, p: p ** (rank - 1),
}


def awrf(  # noqa: PLR0913  those of the metric
    scene: Scene,
    user: Any,
    k: int | None,
    *,
    of: str = "",
    target: str = "uniform",
    discount: str = "log2",
    p: float = 0.5,
    distance: str = "difference",
) -> float | None:
    listed = [(item, DISCOUNTS[discount](rank, p)) for item, rank in scene.listed(user, k)]
    exposed, wanted = shares(scene, of, listed), target_of(scene, user, of, target)
    if exposed is None or wanted is None:
        return None
    if distance == "difference":
        # shares that no group of the catalogue is to have are in no list either
        apart = [abs(exposed[group] - wanted[group]) for group in wanted]
        return 1 - (math.fsum(apart) + 1 - math.fsum(wanted.values())) / 2
    middle = {group: (exposed[group] + wanted[group]) / 2 for group in wanted}
    beyond = (1 - math.fsum(wanted.values())) * math.log(2)
    return 1 - (relative(exposed, middle) + relative(wanted, middle) + beyond) / 2


def targets(scene: Scene, user: Any, p: float) -> dict[Any, float]:
    """The mean of p^(r - 1) over the places that the items of a grade take in the best order of the catalogue."""
    catalogue = scene.catalogue()
    grades = {item: scene.relevant(user).get(item, 0.0) for item in catalogue}
    order = sorted(catalogue, key=lambda item: -grades[item])
    found = {}
    for item in catalogue:
        places = [place for place, other in enumerate(order) if grades[other] == grades[item]]
        found[item] = math.fsum(p**place for place in places) / len(places)
    return found


def expected_exposure(
    scene: Scene, user: Any, k: int | None, *, part: str = "loss", of: str = "", p: float = 0.8
) -> float:
    if not scene.catalogue() & set(scene.relevant(user)):
        return 0.0
    ranks = dict(scene.listed(user, k))
    wanted = targets(scene, user, p)
    pairs: dict[Any, list[tuple[float, float]]] = {}
    for item, one in wanted.items():
        exposed = p ** (ranks[item] - 1) if item in ranks else 0.0
        groups = scene.categories(item, of) if of else [item]
        for group in groups:
            pairs.setdefault(group, []).append((exposed / len(groups), one / len(groups)))
    sums = [tuple(map(math.fsum, zip(*own, strict=True))) for own in pairs.values()]
    added = {
        "loss": lambda e, t: (e - t) ** 2,
        "disparity": lambda e, _: e * e,
        "relevance": lambda e, t: e * t,
    }
    return math.fsum(added[part](*one) for one in sums)


def exposure_gap(
    scene: Scene, users: Sequence[Any], k: int | None, *, of: str = ""
) -> float | None:
    gains: dict[Any, list[float]] = {}
    for user in users:
        for item, rank in scene.listed(user, k):
            gain = scene.relevant(user).get(item, 0.0)
            gains.setdefault(item, []).append(gain / math.log2(rank + 1))
    groups = {group for item in gains for group in scene.categories(item, of)}
    means = [
        mean(mean(own) for item, own in gains.items() if group in scene.categories(item, of))
        for group in groups
    ]
    return mean(abs(one - other) for one, other in combinations(means, 2))
