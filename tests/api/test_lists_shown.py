"""`worst` and `best`: the users behind a number, with their lists against their truth."""

from __future__ import annotations

import time

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import recframe as rf

RECS = pl.DataFrame(
    {"user": [1, 1, 2, 3, 3, 3], "item": [1, 2, 3, 1, 2, 3], "rank": [1, 2, 1, 1, 2, 3]}
)
TRUTH = pl.DataFrame({"user": [1, 2, 2, 4], "item": [2, 9, 3, 1]})
ITEMS = pl.DataFrame({"item": [1, 2, 3, 9], "title": [*"ABCZ"]})
USERS = pl.DataFrame({"user": [1, 2, 4], "country": ["FR", "DE", "FR"]})


def test_the_worst_users_come_with_their_lists_and_what_they_missed(kind):
    rec = kind(RECS).rec(truth=kind(TRUTH), items=kind(ITEMS))

    result = kind.read(rec.worst("recall@1", n=2))

    # user 2 has 1 of 2 relevant items at rank 1; user 1 has the relevant item at rank 2; user 4 has no list
    expected = [
        (1, 1, 0.0, 1, 1, None, False, "A"),
        (1, 1, 0.0, 2, 2, 1, False, "B"),  # relevant, but below the cut-off
        (2, 4, 0.0, None, 1, 1, False, "A"),
    ]
    assert result.columns == [
        *("place", "user", "recall@1", "rank", "item", "relevance", "hit", "title")
    ]
    assert result.rows() == expected
    best = kind.read(rec.best("recall", k=1, n=1))
    assert best.rows() == [(1, 2, 0.5, 1, 3, 1, True, "C"), (1, 2, 0.5, None, 9, 1, False, "Z")]


ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 6), st.integers(1, 8), st.integers(0, 2)),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:2],
)


@pytest.mark.filterwarnings("ignore:no_first_rank")
@given(ROWS, st.integers(1, 4), st.sampled_from([1, 3, None]), st.booleans())
def test_users_rows_and_hits_are_those_that_the_metric_saw(rows, n, k, is_best):
    frame = pl.DataFrame(rows, schema=["user", "item", "rank", "relevance"], orient="row").unique(
        ["user", "rank"], keep="first", maintain_order=True
    )
    metric = rf.n_hits if k is None else rf.n_hits @ k
    values = dict(frame.rec.evaluate(metric, by="user").rows())
    first = sorted(values, key=lambda user: (-values[user] if is_best else values[user], user))[:n]

    result = (frame.rec.best if is_best else frame.rec.worst)(metric, n=n)

    place = {user: number for number, user in enumerate(first, 1)}
    seen = [
        (place[user], user, values[user], rank, item, relevance, relevance > 0 and within)
        for user, item, rank, relevance in frame.iter_rows()
        for within in [k is None or rank <= k]
        if user in place and (within or relevance > 0)
    ]
    empty = [
        (place[user], user, values[user], None, None, None, None)
        for user in first
        if user not in {row[1] for row in seen}
    ]
    assert result.rows() == sorted([*seen, *empty], key=lambda row: (row[0], row[3] or 0))
    counted = result.group_by("user").agg(hits=pl.col("hit").sum(), value=pl.col(str(metric)).max())
    assert counted["hits"].cast(pl.Float64).to_list() == counted["value"].to_list()


def test_users_are_counted_in_each_model_and_segment(kind):
    both = pl.concat(
        [RECS.with_columns(model=pl.lit("b")), RECS[2:].with_columns(model=pl.lit("a"))]
    )
    rec = kind(both).rec(truth=TRUTH, users=USERS, model="model")

    result = kind.read(rec.worst("recall@2", n=1, by="country"))
    bound = kind.read(rec.group_by("country").worst("recall@2", n=1))

    picked = result.select("model", "country", "place", "user", "recall@2").unique()
    assert {*picked.rows()} == {
        *(("a", "DE", 1, 2, 0.5), ("a", "FR", 1, 1, 0.0)),
        *(("b", "DE", 1, 2, 0.5), ("b", "FR", 1, 4, 0.0)),
    }
    assert_frame_equal(result, bound)


def test_the_worst_of_what_should_be_low_are_the_highest():
    high = RECS.rec(truth=TRUTH).worst("first_rank", n=1)

    # user 4 has no first rank, and so none that is high
    assert high.select("user", "first_rank").rows() == [(1, 2.0)] * 2


def test_pandas_rows_stand_in_their_order_though_ids_are_categories():
    recs = RECS.to_pandas()
    recs["user"] = recs["user"].astype(pd.CategoricalDtype([3, 2, 1, 4]))
    recs["item"] = recs["item"].astype("category")

    result = recs.rec(truth=TRUTH.to_pandas(), items=ITEMS.to_pandas()).best("recall@2", n=3)

    assert result["recall@2"].to_list() == sorted(result["recall@2"], reverse=True)
    assert result["place"].is_monotonic_increasing


def test_ranks_from_scores_and_large_frames_have_the_same_lists(monkeypatch):
    scored = RECS.select("user", "item", score=-pl.col("rank").cast(pl.Float64))
    small = scored.rec(truth=TRUTH).worst("ndcg@2", n=3)
    monkeypatch.setattr("recframe.frames.kinds.kind.LARGE", 1)
    large = scored.rec(truth=TRUTH).worst("ndcg@2", n=3)

    assert_frame_equal(small, RECS.rec(truth=TRUTH).worst("ndcg@2", n=3), check_dtypes=False)
    assert_frame_equal(large, small)


@pytest.mark.slow
@pytest.mark.parametrize("is_lazy", [False, True])
def test_the_lists_of_others_are_not_held_against_the_truth(is_lazy):
    row = pl.int_range(1_000_000)
    recs = pl.select(user=row // 100, item=row.hash(1) % 5_000, rank=row % 100 + 1)
    truth = recs.filter(pl.col("rank") <= 10).select("user", item=pl.col("item") * 7 % 5_000)
    lists = [recs.lazy(), truth.lazy()] if is_lazy else [recs, truth]
    rec = rf.rec(lists[0])(lists[1])

    def cpu_seconds(ask) -> float:
        start = time.process_time()
        ask().lazy().collect(engine="streaming")
        return time.process_time() - start

    evaluate, worst = (
        min(cpu_seconds(ask) for _ in range(3))
        for ask in (lambda: rec.evaluate("ndcg@10"), lambda: rec.worst("ndcg@10"))
    )

    # 1.5 times as long; with all lists it takes 6 to 14 times
    assert worst < 3 * evaluate


def test_segments_of_users_may_be_made_by_an_expression():
    ages = pl.DataFrame({"user": [1, 2, 3, 4], "age": [31, 38, 42, 47]})
    decade = (pl.col("age") // 10).alias("decade")

    expected = RECS.rec(TRUTH, users=ages.with_columns(decade)).worst("recall@1", n=1, by="decade")
    rec = RECS.rec(TRUTH, users=ages)
    assert_frame_equal(rec.worst("recall@1", n=1, by=decade), expected)
    assert_frame_equal(rec.group_by(decade).worst("recall@1", n=1), expected)
