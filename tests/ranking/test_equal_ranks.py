"""What becomes of equal ranks: effective ranks, and places by the order that `ties=` says."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from asking import ask_one, liked, ranking
from buckets_of_users import in_buckets
from frame_kinds import Kind
from lanes import in_turn
from recframe.frames.options import Sharing, Ties
from tied_lists import ONE_SCORE, exactly

TIES = [ties for ties in get_args(Ties) if ties != "item"]

log2 = math.log2


def test_relevant_items_of_one_rank_take_one_place_each(kind):
    # one library gives map 1.34 here
    found = ask_one(
        kind,
        ranking([1, 1, 1], [1, 1, 1]),
        "map",
        "ndcg",
        "precision",
        "n_hits",
        "mrr",
        k=[1, 2, 3],
    )

    assert found == exactly(
        {"n_users": 1}
        | {"map@1": 1 / 3, "map@2": 2 / 3, "map@3": 1}
        | {f"ndcg@{k}": 1 for k in (1, 2, 3)}
        | {f"precision@{k}": 1 for k in (1, 2, 3)}
        | {f"n_hits@{k}": k for k in (1, 2, 3)}
        | {f"mrr@{k}": 1 for k in (1, 2, 3)}
    )


def test_a_tie_across_the_cut_off_lets_in_what_has_a_place(kind):
    assert ask_one(kind, ranking([0, 1, 1], [1, 2, 2]), "n_hits", "recall", k=2) == {
        "n_users": 1,
        "n_hits@2": 1,
        "recall@2": 0.5,
    }


def test_items_of_one_rank_take_their_places_in_the_order_of_their_ids(kind):
    # a (relevance 1) and b (relevance 3) share rank 1: a is first, b second
    for frame in (ranking([1, 3], [1, 1]), ranking([1, 3], [1, 1]).reverse()):
        assert ask_one(kind, frame, "dcg@1", "dcg@2") == exactly(
            {"n_users": 1, "dcg@1": 1, "dcg@2": 1 + 3 / log2(3)}
        )


def test_a_tie_with_an_irrelevant_item_leaves_the_rank(kind):
    assert ask_one(kind, ranking([0, 1], [1, 1]), "mrr", "precision@1", "auc") == {
        "n_users": 1,
        "mrr": 1,
        "precision@1": 1,
        "auc": 0.5,  # of one rank: half a right order
    }


def test_ranks_closer_than_1_are_pushed_apart(kind):
    frame = ranking([1, 1, 1]).with_columns(rank=pl.Series([1.0, 1.5, 2.25]))

    # 1.5 moves to 2 and 2.25 to 3
    assert ask_one(kind, frame, "n_hits@2", "n_hits@3", "dcg") == exactly(
        {"n_users": 1, "n_hits@2": 2, "n_hits@3": 3, "dcg": 1 + 1 / log2(3) + 1 / 2}
    )


def test_a_gap_behind_a_tie_ends_the_push(kind):
    # 1, 2, 3 by the tie, and 9 stays 9
    assert ask_one(kind, ranking([1, 1, 1, 1], [1, 1, 1, 9]), "map") == exactly(
        {"n_users": 1, "map": (1 + 1 + 1 + 4 / 9) / 4}
    )


@pytest.mark.parametrize(
    ("dtype", "rank"), [(pl.Int64, 2**63 - 1), (pl.UInt64, 2**64 - 1), (pl.Int128, 2**100)], ids=str
)
@pytest.mark.parametrize("ties", ["item", "order"])
def test_behind_the_highest_rank_of_a_dtype_no_item_comes_first(dtype, rank, ties):
    frame = pl.DataFrame(
        {
            "user": 1,
            "item": [1, 2, 3],
            "rank": pl.Series([1, rank, rank], dtype=dtype),
            "relevance": 1,
        }
    )

    for given in (frame, pl.concat([frame, frame.clear(30_000)])):
        found = given.rec(ties=ties).evaluate("mrr", "map", "recall@2", "n_hits")
        assert found.row(0) == exactly((1, 1, 1 / 3, 1 / 3, 3))


@pytest.mark.parametrize("ties", get_args(Ties))
def test_ties_change_nothing_where_no_rank_is_repeated(kind: Kind, ties):
    # gaps stay gaps: ranks 2, 3, 7, 9
    frame = kind(ONE_SCORE.with_columns(rank=pl.Series([7, 3, 2, 9])))
    found = kind.read(frame.rec(ties=ties).evaluate("mrr", "recall@2", "list_length@3", "map"))

    assert found.row(0) == exactly((1, 1 / 2, 1 / 2, 2, (1 / 2 + 2 / 7) / 2))


def test_ranks_of_which_nothing_is_said_stay_as_they_are(kind: Kind):
    # ten items of rank 1, the last one relevant: ties="item" is the default, and a profile's ties wait for scores
    frame = pl.DataFrame(
        {"user": [1] * 10, "item": range(10), "rank": [1] * 10, "relevance": [0] * 9 + [1]}
    )

    for options in ({}, {"ties": "item"}, {"profile": "trec_eval"}):
        assert ask_one(kind, frame, "mrr", "precision@1", **options) == {
            "n_users": 1,
            "mrr": 1,
            "precision@1": 1,
        }
    assert ask_one(kind, frame, "list_length@1", ties="item") == {"n_users": 1, "list_length@1": 10}


@pytest.mark.parametrize(
    ("ties", "place"),
    [
        ("item_desc", 1),
        ("pessimistic", 10),
        ("optimistic", 1),
        ("order", 3),
        ("expected", None),
        ("last", 10),
    ],
)
def test_ties_put_each_item_of_a_rank_on_a_place_of_its_own(kind: Kind, ties, place):
    # ten items of rank 1, the last by its id is relevant and stands third
    items = [0, 1, 9, *range(2, 9)]
    frame = pl.DataFrame(
        {"user": 1, "item": items, "rank": 1, "relevance": [int(item == 9) for item in items]}
    )
    metrics = ["mrr", "precision@1", "hit_rate@3", "list_length@3"]
    in_expectation = (1, math.fsum(1 / rank for rank in range(1, 11)) / 10, 0.1, 0.3, 3)
    expected = (
        (1, 1 / place, float(place == 1), float(place <= 3), 3 * (ties != "last"))
        if place
        else in_expectation
    )

    assert tuple(ask_one(kind, frame, *metrics, ties=ties).values()) == exactly(expected)
    truth = frame.filter(pl.col("relevance") == 1).select("user", "item")
    assert tuple(
        ask_one(kind, frame.drop("relevance"), *metrics, truth=truth, ties=ties).values()
    ) == exactly(expected)


@pytest.mark.parametrize(
    ("ranks", "effective"),
    [
        ([1, 1, 1, 4], [1, 2, 3, 4]),
        ([1, 1, 2], [1, 2, 3]),
        ([1, 3, 7], [1, 3, 7]),
        ([1.0, 1.5], [1, 2]),
    ],
)
def test_the_judged_frame_has_the_effective_ranks(kind: Kind, ranks, effective):
    # items a, b, c, d; the last first
    recs = pl.DataFrame({"user": "u", "item": list("dcba"[: len(ranks)]), "rank": ranks})
    found = kind.read(kind(recs).rec(truth=kind(liked(u="a")), ties="item_desc").judge())

    assert found.filter(pl.col("rank").is_not_null()).sort("rank").select(
        "item", "rank"
    ).rows() == [*zip(recs["item"], effective, strict=True)]


@pytest.mark.parametrize(
    ("ties", "n_users"),
    [*in_turn(TIES, [30], fast=3), *in_turn(TIES, [1_500], fast=0)],
)
def test_competition_ranks_of_scores_are_the_scores(ties, n_users):
    # as rank() in SQL gives them; large frames, of two models, too
    rng = np.random.default_rng(3)
    pairs = pl.DataFrame({"user": range(n_users)}).join(
        pl.DataFrame({"item": range(20)}), how="cross"
    )
    frame = pl.concat(
        [pairs.sample(fraction=0.9, seed=seed).with_columns(m=pl.lit(seed)) for seed in (1, 2)]
    )
    frame = frame.with_columns(score=pl.Series(rng.integers(0, 6, len(frame))))
    recs = frame.with_columns(rank=pl.col("score").rank("min", descending=True).over("m", "user"))
    truth = pairs.with_columns(relevance=pl.Series(rng.integers(0, 4, len(pairs)))).sample(
        fraction=0.4, seed=3
    )
    of_lists = ["epc@1"] * (ties not in get_args(Sharing))
    metrics = ["ndcg", "recall@3", "map@5", "mrr@2", "list_length@3", "judged@4", *of_lists]
    sides: dict[str, Any] = {"truth": truth, "train": frame.select("user", "item"), "ties": ties}
    scored = frame.rec(**sides, model="m").evaluate(*metrics)
    ranked = recs.drop("score")

    assert_frame_equal(ranked.rec(**sides, model="m").evaluate(*metrics), scored, rel_tol=1e-12)
    if of_lists:
        assert_frame_equal(
            in_buckets(ranked.lazy().rec(**sides, model="m"), *metrics), scored, rel_tol=1e-12
        )
        of_one = scored.filter(m=1).drop("m").select("n_users", *metrics[:-1])
        judged = ranked.filter(m=1).rec(truth=truth, ties=ties).judge()
        assert_frame_equal(judged.rec(ties="item").evaluate(*metrics[:-1]), of_one, rel_tol=1e-12)
