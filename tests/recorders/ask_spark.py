"""Spark MLlib's RankingMetrics: a pair of lists for each user who has both, as after an inner join."""

from __future__ import annotations

from answers import answer
from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession
from scenes import KS

BOTH = {"universe": "both"}
CALLS = {
    "precisionAt": ("precision", ""),
    "recallAt": ("recall", ""),
    "meanAveragePrecisionAt": ("map", "map(normalizer=min)"),
    "ndcgAt": ("ndcg", "ndcg(gain=binary)"),
}


def answers(name, scene):
    """Give every metric that both have."""
    tied = name in {"tied", "numbered"}
    if not tied and name not in {"fixture", "binary"}:
        return
    session = (
        SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    )
    lists = scene.lists()
    items = {
        item: place
        for place, item in enumerate(sorted({row[1] for row in [*scene.recs, *scene.truth]}))
    }
    judged, bound = scene.relevances(), None
    if tied:  # with users whose array of relevant items is empty
        judged = {
            user: [item for item, grade in found.items() if grade > 0]
            for user, found in judged.items()
        }
        bound = {"min_relevance": 1}
    pairs = [
        [[items[item] for item in one[user]] for one in (lists, judged)]
        for user in lists
        if user in judged
    ]
    metrics = RankingMetrics(session.sparkContext.parallelize(pairs, 1))
    for call, (ours, plain) in CALLS.items():
        values = {k: getattr(metrics, call)(k) for k in KS}
        plain_here = None if tied else plain
        yield answer(
            name,
            call,
            ours,
            values,
            profile="spark_mllib",
            plain=plain_here,
            options=BOTH,
            bound=bound,
        )
    values = {None: metrics.meanAveragePrecision}
    plain = None if tied else ""
    yield answer(
        name,
        "meanAveragePrecision",
        "map",
        values,
        profile="spark_mllib",
        plain=plain,
        options=BOTH,
        bound=bound,
    )
