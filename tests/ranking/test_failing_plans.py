"""Errors of a plan that users collect themselves: our sentence comes first, whatever runs the plan."""

from __future__ import annotations

import io

import polars as pl
import pytest

import recframe as rf
from recframe.errors import fails_whole_if

RECS = pl.LazyFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "score": [0.5, 0.1]})
TRUTH = pl.LazyFrame({"user": [1, 2], "item": [1, 2], "relevance": [1.0, 2.0]})
TWICE = pl.LazyFrame({"user": [1, 1], "country": ["FR", "DE"]})

PLANS = {
    "a rank is below 1": RECS.with_columns(rank=pl.col("rank") - 1).rec(truth=TRUTH),
    "the frame users= has a user twice": RECS.rec(truth=TRUTH, users=TWICE),
    "a relevance is infinite": RECS.rec(truth=TRUTH.with_columns(relevance=pl.lit(float("inf")))),
    "strict=True finds errors in the data": pl.concat([RECS, RECS]).rec(truth=TRUTH, strict=True),
}


@pytest.mark.skipif(pl.__version__.startswith("1."), reason="Polars 1 begins with words on a cast")
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize(("words", "rec"), PLANS.items(), ids=PLANS)
def test_the_error_of_a_plan_begins_with_the_sentence(words, rec, engine):
    plan = rec.evaluate("ndcg@10", "recall")
    again = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))

    for one in (plan, again):
        with pytest.raises(pl.exceptions.InvalidOperationError) as error:
            one.collect(engine=engine)
        assert str(error.value).startswith(f"Invalid argument for recframe: {words}")
    with pytest.raises(rf.DataError, match=f"^{words}"):
        rec(memory="1GB").evaluate("ndcg@10")


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_condition_that_does_not_hold_is_nothing(engine, n):
    frame = pl.LazyFrame({"a": range(n)}, schema={"a": pl.Int64})

    for condition in (pl.col("a").max() > n, pl.lit(None, pl.Boolean), (pl.col("a") < 0).any()):
        check = frame.select(check=fails_whole_if(condition, "no")).collect(engine=engine)
        assert check["check"].to_list() == [0]
        assert check.schema == {"check": pl.Int64}
