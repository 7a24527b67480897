"""Microsoft recommenders beyond accuracy: no k, and no item that the user knows, so the full lists cut beforehand.

By default two items are as alike as the sets of their train users, which is a feature like any other.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from answers_beyond import answer
from recommenders.evaluation import python_evaluation as peer
from scenes_beyond import KS

COLUMNS = {"col_user": "user", "col_item": "item"}


def answers(name, scene):
    """Give every metric that both have."""
    train = pd.DataFrame(scene.train, columns=["user", "item"])
    if name in {"fresh", "full"}:
        novelty = {k: peer.novelty(train, _cut(scene, k), **COLUMNS) for k in KS}
        yield answer(name, "novelty", "efd(cold=zero, average=rows)", novelty)
    if name != "full":
        return
    vectors = pd.DataFrame(
        {"item": list(scene.items), "features": [np.array(row[1]) for row in scene.items.values()]}
    )
    by_vector = {"item_feature_df": vectors, "item_sim_measure": "item_feature_vector"}
    lists = {k: _cut(scene, k) for k in KS}
    pairs = {k: recs for k, recs in lists.items() if k > 1}
    coverage = {k: peer.catalog_coverage(train, recs, **COLUMNS) for k, recs in lists.items()}
    yield answer(name, "catalog_coverage", "coverage", coverage, sides=["items of train"])
    entropy = {k: peer.distributional_coverage(train, recs, **COLUMNS) for k, recs in lists.items()}
    yield answer(name, "distributional_coverage", "entropy", entropy, sides=["items"])
    for call, told, of in (("", {}, "users"), ("(item_feature_vector)", by_vector, "vector")):
        users = {
            k: _by_user(peer.user_diversity(train, recs, **told, **COLUMNS))
            for k, recs in pairs.items()
        }
        values = {k: peer.diversity(train, recs, **told, **COLUMNS) for k, recs in pairs.items()}
        yield answer(
            name, f"diversity{call}", f"diversity(of={of})", values, users=users, sides=["items"]
        )
        relevant = {**told, **COLUMNS, "col_relevance": "relevance"}
        users = {
            k: _by_user(peer.user_serendipity(train, recs, **relevant)) for k, recs in lists.items()
        }
        values = {k: peer.serendipity(train, recs, **relevant) for k, recs in lists.items()}
        sides = ["truth", "train", "items"]
        yield answer(
            name, f"serendipity{call}", f"serendipity(of={of})", values, users=users, sides=sides
        )


def _cut(scene, k):
    truth = set(scene.truth)
    rows = [
        (user, item, float((user, item) in truth))
        for user, item, rank in scene.ranked(scene.recs)
        if rank <= k
    ]
    return pd.DataFrame(rows, columns=["user", "item", "relevance"])


def _by_user(frame):
    return dict(zip(frame["user"], frame.iloc[:, 1].astype(float), strict=True))
