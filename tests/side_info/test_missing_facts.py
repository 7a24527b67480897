"""What is said where a metric beyond accuracy lacks a frame, or is asked for what it cannot give."""

from __future__ import annotations

import polars as pl
import pytest

import recframe as rf
from asking import liked, recommended
from recframe.metrics.language import registry
from recframe.metrics.language.registry import registered

RECS = recommended(u="abc", v="ab")
TRUTH = liked(u="a", w="b")
TRAIN = liked(u="ax", v="b")
ITEMS = pl.DataFrame({"item": list("abx"), "genre": list("pqp")})
PRICES = ITEMS.select("item", price=1.5)
SIDES = {"train": TRAIN, "items": ITEMS, "truth": TRUTH, "reference": RECS}
TITLES = {"train": "the train frame", "reference": "a reference"}
NEEDS = dict(rf.list_metrics().filter(pl.col("needs") != "").select("name", "needs").rows())


def test_a_metric_that_lacks_a_frame_names_it_and_shows_the_call():
    for name, needs in NEEDS.items():
        metric = registered()[name]
        title = next((TITLES[need] for need in TITLES if need in needs), "the items frame")
        said = rf"^{metric.name} needs .*{title}"
        with pytest.raises(rf.ColumnError, match=said) as raised:
            RECS.lazy().rec(truth=TRUTH).evaluate(metric @ 10)

        call = str(raised.value).rpartition(": ")[2]
        assert call.startswith("recs.rec(truth=truth, ")
        assert call.endswith(f".{metric.name}(k=10)")
        sides = {**SIDES, "items": PRICES} if metric.name == "value" else SIDES
        assert eval(call, {"recs": RECS, **sides}) is not None  # noqa: S307  the call that we print


def test_a_metric_over_lists_has_no_expectation_over_ties():
    scored = RECS.with_columns(score=-pl.col("rank")).drop("rank")
    for metric in (one for one in registered().values() if one.definition.over_lists):
        for ties, said in (("expected", "expectation in closed form"), ("last", "value of whole")):
            with pytest.raises(rf.RecframeError, match=rf"'{metric}' has no {said}"):
                scored.rec(ties=ties, **SIDES).evaluate(metric)
        assert scored.rec(ties="item", **SIDES).evaluate(metric).height == 1


def test_a_column_of_support_is_a_name_of_the_result():
    named = RECS.with_columns(pl.lit("x").alias("n novelty@3")).rec(train=TRAIN)
    assert named.evaluate("novelty@3", by="n novelty@3").columns[0] == "n novelty@3"


def test_a_metric_of_the_users_own_over_lists(monkeypatch):
    monkeypatch.setattr(registry, "_registry", registered())

    @rf.metric(over="lists")
    def cold_share(at):
        "Share of the list that nobody has in train."
        return at.mean((at.popularity == 0).cast(pl.Float64))

    @rf.metric(shape="set")
    def n_shown(at):
        "Number of items that are shown to anybody."
        return at.over_items(at.n_lists_with > 0)

    found = RECS.rec(train=TRAIN).evaluate("cold_share", "n_shown", k=[1, 3])
    needs = dict(rf.list_metrics().select("name", "needs").iter_rows())

    assert (needs["cold_share"], needs["n_shown"]) == ("train", "")

    # u: a is known, c is not; v: a and b are known
    assert found.row(0) == (2, 2, 0.0, pytest.approx((1 / 3 + 0) / 2), 1.0, 3.0)
    by_user = RECS.rec(train=TRAIN).evaluate("cold_share@3", by="user")
    assert by_user["cold_share@3"].to_list() == pytest.approx([1 / 3, 0])
