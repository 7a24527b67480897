"""recframe against pytrec_eval, ir_measures and ranx, run live on the same random users."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Mapping

import polars as pl
import pytest

import recframe as rf
from live_peers import KS, agree, at, close, peer, qrels, recframe, run, users

pytestmark = pytest.mark.nightly


TREC = {
    **at("precision", "P_{}"),
    **at("recall", "recall_{}"),
    **at("hit_rate", "success_{}"),
    **at("map", "map_cut_{}"),
    **at("ndcg", "ndcg_cut_{}"),
    **at("precision(denominator=achievable)", "relative_P_{}"),
    **at("recall(denominator=capped)", "relative_P_{}"),
    "map": "map",
    "ndcg": "ndcg",
    "mrr": "recip_rank",
    "r_precision": "Rprec",
    "bpref": "bpref",
    "f_score": "set_F",
    "precision": "set_P",
    "precision(denominator=list)": "set_P",
    "precision(denominator=achievable)": "set_relative_P",
    "recall": "set_recall",
    "n_hits": "num_rel_ret",
    "list_length": "num_ret",
}


CURVES = (
    *(str(rf.interpolated_precision(recall=tenth / 10, rounding="tenth")) for tenth in range(11)),
    "map(average=geometric)",
    "eleven_point_precision(rounding=tenth)",
)


@functools.cache
def curves() -> dict[str, dict[str, float]]:
    evaluator = peer("pytrec_eval").RelevanceEvaluator(
        qrels(), {"iprec_at_recall", "gm_map", "11pt_avg"}
    )
    return evaluator.evaluate(run())  # type: ignore[no-any-return]


@functools.cache
def trec_eval(level: int) -> dict[str, dict[str, float]]:
    plain = {name for name in TREC.values() if not name[-1].isdigit()}
    cut = {
        name.rpartition("_")[0] + "." + ",".join(map(str, KS))
        for name in TREC.values()
        if name[-1].isdigit()
    }
    evaluator = peer("pytrec_eval").RelevanceEvaluator(qrels(), plain | cut, relevance_level=level)
    return evaluator.evaluate(run())  # type: ignore[no-any-return]


def test_pytrec_eval_agrees_for_each_user():
    for metric, measure in TREC.items():
        theirs = {user: values[measure] for user, values in trec_eval(1).items()}
        agree(recframe(tuple(TREC))[metric], theirs, metric)


def test_pytrec_eval_agrees_from_relevance_2_up():
    for metric, measure in TREC.items():
        if "ndcg" not in metric:
            theirs = {user: values[measure] for user, values in trec_eval(2).items()}
            agree(recframe(tuple(TREC), min_relevance=2)[metric], theirs, metric)


def test_the_first_rank_is_the_inverse_of_pytrec_evals_reciprocal_rank():
    theirs = {
        user: 1 / values["recip_rank"]
        for user, values in trec_eval(1).items()
        if values["recip_rank"]
    }
    ours = recframe(("first_rank",))["first_rank"]
    agree(ours, theirs, "first_rank")
    assert {user for user, value in ours.items() if value is not None} == set(theirs)


RECALLS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]


def test_the_precision_over_recall_of_pytrec_eval_agrees_for_each_user():
    for recall in RECALLS:
        metric = str(rf.interpolated_precision(recall=recall, rounding="tenth"))
        theirs = {
            user: values[f"iprec_at_recall_{recall:.2f}"] for user, values in curves().items()
        }
        agree(recframe(CURVES)[metric], theirs, metric)


def test_the_eleven_point_average_of_pytrec_eval_agrees_for_each_user():
    theirs = {user: values["11pt_avg"] for user, values in curves().items()}
    agree(recframe(CURVES)["eleven_point_precision(rounding=tenth)"], theirs, "11pt_avg")


@pytest.mark.filterwarnings("ignore:no_relevant_beyond_lists")  # each list has all that is relevant
def test_pytrec_eval_slips_where_a_tenth_of_an_item_is_over_and_its_profiles_with_it():
    # 0.7 of 3, 23 and 33 items are 2.1, 16.1 and 23.1; + 0.9 that is just below 3, 17 and 24 there
    judged, lists = {}, {}
    for n in range(1, 100):
        items = [f"{kind}{place:03}" for place in range(n) for kind in ("hit", "miss")]
        judged[str(n)] = {item: 1 for item in items if item.startswith("hit")}
        lists[str(n)] = {item: 1000.0 - place for place, item in enumerate(items)}
    evaluator = peer("pytrec_eval").RelevanceEvaluator(judged, {"iprec_at_recall", "11pt_avg"})
    theirs = evaluator.evaluate(lists)
    recs = pl.DataFrame(
        [(user, item, score) for user, held in lists.items() for item, score in held.items()],
        schema=["user", "item", "score"],
        orient="row",
    )
    truth = pl.DataFrame(
        [(user, item) for user, held in judged.items() for item in held],
        schema=["user", "item"],
        orient="row",
    )
    at_70 = rf.interpolated_precision(recall=0.7)
    own = recs.rec(truth=truth).evaluate(at_70, by="user")
    slips = {
        user for user, value in own.rows() if not close(value, theirs[user]["iprec_at_recall_0.70"])
    }

    assert {"3", "23", "33"} <= slips
    for profile in ("trec_eval", "pytrec_eval", "ir_measures"):
        rec = recs.rec(truth=truth, profile=profile)
        for user, value, mean in rec.evaluate(at_70, "eleven_point_precision", by="user").rows():
            assert close(value, theirs[user]["iprec_at_recall_0.70"]), user
            assert close(mean, theirs[user]["11pt_avg"]), user


def test_the_geometric_mean_of_pytrec_eval_agrees():
    # it gives each user's logarithm
    theirs = {user: values["gm_map"] for user, values in curves().items()}
    ours = recframe(CURVES)["map(average=geometric)"]
    agree({user: math.log(value) for user, value in ours.items() if value}, theirs, "gm_map")
    recs, truth = (pl.DataFrame(rows) for rows in users())
    found = recs.rec(truth=truth, universe="both").map(average="geometric")
    assert close(
        found, peer("pytrec_eval").compute_aggregated_measure("gm_map", [*theirs.values()])
    )


def test_the_users_that_pytrec_eval_leaves_out_are_those_without_a_list():
    ours = recframe(("list_length", "precision@10"))
    assert {user for user, length in ours["list_length"].items() if length} == set(trec_eval(1))
    assert {ours["precision@10"][user] for user in ours["precision@10"].keys() - trec_eval(1)} == {
        0.0
    }


def test_the_judged_share_of_ir_measures_agrees():
    library = peer("ir_measures")
    theirs: dict[str, dict[str, float]] = {}
    for one in library.iter_calc([library.Judged @ k for k in KS], qrels(), run()):
        # it has 0 for those without a list
        if one.query_id in run():
            theirs.setdefault(f"judged@{one.measure['cutoff']}", {})[one.query_id] = one.value
    for metric in (f"judged@{k}" for k in KS):
        agree(recframe((metric,))[metric], theirs[metric], metric)


RANX = {
    **at("precision", "precision@{}", [5]),
    **at("recall", "recall@{}", [5]),
    **at("f_score", "f1@{}"),
    **at("map", "map@{}", [5]),
    **at("mrr", "mrr@{}"),
    **at("hit_rate", "hit_rate@{}", [5]),
    **at("n_hits", "hits@{}"),
    **at("dcg", "dcg@{}"),
    **at("dcg(gain=exp)", "dcg_burges@{}"),
    **at("ndcg", "ndcg@{}"),
    **at("ndcg(gain=exp)", "ndcg_burges@{}"),
    "r_precision": "r-precision",
    "f_score": "f1",
    "precision": "precision",
    "dcg": "dcg",
    "dcg(gain=exp)": "dcg_burges",
    "ndcg(gain=exp)": "ndcg_burges",
}


def ranx_of(
    judged: Mapping[str, dict[str, int]], measures: tuple[str, ...]
) -> dict[str, dict[str, float]]:
    library = peer("ranx")
    held = library.Run({user: items for user, items in run().items() if user in judged})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.evaluate(library.Qrels(judged), held, list(measures), make_comparable=True)
    return {measure: held.scores[measure] for measure in measures}


def test_ranx_agrees_for_each_user():
    theirs = ranx_of(qrels(), tuple(RANX.values()))
    for metric, measure in RANX.items():
        agree(recframe(tuple(RANX))[metric], theirs[measure], metric)


def test_ranx_agrees_on_rbp_with_binary_relevance():
    measures = {"rbp": "rbp.80", "rbp(p=0.95)": "rbp.95"}
    theirs = ranx_of(qrels(lambda relevance: int(relevance > 0)), tuple(measures.values()))
    for metric, measure in measures.items():
        agree(recframe(tuple(measures))[metric], theirs[measure], metric)


def test_ranx_agrees_on_bpref_where_something_is_judged_not_relevant():
    mixed = {
        user: found
        for user, found in qrels().items()
        if 0 < sum(map(bool, found.values())) < len(found)
    }
    agree(recframe(("bpref",))["bpref"], ranx_of(mixed, ("bpref",))["bpref"], "bpref")


def test_the_users_are_thousands_and_of_every_kind():
    lists, judged = run(), qrels()
    assert len(lists.keys() & judged) > 2000
    assert len(lists.keys() - judged) > 100
    assert len(judged.keys() - lists) > 100
    assert len([user for user in judged if not any(judged[user].values())]) > 100
    assert {relevance for found in judged.values() for relevance in found.values()} == {
        0,
        1,
        2,
        3,
        4,
    }
    assert {len(items) for items in lists.values()} == {1, 2, 4, 10, 20}
