"""How charts look: titles, units, tooltips and colours, the same in all of them, and what they are saved as."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest
import vl_convert

import recframe as rf
from charts_asked import (
    ASKED,
    OF_FAMILIES,
    REC,
    SHOP,
    TRAIN,
    WIDTH,
    channels,
    colours_of,
    each_sharply,
    spec_of,
)
from compared_lists import LISTS_ARE_MISSING
from planted_shop import shop
from recframe.api.plots import CHARTS
from recframe.charts.themes import THEMES

# a cut-off above all lists is named in charts and tables, too
pytestmark = pytest.mark.filterwarnings("ignore:short_lists")

OLD = SHOP.recs.filter(model="old").drop("model")
each_chart = pytest.mark.parametrize("name", ASKED)


def test_every_chart_is_asked_for_here():
    assert set(CHARTS) == set(ASKED)


@each_chart
def test_a_chart_has_titles_says_what_is_drawn_and_each_model_has_its_colour(name):
    spec = spec_of(name)
    axes = [one for one in channels(spec, "x", "y") if one.get("type") == "quantitative"]
    new, old = THEMES["light"].models[:2]

    assert " ".join(spec["title"]["text"])
    assert " ".join(spec["title"]["subtitle"]).endswith(".")
    assert axes
    assert all(one["title"] for one in axes)
    assert {tuple(one.items()) for one in colours_of(spec)} == {(("new", new), ("old", old))}


def test_axes_of_metrics_have_their_better_end():
    titled = [one for one in channels(spec_of("tradeoff"), "x", "y") if one.get("title")]
    titles = {" ".join(one["title"]) for one in titled}

    assert titles == {"ndcg@5 (higher is better)", "novelty@5 (higher is better)"}


def test_right_and_up_are_better():
    plot = REC.plot
    for chart in (plot.models("first_rank"), plot.segments("first_rank", by="age")):
        assert {one["scale"]["reverse"] for one in channels(chart, "x")} == {True}
    spec = plot.tradeoff("ndcg@5", "first_rank").to_dict()
    assert {one["scale"]["reverse"] for one in channels(spec, "x")} == {False}
    assert {one["scale"]["reverse"] for one in channels(spec, "y")} == {True}
    words = " ".join(channels(spec, "y")[0]["title"])
    assert words == "first_rank (lower is better): axis reversed"


def test_the_front_is_told_of_where_there_is_one():
    def told(x: str, y: str) -> tuple[str, str]:
        title = REC.plot.tradeoff(x, y).to_dict()["title"]
        return " ".join(title["text"]), " ".join(title["subtitle"])

    value = dict(REC.evaluate("mrr").select("model", "mrr").rows())
    best = max(value, key=value.__getitem__)
    assert (
        told("mrr", "hit_rate@5")[0] == f"On the front: {best}, which no other model beats in both"
    )
    assert told("mrr", "list_length") == ("list_length against mrr", "Crosses: intervals at 95%.")


def test_models_stand_in_their_own_order():
    frames = [OLD.with_columns(model=n) for n in (10, 9, 100)]
    rec = pl.concat(frames).rec(truth=SHOP.truth, model="model")

    for chart in (rec.plot.curve("mrr", k=[1]), rec.plot.compare("mrr", baseline=9)):
        domains = [one["scale"]["domain"] for one in channels(chart, "color") if "field" in one]
        assert domains
        assert all(one == ["9", "10", "100"] for one in domains)


def test_eight_models_have_eight_colours_and_eight_shapes():
    rec = rf.rec({f"model {n:02}": OLD for n in range(8)}, truth=SHOP.truth)
    for theme in THEMES:
        chart = rec.plot(theme=theme).curve("mrr", k=[1, 2])
        for channel in ("color", "shape"):
            assert len(set(channels(chart, channel)[0]["scale"]["range"])) == 8


@each_sharply(ASKED, ["curve", "exposure"])
def test_charts_come_light_and_dark(name):
    dark = ASKED[name](REC.plot(theme="dark"))

    assert spec_of(name)["config"]["background"] == "#ffffff"
    assert dark.to_dict()["config"]["background"] == THEMES["dark"].background


def test_charts_are_put_together_without_their_themes():
    charts = [REC.plot.models(one) for one in ("mrr", "ndcg@5")]
    for one in charts:
        one.config = one.autosize = alt.Undefined

    assert len(alt.hconcat(*charts).to_dict()["hconcat"]) == len(charts)


@each_sharply(ASKED, [*OF_FAMILIES, "compare"])
def test_a_chart_is_drawn_without_browser_or_network_as_wide_as_asked(name):
    drawn = vl_convert.vegalite_to_svg(json.dumps(spec_of(name)))

    width, height = map(float, re.match(r'<svg.* width="(\d+)" height="(\d+)"', drawn).groups())
    assert 300 <= width <= WIDTH + 30
    assert height > 60


HARDEST = 'it\'s "x" \\ \n 日本 🙂'


def named_charts(name: str) -> dict[str, Callable[[], Any]]:
    """Return calls of charts of a model, a segment and a column with one name, which stands in them in ways of their own."""
    users = SHOP.users.with_columns(pl.lit(name).alias(name))
    plot = rf.rec({name: OLD, "b": OLD}, truth=SHOP.truth, users=users).plot
    return {
        "segments": lambda: plot.segments("mrr", by=name),
        "compare": lambda: plot.compare("mrr", baseline="b"),
        "tradeoff": lambda: plot.tradeoff("mrr", "recall"),
        "curve": lambda: plot.curve("ndcg", k=[1, 2]),
        "distribution": lambda: plot.distribution("mrr"),
    }


@each_sharply(named_charts("name"), ["segments", "compare", "tradeoff", "distribution"])
def test_models_and_segments_may_have_any_name(name):
    spec = json.dumps(named_charts(HARDEST)[name]().to_dict())

    vl_convert.vegalite_to_svg(spec)
    assert json.dumps(HARDEST) in spec


@each_sharply(sorted({*ASKED} - {"compare", "timeline"}))
def test_charts_of_nothing_say_so(name):
    spec = ASKED[name](nothing().plot).to_dict()

    assert "nothing" in " ".join(spec["title"]["subtitle"])
    assert 'height="Infinity"' not in vl_convert.vegalite_to_svg(json.dumps(spec))


def nothing() -> Any:
    frames = {"truth": SHOP.truth, "users": SHOP.users}
    sides = {side: frame.clear() for side, frame in frames.items()}
    return SHOP.recs.clear().rec(**sides, items=SHOP.items, train=SHOP.truth.clear(), model="model")


def bare_first(n: int = 30) -> Any:
    """Return models of which the first in order has nothing to be drawn: a list of nobody, of no known item."""
    small = shop(n=n)
    first = small.recs.head(1).with_columns(user=9999, item=9999, model=pl.lit("Aaa"))
    recs = pl.concat([small.recs, first], how="vertical_relaxed")
    return replace(small, recs=recs).rec(train=TRAIN)


BARE_FIRST = bare_first()


# a history has the models that were tracked
@LISTS_ARE_MISSING
@each_sharply(sorted({*ASKED} - {"timeline"}))
def test_a_model_keeps_its_colour_where_another_has_nothing_to_be_drawn(name):
    places = dict(zip(("new", "old"), THEMES["light"].models[1:], strict=False))

    for found in colours_of(ASKED[name](BARE_FIRST.plot).to_dict()):
        assert {one: found[one] for one in places} == places


def test_a_segment_that_is_null_is_none_of_those_with_its_name():
    names = ["(none)", "(null)", "x"]
    # segments of as many users each: user % 4
    place = pl.col("user") % 4
    both = {"a": ("a · b", "c"), "b": ("a", "b · c")}
    users = SHOP.users.select(
        "user",
        place=pl.when(place == 1).then(pl.lit("(none)")).when(place > 1).then(pl.lit("x")),
        x=place.replace_strict({0: "a · b", 1: "a", 2: None, 3: None}, return_dtype=pl.String),
        y=place.replace_strict({0: "c", 1: "b · c", 2: None, 3: "z"}, return_dtype=pl.String),
    )
    assert {" · ".join(one) for one in both.values()} == {"a · b · c"}
    rec = rf.rec(dict.fromkeys(names, OLD), truth=SHOP.truth, users=users)

    segments = rec.plot.segments("mrr", by="place").data
    assert sorted(segments["segment"].unique()) == ["((none))", "(none)", "x"]
    assert segments.height == 9
    segments = rec.plot.segments("mrr", by=["x", "y"]).data
    assert segments.height == 12
    assert set(segments["segment"]) == {
        "a · b ∙ c", "a ∙ b · c", "(none) · (none)", "(none) · z",
    }  # fmt: skip


@pytest.mark.slow
def test_charts_of_many_rows_are_small():
    draw = np.random.default_rng(5)
    n_users = 10_000
    lists = pl.DataFrame({"user": np.arange(10 * n_users) // 10, "rank": [*range(1, 11)] * n_users})

    def drawn() -> pl.DataFrame:
        items = (draw.random(10 * n_users) ** 3 * 5000).astype(np.int64)
        return lists.with_columns(item=items).unique(["user", "item"])

    truth = drawn().drop("rank")
    users = pl.DataFrame({"user": range(n_users), "city": draw.integers(0, 3000, n_users)})
    plot = rf.rec({"a": drawn(), "b": drawn()}, truth=truth, users=users).plot
    charts = [plot.curve("ndcg"), plot.segments("ndcg@10", by="city"), plot.exposure(k=10)]
    charts += [plot.distribution("ndcg@10"), plot.hits_by_rank()]

    assert max(len(json.dumps(one.to_dict())) for one in charts) < 200_000


def test_altair_is_imported_when_a_chart_is_drawn_and_its_absence_is_told():
    code = """
        import sys, polars as pl, recframe as rf
        frame = pl.DataFrame({"user": [1], "item": [1], "rank": [1], "relevance": [1]})
        plot = frame.rec.plot(theme="dark")
        assert "altair" not in sys.modules and "numpy" not in sys.modules
        sys.modules["altair"] = None
        try:
            plot.curve("ndcg", k=[1])
        except rf.RecframeError as error:
            assert str(error) == "charts need altair, which is not installed; write: pip install 'recframe[plot]'", error
        else:
            raise SystemExit("no error")
    """
    subprocess.run([sys.executable, "-c", inspect.cleandoc(code)], check=True)  # noqa: S603
