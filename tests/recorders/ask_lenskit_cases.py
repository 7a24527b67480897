"""LensKit's entropies of a list's categories, and how far its least item was promoted."""

from __future__ import annotations

import numpy as np
from answers_cases import answer
from lenskit.data import ItemList
from lenskit.metrics import GeometricRankWeight, least_item_promoted
from lenskit.metrics.ranking._entropy import entropy, rank_biased_entropy
from scenes_cases import CATEGORIES

KS = (1, 3, 10)


def answers(name, scene):
    """Give the entropies of all lists; promotion where a list and its reference share an item."""
    if name == "full":
        yield _promoted(name, scene)
    if name != "ragged":
        return
    smoothed = "smoothing=1e-6"
    calls = {
        "Entropy": (f"category_entropy(of=genre, {smoothed})", entropy, {}),
        "RankBiasedEntropy": (
            f"category_entropy(of=genre, weight=geometric, {smoothed})",
            rank_biased_entropy,
            {},
        ),
        "RankBiasedEntropy(weight=GeometricRankWeight(0.5))": (
            f"category_entropy(of=genre, weight=geometric, p=0.5, {smoothed})",
            rank_biased_entropy,
            {"weight": GeometricRankWeight(0.5)},
        ),
    }
    for call, (ours, metric, told) in calls.items():
        found = {k: {} for k in KS}
        for user, items in scene.lists().items():
            for k, own in found.items():
                listed = [*items][:k]
                own[scene.case(user)] = metric(ItemList(listed), _shares(scene, listed), **told)
        yield answer(name, call, ours, found, sides=["items"])


def _promoted(name, scene):
    found = {k: {} for k in (6, 8, 10)}
    for user, items in scene.lists().items():
        # it counts places from 0: with an item before them all, from 1 as here
        reference = ItemList(["first", *scene.references().get(user, {})])
        for k, own in found.items():
            listed = [*items][:k]
            if {*listed} & {*reference.ids()}:
                own[scene.case(user)] = least_item_promoted(reference, ItemList(listed), k)
    return answer(
        name,
        "least_item_promoted, places from 1",
        "least_item_promoted",
        found,
        sides=["reference"],
    )


def _shares(scene, items):
    rows = [
        [(one in scene.items[item]) / len(scene.items[item]) for one in CATEGORIES]
        for item in items
    ]
    return np.array(rows)
