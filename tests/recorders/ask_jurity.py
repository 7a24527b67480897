"""Jurity: pandas frames with a column of clicks; precision and MAP of users with both, recall and nDCG of users with clicks."""

from __future__ import annotations

import pandas as pd
from answers import answer
from jurity.recommenders import MAP, NDCG, Precision, Recall
from scenes import KS

BOTH, CLICKED = {"universe": "both", "no_relevant": "skip"}, {"no_relevant": "skip"}
CALLS = {
    Precision: ("precision", "precision(denominator=list)", BOTH),
    Recall: ("recall", "", CLICKED),
    MAP: ("map", "map(normalizer=min)", BOTH),
    NDCG: ("ndcg", None, CLICKED),
}


def answers(name, scene):
    """Give every metric that both have."""
    if name not in {"fixture", "binary", "graded"}:
        return
    recs = pd.DataFrame(scene.recs, columns=["user_id", "item_id", "clicks"])
    clicks = [(user, item, int(relevance > 0)) for user, item, relevance in scene.truth]
    truth = pd.DataFrame(clicks, columns=["user_id", "item_id", "clicks"])
    for metric, (ours, plain, options) in CALLS.items():
        values = {
            k: metric("clicks", k, user_id_column="user_id", item_id_column="item_id").get_score(
                truth, recs
            )
            for k in KS
        }
        yield answer(
            name, metric.__name__, ours, values, profile="jurity", plain=plain, options=options
        )
