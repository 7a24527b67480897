"""Calls that are written wrong are answered with what to write instead."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pandas as pd
import polars as pl
import pytest

import recframe as rf
from asking import liked, recommended
from recframe.frames.options import OPTIONS, Options

RECS, TRUTH = recommended(u="ab", v="ab"), liked(u="b", v="a")
KINDS = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
}
each_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
ALL = ", ".join(OPTIONS)


def answer(call: Any) -> str:
    """Return the words of an error of recframe, which is Python's TypeError too."""
    with pytest.raises(rf.RecframeError) as found:
        call()
    assert isinstance(found.value, TypeError)
    return str(found.value)


@each_kind
@pytest.mark.parametrize("name", ["ndcg", "coverage", "evaluate", "judge", "audit", "explain"])
def test_a_frame_in_the_place_of_something_else_is_to_be_bound(make, name):
    frame, truth = make(RECS), make(TRUTH)
    method = getattr(frame.rec, name)
    kind = type(truth).__name__
    library = "pandas" if isinstance(truth, pd.DataFrame) else "Polars"
    advice = f"frame.rec(truth=truth).{name}(...)"

    said = f"rec.{name}() takes no frame, but found a {library} {kind}; bind it first: {advice}"
    assert answer(lambda: method(truth)) == said
    if name in {"ndcg", "coverage"}:
        assert answer(lambda: method(truth, k=10)) == said
        assert answer(lambda: method(k=truth)) == said
        assert answer(lambda: method(10, truth)) == said
    assert answer(lambda: method(truth=truth)) == (
        f"rec.{name}() has no option 'truth', which is bound first: {advice}"
    )


def test_a_policy_given_with_a_metric_is_to_be_bound():
    assert answer(lambda: RECS.rec(truth=TRUTH).ndcg(k=10, universe="all")) == (
        "rec.ndcg() has no option 'universe', which is bound first: frame.rec(universe=...).ndcg(...)"
    )


def test_an_option_of_rec_that_is_misspelt():
    for call in (
        lambda: RECS.rec(truths=TRUTH),
        lambda: rf.rec(RECS, truths=TRUTH),
        lambda: RECS.lazy().rec(truths=1),
    ):
        assert answer(call) == f"rec() has no option 'truths'; did you mean 'truth'? It has {ALL}"
    assert answer(lambda: RECS.rec(zzzz=1)) == f"rec() has no option 'zzzz'. It has {ALL}"


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_of_rec_is_suggested(option):
    assert answer(lambda: RECS.rec(**{f"{option}x": 1})).startswith(
        f"rec() has no option '{option}x'; did you mean '{option}'"
    )


def test_an_option_of_a_method_that_is_misspelt():
    assert answer(lambda: RECS.rec.audit(kk=3)) == "rec.audit() has no option 'kk'. It has k, by"
    assert (
        answer(lambda: RECS.rec.judge(deep=True)) == "rec.judge() has no option 'deep'. It has none"
    )
    assert answer(lambda: RECS.rec.evaluate("mrr", ks=[1])).startswith(
        "rec.evaluate() has no option 'ks', which is k= here; write k=[1]"
    )


def test_what_is_given_with_a_metric_is_not_bound():
    text = "rec() has no option 'k', which is given with the metric: frame.rec(...).ndcg(k=10)"
    assert answer(lambda: RECS.rec(k=10)) == text
    assert answer(lambda: RECS.rec(by="user")).endswith("frame.rec(...).ndcg(by='country')")


def test_a_cut_off_that_no_metric_takes_is_an_error():
    rec = RECS.rec(truth=TRUTH)
    calls = {
        "ndcg@10": lambda: rec.evaluate("ndcg@10", k=5),
        "ndcg@10, recall@2": lambda: rec(memory="1GB").evaluate("ndcg@10", "recall@2", k=[5, 6]),
        "mrr@10": lambda: RECS.lazy().rec(truth=TRUTH.lazy()).summarize("mrr@10", k=5),
        "recall@10": lambda: rec.require("recall@10 >= 0", k=5),
    }
    for names, call in calls.items():
        with pytest.raises(
            rf.RecframeError, match=rf"^k=.* applies to no metric .*: {names}; leave"
        ):
            call()
    assert rec.evaluate("mrr@10", "recall", k=5).columns == ["n_users", "mrr@10", "recall@5"]


@each_kind
def test_what_others_call_k_and_by(make):
    rec = make(RECS.with_columns(country=pl.lit("FR"))).rec(truth=make(TRUTH))

    for name in ("top_k", "topk", "topN", "cutoff", "at_k"):
        words = f"has no option {name!r}, which is k= here; write k=10"
        assert answer(lambda name=name: rec.ndcg(**{name: 10})) == f"rec.ndcg() {words}"
        assert (
            answer(lambda name=name: rec.evaluate("mrr", **{name: 10})) == f"rec.evaluate() {words}"
        )
    for name in ("group_by", "groupby", "segment"):
        words = f"rec.ndcg() has no option {name!r}, which is by= here; write by='country'"
        assert answer(lambda name=name: rec.ndcg(k=10, **{name: "country"})) == words
    assert answer(lambda: RECS.rec(TRUTH, top_k=10)).endswith("frame.rec(...).ndcg(k=10)")


