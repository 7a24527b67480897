"""Lists with equal scores: the order of tied items, whole ties at their last place, bounds, and metrics without a value."""

from __future__ import annotations

import math
import re
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest

import recframe as rf
from asking import ask, ask_one
from frame_kinds import Kind
from recframe.frames.options import Ties
from tied_lists import (
    EVERY,
    ONE_SCORE,
    exactly,
    has_expectation,
    is_certain_of_ties,
    scored,
)

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
log2 = math.log2


# 9, 10 and 100 as numbers and as text; letters by their bytes: in UTF-8 "é" is C3 A9, behind "z" and before a Chinese one
ORDERS = {
    "item": [9, 10, 100],
    "item_reverse": [100, 10, 9],
    "item_text": [10, 100, 9],
    "item_text_reverse": [9, 100, 10],
    "item_desc": [9, 100, 10],
}


def test_tied_items_are_numbers_or_text_or_bytes(kind: Kind):
    cases = [*ORDERS.items(), ("item_desc", ["中", "é", "z"])]
    for ties, order in cases:
        recs = pl.DataFrame({"user": [1] * 3, "item": order[1:] + order[:1], "score": [1.0] * 3})
        for rank, item in enumerate(order, start=1):
            truth = pl.DataFrame({"user": [1], "item": [item]})
            found = ask_one(kind, recs, "first_rank", truth=truth, ties=ties)
            assert found["first_rank"] == rank, (ties, item)


def test_scores_that_are_one_in_32_bits_are_tied_as_trec_eval_compares_alone(kind: Kind):
    frame = scored(1 + 1e-9, 1, relevance=[1, 0])
    for ties in get_args(Ties):
        found = ask_one(kind, frame, "mrr", ties=ties)["mrr"]
        assert found == (0.5 if ties == "item_desc" else 1), ties


TEXTS = [pl.String(), pl.Categorical(), pl.Enum(["c", "b", "a"])]


@pytest.mark.parametrize("dtype", TEXTS, ids=str)
def test_tied_items_stand_by_what_they_say(kind: Kind, dtype):
    # pandas takes the order of the categories along
    item = pl.Series("item", ["c", "a", "b"]).cast(dtype)
    recs = pl.DataFrame({"user": ["u"] * 3, "item": item, "score": [1.0] * 3})
    truth = pl.DataFrame({"user": ["u"] * 2, "item": item[1:], "relevance": [1, 3]})
    train = pl.DataFrame({"user": ["v"] * 3, "item": item})

    found = ask_one(kind, recs, "dcg@1", "dcg@2", truth=truth)
    assert found == exactly({"n_users": 1, "dcg@1": 1, "dcg@2": 1 + 3 / log2(3)})
    found = ask_one(kind, recs, "dcg@2", truth=truth, ties="item_desc")
    assert found["dcg@2"] == exactly(3 / log2(3))
    ranked = recs.select("user", "item", rank=1)
    assert ask_one(kind, ranked, "dcg@1", truth=truth)["dcg@1"] == 1
    # a and b hold two thirds of the pairs of train
    tails = ("long_tail_share(share=0.5)@1", "long_tail_share(share=0.5)@3")
    assert [*ask_one(kind, recs, *tails, train=train).values()][-2:] == exactly([0, 1 / 3])


@pytest.mark.parametrize(
    ("scores", "relevance", "k", "expected"),
    [
        # precision, recall, hit_rate, mrr, map, dcg, list_length: three items at rank 3, two of them hits
        ((1, 1, 1), [1, 2, 0], None, [2 / 3, 1, 1, 1 / 3, 2 / 3, 3 / 2, 3]),
        ((1, 1, 1), [1, 2, 0], 3, [2 / 3, 1, 1, 1 / 3, 2 / 3, 3 / 2, 3]),
        ((1, 1, 1), [1, 2, 0], 2, [0, 0, 0, 0, 0, 0, 0]),
        # a hit at rank 1, a tie of two hits at rank 3, and a hit behind; up to 2 there is one item, and one hit
        ((2, 1, 1, 0), [1, 1, 1, 1], None, [1, 1, 1, 1, 1, 1 + 2 / 2 + 1 / log2(5), 4]),
        ((2, 1, 1, 0), [1, 1, 1, 1], 2, [1 / 2, 1 / 4, 1, 1, 1 / 4, 1, 1]),
        # scores that are none are tied behind all others
        ((2, None, math.nan), [0, 1, 0], None, [1 / 3, 1, 1, 1 / 3, 1 / 3, 1 / 2, 3]),
    ],
)
def test_last_places_worked_by_hand(kind: Kind, scores, relevance, k, expected):
    metrics = ["precision", "recall", "hit_rate", "mrr", "map", "dcg", "list_length"]

    found = ask_one(kind, scored(*scores, relevance=relevance), *metrics, k=k, ties="last")

    assert list(found.values()) == exactly([1, *expected])


