"""recframe against the plain-Python metrics beyond accuracy: every parameter, cut-off, segment and kind of frame."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recframe as rf
from beyond_cases import Asked, Case, Rows, keys, segment
from beyond_choices import BEYOND, CHOICES
from beyond_propensity import WEIGHTED
from beyond_reference import OF_LISTS, OF_SETS, OF_USERS
from conftest import KINDS, Kind, examples, slow_after_the_first

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
TOLERANCE = 1e-12
KS = [1, 3, 8, None]


def asked_of(name: str, ks: Sequence[int | None] = KS) -> list[Asked]:
    """Return every choice of its parameters at every cut-off; the best order of lists of categories is refused without."""
    return [
        Asked(name, parameters, k)
        for parameters in CHOICES[name]
        for k in ks
        if k is not None or (name, parameters.get("of")) != ("alpha_ndcg", "tags")
    ]


EVERYTHING = [asked for name in CHOICES for asked in asked_of(name)]
SCHEMA = {
    "user": pl.String,
    "item": pl.String,
    "rank": pl.Float64,
    "relevance": pl.Float64,
    "propensity": pl.Float64,
    "model": pl.String,
    "country": pl.String,
    "genre": pl.String,
    "tags": pl.List(pl.String),
    "vector": pl.List(pl.Float64),
}


# ---- what there is


def test_every_metric_beyond_accuracy_has_a_reference():
    assert set(BEYOND) == set(OF_LISTS) | set(OF_USERS) | set(OF_SETS)
    assert set(CHOICES) == set(OF_LISTS) | set(OF_USERS) | set(OF_SETS)


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_of_a_parameter_is_tried(name: str):
    definition = BEYOND[name].definition
    for parameter, about in definition.parameters.items():
        tried = {one.get(parameter, about.default) for one in CHOICES[name]}
        kind, choices = definition.kind(parameter)
        assert tried >= (set(choices) if kind is Literal else tried)
        assert len(tried) > 1, parameter


# ---- the same case asked of recframe


def frame(rows: Rows) -> pl.DataFrame:
    names = list(rows[0]) if rows else []
    return pl.DataFrame(list(rows), schema={name: SCHEMA[name] for name in names})


def metric(asked: Asked) -> Any:
    return rf.parse(asked.name)(**asked.parameters) @ asked.k if asked.k else rf.parse(asked.name)(**asked.parameters)


def bound(case: Case, kind: Kind) -> Any:
    sides = {name: getattr(case, name) for name in ("truth", "train", "users", "items")}
    options: dict[str, Any] = {name: kind(frame(rows)) for name, rows in sides.items() if rows}
    if case.reference:
        options["reference"] = case.reference if isinstance(case.reference, str) else kind(frame(case.reference))
    if case.model:
        options["model"] = "model"
    if case.propensity:
        options["propensity"] = "propensity"
    options |= {"universe": case.counting} if case.counting else {}
    options |= {"no_relevant": case.no_relevant} if case.no_relevant != "zero" else {}
    return rf.rec(kind(frame(case.recs)))(**options)


def check(case: Case, asked: Sequence[Asked], kind: Kind = KINDS[0]) -> None:
    """Every row that is given agrees, and every segment that somebody has a list in is given."""
    metrics = [metric(one) for one in asked]
    found = kind.read(bound(case, kind).evaluate(*metrics, by=list(case.by) or None))
    names = [name for name in found.columns if name in {"model", "user", "country", "genre"}]
    rows = {tuple(row[name] for name in names): row for row in found.to_dicts()}
    assert len(rows) == len(found)
    for one in asked:
        for key in keys(case, one.k, of_universe=one.name in OF_USERS | WEIGHTED):
            assert tuple(key[name] for name in names) in rows
    wrong = {}
    for key, row in rows.items():
        there = segment(case, dict(zip(names, key, strict=True)))
        for one, ours in zip(asked, metrics, strict=True):
            expected = there.value(one)
            if not agree(row[str(ours)], expected):
                wrong[str(ours), key] = {"recframe": row[str(ours)], "reference": expected}
    assert not wrong


def agree(ours: Any, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is None and theirs is None
    return math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


# ---- random cases; `choose` takes one of several values, by a seed or by Hypothesis

Choose = Callable[[Sequence[Any]], Any]
RANKS = [None, math.nan, math.inf, *(float(rank) for rank in (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 9, 12)), 1.5, 2.75]
RELEVANCES = [None, math.nan, -1.0, 0.0, 0.5, 1.0, 1.0, 2.0]
COUNTRIES, GENRES, TAGS = ["AT", "BE", None], ["x", "y", "z", None], "pqrs"
ITEMS = "ABCDEFGHIJ"
UNJUDGED = [{"user": "u00", "item": f"unjudged {number}", "relevance": one} for number, one in enumerate([None, math.nan])]
"""Rows that are ignored, with items that stand nowhere else."""
SEGMENTS: list[tuple[str, ...]] = [(), ("user",), ("country",), ("genre",), ("country", "genre")]


def pairs(choose: Choose, n_rows: int, n_users: int, columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Rows of users and items with duplicates, in which about one id in twenty is null."""
    users = [*(f"u{number:02}" for number in range(n_users)), *[None] * max(1, n_users // 20)]
    rows = [{"user": choose(users), "item": choose([*ITEMS, *ITEMS, None])} for _ in range(n_rows)]
    return [row | {name: choose(values) for name, values in columns.items()} for row in rows]


def catalogue(choose: Choose) -> list[dict[str, Any]]:
    """Items with features of every kind, some without; item J is not among them, and nobody was given item K."""
    return [
        {
            "item": item,
            "genre": choose(GENRES),
            "tags": choose([None, [], [choose(TAGS)], [choose(TAGS), choose(TAGS), None], list(TAGS)]),
            "vector": choose([None, [0.0, 0.0, 0.0], *([[choose([-1.0, 0.5, 2.0]) for _ in range(3)]] * 4)]),
        }
        for item in [*ITEMS[:-1], "K"]
    ]


def a_case(choose: Choose, n_rows: int, n_users: int, by: tuple[str, ...] = (), *, model: bool = False) -> Case:
    """Lists of one to ten items, a truth, train, items, users and a reference, none of which has all that others have."""
    models = {"model": ["m1", "m2", "m2"]} if model else {}
    recs = pairs(choose, n_rows, n_users, {"rank": RANKS, **models})
    recs.append({"user": None, "item": "nobody's"} | {name: values[-1] for name, values in {"rank": [1.0], **models}.items()})
    there = {row["model"] for row in recs if model and None not in {row["user"], row["item"]}}
    return Case(
        recs=recs,
        truth=[*pairs(choose, n_rows // 2 + 1, n_users + 2, {"relevance": RELEVANCES}), *UNJUDGED],
        train=[*pairs(choose, n_rows, n_users, {}), {"user": None, "item": "nobody's in train"}],
        users=[{"user": f"u{number:02}", "country": choose(COUNTRIES)} for number in range(n_users)],
        items=catalogue(choose),
        reference="m1" if "m1" in there and choose([True, False]) else pairs(choose, n_rows, n_users, {"rank": RANKS}),
        by=by,
        model=model,
    )


def seeded(name: str) -> random.Random:
    return random.Random(f"recframe beyond {name}")  # noqa: S311  no secret


# ---- every metric, on every kind of frame

of_each = pytest.mark.parametrize("name", CHOICES)
exploring = settings(examples(25), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.slow
@of_each
@pytest.mark.parametrize("by", SEGMENTS, ids="-".join)
def test_it_agrees_in_every_segment(name: str, by: tuple[str, ...]):
    rng = seeded(f"{name} {by}")
    for model in (False, True):
        check(a_case(rng.choice, 120, 12, by, model=model), asked_of(name))


@of_each
@pytest.mark.parametrize("kind", slow_after_the_first(KINDS), ids=repr)
def test_it_agrees_on_every_kind_of_frame(name: str, kind: Kind):
    rng = seeded(f"kinds {name}")
    for by in ((), ("country",)):
        case = a_case(rng.choice, 100, 12, by, model=bool(by))
        check(case, asked_of(name, [3]), kind)


@of_each
def test_it_agrees_without_a_frame_of_items_where_it_needs_none(name: str):
    rng = seeded(f"catalogue {name}")
    asked = [one for one in asked_of(name) if "of" not in one.parameters]
    if asked:
        check(replace(a_case(rng.choice, 80, 10), items=None), asked)


@pytest.mark.parametrize("target", ["catalogue", "relevant"])
@pytest.mark.parametrize("by", [(), ("user",), ("country",)], ids="-".join)
def test_disparity_agrees_on_the_head_and_the_tail_where_items_have_no_features(target: str, by: tuple[str, ...]):
    rng = seeded(f"head and tail {target} {by}")
    asked = [Asked("exposure_disparity", {"target": target}, k) for k in KS]
    for model in (False, True):
        case = a_case(rng.choice, 120, 12, by, model=model)
        for items in (None, [{"item": row["item"]} for row in case.items or ()]):
            check(replace(case, items=items), asked)


@of_each
def test_it_agrees_on_a_judged_frame(name: str):
    rng = seeded(f"judged {name}")
    for by in ((), ("user",)):
        case = a_case(rng.choice, 120, 12, by)
        # rows of one pair agree: the accuracy metrics take a hit's rank from the relevant ones, and a list its best
        relevances = {(row["user"], row["item"]): rng.choice(RELEVANCES) for row in case.recs}
        judged = [{**row, "relevance": relevances[row["user"], row["item"]]} for row in case.recs]
        check(replace(case, recs=judged, truth=None), asked_of(name))


@pytest.mark.slow
@pytest.mark.parametrize("universe", ["truth", "recs", "both", "all"])
@pytest.mark.parametrize("no_relevant", ["zero", "skip", "null"])
@pytest.mark.parametrize("by", [(), ("country",), ("genre",)], ids="-".join)
def test_it_agrees_over_every_universe(universe: str, no_relevant: str, by: tuple[str, ...]):
    rng = seeded(f"universe {universe} {no_relevant} {by}")
    names = {*OF_USERS, "serendipity", "epc", "efd", "category_coverage", "exposure_disparity", "novelty", "coverage"}
    asked = [one for name in CHOICES if name in names for one in asked_of(name, [3])]
    for judged in (False, True):
        case = a_case(rng.choice, 100, 12, by, model=not judged)
        case = replace(case, counting=universe, no_relevant=no_relevant)
        if judged:
            relevances = {(row["user"], row["item"]): rng.choice(RELEVANCES) for row in case.recs}
            recs = [{**row, "relevance": relevances[row["user"], row["item"]]} for row in case.recs]
            case = replace(case, recs=recs, truth=None)
        check(case, asked)


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

    case = a_case(choose, choose(range(1, 9)), choose([1, 2, 3]), choose(SEGMENTS), model=choose([False, True]))
    asked = data.draw(st.lists(st.sampled_from(asked_of(name)), min_size=1, max_size=3, unique_by=repr))
    check(case, asked)


@pytest.mark.slow
def test_all_of_them_agree_in_one_call():
    rng = seeded("one call")
    for by in SEGMENTS:
        check(a_case(rng.choice, 100, 10, by, model=True), EVERYTHING[::3])
