"""How charts look: titles, units, tooltips and colours, the same in all of them, and what they are saved as."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl
import pytest
import vl_convert

import recframe as rf
from charts_asked import ASKED, OF_FAMILIES, REC, RUNS, SHOP, WIDTH, channels, each_sharply, spec_of
from recframe.api.plots import CHARTS
from recframe.charts.themes import THEMES
from recframe.errors import CallError

# a cut-off above all lists is named in charts and tables, too
pytestmark = pytest.mark.filterwarnings("ignore:short_lists")

OF_MODELS = {"compare"}
each_chart = pytest.mark.parametrize("name", ASKED)


def test_every_chart_is_asked_for_here():
    assert set(CHARTS) == set(ASKED)


@each_chart
def test_a_chart_has_a_title_and_says_below_it_what_is_drawn(name):
    title = spec_of(name)["title"]

    assert " ".join(title["text"])
    assert " ".join(title["subtitle"]).endswith(".")


@each_chart
def test_every_axis_of_numbers_has_a_title(name):
    axes = [one for one in channels(spec_of(name), "x", "y") if one.get("type") == "quantitative"]

    assert axes
    assert all(one["title"] for one in axes)


def test_axes_of_metrics_have_their_better_end():
    chart = spec_of("tradeoff")
    titles = {" ".join(one["title"]) for one in channels(chart, "x", "y") if one.get("title")}

    assert titles == {
        "ndcg@5 (higher is better)",
        "novelty@5 (higher is better)",
    }


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
    frames = [
        SHOP.recs.filter(pl.col("model") == "old").with_columns(model=n) for n in (10, 9, 100)
    ]
    rec = pl.concat(frames).rec(truth=SHOP.truth, model="model")

    for chart in (rec.plot.curve("mrr", k=[1]), rec.plot.compare("mrr", baseline=9)):
        domains = [one["scale"]["domain"] for one in channels(chart, "color") if "field" in one]
        assert domains
        assert all(one == ["9", "10", "100"] for one in domains)


def test_eight_models_have_eight_colours_and_eight_shapes():
    old = SHOP.recs.filter(pl.col("model") == "old").drop("model")
    rec = rf.rec({f"model {n:02}": old for n in range(8)}, truth=SHOP.truth)
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
    old = SHOP.recs.filter(model="old").drop("model")
    users = SHOP.users.with_columns(pl.lit(name).alias(name))
    plot = rf.rec({name: old, "b": old}, truth=SHOP.truth, users=users).plot
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


@each_sharply(ASKED)
def test_charts_of_nothing_say_so(name):
    if name == "compare":
        with pytest.raises(rf.RecframeError, match="no two models"):
            ASKED[name](nothing().plot)
        return
    if name == "timeline":
        with pytest.raises(rf.RecframeError, match="it has no numbers"):
            RUNS.head(0).rec.plot.timeline("ndcg@10")
        return
    chart = ASKED[name](nothing().plot)
    spec = chart.to_dict()

    assert "nothing" in " ".join(spec["title"]["subtitle"])
    assert 'height="Infinity"' not in vl_convert.vegalite_to_svg(json.dumps(spec))


def nothing() -> Any:
    frames = {"truth": SHOP.truth, "users": SHOP.users}
    sides = {side: frame.clear() for side, frame in frames.items()}
    return SHOP.recs.clear().rec(**sides, items=SHOP.items, train=SHOP.truth.clear(), model="model")


# What is written wrong


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda plot: plot.curve("ndcg@10"), r"write|curve\('ndcg', k=range\(1, 51\)\)"),
        (
            lambda plot: plot.curve("ndcg", k=None),
            r"over cut-offs: curve\('ndcg', k=range\(1, 51\)\)",
        ),
        (lambda plot: plot.segments("ndcg@10"), r"such as by='country'"),
        (lambda plot: plot.distribution("coverage@10"), "no user has a value of it"),
        (lambda plot: plot.hits_by_rank(k=0), "k takes a whole number from 1 up"),
        (lambda plot: plot(theme="blue"), "theme takes 'light' or 'dark'"),
        (lambda plot: plot(width=10), "width takes a whole number from 240 up"),
    ],
)
def test_what_is_asked_wrong_is_told(ask, words):
    with pytest.raises(rf.RecframeError, match=words):
        ask(REC.plot)


def test_an_option_or_a_chart_that_there_is_not_has_the_closest_one_named():
    with pytest.raises(
        CallError, match=r"rec.plot.curve\(\) has no option 'levels'; did you mean 'level'"
    ):
        REC.plot.curve("ndcg", levels=0.9)
    with pytest.raises(AttributeError, match="no chart 'curves'; did you mean 'curve'"):
        REC.plot.curves  # noqa: B018


@pytest.mark.parametrize("name", sorted(set(ASKED) - {"curve", "segments", "compare", "timeline"}))
def test_charts_without_segments_say_so_where_some_are_bound(name):
    with pytest.raises(rf.RecframeError, match=rf"plot.{name}\(\) draws no segments, and by='age'"):
        ASKED[name](REC.group_by("age").plot)


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
    lines = "\n".join(line.removeprefix("        ") for line in code.splitlines())
    subprocess.run([sys.executable, "-c", lines], check=True)  # noqa: S603
