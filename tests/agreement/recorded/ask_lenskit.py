"""LensKit: every user with a list; what is undefined counts 0 in `list_summary`, which is taken here."""

from __future__ import annotations

import logging

import pandas as pd
from answers import answer
from lenskit.data import ItemListCollection
from lenskit.metrics import (
    DCG,
    NDCG,
    RBP,
    Hit,
    ListLength,
    Precision,
    Recall,
    RecipRank,
    RunAnalysis,
)
from lenskit.metrics.ranking import AveragePrecision, LogRankWeight
from scenes import KS

OFFSET = {"weight": LogRankWeight(offset=1)}
GRADED = {**OFFSET, "gain": "relevance"}
# A user without truth is an error to those with "both", which are given the lists of users who have some.
CALLS = {
    "Hit": (Hit, {}, "hit_rate", "", "recs"),
    "Precision": (Precision, {}, "precision", "precision(denominator=list)", "recs"),
    "Recall": (Recall, {}, "recall", "recall(denominator=capped)", "recs"),
    "RecipRank": (RecipRank, {}, "mrr", "", "recs"),
    "RBP": (RBP, {}, "rbp", "rbp(p=0.85)", "recs"),
    "RBP(patience=0.5)": (RBP, {"patience": 0.5}, "rbp(p=0.5)", "", "recs"),
    "NDCG": (NDCG, {}, "ndcg", None, "recs"),
    "NDCG(weight=LogRankWeight(offset=1))": (NDCG, OFFSET, None, "ndcg(gain=binary)", "recs"),
    "AveragePrecision": (AveragePrecision, {}, "map", None, "both"),
    "NDCG(gain='relevance')": (NDCG, {"gain": "relevance"}, "ndcg(gain=linear)", None, "both"),
    "NDCG(weight=LogRankWeight(offset=1), gain='relevance')": (NDCG, GRADED, None, "ndcg", "both"),
    "DCG(weight=LogRankWeight(offset=1), gain='relevance')": (DCG, GRADED, None, "dcg", "both"),
}


def answers(name, scene):
    """Give every metric that both have."""
    tied = name in {"tied", "numbered"}
    if not tied and name not in {"fixture", "binary", "positive"}:
        return
    logging.getLogger("lenskit").setLevel(logging.ERROR)
    judged, truth = scene.relevances(), _lists(scene.truth, "relevance", ordered=False)
    lists = {
        "recs": _lists(scene.recs, "score", ordered=True),
        "both": _lists([row for row in scene.recs if row[0] in judged], "score", ordered=True),
    }
    for call, (metric, parameters, ours, plain, universe) in CALLS.items():
        if ("relevance" in call) == (name == "positive"):
            made = {k: metric(k, **parameters) for k in KS}
            values, users = _measured(made, lists[universe], truth)
            told = {"universe": universe}
            bound = told if universe == "both" else {}
            here = None if tied else plain
            if ours or here:
                yield answer(
                    name,
                    call,
                    ours,
                    values,
                    users=users,
                    profile="lenskit",
                    plain=here,
                    options=told,
                    bound=bound,
                )
    if name != "positive":
        values, users = _measured({None: ListLength()}, lists["recs"], truth)
        told = {"universe": "recs"}
        plain = None if tied else ""
        yield answer(
            name,
            "ListLength",
            "list_length",
            values,
            users=users,
            profile="lenskit",
            plain=plain,
            options=told,
        )


def _lists(rows, column, *, ordered):
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", column])
    if ordered:
        frame["rank"] = frame.groupby("user_id").cumcount() + 1
    return ItemListCollection.from_df(frame, ["user_id"])


def _measured(metrics, recs, truth):
    analysis = RunAnalysis()
    for k, metric in metrics.items():
        analysis.add_metric(metric, label=str(k))
    result = analysis.measure(recs, truth)
    means, lists = result.list_summary()["mean"], result.list_metrics()
    return {k: means[str(k)] for k in metrics}, {k: lists[str(k)].to_dict() for k in metrics}
