"""What `ties=` does with equal scores: one order of tied items, whatever the ids, the rows and the threads."""

from __future__ import annotations

import math
from typing import get_args

import polars as pl
import pytest

from asking import ask_one, liked
from frame_kinds import Kind
from recframe.frames.options import Ties
from tied_lists import exactly, scored

log2 = math.log2


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ("item", (9, 10, 100)),
        ("item_reverse", (100, 10, 9)),
        ("item_text", (10, 100, 9)),  # "10", "100", "9"
        ("item_text_reverse", (9, 100, 10)),
        ("item_desc", (9, 100, 10)),
    ],
)
def test_integer_items_are_numbers_or_text(kind: Kind, ties, order):
    recs = pl.DataFrame({"user": [1] * 3, "item": [100, 9, 10], "score": [1.0] * 3})

    for rank, item in enumerate(order, start=1):
        truth = pl.DataFrame({"user": [1], "item": [item]})
        assert ask_one(kind, recs, "first_rank", truth=truth, ties=ties)["first_rank"] == rank


@pytest.mark.parametrize("ties", get_args(Ties))
def test_scores_that_are_one_in_32_bits_are_tied_as_trec_eval_compares_alone(kind: Kind, ties):
    frame = scored(1 + 1e-9, 1, relevance=[1, 0])

    assert ask_one(kind, frame, "mrr", ties=ties)["mrr"] == (0.5 if ties == "item_desc" else 1)


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


def test_bytes_are_compared_and_not_letters(kind: Kind):
    # in UTF-8 "é" is C3 A9, behind "z" and before a Chinese character
    recs = pl.DataFrame({"user": ["u"] * 3, "item": ["z", "é", "中"], "score": [1.0] * 3})

    for item, rank in (("中", 1), ("é", 2), ("z", 3)):
        found = ask_one(kind, recs, "first_rank", truth=liked(u=item), ties="item_desc")
        assert found["first_rank"] == rank
