"""Profiles against pytrec_eval, ir_measures, ranx and scikit-learn, run live: their means over thousands of random users."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
import pytest

from live_peers import KS, at, close, listed_relevances, peer, qrels, run, users

pytestmark = pytest.mark.nightly
BEYOND = [*KS, 1000]  # no list is longer than 20


@functools.cache
def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    recs, truth = users()
    return pl.DataFrame(recs), pl.DataFrame(truth)


def agrees(
    profile: str, n_users: int, theirs: Mapping[str, float], metrics: Iterable[str], **options: Any
) -> None:
    """A profile has as many users as a peer, and the means of each metric."""
    recs, truth = frames()
    names = [*metrics]
    ours = recs.rec(truth=truth, profile=profile, **options).evaluate(*names).row(0, named=True)

    assert ours["n_users"] == n_users
    assert {
        name: (ours[name], theirs[name]) for name in names if not close(ours[name], theirs[name])
    } == {}


def mean(values: Mapping[str, float]) -> float:
    return math.fsum(values.values()) / len(values)


PYTREC = {
    **at("precision", "P_{}", BEYOND),
    **at("recall", "recall_{}", BEYOND),
    **at("hit_rate", "success_{}", BEYOND),
    **at("map", "map_cut_{}", BEYOND),
    **at("ndcg", "ndcg_cut_{}", BEYOND),
    "map": "map", "ndcg": "ndcg", "mrr": "recip_rank", "r_precision": "Rprec", "bpref": "bpref", "f_score": "set_F",
    "precision": "set_P", "recall": "set_recall", "n_hits": "num_rel_ret", "list_length": "num_ret",
}  # fmt: skip


def pytrec_eval(level: int) -> dict[str, dict[str, float]]:
    plain = {name for name in PYTREC.values() if not name[-1].isdigit()}
    cut = {
        f"{name.rpartition('_')[0]}.{','.join(map(str, BEYOND))}"
        for name in PYTREC.values()
        if name[-1].isdigit()
    }
    evaluator = peer("pytrec_eval").RelevanceEvaluator(qrels(), plain | cut, relevance_level=level)
    return evaluator.evaluate(run())  # type: ignore[no-any-return]


@pytest.mark.parametrize("level", [1, 2])
def test_pytrec_eval_agrees_at_every_relevance_level(level: int):
    # level 2: binary measures take grades from 2 up, nDCG keeps the grade 1
    options = {} if level == 1 else {"min_relevance": level}
    found = pytrec_eval(level)
    means = {
        metric: mean({user: values[measure] for user, values in found.items()})
        for metric, measure in PYTREC.items()
    }
    agrees("pytrec_eval", len(found), means, PYTREC, **options)


IR = {
    **at("precision", "P@{}", BEYOND),
    **at("recall", "R@{}", BEYOND),
    **at("hit_rate", "Success@{}", BEYOND),
    **at("map", "AP@{}", BEYOND),
    **at("ndcg", "nDCG@{}", BEYOND),
    **at("mrr", "RR@{}", BEYOND),
    "map": "AP", "mrr": "RR", "ndcg": "nDCG", "r_precision": "Rprec", "bpref": "Bpref", "f_score": "SetF",
}  # fmt: skip


def ir_measures() -> dict[str, float]:
    library = peer("ir_measures")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = {measure: library.parse_measure(measure) for measure in IR.values()}
        found = library.calc_aggregate(list(parsed.values()), qrels(), run())
    return {metric: float(found[parsed[measure]]) for metric, measure in IR.items()}


def test_ir_measures_agrees():
    theirs = ir_measures()
    for profile in ("ir_measures", "trec_eval"):
        agrees(profile, len(qrels()), theirs, IR)


RANX = {
    **at("precision", "precision@{}", BEYOND),
    **at("recall", "recall@{}", BEYOND),
    **at("f_score", "f1@{}", BEYOND),
    **at("map", "map@{}", BEYOND),
    **at("mrr", "mrr@{}", BEYOND),
    **at("hit_rate", "hit_rate@{}", BEYOND),
    **at("n_hits", "hits@{}", BEYOND),
    **at("dcg", "dcg@{}", BEYOND),
    **at("ndcg", "ndcg@{}", BEYOND),
    **at("ndcg(gain=exp)", "ndcg_burges@{}", BEYOND),
    "r_precision": "r-precision", "map": "map", "mrr": "mrr", "ndcg": "ndcg", "precision": "precision", "recall": "recall",
}  # fmt: skip


def ranx(level: int) -> dict[str, float]:
    library = peer("ranx")
    measures = {name: f"{name}-l{level}" if level > 1 else name for name in RANX.values()}
    judged = qrels()
    held = library.Run({user: items for user, items in run().items() if user in judged})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = library.evaluate(
            library.Qrels(judged), held, list(measures.values()), make_comparable=True
        )
    return {metric: float(found[measures[name]]) for metric, name in RANX.items()}


def test_ranx_agrees():
    agrees("ranx", len(qrels()), ranx(1), RANX)


def test_ranx_agrees_from_relevance_2_up():
    agrees("ranx", len(qrels()), ranx(2), RANX, min_relevance=2)


def sklearn(measure: str, k: int | None) -> dict[str, float]:
    """What it gives to each user; of gains, to each user with a list as long as the user's, their mean."""
    score, found = getattr(peer("sklearn.metrics"), measure), {}
    lists = listed_relevances()
    if "cg" in measure:
        for length in set(map(len, lists.values())):
            users = [user for user, relevances in lists.items() if len(relevances) == length]
            # it refuses a single document: one that is not relevant stands behind
            scores = [[*(float(-place) for place in range(length)), -1000.0]] * len(users)
            found |= dict.fromkeys(
                users, float(score([[*lists[user], 0] for user in users], scores, k=k))
            )
        return found
    for user, relevances in lists.items():
        scores = [float(-place) for place in range(len(relevances))]
        found[user] = (
            float(score([int(one > 0) for one in relevances], scores)) if any(relevances) else 0.0
        )
    return found


def test_scikit_learn_agrees():
    found = {
        f"{metric}@{k}": sklearn(f"{metric}_score", k)
        for metric in ("dcg", "ndcg")
        for k in (1, 3, 10, 1000)
    } | {"map": sklearn("average_precision_score", None)}
    (n_users,) = {len(values) for values in found.values()}

    agrees("sklearn", n_users, {metric: mean(own) for metric, own in found.items()}, found)
