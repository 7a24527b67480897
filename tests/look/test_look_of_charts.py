"""How charts look: titles, units, tooltips and colours, the same in all of them, and what they are saved as."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import altair as alt
import polars as pl
import pytest

import recframe as rf
from planted_shop import shop
from recframe.errors import CallError
from recframe.look.themes import THEMES
from recframe.namespace.plots import CHARTS
from runs_over_time import history

SHOP = shop(n=60)
SCORED = SHOP.recs.with_columns(score=-pl.col("rank").cast(pl.Float64))
REC = SCORED.rec(
    truth=SHOP.truth,
    users=SHOP.users,
    items=SHOP.items,
    train=pl.DataFrame({"user": [1, 2, 3], "item": [0, 0, 1]}),
    model="model",
)
RUNS = history(runs=30, models=("new", "old"), drop={20: -0.05, 25: 0.05})


def of_history(plot: Any) -> Any:
    """Ask for the chart of a history, in the look of another chart."""
    look = plot._look
    runs = RUNS if plot._of._context.model else history()
    return runs.rec.plot(theme=look.theme, width=look.width).timeline("ndcg@10")


ASKED: dict[str, Callable[[Any], Any]] = {
    "curve": lambda plot: plot.curve("ndcg", k=[1, 2, 5]),
    "gains": lambda plot: plot.gains(k=[1, 2, 5]),
    "hits_by_rank": lambda plot: plot.hits_by_rank(k=5),
    "precision_recall": lambda plot: plot.precision_recall(k=[1, 2, 5]),
    "interpolated_precision": lambda plot: plot.interpolated_precision(),
    "segments": lambda plot: plot.segments("ndcg@5", by="country"),
    "distribution": lambda plot: plot.distribution("ndcg@5"),
    "compare": lambda plot: plot.compare("ndcg@5", baseline="old", by="age", margin=0.02),
    "tradeoff": lambda plot: plot.tradeoff("ndcg@5", "novelty@5"),
    "exposure": lambda plot: plot.exposure(k=5),
    "scores": lambda plot: plot.scores(bins=5),
    "overlap": lambda plot: plot.overlap("rbo@5"),
    "audit": lambda plot: plot.audit(),
    "timeline": of_history,
}
NO_MODELS = {"scores", "overlap", "audit"}
"""Whose colours tell other things apart than models."""
OF_MODELS = {"compare", "overlap"}
each_chart = pytest.mark.parametrize("name", ASKED)
SCRIPT = "</script><script>alert(1)</script>"


def parts(spec: Any) -> Iterator[dict[str, Any]]:
    """Walk a specification, but for its data."""
    if isinstance(spec, dict):
        yield spec
        for name, one in spec.items():
            if name not in {"datasets", "data"}:
                yield from parts(one)
    elif isinstance(spec, list):
        for one in spec:
            yield from parts(one)


def encodings(chart: Any) -> list[dict[str, Any]]:
    return [one["encoding"] for one in parts(chart.to_dict()) if "encoding" in one]


def channels(chart: Any, *names: str) -> list[dict[str, Any]]:
    return [one[name] for one in encodings(chart) for name in names if name in one]


def test_every_chart_is_asked_for_here():
    assert set(CHARTS) == set(ASKED)


@each_chart
def test_a_chart_has_a_title_and_says_below_it_what_is_drawn(name):
    title = ASKED[name](REC.plot).to_dict()["title"]

    assert " ".join(title["text"])
    assert " ".join(title["subtitle"]).endswith(".")


@each_chart
def test_every_axis_of_numbers_has_a_title_and_every_mark_a_tooltip(name):
    chart = ASKED[name](REC.plot)

    axes = [one for one in channels(chart, "x", "y") if one.get("type") == "quantitative"]
    # layers share an axis, which the first one names
    assert all(one["title"] for one in axes if "title" in one)
    assert any("title" in one for one in axes) or name == "overlap"
    tooltips = channels(chart, "tooltip")
    assert tooltips
    assert all(field["title"] for one in tooltips for field in one)


def test_axes_of_metrics_have_their_range_and_their_better_end():
    chart = REC.plot.tradeoff("ndcg@5", "novelty@5")
    titles = {" ".join(one["title"]) for one in channels(chart, "x", "y") if one.get("title")}

    assert titles == {
        "ndcg@5 (0 to 1, higher is better)",
        "novelty@5 (from 0 up, higher is better)",
    }


@pytest.mark.parametrize("name", set(ASKED) - NO_MODELS)
def test_a_model_has_the_same_colour_in_all_charts(name):
    colours = THEMES["light"].models
    scales = [
        one["scale"]
        for one in channels(ASKED[name](REC.plot), "color", "fill")
        if one.get("field") == "model"
    ]

    assert scales
    for one in scales:
        found = dict(zip(one["domain"], one["range"], strict=True))
        assert found.pop("train", None) in {None, THEMES["light"].ink}
        assert found == {"new": colours[0], "old": colours[1]}


def test_models_stand_in_their_own_order():
    frames = [
        SHOP.recs.filter(pl.col("model") == "old").with_columns(model=n) for n in (10, 9, 100)
    ]
    rec = pl.concat(frames).rec(truth=SHOP.truth, model="model")

    for chart in (rec.plot.curve("mrr", k=[1]), rec.plot.compare("mrr", baseline=9)):
        domains = [one["scale"]["domain"] for one in channels(chart, "color") if "field" in one]
        assert domains
        assert all(one == ["9", "10", "100"] for one in domains)


def test_more_models_than_colours_are_told_apart_by_shapes_and_dashes():
    old = SHOP.recs.filter(pl.col("model") == "old").drop("model")
    rec = rf.rec({f"model {n:02}": old for n in range(10)}, truth=SHOP.truth)
    chart = rec.plot.curve("mrr", k=[1, 2])

    looks = []
    for name in ("color", "strokeDash"):
        scale = next(one["scale"] for one in channels(chart, name) if "field" in one)
        looks.append([json.dumps(one) for one in scale["range"]])
    assert len(set(zip(*looks, strict=True))) == 10


@each_chart
def test_charts_come_light_and_dark_and_bare(name):
    light, dark, bare = (ASKED[name](REC.plot(theme=one)) for one in ("light", "dark", None))

    assert light.to_dict()["config"]["background"] == "#ffffff"
    assert dark.to_dict()["config"]["background"] == THEMES["dark"].background
    assert "background" not in bare.to_dict().get("config", {})
    assert bare.config is alt.Undefined


def test_bare_charts_are_put_together():
    plot = REC.plot(theme=None)

    both = plot.curve("ndcg", k=[1, 2]) | plot.exposure()
    assert len(both.to_dict()["hconcat"]) == 2


def test_a_chart_is_restyled_as_any_of_altair():
    chart = REC.plot.curve("ndcg", k=[1, 2]).properties(title="Ours", height=99)

    assert chart.to_dict()["title"] == "Ours"
    assert chart.to_dict()["height"] == 99


@each_chart
def test_a_chart_is_saved_without_browser_or_network(name, tmp_path):
    chart = ASKED[name](REC.plot(width=400))
    chart.save(tmp_path / "chart.svg")
    chart.save(tmp_path / "chart.png")

    assert (tmp_path / "chart.svg").read_text(encoding="utf-8").startswith("<svg")
    image = (tmp_path / "chart.png").read_bytes()
    width, height = struct.unpack(">II", image[16:24])
    assert image.startswith(b"\x89PNG")
    assert 300 <= width <= 430
    assert height > 60


def test_a_page_loads_nothing_and_names_end_no_script_of_it(tmp_path):
    old = SHOP.recs.drop("model")
    truth = SHOP.truth.with_columns(place=pl.lit(f"<!--{SCRIPT}"))
    rec = rf.rec({SCRIPT: old, "b": old}, truth=truth)
    for chart in (
        rec.plot.curve("ndcg", k=[1, 2]),
        rec.plot.compare("ndcg@5", baseline=SCRIPT),
        rec.plot.segments("ndcg@5", by="place"),
        rec.plot.overlap("rbo@5"),
    ):
        chart.save(tmp_path / "chart.html", inline=True)
        page = (tmp_path / "chart.html").read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|link)[^>]+(?:src|href)=", page)
        assert "alert(1)" in page
        assert "</script><script>" not in page.replace("</script>\n", "")
        assert "<!--<" not in page


HARDEST = 'it\'s "x" \\ \n 日本 🙂'
OTHERS = [pytest.param(one, marks=pytest.mark.slow) for one in ("^.*$", "a.b[0]", " ", "*")]


@pytest.mark.parametrize("name", [HARDEST, *OTHERS])
def test_models_and_segments_may_have_any_name(name, tmp_path):
    old = SHOP.recs.drop("model")
    old = old.with_columns(score=-pl.col("rank").cast(pl.Float64))
    users = SHOP.users.with_columns(pl.lit(name).alias(name))
    rec = rf.rec({name: old, "b": old}, truth=SHOP.truth, users=users, rank="rank")

    for chart in (
        rec.plot.curve("ndcg", k=[1, 2]),
        rec.plot.segments("mrr", by=name),
        rec.plot.distribution("mrr"),
        rec.plot.compare("mrr", baseline="b"),
        rec.plot.tradeoff("mrr", "recall"),
        rec.plot.overlap("rbo@5"),
        rec.plot.scores(),
    ):
        chart.save(tmp_path / "chart.svg")
        assert json.dumps(name) in json.dumps(chart.to_dict())


@each_chart
def test_charts_of_nothing_say_so(name, tmp_path):
    if name == "compare":
        with pytest.raises(rf.RecframeError, match="no two models"):
            ASKED[name](nothing().plot)
        return
    if name == "timeline":
        with pytest.raises(rf.RecframeError, match="it has no numbers"):
            RUNS.head(0).rec.plot.timeline("ndcg@10")
        return
    chart = ASKED[name](nothing().plot)

    told = " ".join(chart.to_dict()["title"]["subtitle"])
    assert "nothing" in told or "No row" in told
    chart.save(tmp_path / "chart.png")


def nothing() -> Any:
    frames = {"truth": SHOP.truth, "users": SHOP.users}
    sides = {side: frame.clear() for side, frame in frames.items()}
    return SCORED.clear().rec(**sides, items=SHOP.items, train=SHOP.truth.clear(), model="model")


@pytest.mark.parametrize("name", set(ASKED) - OF_MODELS)
def test_without_models_there_is_no_legend_of_them(name):
    one = SCORED.filter(pl.col("model") == "old").drop("model")
    rec = one.rec(truth=SHOP.truth, users=SHOP.users, items=SHOP.items, train=SHOP.truth)
    chart = ASKED[name](rec.plot)

    shown = [one for one in channels(chart, "color") if one.get("field") == "model"]
    assert all(not one.get("legend") or "train" in one["scale"]["domain"] for one in shown)
    told = [field["title"] for one in channels(chart, "tooltip") for field in one]
    assert "model" not in told


# What is written wrong


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda plot: plot.curve("ndcg@10"), r"write|curve\('ndcg', k=range\(1, 51\)\)"),
        (lambda plot: plot.curve("ndcg", k=None), r"over cut-offs: k=range\(1, 51\)"),
        (lambda plot: plot.segments("ndcg@10"), r"segments\(..., by='country'\)"),
        (lambda plot: plot.distribution("coverage@10"), "no user has a value of it"),
        (lambda plot: plot.tradeoff("mrr", "rr"), "takes two metrics, and found 'mrr' twice"),
        (lambda plot: plot.overlap("ndcg@10"), "holds lists against no reference"),
        (lambda plot: plot.hits_by_rank(k=0), "k takes a whole number from 1 up"),
        (lambda plot: plot(theme="blue"), "theme takes 'light', 'dark' or None"),
        (lambda plot: plot(width=10), "pixels from 240 up"),
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


@pytest.mark.parametrize("name", set(ASKED) - {"segments", "compare", "audit", "timeline"})
def test_charts_without_segments_say_so_where_some_are_bound(name):
    with pytest.raises(rf.RecframeError, match=rf"plot.{name}\(\) draws no segments, and by='age'"):
        ASKED[name](REC.group_by("age").plot)


def test_without_models_there_is_nothing_to_overlap():
    with pytest.raises(rf.RecframeError, match=r"rec\(model='model'\)"):
        SHOP.recs.drop("model").rec(truth=SHOP.truth).plot.overlap()


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
