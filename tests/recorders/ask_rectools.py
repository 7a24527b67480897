"""RecTools: pandas frames, users of the truth; a row of it is relevant."""

from __future__ import annotations

import pandas as pd
from answers import answer
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, PAP, F1Beta, HitRate, PartialAUC, Precision, Recall
from scenes import KS

CALLS = {
    "HitRate": (HitRate, {}, "hit_rate", ""),
    "Precision": (Precision, {}, "precision", ""),
    "Precision(r_precision=True)": (Precision, {"r_precision": True}, "precision(denominator=achievable)", ""),
    "Recall": (Recall, {}, "recall", ""),
    "F1Beta": (F1Beta, {}, "f_score", ""),
    "F1Beta(beta=2)": (F1Beta, {"beta": 2.0}, "f_score(beta=2)", ""),
    "MAP": (MAP, {}, "map", ""),
    "MAP(divide_by_k=True)": (MAP, {"divide_by_k": True}, "map(normalizer=k)", ""),
    "MRR": (MRR, {}, "mrr", ""),
    "NDCG": (NDCG, {}, "ndcg", "ndcg(ideal=k)"),
    "NDCG(log_base=3)": (NDCG, {"log_base": 3}, "ndcg(log_base=3)", "ndcg(ideal=k, log_base=3)"),
    "NDCG(divide_by_achievable=True)": (
        NDCG,
        {"divide_by_achievable": True},
        "ndcg(ideal=relevant)",
        "ndcg(gain=binary)",
    ),
}  # fmt: skip

# their k is that of misses
AREAS = {PartialAUC: "partial_auc(misses={})", PAP: "partial_auc(misses={}, hits=first)"}


def answers(name, scene):
    """Give every metric that both have."""
    if name not in {"fixture", "binary", "graded"}:
        return
    recs = pd.DataFrame(scene.ranked(), columns=[Columns.User, Columns.Item, Columns.Rank])
    truth = pd.DataFrame(scene.truth, columns=[Columns.User, Columns.Item, "relevance"])
    for call, (metric, parameters, ours, plain) in CALLS.items():
        made = {k: metric(k=k, **parameters) for k in KS}
        values = {k: one.calc(recs, truth) for k, one in made.items()}
        users = {k: one.calc_per_user(recs, truth).to_dict() for k, one in made.items()}
        plain_here = None if name == "graded" else plain  # its truth has rows of relevance 0
        yield answer(name, call, ours, values, users=users, profile="rectools", plain=plain_here)
    for metric, ours in AREAS.items():
        for k in KS:
            one = metric(k=k)
            users = {None: one.calc_per_user(recs, truth).to_dict()}
            values = {None: one.calc(recs, truth)}
            yield answer(
                name,
                f"{metric.__name__}(k={k})",
                ours.format(k),
                values,
                users=users,
                profile="rectools",
            )
