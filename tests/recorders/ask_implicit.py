"""implicit: means over the users of the test matrix, of whatever a model recommends; here one that recommends given lists."""

from __future__ import annotations

import numpy as np
from answers import answer
from implicit.evaluation import ranking_metrics_at_k
from scenes import KS
from scipy.sparse import csr_matrix

CALLS = {
    "precision": ("precision", "precision(denominator=achievable, average=pooled)", {}),
    "map": ("map", "map(normalizer=min)", {}),
    "ndcg": ("ndcg", "ndcg(gain=binary)", {}),
    "auc": ("auc", "auc(over=catalogue)", {"catalogue": True}),
}


class Given:
    """A model that recommends given lists; a place behind the end of one is -1, as implicit's neighbours have it."""

    def __init__(self, lists):
        self.lists = lists

    def recommend(self, users, _rows, N):  # noqa: N803  implicit's own name
        """Return the first N items of each user's list, and scores that nobody reads."""
        found = np.full((len(users), N), -1, dtype=np.int32)
        for place, user in enumerate(users):
            items = self.lists.get(int(user), [])[:N]
            found[place, : len(items)] = items
        return found, np.zeros((len(users), N), dtype=np.float32)


def answers(name, scene):
    """Give every metric that both have; a catalogue of nine items is less than the 20 places that its auc takes for misses."""
    tied = name in {"tied", "numbered"}
    if not tied and name not in {"fixture", "binary"}:
        return
    rows = [*scene.recs, *scene.truth]
    users, items = (_numbered(row[place] for row in rows) for place in (0, 1))
    model, test, train = _made(scene, users, items)
    alone = {
        user: place for user, place in users.items() if test.indptr[place] < test.indptr[place + 1]
    }
    found = {k: ranking_metrics_at_k(model, train, test, K=k, show_progress=False) for k in KS}
    each = {
        k: {user: _of_one(model, train, test, place, k) for user, place in alone.items()}
        for k in KS
    }
    for call, (ours, plain, sides) in CALLS.items():
        ks = (1, 3, 5) if call == "auc" and name == "fixture" else KS
        yield answer(
            name,
            call,
            ours,
            {k: found[k][call] for k in ks},
            users={k: {user: own[call] for user, own in each[k].items()} for k in ks},
            profile="implicit",
            plain=None if tied else plain,
            **sides,
        )


def _numbered(names):
    return {one: place for place, one in enumerate(sorted(set(names)))}


def _made(scene, users, items):
    lists = {users[user]: [items[item] for item in own] for user, own in scene.lists().items()}
    rows = [users[user] for user, _, _ in scene.truth]
    columns = [items[item] for _, item, _ in scene.truth]
    shape = (len(users), len(items))
    return (
        Given(lists),
        csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape),
        csr_matrix(shape),
    )


def _of_one(model, train, test, place, k):
    """Return what it gives to one user alone."""
    rows = np.zeros(test.shape[0])
    rows[place] = 1
    own = csr_matrix(test.multiply(rows[:, None]))
    own.eliminate_zeros()
    return ranking_metrics_at_k(model, train, own, K=k, show_progress=False)
