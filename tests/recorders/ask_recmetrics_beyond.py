"""recmetrics beyond accuracy: its counts are to have every item, so a cold one is given as one that one user has."""

from __future__ import annotations

from collections import Counter

import recmetrics
from answers_beyond import answer
from scenes import _nested
from scenes_beyond import KS


def answers(name, scene):
    """Give every metric that both have."""
    counts = Counter(item for _, item in scene.train)
    popular = {item: max(counts[item], 1) for item in scene.items}
    n_users = len({user for user, _ in scene.train})
    lists = {user: list(items) for user, items in _nested(scene.recs).items()}
    users = {}
    for k in KS:
        _, values = recmetrics.novelty([own[:k] for own in lists.values()], popular, n_users, k)
        users[k] = {user: float(value) for user, value in zip(lists, values, strict=True)}
    means = {k: sum(own.values()) / len(own) for k, own in users.items()}
    yield answer(name, "novelty", "novelty(denominator=k)", means, users=users)
