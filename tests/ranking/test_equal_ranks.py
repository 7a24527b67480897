"""What becomes of equal ranks: effective ranks, of which `ties=` says nothing."""

from __future__ import annotations

import math
import re
from typing import get_args

import polars as pl
import pytest

import recframe as rf
from asking import ask_one, ranking
from frame_kinds import Kind
from recframe.frames.options import Ties
from tied_lists import exactly

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
def test_behind_the_highest_rank_of_a_dtype_no_item_comes_first(dtype, rank):
    frame = pl.DataFrame(
        {
            "user": 1,
            "item": [1, 2, 3],
            "rank": pl.Series([1, rank, rank], dtype=dtype),
            "relevance": 1,
        }
    )

    for given in (frame, pl.concat([frame, frame.clear(30_000)])):
        found = given.rec.evaluate("mrr", "map", "recall@2", "n_hits")
        assert found.row(0) == exactly((1, 1, 1 / 3, 1 / 3, 3))


def test_items_of_one_rank_all_count_at_it(kind: Kind):
    # ten items of rank 1, the last one relevant; a profile's ties wait for scores
    frame = pl.DataFrame({"user": 1, "item": range(10), "rank": 1, "relevance": [0] * 9 + [1]})

    for options in ({}, {"ties": "item"}, {"profile": "trec_eval"}):
        assert ask_one(kind, frame, "mrr", "precision@1", **options) == {
            "n_users": 1,
            "mrr": 1,
            "precision@1": 1,
        }
    assert ask_one(kind, frame, "list_length@1") == {"n_users": 1, "list_length@1": 10}


@pytest.mark.parametrize("ties", [ties for ties in get_args(Ties) if ties != "item"])
def test_an_order_of_equal_scores_is_none_of_given_ranks(kind: Kind, ties):
    scored = ranking([0, 1], [1, 1]).with_columns(score=1.0).rename({"rank": "place"})
    rec = kind(scored).rec(rank="place", ties=ties)

    message = (
        f"ties={ties!r} orders items of equal scores, but the judged frame has ranks, in column 'place'; leave it out, or "
        "name the scores: rec(score='...')"
    )
    for call in (rec.mrr, rec.audit, lambda: rec.summarize("mrr")):
        with pytest.raises(rf.RecframeError, match=f"^{re.escape(message)}$"):
            call()
    kind(scored).rec(score="score", ties=ties).mrr()
