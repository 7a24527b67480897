"""Models held against one another: how far their lists agree."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import recframe as rf
from planted_shop import shop
from recframe.errors import DataError

SHOP = shop(n=40)
THIRD = SHOP.recs.filter(pl.col("model") == "old", pl.col("rank") < 4, pl.col("user") % 3 > 0)
RECS = pl.concat([SHOP.recs, THIRD.with_columns(model=pl.lit("short"))])
METRICS = ("rbo@5", "overlap@5", "unexpectedness@2")
MODELS = ("new", "old", "short")

pytestmark = pytest.mark.filterwarnings("ignore:the lists of models end")
EVERY_KIND = True
"""Each test runs on every kind of frame."""


def by_evaluate(by: Any = None, **options: Any) -> pl.DataFrame:
    """Return what `evaluate` has of each model with each other one as its reference."""
    rec, parts = RECS.rec(truth=SHOP.truth, users=SHOP.users, model="model", **options), []
    keys = ["model", *([by] if by else [])]
    for model, other in permutations(MODELS, 2):
        found = rec(reference=other).evaluate(*METRICS, by=by).filter(model=model)
        parts.append(found.select(*keys, pl.lit(other).alias("reference"), pl.exclude(*keys)))
    return pl.concat(parts).sort(*keys, "reference", nulls_last=True)


@pytest.mark.parametrize("by", [None, "country", "item", "user"])
def test_agreement_is_evaluate_of_each_model_with_each_other_one_as_its_reference(kind, by):
    rec = kind(RECS).rec(truth=kind(SHOP.truth), users=kind(SHOP.users), model="model")
    found = kind.read(rec.agreement(*METRICS, by=by))

    assert_frame_equal(found, by_evaluate(by), abs_tol=1e-12)


def test_agreement_by_hand_counts_the_lists_of_the_model_that_is_measured(kind):
    a = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 3], "rank": [1, 2, 1]})
    b = pl.DataFrame({"user": [1, 1, 1], "item": [2, 4, 1], "rank": [1, 2, 3]})
    found = kind.read(rf.rec({"a": kind(a), "b": kind(b)}).agreement("overlap"))

    # of a: user 1 has 2 of 2 items in b, user 2 none; of b: user 1 has 2 of 3 in a
    rows = found.select("model", "reference", "n_lists", "overlap").rows()
    assert rows == [("a", "b", 2, 0.5), ("b", "a", 1, pytest.approx(2 / 3))]


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=30))
def test_of_full_lists_of_the_same_users_both_orders_agree(rows):
    lists = pl.DataFrame(rows, schema=["model", "user", "item"], orient="row").unique()
    lists = lists.with_columns(rank=pl.int_range(1, pl.len() + 1).over("model", "user"))
    if lists["model"].n_unique() < 2:
        return
    found = lists.rec(model="model").agreement("rbo", by="user")
    # a user without a list of the one has no value of it
    turned = found.rename({"model": "reference", "reference": "model"})
    both = found.join(turned, on=["model", "reference", "user"]).drop_nulls()

    assert_frame_equal(both.select("rbo"), both.select(rbo="rbo_right"), abs_tol=1e-9)


def test_agreement_in_buckets_and_of_other_names_of_models_is_the_same():
    rec = SHOP.rec()
    expected = rec.agreement("rbo@5")

    assert_frame_equal(rec(memory="1GB").agreement("rbo@5"), expected, abs_tol=1e-12)
    numbers = SHOP.recs.with_columns(pl.col("model").replace_strict({"new": 7, "old": 10}))
    found = numbers.rec(truth=SHOP.truth, model="model").agreement("rbo@5")
    assert found["reference"].to_list() == [10, 7]
    assert found["rbo@5"].to_list() == expected["rbo@5"].to_list()
    named = SHOP.recs.cast({"model": pl.Enum(["old", "new"])})
    found = named.rec(truth=SHOP.truth, model="model").agreement("rbo@5")
    assert found.select("model", "reference").cast(pl.String).rows() == [
        ("old", "new"),
        ("new", "old"),
    ]


def test_what_agrees_with_nothing_is_told(kind):
    one = SHOP.recs.filter(pl.col("model") == "old")
    rec = kind(SHOP.recs).rec(model="model")
    with pytest.raises(rf.RecframeError, match="ndcg@10 holds lists against no reference; agreem"):
        rec.agreement("rbo@10", "ndcg@10")
    with pytest.raises(rf.RecframeError, match=r": rec\(model='model'\), or a frame for each"):
        kind(one.drop("model")).rec.agreement("rbo@10")
    words = "there are no two models to compare: the column 'model' has 'old'"
    with pytest.raises((DataError, pl.exceptions.ComputeError), match=words):
        kind.read(kind(one).rec(model="model").agreement("rbo@10"))
    with pytest.raises(rf.ColumnError, match="also the name of a result column"):
        kind(SHOP.recs.with_columns(reference=1)).rec(model="model").agreement(
            "rbo", by="reference"
        )
