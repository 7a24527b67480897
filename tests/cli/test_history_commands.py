"""A history in a shell: a gate against its latest run, changes, and the page of all runs."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

import polars as pl
import pytest

import recframe as rf
from shop_files import failure, run

FIRST = dt.date(2026, 11, 1)


def write_shop(day: int, hits: float = 0.3) -> None:
    """Write a judged table of a day."""
    chance = random.Random(day)  # noqa: S311
    ranks = [1 if chance.random() < hits else 5 for _ in range(300)]
    frame = pl.DataFrame({"user": range(300), "item": 1, "rank": ranks, "relevance": 1})
    frame.write_parquet("shop.parquet")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder that has a history of nine days."""
    monkeypatch.chdir(tmp_path)
    for day in range(9):
        write_shop(day)
        track = rf.rec(pl.read_parquet("shop.parquet")).track
        track("mrr", "recall@1", history="history", as_of=FIRST + dt.timedelta(day), name="nightly")


def test_a_gate_is_against_the_latest_run():
    write_shop(20, 0.05)
    asked = ("require", "shop.parquet", "mrr >= 0.9 * reference", "--reference", "history")

    result = run(*asked, "-o", "gate.parquet")

    assert result.exit_code == 1, result.output
    assert "1 of 1 rows (fails 1)" in result.stderr
    rec = pl.read_parquet("shop.parquet").rec
    found = rec.require("mrr >= 0.9 * reference", last=rf.history("history"), raises=False)
    assert pl.read_parquet("gate.parquet").equals(found)
    write_shop(20, 0.5)
    assert run(*asked).stderr.endswith("1 holds\n")
    # of all runs, with one of another name
    rf.rec(pl.read_parquet("shop.parquet")).track("mrr", history="history", as_of="2026-11-09")
    write_shop(21, 0.5)
    assert "several names, None, 'nightly'; choose one" in run(*asked).stderr.replace("\n", " ")


def test_changes_are_printed_as_the_library_has_them():
    write_shop(20, 0.05)
    shop = rf.rec(pl.read_parquet("shop.parquet"))
    shop.track("mrr", "recall@1", history="history", as_of="2026-11-20", name="nightly")

    shown = run("changes", "history", "-m", "MRR", "--changed").stdout.splitlines()
    head = ["as_of", "name", "metric", "value", "low", "high", "n", "expected_low", "expected_high"]
    assert shown[0].split() == [*head, "change", "verdict"]
    assert [(line.split()[0], line.split()[-1]) for line in shown[2:3]] == [
        ("2026-11-20", "changed")
    ]
    result = run(
        "changes", "history", "--window", "6", "--level", "0.9", "--since", "2026-11-05",
        "-o", "all.parquet",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = rf.changes("history", window=6, level=0.9)
    found = found.filter(pl.col("as_of") >= pl.date(2026, 11, 5))
    assert pl.read_parquet("all.parquet").equals(found)
    assert failure("changes", "none") == "there is no history at 'none'; recframe track starts one"
    assert run("changes", "history", "--window", "4").exit_code == 2


def test_a_page_of_a_history_is_written():
    result = run("report", "--history", "history", "-o", "dashboard.html", "--title", "Nightly")

    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("wrote dashboard.html (")
    page = Path("dashboard.html").read_text(encoding="utf-8")
    assert "<h1" in page
    assert "Nightly" in page
    assert page.count("<figure") == 2
    run(
        "report", "--history", "history", "-m", "MRR", "-o", "one.html", "--window", "6",
        "--level", "0.9",
    )  # fmt: skip
    page = Path("one.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 1
    assert "up to 6 runs before, at 90 %" in page


def test_what_is_wrong_with_a_page_of_a_history_is_told():
    assert run("report").stderr.endswith("Missing argument 'RECS'; or write --history DIR.\n")
    both = run("report", "shop.parquet", "--history", "history")
    assert both.exit_code == 2
    assert "--history makes a page of its own; leave out 'shop.parquet'" in both.stderr
    beyond = run("report", "--history", "history", "--min-users", "5")
    assert beyond.exit_code == 2
    assert "a page of its own, which takes no --min-users" in beyond.stderr
    assert failure("report", "--history", "none").startswith("there is no history at 'none'")
    assert "a page is an .html file" in failure("report", "--history", "history", "-o", "a.pdf")
