"""TREC's ndeval, by pyndeval: users with a list and something relevant; a category of a relevant item is a subtopic."""

from __future__ import annotations

import pyndeval
from answers import mean
from answers_beyond import answer
from scenes_beyond import KS

BEST = ["normalizer=best"]
# at 1 its ERR-IA is no share: it divides from the second rank on alone; nNRBP is of the whole order, which here has a cut-off
MEASURES = {
    "alpha-nDCG": ("alpha_ndcg", [], KS),
    "ERR-IA": ("err_ia", [], [k for k in KS if k > 1]),
    "nERR-IA": ("err_ia", BEST, KS),
    "NRBP": ("nrbp", [], [None]),
}


def answers(name, scene):
    """Give every metric that both have."""
    genres = {item: [str(genre)] for item, (genre, _) in scene.items.items()}
    users = {item: sorted(user for user, one in scene.train if one == item) for item in scene.items}
    for feature, categories in (("genre", genres), ("users", users)):
        qrels = [
            (user, category, item, 1) for user, item in scene.truth for category in categories[item]
        ]
        for alpha in (0.5, 0.2):
            for measure, (metric, settings, ks) in MEASURES.items():
                names = {k: measure if k is None else f"{measure}@{k}" for k in ks}
                asked = pyndeval.RelevanceEvaluator(qrels, [*names.values()], alpha=alpha)
                found = asked.evaluate(scene.recs)
                lines = {k: {user: own[names[k]] for user, own in found.items()} for k in ks}
                values = {k: mean(own.values()) for k, own in lines.items()}
                chosen = [f"of={feature}", f"alpha={alpha}", *settings]
                yield answer(
                    name,
                    f"{measure}({feature}, alpha={alpha})",
                    f"{metric}({', '.join(chosen)})",
                    values,
                    users=lines,
                    sides=["truth", "items"],
                )
