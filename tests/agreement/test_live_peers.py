"""recframe against what pytrec_eval, ir_measures and ranx have beside the recorded answers, run live on random users."""

from __future__ import annotations

import functools
import importlib
import math
import random
import sys
import warnings
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import recframe as rf

pytestmark = pytest.mark.nightly
N_USERS = 4000
KS = [1, 3, 5, 10, 50]
Scores = dict[str, dict[str, float]]
"""A number for each item, or for each measure, of each user."""


def at(metric: str, measure: str, ks: Iterable[int] = KS) -> dict[str, str]:
    return {f"{metric}@{k}": measure.format(k) for k in ks}


TREC = at("precision(denominator=achievable)", "relative_P_{}")
TREC |= at("recall(denominator=capped)", "relative_P_{}")
TREC |= {"precision": "set_P", "precision(denominator=list)": "set_P", "recall": "set_recall"}
TREC |= {"precision(denominator=achievable)": "set_relative_P"}
TREC |= {"n_hits": "num_rel_ret", "list_length": "num_ret"}
CURVES = {"eleven_point_precision(rounding=tenth)": "11pt_avg"} | {
    str(rf.interpolated_precision(recall=tenth / 10, rounding="tenth")): (
        f"iprec_at_recall_{tenth / 10:.2f}"
    )
    for tenth in range(11)
}


@functools.cache
def users() -> tuple[Scores, Scores]:
    """Lists and grades: short lists, users without a list, without truth, or without a relevant item."""
    rng = random.Random("recframe oracles")  # noqa: S311  no secret
    lists, judged = {}, {}
    for user in range(N_USERS):
        items = [f"i{item}" for item in rng.sample(range(60), 60)]
        length = rng.choice([0, 1, 2, 4, 10, 10, 20])
        n_judged = rng.choice([0, 1, 2, 5, 9, 20, 2 * length + 8]) % (2 * length + 9)
        grades = rng.choice([[0], [1], [0, 0, 1], [0, 1, 2, 3, 4]])
        own = {item: rng.choice(grades) for item in rng.sample(items[: 2 * length + 8], n_judged)}
        lists[f"u{user}"] = {item: 999.0 - r for r, item in enumerate(items[:length])}
        judged[f"u{user}"] = own
    lists, judged = ({u: own for u, own in one.items() if own} for one in (lists, judged))
    return lists, judged


def frame(scores: Scores, column: str) -> pl.DataFrame:
    rows = [(user, item, one) for user, own in scores.items() for item, one in own.items()]
    return pl.DataFrame(rows, ["user", "item", column], orient="row").sample(fraction=1, seed=1)


def agree(measures: Mapping[str, str], theirs: Scores, **policy: Any) -> None:
    """Every user that the peer has a value for has the same one here."""
    lists, judged = users()
    rec = frame(lists, "score").lazy().rec(truth=frame(judged, "relevance").lazy(), **policy)
    found = rec.evaluate(*measures, by="user").collect()
    assert len(theirs) >= 1000
    for metric, measure in measures.items():
        ours = dict(zip(found["user"], found[metric], strict=True))
        wrong = {
            user: (ours[user], own[measure])
            for user, own in theirs.items()
            if not close(ours[user], own[measure])
        }
        assert not wrong, (metric, len(wrong), [*wrong.items()][:3])


def close(ours: float | None, theirs: float) -> bool:
    return ours is not None and math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)


def peer(name: str) -> ModuleType:
    if name == "ir_measures" and sys.version_info >= (3, 14):
        pytest.skip("ir_measures reads names by parts of Python's ast that are gone since 3.14")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


def trec_eval(
    measures: Iterable[str], level: int = 1, scores: tuple[Scores, Scores] | None = None
) -> Scores:
    lists, judged = scores or users()
    cuts = "." + ",".join(map(str, KS))
    names = {name.rpartition("_")[0] + cuts if name[-1].isdigit() else name for name in measures}
    names = {"iprec_at_recall" if name.startswith("iprec") else name for name in names}
    return (
        peer("pytrec_eval").RelevanceEvaluator(judged, names, relevance_level=level).evaluate(lists)
    )


def test_pytrec_eval_agrees_for_each_user():
    agree(TREC | CURVES, trec_eval([*TREC.values(), *CURVES.values()]))
    agree(TREC, trec_eval(TREC.values(), level=2), min_relevance=2)


def test_the_geometric_mean_of_pytrec_eval_agrees():
    lists, judged = users()
    theirs = trec_eval(["gm_map"]).values()
    found = frame(lists, "score").rec(truth=frame(judged, "relevance"), universe="both")
    mean = peer("pytrec_eval").compute_aggregated_measure(
        "gm_map", [one["gm_map"] for one in theirs]
    )
    assert close(found.map(average="geometric"), mean)


@pytest.mark.filterwarnings("ignore:no_relevant_beyond_lists")  # each list has all that is relevant
def test_pytrec_eval_slips_where_a_tenth_of_an_item_is_over_and_its_profiles_with_it():
    # 0.7 of 3, 23 and 33 items are 2.1, 16.1 and 23.1; + 0.9 that is just below 3, 17 and 24 there
    judged, lists = {}, {}
    for n in range(1, 100):
        items = [f"{kind}{place:03}" for place in range(n) for kind in ("hit", "miss")]
        judged[str(n)] = {item: 1 for item in items if item.startswith("hit")}
        lists[str(n)] = {item: 1000.0 - place for place, item in enumerate(items)}
    theirs = trec_eval(CURVES.values(), scores=(lists, judged))
    rec = frame(lists, "score").rec(truth=frame(judged, "relevance"))
    at_70 = rf.interpolated_precision(recall=0.7)
    own = rec.evaluate(at_70, by="user").rows()
    slips = {u for u, value in own if not close(value, theirs[u]["iprec_at_recall_0.70"])}

    assert {"3", "23", "33"} <= slips
    for profile in ("trec_eval", "pytrec_eval", "ir_measures"):
        found = rec(profile=profile).evaluate(at_70, "eleven_point_precision", by="user")
        for user, value, mean in found.rows():
            assert close(value, theirs[user]["iprec_at_recall_0.70"]), user
            assert close(mean, theirs[user]["11pt_avg"]), user


def test_the_judged_share_of_ir_measures_agrees():
    library, (lists, judged) = peer("ir_measures"), users()
    theirs: Scores = {}
    for one in library.iter_calc([library.Judged @ k for k in KS], judged, lists):
        # it has 0 for those without a list
        if one.query_id in lists:
            theirs.setdefault(one.query_id, {})[str(one.measure["cutoff"])] = one.value
    agree(at("judged", "{}"), theirs)


def test_ranx_agrees_on_bpref_where_something_is_judged_not_relevant():
    library, (lists, judged) = peer("ranx"), users()
    mixed = {u: own for u, own in judged.items() if 0 < sum(map(bool, own.values())) < len(own)}
    held = library.Run({user: items for user, items in lists.items() if user in mixed})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.evaluate(library.Qrels(mixed), held, ["bpref"], make_comparable=True)
    agree({"bpref": "bpref"}, {user: {"bpref": one} for user, one in held.scores["bpref"].items()})
