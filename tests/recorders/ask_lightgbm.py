"""LightGBM: the rows of the lists as queries, whose scores a booster without trees has from the start."""

from __future__ import annotations

import lightgbm
import numpy as np
from answers import answer
from scenes import KS

LIST = {"universe": "recs", "relevant_from": "list"}
CALLS = {
    "ndcg": ("ndcg", "ndcg(gain=exp, without_relevant=one)"),
    "map": ("map", "map(normalizer=min, without_relevant=one)"),
}


def answers(name, scene):
    """Give both metrics of its rankers; the scenes with grades and with ties."""
    tied = name in {"tied", "numbered"}
    if not tied and name not in {"fixture", "graded"}:
        return
    judged = scene.relevances()
    queries = {
        user: ([judged.get(user, {}).get(item, 0) for item in items], [*items.values()])
        for user, items in scene.lists().items()
    }
    found = _evaluated([*queries.values()])
    each = {user: _evaluated([own]) for user, own in queries.items()}
    for call, (ours, plain) in CALLS.items():
        yield answer(
            name,
            call,
            ours,
            {k: found[f"{call}@{k}"] for k in KS},
            users={k: {user: own[f"{call}@{k}"] for user, own in each.items()} for k in KS},
            profile="lightgbm",
            plain=None if tied else plain,
            options=LIST,
        )


def _evaluated(queries):
    """Return what it gives to queries of (labels, scores), by the names of its metrics."""
    labels, scores = (np.concatenate([query[place] for query in queries]) for place in (0, 1))
    features = np.arange(len(labels), dtype=float)[:, None]
    rows = lightgbm.Dataset(
        features, label=labels, group=[len(query[0]) for query in queries], init_score=scores
    )
    told = {"objective": "lambdarank", "metric": [*CALLS], "eval_at": [*KS], "verbosity": -1}
    return {one[1]: one[2] for one in lightgbm.Booster(told, rows).eval_train()}
