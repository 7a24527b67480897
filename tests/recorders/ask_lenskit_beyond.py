"""LensKit beyond accuracy: Gini over the catalogue, places by popularity, overlap of rankings on full lists to a depth n."""

from __future__ import annotations

import logging

import pandas as pd
from answers import mean
from answers_beyond import answer
from lenskit.data import ItemList, ItemListCollection, Vocabulary, from_interactions_df
from lenskit.metrics import MeasurementCollector
from lenskit.metrics.ranking import ExposureGini, GeometricRankWeight, ListGini, MeanPopRank
from lenskit.metrics.reranking import rank_biased_overlap
from scenes_beyond import KS

CALLS = {
    "ListGini": (ListGini, "gini(normalizer=n)"),
    "ExposureGini": (ExposureGini, "gini(weight=geometric, normalizer=n)"),
}


def answers(name, scene):
    """Give every metric that both have."""
    logging.getLogger("lenskit").setLevel(logging.ERROR)
    recs, reference = _lists(scene.recs), _lists(scene.reference)
    items = Vocabulary([*scene.items], name="item")
    for call, (metric, ours) in CALLS.items():
        collector = MeasurementCollector()
        for k in KS:
            collector.add_metric(metric(k, items=items), label=str(k))
        collector.add_collection_measurements(recs, recs)
        result = collector.summary_metrics()
        yield answer(name, call, ours, {k: result[str(k)] for k in KS}, sides=["items"])
    train = from_interactions_df(pd.DataFrame(scene.train, columns=["user_id", "item_id"]))
    users = {k: _values(MeanPopRank(train, n=k), recs) for k in KS}
    values = {k: mean(own.values()) for k, own in users.items()}
    yield answer(name, "MeanPopRank", "popularity(normalizer=quantile)", values, users=users)
    if name == "full":
        for p, ours in ((None, "rbo(p=0.85, form=truncated)"), (0.5, "rbo(p=0.5, form=truncated)")):
            weight = None if p is None else GeometricRankWeight(p)
            users = {k: _overlaps(recs, reference, weight, k) for k in KS}
            values = {k: mean(own.values()) for k, own in users.items()}
            call = "rank_biased_overlap" + (f"(weight=GeometricRankWeight({p}))" if p else "")
            yield answer(name, call, ours, values, users=users, sides=["reference"])


def _lists(rows):
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "score"])
    frame["rank"] = frame.groupby("user_id").cumcount() + 1
    return ItemListCollection.from_df(frame, ["user_id"])


def _values(metric, recs):
    return {key.user_id: float(metric.measure_list(own, ItemList())) for key, own in recs.items()}


def _overlaps(recs, reference, weight, n):
    return {
        key.user_id: float(rank_biased_overlap(reference.lookup(key), own, weight, n))
        for key, own in recs.items()
    }
