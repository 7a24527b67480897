"""The page of a history: the numbers of `rf.changes`, what changed behind them, in a file that asks nothing of a network."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import recframe as rf
from recframe.reports.page import Page
from runs_over_time import FIRST, history

SCRIPT = "</script><script>alert(1)</script>"
WHOLE = history(
    runs=30, models=("a", "b"), metrics=("ndcg@10", "recall@10"), drop={10: -0.05, 29: -0.04}
)


def parts(page: Page, name: str) -> Any:
    return next(one for one in page.sections if one.name == name).parts


def table(page: Page, name: str) -> Any:
    return next(part for part in parts(page, name) if part.kind == "table")


@pytest.fixture(scope="module")
def page() -> Page:
    return rf.dashboard(WHOLE)


def test_it_has_the_numbers_of_changes(page):
    found = rf.changes(WHOLE)
    newest = found.filter(pl.col("as_of") == pl.col("as_of").max())

    assert [row["expected"] for row in page.data["newest"]] == newest["expected"].to_list()
    assert len(page.data["changed"]) == (found["verdict"] == "changed").sum()
    assert (
        page.headline
        == "4 of 4 numbers of the newest run changed. 30 runs from 2026-10-01 to 2026-10-30."
    )
    shown = table(page, "newest")
    assert [one.title for one in shown.columns] == ["users", "ndcg@10", "recall@10"]
    assert [[cell.mark for cell in row] for row in shown.rows] == [["", "warning", "warning"]] * 2
    for row in newest.rows(named=True):
        line = next(one for one in shown.rows if one[0].text == row["model"])
        cell = line[1 + ["ndcg@10", "recall@10"].index(row["metric"])]
        assert cell.text.startswith(f"{row['value']:.4f}"[:5])


def test_changes_stand_the_newest_first(page):
    times = [row[0].text for row in table(page, "changed").rows]

    assert times == sorted(times, reverse=True)
    assert {"2026-10-30", "2026-10-11"} <= set(times)
    assert (
        "Each number is judged by itself, so about one in 100 changes by chance"
        in parts(page, "changed")[0].blocks[0]
    )


def test_each_metric_has_its_chart(page):
    charts = parts(page, "over-time")
    assert [one.told.partition(".")[0] for one in charts] == [
        "ndcg@10 over time",
        "recall@10 over time",
    ]
    assert all("changed, the latest of 2026-10-30" in one.title for one in charts)
    many = rf.dashboard(history(runs=3, metrics=[f"ndcg@{k}" for k in range(1, 15)]))
    *charts, left = parts(many, "over-time")
    assert len(charts) == 12
    assert left.blocks == ["Without a chart: ndcg@13, ndcg@14."]


def test_segments_are_rows_below_those_of_all_users():
    runs = pl.concat(
        [history(runs=30, countries=("FR", "DE"), seed=1), history(runs=30)], how="diagonal"
    )
    low = pl.when(country="FR", as_of=FIRST + pl.duration(days=29)).then(0.1).otherwise("value")
    shown = table(rf.dashboard(runs.with_columns(value=low)), "newest")

    assert [(row[0].text, row[1].mark) for row in shown.rows] == [
        ("all lists", ""),
        ("country=DE", ""),
        ("country=FR", "warning"),
    ]


def test_a_history_of_one_run_can_be_shown_with_a_column_of_models_of_another_name():
    page = rf.dashboard(history(runs=1))
    several = history(runs=3, models=("a", "b")).rename({"model": "system"})

    assert rf.dashboard(several, model="system").data["newest"]

    assert "too few runs before it" in page.headline
    assert table(page, "newest").rows[0][1].mark == ""
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
