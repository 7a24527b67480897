"""Judged frames without ids of items, as learning to rank has them: each row is an item of its own."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import recframe as rf
from buckets_of_users import in_buckets
from frame_kinds import KINDS
from many_frames import many, read
from strategies import examples

FRAME = pl.DataFrame(
    {
        "query": [1, 1, 1, 2, 2, 2],
        "label": [0, 1, 2, 1, 0, 0],
        "score": [0.9, 0.8, 0.1, 0.2, 0.7, 0.2],
        "week": [1, 1, 1, 1, 2, 2],
    }
)
NAMED = {"user": "query", "relevance": "label", "score": "score"}
# 1: grades 0, 1, 2 in the order of scores, 2: 0 and then 1, which stands before the last row of the same score
NDCG = ((1 / math.log2(3) + 2 / 2) / (2 + 1 / math.log2(3)) + 1 / math.log2(3)) / 2
METRICS = ("ndcg@2", "mrr", "map", "recall@1", "bpref", "auc", "err@3", "list_length", "judged@2")


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_each_row_of_learning_to_rank_is_an_item(kind):
    found = kind.read(kind(FRAME).rec(**NAMED).evaluate("ndcg@10"))

    assert found["ndcg@10"].item() == pytest.approx(NDCG, abs=1e-12)


rows = st.lists(
    st.tuples(
        st.integers(0, 3), st.sampled_from([None, 0, 1, 2]),
        st.sampled_from([0.5, 0.5, 1.0, 2.0, math.nan, None]), st.sampled_from(["a", "b", None]),
    ),
    max_size=14,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:by='week'.*two segments:recframe.RecframeWarning")
@pytest.mark.filterwarnings("ignore:scores_without_order:recframe.RecframeWarning")
@examples(15)
@given(rows=rows, ties=st.sampled_from(["item", "expected", "pessimistic"]), by=st.booleans())
def test_the_numbers_are_those_of_rows_that_are_numbered(rows, ties, by):
    metrics = METRICS[:4] if ties == "expected" else METRICS
    frame = pl.DataFrame(
        rows,
        schema={"user": pl.Int64, "relevance": pl.Int64, "score": pl.Float64, "week": pl.String},
        orient="row",
    )
    numbered = frame.with_columns(item=pl.int_range(pl.len()))
    options = {"by": ["week"] if by else None}

    wanted = numbered.rec(ties=ties).evaluate(*metrics, **options)

    assert_frame_equal(frame.rec(ties=ties).evaluate(*metrics, **options), wanted)
    lazy = frame.lazy().rec(ties=ties)
    assert_frame_equal(lazy.evaluate(*metrics, **options).collect(), wanted)
    assert_frame_equal(in_buckets(lazy, *metrics, **options), wanted)


def test_buckets_of_an_engine_give_the_same_numbers():
    distinct = FRAME.with_columns(score=pl.Series([0.9, 0.8, 0.1, 0.2, 0.7, 0.3]))

    found = read(rf.rec(many(distinct), **NAMED).evaluate(*METRICS))

    assert_frame_equal(found, distinct.rec(**NAMED).evaluate(*METRICS))


def test_the_audit_finds_no_item_twice_and_a_fingerprint_goes_by_the_rows_in_any_order():
    rec, checks = FRAME.rec(**NAMED), FRAME.rec(**NAMED).audit()["check"]

    assert not [one for one in checks if "duplicate" in one or one == "repeated_items"]
    assert rec.fingerprint() == FRAME.reverse().rec(**NAMED).fingerprint()
    assert rec.fingerprint() != FRAME.head(5).rec(**NAMED).fingerprint()
