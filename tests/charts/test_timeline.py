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

    for name, drawn in (
        ("value", "value"),
        ("low", "low"),
        ("expected_high", "expected_high"),
    ):
        assert data[drawn].to_list() == pytest.approx(found[name].to_list(), nan_ok=True)
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


def test_names_of_runs_are_told_apart_as_models_are():
    runs = pl.concat([history(runs=9), history(runs=9, seed=1).with_columns(name=pl.lit("canary"))])

    assert set(runs.rec.plot.timeline("ndcg@10").data["model"]) == {"(none)", "canary"}
    bound = RUNS.rename({"model": "system"})
    assert set(bound.rec(model="system").plot.timeline("ndcg@10").data["model"]) == {"a", "b"}


def test_models_stand_in_their_own_order():
    runs = history(runs=9, models=("10", "9")).with_columns(pl.col("model").cast(pl.Int64))
    chart = runs.rec.plot.timeline("ndcg@10").to_dict()

    assert chart["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["9", "10"]


def test_a_metric_of_ones_own_is_drawn_without_being_there():
    chart = history(runs=9, metrics=("of_a_shop@3",)).rec.plot.timeline("of_a_shop@3")

    words = chart.to_dict()["title"]
    assert words["text"] == ["of_a_shop@3: every number is as before"]
    assert words["subtitle"][0].startswith("of_a_shop@3 over time. ")


def test_what_cannot_be_drawn_is_told():
    plot, by_country = RUNS.rec.plot, history(runs=3, countries=("FR",)).rec.plot
    lists = pl.DataFrame({"user": [1], "item": [1], "rank": [1], "relevance": [1]}).rec.plot
    for call, said in (
        (lambda: lists.timeline("mrr"),
         r"plot.timeline takes a history, a frame of rf.history\('history.parquet'\)"),
        (lambda: plot.timeline("ndcg@20"), "the history has nothing of 'ndcg@20'; did you mean 'ndcg@10'"),
        (lambda: plot.timeline("ndgc@10"), "unknown metric 'ndgc@10'"),
        (lambda: plot.timeline("ndcg@10", by="country"),
         r"the history has no ndcg@10 with by=\['country'\]; draw what it has, with no by"),
        (lambda: by_country.timeline("ndcg@10"),
         r"no ndcg@10 with by=\[\]; draw what it has, with by=\['country'\]"),
        (lambda: plot.timeline("ndcg@10", most=0), "most=0: most takes a whole number from 1 up"),
        (lambda: plot.timeline("ndcg@10", history="h"), r"rec.plot.timeline\(\) has no option 'history'"),
    ):  # fmt: skip
        with pytest.raises(rf.RecframeError, match=said):
            call()
    with pytest.raises(AttributeError, match="did you mean 'timeline'"):
        _ = plot.timelines
