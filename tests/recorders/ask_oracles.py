"""pytrec_eval (users with both), ir_measures (all users of the truth), ranx and scikit-learn."""

from __future__ import annotations

import ir_measures
import pytrec_eval
import ranx
from answers import answer, mean
from scenes import KS, Scene, number
from sklearn import metrics as sklearn

TREC = {
    "success": "hit_rate",
    "P": "precision",
    "recall": "recall",
    "map_cut": "map",
    "ndcg_cut": "ndcg",
}
TREC_WHOLE = {
    "map": "map", "ndcg": "ndcg", "recip_rank": "mrr", "Rprec": "r_precision", "bpref": "bpref",
    "set_F": "f_score",
}  # fmt: skip
LEVEL_2 = {"success": "hit_rate", "P": "precision", "recall": "recall", "map_cut": "map"}
IR = {
    "Success@{}": "hit_rate", "P@{}": "precision", "R@{}": "recall", "AP@{}": "map", "RR@{}": "mrr",
    "nDCG@{}": "ndcg", "Judged@{}": "judged",
}  # fmt: skip
GDEVAL = {"ERR@{}": "err", "nDCG(dcg='exp-log2')@{}": "ndcg(gain=exp)"}
IR_WHOLE = {
    "AP": "map", "RR": "mrr", "nDCG": "ndcg", "Rprec": "r_precision", "Bpref": "bpref",
    "RBP(rel=1)": "rbp",
}  # fmt: skip
RANX = {
    "hit_rate": "hit_rate", "precision": "precision", "recall": "recall", "f1": "f_score",
    "map": "map", "mrr": "mrr", "ndcg": "ndcg", "ndcg_burges": "ndcg(gain=exp)", "dcg": "dcg",
    "hits": "n_hits",
}  # fmt: skip
LIST = {"universe": "recs", "relevant_from": "list"}
TIED = {"tied", "numbered"}


def answers(name, scene):
    """Give what the four have; the scenes with grades and with ties."""
    scene = Scene(
        *(
            [(user, str(item), value) for user, item, value in rows]
            for rows in (scene.recs, scene.truth)
        )
    )
    if name in {"fixture", "graded", *TIED}:
        yield from _pytrec_eval(name, scene)
        yield from _ir_measures(name, scene)
    if name in {"fixture", "binary", "graded", *TIED}:
        yield from _ranx(name, scene)
    if name in {"graded", "full", *TIED}:
        yield from _sklearn(name, scene)


def _pytrec_eval(name, scene):
    both, tied = {"universe": "both"}, name in TIED
    found = _evaluated(
        scene, {f"{one}.{','.join(map(str, KS))}" for one in TREC} | set(TREC_WHOLE), 1
    )
    for one, ours in TREC.items():
        users = {k: {user: row[f"{one}_{k}"] for user, row in found.items()} for k in KS}
        yield _averaged(name, one, ours, users, "pytrec_eval", None if tied else ours, both)
    for one, ours in TREC_WHOLE.items():
        users = {None: {user: row[one] for user, row in found.items()}}
        plain = None if tied else ours
        yield _averaged(name, one, ours, users, "pytrec_eval", plain, both)
    found = _evaluated(scene, {f"{one}.{','.join(map(str, KS))}" for one in LEVEL_2}, 2)
    for one, ours in LEVEL_2.items():
        users = {k: {user: row[f"{one}_{k}"] for user, row in found.items()} for k in KS}
        bound = {"min_relevance": 2}
        plain = None if tied else ours
        yield _averaged(
            name,
            f"{one}, relevance_level=2",
            ours,
            users,
            "pytrec_eval",
            plain,
            {**both, **bound},
            bound,
        )


def _evaluated(scene, measures, level):
    return pytrec_eval.RelevanceEvaluator(
        scene.relevances(), measures, relevance_level=level
    ).evaluate(scene.lists())


def _averaged(name, call, ours, users, profile, plain, options, bound=None):  # noqa: PLR0913, PLR0917  the fields of a line
    values = {k: mean(list(found.values())) for k, found in users.items()}
    return answer(
        name,
        call,
        ours,
        values,
        users=users,
        profile=profile,
        plain=plain,
        options=options,
        bound=bound,
    )


