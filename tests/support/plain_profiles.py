"""Metrics of profiles that no recorded answer has, by the plain definitions, with the switches of the libraries' sources."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping
from dataclasses import dataclass

import recframe as rf
from plain_calls import evaluate
from plain_policies import Asked, Case, Policy


@functools.cache
def a_crowd(*, n_users: int = 150) -> Case:
    """Ragged lists, users without list, without truth, without anything relevant."""
    rng = random.Random("recframe profiles")  # noqa: S311  no secret
    lists, truth = [], []
    for user in range(n_users):
        items = rng.sample(range(60), 60)
        length = rng.choice([0, 1, 2, 4, 10, 20])
        judged = rng.sample(items[: 2 * length + 8], rng.choice([0, 1, 2, 5, 8]))
        grades = rng.choice([[0.0], [1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 2.0, 3.0, 4.0]])
        lists += [(user, item, float(rank)) for rank, item in enumerate(items[:length], 1)]
        truth += [(user, item, rng.choice(grades)) for item in judged]
    return Case(
        [dict(zip(("user", "item", "rank"), row, strict=True)) for row in lists],
        [dict(zip(("user", "item", "relevance"), row, strict=True)) for row in truth],
    )


@dataclass(frozen=True)
class Library:
    """What a library counts, and its metrics as forms of the plain definitions; some are of the whole list alone."""

    policy: Policy
    metrics: Mapping[str, str]
    of_the_whole_list: frozenset[str] = frozenset()


COUNTS = {"n_hits": "n_hits", "list_length": "list_length"}
CURVES = ("interpolated_precision", "eleven_point_precision")
TREC = COUNTS | {name: f"{name}(rounding=tenth)" for name in CURVES}
OF_TREC = frozenset({*TREC, "f_score"})


def plainly(*names: str) -> dict[str, str]:
    return {name: name for name in names}


DEFINED: dict[str, Library] = {
    "trec_eval": Library(Policy(), TREC | plainly("err", "rbp", "judged"), OF_TREC),
    "ir_measures": Library(Policy(), TREC | plainly("f_score"), OF_TREC),
    "pytrec_eval": Library(Policy(universe="both"), TREC, OF_TREC),
    "ranx": Library(Policy(), plainly("bpref"), frozenset({"bpref"})),
    # every row of the truth is relevant, and an unrated item gains 2^0 - 1
    "elliot": Library(
        Policy(universe="both", min_relevance="any"),
        plainly("hit_rate", "precision", "recall", "mrr", "f_score")
        | {"map": "map(normalizer=ranks)", "ndcg": "ndcg(gain=exp,offset=1)"},
    ),
    "lenskit": Library(
        Policy(universe="recs", min_relevance="any", no_relevant="null"),
        {"dcg": "dcg(gain=binary,discount=unshifted)"},
    ),
    "evidently": Library(
        Policy(universe="recs", relevant_from="list", no_relevant="skip"), plainly("map")
    ),
}


def expected(profile: str, k: int | None) -> dict[str, float]:
    """The means of every metric that the library has at this k."""
    library, crowd = DEFINED[profile], a_crowd()
    names = {*library.metrics} - (library.of_the_whole_list if k else set())
    forms = {name: rf.parse(library.metrics[name]) for name in sorted(names)}
    asked = [Asked(one.name, k, dict(one.settings)) for one in forms.values()]
    found = evaluate(asked, Case(crowd.recs, crowd.truth, policy=library.policy)) if asked else []
    return {name: row[str(one)] for row in found for name, one in zip(forms, asked, strict=True)}
