"""The rest of a slice is what the same call returns on frames without its rows: each place of a column, crossed ones too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_segments_are_filters import METRICS, OF_HISTORY, SHARING, near, scenes

import recframe as rf
from filtered_frames import OF_ITEMS, OF_USERS, Scene, by_model, is_over_lists, outside, parts
from recframe.evaluation.required_columns import needs_of
from recframe.metrics.language import registry
from recframe.statistics.remaining_users import is_of_segment_items
from strategies import examples
from ways_to_run import padded

pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")

MEANS = [
    str(one)
    for one in registry.asked(METRICS, None)
    if one.shape != "set" and not needs_of(one).means
]


def text(values: dict[str, object]) -> str:
    """The name of a slice: whole numbers without a fraction."""
    said = {
        name: int(one)
        if isinstance(one, float) and one.is_integer()
        else str(one).lower()
        if isinstance(one, bool)
        else one
        for name, one in values.items()
    }
    return ", ".join(f"{name}={one}" for name, one in said.items())


@settings(examples(25), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    scene=scenes().filter(lambda one: "user" not in one.places),
    metrics=st.lists(st.sampled_from(MEANS), min_size=2, max_size=3, unique=True),
    make=st.sampled_from([pl.DataFrame.clone, pl.DataFrame.lazy, padded]),
)
def test_the_rest_has_the_value_of_frames_without_the_rows_of_the_slice(
    scene: Scene, metrics: list[str], make: Any
):
    if scene.options.get("ties") == "expected":
        metrics = SHARING
    if scene.cuts_items:
        metrics = [
            one
            for one in metrics
            if not one.startswith(OF_HISTORY)
            if not any(map(is_of_segment_items, needs_of(rf.parse(one)).facts))
        ]
        metrics = metrics or ["mrr"]
    if scene.places[0] == "truth":
        metrics = [one for one in metrics if not is_over_lists(one)] or ["ndcg@2"]
    depths = [1] if len(cut(scene)) > 1 else [1, 2]
    asked = scene.rec(make).slices(
        *metrics, by=scene.asked_by, min_users=1, depth=max(depths), wide=True
    )

    crossed = [one for depth in depths for one in combinations(scene.places, depth)]
    wanted = rests([replace(scene, places=places) for places in crossed], metrics)
    for row in asked.lazy().collect().to_dicts():
        rest = wanted[row["segment"]].get((row["model"],) if scene.has_models else (), {})
        assert near(row["rest"], rest.get(row["metric"])), row


def cut(scene: Scene) -> set[str]:
    """The frames that the columns cut, but for those of users."""
    return {"items" if one in OF_ITEMS else one for one in scene.places if one not in OF_USERS}


def rests(scenes: Sequence[Scene], metrics: Sequence[str]) -> dict[str, Any]:
    """What the call returns outside of each slice, by its name."""
    named = [(one, dict(zip(one.by, part, strict=True))) for one in scenes for part in parts(one)]
    return {
        text(part): by_model(scene, outside(scene, part), metrics)
        for scene, part in named
        if None not in part.values()
    }


def test_columns_that_cut_different_frames_are_not_crossed():
    # not week=1 and genre=a is no filter of rows before ranks are made, and of items after
    week = pl.lit(1).alias("week")
    recs = pl.DataFrame({"user": [1], "item": [1], "rank": [1]}).with_columns(week)
    items = pl.DataFrame({"item": [1], "genre": ["a"]})
    rec = recs.rec(truth=recs.select("user", "item", "week"), items=items)

    with pytest.raises(
        rf.RecframeError, match=r"slices does not cross 'week' and 'genre'.*depth=1"
    ):
        rec.slices("mrr", by=["week", "genre"], wide=True)
    assert rec.slices("mrr", by=["week", "genre"], depth=1, min_users=1, wide=True).height == 2


def test_what_is_of_the_catalogue_has_no_rest_among_items():
    items = pl.DataFrame({"item": [1, 2], "genre": ["a", "b"]})
    recs = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    rec = recs.rec(
        truth=recs.select("user", "item"), items=items, train=recs.select("user", "item")
    )

    with pytest.raises(rf.RecframeError, match=r"takes no long_tail_count.* another one outside"):
        rec.slices("long_tail_count(tail=items)", by="genre", wide=True)
    # a user without an item of the genre has all others, of a smaller catalogue
    with pytest.raises(rf.RecframeError, match=r"takes no fall_out.* another one outside"):
        rec.slices("fall_out", by="genre", wide=True)
