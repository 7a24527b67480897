"""Metrics and readers of one's own: whatever a built-in one can do, a function under `rf.metric` can."""

from __future__ import annotations

import io
import math
import pickle
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plain_readers
import recframe as rf
from asking import ask, liked, ranking, recommended, rows
from frame_sizes import LARGE
from recframe.metrics.language import registry
from strategies import examples
from tied_lists import exactly
from two_users import FRAME, RECS, TRUTH, value

LIST = ranking([0, 1])


@pytest.fixture(autouse=True)
def _registry_as_it_was(monkeypatch):
    monkeypatch.setattr(registry, "_registry", registry.registered())


@pytest.fixture
def own():
    """The share of the relevant items that stand in the first `page` ranks."""

    @rf.metric(
        aliases=("fps",),
        range=(0.0, 1.0),
        direction="higher",
        formula="hits on the first page / n_relevant",
    )
    def first_page_share(at, *, page=1):
        """Share of the relevant items that stand on the first page."""
        return rf.ratio((at.rank <= page).sum(), at.n_relevant)

    return first_page_share


def test_ones_own_metric_has_every_form_of_a_built_in_one(own, kind):
    rec = kind(FRAME).rec

    # u1: nothing at rank 1, b of b and c up to rank 2; u2: d at rank 1
    assert value(kind, rec.first_page_share(), "first_page_share") == 0.5
    assert value(kind, rec.first_page_share(page=2), "first_page_share(page=2)") == 0.75
    texts = ("first_page_share(page=2)@5", "FPS(page=2)@5")
    for asked in (own(page=2) @ 5, *texts, rf.parse("fps(page=2)") @ 5):
        found = kind.read(rec.evaluate(asked))
        assert found.rows() == [(2, 0.75)]
        assert found.columns == ["n_users", "first_page_share(page=2)@5"]
    assert kind.read(rec.evaluate(own(page=2), k=[1, 2])).rows() == [(2, 0.5, 0.75)]
    # by user, by segment and beside others
    assert kind.read(rec.first_page_share(by="user", page=2)).rows() == [("u1", 0.5), ("u2", 1.0)]
    segments = kind.read(rec.group_by("country").first_page_share(page=2))
    assert segments.rows() == [("DE", 1, 1.0), ("FR", 1, 0.5)]
    beside = kind.read(rec.evaluate(own, "recall", by="user"))
    assert beside.rows() == [("u1", 0.0, 0.5), ("u2", 1.0, 1.0)]
    # model y gives u1 the list c, b, and u2 nothing
    of_y = recommended(u1="cb").with_columns(model=pl.lit("y"))
    recs = pl.concat([RECS.with_columns(model=pl.lit("x")), of_y], how="diagonal")
    found = kind.read(kind(recs).rec(truth=kind(TRUTH), model="model").evaluate(own))
    assert found.rows() == [("x", 2, 0.5), ("y", 2, 0.25)]


def test_ones_own_metric_is_an_expression(own):
    expression = own.expr(k=5)

    assert expression.meta.output_name() == "first_page_share@5"
    found = FRAME.group_by("user", maintain_order=True).agg(expression)
    assert found.rows() == [("u1", 0.0), ("u2", 1.0)]
    over = FRAME.select(own(page=2).expr().over("user")).to_series()
    assert over.to_list() == [0.5, 0.5, 0.5, 1.0, 1.0]


def test_ones_own_metric_stands_in_the_registry_and_survives_pickle_and_string(own):
    row = rf.list_metrics().filter(name="first_page_share").row(0, named=True)

    assert (row["aliases"], row["parameters"], row["range"]) == ("fps", "page=1", "[0, 1]")
    assert pickle.loads(pickle.dumps(own(page=3) @ 2)) == own(page=3) @ 2  # noqa: S301  our own bytes
    assert rf.parse(str(own(page=3) @ 2)) == own(page=3) @ 2
    words = FRAME.rec.first_page_share.__doc__
    assert words == "Share of the relevant items that stand on the first page."
    assert "first_page_share" in dir(FRAME.rec)
    with pytest.raises(AttributeError, match="did you mean 'first_page_share'"):
        FRAME.rec.first_page_shar  # noqa: B018


def test_ones_own_metric_is_used_again_after_it_was_redefined(own):
    rec = FRAME.rec
    assert rec.first_page_share() == 0.5

    @rf.metric
    def first_page_share(at):
        return at.n_hits

    # b of u1 and d of u2
    found = rec.evaluate("first_page_share")["first_page_share"].item()
    assert rec.first_page_share() == found == 1.0
    assert rf.list_metrics().filter(name="first_page_share").height == 1
    with pytest.raises(rf.UnknownMetricError, match="unknown metric 'fps'"):
        rf.parse("fps")
    with pytest.raises(rf.UnknownMetricError, match="first_page_share has no parameter 'page'"):
        rec.first_page_share(page=2)
    assert own is not first_page_share


