"""Microsoft recommenders' SparkRankingEvaluation: four of the six, over users who have both a list and truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import functions as F  # noqa: N812  as everyone writes it
from recommenders.evaluation.spark_evaluation import SparkRankingEvaluation
from road import Road, read

DISTRIBUTIONS = ["pyspark", "recommenders", "pandas", "pyarrow"]
METRICS = ("precision", "recall", "map(normalizer=min)", "ndcg(gain=binary)")


def run(session: Any, folder: Path, k: int) -> list[float]:
    """As its examples call it."""
    recs, truth = read(session, folder)
    recs = recs.withColumn("score", -F.col("rank"))
    found = SparkRankingEvaluation(
        truth,
        recs,
        k=k,
        col_user="user",
        col_item="item",
        col_rating="relevance",
        col_prediction="score",
    )
    return [found.precision_at_k(), found.recall_at_k(), found.map_at_k(), found.ndcg_at_k()]


ROADS = {"Microsoft recommenders": Road(run, METRICS, universe="both")}
