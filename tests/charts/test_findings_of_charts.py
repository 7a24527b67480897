"""What charts say and point at: findings in titles, alternative texts, tooltips, one order, and models that stand out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

import recframe as rf
from charts_asked import ASKED, channels, colours_of, each_sharply, parts, spec_of
from recframe.charts.formatting import MINUS, NONE, number
from recframe.charts.long_format import named
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


def test_a_comparison_claims_what_its_verdicts_show():
    plot = TWO.plot
    verdicts = TWO.compare("hit_rate@1", baseline="c", by="segment").select(
        "segment", "model", "verdict"
    )

    assert verdicts.filter(model="a").sort("segment")["verdict"].to_list() == ["better", "open"]
    by_segment = plot.compare("hit_rate@1", baseline="c", by="segment")
    assert title(by_segment) == "a is better than c in 1 of 2 segments, by segment"
    assert subtitle(by_segment).startswith("hit_rate@1: differences from c. ")
    assert title(plot.compare("hit_rate@1", baseline="c")) == "a and b are better than c"
    assert title(plot.compare("hit_rate@1", baseline="a")) == "b and c are worse than a"
    assert title(plot.compare("hit_rate@1", baseline="b")) == "a is better than b, c is worse"
    only_y = lists({"a": {"y": 4}, "c": {"y": 1}}).plot.compare("hit_rate@1", baseline="c")
    assert title(only_y) == "No model is shown to differ from c"


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ((3, 4, 5), (2, 2, 2), "a has the best {} in all 3 segments, by segment"),
        ((3, 4, 1), (2, 2, 9), "a has the best {} in 2 of 3 segments, by segment"),
        # in the last segment two have it
        ((3, 4, 1), (2, 2, 1), "a has the best {} in 2 of 3 segments, by segment"),
        ((3, 1, 1), (2, 2, 1), "{}, by segment"),
        ((1, 1, 1), (1, 1, 1), "{}, by segment"),
    ],
)
def test_segments_say_who_is_best_in_them_by_value(a, b, said):
    plot = lists(
        {"a": dict(zip("xyz", a, strict=True)), "b": dict(zip("xyz", b, strict=True))}
    ).plot

    chart = plot.segments("hit_rate@1", by="segment")
    assert title(chart) == said.format("hit_rate@1")
    assert subtitle(chart).startswith("hit_rate@1. " if " best " in said else "Means over ")


def test_the_best_of_a_metric_is_the_lowest_where_lower_is_better():
    one = pl.DataFrame({"user": range(40), "item": 1, "x": [user % 2 for user in range(40)]})
    rec = rf.rec({name: one.with_columns(rank=rank) for name, rank in (("a", 1), ("b", 2))}, one)

    chart = rec.plot.segments("first_rank", by="x")
    assert title(chart) == "a has the best first_rank in all 2 segments, by x"


@each_sharply(ASKED, ["compare", "curve", "segments", "timeline"])
def test_each_mark_that_is_pointed_at_has_a_sentence_which_is_its_label_too(name):
    spec = spec_of(name)
    rows = [row for rows in spec["datasets"].values() for row in rows]

    said = [
        (one["tooltip"]["field"], one["description"]["field"])
        for one in parts_with(spec, "tooltip")
    ]
    assert {*said} == {("words", "words")}
    assert all(row["words"] and "None" not in row["words"] for row in rows)
    assert all(str(row["model"]) in row["words"] for row in rows)


def parts_with(spec: Any, name: str) -> list[dict[str, Any]]:
    return [one["encoding"] for one in parts(spec) if name in one.get("encoding", {})]


def test_a_difference_is_told_with_its_interval_and_verdict_and_read_aloud():
    chart = TWO.plot.compare("hit_rate@1", baseline="c")
    row, _ = chart.data.to_dicts()

    # half of the interval is some 0.11 wide, of which two decimals show two digits
    assert 0.095 < (row["high"] - row["low"]) / 2 < 0.995
    said = (
        f"a, compared with c, in hit_rate@1, {row['difference']:+.2f} ({row['low']:+.2f} to {row['high']:+.2f}), "
        "10 x of its value, better, p < 0.001, 80 users"
    )
    plain = [text.replace("\u2060", "") for text in (row["words"], chart.to_dict()["description"])]
    assert plain[0] == said.replace("10 x", f"{1 + row['relative']:,.0f} x")
    assert plain[1].startswith("a and b are better than c. hit_rate@1: differences from c. ")
    assert plain[0] in plain[1]


@pytest.mark.parametrize(
    ("value", "ends", "text"),
    [
        # two digits of half the width, .0081, 25 and .002
        (0.0382, (0.0301, 0.0463), "0.0382"),
        (163.2, (140.0, 190.0), "163"),
        (-0.0001, (-0.0001, 0.004), "\N{MINUS SIGN}0.0001"),
        # one more where an end would read 0, which keeps its sign
        (0.00001, (0.00001, 0.004), "0.00001"),
        (0.004, (0.00001, 0.004), "0.00400"),
        (-0.0000001, (-0.0000001, 0.004), "\N{MINUS SIGN}0.00000"),
        (0.0000001, (0.0000001, 0.004), "+0.00000"),
        # but for what is 0
        (0.0, (0.0, 0.004), "0.0000"),
        (-1e-17, (-1e-17, 0.004), "0.0000"),
        (None, (), NONE),
        *((value, (), text) for value, text in (
            (0.25, "0.250"), (0.00042, "0.00042"), (1e-5, "0.000010"), (1e-9, "0.000"),
            (-0.0, "0.000"), (12.345, "12.3"), (1234.5, "1,234"), (-0.25, f"{MINUS}0.250"),
        )),
    ],
)  # fmt: skip
def test_numbers_have_the_digits_of_their_interval_and_keep_their_sign(value, ends, text):
    assert number(value, ends) == text


def test_segments_are_in_one_order_the_largest_first_in_each_chart_alike():
    plot = lists({"a": {"mid": 9, "low": 1, "high": 30}, "b": {"mid": 8, "low": 2, "high": 3}}).plot

    # of equal ones by name, whatever the values and the differences
    for chart in (
        plot.segments("hit_rate@1", by="segment"),
        plot.compare("hit_rate@1", baseline="b", by="segment"),
    ):
        assert channels(chart, "y")[0]["scale"]["domain"] == ["high (40)", "low (40)", "mid (40)"]


MANY = lists({f"m{place:02}": {"x": place} for place in range(12)})


def test_of_many_models_the_best_two_have_a_colour():
    theme = THEMES["light"]
    for chart, coloured in (
        (MANY.plot.curve("hit_rate", k=[1]), ["m11", "m10"]),
        (MANY.plot.compare("hit_rate@1", baseline="m03"), ["m11", "m10"]),
        (MANY.plot.distribution("hit_rate@1"), ["m11", "m10"]),
    ):
        found = colours_of(chart.to_dict())[0]
        grey = {name for name, colour in found.items() if colour == theme.others}
        assert {f"m{place:02}" for place in range(12)} - grey == {*coloured}
        assert f"Grey: {12 - len(coloured)} other models." in subtitle(chart)
    curve = MANY.plot.curve("mrr", k=[1])
    assert {tuple(one["legend"]["values"]) for one in channels(curve, "color")} == {("m11", "m10")}


def test_models_that_are_named_stand_out_in_the_colour_that_they_have():
    chart = TWO.plot(highlight="b").curve("hit_rate", k=[1])
    theme = THEMES["light"]

    (colours,) = {tuple(one.items()) for one in colours_of(chart.to_dict())}
    assert dict(colours) == {"a": theme.others, "b": theme.models[1], "c": theme.others}


def test_a_pair_alone_has_the_colours_of_charts_of_all_models():
    result = named(MANY, MANY.compare("hit_rate@1", baseline="m03").filter(model="m07"))
    plot, theme = MANY.plot(highlight=["m07", "m11"]), THEMES["light"]
    metric = registry.parse("hit_rate@1")
    chart = plot._differences(result, metric, "m03", None)

    assert colours_of(chart.to_dict())[0]["m07"] == theme.models[0]
