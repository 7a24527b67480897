"""Random lists, truths, trains and items, asked of recframe and of the plain-Python metrics beyond accuracy."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

import recframe as rf
from choices import CHOICES, with_a_value
from plain_beyond import OF_USERS
from plain_cases import Asked, Case, Rows, keys, segment
from plain_propensity import WEIGHTED
from pooled_ranks import apart
from ways_to_run import EAGER, Way

TOLERANCE = 1e-12
KS = [1, 3, 8, None]


def asked_of(name: str, ks: Sequence[int | None] = KS) -> list[Asked]:
    """Return every choice of its parameters at every cut-off; the best order of lists of categories is refused without."""
    return [
        Asked(name, parameters, k)
        for parameters in CHOICES[name]
        for k in with_a_value(name, parameters, ks)
    ]


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
    "price": pl.Float64,
    "cost": pl.Int64,
}


def frame(rows: Rows) -> pl.DataFrame:
    names = list(rows[0]) if rows else []
    return pl.DataFrame(list(rows), schema={name: SCHEMA[name] for name in names})


def metric(asked: Asked) -> Any:
    return (
        rf.parse(asked.name)(**asked.parameters) @ asked.k
        if asked.k
        else rf.parse(asked.name)(**asked.parameters)
    )


def given(case: Case, make: Callable[[pl.DataFrame], Any]) -> tuple[Any, dict[str, Any]]:
    """The lists and what `rec(...)` binds, as frames that `make` makes."""
    sides = {name: getattr(case, name) for name in ("truth", "train", "users", "items")}
    options: dict[str, Any] = {name: make(frame(rows)) for name, rows in sides.items() if rows}
    if case.reference:
        options["reference"] = (
            case.reference if isinstance(case.reference, str) else make(frame(case.reference))
        )
    if case.model:
        options["model"] = "model"
    if case.propensity:
        options["propensity"] = "propensity"
    options |= {"universe": case.counting} if case.counting else {}
    options |= {"no_relevant": case.no_relevant} if case.no_relevant != "zero" else {}
    return make(frame(case.recs)), options


def check(case: Case, asked: Sequence[Asked], way: Way = EAGER) -> None:
    """Every row that is given agrees, and every segment that somebody has a list in is given."""
    metrics = [metric(one) for one in asked]
    found = way.answer(lambda make: given(case, make), metrics, list(case.by) or None)
    names = [name for name in found.columns if name in {"model", "user", "country", "genre"}]
    rows = {tuple(row[name] for name in names): row for row in found.to_dicts()}
    assert len(rows) == len(found)
    for of_universe in {one.name in OF_USERS | WEIGHTED for one in asked}:
        own = [one.k for one in asked if (one.name in OF_USERS | WEIGHTED) == of_universe]
        for key in keys(case, None if None in own else max(own), of_universe=of_universe):
            assert tuple(key[name] for name in names) in rows
    wrong = {}
    for key, row in rows.items():
        there = segment(case, dict(zip(names, key, strict=True)))
        for one, ours in zip(asked, map(str, metrics), strict=True):
            expected = there.value(one)
            if not agree(row[ours], expected):
                wrong[ours, key] = {"recframe": row[ours], "reference": expected}
    assert not wrong


def takes(way: Way, asked: Asked, by: Sequence[str]) -> bool:
    """Whether a metric needs no list of another bucket, part or batch."""
    if asked.name != "personalization" or way.name not in {"buckets", "parts", "batches"}:
        return True
    if way.name == "batches":
        return (
            asked.parameters.get("against") != "all"
            and asked.parameters.get("similarity") != "overlap"
        )
    return asked.parameters.get("similarity") != "overlap" and "user" not in by


def agree(ours: Any, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is None and theirs is None
    return math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


Choose = Callable[[Sequence[Any]], Any]
RANKS = [
    None,
    math.nan,
    math.inf,
    *(float(rank) for rank in (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 9, 12)),
    1.5,
    2.75,
]
RELEVANCES = [None, math.nan, -1.0, 0.0, 0.5, 1.0, 1.0, 2.0]
COUNTRIES, GENRES, TAGS = ["AT", "BE", None], ["x", "y", "z", None], "pqrs"
ITEMS = "ABCDEFGHIJ"
UNJUDGED = [
    {"user": "u00", "item": f"unjudged {number}", "relevance": one}
    for number, one in enumerate([None, math.nan])
]
"""Rows that are ignored, with items that stand nowhere else."""
SEGMENTS: list[tuple[str, ...]] = [(), ("user",), ("country",), ("genre",), ("country", "genre")]


def pairs(
    choose: Choose, n_rows: int, n_users: int, columns: Mapping[str, Sequence[Any]]
) -> list[dict[str, Any]]:
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
            "tags": choose(
                [None, [], [choose(TAGS)], [choose(TAGS), choose(TAGS), None], list(TAGS)]
            ),
            "vector": choose(
                [None, [0.0, 0.0, 0.0], *([[choose([-1.0, 0.5, 2.0]) for _ in range(3)]] * 4)]
            ),
            "cost": choose([None, -3, 0, 4]),
            "price": choose([None, math.nan, math.inf, 0.0, 2.5, 2.5, 10.0]),
        }
        for item in [*ITEMS[:-1], "K"]
    ]


def a_case(
    choose: Choose, n_rows: int, n_users: int, by: tuple[str, ...] = (), *, model: bool = False
) -> Case:
    """Lists of one to ten items, a truth, train, items, users and a reference, none of which has all that others have."""
    models = {"model": ["m1", "m2", "m2"]} if model else {}
    recs = pairs(choose, n_rows, n_users, {"rank": RANKS, **models})
    recs.append(
        {"user": None, "item": "nobody's"}
        | {name: values[-1] for name, values in {"rank": [1.0], **models}.items()}
    )
    there = {row["model"] for row in recs if model and None not in {row["user"], row["item"]}}
    return Case(
        recs=apart(recs),
        truth=[*pairs(choose, n_rows // 2 + 1, n_users + 2, {"relevance": RELEVANCES}), *UNJUDGED],
        train=[*pairs(choose, n_rows, n_users, {}), {"user": None, "item": "nobody's in train"}],
        users=[
            {"user": f"u{number:02}", "country": choose(COUNTRIES)} for number in range(n_users)
        ],
        items=catalogue(choose),
        reference="m1"
        if "m1" in there and choose([True, False])
        else pairs(choose, n_rows, n_users, {"rank": RANKS}),
        by=by,
        model=model,
    )


def seeded(name: str) -> random.Random:
    return random.Random(f"recframe beyond {name}")  # noqa: S311  no secret


def as_judged(rng: random.Random, case: Case) -> Case:
    """The lists as judged rows, which are their own truth.

    Rows of one pair agree: the accuracy metrics take a hit's rank from the relevant ones, and a list its best.
    """
    relevances = {(row["user"], row["item"]): rng.choice(RELEVANCES) for row in case.recs}
    judged = [{**row, "relevance": relevances[row["user"], row["item"]]} for row in case.recs]
    return replace(case, recs=judged, truth=None)


WEIGHTS: list[dict[str, Any]] = [
    {"weights": weights, "exponent": exponent, "min_propensity": floor}
    for weights in ("snips", "ips")
    for exponent, floor in ((1.0, 0.001), (2.5, 0.001), (1.0, 0.4))
]
WEIGHTED_FORMS = [Asked(name, way, k) for name in WEIGHTED for way in WEIGHTS for k in KS]
WEIGHTED_FORMS += [
    Asked(name, {"weights": weights, "exponent": 1.0, **way}, k)
    for name, way in (("ndcg", {"gain": "exp"}), ("ndcg", {"gain": "binary"}), ("rbp", {"p": 0.5}))
    for weights in ("snips", "ips")
    for k in KS
]


def with_propensity(rng: random.Random, case: Case, *, given: bool) -> Case:
    """Lists of distinct ranks, as the accuracy metrics take repeated ones apart; a propensity for each pair of the truth."""
    seen: set[Any] = set()
    recs = []
    for row in case.recs:
        of_list = (row.get("model"), row["user"])
        keys = {(*of_list, "item", row["item"]), (*of_list, "rank", row["rank"])}
        if seen.isdisjoint(keys):
            whole = row["rank"] is not None and row["rank"] % 1 == 0
            recs.append(row if whole else {**row, "rank": None})
            seen |= keys
    truth = [*{(row["user"], row["item"]): row for row in case.truth or ()}.values()]
    if given:
        truth = [{**row, "propensity": rng.choice([0.05, 0.2, 0.5, 1.0])} for row in truth]
    return replace(case, recs=recs, truth=truth, propensity=given)