def test_the_best_order_takes_any_function_of_its_hits():
    @rf.metric
    def by_itself(at):
        return at.best(lambda best: best.sum(lambda hit: hit.gain.sqrt() / hit.rank)) * 2

    @rf.metric
    def beside_others(at):
        return at.best(lambda best: best.sum(lambda hit: hit.gain / hit.gain.max()))

    @rf.metric
    def in_python(at):
        return at.best(
            lambda best: best.sum(lambda hit: hit.gain.map_batches(lambda gains: gains * 2))
        )

    @rf.metric
    def of_none(at):
        return at.best(lambda best: best.sum(lambda _: pl.lit(1.0)) + best.gain.sum())

    @rf.metric
    def of_the_rows(at):
        return at.ideal().gain.max()

    # the gains 4 and 1 stand at ranks 1 and 2 of the best order, wherever they are listed
    frame = ranking([0, 1, 4], [1, 3, None])
    own = [by_itself, beside_others, in_python, of_none, of_the_rows]
    whole, first = [(2 + 1 / 2) * 2, 1.25, 10, 6, 4], [4, 1, 8, 5, 4]
    for size in (0, LARGE):  # rows of nobody make a frame large
        given = pl.concat([frame, frame.clear(size)])
        assert given.rec.evaluate(*own).row(0)[1:] == exactly(whole)
        assert given.rec.evaluate(*own, k=1).row(0)[1:] == exactly(first)


@pytest.mark.parametrize("make", [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_metrics_may_stand_in_a_list(make):
    rec = make(LIST).rec
    in_lists = rec.evaluate("mrr", ["ndcg@2", rf.recall], ("map", "mrr"), k=[1, 2])
    one_by_one = rec.evaluate("mrr", "ndcg@2", rf.recall, "map", k=[1, 2])

    if isinstance(in_lists, pl.LazyFrame):
        in_lists, one_by_one = in_lists.collect(), one_by_one.collect()
    assert in_lists.equals(one_by_one)


# Readers


@given(
    st.lists(st.sampled_from([0, 0, 0, 1, 2.5, 3, 4, 7]), min_size=1, max_size=26),
    st.integers(0, 1000),
    st.sampled_from([1, 1.7, 5]),
    st.sampled_from([None, 1, 4, 1000, 5000]),
)
@examples(40)
def test_a_list_however_deep_is_read_as_place_by_place(grades, above, target, k):
    frame = ranking(grades).with_columns(pl.col("rank") + above)
    hits = [(rank, grade) for rank, grade in enumerate(grades, start=1 + above) if grade]
    hits = [hit for hit in hits if hit[0] <= (k or math.inf)]

    expected = {
        f"insq(target={target})": plain_readers.insq(hits, k, target),
        f"inst(target={target})": plain_readers.inst(hits, k, target),
        "nerr": plain_readers.nerr(hits, k),
    }
    expected |= {f"bpm(target={target})@{k}": plain_readers.bpm(hits, k, target)} if k else {}
    found = frame.rec.evaluate(*expected, k=k).row(0)[1:]

    assert found == exactly([*expected.values()])


def test_a_reader_of_one_s_own_is_three_lines(kind):
    @rf.metric
    def hurried(at: Any, *, p: float = 0.6) -> pl.Expr:
        return at.reader(lambda place, gain: p * (1 - gain / 2) / place**0.5, max_grade=2)

    listed, truth = recommended(u="axcbd"), liked(u="acd")
    hits = [(1, 1.0), (3, 1.0), (5, 1.0)]
    expected = plain_readers.read(hits, lambda r, h, _g: 0.6 * (1 - h / 2) / r**0.5, max_grade=2)
    found = ask(kind, listed, "hurried", by="user", truth=kind(truth))

    assert found["hurried"].to_list() == [exactly(expected)]
    assert str(rf.parse("hurried(p=0.5)@3")) == "hurried(p=0.5)@3"
    judged = listed.rec(truth=truth).judge()
    assert judged.select(rf.parse("hurried").expr()).item() == exactly(expected)
    plan = listed.lazy().rec(truth=truth.lazy()).evaluate("hurried").serialize()
    again = pl.LazyFrame.deserialize(io.BytesIO(plan))
    assert again.collect()["hurried"].item() == exactly(expected)


def test_a_reader_of_one_s_own_may_stop_and_need_not_mind_the_gain():
    @rf.metric(linear=True)
    def steady(at: Any) -> pl.Expr:
        return at.reader(lambda _place, _gain: 0.5, depth=at.k, max_grade=1)

    tied = rows(("u", "a", 5, 1), ("u", "b", 5, 0), schema=("user", "item", "score", "relevance"))
    tied = tied.cast({"score": pl.Int64})

    assert ranking([1, 0, 1, 1]).rec.evaluate("steady@3").row(0)[1] == exactly(1.25 / 1.75)
    assert tied.rec(ties="expected").evaluate("steady@2").row(0)[1] == exactly(0.5)
