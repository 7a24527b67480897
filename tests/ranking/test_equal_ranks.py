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

log2 = math.log2
TIED = ranking([1, 3], [1, 1])
CASES = {
    # one library gives map 1.34 here
    "relevant items of one rank take one place each": (
        ranking([1, 1, 1], [1, 1, 1]),
        {"map@1": 1 / 3, "map@2": 2 / 3, "map@3": 1}
        | {f"{name}@{k}": 1 for name in ("ndcg", "precision", "mrr") for k in (1, 2, 3)}
        | {f"n_hits@{k}": k for k in (1, 2, 3)},
    ),
    "a tie across the cut-off lets in what has a place": (ranking([0, 1, 1], [1, 2, 2]), {"n_hits@2": 1, "recall@2": 0.5}),
    # a (relevance 1) and b (relevance 3) share rank 1: a is first, b second
    "items of one rank stand by their ids": (TIED, {"dcg@1": 1, "dcg@2": 1 + 3 / log2(3)}),
    "in any order of the rows": (TIED.reverse(), {"dcg@1": 1, "dcg@2": 1 + 3 / log2(3)}),
    # in auc half a right order
    "an irrelevant item leaves the rank": (ranking([0, 1], [1, 1]), {"mrr": 1, "precision@1": 1, "auc": 0.5}),
    # 1.5 moves to 2 and 2.25 to 3
    "ranks closer than 1 are pushed apart": (
        ranking([1, 1, 1]).with_columns(rank=pl.Series([1.0, 1.5, 2.25])),
        {"n_hits@2": 2, "n_hits@3": 3, "dcg": 1 + 1 / log2(3) + 1 / 2},
    ),
    # 1, 2, 3 by the tie, and 9 stays 9
    "a gap behind a tie ends the push": (ranking([1, 1, 1, 1], [1, 1, 1, 9]), {"map": (1 + 1 + 1 + 4 / 9) / 4}),
}  # fmt: skip


def test_effective_ranks_are_those_worked_by_hand(kind):
    for name, (frame, expected) in CASES.items():
        assert ask_one(kind, frame, *expected) == exactly({"n_users": 1} | expected), name


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
