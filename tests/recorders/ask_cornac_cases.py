"""Cornac's normalised cumulative reciprocal rank, a user at a time."""

from __future__ import annotations

import numpy as np
from answers_cases import answer
from cornac.metrics import NCRR


def answers(name, scene):
    """Give NCRR of users with a list and something relevant, which Cornac evaluates alone."""
    if name not in {"ragged", "full"}:
        return
    found = {k: {} for k in (1, 3, 10)}
    for user, own in scene.relevances().items():
        ranked = np.array([int(item[1:]) for item in scene.lists().get(user, {})])
        relevant = np.array([int(item[1:]) for item, grade in own.items() if grade > 0])
        if len(ranked) and len(relevant):
            for k, one in found.items():
                one[scene.case(user)] = NCRR(k=k).compute(relevant, ranked)
    ours = "ncrr" if name == "full" else "ncrr(denominator=list)"
    yield answer(name, "NCRR", ours, found)
