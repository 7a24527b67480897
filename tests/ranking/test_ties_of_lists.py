"""What is known of lists with ties: bounds, whole ties at their last place, and metrics that have no value of them."""

from __future__ import annotations

import math
import re
from typing import get_args

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from asking import ask, ask_one
from frame_kinds import Kind
from recframe.frames.options import Ties
from tied_lists import (
    EVERY,
    LINEAR,
    ONE_SCORE,
    exactly,
    has_expectation,
    is_certain_of_ties,
    scored,
)

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
log2 = math.log2


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
@pytest.mark.parametrize("n_levels", [2, 4, 30])
def test_scikit_learn_counts_average_precision_at_the_last_places(n_levels: int):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(n_levels)
    relevance, scores = rng.integers(0, 2, (200, 9)), rng.integers(0, n_levels, (200, 9)) / 7 - 1
    relevance[:, 0] = 1  # it gives 1 to a list without relevant items
    users, items = np.divmod(np.arange(relevance.size), relevance.shape[1])
    frame = pl.DataFrame(
        {"user": users, "item": items, "score": scores.ravel(), "relevance": relevance.ravel()}
    )
    by_list = [
        metrics.label_ranking_average_precision_score([one], [own])
        for one, own in zip(relevance, scores, strict=True)
    ]
    averages = [
        metrics.average_precision_score(one, own)
        for one, own in zip(relevance, scores, strict=True)
    ]

    for rec in (frame.rec(ties="last"), frame.rec(profile="sklearn")):
        found = rec.evaluate("map", by="user")["map"].to_list()
        assert found == pytest.approx(by_list, abs=1e-9)
        assert found == pytest.approx(averages, abs=1e-9)


@pytest.mark.slow
def test_scikit_learn_averages_ties_to_the_same_ndcg():
    ndcg_score = pytest.importorskip("sklearn.metrics").ndcg_score
    rng = np.random.default_rng(0)
    relevance, scores = rng.integers(0, 4, (200, 9)), rng.integers(0, 3, (200, 9))
    relevance[:, 0] += 1
    users, items = np.divmod(np.arange(relevance.size), relevance.shape[1])
    frame = pl.DataFrame(
        {"user": users, "item": items, "score": scores.ravel(), "relevance": relevance.ravel()}
    )

    for k in (1, 3, 5, 9, None):
        found = frame.rec(ties="expected").ndcg(k=k)
        assert found == exactly(ndcg_score(relevance, scores, k=k, ignore_ties=False))


@pytest.mark.slow
def test_a_list_without_ties_has_the_numbers_of_any_order():
    frame = pl.DataFrame(
        {
            "user": [1] * 6 + [2] * 6,
            "item": [*range(6)] * 2,
            "score": [*range(12)],
            "relevance": [0, 1, 3, 0, 2, None] * 2,
        }
    )
    names = [str(one) for one in LINEAR]

    expected = frame.rec.evaluate(*names)
    for ties in get_args(Ties):
        assert_frame_equal(frame.rec(ties=ties).evaluate(*names), expected, rel_tol=1e-12)


BOUNDED = [
    "hit_rate", "precision", "recall", "f_score", "map", "map(normalizer=min)", "mrr", "dcg",
    "ndcg", "rbp", "n_hits", "r_precision",
]  # fmt: skip


def test_the_expectation_lies_between_the_worst_and_the_best_order():
    rng = np.random.default_rng(1)
    size = 3_000
    frame = pl.DataFrame(
        {
            "user": rng.integers(0, 300, size),
            "item": rng.integers(0, 50, size),
            "score": rng.integers(0, 4, size),
            "relevance": rng.integers(0, 3, size),
        }
    ).unique(["user", "item"])
    names = [f"{name}@{k}" for name in BOUNDED for k in (1, 3, 10)] + [*BOUNDED, "auc"]

    worst, mean, best = (
        frame.rec(ties=ties).evaluate(*names, "first_rank", by="user")
        for ties in ("pessimistic", "expected", "optimistic")
    )

    for name in names:
        assert (worst[name].is_null() | (worst[name] <= mean[name] + 1e-12)).all(), name
        assert (mean[name].is_null() | (mean[name] <= best[name] + 1e-12)).all(), name
    assert worst["recall@3"].mean() < mean["recall@3"].mean() < best["recall@3"].mean()
    assert (
        worst["first_rank"].is_null() | (worst["first_rank"] >= mean["first_rank"] - 1e-12)
    ).all()


