"""Sums over hits with inverse propensities against their plain-Python definitions, given and from popularity."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from plain_cases import Asked
from random_lists import KS, a_case, check, seeded
from ways_to_run import WAYS

WEIGHTS: list[dict[str, Any]] = [
    {"weights": weights, "exponent": exponent, "min_propensity": floor}
    for weights in ("snips", "ips")
    for exponent, floor in ((1.0, 0.001), (2.5, 0.001), (1.0, 0.4))
]
NAMES = ("recall", "dcg", "precision", "rbp", "ndcg", "auc")
ASKED = [Asked(name, way, k) for name in NAMES for way in WEIGHTS for k in KS]
ASKED += [
    Asked(name, {"weights": weights, "exponent": 1.0, **way}, k)
    for name, way in (("ndcg", {"gain": "exp"}), ("ndcg", {"gain": "binary"}), ("rbp", {"p": 0.5}))
    for weights in ("snips", "ips")
    for k in KS
]
ONE_CUT = [one for one in ASKED if one.k == 3]


def plain(rng: random.Random, by: tuple[str, ...] = (), *, given: bool, model: bool = False) -> Any:
    """Lists of distinct ranks, as the accuracy metrics take repeated ones apart; a propensity for each pair of the truth."""
    case = a_case(rng.choice, 160, 12, by, model=model)
    seen: set[Any] = set()
    recs = []
    for row in case.recs:
        for key in (
            (row.get("model"), row["user"], row["item"]),
            (row.get("model"), row["user"], "rank", row["rank"]),
        ):
            if key in seen:
                break
        else:
            whole = row["rank"] is not None and row["rank"] % 1 == 0
            recs.append(row if whole else {**row, "rank": None})
            seen |= {
                (row.get("model"), row["user"], row["item"]),
                (row.get("model"), row["user"], "rank", row["rank"]),
            }
    truth = list({(row["user"], row["item"]): row for row in case.truth}.values())
    if given:
        truth = [{**row, "propensity": rng.choice([0.05, 0.2, 0.5, 1.0])} for row in truth]
    return replace(case, recs=recs, truth=truth, propensity=given)


@pytest.mark.parametrize("source", ["given", "popularity"])
@pytest.mark.parametrize(
    "by",
    [
        (),
        ("genre",),
        *(pytest.param((one,), marks=pytest.mark.slow) for one in ("user", "country")),
    ],
    ids="-".join,
)
def test_it_agrees_in_every_segment(source: str, by: tuple[str, ...]):
    rng = seeded(f"propensity {source} {by}")
    for model in (False, True):
        check(plain(rng, by, given=source == "given", model=model), ASKED)


@pytest.mark.parametrize("source", ["given", "popularity"])
def test_it_agrees_in_every_way_to_run(source: str):
    rng = seeded(f"propensity kinds {source}")
    case = plain(rng, ("country",), given=source == "given", model=True)
    truth = [row for row in case.truth if row["relevance"] in {0.0, 0.5, 1.0, 2.0}]
    check(replace(case, truth=truth), ONE_CUT, *WAYS)


def test_constant_propensities_cancel():
    rng = seeded("constant")
    case = plain(rng, ("user",), given=True)
    case = replace(case, truth=[{**row, "propensity": 0.25} for row in case.truth])
    check(case, [Asked("recall", {"weights": "snips"}, 3)])
