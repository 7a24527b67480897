"""TREC's ndeval, by pyndeval: users with a list and something relevant; a category of a relevant item is a subtopic."""

from __future__ import annotations

import pyndeval
from answers import mean
from answers_beyond import answer
from scenes_beyond import KS


def answers(name, scene):
    """Give every metric that both have."""
    genres = {item: [str(genre)] for item, (genre, _) in scene.items.items()}
    users = {item: sorted(user for user, one in scene.train if one == item) for item in scene.items}
    for feature, categories in (("genre", genres), ("users", users)):
        qrels = [
            (user, category, item, 1) for user, item in scene.truth for category in categories[item]
        ]
        for alpha in (0.5, 0.2):
            measures = [f"alpha-nDCG@{k}" for k in KS]
            found = pyndeval.RelevanceEvaluator(qrels, measures, alpha=alpha).evaluate(scene.recs)
            lines = {k: {user: own[f"alpha-nDCG@{k}"] for user, own in found.items()} for k in KS}
            values = {k: mean(own.values()) for k, own in lines.items()}
            ours = f"alpha_ndcg(of={feature}, alpha={alpha})"
            yield answer(
                name,
                f"alpha-nDCG({feature}, alpha={alpha})",
                ours,
                values,
                users=lines,
                sides=["truth", "items"],
            )
