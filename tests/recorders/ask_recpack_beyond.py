"""RecPack beyond accuracy: columns of a matrix that are shown, and Jaccard diversity of items by their train users."""

from __future__ import annotations

import numpy as np
from answers_beyond import answer
from recpack.metrics import CoverageK, IntraListDiversityK
from scenes_beyond import KS
from scipy.sparse import csr_matrix


def answers(name, scene):
    """Give every metric that both have."""
    if name != "full":
        return
    users = {user: row for row, user in enumerate(dict.fromkeys(user for user, _, _ in scene.recs))}
    items = {item: column for column, item in enumerate(scene.items)}
    recs = csr_matrix(_matrix(scene.recs, users, items))
    truth = csr_matrix(_matrix([(*pair, 1.0) for pair in scene.truth], users, items))
    coverage = {k: _calculated(CoverageK(k), truth, recs).value for k in KS}
    yield answer(name, "CoverageK", "coverage", coverage, sides=["items"])
    train = csr_matrix(_matrix([(*pair, 1.0) for pair in scene.train], users, items).T)
    diversity, by_user = {}, {}
    for k in KS:
        metric = IntraListDiversityK(k)
        metric.fit(train)
        _calculated(metric, truth, recs)
        diversity[k] = metric.value
        scores = np.asarray(metric.scores_.todense())[:, 0]
        by_user[k] = {user: float(scores[row]) for user, row in users.items()}
    ours = "diversity(of=users, distance=jaccard, single=zero)"
    yield answer(name, "IntraListDiversityK", ours, diversity, users=by_user, sides=["items"])


def _matrix(rows, users, items):
    found = np.zeros((len(users), len(items)))
    for user, item, value in rows:
        found[users[user], items[item]] = value
    return found


def _calculated(metric, truth, recs):
    metric.calculate(truth, recs)
    return metric
