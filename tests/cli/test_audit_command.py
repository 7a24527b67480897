"""What `recframe audit` promises: the findings of `rec.audit()` from files, and an exit code that tells of errors."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from recframe.audit.report import CHECKS, COLUMNS
from recframe.cli.commands import main
from recframe.frames import hints
from recframe.frames.hints import InShell

RECS = pl.DataFrame({"user": [1, 1, 2, 2], "item": [10, 20, 10, 30], "rank": [1, 2, 1, 2]})
TRUTH = pl.DataFrame({"user": [1, 1, 2], "item": [20, 40, 30]})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    tables = {
        "recs": RECS,
        "truth": TRUTH,
        "zero": RECS.with_columns(pl.col("rank") - 1),
        "twice": pl.concat(
            [
                RECS.with_columns(system=pl.lit(name), item=pl.col("item") + n)
                for n, name in enumerate("ab")
            ]
        ),
        "train": pl.DataFrame({"user": [1], "item": [10]}),
        "items": pl.DataFrame({"item": [10, 20, 30]}),
    }
    for name, frame in tables.items():
        frame.write_parquet(f"{name}.parquet")
    return tmp_path


def audit(*arguments: str, **environment: str) -> Result:
    return CliRunner(env=environment).invoke(main, ["audit", *arguments])


def test_nothing_odd_is_said_and_exits_with_zero():
    result = audit("recs.parquet", "truth.parquet", "-k", "2")

    assert (result.exit_code, result.stdout) == (0, "nothing odd was found\n")


def test_an_error_is_shown_and_exits_with_one():
    result = audit("zero.parquet", "truth.parquet")

    assert result.exit_code == 1
    header, _, row, *_ = result.stdout.splitlines()
    assert header.split() == ["check", "severity", "frame", "rows", "users", "example"]
    assert row.split()[:5] == ["rank_below_1", "error", "recommendations", "2", "2"]
    assert (
        "rank_below_1: a metric raises. To mend: ranks start at 1: if they count from 0, add 1;"
        in result.stdout
    )


def test_warnings_alone_exit_with_zero():
    result = audit(
        *[
            "recs.parquet", "truth.parquet", "--train", "train.parquet", "--items", "items.parquet",
            "-k", "3",
        ]
    )  # fmt: skip

    assert result.exit_code == 0
    checks = [line.split()[0] for line in result.stdout.splitlines() if " warning " in line]
    # item 40 of the truth is not in the catalogue; item 10 was in train; both lists have two items
    assert checks == ["short_lists", "recommended_in_train", "unknown_items"]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_remedy_has_none_of_the_words_of_python(check):
    with hints.in_words(InShell({"recs": "recs.parquet"})):
        assert not re.search(
            r"\brec\(|\bframe\b|\b(by|ties|users|items)=|\.unique", str(check.remedy)
        )


@pytest.mark.slow
def test_the_remedy_speaks_of_options_of_the_command():
    result = audit("twice.parquet", "truth.parquet")

    assert result.exit_code == 1
    assert "if column 'system' names systems, write --model system" in result.stdout
    assert audit("twice.parquet", "truth.parquet", "--model", "system", "-k", "2").exit_code == 0


@pytest.mark.parametrize(("recs", "code"), [("zero.parquet", 1), ("recs.parquet", 0)])
def test_findings_are_written_with_every_column(recs, code):
    result = audit(recs, "truth.parquet", "-o", "findings.csv")

    assert result.exit_code == code
    assert result.stdout == ""
    assert pl.read_csv("findings.csv").columns == list(COLUMNS)
    assert f"wrote findings.csv ({code} row" in result.stderr


def test_ids_of_files_that_disagree_are_a_finding():
    TRUTH.with_columns(pl.col("item").cast(pl.String)).write_parquet("text.parquet")
    result = audit("recs.parquet", "text.parquet")

    assert result.exit_code == 1
    said = "Int64 in 'recs.parquet', String in 'text.parquet'; cast them to one dtype, so that they can match"
    assert "id_dtypes" in result.stdout
    assert said in result.stdout


def test_what_cannot_be_read_is_one_line():
    result = audit("recs.parquet", "truth.parquet", "--train", "trian.parquet")
    assert (result.exit_code, result.stderr) == (
        1,
        "error: there is no file 'trian.parquet'; did you mean 'train.parquet'?\n",
    )

    pl.DataFrame({"user": [1]}).write_parquet("users_only.parquet")
    result = audit("recs.parquet", "truth.parquet", "--train", "users_only.parquet")
    said = "error: 'users_only.parquet' has no column 'item'. It has 'user'. Name the column of the item: --columns item=NAME"
    assert result.exit_code == 1
    assert result.stderr.startswith(said)


def test_options_are_those_of_evaluate_and_its_own():
    assert audit("recs.parquet", "truth.parquet", "-k", "0").exit_code == 1
    names = RECS.rename({"user": "user_id"}), TRUTH.rename({"user": "user_id"})
    for name, frame in zip(("named", "named_truth"), names, strict=True):
        frame.write_csv(f"{name}.csv")
    assert (
        audit("named.csv", "named_truth.csv", "--columns", "user=user_id", "-k", "2").stdout
        == "nothing odd was found\n"
    )
