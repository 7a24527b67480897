"""LazyFrames evaluated in parts of the users: the same numbers, in the memory of one part."""

from __future__ import annotations

import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf

METRICS = ["ndcg@3", "recall", "mrr@2", "auc", "bpref@5", "judged@4", "first_rank"]


def frames(seed: int = 0) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
    """Two models' lists, a truth that speaks of some users alone, and the users' countries."""
    choose = random.Random(seed)  # noqa: S311  test data
    recs = [
        {"model": model, "user": user, "item": item, "rank": rank}
        for model in "ab"
        for user in range(40)
        for rank, item in enumerate(choose.sample(range(15), choose.randint(0, 8)), 1)
    ]
    truth = [
        {"user": user, "item": item, "relevance": choose.randint(0, 3)}
        for user in range(5, 50)
        for item in choose.sample(range(15), choose.randint(1, 6))
    ]
    users = [{"user": user, "country": choose.choice("FD")} for user in range(48)]
    return pl.LazyFrame(recs), pl.LazyFrame(truth), pl.LazyFrame(users)


@pytest.mark.parametrize("parts", [1, 2, 7, 100])
@pytest.mark.parametrize("by", [None, "country", "user", ["country", "user"]])
@pytest.mark.parametrize(
    "policies",
    [{}, {"universe": "all"}, {"universe": "both", "no_relevant": "skip"}, {"no_relevant": "null", "min_relevance": 2}],
    ids=str,
)
def test_parts_change_no_number(parts, by, policies):
    recs, truth, users = frames()
    rec = recs.rec(truth=truth, users=users, model="model", **policies)

    assert_frame_equal(
        rec.collect(*METRICS, by=by, parts=parts), rec.evaluate(*METRICS, by=by).collect(), rel_tol=1e-12, abs_tol=1e-12
    )


@pytest.mark.parametrize("parts", [1, 3])
def test_a_judged_frame_is_read_in_parts_too(parts):
    recs, truth, _ = frames()
    judged = recs.filter(pl.col("model") == "a").rec(truth=truth, universe="all").judge()

    assert_frame_equal(
        judged.rec.collect(*METRICS, parts=parts), judged.rec.evaluate(*METRICS).collect(), rel_tol=1e-12, abs_tol=1e-12
    )


def test_the_share_that_is_done_is_told_part_by_part():
    recs, truth, _ = frames()
    told: list[float] = []

    recs.rec(truth=truth, model="model").collect("recall@2", parts=4, tell=told.append)

    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("parts", [1, 3])
def test_what_only_the_data_shows_is_an_error_in_parts_too(parts):
    recs, truth, _ = frames()

    with pytest.raises(rf.DataError, match="a rank is below 1"):
        recs.with_columns(pl.col("rank") - 1).rec(truth=truth, model="model").collect("recall@2", parts=parts)


@pytest.mark.parametrize("parts", [0, -1, 1.5, True, "2"])
def test_parts_that_cannot_be_made_are_named(parts):
    recs, truth, _ = frames()

    with pytest.raises(rf.RecframeError, match="write a whole number from 1 up"):
        recs.rec(truth=truth).collect("recall@2", parts=parts)
