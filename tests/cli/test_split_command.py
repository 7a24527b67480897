"""`recframe split` writes what `rec.split` gives, and tells of it; `recframe audit` checks its files."""

from __future__ import annotations

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
    "--by-time 7d": ("by_time", {"last": "7d"}),
    "--by-time 2024-05-20 --until 2024-05-25": ("by_time", {"at": "2024-05-20", "until": "2024-05-25"}),
    "--by-time 0.25 --cold drop --seen drop": ("by_time", {"share": 0.25, "cold": "drop", "seen": "drop"}),
    "--by-time 7d --align day --target last --min-train 2": (
        "by_time", {"last": "7d", "align": "day", "target": "last", "min_train": 2},
    ),
    "--rolling 3d --folds 3 --gap 1d --window 1w": (
        "rolling", {"folds": 3, "horizon": "3d", "gap": "1d", "window": "1w"},
    ),
    "--last-per-user 2 --folds 2": ("last_per_user", {"n": 2, "folds": 2}),
    "--last-per-user 1 --keep 3": ("last_per_user", {"n": 1, "keep": 3}),
    "--random 0.2 --per log --seed 3": ("random", {"share": 0.2, "per": "log", "seed": 3}),
    "--random 1": ("random", {"n": 1}),
    "--by-user 0.3 --fold-in 0.5": ("by_user", {"share": 0.3, "fold_in": 0.5}),
    "--by-user 0.3 --fold-in 1 --order random": ("by_user", {"share": 0.3, "fold_in": 1, "order": "random"}),
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

    command = f"split log.parquet {words} --columns time=at -o there --labels"
    result = run(command)

    assert result.exit_code in {0, 1}, result.output
    assert_frame_equal(pl.read_parquet("there/train.parquet"), made.train)
    assert_frame_equal(pl.read_parquet("there/truth.parquet"), made.truth)
    assert_frame_equal(pl.read_parquet("there/labels.parquet"), made.labels)
    assert Path("there/fold_in.parquet").exists() == (len(made.fold_in) > 0)
    assert (result.exit_code == 1) == ("error" in made.audit()["severity"])
    for check in made.audit()["check"]:
        assert check in result.stdout


def test_times_of_text_files_are_read() -> None:
    words = "--by-time 7d --columns time=at --format csv -o there"
    result = run(f"split log.csv {words}")

    assert result.exit_code == 0, result.output
    truth = LOG.rec(time="at").split.by_time(last="7d").truth
    assert Path("there/truth.csv").read_text(encoding="utf-8") == truth.write_csv()


def test_a_time_in_another_form_is_named() -> None:
    LOG.with_columns(pl.lit("05/01/2024").alias("at")).write_csv("odd.csv")
    result = run("split odd.csv --by-time 7d --columns time=at")

    assert result.exit_code == 1
    assert "'odd.csv' has '05/01/2024'; write times as 2024-05-01" in " ".join(
        result.stderr.split()
    )


def test_numbers_are_named_as_length_or_point() -> None:
    split = "split log.parquet --columns time=second -o there --by-time"
    assert "last=8000" in run(f"{split} 8000").stderr
    assert run(f"{split} at=8000").exit_code == 0
    assert pl.read_parquet("there/truth.parquet")["second"].min() == 8000
    assert run(f"{split} last=8000").exit_code == 0
    assert len(pl.read_parquet("there/truth.parquet")) == 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "write one of --by-time, --rolling"),
        ("--by-time 7d --random 0.2", "found --by-time and --random"),
        ("--by-time 7d --gap 1d", "--gap is an option of --rolling, and not of --by-time"),
        ("--rolling 7d", "--rolling needs --folds N"),
    ],
)
def test_options_that_do_not_fit_are_errors_of_usage(words: str, said: str) -> None:
    result = run(f"split log.parquet {words}")

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_a_rule_that_needs_times_names_the_option() -> None:
    result = run("split log.parquet --by-time 7d")

    assert result.exit_code == 1
    assert "--columns time=NAME" in result.stderr


def test_the_log_is_not_overwritten() -> None:
    LOG.write_parquet("train.parquet")
    result = run("split train.parquet --by-time 7d --columns time=at -o .")

    assert result.exit_code == 1
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
