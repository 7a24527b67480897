"""Trainings in calls that know none, in the shell, of engines and in reports; and columns of seeds that nobody bound."""

from __future__ import annotations

import json

import polars as pl
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal

from recframe.cli.commands import main
from recframe.errors import RecframeWarning
from trained_lists import bound, lists, truth_of

# What is refused, and what is warned of


def whole(trainings) -> pl.DataFrame:
    """Return lists of which each user has one of each training."""
    rows = [
        (model, seed, user, (user + seed + rank) % 30, rank)
        for model, seeds in trainings.items()
        for seed in seeds
        for user in range(24)
        for rank in range(1, 6)
    ]
    return pl.DataFrame(rows, schema=["model", "seed", "user", "item", "rank"], orient="row")


def test_trainings_that_are_not_bound_are_warned_of_and_found():
    recs = whole({"a": [1, 2], "b": [3, 4]})
    rec = recs.rec(truth_of(1), model="model")
    with pytest.warns(RecframeWarning, match=r"write rec\(training='seed'\)"):
        rec.evaluate("ndcg@5")
    found = rec.audit().filter(pl.col("check") == "pooled_models")
    assert "rec(training='seed')" in found["remedy"].item()
    assert "pooled_models" not in bound(recs, 1).audit()["check"]


def test_models_that_are_not_bound_are_warned_of_beside_trainings():
    rec = whole({"a": [1, 2], "b": [1, 2]}).rec(truth_of(1), training="seed")
    with pytest.warns(RecframeWarning, match=r"write rec\(model='model'\)"):
        rec.evaluate("ndcg@5")


# The shell, engines and the report


def test_the_shell_takes_trainings(tmp_path):
    recs = lists(18, {"a": [1, 2, 3], "b": [4, 5, 6]})
    recs.write_parquet(tmp_path / "recs.parquet")
    truth_of(18).write_parquet(tmp_path / "truth.parquet")
    paths = [str(tmp_path / f"{name}.parquet") for name in ("recs", "truth")]
    options = ["--model", "model", "--training", "seed", "-m", "ndcg@5"]
    rec = recs.rec(truth_of(18), model="model", training="seed")
    asked = {"evaluate": ([], {}), "compare": (["--baseline", "a"], {"baseline": "a"})}
    for command, (more, given_here) in asked.items():
        found = CliRunner().invoke(main, [command, *paths, *options, *more, "--format", "json"])
        assert found.exit_code == 0, found.output
        wanted = getattr(rec, command)("ndcg@5", **given_here)
        assert_frame_equal(pl.DataFrame(json.loads(found.stdout)), wanted, check_dtypes=False)
    refused = CliRunner().invoke(main, ["gaps", *paths, *options, "--by", "user"])
    assert "--training seed" in refused.output.replace("'", "")
