"""The expectation over every order of tied items, by hand (the formulas of McSherry and Najork) and by brute force."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import ask_one, rows
from frame_kinds import Kind
from plain_calls import evaluate
from plain_policies import (
    Asked,
    Case,
    Policy,
    Row,
    Rows,
    each_item_once,
    grouped,
    identified,
    place_of,
    prepared,
)
from plain_scene import mean
from random_cases import CASES, exploring, same, seeded, takes
from random_cases import given as frames_of
from tied_lists import LINEAR, scored
from ways_to_run import EAGER, WAYS, Way, in_turn

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")


@pytest.mark.parametrize(
    ("scores", "relevance", "unlisted", "k", "expected"),
    [
        ([3, 2, 2, 2, 1], [0, 1, 0, 2, 1], 1, 3, (4 / 9, 1 / 3, 1, 4 / 9, 1 / 6, 1.130930, 0.361212)),
        ([1, 1, 1, 1], [1, 0, 0, 0], 0, 2, (1 / 4, 1 / 2, 1 / 2, 3 / 8, 3 / 8, 0.407732, 0.407732)),
        ([2, 2, 1, 1, 1], [1, 1, 0, 3, 0], 0, 4, (2 / 3, 8 / 9, 1, 1, 0.861111, 2.561606, 0.620104)),
    ],
)  # fmt: skip
def test_expectations_worked_by_hand(kind: Kind, scores, relevance, unlisted, k, expected):
    recs = scored(*scores, relevance=relevance)
    truth = recs.filter(pl.col("relevance") > 0).select("user", "item", "relevance")
    truth = pl.concat(
        [truth, rows(*[("u", "z", 1)] * unlisted, schema=("user", "item", "relevance"))]
    )
    metrics = ["precision", "recall", "hit_rate", "mrr", "map", "dcg", "ndcg"]

    found = ask_one(kind, recs.drop("relevance"), *metrics, k=k, truth=truth, ties="expected")

    assert found.pop("n_users") == 1
    assert list(found.values()) == pytest.approx(expected, abs=1e-6)


def orders(lists: Rows, keys: tuple[str, ...]) -> Iterator[list[Row]]:
    """The lists with ranks, once for every order of the tied items of each of them."""
    choices = []
    for own in grouped(lists, *keys).values():
        by_score = sorted(each_item_once(own), key=lambda row: place_of(row["score"], "item"))
        choices += [[*permutations(tie)] for tie in grouped(by_score, "score").values()]
    for chosen in product(*choices):
        found: dict[Any, list[Row]] = {}
        for row in itertools.chain(*chosen):
            own = found.setdefault(tuple(row.get(name) for name in keys), [])
            own.append({**row, "rank": len(own) + 1.0})
        yield [dict(without_score(row)) for own in found.values() for row in own]


def without_score(row: Row) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in row.items() if name != "score")


def by_brute_force(asked: list[Asked], case: Case) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Each segment's mean over the orders in which a value is not null."""
    values: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    case = prepared(case)
    of_lists = ("model", "user") if case.policy.model else ("user",)
    for recs in orders(identified(case.recs), of_lists):
        for row in evaluate(asked, replace(case, recs=recs)):
            key = tuple(row[name] for name in case.keys)
            segment = values.setdefault(key, {str(one): [] for one in asked})
            for name, own in segment.items():
                own.extend([row[name]] if row[name] is not None else [])
    return {key: {name: mean(own) for name, own in one.items()} for key, one in values.items()}


def check_expectation(case: Case, asked: list[Asked], *ways: Way) -> None:
    """Compare each segment of the one user's lists, or of the lists of users, with brute force."""
    case = replace(case, policy=replace(case.policy, ties="expected"))
    expected = by_brute_force(asked, case)
    for way in ways or (EAGER,):
        result = way.answer(
            lambda make: frames_of(case, make), [*map(str, asked)], list(case.by) or None
        )
        found = {tuple(row[name] for name in case.keys): row for row in result.to_dicts()}
        assert found.keys() == expected.keys()
        for key, row in found.items():
            wrong = {
                name: (row[name], value)
                for name, value in expected[key].items()
                if not same(row[name], value)
            }
            assert not wrong, way


