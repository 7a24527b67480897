"""`recframe track` and `recframe history`: results of files, kept from run to run."""

from __future__ import annotations

import polars as pl
import pytest

import recframe as rf
from shop_files import TWO, TWO_TRUTH, USERS, failure, run, write_tables

TRACK = ("track", "two.parquet", "two_truth.parquet", "-m", "ndcg@10,mrr", "--history", "history")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    write_tables()


def track(*arguments: str):
    result = run(*TRACK, *arguments)
    assert result.exit_code == 0, result.output
    return result


def test_a_run_is_shown_and_kept_as_the_library_does():
    result = track(
        "--as-of", "2026-11-22", "--users", "users.parquet", "--by", "country", "--name", "n",
        "--tag", "commit=3f,team=a",
    )  # fmt: skip
    TWO.rec(TWO_TRUTH, users=USERS).track(
        "ndcg@10",
        "mrr",
        by="country",
        history="library",
        as_of="2026-11-22",
        name="n",
        tags={"commit": "3f", "team": "a"},
    )

    head = ["as_of", "name", "tag_commit", "tag_team", "country", "metric", "value", "n"]
    assert result.stdout.split()[:8] == head
    assert result.stderr == "tracked in history\n"
    own, other = (rf.history(one) for one in ("history", "library"))
    assert own.equals(other)


def test_what_is_rarely_meant_is_told():
    asked = ("two.parquet", "two.parquet", "-m", "mrr")
    result = run("track", *asked, "--history", "history", "--as-of", "2026-11-22")

    notes = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
    assert notes
    assert notes == [
        line for line in run("summarize", *asked).stderr.splitlines() if line.startswith("note: ")
    ]


def test_the_numbers_of_a_history_are_printed_by_day():
    for day in ("2026-11-22", "2026-11-21"):
        track("--as-of", day)

    result = run("history", "history")

    head, _, first, _, second, *_ = result.stdout.splitlines()
    assert head.split() == ["as_of", "metric", "value", "n"]
    assert [first.split()[0], second.split()[0]] == ["2026-11-21", "2026-11-22"]
    assert "2026-11-21" not in run("history", "history", "--since", "2026-11-22").stdout


def test_hours_are_printed_where_there_are_some():
    track("--as-of", "2026-11-22T06:00")

    assert "2026-11-22 06:00:00" in run("history", "history").stdout


def test_a_file_has_all_that_the_history_has():
    track("--as-of", "2026-11-22")

    run("history", "history", "-o", "all.parquet")

    assert pl.read_parquet("all.parquet").equals(rf.history("history"))


def test_an_empty_history_is_an_empty_table(tmp_path):
    (tmp_path / "empty").mkdir()

    result = run("history", "empty")

    assert result.exit_code == 0


def test_what_is_wrong_is_said_in_words_of_the_shell():
    said = "--as-of 'yesterday' is not a time; write 2026-11-22, or 2026-11-22T06:00+01:00"
    assert failure(*TRACK, "--as-of", "yesterday") == said
    assert failure("history", "none") == "there is no history at 'none'; recframe track starts one"
    for arguments, words in (
        (("history", "none", "--since", "x"), "'x' does not match the formats"),
        ((*TRACK, "--as-of", "2026-11-22", "--tag", "x"), "'x' is not NAME=WORD; write for example commit=3f,team=a"),
        (TRACK, "Missing option '--as-of'"),
    ):  # fmt: skip
        result = run(*arguments)
        assert result.exit_code == 2
        assert words in result.stderr
