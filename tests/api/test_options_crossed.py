"""Every option of decisions with every method that decides: alone, two together, of each kind of frame, and in the shell.

An option that a method takes changes its answer, also beside each other option.
"""

from __future__ import annotations

import inspect
import io
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_kinds import KINDS, Kind
from lanes import crossed
from shop_files import run

N = 400
METRIC = "hit_rate@1"
OPTIONS: dict[str, Any] = {
    "cluster": "home", "level": 0.8, "margin": 0.9, "min_users": 100, "training": "seed",
    "weight": "orders",
}  # fmt: skip
BOUND = ("training", "weight")
"""What `rec(...)` takes, for all methods."""
IN_THE_SHELL = {"weight": ["--columns", "weight=orders"]}
"""The options whose names there are others."""
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "evaluate": (METRIC, {}),
    "summarize": (METRIC, {}),
    "compare": (METRIC, {"baseline": "old"}),
    "require": (f"{METRIC} >= 0.8 * old", {"raises": False}),
    "power": (METRIC, {"baseline": "old"}),
    "gaps": (METRIC, {}),
    "slices": (METRIC, {}),
}
REFUSED = {
    *((name, "training") for name in ("require", "power", "gaps", "slices")),
    *((name, "weight") for name in ("gaps", "slices")),
}
"""What `rec(...)` takes and a method does not: the rooms of statistics and metrics have the messages."""


def lists(model: str, seed: int, share: float) -> pl.DataFrame:
    """Make lists of one item each: a hit for some users, by chance of a seed."""
    hits = np.random.default_rng([seed, len(model)]).random(N) < share
    return pl.DataFrame(
        {"model": model, "seed": f"s{seed}", "user": range(N), "item": hits.astype(int), "rank": 1}
    )


LISTS = pl.concat(
    lists(model, seed, share)
    for model, share in (("old", 0.5), ("new", 0.6), ("third", 0.7))
    for seed in (1, 2, 3)
)
ONE_TRAINING = LISTS.filter(pl.col("seed") == "s1").drop("seed")
USER = pl.col("user")
TRUTH = pl.DataFrame({"user": range(N), "item": 1})
USERS = TRUTH.select("user", home=USER // 3, orders=1.0 + USER % 5).with_columns(
    country=pl.Series(["DE"] * 165 + ["FR"] * 150 + ["IT"] * 85)
)


def answer(method: str, options: dict[str, Any], kind: Kind = KINDS[0]) -> pl.DataFrame:
    """Return what a method answers with some options, as a frame of Polars."""
    frame = LISTS if "training" in options else ONE_TRAINING
    bound = {name: value for name, value in options.items() if name in BOUND}
    rest = {name: value for name, value in options.items() if name not in BOUND}
    asked, always = METHODS[method]
    rec = kind(frame).rec(truth=kind(TRUTH), users=kind(USERS), model="model", **bound)
    return kind.read(getattr(rec, method)(asked, by="country", **always, **rest))


def taken(method: str) -> dict[str, Any]:
    """Return the options that a method answers with."""
    parameters = inspect.signature(getattr(LISTS.rec, method)).parameters
    return {
        name: value
        for name, value in OPTIONS.items()
        if (name in BOUND or name in parameters) and (method, name) not in REFUSED
    }


CASES = [(method, *pair) for method in METHODS for pair in combinations(taken(method), 2)]


@pytest.mark.parametrize(("method", "one", "other"), CASES)
def test_two_options_together_have_both_effects(method: str, one: str, other: str):
    """Each of the two changes the answer that the other gives alone: none is forgotten beside the other."""
    options = {one: OPTIONS[one], other: OPTIONS[other]}
    both = answer(method, options)
    for name in options:
        assert not both.equals(alone(method, name)), name


@cache
def alone(method: str, name: str) -> pl.DataFrame:
    return answer(method, {name: OPTIONS[name]})


@pytest.mark.parametrize(("method", "kind"), crossed([*METHODS], KINDS[1:], fast=7))
def test_all_options_that_go_together_give_the_same_of_each_kind(method: str, kind: Kind):
    options = taken(method)
    found, expected = answer(method, options, kind), answer(method, options)
    assert_frame_equal(found, expected, check_dtypes="pandas" not in kind.name)


@pytest.mark.parametrize("method", METHODS)
def test_the_shell_takes_the_same_options(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    options = taken(method)
    (LISTS if "training" in options else ONE_TRAINING).write_parquet("lists.parquet")
    TRUTH.write_parquet("liked.parquet")
    USERS.write_parquet("people.parquet")

    asked, always = METHODS[method]
    given = ["lists.parquet", "liked.parquet", "--users", "people.parquet", "--model", "model"]
    given += ["--by", "country", "--format", "json"]
    given += [asked] if method == "require" else ["-m", asked]
    given += ["--baseline", "old"] if "baseline" in always else []
    for name, value in options.items():
        given += IN_THE_SHELL.get(name, [f"--{name.replace('_', '-')}", str(value)])
    result = run(method, *given)

    assert result.exit_code == 0 or method == "require", result.output
    found = pl.read_json(io.StringIO(result.stdout))
    expected = pl.read_json(io.StringIO(answer(method, options).write_json()))
    assert_frame_equal(found, expected)
