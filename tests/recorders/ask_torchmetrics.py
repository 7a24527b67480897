"""torchmetrics: the rows of the lists alone, in float32; nDCG averages over the orders of a tie."""

from __future__ import annotations

import torch
import torchmetrics.retrieval as peer
from answers import answer, mean
from scenes import KS

LIST = {"universe": "recs", "relevant_from": "list"}
CALLS = {
    "RetrievalHitRate": (peer.RetrievalHitRate, {}, "hit_rate", ""),
    "RetrievalPrecision": (peer.RetrievalPrecision, {}, "precision", ""),
    "RetrievalPrecision(adaptive_k=True)": (
        peer.RetrievalPrecision,
        {"adaptive_k": True},
        "precision(denominator=list)",
        "",
    ),
    "RetrievalRecall": (peer.RetrievalRecall, {}, "recall", ""),
    "RetrievalMAP": (peer.RetrievalMAP, {}, "map", "map(normalizer=hits)"),
    "RetrievalMRR": (peer.RetrievalMRR, {}, "mrr", ""),
    "RetrievalNormalizedDCG": (peer.RetrievalNormalizedDCG, {}, "ndcg", ""),
    "RetrievalRPrecision": (peer.RetrievalRPrecision, {}, "r_precision", ""),
}


def answers(name, scene):
    """Give every metric that both have; ties only where they are defined."""
    judged = scene.relevances()
    users = sorted(scene.lists())
    place = {user: number for number, user in enumerate(users)}
    rows = [
        (place[user], score, judged.get(user, {}).get(item, 0)) for user, item, score in scene.recs
    ]
    indexes, scores, grades = (torch.tensor(column) for column in zip(*rows))  # noqa: B905  Python 3.9
    for call, (metric, parameters, ours, plain) in CALLS.items():
        graded = metric is peer.RetrievalNormalizedDCG
        if name not in {"fixture", "graded"} and not (graded and name == "tied"):
            continue
        found = {}
        for k in KS if metric is not peer.RetrievalRPrecision else [None]:
            cut = {} if k is None else {"top_k": k}
            one = metric(**cut, **parameters, aggregation=_all)
            one.update(scores.float(), grades if graded else grades > 0, indexes)
            found[k] = dict(zip(users, one.compute().tolist()))  # noqa: B905  Python 3.9
        values = {k: mean(list(by_user.values())) for k, by_user in found.items()}
        plain_here = None if name == "tied" else plain
        yield answer(
            name,
            call,
            ours,
            values,
            users=found,
            profile="torchmetrics",
            plain=plain_here,
            options=LIST,
        )


def _all(values, dim):  # noqa: ARG001  the mean is left out, so that every user's value comes back
    return values
