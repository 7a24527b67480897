"""torchmetrics' recall at a fixed precision, of the mean curves of each case, in float32."""

from __future__ import annotations

import torch
from answers_cases import answer
from torchmetrics.retrieval import RetrievalRecallAtFixedPrecision

LIST = {"universe": "recs", "relevant_from": "list"}
# none of them is a mean that a case could have to the bit, where float32 decides
PRECISIONS = (0.13, 0.31, 0.52)


def answers(name, scene):
    """Give the recall of each case, with and without precision over the list's length."""
    if name not in {"small", "short"}:
        return
    judged, rows = scene.relevances(), {}
    for user, item, score in scene.recs:
        relevant = judged.get(user, {}).get(item, 0) > 0
        rows.setdefault(scene.case(user), []).append((int(user[1:]), score, relevant))
    for adaptive in (False, True):
        for precision in PRECISIONS:
            found = {
                k: {case: _recall(own, precision, k, adaptive) for case, own in rows.items()}
                for k in (3, 10)
            }
            call = (
                f"RetrievalRecallAtFixedPrecision(min_precision={precision}, adaptive_k={adaptive})"
            )
            divided = ", denominator=list" if adaptive else ""
            ours = f"recall_at_precision(precision={precision}{divided})"
            yield answer(name, call, ours, found, bound=LIST)


def _recall(rows, precision, k, adaptive):
    metric = RetrievalRecallAtFixedPrecision(precision, max_k=k, adaptive_k=adaptive)
    users, scores, relevant = (torch.tensor(column) for column in zip(*rows, strict=True))
    metric.update(scores, relevant, users)
    return float(metric.compute()[0])
