"""The numbered rules of the contract: the kind and the columns of results, names of metrics, k, and what stays untouched."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from asking import ask, liked, ranking, recommended, rows
from frame_kinds import KINDS

FRAME = pl.concat([ranking([0, 1], user="u"), ranking([1, 0], user="v")]).with_columns(
    country=pl.Series(["FR", "FR", "DE", "DE"])
)
EAGER = [kind for kind in KINDS if kind.name not in {"lazy", "streaming"}]
LAZY = [kind for kind in KINDS if kind not in EAGER]
on_eager = pytest.mark.parametrize("kind", EAGER, ids=repr)
on_lazy = pytest.mark.parametrize("kind", LAZY, ids=repr)

EVERY_KIND = True
"""Each test runs on every kind of frame."""


@on_eager
def test_one_metric_at_one_k_of_an_eager_frame_is_a_float(kind):
    for k, expected in [(None, 0.75), (1, 0.5), (np.int64(1), 0.5)]:
        found = kind(FRAME).rec.mrr(k=k)
        assert type(found) is float
        assert found == expected


@on_lazy
def test_one_metric_at_one_k_of_a_lazy_frame_is_a_lazy_frame_of_one_row(kind):
    assert kind.read(kind(FRAME).rec.mrr(k=1)).to_dicts() == [{"n_users": 2, "mrr@1": 0.5}]


@on_eager
def test_a_float_of_nobody_is_nan(kind):
    found = kind(FRAME[:0]).rec.mrr(k=1)

    assert type(found) is float
    assert math.isnan(found)


@pytest.mark.parametrize(
    "k",
    [[1], (1,), range(1, 2), np.array([1]), {1}, iter([1]), pl.Series([1]), [np.uint64(1)]],
    ids=lambda k: type(k).__name__,
)
def test_several_cut_offs_give_a_frame_even_if_they_are_one(k):
    assert FRAME.rec.mrr(k=k).to_dicts() == [{"n_users": 2, "mrr@1": 0.5}]


def test_a_metric_is_a_frame_of_the_same_kind_by_segment_model_and_group(kind):
    expected = pl.DataFrame({"country": ["DE", "FR"], "n_users": [1, 1], "mrr@1": [1.0, 0.0]})
    found = [kind(FRAME).rec.mrr(k=1, by="country"), kind(FRAME).rec.group_by("country").mrr(k=1)]
    found += [kind(FRAME).rec.mrr(1, "country")]
    for one in found:
        assert_frame_equal(kind.read(one), expected)

    pooled = kind(FRAME.with_columns(model=pl.lit("one"))).rec(model="model").mrr(k=1)
    assert kind.read(pooled).rows() == [("one", 2, 0.5)]


def test_judge_gives_the_same_kind_under_the_bound_names(kind):
    names = {"user": "who", "item": "what", "rank": "place", "relevance": "stars"}
    recs = recommended(u="ab").rename({"user": "who", "item": "what", "rank": "place"})
    truth = liked(u="bc").rename({"user": "who", "item": "what"}).with_columns(stars=pl.lit(2))

    found = kind.read(kind(recs).rec(truth=kind(truth), **names).judge()).sort("what")
    assert found.columns == ["who", "what", "place", "stars"]
    assert found.rows() == [("u", "a", 1, None), ("u", "b", 2, 2), ("u", "c", None, 2)]


def test_kinds_of_frame_mix_and_the_recommendations_decide(kind):
    for other in KINDS:
        rec = kind(recommended(u="ab")).rec(
            truth=other(liked(u="b")), users=other(rows(("u", "FR"), schema=("user", "country")))
        )
        assert kind.read(rec.mrr(by="country")).rows() == [("FR", 1, 0.5)]


@on_lazy
def test_nothing_is_collected_on_the_way(kind, monkeypatch):
    sides: Any = {"truth": pl.LazyFrame({"user": ["u"], "item": ["a"], "country": ["FR"]})}
    sides["users"] = pl.LazyFrame({"user": ["u"], "device": ["tv"]})
    sides["items"] = pl.LazyFrame({"item": ["a"], "genre": ["x"]})
    recs = kind(recommended(u="ab").with_columns(model=pl.lit("one")))
    by, metrics = (
        ["country", "device", "genre"],
        ["ndcg", "auc", "bpref", "err", "ndcg(ideal=list)"],
    )
    policies = {"universe": "all", "no_relevant": "skip", "relevant_from": "list"}

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("collected")

    with monkeypatch.context() as patched:
        for name in ("collect", "collect_async", "collect_batches", "profile", "sink_parquet"):
            patched.setattr(pl.LazyFrame, name, fail, raising=False)
        for name in ("collect_all", "collect_all_async"):
            patched.setattr(pl, name, fail)
        rec = recs.rec(**sides, model="model")
        found = [rec.mrr(), rec.evaluate(*metrics, k=[1, 5], by=by), rec.judge()]
        found += [rec.group_by("user").mrr(k=3), rec(**policies).mrr()]
        found += [rec.explain("precision@4", "ranx", "jurity").frame]

    assert [type(one) for one in found] == [pl.LazyFrame] * 6
    assert kind.read(found[0]).rows() == [("one", 1, 1.0)]


def test_columns_are_by_then_the_support_then_metric_by_metric_each_with_its_ks(kind):
    found = ask(
        kind, FRAME, "recall", "mrr@7", rf.f_score(beta=2), "ndcg", k=[2, 1], by=["country"]
    )

    assert found.columns == [
        *("country", "n_users", "recall@2", "recall@1", "mrr@7"),
        *("f_score(beta=2)@2", "f_score(beta=2)@1", "ndcg@2", "ndcg@1"),
    ]
    assert set(found.dtypes[2:]) == {pl.Float64}
    assert found["n_users"].dtype == pl.Int64


SPELLINGS = {
    "hit_rate": "hit", "hit_rate@3": "hr@3", "hit_rate@1": "success@1", "precision@5": "P@5",
    "recall@20": "R@20", "f_score@5": "f1@5", "map": "AP", "mrr@10": "rr@10", "r_precision": "RPrec",
    "ndcg@10": "nDCG(gain=linear)@10", "f_score": "f_score(beta=1)",
    "f_score(beta=2)": "f_score(beta=2.0)", "map(normalizer=min)@10": " map( normalizer = min ) @ 10 ",
    "ndcg(gain=exp)": "ndcg(gain='exp')", "dcg(gain=exp,log_base=10)": "dcg(log_base=10, gain=exp)",
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_of_a_metric_prints_under_the_canonical_name(name):
    assert str(rf.parse(SPELLINGS[name])) == name
    assert FRAME.rec.evaluate(SPELLINGS[name]).columns == ["n_users", name]


def test_names_and_objects_of_a_metric_are_the_same_thing():
    assert rf.ndcg @ np.int8(10) == rf.ndcg @ 10 == rf.parse("ndcg@10") == "ndcg@10"
    assert rf.ndcg(gain="exp") @ 10 == (rf.ndcg @ 10)(gain="exp") == rf.parse("nDCG(gain=exp)@10")
    assert rf.ndcg(gain="linear") == rf.ndcg
    assert rf.ndcg @ 10 != rf.ndcg @ 5
    assert len({rf.ndcg @ 10, rf.parse("ndcg@10"), rf.ndcg(gain="linear") @ 10, rf.ndcg}) == 2


@pytest.mark.filterwarnings("ignore:pooled_models")  # items as users
def test_binding_leaves_the_object_it_was_asked_of(kind):
    frame = kind(FRAME)
    plain = frame.rec
    bound = plain(universe="recs", min_relevance=1, user="item", item="user")

    assert bound is not plain
    for rec in (plain, frame.rec):
        assert kind.read(rec.evaluate("mrr")).rows() == [(2, 0.75)]
    # items a and b as users: v is relevant to a, at rank 1, and u to b, at rank 2
    assert kind.read(bound.evaluate("mrr")).rows() == [(2, 0.75)]


def test_options_add_up_and_the_last_one_counts(kind):
    grades = FRAME.with_columns(relevance=pl.Series([0, 1, 2, 0]))
    rec = kind(grades).rec(min_relevance=2)(no_relevant="skip")

    # of u nothing has relevance 2, and of v what stands first
    assert kind.read(rec.evaluate("mrr")).rows() == [(1, 1.0)]
    assert kind.read(rec(min_relevance=1).evaluate("mrr")).rows() == [(2, 0.75)]
