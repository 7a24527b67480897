"""A chart as a notebook stores it: Vega-Lite, and an image for where no script runs and no network is."""

from __future__ import annotations

import base64
import copy
import pickle
import re
import sys
from xml.etree import ElementTree as ET

import altair as alt
import polars as pl
import pytest
import vl_convert

from charts_asked import ASKED, REC, chart_of, each_sharply
from recframe.charts import notebook_display
from recframe.charts.notebook_display import PNG, SVG, VEGA_LITE


def words_of(svg: str) -> str:
    return " ".join(ET.fromstring(svg).itertext())  # noqa: S314  our own


@each_sharply(ASKED)
def test_a_chart_shows_without_a_script_and_without_a_network(name):
    forms, _ = chart_of(name)._repr_mimebundle_()

    assert set(forms) == {VEGA_LITE, SVG, "text/plain"}
    title = forms[VEGA_LITE]["title"]["text"]
    assert all(line in words_of(forms[SVG]) for line in title)
    assert not re.search(r"<script|<foreignObject|href=|url\((?!#)", forms[SVG])
    assert not {"href", "url"} & {name for name, _ in _pairs(forms[VEGA_LITE])}


def _pairs(spec):
    if isinstance(spec, dict):
        for name, one in spec.items():
            yield name, one
            yield from _pairs(one)
    elif isinstance(spec, list):
        for one in spec:
            yield from _pairs(one)


@each_sharply(ASKED)
def test_the_version_of_vega_lite_that_notebooks_have_draws_the_same(name):
    spec = chart_of(name)._repr_mimebundle_()[0][VEGA_LITE]
    newest, *others = reversed(vl_convert.get_vegalite_versions())

    drawn = {
        notebook_display._with_own_ids(vl_convert.vegalite_to_svg(spec, vl_version=version))
        for version in (newest, others[-1], *(one for one in others if one.startswith("5.2")))
    }

    assert len(drawn) == 1


def plain(name="curve"):
    return ASKED[name](REC.plot(theme=None, width=300))


CHANGED = {
    "properties": lambda chart: chart.properties(height=100),
    "interactive": lambda chart: chart.interactive(),
    "resolved": lambda chart: chart.resolve_scale(y="independent"),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda chart: pickle.loads(pickle.dumps(chart)),  # noqa: S301  our own
    "beside": lambda chart: chart | chart,
    "below": lambda chart: chart & alt.Chart(pl.DataFrame({"x": [1]})).mark_point(),
    "above": lambda chart: chart + alt.Chart(pl.DataFrame({"x": [1]})).mark_point(),
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_what_becomes_of_a_chart_is_one_of_altairs_and_shows_the_same_way(change):
    chart = plain()
    changed = change(chart)

    assert isinstance(chart, alt.LayerChart)
    assert isinstance(changed, alt.LayerChart | alt.HConcatChart | alt.VConcatChart)
    # libraries that show charts look at the name of the class
    assert f"{type(changed).__module__}.{type(changed).__name__}".startswith("altair.vegalite.v")
    assert SVG in changed._repr_mimebundle_()[0]
    alt.Chart.from_dict(changed.to_dict())


def test_copies_say_the_same_and_from_dict_gives_altairs_own():
    chart = plain()

    assert copy.deepcopy(chart).to_dict() == chart.to_dict()
    assert pickle.loads(pickle.dumps(chart)).to_dict() == chart.to_dict()  # noqa: S301
    assert type(alt.Chart.from_dict(chart.to_dict())) is alt.LayerChart


def test_a_large_svg_is_a_png_of_two_pixels_for_one(monkeypatch):
    monkeypatch.setattr(notebook_display, "LARGEST_SVG", 1000)
    forms, about = plain()._repr_mimebundle_()
    image = base64.b64decode(forms[PNG])

    assert set(forms) == {VEGA_LITE, PNG, "text/plain"}
    width, height = (int.from_bytes(image[at : at + 4], "big") for at in (16, 20))
    assert (width / 2, height / 2) == pytest.approx(tuple(about[PNG].values()), abs=1)


def test_without_vl_convert_or_with_another_renderer_a_chart_shows_as_altair_does(monkeypatch):
    chart = plain()
    with alt.renderers.enable("html"):
        assert set(chart._repr_mimebundle_()) == {"text/html"}
    with alt.renderers.set_embed_options(actions=False):
        assert "text/html" in chart._repr_mimebundle_()

    monkeypatch.setitem(sys.modules, "vl_convert", None)

    assert set(chart._repr_mimebundle_()) == {"text/html"}
    assert alt.renderers.active == "default"


def test_ids_within_an_image_are_its_own_and_the_same_each_time():
    first, second = (plain("overlap")._repr_mimebundle_()[0][SVG] for _ in "ab")
    other = ASKED["overlap"](REC.plot(theme="dark", width=300))._repr_mimebundle_()[0][SVG]
    ids = [set(re.findall(r'id="(\w+-\d+)"', svg)) for svg in (first, second, other)]

    assert first == second
    assert ids[0]
    assert not ids[0] & ids[2]
    assert {*re.findall(r"url\(#(.*?)\)", first)} <= ids[0]


def test_rec_plot_lists_its_charts():
    lines = repr(REC.plot).splitlines()

    assert [line.split()[0] for line in lines[1:]] == list(ASKED)
    assert "  segments                a metric in each segment, the best first" in lines
    html = REC.plot._repr_html_()
    assert html.count("<tr>") == len(ASKED)
    assert "interpolated precision over recall" in html
