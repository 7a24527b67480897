"""`recframe evaluate` with the tables that metrics beyond accuracy need."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from recframe.cli.commands import main

RECS = pl.DataFrame(
    {"user": [1, 1, 2, 2], "item": list("abac"), "rank": [1, 2, 1, 2], "model": list("xxyy")}
)
TRUTH = pl.DataFrame({"user": [1], "item": ["a"]})
TRAIN = pl.DataFrame({"user": [1, 2, 3, 4], "item": list("aabc")})
ITEMS = pl.DataFrame({"item": list("abcd")})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    for name, frame in {"recs": RECS, "truth": TRUTH, "train": TRAIN, "items": ITEMS}.items():
        frame.write_parquet(f"{name}.parquet")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def evaluate(*arguments: str) -> dict[str, list[object]]:
    result = run("evaluate", *arguments, "-o", "result.parquet")
    assert result.exit_code == 0, result.output
    return pl.read_parquet("result.parquet").to_dict(as_series=False)


SIDES = ("--train", "train.parquet", "--items", "items.parquet")


def test_support_stands_behind_each_metric():
    found = evaluate("recs.parquet", "truth.parquet", *SIDES, "-m", "ndcg@1,novelty@1", "--support")
    assert list(found) == ["n_users", "n_lists", "ndcg@1", "n ndcg@1", "novelty@1", "n novelty@1"]
    assert (found["n ndcg@1"], found["n novelty@1"]) == ([1], [2])


def test_lists_alone_are_enough_for_novelty_and_coverage():
    # a is known to two of four users, b and c to one each: (1 + 2) / 2 bits in both lists
    found = evaluate("recs.parquet", *SIDES, "-m", "novelty@2,coverage@2,repeat_rate@2")

    assert found.pop("novelty@2") == pytest.approx([1.5])
    assert found == {"n_users": [2], "n_lists": [2], "coverage@2": [0.75], "repeat_rate@2": [0.5]}


def test_they_stand_beside_accuracy():
    found = evaluate("recs.parquet", "truth.parquet", *SIDES, "-m", "recall@2", "-m", "coverage@1")

    assert found == {"n_users": [1], "n_lists": [2], "recall@2": [1.0], "coverage@1": [0.25]}


def test_a_reference_is_a_table_or_the_name_of_a_model():
    asked = ("evaluate", "recs.parquet", *SIDES, "-m", "novelty@2", "--reference")

    assert run(*asked, "recs.parquet").exit_code == 0
    assert run(*asked, "x", "--model", "model").exit_code == 0
    assert "there is no file 'x'" in run(*asked, "x").stderr
