"""What charts say and point at: findings in titles, alternative texts, tooltips, one order, and models that stand out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

import recframe as rf
from charts_asked import ASKED, channels, colours_of, each_sharply, spec_of
from recframe.charts.chart_words import leading, written
from recframe.charts.long_format import Intervals, models_of
from recframe.charts.segment_rows import ends_of
from recframe.charts.themes import THEMES
from recframe.metrics.language import registry

USERS = 40


def lists(hits: Mapping[str, Mapping[str, int]]) -> Any:
    """Return models that put the only relevant item first for so many of the 40 users of each segment, the first ones."""
    segments = list(next(iter(hits.values())))
    users = pl.DataFrame({"user": range(USERS * len(segments))})
    place = pl.col("user") % USERS
    segment = pl.Series(segments)[users["user"] // USERS]
    users = users.with_columns(segment=segment)
    frames = {
        model: users.select("user", item=pl.when(place < most).then(1).otherwise(2), rank=1)
        for model, counts in hits.items()
        for most in [users["segment"].replace_strict(counts, return_dtype=pl.Int64)]
    }
    return rf.rec(frames, truth=users.select("user", item=1), users=users)


TWO = lists({"a": {"x": 30, "y": 4}, "b": {"x": 10, "y": 4}, "c": {"x": 2, "y": 1}})


def title(chart: Any) -> str:
    text = chart.to_dict()["title"]["text"]
    return " ".join(text)


def subtitle(chart: Any) -> str:
    return " ".join(chart.to_dict()["title"]["subtitle"])


@pytest.mark.parametrize(
    ("best", "said"),
    [
        (["a", "a", "a"], "a has the best m at every k"),
        (["a", "b", "a"], "a has the best m at 2 of 3 cut-offs"),
        # at the last cut-off two have it
        (["a", "a", ""], "a has the best m at 2 of 3 cut-offs"),
        (["a", "b", ""], ""),
        (["", "", ""], ""),
    ],
)
def test_a_title_says_where_a_model_is_best(best: Sequence[str], said: str):
    rows = [
        (k, model, 1.0 + (model == name))
        for k, name in enumerate(best, start=1)
        for model in ("a", "b")
    ]
    data = pl.DataFrame(rows, ["k", "model", "value"], orient="row")
    words = "k", "best m", "at every k", "at {} of {} cut-offs"

    assert leading(data, *words) == said
    assert leading(data.with_columns(-pl.col("value")), *words, lower=True) == said
    assert leading(data.clear(), *words) == ""


def test_a_comparison_claims_what_its_verdicts_show():
    plot = TWO.plot
    verdicts = TWO.compare("hit_rate@1", baseline="c", by="segment").select(
        "segment", "model", "verdict"
    )

    assert verdicts.filter(model="a").sort("segment")["verdict"].to_list() == ["better", "open"]
    by_segment = plot.compare("hit_rate@1", baseline="c", by="segment")
    assert title(by_segment) == "a is better than c in 1 of 2 segments"
    assert subtitle(by_segment).startswith("hit_rate@1: differences from c, by segment. ")
    assert title(plot.compare("hit_rate@1", baseline="c")) == "a and b are better than c"
    assert title(plot.compare("hit_rate@1", baseline="a")) == "b and c are worse than a"
    only_y = lists({"a": {"y": 4}, "c": {"y": 1}}).plot.compare("hit_rate@1", baseline="c")
    assert title(only_y) == "No model is shown to differ from c"


def test_segments_say_who_is_best_in_them_by_value():
    # in y two have the same value
    assert title(TWO.plot.segments("hit_rate@1", by="segment")) == "hit_rate@1 by segment"
    more = lists({"a": {"x": 3, "y": 4, "z": 1}, "b": {"x": 2, "y": 2, "z": 9}})
    chart = more.plot.segments("hit_rate@1", by="segment")
    assert title(chart) == "a has the best hit_rate@1 in 2 of 3 segments"
    assert subtitle(chart).startswith("hit_rate@1 by segment. ")


# For those who do not see it, and those who point at it


@each_sharply(ASKED, ["compare", "curve", "segments", "timeline"])
def test_tooltips_have_intervals_in_one_field_and_no_nulls(name):
    spec = spec_of(name)
    rows = [row for rows in spec["datasets"].values() for row in rows]
    fields = [field for one in channels(spec, "tooltip") for field in one]

    titles = {field["title"] for field in fields}
    assert not titles & {"low", "high", "row", "n_users", "place"}
    for field in fields:
        shown = [row[field["field"]] for row in rows if field["field"] in row]
        assert shown
        assert None not in shown


def test_an_interval_and_a_small_p_value_are_written_in_words():
    (row,) = TWO.plot.compare("hit_rate@1", baseline="c").data.filter(model="a").to_dicts()
    fields = channels(TWO.plot.compare("hit_rate@1", baseline="c"), "tooltip")[0]
    texts = {field["title"]: row[field["field"]] for field in fields}

    # half of it is some 0.11 wide, of which two decimals show two digits
    assert 0.095 < (row["high"] - row["low"]) / 2 < 0.995
    assert texts["95% interval"] == f"{row['low']:+.2f} to {row['high']:+.2f}"
    assert texts["p, corrected"] == "< 0.001"


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [(0.25, ".4f", "0.250"), (0.25, "+.4f", "+0.250"), (-0.25, "+.2%", "\N{MINUS SIGN}25.00%"), (1200, ",d", "1,200")],
)  # fmt: skip
def test_numbers_are_written_as_in_tables(value, kind, text):
    assert written(value, kind) == text


# One order


def test_segments_are_in_their_own_order_or_the_best_first():
    counts = {"a": {"mid": 9, "low": 1, "high": 30}, "b": {"mid": 8, "low": 2, "high": 3}}
    rec = lists(counts)
    own = pl.Enum(["low", "mid", "high"])

    def drawn(frames: Any) -> list[list[str]]:
        plot = frames.plot
        charts = [
            plot.segments("hit_rate@1", by="segment"),
            plot.compare("hit_rate@1", baseline="b", by="segment"),
        ]
        facet = plot.curve("hit_rate", k=[1], by="segment").to_dict()["facet"]["sort"]
        return [*(channels(one, "y")[0]["sort"] for one in charts), facet]

    by_value = ["high (40)", "mid (40)", "low (40)"]
    assert drawn(rec) == [by_value] * 3
    users = rec._inputs(None, []).users.collect()
    users = pl.DataFrame({"user": users["user"]}).with_columns(
        segment=pl.Series(["mid", "low", "high"], dtype=own)[users["user"] // USERS]
    )
    assert drawn(rec(users=users)) == [by_value[::-1]] * 3


def test_intervals_of_few_users_do_not_stretch_the_axis():
    data = pl.DataFrame(
        {
            "value": [0.3, 0.4, 0.5, 0.9],
            "low": [0.25, 0.35, 0.0, None],
            "high": [0.35, 0.45, 1.0, None],
            "n_users": [900, 800, 2, 1],
        }
    )

    # from the lowest end of the others to the highest value
    assert ends_of(data) == [0.25, 0.9]
    assert ends_of(data, zero=True) == [0.0, 0.9]
    # where all are small, or none is, each of them counts
    assert ends_of(data.with_columns(n_users=2)) is None
    assert ends_of(data.with_columns(n_users=20)) is None


# Many models


MANY = lists({f"m{place:02}": {"x": place} for place in range(12)})


def test_of_many_models_the_best_two_and_the_baseline_have_a_colour():
    theme = THEMES["light"]
    for chart, coloured in (
        (MANY.plot.curve("hit_rate", k=[1]), ["m11", "m10"]),
        (MANY.plot.compare("hit_rate@1", baseline="m03"), ["m11", "m10", "m03"]),
        (MANY.plot.distribution("hit_rate@1"), ["m11", "m10"]),
    ):
        found = colours_of(chart.to_dict())[0]
        grey = {name for name, colour in found.items() if colour == theme.others}
        assert {f"m{place:02}" for place in range(12)} - grey == {*coloured}
        assert f"grey: {12 - len(coloured)} others" in subtitle(chart)
    legends = [one["legend"]["values"] for one in channels(MANY.plot.curve("mrr", k=[1]), "color")]
    assert legends
    assert all(one == ["m11", "m10", "10 others"] for one in legends)
    marks = [one["mark"]["type"] for one in MANY.plot.curve("mrr", k=[1, 2]).to_dict()["layer"]]
    assert "area" not in marks


def test_models_that_are_named_stand_out_in_the_colour_that_they_have():
    chart = TWO.plot(highlight="b").curve("hit_rate", k=[1])
    theme = THEMES["light"]

    (colours,) = {tuple(one.items()) for one in colours_of(chart.to_dict())}
    assert dict(colours) == {
        "a": theme.others,
        "b": theme.models[1],
        "c": theme.others,
        "2 others": theme.others,
    }
    with pytest.raises(rf.RecframeError, match=r"is no model. There are a, b and c"):
        TWO.plot(highlight=["bb"]).curve("hit_rate", k=[1])


def test_a_pair_alone_has_the_colours_of_charts_of_all_models():
    result = MANY.compare("hit_rate@1", baseline="m03").filter(model="m07")
    plot, theme = MANY.plot(highlight=["m07", "m11"]), THEMES["light"]
    chart = plot._differences(
        result,
        registry.asked(["hit_rate@1"], None),
        Intervals(0.95),
        baseline="m03",
        margin=None,
        models=models_of(MANY),
    )

    assert colours_of(chart.to_dict())[0]["m07"] == theme.models[0]
    assert "grey" not in subtitle(chart).lower()
