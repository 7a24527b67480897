"""`recframe track`, `history` and `changes`: results kept from run to run, a gate on the latest, and the page of all runs."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

import polars as pl
import pytest

import recframe as rf
from shop_files import TWO, TWO_TRUTH, USERS, failure, run, write_tables

FIRST = dt.date(2026, 11, 1)
TRACK = ("track", "two.parquet", "two_truth.parquet", "-m", "ndcg@10,mrr", "--history", "own")


def shop_of(day: int, hits: float = 0.3) -> pl.DataFrame:
    """Write a judged table of a day, and return it."""
    chance = random.Random(day)  # noqa: S311
    ranks = [1 if chance.random() < hits else 5 for _ in range(300)]
    frame = pl.DataFrame({"user": range(300), "item": 1, "rank": ranks, "relevance": 1})
    frame.write_parquet("shop.parquet")
    return frame


def track(day: int, hits: float = 0.3, name: str | None = "nightly") -> None:
    as_of = FIRST + dt.timedelta(day)
    shop_of(day, hits).rec.track("mrr", "recall@1", history="history", as_of=as_of, name=name)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder that has tables and a history of nine days."""
    monkeypatch.chdir(tmp_path)
    write_tables()
    for day in range(9):
        track(day)


def test_a_run_is_shown_and_kept_as_the_library_does():
    options = (
        "--users",
        "users.parquet",
        "--by",
        "country",
        "--name",
        "n",
        "--tag",
        "commit=3f,team=a",
    )
    result = run(*TRACK, "--as-of", "2026-11-22T06:00", *options)
    assert result.exit_code == 0, result.output
    TWO.rec(TWO_TRUTH, users=USERS).track(
        "ndcg@10", "mrr", by="country", history="library", as_of="2026-11-22T06:00", name="n",
        tags={"commit": "3f", "team": "a"},
    )  # fmt: skip

    head = ["as_of", "name", "tag_commit", "tag_team", "country", "metric", "value", "n"]
    assert result.stdout.split()[:8] == head
    assert result.stderr == ""
    assert rf.history("own").equals(rf.history("library"))
    assert "2026-11-22 06:00:00" in run("history", "own").stdout


def test_the_numbers_of_a_history_are_printed_by_day_and_written_in_full():
    for day in ("2026-11-22", "2026-11-21"):
        assert run(*TRACK, "--as-of", day).exit_code == 0

    head, _, first, _, second, *_ = run("history", "own").stdout.splitlines()
    assert head.split() == ["as_of", "metric", "value", "n"]
    assert [first.split()[0], second.split()[0]] == ["2026-11-22", "2026-11-21"]
    run("history", "own", "-o", "all.parquet")
    assert pl.read_parquet("all.parquet").equals(rf.history("own"))
    Path("empty").mkdir()
    assert run("history", "empty").exit_code == 0


def test_a_gate_is_against_the_latest_run():
    shop = shop_of(20, 0.05)
    asked = ("require", "shop.parquet", "mrr >= 0.9 * last", "--last", "history")

    result = run(*asked, "-o", "gate.parquet")

    assert result.exit_code == 1, result.output
    assert "fails 1\n" in result.stderr
    found = shop.rec.require("mrr >= 0.9 * last", last=rf.history("history"), raises=False)
    assert pl.read_parquet("gate.parquet").equals(found)
    shop_of(20, 0.5)
    assert run(*asked).stderr.endswith("holds 1\n")
    # of all runs, with one of another name
    track(8, name=None)
    assert "several names, None, 'nightly'; choose one" in run(*asked).stderr.replace("\n", " ")


def test_changes_are_printed_as_the_library_has_them():
    track(19, 0.05)

    shown = run("changes", "history", "--changed").stdout.splitlines()
    head = ["as_of", "name", "metric", "value", "n", "expected", "change", "verdict", "note"]
    assert shown[0].split() == head
    assert shown[2].startswith("2026-11-20")
    assert "changed" in shown[2]
    options = ("--window", "6", "--level", "0.9")
    assert run("changes", "history", *options, "-o", "a.csv").exit_code == 0
    found = rf.changes("history", window=6, level=0.9)
    assert Path("a.csv").read_text() == found.write_csv()


def test_a_page_of_a_history_is_written():
    result = run("changes", "history", "-o", "one.html", "--window", "6", "--level", "0.9")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "wrote one.html\n")
    page = Path("one.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 2
    assert "up to 6 runs before, at 90 %" in page
    assert "known are .csv" in failure("changes", "history", "-o", "a.pdf")
