"""`recframe split` writes what `rec.split` gives, and tells of it; `recframe audit` checks its files."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result
from polars.testing import assert_frame_equal

from recframe.cli.commands import main

START = datetime(2024, 5, 1)  # noqa: DTZ001  on the clock of the log
LOG = pl.DataFrame(
    {
        "user": [row % 7 for row in range(60)],
        "item": [row * row % 11 for row in range(60)],
        "at": [START + timedelta(hours=12 * row) for row in range(60)],
        "second": [1000 * row for row in range(60)],
    }
)
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "by-time --last 7d": ("by_time", {"last": "7d"}),
    "by-time --at 2024-05-20 --until 2024-05-25": ("by_time", {"at": "2024-05-20", "until": "2024-05-25"}),
    "by-time --share 0.25 --cold drop --seen drop": ("by_time", {"share": 0.25, "cold": "drop", "seen": "drop"}),
    "by-time --last 7d --align day --target last --min-train 2": (
        "by_time", {"last": "7d", "align": "day", "target": "last", "min_train": 2},
    ),
    "rolling --horizon 3d --folds 3 --gap 1d --window 1w": (
        "rolling", {"folds": 3, "horizon": "3d", "gap": "1d", "window": "1w"},
    ),
    "last-per-user --n 2 --folds 2": ("last_per_user", {"n": 2, "folds": 2}),
    "last-per-user --keep 3": ("last_per_user", {"n": 1, "keep": 3}),
    "random --share 0.2 --per log --seed 3": ("random", {"share": 0.2, "per": "log", "seed": 3}),
    "random --n 1": ("random", {"n": 1}),
    "by-user --share 0.3 --fold-in 0.5": ("by_user", {"share": 0.3, "fold_in": 0.5}),
    "by-user --share 0.3 --fold-in 1 --order random": ("by_user", {"share": 0.3, "fold_in": 1, "order": "random"}),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the log, as Parquet and as text."""
    monkeypatch.chdir(tmp_path)
    LOG.write_parquet("log.parquet")
    LOG.write_csv("log.csv")
    return tmp_path


def run(command: str) -> Result:
    return CliRunner().invoke(main, command.split())


@pytest.mark.parametrize("words", CALLS)
@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
def test_files_are_what_python_gives(words: str) -> None:
    rule, options = CALLS[words]
    made = getattr(LOG.rec(time="at").split, rule)(**options)

    name, _, more = words.partition(" ")
    result = run(f"split {name} log.parquet {more} --columns time=at -o there")

    assert result.exit_code in {0, 1}, result.output
    assert_frame_equal(pl.read_parquet("there/train.parquet"), made.train)
    assert_frame_equal(pl.read_parquet("there/truth.parquet"), made.truth)
    assert Path("there/fold_in.parquet").exists() == (len(made.fold_in) > 0)
    assert (result.exit_code == 1) == ("error" in made.audit()["severity"])
    for check in made.audit()["check"]:
        assert check in result.stdout


def test_times_of_text_files_are_read() -> None:
    result = run("split by-time log.csv --last 7d --columns time=at --format csv -o there")

    assert result.exit_code == 0, result.output
    truth = LOG.rec(time="at").split.by_time(last="7d").truth
    assert Path("there/truth.csv").read_text(encoding="utf-8") == truth.write_csv()
    # rows 0 to 45 are train, with all seven users
    assert re.search(r" 46 +7 ", result.stdout)


def test_a_time_in_another_form_is_named() -> None:
    LOG.with_columns(pl.lit("05/01/2024").alias("at")).write_csv("odd.csv")
    result = run("split by-time odd.csv --last 7d --columns time=at")

    assert result.exit_code == 2
    said = "column 'at' is of times, and row 1 of 'odd.csv' has '05/01/2024'; write all times as"
    assert said in " ".join(result.stderr.split())


def test_numbers_are_numbers_of_the_times() -> None:
    split = "split by-time log.parquet --columns time=second -o there"
    assert run(f"{split} --at 8000").exit_code == 0
    assert pl.read_parquet("there/truth.parquet")["second"].min() == 8000
    assert run(f"{split} --last 8000").exit_code == 0
    assert len(pl.read_parquet("there/truth.parquet")) == 8


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("", 2, "takes one of at=, last= and share=, but found none"),
        ("--gap 1d", 2, "No such option"),
    ],
)
def test_options_that_do_not_fit_are_errors(words: str, code: int, said: str) -> None:
    result = run(f"split by-time log.parquet --columns time=at {words}")

    assert result.exit_code == code
    assert said in " ".join(result.stderr.split())


def test_a_rule_that_needs_times_names_the_option() -> None:
    result = run("split by-time log.parquet --last 7d")

    assert result.exit_code == 2
    assert "--columns time=NAME" in result.stderr


def test_the_log_is_not_overwritten() -> None:
    LOG.write_parquet("train.parquet")
    result = run("split by-time train.parquet --last 7d --columns time=at -o .")

    assert result.exit_code == 2
    assert "it is one of the input files" in result.stderr
    assert_frame_equal(pl.read_parquet("train.parquet"), LOG)


def test_audit_of_the_files_finds_a_planted_leak() -> None:
    made = LOG.rec(time="at").split.by_time(last="7d")
    made.truth.write_parquet("truth.parquet")
    made.train.write_parquet("train.parquet")
    lists = made.truth.unique(["user", "item"], maintain_order=True)
    lists = lists.select("user", "item", rank=pl.int_range(1, pl.len() + 1).over("user"))
    lists.write_parquet("lists.parquet")
    command = "audit lists.parquet truth.parquet --train train.parquet --columns time=at"
    sound = run(command)
    assert "future_in_train" not in sound.stdout
    assert sound.exit_code == 0

    leaking = pl.concat([made.train, made.truth.head(3).select(made.train.columns)])
    leaking.write_parquet("train.parquet")
    found = run(f"{command} --format json")
    assert found.exit_code == 1
    checks = pl.read_json(found.stdout.encode())["check"]
    expected = lists.rec(made.truth, train=leaking, time="at").audit()["check"]
    assert checks.to_list() == expected.to_list()
    assert {"future_in_train", "same_rows"} <= {*checks}
