"""A history in a shell: gates against its last runs, and the page of all of them."""

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


@pytest.mark.parametrize(
    ("hits", "asked", "status", "said"),
    [
        (0.3, ("mrr >= trailing",), 0, "1 open\n"),
        (0.3, ("mrr >= trailing", "--strict"), 1, "of 1 requirement, 1 is open\n"),
        (0.3, ("mrr >= 0.5 * trailing",), 0, "1 holds\n"),
        (0.05, ("mrr >= trailing",), 1, "of 1 requirement, 1 fails\n"),
        # before this day there are three runs
        (0.05, ("mrr >= trailing", "--as-of", "2026-11-04"), 0, "1 open\n"),
        (
            0.05,
            ("mrr >= trailing", "--as-of", "2026-11-04", "--strict"),
            1,
            "of 1 requirement, 1 is open\n",
        ),
        (0.05, ("mrr >= trailing", "--window", "30"), 0, "1 open\n"),
        (0.05, ("mrr >= trailing", "--name", "nightly"), 1, "of 1 requirement, 1 fails\n"),
        (0.05, ("mrr >= trailing", "--name", "other"), 0, "1 open\n"),
    ],
)
def test_the_exit_status_says_whether_it_fails(hits, asked, status, said):
    write_shop(20, hits)

    result = run("require", "shop.parquet", *asked, "--history", "history")

    assert result.exit_code == status, result.output
    assert result.stderr.endswith(said)


def test_a_segment_of_every_run_that_is_gone_is_missing():
    shop = pl.read_parquet("shop.parquet")
    country = pl.when(pl.col("user") % 2 == 0).then(pl.lit("FR")).otherwise(pl.lit("DE"))
    shop = shop.with_columns(country=country)
    for day in range(1, 8):
        shop.rec.track("mrr", by="country", history="parts", as_of=f"2026-11-{day:02}")
    shop.filter(country="FR").write_parquet("shop.parquet")
    asked = ("require", "shop.parquet", "mrr >= 0.1 * trailing", "--by", "country")

    gone = run(*asked, "--history", "parts")
    assert gone.exit_code == 1
    assert "in each of the last 7 runs of the history" in gone.stdout
    assert run(*asked, "--history", "parts", "--missing", "open").exit_code == 0


@pytest.mark.parametrize("by", ["shell", "python"])
def test_a_number_in_another_spelling_is_the_same_definition(by):
    for day in range(1, 8):
        as_of = f"2026-11-{day:02}"
        if by == "python":
            rec = rf.rec(pl.read_parquet("shop.parquet"), min_relevance=1)
            rec.track("mrr", history="bounds", as_of=as_of)
        else:
            asked = ("shop.parquet", "-m", "mrr", "--min-relevance", "1", "--as-of", as_of)
            assert run("track", *asked, "--history", "bounds").exit_code == 0
    asked = ("require", "shop.parquet", "mrr >= 0.1 * trailing", "--history", "bounds")

    assert run(*asked, "--min-relevance", "1.0").stderr == "1 open\n"
    for other in ((), ("--min-relevance", "2")):
        found = run(*asked, *other)
        assert found.exit_code == 2
        assert "min_relevance=1, min_relevance_for=all" in found.stderr
        assert "Track one run under the new definition, or give the old one here" in found.stderr


def test_runs_that_were_tracked_from_pandas_are_printed_and_held_against():
    for day in range(1, 8):
        shop = pl.read_parquet("shop.parquet").with_columns(pl.col("user") + day).to_pandas()
        shop.rec.track("mrr", history="pandas", as_of=f"2026-11-{day:02}")

    for command in (
        ("history", "pandas"),
        ("changes", "pandas"),
        ("require", "shop.parquet", "mrr >= 0.1 * trailing", "--history", "pandas"),
        ("report", "--history", "pandas", "-o", "page.html"),
    ):
        assert run(*command).exit_code == 0, command


def test_with_too_few_runs_the_table_says_so():
    result = run(
        "require", "shop.parquet", "mrr >= trailing", "--history", "history", "--window", "30"
    )

    assert "the history has 9 runs of it, fewer than 15" in result.stdout


