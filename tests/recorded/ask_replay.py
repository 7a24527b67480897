"""RePlay on Polars: users of the truth; a row of it is relevant. Ties by item, descending."""

from __future__ import annotations

import polars as pl
from answers import answer
from replay.metrics import MAP, MRR, NDCG, HitRate, PerUser, Precision, Recall, RocAuc
from scenes import KS

CALLS = {
    HitRate: ("hit_rate", ""),
    Precision: ("precision", ""),
    Recall: ("recall", ""),
    MAP: ("map", "map(normalizer=min)"),
    MRR: ("mrr", ""),
    NDCG: ("ndcg", "ndcg(gain=binary)"),
    RocAuc: ("auc", "auc(without_pair=hit)"),
}


def answers(name, scene):
    """Give every metric that both have."""
    if name not in {"fixture", "binary", "tied"}:
        return
    recs = pl.DataFrame(scene.recs, schema=["query_id", "item_id", "rating"], orient="row")
    relevant = [row[:2] for row in scene.truth if row[2] > 0]
    truth = pl.DataFrame(relevant, schema=["query_id", "item_id"], orient="row")
    # what RePlay is handed is what recframe must take as the truth
    bound = {"no_relevant": "skip", "min_relevance": 1} if name == "tied" else {}
    for metric, (ours, plain) in CALLS.items():
        values = {k: metric([k])(recs, truth)[f"{metric.__name__}@{k}"] for k in KS}
        users = {k: metric([k], mode=PerUser())(recs, truth)[f"{metric.__name__}-PerUser@{k}"] for k in KS}
        plain_here = None if name == "tied" else plain
        yield answer(
            name, metric.__name__, ours, values, users=users, profile="replay", plain=plain_here, options=bound, bound=bound
        )
