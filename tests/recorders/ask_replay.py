"""RePlay on Polars, and on pandas where items are tied: users of the truth; a row of it is relevant."""

from __future__ import annotations

import polars as pl
from answers import answer
from replay.metrics import MAP, MRR, NDCG, HitRate, PerUser, Precision, Recall, RocAuc
from scenes import KS

CALLS = {
    HitRate: ("hit_rate", ""), Precision: ("precision", ""), Recall: ("recall", ""),
    MAP: ("map", "map(normalizer=min)"), MRR: ("mrr", ""), NDCG: ("ndcg", "ndcg(gain=binary)"),
    RocAuc: ("auc", "auc(without_pair=hit)"),
}  # fmt: skip


def answers(name, scene):
    """Give every metric that both have."""
    tied = name in {"tied", "numbered"}
    if not tied and name not in {"fixture", "binary"}:
        return
    recs = pl.DataFrame(scene.recs, schema=["query_id", "item_id", "rating"], orient="row")
    relevant = [row[:2] for row in scene.truth if row[2] > 0]
    truth = pl.DataFrame(relevant, schema=["query_id", "item_id"], orient="row")
    # what RePlay is handed is what recframe must take as the truth
    bound = {"no_relevant": "skip", "min_relevance": 1} if tied else {}
    for metric, (ours, plain) in CALLS.items():
        one = metric.__name__
        values = {k: metric([k])(recs, truth)[f"{one}@{k}"] for k in KS}
        users = {k: metric([k], mode=PerUser())(recs, truth)[f"{one}-PerUser@{k}"] for k in KS}
        plain_here = None if tied else plain
        yield answer(
            name,
            one,
            ours,
            values,
            users=users,
            profile="replay",
            plain=plain_here,
            options=bound,
            bound=bound,
        )
        if tied:
            values = {k: metric([k])(recs.to_pandas(), truth.to_pandas())[f"{one}@{k}"] for k in KS}
            yield answer(
                name, f"{one} on pandas", ours, values, profile="replay", plain=None, bound=bound
            )
