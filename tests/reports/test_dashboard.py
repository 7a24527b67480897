"""The page of a history: the numbers of `rf.changes`, what changed behind them, in a file that asks nothing of a network."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import recframe as rf
from recframe.charts.formatting import NONE
from recframe.reports.page import Page
from runs_over_time import FIRST, history

SCRIPT = "</script><script>alert(1)</script>"
WHOLE = history(
    runs=30, models=("a", "b"), metrics=("ndcg@10", "recall@10"), drop={10: -0.05, 29: -0.04}
)


def section(page: Page, name: str) -> Any:
    return next(one for one in page.content.sections if one.name == name)


def rows(page: Page, name: str, place: int = 0) -> list[list[str]]:
    return [[cell.text for cell in row] for row in section(page, name).parts[place].rows]


@pytest.fixture(scope="module")
def page() -> Page:
    """The page of a history of two models."""
    return rf.dashboard(WHOLE)


def test_it_has_the_numbers_of_changes(page):
    found = rf.changes(WHOLE)
    newest = found.filter(pl.col("as_of") == pl.col("as_of").max())

    assert [row["expected"] for row in page.data["newest"]] == newest["expected"].to_list()
    assert len(page.data["changed"]) == (found["verdict"] == "changed").sum()
    assert [row[0] for row in rows(page, "newest")] == newest["metric"].to_list()
    shown = section(page, "newest").parts[0].rows[0]
    assert [shown[0].text, shown[0].small, shown[4].text] == ["ndcg@10", "a", newest["verdict"][0]]
    assert section(page, "newest").lead == "4 of 4 numbers of the newest run changed."


def test_changes_stand_the_newest_first(page):
    times = [row[0] for row in rows(page, "changed", 1)]

    assert times == sorted(times, reverse=True)
    assert {"2026-10-30", "2026-10-11"} <= set(times)
    assert (
        "Each number is judged by itself, so about one in 100 changes by chance"
        in section(page, "changed").parts[0].blocks[0]
    )


def test_each_metric_has_its_chart(page):
    charts = section(page, "over-time").parts
    assert [one.told.partition(".")[0] for one in charts] == [
        "ndcg@10 over time",
        "recall@10 over time",
    ]
    assert all("changed, the latest of 2026-10-30" in one.title for one in charts)
    many = rf.dashboard(history(runs=3, metrics=[f"ndcg@{k}" for k in range(1, 15)]))
    assert len(section(many, "over-time").parts) == 12
    assert section(many, "over-time").missing == ["Without a chart: ndcg@13, ndcg@14."]


def test_of_segments_the_changed_ones_are_shown():
    runs = pl.concat(
        [history(runs=30), history(runs=30, countries=("FR", "DE"), seed=1)], how="diagonal"
    )
    low = pl.when(country="FR", as_of=FIRST + pl.duration(days=29)).then(0.1).otherwise("value")
    page = rf.dashboard(runs.with_columns(value=low))

    table = section(page, "newest").parts[0]
    assert [row[0].small for row in table.rows] == ["all users", "country=FR"]
    assert table.notes == ["1 number of segments, as before or open, left out."]


def test_runs_of_the_same_data_are_told():
    stuck = (
        pl.when(pl.col("as_of") > FIRST + pl.duration(days=27))
        .then(pl.lit("data 27"))
        .otherwise("fingerprint")
    )
    page = rf.dashboard(WHOLE.with_columns(fingerprint=stuck, tag_commit=pl.lit("3f2a1c")))

    runs = section(page, "runs")
    note, shown = runs.parts
    assert note.blocks[0].startswith("2 runs are of the same data as an earlier one")
    assert shown.rows[0][2].small == "as on 2026-10-28"
    assert [one.title for one in shown.columns] == [
        *("as of", "name", "data", "commit", "metrics", "changed"),
    ]


def test_a_history_of_one_run_can_be_shown():
    page = rf.dashboard(history(runs=1))

    assert "too few runs before it" in section(page, "newest").lead
    assert rows(page, "newest")[0][2:] == [NONE, NONE, "open", "fewer than 5 runs before it"]
    assert "<html" in page.html


def test_a_path_is_read_and_a_page_is_written(tmp_path):
    df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    for day in ("2026-11-21", "2026-11-22"):
        df.rec.track("mrr", history=tmp_path / "history", as_of=day)
    rf.dashboard(tmp_path / "history").save(tmp_path / "dashboard.html")

    text = (tmp_path / "dashboard.html").read_text(encoding="utf-8")
    assert "2 runs from 2026-11-21 to 2026-11-22." in text


def test_names_of_others_are_no_markup():
    runs = history(runs=9, models=(SCRIPT, "b")).with_columns(
        name=pl.lit(SCRIPT), tag_a=pl.lit(SCRIPT)
    )
    html = rf.dashboard(runs, title=SCRIPT).html

    assert SCRIPT not in html
    assert "alert(1)" in html


def test_what_is_wrong_is_told():
    for call, said in (
        (lambda: rf.dashboard(WHOLE.head(0)), "the history has no numbers yet; track some"),
        (lambda: rf.dashboard(WHOLE.drop("as_of")), "dashboard takes a history"),
        (lambda: rf.dashboard(WHOLE, title=3), "title=3: title takes text"),
        (lambda: rf.dashboard("nowhere"), "there is no history at 'nowhere'"),
        (lambda: rf.dashboard(3), r"the first argument of dashboard\(\) is"),
    ):
        with pytest.raises(rf.RecframeError, match=said):
            call()


def test_a_column_of_models_that_is_none_is_told():
    runs = history(runs=3, models=("a", "b")).rename({"model": "system"})

    assert rf.dashboard(runs, model="system").data["newest"]
    with pytest.raises(
        rf.ColumnError, match=r"model='sytem' is no column .*; did you mean 'system'\?"
    ):
        rf.dashboard(runs, model="sytem")
