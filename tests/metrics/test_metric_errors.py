"""The words of errors about metrics: unknown names and parameters, strings that are none, and metrics of a user's own."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

import recframe as rf
from asking import ranking
from frame_kinds import KINDS
from recframe.metrics.language import registry

FRAME = ranking([0, 1])


def says(text: str, error: type[Exception] = rf.RecframeError, *, whole: bool = True) -> Any:
    """Expect an error of these words, which is a ValueError too."""
    assert issubclass(error, rf.RecframeError)
    assert issubclass(error, ValueError)
    return pytest.raises(error, match=f"^{re.escape(text)}" + "$" * whole)


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(registry, "_registry", registry.registered())


@pytest.mark.parametrize(
    ("text", "close"),
    [
        ("ndgc@10", "ndcg@10"),
        ("NDGC", "ndcg"),
        ("recal(denominator=capped)@5", "recall(denominator=capped)@5"),
        ("hitrate@3", "hit_rate@3"),
        ("precison", "precision"),
    ],
)
def test_an_unknown_metric_has_the_closest_name(text, close):
    for call in (
        lambda: rf.parse(text),
        lambda: FRAME.rec.evaluate(text),
        lambda: FRAME.lazy().rec.evaluate("mrr", text),
    ):
        with says(f"unknown metric {text!r}; did you mean {close!r}?", rf.UnknownMetricError):
            call()


def test_an_unknown_metric_like_no_other_says_where_all_are():
    for name in ("zzzzz", "accuracy"):
        with says(
            f"unknown metric {name!r}; rf.list_metrics() has the metrics", rf.UnknownMetricError
        ):
            rf.parse(name)


@pytest.mark.parametrize(("text", "cut"), [("s_recall", ""), ("S_Recall@10", "@10")])
def test_another_library_s_name_of_a_form_has_that_form(text, cut):
    with says(
        f"unknown metric {text!r}; that is 'category_coverage(relevance=true){cut}'",
        rf.UnknownMetricError,
    ):
        rf.parse(text)
    with pytest.raises(AttributeError, match=r"that is 'category_coverage\(relevance=True\)'"):
        _ = FRAME.rec.s_recall


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize(
    ("name", "close"),
    [("ndgc", "ndcg"), ("evalute", "evaluate"), ("group_by_", "group_by"), ("juge", "judge"), ("Recall", "recall")],
)  # fmt: skip
def test_an_unknown_method_is_an_attribute_error_with_the_closest_name(kind, name, close):
    with pytest.raises(
        AttributeError, match=f"^rec has no method '{name}'; did you mean '{close}'\\?$"
    ):
        getattr(kind(FRAME).rec, name)
    assert not hasattr(kind(FRAME).rec, name)


def test_an_unknown_method_like_no_other():
    with pytest.raises(
        AttributeError, match=r"^rec has no method 'zzzzz'; rf.list_metrics\(\) has the metrics$"
    ):
        _ = FRAME.rec.zzzzz


@pytest.mark.parametrize(
    "text", ["", "@10", "ndcg(gain=exp", "ndcg@", "nd/dg@10", "10", "ndcg@10 20"]
)
def test_a_string_that_is_no_metric(text):
    with says(
        f"{text!r} is not a metric; write a name, parameters and a cut-off, as in 'map(normalizer=min)@10'",
        rf.UnknownMetricError,
    ):
        rf.parse(text)


@pytest.mark.parametrize("k", ["0", "-1", "1.5", "ten", "10@5", "²", "1e3", "None"])
def test_a_cut_off_of_a_string_that_is_none(k):
    with pytest.raises(rf.RecframeError, match=r"positive whole number"):
        rf.parse(f"ndcg@{k}")


def test_a_cut_off_of_more_digits_than_python_reads():
    with pytest.raises(rf.RecframeError):
        rf.parse("ndcg@" + "9" * 5000)


@pytest.mark.parametrize("thing", [10, None, {"ndcg"}, pl.col("ndcg"), len])
def test_what_is_no_metric(thing):
    said = "a Polars expression" if isinstance(thing, pl.Expr) else repr(thing)
    text = f"{said} is not a metric; write names or metric objects, as arguments or in a list: "
    for call in (
        FRAME.rec.evaluate,
        FRAME.rec(memory="1GB").evaluate,
        lambda one: FRAME.rec.evaluate(["mrr", one]),
    ):
        with says(f"{text}evaluate('ndcg@10', rf.recall @ 20)"):
            call(thing)


def test_a_list_of_lists_is_no_list_of_metrics():
    with says("['mrr'] is not a metric; ", whole=False):
        FRAME.rec.evaluate([["mrr"]])


@pytest.mark.parametrize("frame", [FRAME, FRAME.lazy(), FRAME.to_pandas()])
def test_metrics_may_stand_in_a_list(frame):
    in_lists = frame.rec.evaluate("mrr", ["ndcg@2", rf.recall], ("map", "mrr"), k=[1, 2])
    one_by_one = frame.rec.evaluate("mrr", "ndcg@2", rf.recall, "map", k=[1, 2])

    if isinstance(frame, pl.LazyFrame):
        in_lists, one_by_one = in_lists.collect(), one_by_one.collect()
    assert in_lists.equals(one_by_one)
    with says("no metric was requested; ", whole=False):
        frame.rec.evaluate([])


@pytest.mark.parametrize("thing", [10, None, ["ndcg"], rf.ndcg])
def test_parse_takes_text_alone(thing):
    found = "already a metric, not text" if thing is rf.ndcg else "not a metric"
    with says(f"{thing!r} is {found}; ", rf.UnknownMetricError, whole=False):
        rf.parse(thing)


def test_no_metric():
    expected = 'no metric was requested; write for example evaluate("ndcg@10", "recall@20"); rf.list_metrics() has them all'

    for frame in (FRAME, FRAME.lazy(), FRAME.to_pandas()):
        with says(expected):
            frame.rec.evaluate(k=10)


def test_an_unknown_parameter():
    expected = (
        "ndcg has no parameter 'gian'; did you mean 'gain'? "
        "It has gain=linear, log_base=2, ideal=relevant, discount=shifted, offset=0, without_relevant=zero, "
        "weights=none, exponent=1.5, min_propensity=0.0001"
    )

    for call in (
        lambda: rf.ndcg(gian="exp"),
        lambda: rf.parse("ndcg(gian=exp)"),
        lambda: FRAME.lazy().rec.ndcg(gian="exp"),
    ):
        with says(expected, rf.UnknownMetricError):
            call()
    with says("mrr has no parameter 'gain'. It has none", rf.UnknownMetricError):
        rf.mrr(gain="exp")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ndcg(gain=square)", "ndcg(gain='square'): gain takes 'linear' or 'exp' or 'binary'"),
        ("map(normalizer=3)",
         "map(normalizer=3): normalizer takes 'relevant' or 'min' or 'list' or 'hits' or 'k' or 'ranks'"),
        ("ndcg(offset=10)", "ndcg(offset=10): offset takes a number above -1000 and below 10"),
        ("f_score(beta=0)", "f_score(beta=0): beta takes a number above 0"),
        ("f_score(beta=nan)", "f_score(beta=nan): beta takes a number above 0"),
        ("f_score(beta=inf)", "f_score(beta=inf): beta takes a number above 0"),
        ("f_score(beta=two)", "f_score(beta='two'): beta takes a number above 0"),
        ("f_score(beta=true)", "f_score(beta=True): beta takes a number above 0"),
        ("rbp(p=1)", "rbp(p=1): p takes a number above 0 and below 1"),
        ("rbp(p=0.0)", "rbp(p=0.0): p takes a number above 0 and below 1"),
        ("dcg(log_base=1)", "dcg(log_base=1): log_base takes a number above 1"),
        ("err(max_grade=1000)", "err(max_grade=1000): max_grade takes a number above 0 and below 1000"),
    ],
)  # fmt: skip
def test_a_value_that_a_parameter_does_not_take(text, expected):
    with says(expected):
        rf.parse(text)
    with says(expected):
        FRAME.lazy().rec.evaluate(text)


def test_parameters_are_given_by_name():
    for argument in (0.5, FRAME):
        with says(
            "parameters of err are given by name: err(max_grade=4); call it on a frame: frame.rec.err(k=10)"
        ):
            rf.err(argument)
    with says("hit_rate has no parameters; call it on a frame: frame.rec.hit_rate(k=10)"):
        rf.hit_rate(FRAME)
    expected = (
        "'exp' is not a parameter; write ndcg(gain=linear, log_base=2, ideal=relevant, discount=shifted, offset=0, "
        "without_relevant=zero, weights=none, exponent=1.5, min_propensity=0.0001)"
    )
    with says(expected, rf.UnknownMetricError):
        rf.parse("ndcg(exp)@10")


@pytest.mark.parametrize(
    ("name", "owner"), [("AP", "map"), ("f1", "f_score"), ("Recall", "recall"), ("Hit", "hit_rate")]
)
def test_a_name_that_is_taken(name, owner):
    with says(f"{name!r} already names the metric {owner!r}; give the metric another name"):
        rf.metric(named(name))


def test_an_alias_that_is_taken():
    with says("'ap' already names the metric 'map'; give the metric another name"):
        rf.metric(aliases=["ap"])(named("my_own"))
    assert "my_own" not in rf.list_metrics()["name"]


@pytest.mark.parametrize("name", ["evaluate", "judge", "group_by", "audit", "plot", "ndcg"])
def test_a_name_of_recframe_s_own(name):
    with says(f"{name!r} is a name that recframe uses; give the metric another name"):
        rf.metric(named(name))
    with says(f"{name!r} is a name that recframe uses; give the metric another name"):
        rf.metric(aliases=[name])(named("my_own"))


def named(name: str) -> Any:
    def function(at):
        return at.hit.sum()

    function.__name__ = name
    return function


def test_a_function_without_a_name():
    with says("'<lambda>' cannot name a metric; write the metric as a function with `def`"):
        rf.metric(lambda at: at.hit.sum())
    with says("'two words' cannot name a metric; write the metric as a function with `def`"):
        rf.metric(aliases=["two words"])(named("my_own"))


def test_a_metric_that_takes_no_words():
    def alone():
        return pl.lit(1)

    with says("a metric takes the words for writing it: def alone(at): ..."):
        rf.metric(alone)


def test_a_parameter_without_a_star_or_a_default():
    def no_star(at, weight=1):
        return at.hit.sum() * weight

    def no_default(at, *, weight):
        return at.hit.sum() * weight

    def anything(at, **weights):
        return at.hit.sum() * len(weights)

    with says(
        "parameter 'weight' of no_star needs a default and a star before it: (at, *, weight=...)"
    ):
        rf.metric(no_star)
    with says(
        "parameter 'weight' of no_default needs a default and a star before it: (at, *, weight=...)"
    ):
        rf.metric(no_default)
    with says(
        "parameter 'weights' of anything needs a default and a star before it: (at, *, weights=...)"
    ):
        rf.metric(anything)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_a_metric_with_a_value_for_each_row(kind):
    @rf.metric
    def each_hit(at):
        return at.hit

    expected = "the metric 'each_hit' has a value for each row of a list; return one for the list: its sum(), max(), ..."
    for call in (
        lambda: kind(FRAME).rec.each_hit(k=2),
        lambda: kind(FRAME).rec.evaluate("mrr", each_hit, by="user"),
    ):
        with says(expected):
            call()


@pytest.mark.parametrize(("value", "shown"), [(1.0, "1.0"), (None, "None"), ("hits", "'hits'")])
def test_a_metric_that_returns_no_expression(value, shown):
    @rf.metric
    def constant(at):  # noqa: ARG001
        return value

    expected = f"the metric 'constant' returned {shown}; a metric returns a Polars expression, such as at.hit.sum()"
    for call in (
        FRAME.rec.constant,
        lambda: FRAME.lazy().rec.evaluate(constant),
        lambda: constant.expr(k=3),
    ):
        with says(expected):
            call()


def test_a_misspelt_word_has_the_closest_one():
    @rf.metric
    def misspelt(at):
        return at.rnak.min()

    for call in (
        lambda: FRAME.rec.misspelt(k=2),
        lambda: FRAME.lazy().rec.evaluate("misspelt"),
        misspelt.expr,
    ):
        words = r"^'rnak' is not a word for writing metrics; did you mean 'rank'\? There are "
        with pytest.raises(AttributeError, match=words) as caught:
            call()
        assert "hits_so_far" in str(caught.value)


def test_a_value_that_the_parameter_of_a_metric_of_one_s_own_does_not_take():
    @rf.metric
    def weighted(at, *, weight=1):
        return at.hit.sum() * weight

    with says("weighted(weight=[1]): weight takes a text, a number, True or False"):
        weighted(weight=[1])
    assert FRAME.rec.weighted(k=2, weight=3) == 3


def test_a_metric_defined_again_replaces_itself():
    for weight in (1, 2):

        @rf.metric(aliases=["mine"])
        def my_own(at, *, factor=weight):
            return at.hit.sum() * factor

        assert FRAME.rec.evaluate("mine").rows() == [(1, weight)]
    assert rf.list_metrics()["name"].to_list().count("my_own") == 1


def test_the_sum_over_the_hits_of_an_expression_says_what_to_write():
    @rf.metric
    def hits_worth(at: rf.At) -> pl.Expr:
        return at.sum(at.gain)  # type: ignore[arg-type]

    with says(
        "at.sum() takes a function of a hit, at.sum(lambda hit: hit.gain); a value has its own sum, at.gain.sum()"
    ):
        FRAME.rec.evaluate("hits_worth@2")


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
