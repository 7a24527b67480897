"""Every metric with each choice of its parameters that tests try, at cut-offs: the forms that they ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import recframe as rf
from choices import CHOICES, with_a_value
from plain_accuracy import METRICS
from plain_policies import Asked
from plain_propensity import WEIGHTED

KS = [None, 1, 2, 3, 5, 10, 1000]
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in METRICS),
    *(("precision", {"denominator": value}) for value in ("list", "achievable")),
    *(
        ("precision", {"denominator": value, "average": "pooled"})
        for value in ("list", "achievable")
    ),
    ("precision", {"average": "pooled"}),
    ("recall", {"denominator": "capped"}),
    ("recall", {"average": "pooled"}),
    ("recall", {"denominator": "capped", "average": "pooled"}),
    *(("f_score", {"beta": value}) for value in (0.5, 2)),
    *(("f_score", {"denominator": value}) for value in ("list", "achievable")),
    ("f_score", {"average": "means"}),
    ("f_score", {"beta": 2, "denominator": "list", "average": "means"}),
    ("f_score", {"average": "pooled"}),
    ("f_score", {"beta": 2, "denominator": "achievable", "average": "pooled"}),
    *(("map", {"normalizer": value}) for value in ("min", "list", "hits", "k", "ranks")),
    ("map", {"average": "geometric"}),
    ("map", {"normalizer": "min", "average": "geometric"}),
    ("map", {"average": "geometric", "without_relevant": "one"}),
    *(("map", {"normalizer": value, "without_relevant": "one"}) for value in ("min", "ranks")),
    ("ncrr", {"denominator": "list"}),
    *(("recall_at_precision", {"precision": value}) for value in (0.2, 1 / 3)),
    ("recall_at_precision", {"denominator": "list"}),
    ("compatibility", {"p": 0.5}),
    ("compatibility", {"normalize": False}),
    *(("interpolated_precision", {"recall": value}) for value in (0, 0.3, 1)),
    *(
        (name, {"rounding": value})
        for name in ("interpolated_precision", "eleven_point_precision")
        for value in ("tenth", "nearest")
    ),
    ("auc", {"without_pair": "hit"}),
    *(("gauc", {"weight": value}) for value in ("relevant", "pairs")),
    *(("partial_auc", {"misses": value}) for value in (1, 2.5)),
    *(("partial_auc", {"misses": value, "hits": "first"}) for value in (1, 3)),
    *(("dcg", {"gain": value}) for value in ("exp", "binary")),
    ("dcg", {"gain": "exp", "log_base": 10}),
    ("dcg", {"log_base": 1.5}),
    ("dcg", {"discount": "unshifted"}),
    *(("dcg", {"log_base": value, "discount": "unshifted"}) for value in (1.5, 3.7)),
    *(("dcg", {"gain": value, "offset": -1.5}) for value in ("exp", "binary")),
    ("r_precision", {"without_hit": "null"}),
    ("ndcg", {"discount": "unshifted"}),
    *(
        ("ndcg", {"log_base": 3.7, "ideal": value, "discount": "unshifted"})
        for value in ("k", "list", "all")
    ),
    ("ndcg", {"ideal": "all"}),
    *(("ndcg", {"gain": value, "ideal": "all"}) for value in ("exp", "binary")),
    ("ndcg", {"gain": "exp", "offset": 1}),
    ("ndcg", {"offset": -0.5}),
    *(("ndcg", {"gain": value}) for value in ("exp", "binary")),
    *(("ndcg", {"ideal": value}) for value in ("k", "list")),
    *(("ndcg", {"gain": value, "ideal": "list"}) for value in ("exp", "binary")),
    ("ndcg", {"gain": "exp", "ideal": "k"}),
    ("ndcg", {"without_relevant": "one"}),
    *(("ndcg", {"ideal": value, "without_relevant": "one"}) for value in ("k", "list")),
    ("ndcg", {"log_base": 3}),
    *(("rbp", {"p": value}) for value in (0.5, 0.95)),
    *(("err", {"max_grade": value}) for value in (1, 2.5)),
    *(("insq", {"target": value, "max_grade": 2, "min_grade": 1}) for value in (0.3, 3)),
    ("inst", {"target": 3}),
    ("inst", {"max_grade": 2, "min_grade": 0.5}),
    ("bpm", {"target": 0.4}),
    ("bpm", {"target": 2, "max_grade": 1.5, "min_grade": 1}),
    *(("nerr", {"form": form}) for form in ("target", "discount", "gain")),
    ("nerr", {"p": 0.5, "max_grade": 1}),
    *(
        ("nerr", {"form": form, "target": 2.5, "max_grade": 2, "min_grade": 1})
        for form in ("target", "discount", "gain")
    ),
    ("sdcg", {"max_grade": 2, "min_grade": 1}),
]


def stops_at_k(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a metric has no value without a cut-off, as those of readers who stop there."""
    return name in {"bpm", "sdcg", "recall_at_precision"} or parameters.get("form") in {
        "discount",
        "gain",
    }


def form(name: str, k: int | None, parameters: Mapping[str, Any]) -> Asked:
    """Return a form with its parameters as recframe writes them."""
    return Asked(name, k, dict(rf.parse(name)(**parameters).settings))


EVERYTHING = [
    form(name, k, parameters)
    for name, parameters in VARIANTS
    for k in KS
    if (k or not stops_at_k(name, parameters)) and (k != 1000 or name != "recall_at_precision")
]
KS_BEYOND = [1, 3, 8, None]


def forms_of(name: str) -> list[Asked]:
    """Return the forms of a metric beyond accuracy; the best order of lists of categories is refused without a cut-off."""
    return [
        form(name, k, parameters)
        for parameters in CHOICES[name]
        for k in with_a_value(name, parameters, KS_BEYOND)
    ]


BEYOND = [one for name in CHOICES for one in forms_of(name)]
FEATURELESS = [form("exposure_disparity", k, {}) for k in KS_BEYOND]
"""Of the head and the tail of items without features."""
WEIGHTS = [
    {"weights": weights, "exponent": exponent, "min_propensity": floor}
    for weights in ("snips", "ips")
    for exponent, floor in ((1.0, 0.001), (2.5, 0.001), (1.0, 0.4))
]
OTHER_GAINS = [("ndcg", {"gain": "exp"}), ("ndcg", {"gain": "binary"}), ("rbp", {"p": 0.5})]
OF_PROPENSITIES = [form(name, k, way) for name in WEIGHTED for way in WEIGHTS for k in KS_BEYOND]
OF_PROPENSITIES += [
    form(name, k, {"weights": weights, "exponent": 1.0, **way})
    for name, way in OTHER_GAINS
    for weights in ("snips", "ips")
    for k in KS_BEYOND
]