def test_long_ties_keep_their_precision():
    # one relevant item among 5,000: its expected reciprocal rank is H(5000) / 5000
    frame = pl.DataFrame(
        {
            "user": [1] * 5_000,
            "item": range(5_000),
            "score": [0] * 5_000,
            "relevance": [1] + [0] * 4_999,
        }
    )

    found = (
        frame.rec(ties="expected")
        .evaluate("mrr", "map", "first_rank", "hit_rate@10")
        .row(0, named=True)
    )

    harmonic = math.fsum(1 / rank for rank in range(1, 5_001)) / 5_000
    assert found == exactly(
        {
            "n_users": 1,
            "mrr": harmonic,
            "map": harmonic,
            "first_rank": 5_001 / 2,
            "hit_rate@10": 10 / 5_000,
        }
    )


@pytest.mark.parametrize("frame", [ONE_SCORE, ONE_SCORE.lazy()], ids=["eager", "lazy"])
def test_a_metric_without_an_expectation_says_so(frame):
    for metric in (str(asked) for asked in EVERY if not has_expectation(asked)):
        message = f"{re.escape(repr(metric))} has no expectation in closed form \\(ties='expected'\\): .+; write another ties="
        with pytest.raises(rf.RecframeError, match=message):
            frame.rec(ties="expected").evaluate("ndcg@3", metric)


@pytest.mark.parametrize("frame", [ONE_SCORE, ONE_SCORE.lazy()], ids=["eager", "lazy"])
def test_a_metric_that_takes_items_of_a_tie_one_by_one_says_so(frame):
    one_by_one = (str(asked) for asked in EVERY if not is_certain_of_ties(asked))
    for metric in [*one_by_one, "coverage@2"]:
        message = f"{re.escape(repr(metric))} has no value of whole ties \\(ties='last'\\): .+; write another ties="
        with pytest.raises(rf.RecframeError, match=message):
            frame.rec(ties="last").evaluate("ndcg@3", metric)


@pytest.mark.parametrize("metric", ["list_length@3", "judged@3"])
def test_how_many_items_of_a_segment_are_listed_is_uncertain(metric):
    with pytest.raises(rf.RecframeError, match="how many items of a segment are among the first k"):
        ONE_SCORE.rec(ties="expected").evaluate(metric, by="item")


@pytest.mark.parametrize("ties", ["expected", "last"])
def test_the_judged_frame_has_one_rank_for_each_item(kind: Kind, ties: Ties):
    with pytest.raises(rf.RecframeError, match=f"ties='{ties}' has one for all items of a tie"):
        kind(ONE_SCORE).rec(ties=ties).judge()


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
    with pytest.raises(
        rf.RecframeError,
        match=r"your metric 'last_rank' to be a sum over hits .+@rf\.metric\(linear=True\)",
    ):
        ask(kind, ONE_SCORE, "last_rank", ties="expected")


def test_a_count_that_is_not_summed_up_is_certain_or_an_error(kind: Kind):
    @rf.metric(linear=True)
    def all_found(at):
        return (at.certain(at.n_hits) >= at.n_relevant).cast(pl.Float64)

    assert ask_one(kind, ONE_SCORE, "all_found@3", ties="item")["all_found@3"] == 1
    with pytest.raises(rf.RecframeError, match="'all_found@3' has no expectation"):
        ask(kind, ONE_SCORE, "all_found@3", ties="expected")
