"""Beyond accuracy, recframe and its plain-Python reference against numbers that other libraries gave.

`recorded/record.py --beyond` asked them, each in an environment of its own. A line names the recframe metric that is to give
a peer's numbers and the side frames that it is told.
"""

from __future__ import annotations

import functools
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recframe as rf
from plain_beyond import OF_USERS, overall, values
from plain_propensity import WEIGHTED
from plain_scene import Scene, mean
from recframe.frames.options import DEFAULTS
from recframe.metrics.language.registry import registered
from recframe.profiles.library_profiles import PROFILES

RECORDED = Path(__file__).parent / "recorded"
sys.path.append(str(RECORDED))

import scenes  # noqa: E402  the moment of values
import scenes_beyond  # noqa: E402  the lists that the peers were run on

VALUES = json.loads((RECORDED / "values_beyond.json").read_text(encoding="utf-8"))
ROWS = [(peer, row) for peer, told in VALUES.items() for row in told["rows"]]
# The users of a mean where a metric reads the truth: those with recommendations, or those that both have.
UNIVERSE = {
    ("rectools", "serendipity"): "recs",
    ("microsoft", "serendipity"): "recs",
    **dict.fromkeys([("ndeval", name) for name in ("alpha_ndcg", "err_ia", "nrbp")], "both"),
}
UNIVERSE |= {("warprec", name): "recs" for name in ("epc", "efd")}
# Evidently's, held against ours by a factor
PROFILED = [(peer, row) for peer, row in ROWS if row["call"] != "Diversity"]
FLOAT32 = {
    *(("warprec", row["call"]) for peer, row in ROWS if peer == "warprec"),
}

# What a peer has beyond accuracy and is not held against ours, and why.
NOT_SHARED = {
    ("rectools", "CatalogCoverage"): "without normalize=True a count of items",
    (
        "rectools",
        "PairwiseHammingDistance, several features",
    ): "the number of features that differ, not a share of them",
    ("rectools", "Accuracy"): "over the catalogue, where nearly all is right; recframe has fall_out and mcc",
    ("rectools", "debiased metrics"): "drop interactions at random",
    (
        "rectools",
        "SufficientReco",
    ): "user_coverage(at_least=k) of the users with a list, and its deep form list_length over k",
    (
        "rectools",
        "UnrepeatedReco",
    ): "an item counts once in a list here; that lists repeat items is what the audit finds",
    (
        "replay",
        "Novelty, users without train",
    ): "1, and users of train without a list too; asked on users who have both",
    ("replay", "CategoricalDiversity of lists of categories"): "takes one category for each row",
    ("microsoft", "catalog_coverage, cold items"): "counts them as covered over the items of train, and so exceeds 1",
    ("microsoft", "lists with items of train"): "an error there",
    (
        "microsoft",
        "items without co-occurrence",
    ): "as unlike as can be; ours leaves out what has no feature. All are warm here",
    ("evidently", "Personalization, ragged"): "takes every list to have k items, and so exceeds 1",
    (
        "evidently",
        "Diversity",
    ): "the sum over pairs over the number of items; held against ours times (k - 1) / 2, on full lists",
    ("evidently", "Serendipity"): "sums over hits without dividing by their number, and so falls below 0",
    ("evidently", "PopularityBias, cold items"): "left out; ours counts them as 0. Asked on warm items",
    ("evidently", "PopularityBias(gini)"): "over the recommended items alone",
    ("evidently", "ItemBias, UserBias"): "histograms",
    ("lenskit", "entropy, rank_biased_entropy"): "of the categories of one list, smoothed",
    ("lenskit", "rank_biased_overlap, ragged"): "depths go on to n past the end of both lists; recorded on full lists",
    ("lenskit", "least_item_promoted"): "how far one item rose",
    ("jurity", "samples of users"): "drawn at random by default; all of them are taken here",
    ("recbole", "ItemCoverage, GiniIndex"): "over the items and one more, for padding; asked without it",
    ("recbole", "ShannonEntropy"): "in nats over the number of recommended items",
    ("recbole", "TailPercentage(tail_ratio above 1)"): "items with at most so many interactions",
    ("recpack", "IPSHitRateK"): "a sum without a norm; the items of no interaction weigh nothing in it",
    ("warprec", "APLT, ragged"): "divides by k where a list is shorter",
    ("warprec", "EPC of a cold item"): "1 - 1 / users, as of an item that one user has; ours is 1",
    ("warprec", "PopRSP, PopREO"): "RSP and REO of head and tail; asked by category",
    ("warprec", "REO, RSP of known items"): "counts known relevant items; asked without any",
    ("warprec", "SRecall"): "category_coverage(relevance=true, denominator=relevant); not asked",
    ("warprec", "IPSRecall"): "recall(weights=ips), over the number of observed relevant items as ours; not asked",
    ("warprec", "cold items in SNIPS"): "have the least propensity; ours count as what one user has. Asked with theirs",
    ("warprec", "UserCoverage"): "a count",
    ("elliot", "all"): "not on PyPI, so not run",
}  # fmt: skip


