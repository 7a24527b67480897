"""The chart of a history: the numbers of `rf.changes`, gaps as gaps, and what changed."""

from __future__ import annotations

from statistics import fmean

import polars as pl
import pytest

import recframe as rf
from frame_kinds import KINDS, sharp_and_thorough
from runs_over_time import history

RUNS = history(runs=30, models=("a", "b"), drop={20: -0.05})


@pytest.mark.parametrize("kind", sharp_and_thorough(KINDS), ids=str)
def test_a_timeline_has_the_numbers_of_changes(kind):
    data = kind(RUNS).rec.plot.timeline("ndcg@10", window=7, level=0.95).data.sort("model", "as_of")
    found = rf.changes(RUNS, window=7, level=0.95).sort("model", "as_of")

    for name in ("value", "low", "expected_high"):
        assert data[name].to_list() == pytest.approx(found[name].to_list(), nan_ok=True)
    for name in ("verdict", "note", "model"):
        assert data[name].to_list() == found[name].to_list()


def test_what_changed_is_a_triangle_and_the_title_counts_it():
    chart = history(runs=30, drop={20: -0.05, 25: 0.05}).rec.plot.timeline("ndcg@10")
    spec = chart.to_dict()

    (flags,) = [one for one in spec["layer"] if isinstance(one["mark"].get("shape"), dict)]
    assert flags["transform"] == [{"filter": "datum.verdict === 'changed'"}]
    drawn = chart.data.filter(verdict="changed")
    assert {21, 26} <= {*drawn["as_of"].dt.day()}
    title = " ".join(spec["title"]["text"])
    assert title.startswith(f"ndcg@10: {len(drawn)} numbers of ")
    assert title.endswith(f" changed, the latest of {drawn['as_of'].max():%Y-%m-%d}")
    in_order = chart.data.sort("as_of")
    assert f"expected {fmean(in_order['value'][:5]):.3f} (" in in_order["words"][5]
    assert "fewer than 5 runs before it" in in_order["words"][0]


def test_segments_are_views_of_their_own():
    runs = history(runs=12, models=("a", "b"), countries=("FR", "DE", "null"))
    more = pl.col("country").replace_strict({"DE": 0.2, "FR": 0.1}, default=0.0)
    runs = runs.with_columns(value=pl.col("value") + more, n=pl.lit(1200))
    chart = runs.rec.plot.timeline("ndcg@10", by="country")

    assert chart.to_dict()["facet"]["sort"] == ["DE (1,200)", "FR (1,200)", "null (1,200)"]
    assert chart.to_dict() == runs.rec.group_by("country").plot.timeline("ndcg@10").to_dict()
    few = runs.rec.plot.timeline("ndcg@10", by="country", most=2)
    assert few.data["segment"].n_unique() == 2
    assert "2 of 3 segments, those with the most users" in " ".join(
        few.to_dict()["title"]["subtitle"]
    )


def test_names_of_runs_are_told_apart_as_models_are_and_stand_in_their_own_order():
    runs = pl.concat([history(runs=9), history(runs=9, seed=1).with_columns(name=pl.lit("canary"))])
    numbered = history(runs=9, models=("10", "9")).with_columns(pl.col("model").cast(pl.Int64))

    assert set(runs.rec.plot.timeline("ndcg@10").data["model"]) == {"(none)", "canary"}
    bound = RUNS.rename({"model": "system"})
    assert set(bound.rec(model="system").plot.timeline("ndcg@10").data["model"]) == {"a", "b"}
    chart = numbered.rec.plot.timeline("ndcg@10").to_dict()
    assert chart["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["9", "10"]


def test_a_metric_of_ones_own_is_drawn_without_being_there():
    chart = history(runs=9, metrics=("of_a_shop@3",)).rec.plot.timeline("of_a_shop@3")

    words = chart.to_dict()["title"]
    assert words["text"] == ["of_a_shop@3: every number is as before"]
    assert words["subtitle"][0].startswith("of_a_shop@3 over time. ")
