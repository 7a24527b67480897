"""`recframe explain` on files: why two numbers of a user's own data differ, in numbers."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from shop_files import TWO, run, write_tables

ASKED = ("explain", "precision@4")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    write_tables()
    return tmp_path


def rows(*arguments: str) -> list[dict[str, object]]:
    return json.loads(run(*ASKED, *arguments, "--format", "json").stdout)


def test_files_stand_behind_the_metric_in_any_order_with_profiles():
    files = ("two.parquet", "two_truth.parquet")
    wanted = rows("recframe", "jurity", *files)
    # 1 of 4, 1 of 4 and no list; over those with a list, by its length: 1 of 1 and 1 of 2
    assert [row["value"] for row in (wanted[0], wanted[-1])] == pytest.approx([1 / 6, 3 / 4])
    assert rows(*files, "recframe", "jurity") == wanted
    assert rows(files[0], "recframe", files[1], "jurity") == wanted


def test_what_is_bound_in_evaluate_is_bound_here():
    named = [TWO.rename({"item": "movie"}).with_columns(system=pl.lit(name)) for name in "ab"]
    pl.concat(named).write_csv("named.csv", separator=";")
    truth = pl.read_parquet("two_truth.parquet").rename({"item": "movie"})
    truth.write_csv("named_truth.csv", separator=";")
    files = ("named.csv", "named_truth.csv", "--separator", ";", "--columns", "item=movie")
    found = rows(*files, "--model", "system", "--min-relevance", "2")
    # from grade 2 up user 2 has nothing in the list: 1 of 4, 0 and 0
    assert [(row["system"], row["precision@4"]) for row in found] == [
        ("a", pytest.approx(1 / 12)),
        ("b", pytest.approx(1 / 12)),
    ]


def test_segments_are_in_the_table_below():
    shown = run(*ASKED, "two.parquet", "two_truth.parquet", "--by", "user").stdout
    # of many rows none stands in the words
    assert "precision@4, by recframe's own conventions" in shown
    assert "Here it is" not in shown
    assert shown.rstrip().splitlines()[-1].split()[0] == "3"


def test_warnings_are_notes():
    truth = pl.read_parquet("two_truth.parquet").rename({"relevance": "rating"})
    truth.write_parquet("rated.parquet")
    result = run(*ASKED, "two.parquet", "rated.parquet")
    assert result.stderr.startswith("note: unbound_grades: ")
    assert "--columns relevance=rating" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("ranx tow.parquet two_truth.parquet", 1, "no file 'tow.parquet'; did you mean 'two.par"),
        ("ranxx two.parquet two_truth.parquet", 1, "unknown profile 'ranxx'; did you mean 'ranx'?"),
        ("two.parquet two_truth.parquet users.parquet", 2, "RECS and TRUTH are one path each"),
        ("ranx jurity recbole two.parquet two_truth.parquet", 1, "compares two profiles; found 3"),
        ("ranx -o table.xlsx", 1, "cannot write 'table.xlsx'"),
    ],
)
def test_what_is_no_explanation_says_why(arguments, code, said):
    result = run(*ASKED, *arguments.split())
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in " ".join(result.stderr.split())