def _ir_measures(name, scene):
    qrels, run = scene.relevances(), scene.lists()
    for call, ours in [*IR.items(), *IR_WHOLE.items()]:
        values = _calculated(call, qrels, run)
        plain = None if name in TIED else ours
        yield answer(
            name, call.replace("{}", "k"), ours, values, profile="ir_measures", plain=plain
        )
    # from gdeval, which wants numbers as names of users and prints five decimals
    if name in {"graded", *TIED}:
        qrels, run = (
            {str(number(user) + 1): items for user, items in one.items()} for one in (qrels, run)
        )
        for call, ours in GDEVAL.items():
            if name == "numbered" and ours != "err":
                continue  # it compares scores in 64 bits, and the profile's ndcg is trec_eval's
            values = _calculated(call, qrels, run)
            plain = None if name in TIED else ""
            yield answer(
                name,
                call.replace("{}", "k"),
                ours,
                values,
                profile="ir_measures",
                plain=plain,
                decimals=5,
            )


def _calculated(call, qrels, run):
    measures = {
        k: ir_measures.parse_measure(call.format(k)) for k in (KS if "{}" in call else [None])
    }
    found = ir_measures.calc_aggregate(measures.values(), qrels, run)
    return {k: found[measure] for k, measure in measures.items()}


def _ranx(name, scene):
    judged = scene.relevances()
    qrels, run = (
        ranx.Qrels(judged),
        ranx.Run({user: items for user, items in scene.lists().items() if user in judged}),
    )
    rbp = ["rbp.80", "rbp.95"] if name in {"fixture", "binary"} else []
    asked = [*(f"{one}@{k}" for one in RANX for k in KS), "r-precision", *rbp]
    means = ranx.evaluate(qrels, run, asked, make_comparable=True)
    for one, ours in RANX.items():
        users = {k: run.scores[f"{one}@{k}"] for k in KS}
        plain = None if name in TIED else ""
        yield answer(
            name,
            one,
            ours,
            {k: means[f"{one}@{k}"] for k in KS},
            users=users,
            profile="ranx",
            plain=plain,
        )
    whole = {"r-precision": "r_precision", "rbp.80": "rbp", "rbp.95": "rbp(p=0.95)"}
    for one, ours in whole.items():
        if one in means:
            plain = None if name in TIED else ""
            yield answer(
                name,
                one,
                ours,
                {None: means[one]},
                users={None: run.scores[one]},
                profile="ranx",
                plain=plain,
            )


def _sklearn(name, scene):
    """Give what comes from the rows of the lists, short ones filled up at the end by items of no relevance."""
    judged, lists = scene.relevances(), scene.lists()
    longest = max(map(len, lists.values()))
    truth = [[judged.get(user, {}).get(item, 0) for item in items] for user, items in lists.items()]
    truth = [row + [0] * (longest - len(row)) for row in truth]
    scores = [[*items.values(), *[0.0] * (longest - len(items))] for items in lists.values()]
    for call, ours in {"ndcg_score": "ndcg", "dcg_score": "dcg"}.items():
        values = {k: getattr(sklearn, call)(truth, scores, k=k) for k in [*KS, None]}
        yield answer(
            name,
            call,
            ours,
            values,
            profile="sklearn",
            plain=None if name in TIED else ours,
            options=LIST,
        )
    yield from _sklearn_by_user(name, scene)


def _sklearn_by_user(name, scene):
    judged, found = scene.relevances(), {"average_precision_score": {}, "roc_auc_score": {}}
    for user, items in scene.lists().items():
        truth = [judged.get(user, {}).get(item, 0) > 0 for item in items]
        if any(truth):
            found["average_precision_score"][user] = sklearn.average_precision_score(
                truth, [*items.values()]
            )
        if any(truth) and not all(truth):
            found["roc_auc_score"][user] = sklearn.roc_auc_score(truth, [*items.values()])
    skip = {"no_relevant": "skip"}
    for call, ours in {"average_precision_score": "map", "roc_auc_score": "auc"}.items():
        if name in TIED and ours == "map":
            continue  # compared live: tests/ranking/test_ties_of_lists.py
        plain = None if name in TIED else ours
        yield _averaged(
            name, call, ours, {None: found[call]}, "sklearn", plain, {**LIST, **skip}, skip
        )
