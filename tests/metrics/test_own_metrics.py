"""Metrics of one's own: whatever a built-in one can do, a function under `rf.metric` can."""

from __future__ import annotations

import pickle

import polars as pl
import pytest

import recframe as rf
from asking import ranking
from frame_sizes import LARGE
from recframe.metrics.language import registry
from two_users import FRAME, RECS, TRUTH, value

LIST = ranking([0, 1])


@pytest.fixture(autouse=True)
def _registry_as_it_was():
    before = dict(registry._registry)
    yield
    registry._registry.clear()
    registry._registry.update(before)


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
    for asked in (
        own(page=2) @ 5,
        "first_page_share(page=2)@5",
        "FPS(page=2)@5",
        rf.parse("fps(page=2)") @ 5,
    ):
        assert kind.read(rec.evaluate(asked)).rows() == [(2, 0.75)]
    assert kind.read(rec.evaluate("fps(page=2)@5")).columns == [
        "n_users",
        "first_page_share(page=2)@5",
    ]
    assert kind.read(rec.evaluate(own(page=2), k=[1, 2])).rows() == [(2, 0.5, 0.75)]


def test_ones_own_metric_runs_by_user_by_segment_and_beside_the_others(own, kind):
    rec = kind(FRAME).rec

    assert kind.read(rec.first_page_share(by="user", page=2)).rows() == [("u1", 0.5), ("u2", 1.0)]
    assert kind.read(rec.group_by("country").first_page_share(page=2)).rows() == [
        ("DE", 1, 1.0),
        ("FR", 1, 0.5),
    ]
    assert kind.read(rec.evaluate(own, "recall", "ndcg@1", by="user")).select(
        "user", "first_page_share", "recall"
    ).rows() == [("u1", 0.0, 0.5), ("u2", 1.0, 1.0)]


def test_ones_own_metric_runs_on_two_frames_with_models(own, kind):
    # y gives u1 the list c, b, and u2 nothing
    recs = pl.concat(
        [
            RECS.with_columns(model=pl.lit("x")),
            pl.DataFrame({"user": ["u1"] * 2, "item": ["c", "b"], "rank": [1, 2], "model": ["y"] * 2}),
        ],
        how="diagonal",
    )  # fmt: skip

    found = kind.read(kind(recs).rec(truth=kind(TRUTH), model="model").evaluate(own))

    assert found.rows() == [("x", 2, 0.5), ("y", 2, 0.25)]


def test_ones_own_metric_is_an_expression(own):
    expression = own.expr(k=5)

    assert expression.meta.output_name() == "first_page_share@5"
    assert FRAME.group_by("user", maintain_order=True).agg(expression).rows() == [
        ("u1", 0.0),
        ("u2", 1.0),
    ]
    assert FRAME.select(own(page=2).expr().over("user")).to_series().to_list() == [
        0.5, 0.5, 0.5, 1.0, 1.0,
    ]  # fmt: skip


def test_ones_own_metric_stands_in_the_registry_and_survives_pickle_and_string(own):
    row = rf.list_metrics().filter(name="first_page_share").row(0, named=True)

    assert row["aliases"] == "fps"
    assert row["parameters"] == "page=1"
    assert row["range"] == "[0, 1]"
    assert pickle.loads(pickle.dumps(own(page=3) @ 2)) == own(page=3) @ 2  # noqa: S301  our own bytes
    assert rf.parse(str(own(page=3) @ 2)) == own(page=3) @ 2
    assert (
        FRAME.rec.first_page_share.__doc__
        == "Share of the relevant items that stand on the first page."
    )
    assert "first_page_share" in dir(FRAME.rec)
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
    assert (
        rec.first_page_share() == rec.evaluate("first_page_share")["first_page_share"].item() == 1.0
    )
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
    frame = pl.DataFrame(
        {"user": ["u"] * 3, "item": [*"abc"], "rank": [1, 3, None], "relevance": [0, 1, 4]}
    )
    own = [by_itself, beside_others, in_python, of_none, of_the_rows]
    whole, first = [(2 + 1 / 2) * 2, 1.25, 10, 6, 4], [4, 1, 8, 5, 4]
    for size in (0, LARGE):  # rows of nobody make a frame large
        given = pl.concat([frame, frame.clear(size)])
        assert given.rec.evaluate(*own).row(0)[1:] == pytest.approx(whole, rel=1e-12)
        assert given.rec.evaluate(*own, k=1).row(0)[1:] == pytest.approx(first, rel=1e-12)


@pytest.mark.parametrize("frame", [LIST, LIST.lazy(), LIST.to_pandas()])
def test_metrics_may_stand_in_a_list(frame):
    in_lists = frame.rec.evaluate("mrr", ["ndcg@2", rf.recall], ("map", "mrr"), k=[1, 2])
    one_by_one = frame.rec.evaluate("mrr", "ndcg@2", rf.recall, "map", k=[1, 2])

    if isinstance(frame, pl.LazyFrame):
        in_lists, one_by_one = in_lists.collect(), one_by_one.collect()
    assert in_lists.equals(one_by_one)


def test_a_metric_defined_again_replaces_itself():
    for weight in (1, 2):

        @rf.metric(aliases=["mine"])
        def my_own(at, *, factor=weight):
            return at.hit.sum() * factor

        assert LIST.rec.evaluate("mine").rows() == [(1, weight)]
    assert rf.list_metrics()["name"].to_list().count("my_own") == 1


def test_the_sum_over_the_hits_is_that_of_words_cut_one_by_one():
    @rf.metric
    def cut_once(at: rf.At) -> pl.Expr:
        return at.sum(lambda hit: hit.gain * hit.discount)

    @rf.metric
    def cut_each(at: rf.At) -> pl.Expr:
        return (at.gain * at.discount).sum()

    frame = ranking([3, 0, 1, 2])
    for k in (1, 3, None):
        found = frame.rec.evaluate(
            cut_once if k is None else cut_once @ k, cut_each if k is None else cut_each @ k
        )
        assert found[0, -1] == found[0, -2] > 0
