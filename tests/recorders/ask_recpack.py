"""RecPack: sparse matrices; users of the truth, and a value above 0 is relevant."""

from __future__ import annotations

from answers import answer
from recpack.metrics import (
    DCGK,
    NDCGK,
    CalibratedRecallK,
    HitK,
    PrecisionK,
    RecallK,
    ReciprocalRankK,
)
from scenes import KS
from scipy.sparse import csr_matrix

CALLS = {
    HitK: ("n_hits", ""), PrecisionK: ("precision", ""), RecallK: ("recall", ""),
    CalibratedRecallK: ("recall(denominator=capped)", ""), ReciprocalRankK: ("mrr", ""),
    DCGK: ("dcg", "dcg(gain=binary)"), NDCGK: ("ndcg", "ndcg(gain=binary)"),
}  # fmt: skip


def answers(name, scene):
    """Give every metric that both have."""
    if name not in {"fixture", "binary", "graded"}:
        return
    users = sorted({row[0] for row in [*scene.recs, *scene.truth]})
    items = sorted({row[1] for row in [*scene.recs, *scene.truth]})
    # with users who have nothing relevant
    relevant = [(user, item, grade > 0) for user, item, grade in scene.truth]
    recs, truth = (_matrix(rows, users, items) for rows in (scene.recs, relevant))
    for metric, (ours, plain) in CALLS.items():
        values, found = {}, {}
        for k in KS:
            one = metric(k)
            one.calculate(truth, recs)
            values[k] = one.value
            scores = one.results.groupby("user_id")["score"].sum()
            found[k] = {users[number]: score for number, score in scores.items()}
        plain_here = None if name == "graded" else plain  # its users need a relevant item
        yield answer(
            name, metric.__name__, ours, values, users=found, profile="recpack", plain=plain_here
        )


def _matrix(rows, users, items):
    places = [[users.index(row[0]) for row in rows], [items.index(row[1]) for row in rows]]
    return csr_matrix(([float(row[2]) for row in rows], places), shape=(len(users), len(items)))
