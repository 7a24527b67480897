"""RecTools, from pandas frames; one call for all metrics, which then share the one merge."""

from __future__ import annotations

from given import Given, Road
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

DISTRIBUTIONS = ["rectools", "polars", "pandas", "numpy", "pyarrow"]
NAMES = {"user": Columns.User, "item": Columns.Item, "rank": Columns.Rank}


def run(given: Given, k: int) -> list[float]:
    """Calculate the six; nDCG with the ideal that others have."""
    recs, truth = (frame.rename(columns=NAMES) for frame in given.pandas())
    asked = [
        HitRate(k),
        Precision(k),
        Recall(k),
        MAP(k),
        MRR(k),
        NDCG(k, divide_by_achievable=True),
    ]
    found = calc_metrics({str(place): metric for place, metric in enumerate(asked)}, recs, truth)
    return [float(found[str(place)]) for place in range(len(asked))]


ROADS = [Road("RecTools", run)]
