"""recframe against the plain-Python definitions: every metric, parameter, policy and way to run, on messy random input."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import recframe as rf
from frame_kinds import Kind
from lanes import crossed
from plain_accuracy import METRICS
from plain_policies import (
    Asked,
    Case,
    Policy,
    Rows,
    evaluate,
    grouped,
    has_rank,
    highest,
    identified,
    is_judged,
    is_one_list,
    judged_rows,
    models_of,
    ranked,
    universe,
    without_nan,
)
from random_cases import (
    AT_ONE_CUT,
    CASES,
    COUNTRIES,
    EVERYTHING,
    GENRES,
    TIES,
    UNIVERSES,
    VARIANTS,
    bound,
    cases,
    check,
    check_on,
    compare,
    described,
    exploring,
    frame,
    judged_case,
    seeded,
    some_metrics,
    two_frames,
    with_segments_of_rows,
)
from recframe.metrics.language.registry import registered
from strategies import examples
from ways_to_run import EAGER, LARGE, WAYS, Way, in_turn

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")


# they have definitions of their own: plain_propensity.py, test_auc_of_catalogue.py
OF_OTHER_FRAMES = {"weights", "exponent", "min_propensity", "over"}


def test_the_plain_definitions_cover_every_accuracy_metric_and_every_choice_of_its_parameters():
    own = {name: one for name, one in registered().items() if one.definition.family == "accuracy"}
    assert set(own) == set(METRICS)
    for name, metric in own.items():
        for parameter, about in metric.definition.parameters.items():
            if parameter in OF_OTHER_FRAMES:
                continue
            tried = {
                settings.get(parameter, about.default) for one, settings in VARIANTS if one == name
            }
            kind, choices = metric.definition.kinds[parameter]
            assert tried >= (set(choices) if kind is Literal else tried)
            assert len(tried) > 1, (name, parameter)


in_both_shapes = pytest.mark.parametrize("shape", CASES)


@in_both_shapes
def test_every_metric_at_every_k_agrees_for_each_user(shape: str):
    case = CASES[shape](seeded(f"users {shape}").choice, 240, 30, policy=Policy())
    check_on(WAYS, replace(case, by=("user",), users=None, items=None), EVERYTHING)


@in_both_shapes
def test_means_by_segment_and_model_agree(shape: str):
    rng = seeded(f"segments {shape}")
    policies = (Policy(), Policy(model=True))
    cases = [CASES[shape](rng.choice, 120, 25, policy=one) for one in policies for _ in range(3)]
    for place, case in enumerate(cases):
        check_on(in_turn(place), case, AT_ONE_CUT)


OF_ROWS = [
    (False, ("genre",)),
    (True, ("genre",)),
    (True, ("genre", "country")),
    (False, ("genre", "item")),
]


@pytest.mark.slow
@in_both_shapes
@pytest.mark.parametrize("order", ["rank", "score"])
def test_a_pair_counts_in_each_segment_of_rows_in_which_it_has_a_row(order: str, shape: str):
    rng = seeded(f"rows {shape} {order}")
    for place, (model, by) in enumerate(
        OF_ROWS, start=4 * (order == "rank") + 2 * (shape == "two")
    ):
        policy = Policy(
            rng.choice(UNIVERSES),
            model=model,
            ties=rng.choice(TIES[:4]) if order == "score" else "item",
        )
        case = replace(
            CASES[shape](rng.choice, 90, 9, order, policy), by=by, users=None, items=None
        )
        check_on(in_turn(place), with_segments_of_rows(rng.choice, case), AT_ONE_CUT)


@pytest.mark.parametrize(
    ("universe", "no_relevant", "relevant_from", "shape"),
    crossed(UNIVERSES, ["zero", "skip", "null"], ["truth", "list"], [*CASES], fast=3),
)
def test_every_policy_agrees(
    shape: str, relevant_from: str, no_relevant: str, universe: str | None
):
    name = f"policies {shape} {relevant_from} {no_relevant} {universe}"
    rng = seeded(name)
    policy = Policy(
        universe,
        no_relevant,
        relevant_from=relevant_from,
        min_relevance=rng.choice([None, 0.5, 2, "any"]),
        min_relevance_for=rng.choice(["all", "binary"]),
        model=rng.choice([False, True]),
    )
    case = CASES[shape](rng.choice, 60, 12, policy=policy)
    check_on(in_turn(len(name)), case, AT_ONE_CUT)


@pytest.mark.slow
@in_both_shapes
def test_ranks_from_scores_agree(shape: str):
    rng = seeded(f"scores {shape}")
    policies = (Policy(), Policy(model=True), Policy(relevant_from="list", no_relevant="skip"))
    every = [replace(policy, ties=ties) for policy in policies for ties in TIES]
    for place, policy in enumerate(every):
        case, third = CASES[shape](rng.choice, 120, 20, "score", policy), place + place // len(TIES)
        check_on(in_turn(place), case, AT_ONE_CUT[third % 3 :: 3])


@exploring
@given(case=cases(), asked=some_metrics, way=st.sampled_from(WAYS))
def test_small_random_cases_agree(case: Case, asked: list[Asked], way: Way):
    check(case, asked, way)


# a relevant item that gains nothing, tied with one that is not relevant
GAINS_NOTHING = Case(
    recs=[
        {"user": "u", "item": "A", "score": None, "relevance": -1.0},
        {"user": "u", "item": "B", "score": None, "relevance": None},
    ],
    truth=None,
    policy=Policy(min_relevance="any", ties="pessimistic"),
)


@exploring
@example(case=GAINS_NOTHING, asked=[Asked("hit_rate", 1)], way=EAGER)
@given(case=cases(order="score"), asked=some_metrics, way=st.sampled_from(WAYS))
def test_small_random_cases_with_scores_agree(case: Case, asked: list[Asked], way: Way):
    check(case, asked, way)


INTEGERS = {"user": pl.Int32, "item": pl.Int64, "rank": pl.UInt8, "relevance": pl.Int8}


def with_integers(case: Case) -> Case:
    """The case with whole numbers, negative ids among them, where it had text and fractions."""

    def number(name: str, value: Any) -> Any:
        if name in {"user", "item"}:
            return value and (
                int(value[1:]) - 7 if name == "user" else "DCBAJIHGFE".index(value) - 4
            )
        return None if value is None or not math.isfinite(value) else math.ceil(value)

    def plain(rows: Rows) -> Rows:
        return [{name: number(name, value) for name, value in row.items()} for row in rows]

    return replace(case, recs=plain(case.recs), truth=case.truth and plain(case.truth))


# NumPy has no null integer: it makes floats of ids with nulls, which match no integers.
OF_INTEGERS = [way for way in WAYS if way.name != "pandas"]


@in_both_shapes
def test_integer_ids_ranks_and_relevances_agree(shape: str):
    case = CASES[shape](seeded(f"integers {shape}").choice, 200, 25, policy=Policy())
    case = with_integers(replace(case, by=(), users=None, items=None))
    check_on(OF_INTEGERS, replace(case, by=("user",)), AT_ONE_CUT, INTEGERS)
    check_on([EAGER, LARGE], case, EVERYTHING[::4], INTEGERS)


def expressions(asked: Sequence[Asked]) -> list[pl.Expr]:
    return [rf.parse(str(one)).expr() for one in asked]


def eighths(asked: Sequence[Asked]) -> list[Sequence[Asked]]:
    """Some expressions at a time: nothing is shared between them in one aggregation, which takes long for many."""
    return [asked[first::8] for first in range(8)]


def judged_lists(name: str, n_rows: int, n_users: int) -> Case:
    case = judged_case(seeded(name).choice, n_rows, n_users, policy=Policy())
    rows = [
        {role: row[role] for role in ("user", "item", "rank", "relevance")} for row in case.recs
    ]
    lists = [own for own in grouped(rows, "user").values() if is_one_list(own)]
    assert len(lists) > n_users / 4
    return Case([row for own in lists for row in own], by=("user",))


@pytest.mark.slow
@pytest.mark.parametrize("k", [None, 3])
def test_expressions_in_a_group_by_agree(k: int | None):
    case, asked = judged_lists("expressions", 150, 20), [one for one in EVERYTHING if one.k == k]
    users = pl.col("user").is_in(
        {row["user"] for row in case.recs if row["item"] is not None and row["user"]}
    )
    for few in eighths(asked):
        found = (
            frame(case.recs, {}).group_by("user").agg(expressions(few)).filter(users).sort("user")
        )
        compare(found.to_dicts(), evaluate(few, case), ["user"])


@settings(exploring, max_examples=examples(30).max_examples)
@given(case=cases(), asked=some_metrics)
def test_an_expression_over_one_list_agrees(case: Case, asked: list[Asked]):
    rows = [{"relevance": 1.0} | row | {"user": "u"} for row in case.recs]
    rows = [{role: row[role] for role in ("user", "item", "rank", "relevance")} for row in rows]
    assume(is_one_list(rows))
    (expected,) = evaluate(
        asked, Case([*rows, {"user": "u", "item": "A", "rank": None, "relevance": None}])
    )
    (found,) = frame(rows, {}).select(expressions(asked)).to_dicts()
    compare([{"n_users": 1} | found], [expected], [])


def two_plain_frames(rng: random.Random, policy: Policy) -> Case:
    """Two frames whose segments are on side frames, and whose models all have a name."""
    case = two_frames(rng.choice, 60, 10, policy=policy)
    recs = [
        {name: value for name, value in row.items() if name not in {"country", "genre"}}
        for row in case.recs
    ]
    recs = [row | {"model": row["model"] or "m1"} if policy.model else row for row in recs]
    truth = [
        {"relevance": 1.0} | {name: row[name] for name in row if name not in {"country", "genre"}}
        for row in case.truth
    ]
    users = described(rng.choice, "country", COUNTRIES, "user", [*recs, *truth])
    items = described(rng.choice, "genre", GENRES, "item", [*recs, *truth])
    return replace(case, recs=recs, truth=truth, users=users, items=items)


def policies(rng: random.Random) -> list[Policy]:
    found = [
        Policy(universe, no_relevant, 0.5, "truth", model)
        for universe in UNIVERSES
        for no_relevant, model in NO_RELEVANT
    ]
    return [replace(one, relevant_from=rng.choice(["truth", "list"])) for one in found]


NO_RELEVANT = [("zero", False), ("skip", True), ("null", False)]


def lowest_rank(rows: Rows) -> float | None:
    return min((row["rank"] for row in rows if has_rank(row)), default=None)


def test_judge_gives_each_pair_of_a_user_that_counts_once(kind: Kind):
    rng = seeded("pairs")
    for policy in policies(rng):
        case = without_nan(replace(two_plain_frames(rng, policy), by=()))
        truth = [row for row in identified(case.truth or ()) if is_judged(row)]
        recs = ranked(case, identified(case.recs), truth)
        users, rows_of_all = (
            universe(case, recs, truth),
            judged_rows(case, recs, truth, models_of(case)),
        )
        keys = ["model"] * policy.model + ["user", "item"]
        pairs = grouped((row for row in rows_of_all if row["user"] in users), *keys)
        best = {
            key: (lowest_rank(rows), highest(row["relevance"] for row in rows))
            for key, rows in pairs.items()
        }
        found = kind.read(bound(case, kind).judge())
        assert found.columns == [*keys, "rank", "relevance"]
        assert len(found) == len(best)
        for *key, rank, relevance in found.rows():
            assert repr((rank, relevance)) == repr(best[tuple(key)])
