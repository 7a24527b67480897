"""Calls that are written wrong are answered with what to write instead."""

from __future__ import annotations

import re

import pandas as pd
import polars as pl
import pytest

import recframe as rf
from asking import liked, recommended
from recframe.frames.options import OPTIONS, Options

RECS, TRUTH = recommended(u="ab", v="ab"), liked(u="b", v="a")


def test_a_call_that_is_written_wrong_is_an_error_of_types_too():
    with pytest.raises(TypeError):
        RECS.rec(truths=TRUTH)


def test_the_truth_goes_by_position_too():
    expected = RECS.rec(truth=TRUTH).evaluate("mrr@2", by="user")

    assert expected.rows() == [("u", 0.5), ("v", 1.0)]
    for rec in (RECS.rec(TRUTH), rf.rec(RECS, TRUTH), rf.rec(RECS)(TRUTH, universe="all")):
        assert rec.evaluate("mrr@2", by="user").equals(expected)


def test_a_parameter_of_ones_own_metric_may_bear_the_name_of_an_option():
    @rf.metric
    def hits_in_train(at, *, train=2):
        return (at.rank <= train).sum()

    assert RECS.rec(truth=TRUTH).hits_in_train(train=1) == 0.5


LONG = pl.DataFrame({"user": range(100)})
OPTIONS_ASKED = (
    "user",
    "universe",
    "ties",
    "strict",
    "decimals",
    "memory",
    "min_relevance",
    "profile",
)
TAKEN = [
    *(lambda value, name=name: RECS.rec(**{name: value}) for name in OPTIONS_ASKED),
    lambda value: RECS.rec(truth=TRUTH).ndcg(k=10, gain=value),
    lambda value: rf.f_score(beta=value),
    rf.parse,
    lambda value: RECS.rec(truth=TRUTH).mrr(k=[value]),
    lambda value: RECS.rec(truth=TRUTH).mrr(by=[[value]]),
    lambda value: RECS.rec(truth=TRUTH).evaluate([value]),
    lambda value: rf.explain("mrr", value, "ranx"),
]  # fmt: skip


@pytest.mark.parametrize("call", TAKEN)
def test_no_error_quotes_a_whole_frame(call):
    frames = [LONG, LONG.lazy(), LONG.to_pandas()]
    for value in (*frames, LONG["user"], LONG.to_numpy(), pl.col("user"), [LONG]):
        with pytest.raises(rf.RecframeError) as found:
            call(value)
        said = str(found.value)
        assert re.search(r"\b(a|an) (Polars|pandas|NumPy|list)", said) or "..." in said
        assert "\n" not in said
        assert len(said) < 320


def test_a_number_becomes_a_category_as_its_error_says():
    items = pl.DataFrame({"item": ["a", "b"], "price": [1.5, 2.5]})
    for better in ((pl.col("price") // 10).cast(pl.Int64), pl.col("price").cast(pl.String)):
        assert RECS.rec(items=items.with_columns(better)).category_coverage(k=2, of="price") == 1
    in_pandas = items.to_pandas()
    in_pandas["price"] = pd.qcut(in_pandas["price"], 4)
    assert RECS.to_pandas().rec(items=in_pandas).category_coverage(k=2, of="price") == 1


def test_type_checkers_know_every_option():
    assert {*Options.__annotations__, "truth", "model"} == {*OPTIONS}
