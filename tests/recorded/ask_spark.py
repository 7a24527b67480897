"""Spark MLlib's RankingMetrics: a pair of lists for each user of the truth."""

from __future__ import annotations

from answers import answer
from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession
from scenes import KS

CALLS = {
    "precisionAt": ("precision", ""),
    "recallAt": ("recall", ""),
    "meanAveragePrecisionAt": ("map(normalizer=min)", ""),
    "ndcgAt": ("ndcg", "ndcg(gain=binary)"),
}


def answers(name, scene):
    """Give every metric that both have."""
    if name not in {"fixture", "binary"}:
        return
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    lists = scene.lists()
    items = {item: place for place, item in enumerate(sorted({row[1] for row in [*scene.recs, *scene.truth]}))}
    pairs = [
        ([items[item] for item in lists.get(user, {})], [items[item] for item in judged])
        for user, judged in scene.relevances().items()
    ]
    metrics = RankingMetrics(session.sparkContext.parallelize(pairs, 1))
    for call, (ours, plain) in CALLS.items():
        values = {k: getattr(metrics, call)(k) for k in KS}
        yield answer(name, call, ours, values, profile="spark_mllib", plain=plain)
    yield answer(name, "meanAveragePrecision", "map", {None: metrics.meanAveragePrecision}, profile="spark_mllib")
