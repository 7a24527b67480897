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
    asked = ("require", "shop.parquet", "mrr >= 0.9 * last", "--last", "history")

    result = run(*asked, "-o", "gate.parquet")

    assert result.exit_code == 1, result.output
    assert "fails 1\n" in result.stderr
    rec = pl.read_parquet("shop.parquet").rec
    found = rec.require("mrr >= 0.9 * last", last=rf.history("history"), raises=False)
    assert pl.read_parquet("gate.parquet").equals(found)
    write_shop(20, 0.5)
    assert run(*asked).stderr.endswith("holds 1\n")
    # of all runs, with one of another name
    rf.rec(pl.read_parquet("shop.parquet")).track("mrr", history="history", as_of="2026-11-09")
    write_shop(21, 0.5)
    assert "several names, None, 'nightly'; choose one" in run(*asked).stderr.replace("\n", " ")


def test_changes_are_printed_as_the_library_has_them():
    write_shop(20, 0.05)
    shop = rf.rec(pl.read_parquet("shop.parquet"))
    shop.track("mrr", "recall@1", history="history", as_of="2026-11-20", name="nightly")

    shown = run("changes", "history", "--changed").stdout.splitlines()
    head = ["as_of", "name", "metric", "value", "n", "expected", "change", "verdict", "note"]
    assert shown[0].split() == head
    assert shown[2].startswith("2026-11-20")
    assert "changed" in shown[2]
    result = run(
        "changes", "history", "--window", "6", "--level", "0.9", "--since", "2026-11-05",
        "-o", "all.parquet",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = rf.changes("history", window=6, level=0.9)
    found = found.filter(pl.col("as_of") >= pl.date(2026, 11, 5))
    assert pl.read_parquet("all.parquet").equals(found)
    assert failure("changes", "none") == "there is no history at 'none'; recframe track starts one"
    assert "window" in failure("changes", "history", "--window", "4")


def test_a_page_of_a_history_is_written():
    result = run("changes", "history", "-o", "one.html", "--window", "6", "--level", "0.9")

    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert result.stderr == "wrote one.html\n"
    page = Path("one.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 2
    assert "up to 6 runs before, at 90 %" in page
    assert failure("changes", "none", "-o", "one.html").startswith("there is no history at 'none'")
    assert "known are .csv" in failure("changes", "history", "-o", "a.pdf")
