"""Jurity beyond accuracy: all pairs of users, none drawn at random; items inside a list on full lists."""

from __future__ import annotations

import pandas as pd
from answers_beyond import answer
from jurity.recommenders import InterListDiversity, IntraListDiversity
from scenes_beyond import KS

COLUMNS = {
    "user_id_column": "user_id",
    "item_id_column": "item_id",
    "user_sample_size": None,
    "num_runs": 1,
}


def answers(name, scene):
    """Give every metric that both have."""
    recs = pd.DataFrame(scene.recs, columns=["user_id", "item_id", "score"])
    values = {k: InterListDiversity("score", k, **COLUMNS).get_score(recs, recs) for k in KS}
    yield answer(name, "InterListDiversity", "personalization", values, sides=[])
    if name == "full":
        rows = [(item, *vector) for item, (_, vector) in scene.items.items()]
        features = pd.DataFrame(rows, columns=["item_id", "v0", "v1", "v2", "v3"])
        values = {
            k: IntraListDiversity(features, "score", k, **COLUMNS).get_score(recs, recs)
            for k in KS[1:]
        }
        yield answer(name, "IntraListDiversity", "diversity(of=vector)", values, sides=["items"])
