"""RecBole: a matrix of hits for users who all have a full list and something relevant; means rounded to four decimals."""

from __future__ import annotations

import numpy as np

# NOTE: recbole 1.2.1 writes np.float, which NumPy no longer has; it was Python's float.
np.float = float  # noqa: NPY001

import torch  # noqa: E402
from answers import answer  # noqa: E402
from recbole.evaluator.collector import DataStruct  # noqa: E402
from recbole.evaluator.metrics import MAP, MRR, NDCG, Hit, Precision, Recall  # noqa: E402
from scenes import KS  # noqa: E402

CALLS = {
    Hit: ("hit_rate", ""), Precision: ("precision", ""), Recall: ("recall", ""),
    MAP: ("map", "map(normalizer=min)"), MRR: ("mrr", ""), NDCG: ("ndcg", "ndcg(gain=binary)"),
}  # fmt: skip


def answers(name, scene):
    """Give every metric that both have: as RecBole prints it, and with more decimals."""
    if name not in {"fixture", "full"}:
        return
    lists, judged = scene.lists(), scene.relevances()
    hits = [
        [item in relevant for item in lists.get(user, {})][: max(KS)]
        for user, relevant in judged.items()
    ]
    padded = [row + [False] * (max(KS) - len(row)) for row in hits]
    rows = [[*row, len(relevant)] for row, relevant in zip(padded, judged.values())]  # noqa: B905  Python 3.9
    data = DataStruct()
    data.set("rec.topk", torch.tensor(rows, dtype=torch.int64))
    for metric, (ours, plain) in CALLS.items():
        yield answer(
            name, metric.__name__, ours, _values(metric, data, 4), profile="recbole", plain=None
        )
        values = _values(metric, data, 15)
        yield answer(
            name,
            f"{metric.__name__}, metric_decimal_place=15",
            None,
            values,
            profile="recbole",
            plain=plain,
        )


def _values(metric, data, decimals):
    found = metric({"topk": list(KS), "metric_decimal_place": decimals}).calculate_metric(data)
    return {k: found[f"{metric.__name__.lower()}@{k}"] for k in KS}