def test_what_is_wrong_with_a_history_is_said_in_words_of_the_shell():
    asked = ("require", "shop.parquet", "mrr >= trailing")
    write_shop(21)
    rf.rec(pl.read_parquet("shop.parquet")).track("mrr", history="history", as_of="2026-11-20")
    for arguments, words in (
        (asked, "or the runs before: --history DIR"),
        ((*asked, "--history", "none"), "there is no history at 'none'; recframe track starts one"),
        (
            (*asked, "--history", "history"),
            "runs of several names, None, 'nightly'; choose one: --name WORD",
        ),
        (
            ("require", "shop.parquet", "mrr >= 0.1", "--history", "history"),
            "--history is given, but no requirement uses it",
        ),
        (
            (*asked, "--history", "history", "--as-of", "soon"),
            "'soon' is no day or time; write 2026-11-22",
        ),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert words in result.stderr.replace("\n", " ")


def test_changes_are_printed_as_the_library_has_them():
    write_shop(20, 0.05)
    shop = rf.rec(pl.read_parquet("shop.parquet"))
    shop.track("mrr", "recall@1", history="history", as_of="2026-11-20", name="nightly")

    shown = run("changes", "history", "-m", "MRR", "--flagged").stdout.splitlines()
    head = [
        "as_of",
        "name",
        "metric",
        "value",
        "value_low",
        "value_high",
        "expected_low",
        "expected_high",
    ]
    assert shown[0].split() == [*head, "p_adjusted", "verdict"]
    assert [(line.split()[0], line.split()[-1]) for line in shown[2:3]] == [("2026-11-20", "worse")]
    result = run(
        "changes",
        "history",
        "--window",
        "6",
        "--level",
        "0.9",
        "--since",
        "2026-11-05",
        "-o",
        "all.parquet",
    )
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
        "report",
        "--history",
        "history",
        "-m",
        "MRR",
        "-o",
        "one.html",
        "--window",
        "6",
        "--level",
        "0.9",
    )
    page = Path("one.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 1
    assert "up to 6 runs before predict, at 90 %" in page


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


def test_users_values_and_a_mix_are_asked_for_as_in_python():
    """Countries of .4 and .1 hits, of which the second grows from a half to two thirds of the users."""
    for day in range(1, 10):
        write_countries(day, 150)
        for by, values in ((), ("--users-values",)), (("--by", "country"), ()):
            asked = ("shop.parquet", "-m", "mrr", "--history", "kept", *by, *values)
            told = run("track", *asked, "--as-of", f"2026-11-{day:02}").stderr
            assert ("values of 300 users kept, " in told) == bool(values)
    write_countries(10, 100)

    for options, given, said in (
        ((), {}, "300 of 300 users, each compared with their own mean over 9 runs"),
        (("--mix", "country"), {"mix": "country"}, "DE 0.50 -> 0.33"),
    ):
        asked = ("require", "shop.parquet", "mrr >= trailing", "--history", "kept", *options)
        assert said in run(*asked).stdout
        run(*asked, "-o", "gate.parquet")
        rec = pl.read_parquet("shop.parquet").rec
        found = rec.require("mrr >= trailing", history="kept", raises=False, **given)
        assert pl.read_parquet("gate.parquet").rows() == found.rows()
    result = run("changes", "kept", "--mix", "country", "-o", "changes.parquet")
    assert result.exit_code == 0, result.output
    assert pl.read_parquet("changes.parquet").equals(rf.changes("kept", mix="country"))


def write_countries(day: int, n: int) -> None:
    """Write a judged table of 300 users, of whom so many are in DE, and have more hits."""
    chance = random.Random(day)  # noqa: S311
    country = ["DE"] * n + ["FR"] * (300 - n)
    ranks = [1 if chance.random() < (0.4 if one == "DE" else 0.1) else 5 for one in country]
    shop = {"user": range(300), "item": 1, "rank": ranks, "relevance": 1, "country": country}
    pl.DataFrame(shop).write_parquet("shop.parquet")
