"""recframe against scikit-learn, run live on the same random users."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping
from typing import Any

import pytest

import recframe as rf
from live_peers import agree, at, close, listed_relevances, peer, qrels, recframe

pytestmark = pytest.mark.slow
LENGTHS = [1, 2, 4, 10, 20]
SKLEARN = {
    **at("ndcg", "ndcg_score"),
    **at("dcg", "dcg_score"),
    **at("dcg(log_base=10)", "dcg_score"),
    "map": "average_precision_score",
    **at("auc", "roc_auc_score", [5, 10, 50]),
}


@functools.cache
def lists_of(length: int) -> dict[str, list[int]]:
    judged = qrels()
    return {
        user: found
        for user, found in listed_relevances().items()
        if len(found) == length and user in judged
    }


def test_the_means_of_scikit_learns_gains_agree_for_lists_of_each_length():
    library = peer("sklearn.metrics")
    ours = recframe(tuple(SKLEARN), relevant_from="list", universe="both")
    for length, metric in itertools.product(LENGTHS, (one for one in SKLEARN if "cg" in one)):
        base = {"log_base": 10} if "log_base" in metric else {}
        lists = lists_of(length)
        truth = [[*relevances, 0] for relevances in lists.values()]
        scores = [[float(-place) for place in range(length + 1)]] * len(truth)
        theirs = getattr(library, SKLEARN[metric])(truth, scores, k=rf.parse(metric).k, **base)
        assert len(lists) > 100
        mean = math.fsum(ours[metric][user] for user in lists) / len(lists)  # type: ignore[misc]
        assert close(mean, float(theirs)), (metric, length)


def of_each_list(score: Any, lists: Mapping[str, list[int]], length: int) -> dict[str, float]:
    """A score of scikit-learn for each user of lists that have one length: each user is a label to it."""
    truth = [
        [int(relevances[place] > 0) for relevances in lists.values()] for place in range(length)
    ]
    scores = [[float(-place)] * len(lists) for place in range(length)]
    return dict(zip(lists, score(truth, scores, average=None).tolist(), strict=True))


def test_scikit_learns_average_precision_agrees_for_each_user():
    score, theirs = peer("sklearn.metrics").average_precision_score, {}
    for length in LENGTHS[1:]:
        lists = {
            user: relevances for user, relevances in lists_of(length).items() if any(relevances)
        }
        theirs |= of_each_list(score, lists, length)
    agree(recframe(("map",), relevant_from="list", universe="both")["map"], theirs, "map")


@pytest.mark.parametrize("k", [5, 10, 50])
def test_scikit_learns_auc_agrees_for_each_user_and_is_null_where_it_has_none(k: int):
    score, theirs, without = peer("sklearn.metrics").roc_auc_score, {}, set()
    for length in LENGTHS:
        cut = {user: relevances[:k] for user, relevances in lists_of(length).items()}
        lists = {
            user: relevances
            for user, relevances in cut.items()
            if any(relevances) and not all(relevances)
        }
        theirs |= of_each_list(score, lists, min(k, length)) if lists else {}
        without |= cut.keys() - lists.keys()
    ours = recframe((f"auc@{k}",))[f"auc@{k}"]
    agree(ours, theirs, "auc", at_least=750)
    assert {ours[user] for user in without} == {None}
