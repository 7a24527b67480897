"""Kaggle's mean average precision at k, as ml_metrics has it: over the users of the answers, those without a list as 0."""

from __future__ import annotations

from answers import answer
from ml_metrics import apk, mapk
from scenes import KS


def answers(name, scene):
    """Give the one metric, of users who all have an answer."""
    if name not in {"fixture", "binary"}:
        return
    truth, lists = scene.relevances(), scene.lists()
    actual = {user: [*items] for user, items in truth.items()}
    predicted = {user: [*lists.get(user, {})] for user in actual}
    yield answer(
        name,
        "mapk",
        "map",
        {k: mapk([*actual.values()], [*predicted.values()], k) for k in KS},
        users={k: {user: apk(actual[user], predicted[user], k) for user in actual} for k in KS},
        profile="kaggle",
        plain="map(normalizer=min)",
    )
