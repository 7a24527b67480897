"""The definitions that libraries disagree about, each worked by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest

import recframe as rf
from asking import ask, ask_one, liked, ranking, recommended

log2 = math.log2


def exactly(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12)


# u finds one of one at k = 1, v one of three.
MACRO = pl.concat([ranking([1], user="u"), ranking([1, 1, 1], user="v")])


def test_the_mean_of_f_is_not_the_f_of_the_means(kind):
    # F of u is 1, F of v is 2 · 1 · 1/3 / (1 + 1/3) = 1/2; the F of mean P = 1 and mean R = 2/3 would be 0.8
    assert ask_one(kind, MACRO, "f_score@1")["f_score@1"] == exactly(0.75)


def test_means_run_over_users_and_not_over_rows(kind):
    # pooled it would be 2 of 4
    assert ask_one(kind, MACRO, "recall@1")["recall@1"] == exactly((1 + 1 / 3) / 2)


def test_users_without_a_hit_are_in_the_mean(kind):
    # one library averages r_precision over the users with a hit: .5 there
    frame = pl.concat([ranking([1, 0], user="u"), ranking([0, 1], user="v")])

    assert ask_one(kind, frame, "r_precision", "mrr@1", "hit_rate@1") == {
        "n_users": 2,
        "r_precision": 0.5,
        "mrr@1": 0.5,
        "hit_rate@1": 0.5,
    }


def test_first_rank_is_the_mean_over_lists_with_a_hit(kind):
    frame = pl.concat([ranking([0, 0, 1], user="u"), ranking([0], user="v")])

    assert ask_one(kind, frame, "first_rank", "first_rank@2") == {
        "n_users": 2,
        "first_rank": 3,
        "first_rank@2": None,
    }


def test_the_first_two_ranks_do_not_weigh_the_same(kind):
    assert ask_one(kind, ranking([0, 1]), "dcg")["dcg"] == exactly(1 / log2(3))


def test_f_is_0_at_0_of_0(kind):
    assert ask_one(kind, ranking([0]), "f_score@1", "f_score(beta=2)", "precision", "recall") == {
        "n_users": 1,
        "f_score@1": 0,
        "f_score(beta=2)": 0,
        "precision": 0,
        "recall": 0,
    }


def test_rbp_of_graded_relevance_stays_below_1(kind):
    # two of relevance 5 give 1.8 in another library
    assert ask_one(kind, ranking([5, 5]), "rbp")["rbp"] == exactly(0.2 * (1 + 0.8))


def test_hit_rate_counts_users_and_not_hits(kind):
    assert ask_one(kind, ranking([1, 1, 1]), "hit_rate", "n_hits") == {
        "n_users": 1,
        "hit_rate": 1,
        "n_hits": 3,
    }


def test_the_ideal_order_is_that_of_the_truth_and_not_of_the_list(kind):
    # relevant items 3 in number, one listed, at rank 2; the ideal@2 has two places, its form for k two, the list's one
    found = ask_one(
        kind,
        recommended(u="xa"),
        "ndcg@2",
        "ndcg(ideal=list)@2",
        "ndcg(ideal=k)@5",
        truth=liked(u="abc"),
    )

    assert found == exactly(
        {
            "n_users": 1,
            "ndcg@2": (1 / log2(3)) / (1 + 1 / log2(3)),
            "ndcg(ideal=list)@2": 1 / log2(3),
            "ndcg(ideal=k)@5": (1 / log2(3))
            / (1 + 1 / log2(3) + 1 / 2 + 1 / log2(5) + 1 / log2(6)),
        }
    )


def test_the_ideal_is_no_longer_than_the_number_of_relevant_items(kind):
    # one relevant item, k = 5: the ideal is 1, not the sum of five discounts
    assert ask_one(kind, recommended(u="xa"), "ndcg@5", truth=liked(u="a"))["ndcg@5"] == exactly(
        1 / log2(3)
    )


@pytest.mark.parametrize(
    ("normalizer", "expected"),
    [("relevant", 0.5 / 3), ("min", 0.5 / 2), ("hits", 0.5 / 1), ("k", 0.5 / 2)],
    ids=str,
)
def test_each_normalizer_of_map(kind, normalizer, expected):
    # three relevant, k = 2, one hit at rank 2
    metric = rf.map(normalizer=normalizer) @ 2

    assert ask_one(kind, recommended(u="xa"), metric, truth=liked(u="abc"))[str(metric)] == exactly(
        expected
    )


def test_err_takes_its_highest_grade_from_its_parameter_and_not_from_other_users(kind):
    alone = ask(kind, ranking([2], user="u"), "err", by="user")
    beside = ask(
        kind, pl.concat([ranking([2], user="u"), ranking([4], user="v")]), "err", by="user"
    )

    assert alone.row(0) == beside.row(0) == ("u", exactly(3 / 16))  # (2^2 - 1) / 2^4


def test_bpref_without_an_item_judged_not_relevant_is_recall(kind):
    assert ask_one(kind, ranking([None, 1, 1], [1, 2, None]), "bpref") == {
        "n_users": 1,
        "bpref": 0.5,
    }


def test_auc_without_a_pair_is_null_and_not_in_the_mean(kind):
    frame = pl.concat(
        [ranking([1, 0], user="u"), ranking([1, 1], user="v"), ranking([0], user="w")]
    )

    assert ask_one(kind, frame, "auc") == {"n_users": 3, "auc": 1}
    assert ask(kind, frame, "auc", by="user").rows() == [("u", 1.0), ("v", None), ("w", None)]


def test_judged_is_the_share_of_the_places_that_somebody_looked_at(kind):
    frame = ranking([1, None, 0, None], [1, 2, 3, 4])

    assert ask_one(kind, frame, "judged", k=[1, 2, 4]) == {
        "n_users": 1,
        "judged@1": 1,
        "judged@2": 0.5,
        "judged@4": 0.5,
    }
