"""Microsoft recommenders on pandas: two universes in one library, and row order decides ties."""

from __future__ import annotations

import pandas as pd
from answers import answer
from recommenders.evaluation import python_evaluation as peer
from scenes import KS

BOTH, HITS = {"universe": "both"}, None
CALLS = {
    "precision_at_k": (peer.precision_at_k, {}, "precision", "", BOTH),
    "recall_at_k": (peer.recall_at_k, {}, "recall", "", BOTH),
    "map": (peer.map, {}, "map(normalizer=relevant)", "map", BOTH),
    "map_at_k": (peer.map_at_k, {}, "map(normalizer=min)", "map(normalizer=min)", BOTH),
    "r_precision_at_k": (peer.r_precision_at_k, {}, "r_precision", None, HITS),
    "ndcg_at_k": (peer.ndcg_at_k, {}, "ndcg", "ndcg(gain=binary)", {}),
    "ndcg_at_k(score_type='raw')": (peer.ndcg_at_k, {"score_type": "raw"}, "ndcg(gain=linear)", "ndcg", {}),
    "ndcg_at_k(score_type='exp')": (peer.ndcg_at_k, {"score_type": "exp"}, "ndcg(gain=exp)", "", {}),
}  # fmt: skip
COLUMNS = {"col_user": "user", "col_item": "item", "col_prediction": "score"}


def answers(name, scene):
    """Give every metric that both have; only nDCG knows grades."""
    tied = name in {"tied", "numbered"}
    if not tied and name not in {"fixture", "binary", "positive"}:
        return
    recs = pd.DataFrame(scene.recs, columns=["user", "item", "score"])
    truth = pd.DataFrame(scene.truth, columns=["user", "item", "rating"])
    for call, (metric, parameters, ours, plain, options) in CALLS.items():
        if name == "positive" and "score_type" not in call:
            continue
        told = {
            **COLUMNS,
            **parameters,
            **({"col_rating": "rating"} if metric is peer.ndcg_at_k else {}),
        }
        values = {k: metric(truth, recs, k=k, **told) for k in KS}
        plain_here = None if tied else plain
        # it leaves out users whose grades are all 0
        bound = (
            {"min_relevance": 1, "no_relevant": "null"} if tied and "score_type" in call else None
        )
        yield answer(
            name,
            call,
            ours,
            values,
            profile="microsoft",
            plain=plain_here,
            options=options,
            bound=bound,
        )
