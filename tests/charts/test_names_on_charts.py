"""Names and colours on charts: one model has one colour, whatever there is to draw, and no name is lost in another."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from charts_asked import ASKED, SHOP, TRAIN, colours_of, each_sharply, spec_of
from compared_lists import LISTS_ARE_MISSING
from planted_shop import shop
from recframe.charts.themes import THEMES


@pytest.mark.parametrize("name", sorted(ASKED))
def test_a_model_has_the_same_colour_in_all_charts(name):
    colours = THEMES["light"].models

    scales = colours_of(spec_of(name))
    assert scales
    for found in scales:
        assert found == {"new": colours[0], "old": colours[1]}


def bare_first(n: int = 30) -> Any:
    """Return models of which the first in order has nothing to be drawn: a list of nobody, of no known item."""
    small = shop(n=n)
    lists = small.recs
    nobody = {"user": 9999, "item": 9999, "model": "Aaa"}
    first = lists.head(1).with_columns(pl.lit(one).alias(name) for name, one in nobody.items())
    options = {"truth": small.truth, "train": TRAIN, "users": small.users, "items": small.items}
    return pl.concat([lists, first], how="vertical_relaxed").rec(**options, model="model")


BARE_FIRST = bare_first()


# a history has the models that were tracked
@LISTS_ARE_MISSING
@each_sharply(sorted(set(ASKED) - {"timeline"}))
def test_a_model_keeps_its_colour_where_another_has_nothing_to_be_drawn(name):
    places = dict(zip(("new", "old"), THEMES["light"].models[1:], strict=False))

    for found in colours_of(ASKED[name](BARE_FIRST.plot).to_dict()):
        assert {one: found[one] for one in places} == places


def test_a_segment_that_is_null_is_none_of_those_with_its_name():
    old = SHOP.recs.filter(pl.col("model") == "old")
    names = ["(none)", "(null)", "x"]
    recs = pl.concat([old.with_columns(model=pl.lit(one)) for one in names])
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
    rec = recs.rec(truth=SHOP.truth, train=TRAIN, users=users, model="model")

    segments = rec.plot.segments("mrr", by="place").data
    assert sorted(segments["segment"].unique()) == ["((none))", "(none)", "x"]
    assert segments.height == 9
    segments = rec.plot.segments("mrr", by=["x", "y"]).data
    assert segments.height == 12
    assert set(segments["segment"]) == {
        "a · b ∙ c", "a ∙ b · c", "(none) · (none)", "(none) · z",
    }  # fmt: skip
