"""RePlay, from Polars frames and from pandas frames, all metrics in one call; its MAP divides by min(k, relevant items)."""

from __future__ import annotations

import warnings

import polars as pl
from given import Given, Road
from replay.metrics import MAP, MRR, NDCG, HitRate, OfflineMetrics, Precision, Recall

DISTRIBUTIONS = ["replay-rec", "polars", "pandas", "numpy", "pyarrow"]
METRICS = ("hit_rate", "precision", "recall", "map(normalizer=min)", "mrr", "ndcg")
NAMES = {"user": "query_id", "item": "item_id"}


def in_polars(given: Given, k: int) -> list[float]:
    recs, truth = given.polars()
    recs = recs.select(query_id="user", item_id="item", rating=-pl.col("rank").cast(pl.Float64))
    return _calculated(recs, truth.rename(NAMES), k)


def in_pandas(given: Given, k: int) -> list[float]:
    recs, truth = (frame.rename(columns=NAMES) for frame in given.pandas())
    recs = recs[["query_id", "item_id"]].assign(rating=-recs["rank"].astype("float64"))
    return _calculated(recs, truth, k)


def _calculated(recs, truth, k):
    asked = [HitRate(k), Precision(k), Recall(k), MAP(k), MRR(k), NDCG(k)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of users that are in one frame alone
        found = OfflineMetrics(asked)(recs, truth)
    return [float(found[f"{type(metric).__name__}@{k}"]) for metric in asked]


ROADS = [Road("RePlay, Polars", in_polars, METRICS), Road("RePlay, pandas", in_pandas, METRICS)]
