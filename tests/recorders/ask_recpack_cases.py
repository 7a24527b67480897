"""RecPack's percentile ranking of each case; its per cent as a share."""

from __future__ import annotations

import numpy as np
from answers_cases import answer
from recpack.metrics import PercentileRanking
from scenes_cases import N_ITEMS
from scipy.sparse import csr_matrix


def answers(name, scene):
    """Give the ranking of cases with something relevant, all of whose users have a list."""
    if name not in {"full", "ragged", "short"}:
        return
    lists, truth = {}, {}
    for user, own in scene.relevances().items():
        relevant = {item: 1.0 for item, grade in own.items() if grade > 0}
        if relevant and scene.lists().get(user):
            truth.setdefault(scene.case(user), []).append(relevant)
            lists.setdefault(scene.case(user), []).append(scene.lists()[user])
    found = {}
    for case, own in truth.items():
        metric = PercentileRanking()
        metric.calculate(_matrix(own), _matrix(lists[case]))
        found[case] = metric.value / 100
    # of one user the two are the same
    ours = f"mean_percentile_rank{'' if name == 'full' else '(average=pairs)'}"
    sides = ["truth", "items"]
    yield answer(name, "PercentileRanking", ours, {None: found}, sides=sides)


def _matrix(rows):
    made = np.zeros((len(rows), N_ITEMS))
    for row, own in enumerate(rows):
        for item, value in own.items():
            made[row, int(item[1:])] = value
    return csr_matrix(made)