SCORES_OF_TIES = [[1.0], [0.0, 1.0], [0.5, 1.0, 2.0], [None, 1.0, math.nan, -math.inf]]


def a_tied_case(choose: Any, *, n_items: int = 6) -> Case:
    """One user's list with few scores, with repeats of items, judged itself or compared with a truth."""
    values, grades = choose(SCORES_OF_TIES), [None, 0, 1, 1, 2, 3.0]
    by = choose([("user",), ("user", "genre"), ("user", "item")])
    items = [f"i{number}" for number in range(choose(range(1, n_items + 1)))]
    recs = [{"user": "u", "item": item, "score": choose(values)} for item in items]
    if len(items) < n_items and choose([True, False]):
        recs.append(recs[0] | {"score": choose(values)})
    policy = Policy(
        relevant_from=choose(["truth", "list"]),
        no_relevant=choose(["zero", "null"]),
        min_relevance=choose([None, 2]),
    )
    genres = [{"item": item, "genre": choose("xy")} for item in items] if "genre" in by else None
    if choose([True, False]):
        judged = [row | {"relevance": choose(grades)} for row in recs]
        return Case(judged, items=genres, by=by, policy=policy)
    there = [item for item in [*items, "j", "k"] if choose([True, True, False])]
    truth = [{"user": "u", "item": item, "relevance": choose(grades)} for item in there]
    truth = truth or [{"user": "u", "item": "j", "relevance": 1}]
    return Case(recs, truth, items=genres, by=by, policy=policy)


def without_uncertain_counts(case: Case) -> list[Asked]:
    """What can be asked of a case: how many items of a segment of rows are among the first k is uncertain."""
    counts = {"list_length", "judged"} if case.by != ("user",) else set()
    return [one for one in LINEAR if one.k is None or one.name not in counts]


@pytest.mark.slow
def test_every_metric_with_an_expectation_is_that_of_every_order():
    rng = seeded("expectations")
    for number in range(20):
        case = a_tied_case(rng.choice, n_items=6 if number % 10 == 0 else 5)
        check_expectation(case, without_uncertain_counts(case))


@exploring
@given(data=st.data())
def test_small_random_expectations(data):
    case = a_tied_case(lambda values: data.draw(st.sampled_from(values)), n_items=4)
    asked = data.draw(
        st.lists(
            st.sampled_from(without_uncertain_counts(case)), min_size=1, max_size=6, unique_by=str
        )
    )
    ways = [way for way in WAYS if takes(way, case)]
    check_expectation(case, asked, data.draw(st.sampled_from(ways)))


@pytest.mark.parametrize("shape", CASES)
def test_every_way_to_run_gives_the_expectation_of_models_and_segments(shape: str):
    rng = seeded(f"expected {shape}")
    policies = (Policy(), Policy(universe="all"), Policy(model=True), Policy(relevant_from="list"))
    names = ("ndcg", "map", "mrr", "hit_rate", "rbp", "recall")
    asked = [Asked(name, k) for name in names for k in (None, 2)]
    segments = ((), ("user",), ("genre",))
    for place, (policy, by) in enumerate(product(policies, segments)):
        case = few_lists(rng, shape, policy, by)
        check_expectation(case, asked, *(way for way in in_turn(place) if takes(way, case)))


def few_lists(rng: random.Random, shape: str, policy: Policy, by: tuple[str, ...]) -> Case:
    """Three users, of whom two have a list of three items in it, for each of one or two models."""
    models = [{"model": name} for name in "mn"] if policy.model else [{}]
    recs: list[dict[str, Any]] = [
        {"user": user, "item": item, "score": float(rng.randint(0, 1)), **model}
        for model in models
        for user in ("u", "v")
        for item in rng.sample("abcd", 3)
    ]
    pairs = [(user, item) for user in ("u", "w") for item in rng.sample("abcd", 2)]
    truth = [{"user": u, "item": i, "relevance": rng.randint(1, 3)} for u, i in pairs]
    genres = [{"item": item, "genre": "x" if item < "c" else "y"} for item in "abcd"]
    items = genres if by == ("genre",) else None
    if shape == "judged":
        recs = [row | {"relevance": rng.choice([None, 0, 1, 2])} for row in recs]
    return Case(recs, truth if shape == "two" else None, items=items, by=by, policy=policy)