@functools.cache
def made(name: str) -> scenes_beyond.Scene:
    return scenes_beyond.SCENES[name]()


def items_of(scene: scenes_beyond.Scene, *, of_train: bool) -> list[dict[str, Any]]:
    """The items with each kind of feature; the users who have an item in train are a list of categories like any other."""
    found = []
    for item, (genre, vector) in scene.items.items():
        users = sorted(user for user, one in scene.train if one == item)
        if users or not of_train:
            found.append({"item": item, "genre": f"g{genre}", "vector": vector, "users": users})
    return found


def propensities(scene: scenes_beyond.Scene) -> dict[tuple[str, str], float]:
    """Each pair of the truth with its item's popularity over the highest, 0 where train does not have it."""
    counts = Counter(item for _, item in set(scene.train))
    return {(user, item): counts[item] / max(counts.values()) for user, item in scene.truth}


def sides(scene: scenes_beyond.Scene, names: list[str]) -> dict[str, pl.DataFrame]:
    schema = {
        "item": pl.String,
        "genre": pl.String,
        "vector": pl.List(pl.Float64),
        "users": pl.List(pl.String),
    }
    found = {
        name: pl.DataFrame(getattr(scene, name), schema=["user", "item"], orient="row")
        for name in ("truth", "train")
    }
    if "propensity" in names:
        observed = pl.DataFrame(
            [(*pair, chance) for pair, chance in propensities(scene).items()], orient="row"
        )
        found["truth"] = observed.rename(
            dict(zip(observed.columns, ("user", "item", "propensity"), strict=True))
        )
    found["reference"] = pl.DataFrame(
        scene.ranked(scene.reference), schema=["user", "item", "rank"], orient="row"
    )
    chosen = {name: found[name] for name in names if name in found}
    if names and names[-1].startswith("items"):
        chosen["items"] = pl.DataFrame(
            items_of(scene, of_train=names[-1] == "items of train"), schema=schema
        )
    return chosen


def named(row: tuple[str, dict[str, Any]]) -> str:
    peer, line = row
    return f"{peer}-{line['scene']}-{line['call']}"


def universe_of(row: tuple[str, dict[str, Any]]) -> str:
    return UNIVERSE.get((row[0], row[1]["metric"].partition("(")[0]), "")


def check(
    row: tuple[str, dict[str, Any]], means: list[float], users: list[dict[str, float | None]]
) -> None:
    peer, line = row
    tolerance = 3e-6 if (peer, line["call"]) in FLOAT32 else 1e-9
    assert means == pytest.approx(line["means"], rel=tolerance, abs=tolerance)
    if "moments" in line:
        moments = [scenes.moment(own) for own in users]
        assert moments == pytest.approx(
            line["moments"], rel=tolerance, abs=tolerance * scenes_beyond.N_USERS
        )


def settings_of(metric: str) -> tuple[str, dict[str, Any]]:
    name, _, inside = metric.removesuffix(")").partition("(")
    settings = dict(one.split("=") for one in inside.split(", ")) if inside else {}
    known: dict[str, Any] = {
        "alpha": float, "reference_k": int, "p": float, "share": float, "exponent": float,
        "min_propensity": float,
    }  # fmt: skip
    truths = {"true": True, "True": True}
    return name, {
        key: truths.get(value, known.get(key, str)(value)) for key, value in settings.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=named)