def test_a_metric_of_no_frame_says_where_its_cut_off_and_segments_stand():
    for call in (lambda: rf.ndcg(top_k=10), lambda: rf.parse("ndcg(top_k=10)")):
        with pytest.raises(
            rf.UnknownMetricError, match=r"^top_k= is k= here; .*'ndcg@10'.*ndcg\(k=10\)"
        ):
            call()
    with pytest.raises(rf.UnknownMetricError, match=r"^group_by= is by= here; .*by='x'\)"):
        rf.ndcg(group_by="x")


@each_kind
def test_the_truth_goes_by_position_too(make):
    recs, truth = make(RECS), make(TRUTH)

    results = [
        one.evaluate("mrr@2", by="user")
        for one in (
            recs.rec(truth=truth),
            recs.rec(truth),
            rf.rec(recs, truth),
            rf.rec(recs)(truth, universe="all"),
        )
    ]
    by_name, *by_position = [
        pl.DataFrame(getattr(one, "collect", lambda one=one: one)()) for one in results
    ]
    assert by_name.rows() == [("u", 0.5), ("v", 1.0)]
    assert all(one.equals(by_name) for one in by_position)


@each_kind
@pytest.mark.parametrize("k", [1, 10, "10"])
def test_a_metric_of_a_frame_is_not_cut_by_an_at(make, k):
    frame = make(RECS.join(TRUTH.with_columns(relevance=1), on=["user", "item"], how="left"))

    text = answer(lambda: frame.rec.ndcg @ k)
    first, second = f"frame.rec.ndcg(k={k!r})", f"frame.rec.evaluate(rf.ndcg @ {k!r})"
    assert text == f"rec.ndcg takes its cut-off when it is called: write {first}, or {second}"


def test_a_parameter_of_ones_own_metric_may_bear_the_name_of_an_option():
    @rf.metric
    def hits_in_train(at, *, train=2):
        return (at.rank <= train).sum()

    assert RECS.rec(truth=TRUTH).hits_in_train(train=1) == 0.5


def test_methods_keep_their_signatures_and_docstrings():
    assert list(inspect.signature(RECS.rec.mrr).parameters) == ["k", "by"]
    assert tuple(inspect.signature(RECS.rec).parameters) == OPTIONS
    assert RECS.rec.judge.__doc__.startswith("Return the judged frame")


LONG = pl.DataFrame({"user": range(100)})


@pytest.mark.parametrize(
    "value",
    [LONG, LONG["user"], LONG.lazy(), LONG.to_pandas(), LONG.to_numpy(), pl.col("user"), [LONG]],
)
@pytest.mark.parametrize(
    "call",
    [
        *(
            lambda value, name=name: RECS.rec(**{name: value})
            for name in ("user", "universe", "ties", "strict", "decimals", "memory")
        ),
        *(lambda value, name=name: RECS.rec(**{name: value}) for name in ("min_relevance", "profile")),
        lambda value: RECS.rec(truth=TRUTH).ndcg(k=10, gain=value),
        lambda value: rf.f_score(beta=value),
        rf.parse,
        lambda value: RECS.rec(truth=TRUTH).mrr(k=[value]),
        lambda value: RECS.rec(truth=TRUTH).mrr(by=[[value]]),
        lambda value: RECS.rec(truth=TRUTH).evaluate([value]),
        lambda value: rf.explain("mrr", value, "ranx"),
    ],
)  # fmt: skip
def test_no_error_quotes_a_whole_frame(call, value):
    with pytest.raises(rf.RecframeError) as found:
        call(value)
    said = str(found.value)
    assert re.search(r"\b(a|an) (Polars|pandas|NumPy|list)", said) or "..." in said
    assert "\n" not in said
    assert len(said) < 320


@pytest.mark.parametrize("memory", [16, "2", "two", "2 gigs", 0, -1, True, 1.5, "0GB"])
def test_a_bound_on_memory_is_a_number_with_its_unit(memory):
    with pytest.raises(rf.RecframeError, match=r"memory=.*a unit, such as '2GB' or '500MB'"):
        RECS.rec(memory=memory)


def test_a_number_is_no_category():
    items = pl.DataFrame({"item": ["a", "b"], "price": [1.5, 2.5]})
    advice = "a number is not a category; put it into bins, (pl.col('price') // 10).cast(pl.Int64) or in pandas "
    advice += "pd.qcut(items['price'], 4), or cast it to text if it is a name, or name another one: category_coverage(of='...')"

    with pytest.raises(rf.ColumnError) as found:
        RECS.rec(items=items).category_coverage(k=2, of="price")
    assert str(found.value).endswith(f"'price' of the frame items= is Float64: {advice}")
    for better in ((pl.col("price") // 10).cast(pl.Int64), pl.col("price").cast(pl.String)):
        assert RECS.rec(items=items.with_columns(better)).category_coverage(k=2, of="price") == 1
    in_pandas = items.to_pandas()
    in_pandas["price"] = pd.qcut(in_pandas["price"], 4)
    assert RECS.to_pandas().rec(items=in_pandas).category_coverage(k=2, of="price") == 1


def test_the_call_that_a_message_shows_keeps_the_parameters():
    with pytest.raises(
        rf.ColumnError,
        match=re.escape("recs.rec(truth=truth, train=train).recall(k=2, weights='ips')") + "$",
    ):
        RECS.rec(truth=TRUTH).recall(k=2, weights="ips")


def test_type_checkers_know_every_option():
    assert {*Options.__annotations__, "truth", "model"} == {*OPTIONS}
