"""Lists with ties, and which metrics have an expectation over the orders of tied items, or a value of whole ties."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from asking import rows
from forms import VARIANTS, stops_at_k
from plain_policies import Asked

# What has no expectation in closed form: metrics, parameters of others, and metrics with a cut-off.
UNCERTAIN = {"err", "bpref", "eleven_point_precision", "interpolated_precision", "partial_auc"}
UNCERTAIN |= {"inst", "bpm", "nerr", "compatibility", "infap"}
OF_MEANS = {"gauc", "recall_at_precision"}
UNCERTAIN_PARAMETERS = [
    {"normalizer": "hits"},
    {"ideal": "list"},
    {"average": "means"},
    {"average": "pooled"},
    {"without_hit": "null"},
    {"average": "geometric"},
]
UNCERTAIN_WHEN_CUT = {"auc"}


def has_expectation(asked: Asked) -> bool:
    parameters = asked.parameters.items()
    uncertain = any(one.items() <= parameters for one in UNCERTAIN_PARAMETERS)
    cut_off_below_0 = (
        asked.parameters.get("offset", 0) < 0 and asked.parameters.get("gain") != "binary"
    )
    return (
        not (uncertain or cut_off_below_0)
        and asked.name not in UNCERTAIN | OF_MEANS
        and (asked.k is None or asked.name not in UNCERTAIN_WHEN_CUT)
    )


def is_certain_of_ties(asked: Asked) -> bool:
    """Whether it can be told of whole ties: what has an expectation, and means and pairs of items, which are certain."""
    plain = {name: value for name, value in asked.parameters.items() if name != "average"}
    if asked.name in {"auc", *OF_MEANS}:
        return True
    return has_expectation(replace(asked, parameters=plain))


EVERY = [
    Asked(name, k, parameters)
    for name, parameters in VARIANTS
    for k in (None, 1, 2, 3, 5)
    if k or not stops_at_k(name, parameters)
]
LINEAR = [asked for asked in EVERY if has_expectation(asked)]


def exactly(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def scored(*scores: Any, relevance: Any, user: str = "u") -> pl.DataFrame:
    """Make the judged list of one user: items a, b, c and so on."""
    items = "abcdefghijklmnopqrstuvwxyz"[: len(scores)]
    found = [
        (user, item, score, one) for item, score, one in zip(items, scores, relevance, strict=True)
    ]
    return rows(*found, schema=("user", "item", "score", "relevance"), score=pl.Float64)


ONE_SCORE = scored(0.5, 0.5, 0.5, 0.5, relevance=[1, 0, 2, 0])
