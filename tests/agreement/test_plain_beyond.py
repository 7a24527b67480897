"""recframe against the plain-Python metrics beyond accuracy: every parameter, cut-off, segment and way to run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ways_to_run
from choices import BEYOND, CHOICES
from lanes import crossed, in_turn
from plain_beyond import OF_LISTS, OF_SETS, OF_USERS
from plain_cases import Asked, Case
from random_lists import KS, RELEVANCES, SEGMENTS, a_case, asked_of, check, seeded
from strategies import examples

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")


EVERYTHING = [asked for name in CHOICES for asked in asked_of(name)]


def test_every_metric_beyond_accuracy_has_a_plain_definition():
    assert set(BEYOND) == set(OF_LISTS) | set(OF_USERS) | set(OF_SETS)
    assert set(CHOICES) == set(OF_LISTS) | set(OF_USERS) | set(OF_SETS)


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_of_a_parameter_is_tried(name: str):
    definition = BEYOND[name].definition
    for parameter, about in definition.parameters.items():
        tried = {one.get(parameter, about.default) for one in CHOICES[name]}
        kind, choices = definition.kinds[parameter]
        assert tried >= (set(choices) if kind is Literal else tried)
        assert len(tried) > 1, parameter


of_each = pytest.mark.parametrize("name", CHOICES)
exploring = settings(
    examples(10), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


# with and without models, but for what another test below asks
MODELS = {
    (): [True],
    ("user",): [True],
    ("country",): [False],
    ("genre",): [False, True],
    ("country", "genre"): [True],
}


@pytest.mark.slow
@of_each
@pytest.mark.parametrize("by", SEGMENTS, ids="-".join)
def test_it_agrees_in_every_segment(name: str, by: tuple[str, ...]):
    rng, place = seeded(f"{name} {by}"), [*CHOICES].index(name) + SEGMENTS.index(by)
    for model in MODELS[by]:
        case = a_case(rng.choice, 80, 9, by, model=model)
        check(case, asked_of(name), *ways_to_run.in_turn(place, 3))


@pytest.mark.parametrize(("name", "way"), in_turn(CHOICES.keys(), ways_to_run.WAYS))
def test_it_agrees_in_every_way_to_run(name: str, way: ways_to_run.Way):
    rng = seeded(f"kinds {name}")
    case = a_case(rng.choice, 100, 12, ("country",), model=True)
    check(case, asked_of(name, [3]), way)


@pytest.mark.slow
@of_each
def test_it_agrees_without_a_frame_of_items_where_it_needs_none(name: str):
    rng = seeded(f"catalogue {name}")
    asked = [one for one in asked_of(name) if "of" not in one.parameters]
    if asked:
        check(replace(a_case(rng.choice, 80, 10), items=None), asked)


@pytest.mark.parametrize("target", ["catalogue", "relevant"])
@pytest.mark.parametrize(
    "by",
    [(), *(pytest.param((one,), marks=pytest.mark.slow) for one in ("user", "country"))],
    ids="-".join,
)
def test_disparity_agrees_on_the_head_and_the_tail_where_items_have_no_features(
    target: str, by: tuple[str, ...]
):
    rng = seeded(f"head and tail {target} {by}")
    asked = [Asked("exposure_disparity", {"target": target}, k) for k in KS]
    for model in (False, True):
        case = a_case(rng.choice, 120, 12, by, model=model)
        for items in (None, [{"item": row["item"]} for row in case.items or ()]):
            check(replace(case, items=items), asked)


@pytest.mark.parametrize(("name", "by"), in_turn(CHOICES.keys(), [(), ("user",)], fast=8))
def test_it_agrees_on_a_judged_frame(name: str, by: tuple[str, ...]):
    rng = seeded(f"judged {name} {by}")
    case = a_case(rng.choice, 120, 12, by)
    # rows of one pair agree: the accuracy metrics take a hit's rank from the relevant ones, and a list its best
    relevances = {(row["user"], row["item"]): rng.choice(RELEVANCES) for row in case.recs}
    judged = [{**row, "relevance": relevances[row["user"], row["item"]]} for row in case.recs]
    check(replace(case, recs=judged, truth=None), asked_of(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("universe", "no_relevant", "by"),
    crossed(
        ["truth", "recs", "both", "all"],
        ["zero", "skip", "null"],
        [(), ("country",), ("genre",)],
    ),
)
def test_it_agrees_over_every_universe(universe: str, no_relevant: str, by: tuple[str, ...]):
    rng = seeded(f"universe {universe} {no_relevant} {by}")
    names = {
        *OF_USERS,
        "serendipity",
        "epc",
        "efd",
        "category_coverage",
        "exposure_disparity",
        "novelty",
        "coverage",
    }
    asked = [one for name in CHOICES if name in names for one in asked_of(name, [3])]
    for judged in {(): (False, True), ("country",): (False,), ("genre",): (True,)}[by]:
        case = a_case(rng.choice, 100, 12, by, model=not judged)
        case = replace(case, counting=universe, no_relevant=no_relevant)
        if judged:
            relevances = {(row["user"], row["item"]): rng.choice(RELEVANCES) for row in case.recs}
            recs = [{**row, "relevance": relevances[row["user"], row["item"]]} for row in case.recs]
            case = replace(case, recs=recs, truth=None)
        check(case, asked)


@pytest.mark.slow
@of_each
def test_it_agrees_where_nobody_has_anything(name: str):
    rng = seeded(f"nothing {name}")
    case = a_case(rng.choice, 30, 4)
    nobody = [{"user": "zz", "item": "A", "rank": None}]
    check(replace(case, recs=nobody), asked_of(name))
    check(replace(case, train=[{"user": "zz", "item": "zz"}]), asked_of(name))
    check(replace(case, truth=[{"user": "zz", "item": "zz", "relevance": 1.0}]), asked_of(name))


@of_each
@exploring
@given(data=st.data())
def test_it_agrees_on_small_random_cases(name: str, data: st.DataObject):
    def choose(values: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(values))

    case = a_case(
        choose,
        choose(range(1, 9)),
        choose([1, 2, 3]),
        choose(SEGMENTS),
        model=choose([False, True]),
    )
    asked = data.draw(
        st.lists(st.sampled_from(asked_of(name)), min_size=1, max_size=3, unique_by=repr)
    )
    check(case, asked, data.draw(st.sampled_from(ways_to_run.WAYS)))


def test_an_item_that_only_the_reference_has_is_among_those_without_a_genre():
    one = {"user": "u", "rank": 1.0}
    case = Case(
        recs=[{**one, "item": "A"}],
        truth=[{"user": "u", "item": "A", "relevance": 1.0}],
        items=[{"item": "A", "genre": None}, {"item": "B", "genre": "x"}],
        reference=[{**one, "item": "J"}],
        by=("genre",),
    )
    check(case, asked_of("unexpectedness"))


@pytest.mark.slow
def test_all_of_them_agree_in_one_call():
    rng = seeded("one call")
    for place, by in enumerate(SEGMENTS):
        check(a_case(rng.choice, 100, 10, by, model=True), EVERYTHING[place :: len(SEGMENTS)])
