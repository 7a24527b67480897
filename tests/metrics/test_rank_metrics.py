"""The rank metrics on one list that was worked by hand: a x c b d, where x is not judged, b not relevant, z not listed."""

from __future__ import annotations

import polars as pl
import pytest

import recframe as rf
from asking import ask_one

LISTED = pl.DataFrame({"user": ["u"] * 5, "item": [*"axcbd"], "rank": range(1, 6)})
TRUTH = pl.DataFrame({"user": ["u"] * 5, "item": [*"abcdz"], "relevance": [1, 0, 1, 1, 2]})
TEN = pl.DataFrame({"item": [*"abcdefghzx"], "genre": [*"ABAA", *[None] * 5, "B"]})
BEFORE = pl.DataFrame({"user": ["u"] * 8, "item": [*"acefgxbh"], "rank": range(1, 9)})


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # (1 + 1/3 + 1/5) over 1 + 1/2 + 1/3 + 1/4
        ("ncrr@5", 0.736),
        # a 1; c (1 + 1 above it, all of it relevant) / 3; d (1 + 3 above it, of which two of three) / 5: over 4
        ("infap", 0.566666),
        # the ideal list is z a c d, of depth 5: common are a from depth 2, c from 3, d from 5
        ("compatibility(p=0.8)", 0.405048),
        ("compatibility", 0.457198),
        # precisions 1, 1/2, 2/3, 1/2, 3/5: the last is reached with three of four
        ("recall_at_precision@5", 0.75),
        # 2/3 at 3, with two of four
        ("recall_at_precision(precision=0.61)@5", 0.5),
        # the places above are 0, 2, 4 and, on average, 7: of 10 items
        ("mean_percentile_rank", 0.325),
        # a, c, d are of A, with 1, .85^2 and .85^4; x, b of B
        ("category_entropy(weight=geometric)", 0.967820),
        # three of five, two of five
        ("category_entropy", 0.970951),
        # x comes from place 6, and c from 2
        ("least_item_promoted@3", 3),
        ("least_item_promoted@1", 0),
        # b, the last, comes from place 7: of five items
        ("least_item_promoted", 2),
    ],
)
def test_the_list_worked_by_hand_has_its_value(kind, metric: str, expected: float):
    found = ask_one(
        kind, LISTED, metric, truth=kind(TRUTH), items=kind(TEN), reference=kind(BEFORE)
    )

    assert found[metric] == pytest.approx(expected, abs=5e-7)


def test_what_was_in_the_pool_and_not_judged_has_a_relevance_below_0():
    pooled = TRUTH.with_columns(relevance=pl.when(item="b").then(-1).otherwise("relevance"))
    pooled = pl.concat([pooled, pl.DataFrame({"user": "u", "item": "x", "relevance": -1})])

    # c: (1 + 2 above it, of which the one that was judged is relevant) / 3; d: all four above it, both that were judged
    assert LISTED.rec(truth=pooled).infap() == pytest.approx((1 + 1 + 1) / 4, abs=1e-5)
    assert LISTED.rec(truth=pooled).judge().rec.infap() == LISTED.rec(truth=pooled).infap()


def test_recall_at_a_precision_is_of_the_mean_curves_and_not_a_mean():
    # at k = 1 the precisions are 1 and 0, so 1/2 on average, as the recalls are
    judged = pl.DataFrame({"user": ["u", "v", "v"], "item": ["a", "a", "b"], "rank": [1, 1, 2]})
    rec = judged.with_columns(relevance=pl.Series([1, 0, 1])).rec()

    assert rec.recall_at_precision(k=1) == 0.5
    assert rec.recall_at_precision(k=1, by="user").rows() == [("u", 1.0), ("v", 0.0)]
    assert rec.recall_at_precision(k=2, precision=0.5) == 1
    assert rec.recall_at_precision(k=2, precision=0.51) == 0
    for k in (None, 1001):
        with pytest.raises(rf.RecframeError, match="write recall_at_precision@10"):
            rec.recall_at_precision(k=k)


def test_a_user_without_a_list_has_the_mean_place_of_all_items():
    nobody = pl.DataFrame({"user": ["u", "v"], "item": ["a", "a"]})
    rec = LISTED.rec(truth=nobody, items=TEN)

    # the places above are 0 to 9
    assert rec.mean_percentile_rank(by="user").rows() == [("u", 0.0), ("v", 0.45)]


def test_a_user_without_relevant_items_has_no_percentile_rank():
    rec = LISTED.rec(truth=TRUTH.with_columns(relevance=0), items=TEN)

    assert rec.evaluate("mean_percentile_rank", "mean_percentile_rank(average=pairs)").row(0) == (
        1,
        None,
        None,
    )
    assert rf.rec(LISTED)(truth=TRUTH, items=TEN).evaluate("ncrr(denominator=list)@3").row(0)[
        1
    ] == pytest.approx((1 + 1 / 3) / (1 + 1 / 2 + 1 / 3))


def test_a_list_without_items_of_the_reference_promoted_none():
    rec = LISTED.rec(reference=BEFORE.with_columns(item=pl.lit("h")))
    assert rec.least_item_promoted(k=3) == 0
    nobody = BEFORE.with_columns(user=pl.lit("v"))
    assert LISTED.rec(reference=nobody).evaluate("least_item_promoted@3").row(0)[-1] is None
