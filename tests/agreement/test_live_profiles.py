"""Profiles against pytrec_eval, ir_measures, ranx and scikit-learn, run live: their means over thousands of random users."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

import recframe as rf
from live_peers import KS, at, close, listed_relevances, peer, qrels, run, users

pytestmark = pytest.mark.slow
BEYOND = [*KS, 1000]  # no list is longer than 20


@functools.cache
def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    recs, truth = users()
    return pl.DataFrame(recs), pl.DataFrame(truth)


def ours(metric: str, profile: str, **options: Any) -> tuple[int, float]:
    """The number of users, and the mean."""
    recs, truth = frames()
    found = recs.rec(truth=truth, profile=profile, **options).evaluate(metric)
    return found["n_users"].item(), found[metric].item()


def agrees(metric: str, profile: str, theirs: Mapping[str, float], **options: Any) -> None:
    n_users, mean = ours(metric, profile, **options)
    assert n_users == len(theirs)
    assert close(mean, math.fsum(theirs.values()) / len(theirs)), (
        mean,
        math.fsum(theirs.values()) / len(theirs),
    )


PYTREC = {
    **at("precision", "P_{}", BEYOND),
    **at("recall", "recall_{}", BEYOND),
    **at("hit_rate", "success_{}", BEYOND),
    **at("map", "map_cut_{}", BEYOND),
    **at("ndcg", "ndcg_cut_{}", BEYOND),
    "map": "map", "ndcg": "ndcg", "mrr": "recip_rank", "r_precision": "Rprec", "bpref": "bpref", "f_score": "set_F",
    "precision": "set_P", "recall": "set_recall", "n_hits": "num_rel_ret", "list_length": "num_ret",
}  # fmt: skip


@functools.cache
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
@pytest.mark.parametrize("metric", PYTREC)
def test_pytrec_eval_agrees_at_every_relevance_level(metric: str, level: int):
    # level 2: binary measures take grades from 2 up, nDCG keeps the grade 1
    options = {} if level == 1 else {"min_relevance": level}
    theirs = {user: values[PYTREC[metric]] for user, values in pytrec_eval(level).items()}
    agrees(metric, "pytrec_eval", theirs, **options)


IR = {
    **at("precision", "P@{}", BEYOND),
    **at("recall", "R@{}", BEYOND),
    **at("hit_rate", "Success@{}", BEYOND),
    **at("map", "AP@{}", BEYOND),
    **at("ndcg", "nDCG@{}", BEYOND),
    **at("mrr", "RR@{}", BEYOND),
    "map": "AP", "mrr": "RR", "ndcg": "nDCG", "r_precision": "Rprec", "bpref": "Bpref", "f_score": "SetF",
}  # fmt: skip


@functools.cache
def ir_measures() -> dict[str, float]:
    library = peer("ir_measures")
    parsed = {measure: library.parse_measure(measure) for measure in IR.values()}
    judged = qrels()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = library.calc_aggregate(list(parsed.values()), judged, run())
    return {measure: float(found[one]) for measure, one in parsed.items()} | {
        "n_users": len(judged)
    }


@pytest.mark.parametrize("profile", ["ir_measures", "trec_eval"])
@pytest.mark.parametrize("metric", IR)
def test_ir_measures_agrees(metric: str, profile: str):
    theirs = ir_measures()
    assert ours(metric, profile) == (theirs["n_users"], pytest.approx(theirs[IR[metric]], rel=1e-9))


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


@functools.cache
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
    return {name: float(found[measure]) for name, measure in measures.items()} | {
        "n_users": len(judged)
    }


@pytest.mark.parametrize("metric", RANX)
def test_ranx_agrees(metric: str):
    assert ours(metric, "ranx") == (
        ranx(1)["n_users"],
        pytest.approx(ranx(1)[RANX[metric]], rel=1e-9),
    )


@pytest.mark.parametrize("metric", [name for name in RANX if "cg" not in name])
def test_ranx_agrees_from_relevance_2_up(metric: str):
    found = ours(metric, "ranx", min_relevance=2)
    assert found == (ranx(2)["n_users"], pytest.approx(ranx(2)[RANX[metric]], rel=1e-9))


@functools.cache
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


@pytest.mark.parametrize("k", [1, 3, 10, 1000])
@pytest.mark.parametrize("metric", ["dcg", "ndcg"])
def test_scikit_learn_agrees(metric: str, k: int):
    agrees(f"{metric}@{k}", "sklearn", sklearn(f"{metric}_score", k))


def test_scikit_learns_average_precision_agrees():
    agrees("map", "sklearn", sklearn("average_precision_score", None))


def test_a_profile_on_a_lazy_frame_and_on_pandas_agrees_too():
    recs, truth = frames()
    wanted = ours("ndcg@10", "pytrec_eval")
    lazy = (
        recs.lazy()
        .rec(truth=truth.lazy(), profile="pytrec_eval")
        .evaluate("ndcg@10")
        .collect(engine="streaming")
    )
    pandas = rf.rec(recs.to_pandas())(truth=truth.to_pandas()).evaluate(
        "ndcg@10", profile="pytrec_eval"
    )
    assert lazy.row(0) == (wanted[0], pytest.approx(wanted[1], abs=1e-12))
    assert tuple(pandas.iloc[0]) == (wanted[0], pytest.approx(wanted[1], abs=1e-12))
