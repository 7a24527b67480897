"""Every option of decisions with every method that decides: alone, two together, of each kind of frame, and in the shell.

An option that a method takes changes its answer, also beside each other option. One that it does not take has its reason in
`REFUSED`.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Iterable
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
from recframe.errors import RecframeError
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
NO_INTERVALS = "it has values alone, and nothing is decided"
NO_DIFFERENCE = "it compares no models, so there is no difference to be within a margin"
REFUSED = {
    **{("evaluate", name): NO_INTERVALS for name in ("cluster", "level", "margin", "min_users")},
    ("summarize", "margin"): NO_DIFFERENCE,
    ("gaps", "margin"): NO_DIFFERENCE,
    ("slices", "margin"): NO_DIFFERENCE,
    ("require", "margin"): "the requirement says it: 0.8 * old is a margin of 0.2",
    ("power", "margin"): "it is asked of a difference",
    ("summarize", "min_users"): "it decides nothing: the note says where few users are",
    ("power", "min_users"): "it decides nothing: it says how many users there should be",
}
"""What a method does not take, and why."""
COUNT_ALIKE = "unweighted means over users"
UNANSWERED: dict[tuple[str, frozenset[str]], str] = {
    **{(name, frozenset({"training"})): "one list of each user" for name in ("gaps", "slices", "power", "require")},
    ("gaps", frozenset({"weight"})): COUNT_ALIKE,
    ("slices", frozenset({"weight"})): COUNT_ALIKE,
}  # fmt: skip
"""What a method refuses when it is called, and a part of what it says."""


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


def said_of(method: str, options: Iterable[str]) -> str | None:
    """Return what a method says of options that it refuses; None where it answers."""
    refused = (
        words for (of, names), words in UNANSWERED.items() if of == method and names <= set(options)
    )
    return next(refused, None)


def taken(method: str) -> dict[str, Any]:
    """Return the options that a method takes."""
    return {name: value for name, value in OPTIONS.items() if (method, name) not in REFUSED}


@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_does_not_take_is_refused_for_a_reason(method: str):
    parameters = inspect.signature(getattr(LISTS.rec, method)).parameters
    assert {name for name in OPTIONS if name not in BOUND and name not in parameters} == {
        name for name in OPTIONS if (method, name) in REFUSED
    }


CASES = [(method, *pair) for method in METHODS for pair in combinations(taken(method), 2)]


@pytest.mark.parametrize(("method", "one", "other"), CASES)
def test_two_options_together_have_both_effects(method: str, one: str, other: str):
    """Each of the two changes the answer that the other gives alone: none is forgotten beside the other."""
    options = {one: OPTIONS[one], other: OPTIONS[other]}
    words = said_of(method, options)
    if words is not None:
        with pytest.raises(RecframeError, match=words):
            answer(method, options)
        return
    both = answer(method, options)
    for name in options:
        assert not both.equals(alone(method, name)), name


@cache
def alone(method: str, name: str) -> pl.DataFrame:
    return answer(method, {name: OPTIONS[name]})


@pytest.mark.parametrize(("method", "kind"), crossed([*METHODS], KINDS[1:], fast=7))
def test_all_options_that_go_together_give_the_same_of_each_kind(method: str, kind: Kind):
    options = compatible(method)
    found, expected = answer(method, options, kind), answer(method, options)
    assert_frame_equal(found, expected, check_dtypes="pandas" not in kind.name)


def compatible(method: str) -> dict[str, Any]:
    """Return the options that a method takes, the first of those that it refuses together."""
    options: dict[str, Any] = {}
    for name, value in taken(method).items():
        if said_of(method, [*options, name]) is None:
            options[name] = value
    return options


@pytest.mark.parametrize("method", METHODS)
def test_the_shell_takes_the_same_options(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    options = compatible(method)
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
