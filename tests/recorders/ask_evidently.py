"""Evidently: the rows of the lists alone, users with a relevant one among them; k up to the longest list."""

from __future__ import annotations

import pandas as pd
from answers import answer
from evidently import DataDefinition, Dataset, Recsys, Report
from evidently.metrics import MRR, NDCG, FBetaTopK, HitRate, PrecisionTopK, RecallTopK
from scenes import KS

LIST = {"universe": "recs", "relevant_from": "list"}
FEEDBACK = {**LIST, "no_relevant": "skip"}
CALLS = {
    "HitRate": (HitRate, {}, "hit_rate", "", FEEDBACK),
    "PrecisionTopK": (PrecisionTopK, {}, "precision", "precision(denominator=list)", FEEDBACK),
    "RecallTopK": (RecallTopK, {}, "recall", "", FEEDBACK),
    "FBetaTopK": (FBetaTopK, {}, "f_score", None, FEEDBACK),
    "FBetaTopK(beta=2)": (FBetaTopK, {"beta": 2.0}, "f_score(beta=2)", None, FEEDBACK),
    "MRR": (MRR, {}, "mrr", "", FEEDBACK),
    "NDCG": (NDCG, {}, "ndcg", "", FEEDBACK),
    "PrecisionTopK(no_feedback_users=True)": (
        PrecisionTopK,
        {"no_feedback_users": True},
        None,
        "precision(denominator=list)",
        LIST,
    ),
    "NDCG(no_feedback_users=True)": (NDCG, {"no_feedback_users": True}, None, "ndcg", LIST),
}


def answers(name, scene):
    """Give every metric that both have; MAP is left out, as its value depends on the order of the rows."""
    if name not in {"fixture", "graded"}:
        return
    judged, longest = scene.relevances(), max(map(len, scene.lists().values()))
    rows = [
        (user, item, rank, judged.get(user, {}).get(item, 0)) for user, item, rank in scene.ranked()
    ]
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "prediction", "target"])
    ranking = Recsys(
        user_id="user_id",
        item_id="item_id",
        prediction="prediction",
        target="target",
        recommendations_type="rank",
    )
    data = Dataset.from_pandas(frame, data_definition=DataDefinition(ranking=[ranking]))
    cuts = [k for k in KS if k <= longest]
    for call, (metric, parameters, ours, plain, options) in CALLS.items():
        values = {k: _value(metric(k=k, **parameters), data) for k in cuts}
        yield answer(name, call, ours, values, profile="evidently", plain=plain, options=options)


def _value(metric, data):
    """Return the value at k from a result, which lists those at 1, 2, 3 and on."""
    result = Report([metric]).run(data, None).dict()["metrics"][0]["value"]
    return result["value"][metric.k - 1]