@pytest.mark.slow
@pytest.mark.parametrize("n_levels", [2, 3, 30])
def test_scikit_learn_counts_ties_at_the_last_places_and_averages_them_in_ndcg(n_levels: int):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(n_levels)
    relevance, scores = rng.integers(0, 4, (200, 9)), rng.integers(0, n_levels, (200, 9)) / 7 - 1
    relevance[:, 0] += 1  # it gives 1 to a list without relevant items
    users, items = np.divmod(np.arange(relevance.size), 9)
    columns = {"user": users, "item": items, "score": scores.ravel()}
    rec = pl.DataFrame(columns | {"relevance": relevance.ravel()}).rec
    binary = (relevance > 0).astype(int)
    of_labels = metrics.label_ranking_average_precision_score
    by_list = [of_labels([one], [own]) for one, own in zip(binary, scores, strict=True)]
    averages = [*map(metrics.average_precision_score, binary, scores)]

    for one in (rec(ties="last"), rec(profile="sklearn")):
        found = one.evaluate("map", by="user")["map"].to_list()
        assert found == pytest.approx(by_list, abs=1e-9)
        assert found == pytest.approx(averages, abs=1e-9)
    for k in (1, 3, 5, 9, None):
        expected = metrics.ndcg_score(relevance, scores, k=k, ignore_ties=False)
        assert rec(ties="expected").ndcg(k=k) == exactly(expected)


BOUNDED = [
    "hit_rate", "precision", "recall", "f_score", "map", "map(normalizer=min)", "mrr", "dcg",
    "ndcg", "rbp", "n_hits", "r_precision",
]  # fmt: skip


def test_the_expectation_lies_between_the_worst_and_the_best_order():
    rng, size = np.random.default_rng(1), 3_000
    highest = {"user": 300, "item": 50, "score": 4, "relevance": 3}
    columns = {name: rng.integers(0, most, size) for name, most in highest.items()}
    frame = pl.DataFrame(columns).unique(["user", "item"])
    names = [f"{name}@{k}" for name in BOUNDED for k in (1, 3, 10)] + [*BOUNDED, "auc"]

    worst, mean, best = (
        frame.rec(ties=ties).evaluate(*names, "first_rank", by="user")
        for ties in ("pessimistic", "expected", "optimistic")
    )

    for name in names:
        assert (worst[name].is_null() | (worst[name] <= mean[name] + 1e-12)).all(), name
        assert (mean[name].is_null() | (mean[name] <= best[name] + 1e-12)).all(), name
    assert worst["recall@3"].mean() < mean["recall@3"].mean() < best["recall@3"].mean()
    later = worst["first_rank"] >= mean["first_rank"] - 1e-12
    assert (worst["first_rank"].is_null() | later).all()


def test_long_ties_keep_their_precision():
    # one relevant item among 5,000: its expected reciprocal rank is H(5000) / 5000
    frame = pl.DataFrame({"user": 1, "item": range(5_000), "score": 0})
    rec = frame.with_columns(relevance=pl.col("item") == 0).rec(ties="expected")
    harmonic = math.fsum(1 / rank for rank in range(1, 5_001)) / 5_000

    found = rec.evaluate("mrr", "map", "first_rank", "hit_rate@10")
    assert found.row(0) == exactly((1, harmonic, harmonic, 5_001 / 2, 10 / 5_000))


REFUSED = {
    "expected": ("has no expectation in closed form", [one for one in EVERY if not has_expectation(one)]),
    "last": ("has no value of whole ties", [one for one in EVERY if not is_certain_of_ties(one)]),
}  # fmt: skip


@pytest.mark.parametrize("ties", REFUSED)
def test_a_metric_without_a_value_of_ties_says_so(ties: Any):
    said, metrics = REFUSED[ties]
    for place, metric in enumerate(map(str, metrics)):
        frame = ONE_SCORE.lazy() if place % 2 else ONE_SCORE
        message = rf"{re.escape(repr(metric))} {said} \(ties='{ties}'\): .+; write another ties="
        with pytest.raises(rf.RecframeError, match=message):
            frame.rec(ties=ties).evaluate("ndcg@3", metric)


def test_a_metric_of_ones_own_that_is_a_sum_says_so(kind: Kind):
    @rf.metric(linear=True)
    def gain_on_two(at):
        return pl.when(at.rank <= 2).then(at.gain).sum()

    @rf.metric
    def last_rank(at):
        return at.rank.max()

    # of (1 + 2) / 4 a place, two places
    assert ask_one(kind, ONE_SCORE, "gain_on_two", ties="expected")["gain_on_two"] == exactly(1.5)
    assert ask_one(kind, ONE_SCORE[:2], "gain_on_two", ties="last")["gain_on_two"] == 1
    assert ask_one(kind, ONE_SCORE[:3], "gain_on_two", ties="last")["gain_on_two"] == 0
    said = r"your metric 'last_rank' to be a sum over hits .+@rf\.metric\(linear=True\)"
    with pytest.raises(rf.RecframeError, match=said):
        ask(kind, ONE_SCORE, "last_rank", ties="expected")


def test_a_count_that_is_not_summed_up_is_certain_or_an_error(kind: Kind):
    @rf.metric(linear=True)
    def all_found(at):
        return (at.certain(at.n_hits) >= at.n_relevant).cast(pl.Float64)

    assert ask_one(kind, ONE_SCORE, "all_found@3", ties="item")["all_found@3"] == 1
    with pytest.raises(rf.RecframeError, match="'all_found@3' has no expectation"):
        ask(kind, ONE_SCORE, "all_found@3", ties="expected")
