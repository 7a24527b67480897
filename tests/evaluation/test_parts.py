"""LazyFrames evaluated in parts of the users: the same numbers, in the memory of one part."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from lanes import crossed
from parted_frames import (
    LISTS_ARE_NO_SAMPLES,
    METRICS,
    frames,
)
from recframe.engines import memory_bound
from recframe.engines.local_buckets import Local

pytestmark = LISTS_ARE_NO_SAMPLES


def test_more_parts_than_users_change_no_number():
    recs, truth, users = frames()

    for parts in (7, 51):  # there are 50
        rec = recs.rec(truth=truth, users=users, model="model")
        assert_parts_agree(rec, METRICS, "country", parts)


def assert_parts_agree(
    rec: rf.Rec[pl.LazyFrame], metrics: list[rf.Metric[...] | str], by: object, parts: int = 3
) -> None:
    one = rec.evaluate(*metrics, by=by).collect()

    assert_frame_equal(rec.collect(*metrics, by=by, parts=parts), one, rel_tol=1e-12, abs_tol=1e-12)


def test_parts_have_the_catalogue_of_all_users():
    # u's list [a], v's [b, c]; nobody likes more than a. Over the catalogue a, b, c: u 0, v 2 misses of 3 items; v is
    # not in the truth. Of u: fp 0. Of w, whose list is [d]: 1 miss of the catalogue a, b, c, d less the liked b: 1/3.
    recs = pl.LazyFrame({"user": [*"uvvw"], "item": [*"abcd"], "rank": [1, 1, 2, 1]})
    truth = pl.LazyFrame({"user": [*"uw"], "item": [*"ab"]})
    rec = recs.rec(truth=truth, train=truth)

    for parts in (1, 2, 3, 9):
        assert rec.collect("fall_out", by="user", parts=parts).rows() == [
            ("u", 0.0),
            ("w", pytest.approx(1 / 3)),
        ]


@pytest.mark.parametrize("metric", ["recall@2", "novelty@2"])
def test_the_share_that_is_done_is_told(metric):
    recs, truth, _ = frames()
    told: list[float] = []

    rec = recs.rec(truth=truth, train=truth, model="model")
    rec.collect(metric, parts=4, tell=told.append)

    assert told == sorted(told)
    assert 0 < told[0] < told[-1] == 1
    assert len(told) >= 4  # buckets, and what is read


@pytest.mark.parametrize("parts", [1, 3])
def test_what_only_the_data_shows_is_an_error_in_parts_too(parts):
    recs, truth, _ = frames()

    with pytest.raises(rf.DataError, match="a rank is below 1"):
        recs.with_columns(pl.col("rank") - 1).rec(truth=truth, model="model").collect(
            "recall@2", parts=parts
        )


BROKEN = {
    "a repeated item": ({"items": pl.LazyFrame({"item": [1, 1]})}, "has an item twice"),
    "a repeated user": (
        {"users": pl.LazyFrame({"user": [7, 7], "country": ["DE", "DE"]})},
        "has a user twice",
    ),
    "a rank below 1": ({}, "a rank is below 1"),
}


@pytest.mark.parametrize(
    ("metric", "broken", "universe"),
    crossed(["recall", "coverage", "fall_out"], BROKEN, ["both", "truth"]),
)
def test_every_check_is_made_whoever_counts_and_in_every_part(metric, broken, universe):
    sides, message = broken
    # one user has a list and another one a truth: with universe="both" nobody counts, and most parts have nobody
    recs = pl.LazyFrame(
        {"user": [1, 1], "item": [1, 2], "rank": [1, 0 if "rank" in message else 2]}
    )
    truth = pl.LazyFrame({"user": [2], "item": [1]})
    sides = {
        "users": pl.LazyFrame({"user": [1], "country": ["FR"]}),
        "items": pl.LazyFrame({"item": [1, 2]}),
    } | sides
    rec = recs.rec(truth=truth, universe=universe, **sides)

    for by in (None, "country"):
        with pytest.raises(pl.exceptions.PolarsError, match=message):
            rec.evaluate(metric, by=by).collect(engine="streaming")
        for parts in (2, 5):
            with pytest.raises(rf.DataError, match=message):
                rec.collect(metric, by=by, parts=parts)


@pytest.mark.parametrize("parts", [0, -1, 1.5, True, "2"])
def test_parts_that_cannot_be_made_are_named(parts):
    recs, truth, _ = frames()

    with pytest.raises(rf.RecframeError, match="write a whole number from 1 up"):
        recs.rec(truth=truth).collect("recall@2", parts=parts)


@pytest.mark.usefixtures("in_buckets")
@pytest.mark.parametrize(
    ("metric", "by"),
    [
        ("personalization(similarity=overlap)@3", None),
        ("ndcg@3", (pl.col("age") - pl.col("age").mean()) > 0),
        ("ndcg@3", pl.col("age").is_duplicated()),
    ],
)
def test_what_needs_all_users_has_them_in_one_bucket_where_the_bound_holds_it(
    metric, by, monkeypatch
):
    monkeypatch.setattr(memory_bound, "LEAST_ROWS", 10)
    recs, truth, users = frames()
    users = users.with_columns(age=pl.col("user") ** 2 % 60)
    sides = {"truth": truth, "users": users, "model": "model"}
    expected = recs.collect().rec(**sides).evaluate(metric, by=by)

    assert_frame_equal(recs.rec(**sides, memory="1GB").evaluate(metric, by=by), expected)
    with pytest.raises(rf.RecframeError, match=r"room for all rows: memory='\d+MB'"):
        recs.rec(**sides, memory="40kB").evaluate(metric, by=by)
    with pytest.raises(rf.RecframeError, match="bucket of users has"):
        recs.rec(**sides).collect(metric, by=by, parts=3)


def test_a_call_runs_in_one_plan_where_the_bound_holds_all_of_its_rows(monkeypatch):
    # as it says: frames tell how many rows they have, a row takes 150 bytes and 2.5 times those of its columns, and all rows
    # may take six tenths of what 20 MB leave
    recs, truth, _ = frames()
    run_in_buckets = []
    run = Local.run
    monkeypatch.setattr(Local, "run", lambda *given: [run(*given), run_in_buckets.append(1)][0])
    n_rows = [len(one.collect()) for one in (recs, truth)]
    need = n_rows[0] * (150 + 2.5 * (52 + 3 * 8)) + n_rows[1] * (150 + 2.5 * 3 * 8)

    def is_one_plan(memory: float, lists: pl.LazyFrame = recs, **given: int) -> bool:
        run_in_buckets.clear()
        found = lists.rec(truth=truth, model="model").collect("mrr@9", memory=int(memory), **given)
        assert_frame_equal(found, recs.rec(truth=truth, model="model").evaluate("mrr@9").collect())
        return not run_in_buckets

    assert is_one_plan(2e7 + need / 0.6 + 1)
    assert not is_one_plan(2e7 + need / 0.6 - 100)
    assert not is_one_plan(1e9, parts=2)
    # whose rows nobody knows before they are read
    assert not is_one_plan(1e9, recs.filter(pl.col("rank") > 0))
    monkeypatch.setattr(memory_bound, "MOST_IN_ONE_PLAN", sum(n_rows) - 1)
    assert not is_one_plan(1e9)
