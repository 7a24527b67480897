"""LensKit: every user with a list; one without test items has no value, which means leave out, and a precision of 0."""

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
    MeasurementCollector,
    Precision,
    Recall,
    RecipRank,
)
from lenskit.metrics.ranking import AveragePrecision, LogRankWeight
from scenes import KS

OFFSET = {"weight": LogRankWeight(offset=1)}
GRADED = {**OFFSET, "gain": "relevance"}
# Which users have a value: a user without truth has none, 0 in precision, and is an error to AveragePrecision, which is
# given the lists of users who have some.
RECS, TESTED, BOTH = (
    {"universe": "recs"},
    {"universe": "recs", "no_relevant": "null"},
    {"universe": "both"},
)
CALLS = {
    "Hit": (Hit, {}, "hit_rate", "", TESTED),
    "Precision": (Precision, {}, "precision", "precision(denominator=list)", RECS),
    "Recall": (Recall, {}, "recall", "recall(denominator=capped)", TESTED),
    "RecipRank": (RecipRank, {}, "mrr", "", TESTED),
    "RBP": (RBP, {}, "rbp", "rbp(p=0.85)", TESTED),
    "RBP(patience=0.5)": (RBP, {"patience": 0.5}, "rbp(p=0.5)", "", TESTED),
    "NDCG": (NDCG, {}, "ndcg", None, TESTED),
    "NDCG(weight=LogRankWeight(offset=1))": (NDCG, OFFSET, None, "ndcg(gain=binary)", TESTED),
    "AveragePrecision": (AveragePrecision, {}, "map", None, BOTH),
    "NDCG(gain='relevance')": (NDCG, {"gain": "relevance"}, "ndcg(gain=linear)", None, TESTED),
    "NDCG(weight=LogRankWeight(offset=1), gain='relevance')": (NDCG, GRADED, None, "ndcg", TESTED),
    "DCG(weight=LogRankWeight(offset=1), gain='relevance')": (DCG, GRADED, None, "dcg", TESTED),
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
    for call, (metric, parameters, ours, plain, told) in CALLS.items():
        if ("relevance" in call) == (name == "positive"):
            made = {k: metric(k, **parameters) for k in KS}
            values, users = _measured(made, lists[told["universe"]], truth)
            bound = told if told is BOTH else {}
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
        plain = None if tied else ""
        yield answer(
            name,
            "ListLength",
            "list_length",
            values,
            users=users,
            profile="lenskit",
            plain=plain,
            options=RECS,
        )


def _lists(rows, column, *, ordered):
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", column])
    if ordered:
        frame["rank"] = frame.groupby("user_id").cumcount() + 1
    return ItemListCollection.from_df(frame, ["user_id"])


def _measured(metrics, recs, truth):
    collector = MeasurementCollector()
    for k, metric in metrics.items():
        collector.add_metric(metric, label=str(k))
    collector.add_collection_measurements(recs, truth)
    means, lists = collector.summary_metrics(), collector.list_metrics()
    return {k: means[f"{k}.mean"] for k in metrics}, {k: _values(lists[str(k)]) for k in metrics}


def _values(column):
    return {user: None if pd.isna(value) else float(value) for user, value in column.items()}
