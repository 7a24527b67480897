"""Microsoft recommenders, from pandas frames; it has neither hit rate nor reciprocal rank."""

from __future__ import annotations

from given import Given, Road
from recommenders.evaluation import python_evaluation as peer

DISTRIBUTIONS = ["recommenders", "polars", "pandas", "numpy", "pyarrow"]
COLUMNS = {
    "col_user": "user",
    "col_item": "item",
    "col_prediction": "score",
    "relevancy_method": "top_k",
}


def run(given: Given, k: int) -> list[float]:
    """Calculate the four; what it keeps from the call before is thrown away, as its caches would know the same frames."""
    for kept in (peer.merge_ranking_true_pred, peer._get_reciprocal_rank):
        kept.cache_clear()
    recs, truth = given.pandas()
    recs = recs[["user", "item"]].assign(score=-recs["rank"].astype("float64"))
    truth = truth[["user", "item"]].assign(rating=1.0)
    told = {**COLUMNS, "k": k}
    return [
        float(peer.precision_at_k(truth, recs, **told)),
        float(peer.recall_at_k(truth, recs, **told)),
        float(peer.map(truth, recs, **told)),
        float(peer.ndcg_at_k(truth, recs, col_rating="rating", **told)),
    ]


ROADS = [Road("Microsoft recommenders", run, ("precision", "recall", "map", "ndcg"))]
