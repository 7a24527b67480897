"""Spark MLlib's RankingMetrics, which has four of the six; its nDCG knows no grades."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import functions as F  # noqa: N812  as everyone writes it
from road import Road, read

DISTRIBUTIONS = ["pyspark", "numpy"]
METRICS = ("precision", "recall", "map(normalizer=min)", "ndcg(gain=binary)")


def run(session: Any, folder: Path, k: int) -> list[float]:
    """Two lists for each user of the truth, that of a user without recommendations empty; kept, as each metric reads them."""
    recs, truth = read(session, folder)
    listed = F.sort_array(F.collect_list(F.struct("rank", "item")))["item"].alias("listed")
    lists = recs.filter(F.col("rank") <= k).groupBy("user").agg(listed)
    liked = truth.groupBy("user").agg(F.collect_list("item").alias("liked"))
    empty = F.array().cast(lists.schema["listed"].dataType)
    pairs = (
        liked.join(lists, "user", "left").select(F.coalesce("listed", empty), "liked").rdd.cache()
    )
    metrics = RankingMetrics(pairs)
    asked = [metrics.precisionAt, metrics.recallAt, metrics.meanAveragePrecisionAt, metrics.ndcgAt]
    found = [one(k) for one in asked]
    pairs.unpersist()
    return found


ROADS = {"Spark MLlib": Road(run, METRICS)}
