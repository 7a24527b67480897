"""torchmetrics, from tensors; relevant items that are not listed come last, and its MAP divides by the hits."""

from __future__ import annotations

import polars as pl
import torch
from given import Given, Road
from torchmetrics import MetricCollection
from torchmetrics.retrieval import (
    RetrievalHitRate,
    RetrievalMAP,
    RetrievalMRR,
    RetrievalNormalizedDCG,
    RetrievalPrecision,
    RetrievalRecall,
)

DISTRIBUTIONS = ["torchmetrics", "torch", "polars", "pandas", "numpy", "pyarrow"]
METRICS = ("hit_rate", "precision", "recall", "map(normalizer=hits)", "mrr", "ndcg")
# Its tensors are as small as a list: with one thread it takes half the time or less.
torch.set_num_threads(1)
ASKED = [
    RetrievalHitRate,
    RetrievalPrecision,
    RetrievalRecall,
    RetrievalMAP,
    RetrievalMRR,
    RetrievalNormalizedDCG,
]


def run(given: Given, k: int) -> list[float]:
    """Calculate the six; all lists must have k items, or what is not listed would move up into them."""
    rows = given.judged()
    score = (1 / (pl.col("place") + 1)).cast(pl.Float32)
    columns = rows.select("number", score, "relevant").get_columns()
    users, scores, relevant = (torch.from_numpy(column.to_numpy().copy()) for column in columns)
    metrics = MetricCollection([metric(top_k=k) for metric in ASKED])
    metrics.update(scores, relevant.long(), indexes=users)
    found = metrics.compute()
    return [float(found[metric.__name__]) for metric in ASKED]


ROADS = [Road("torchmetrics", run, METRICS, tolerance=1e-5)]