def test_recframe_gives_the_recorded_numbers(row: tuple[str, dict[str, Any]]):
    line, scene = row[1], made(row[1]["scene"])
    recs = pl.DataFrame(scene.ranked(scene.recs), schema=["user", "item", "rank"], orient="row")
    options: dict[str, Any] = {name: name for name in line["sides"] if name == "propensity"}
    options |= {"universe": universe} if (universe := universe_of(row)) else {}
    rec = recs.rec(**sides(scene, line["sides"]), **options)
    asked = rf.parse(line["metric"])
    metrics = [asked if k is None else asked @ k for k in line["k"]]
    means = rec.evaluate(*metrics)[:, -len(metrics) :].row(0)
    users = rec.evaluate(*metrics, by="user") if "moments" in line else pl.DataFrame()
    values = users[:, -len(metrics) :]
    check(row, [*means], [dict(zip(users["user"], own, strict=True)) for own in values])


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=named)
def test_the_plain_definition_gives_the_recorded_numbers(row: tuple[str, dict[str, Any]]):
    line, made_of = row[1], made(row[1]["scene"])
    name, settings = settings_of(line["metric"])
    scene = told(made_of, line["sides"])
    users_of = {"recs": scene.lists.keys(), "both": scene.lists.keys() & scene.truth.keys()}
    universe = users_of.get(universe_of(row), scene.truth.keys())
    counted = sorted(universe if name in OF_USERS | WEIGHTED else scene.lists)
    if name in WEIGHTED:
        users = [
            {user: WEIGHTED[name](scene, user, k, **settings) for user in counted}
            for k in line["k"]
        ]
        means = [mean(own.values()) for own in users]
    else:
        users = (
            [dict(values(name, scene, counted, k, **settings)) for k in line["k"]]
            if "moments" in line
            else []
        )
        means = [overall(name, scene, k, counted, **settings) for k in line["k"]]
    check(row, means, users)


def under_its_profile(peer: str, metric: rf.Metric[...]) -> rf.Metric[...] | None:
    """The metric without what the peer's profile sets, or None where the profile does not give it."""
    profile = PROFILES.get(peer)
    if profile is None or metric.name not in profile.metrics:
        return None
    switches = {
        name: value for name, value in profile.metrics[metric.name].items() if name not in DEFAULTS
    }
    if any(metric.parameters[name] != value for name, value in switches.items()):
        return None
    return rf.parse(metric.name)(
        **{name: value for name, value in metric.settings if name not in switches}
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [row for row in PROFILED if under_its_profile(row[0], rf.parse(row[1]["metric"]))],
    ids=named,
)
def test_the_profile_gives_the_recorded_numbers(row: tuple[str, dict[str, Any]]):
    peer, line = row
    scene, metric = made(line["scene"]), under_its_profile(peer, rf.parse(line["metric"]))
    recs = pl.DataFrame(scene.ranked(scene.recs), schema=["user", "item", "rank"], orient="row")
    rec = recs.rec(**sides(scene, line["sides"]), profile=peer)
    decimals = PROFILES[peer].policies.get("decimals", 9)
    tolerance = 3e-6 if (peer, line["call"]) in FLOAT32 else 0.6 * 10.0**-decimals
    assert metric is not None
    means = rec.evaluate(*(metric @ k for k in line["k"]))[:, -len(line["k"]) :].row(0)
    assert means == pytest.approx(tuple(line["means"]), rel=tolerance, abs=tolerance)


ACCURACY = {name for name, one in registered().items() if one.definition.family == "accuracy"}


@pytest.mark.parametrize(
    "peer", [name for name, one in PROFILES.items() if {*one.metrics} - ACCURACY]
)
def test_every_entry_of_a_profile_beyond_accuracy_has_recorded_numbers(peer: str):
    recorded = {
        rf.parse(row["metric"])
        for one, row in ROWS
        if one == peer and under_its_profile(peer, rf.parse(row["metric"]))
    }
    assert {metric.name for metric in recorded} == {*PROFILES[peer].metrics} - ACCURACY


def told(scene: scenes_beyond.Scene, names: list[str]) -> Scene:
    truth: dict[str, dict[str, float]] = {}
    for user, item in scene.truth:
        truth.setdefault(user, {})[item] = 1.0
    items = items_of(scene, of_train="items of train" in names)
    return Scene(
        lists=listed(scene.ranked(scene.recs)),
        truth=truth,
        train=frozenset(scene.train),
        items={row["item"]: row for row in items},
        reference=listed(scene.ranked(scene.reference)),
        propensity=propensities(scene) if "propensity" in names else None,
    )


def listed(rows: list[tuple[str, str, int]]) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for user, item, rank in rows:
        found.setdefault(user, []).append((item, float(rank)))
    return found


def test_the_lists_are_of_every_kind():
    ragged, full = made("ragged"), made("full")
    lists = listed(ragged.ranked(ragged.recs))
    assert {len(own) for own in lists.values()} == set(scenes_beyond.LENGTHS)
    assert len(lists.keys() - {user for user, _ in ragged.train}) > 5
    assert len(lists.keys() - {user for user, _ in ragged.truth}) > 5
    assert len(lists.keys() - {user for user, _, _ in ragged.reference}) > 5
    assert {item for _, item, _ in ragged.recs} - {item for _, item in ragged.train}
    assert {pair[:2] for pair in ragged.recs} & set(ragged.train)
    assert not {pair[:2] for pair in full.recs} & set(full.train)
    assert {len(own) for own in listed(full.ranked(full.recs)).values()} == {scenes_beyond.FULL}
