"""The chart of a history: the numbers of `rf.changes`, gaps as gaps, and what changed."""

from __future__ import annotations

import polars as pl
import pytest

import recframe as rf
from frame_kinds import KINDS, sharp_and_thorough
from runs_over_time import FIRST, history

RUNS = history(runs=30, models=("a", "b"), drop={20: -0.05})


def marks(chart, kind):
    """Return the layers of a kind of mark, with their data."""
    spec = chart.to_dict()
    layers = (
        spec["layer"]
        if "layer" in spec
        else [one for view in spec["vconcat"] for one in view["layer"]]
    )
    found = [one for one in layers if one["mark"]["type"] == kind]
    return [(one, spec["datasets"].get(one.get("data", {}).get("name"))) for one in found]


def triangles(chart):
    return [
        (one["mark"]["shape"], rows)
        for one, rows in marks(chart, "point")
        if "shape" in one["mark"]
    ]


@pytest.mark.parametrize("kind", sharp_and_thorough(KINDS), ids=str)
def test_a_timeline_has_the_numbers_of_changes(kind):
    data = kind(RUNS).rec.plot.timeline("ndcg@10", window=7, level=0.95).data
    found = rf.changes(RUNS, window=7, level=0.95).sort("model", "as_of")

    for name in ("value", "low", "expected", "expected_low", "expected_high"):
        assert data[name].to_list() == pytest.approx(found[name].to_list(), nan_ok=True)
    for name in ("verdict", "note", "model"):
        assert data[name].to_list() == found[name].to_list()


def test_what_changed_is_a_triangle_that_points_to_its_side():
    chart = history(runs=30, drop={20: -0.05, 25: 0.05}).rec.plot.timeline("ndcg@10")

    (up, above), (down, below) = triangles(chart)
    assert (up, down) == ("triangle-up", "triangle-down")
    assert "2026-10-26" in [row["as_of"][:10] for row in above]
    assert [row["as_of"][:10] for row in below] == ["2026-10-21"]
    told = {
        field["title"] for one, _ in marks(chart, "point") for field in one["encoding"]["tooltip"]
    }
    assert {"expected", "expected interval", "note", "verdict"} < told


def test_a_line_ends_where_runs_are_missing():
    runs = history(runs=30).filter(
        ~pl.col("as_of").is_between(FIRST + pl.duration(days=10), FIRST + pl.duration(days=14))
    )
    data = runs.rec.plot.timeline("ndcg@10").data

    assert data["stretch"].to_list() == [0] * 10 + [1] * 15
    # weekends are no gap of a history of working days
    working = history(runs=28).filter(pl.col("as_of").dt.weekday() < 6)
    assert set(working.rec.plot.timeline("ndcg@10").data["stretch"]) <= set(range(5))


def test_segments_are_views_of_their_own():
    runs = history(runs=12, models=("a", "b"), countries=("FR", "DE", "null"))
    more = pl.col("country").replace_strict({"DE": 0.2, "FR": 0.1}, default=0.0)
    runs = runs.with_columns(value=pl.col("value") + more, n=pl.lit(1200))
    chart = runs.rec.plot.timeline("ndcg@10", by="country")
    titles = [view["title"]["text"] for view in chart.to_dict()["vconcat"]]

    assert titles == [["DE (1,200)"], ["FR (1,200)"], ["null (1,200)"]]
    assert chart.to_dict() == runs.rec.group_by("country").plot.timeline("ndcg@10").to_dict()
    few = runs.rec.plot.timeline("ndcg@10", by="country", most=2)
    assert len(few.to_dict()["vconcat"]) == 2
    assert "2 of 3 segments, those with the most users" in " ".join(
        few.to_dict()["title"]["subtitle"]
    )


def test_names_of_runs_are_told_apart_as_models_are():
    runs = pl.concat([history(runs=9), history(runs=9, seed=1).with_columns(name=pl.lit("canary"))])

    assert set(runs.rec.plot.timeline("ndcg@10").data["model"]) == {"all lists", "canary"}
    bound = RUNS.rename({"model": "system"})
    assert set(bound.rec(model="system").plot.timeline("ndcg@10").data["model"]) == {"a", "b"}


def test_models_stand_in_their_own_order():
    runs = history(runs=9, models=("10", "9")).with_columns(pl.col("model").cast(pl.Int64))
    chart = runs.rec.plot.timeline("ndcg@10").to_dict()

    assert chart["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["9", "10"]


def test_a_metric_of_ones_own_is_drawn_without_being_there():
    chart = history(runs=9, metrics=("of_a_shop@3",)).rec.plot.timeline("of_a_shop@3")

    words = chart.to_dict()["title"]
    assert words["text"] == ["of_a_shop@3: every run is as before"]
    assert words["subtitle"][0].startswith("of_a_shop@3 over time. ")


def test_what_cannot_be_drawn_is_told():
    plot, by_country = RUNS.rec.plot, history(runs=3, countries=("FR",)).rec.plot
    lists = pl.DataFrame({"user": [1], "item": [1], "rank": [1], "relevance": [1]}).rec.plot
    for call, said in (
        (lambda: lists.timeline("mrr"),
         r"plot.timeline draws a history, rf.history\('history.parquet'\).rec.plot.timeline"),
        (lambda: plot.timeline("ndcg@20"), "the history has nothing of 'ndcg@20'; did you mean 'ndcg@10'"),
        (lambda: plot.timeline("ndgc@10"), "unknown metric 'ndgc@10'"),
        (lambda: plot.timeline("ndcg@10", by="country"),
         "no such number split by 'country'; draw those that it has, with no by"),
        (lambda: by_country.timeline("ndcg@10"),
         "no such number of all users; draw those that it has, with by='country'"),
        (lambda: plot.timeline("ndcg@10", most=0), "most=0: most takes a whole number from 1 up"),
        (lambda: plot.timeline("ndcg@10", history="h"), r"rec.plot.timeline\(\) has no option 'history'"),
    ):  # fmt: skip
        with pytest.raises(rf.RecframeError, match=said):
            call()
    with pytest.raises(AttributeError, match="did you mean 'timeline'"):
        _ = plot.timelines
