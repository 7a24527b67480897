"""RePlay, on frames of Spark's, all metrics in one call; its nDCG knows no grades, its MAP divides by min(k, relevant)."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F  # noqa: N812  as everyone writes it
from replay.metrics import MAP, MRR, NDCG, HitRate, OfflineMetrics, Precision, Recall
from road import Road, read

DISTRIBUTIONS = ["pyspark", "replay-rec", "polars", "pandas", "pyarrow"]
METRICS = ("hit_rate", "precision", "recall", "map(normalizer=min)", "mrr", "ndcg(gain=binary)")


def run(session: Any, folder: Path, k: int) -> list[float]:
    """Lists cut at k before, which it does not do itself."""
    recs, truth = read(session, folder)
    recs = recs.filter(F.col("rank") <= k)
    recs = recs.select(
        F.col("user").alias("query_id"),
        F.col("item").alias("item_id"),
        (-F.col("rank")).cast("double").alias("rating"),
    )
    truth = truth.select(F.col("user").alias("query_id"), F.col("item").alias("item_id"))
    asked = [HitRate(k), Precision(k), Recall(k), MAP(k), MRR(k), NDCG(k)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of users that are in one frame alone
        found = OfflineMetrics(asked)(recs, truth)
    return [found[f"{type(metric).__name__}@{k}"] for metric in asked]


ROADS = {"RePlay": Road(run, METRICS)}
