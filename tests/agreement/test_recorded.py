"""recframe and its plain definitions against numbers that other libraries gave; `tests/recorders/record.py` stored them.

A line has the numbers of a peer's call, and says which metric gives them of which frames. `tests/recorders/README.md` says
which numbers of theirs are other definitions.
"""

from __future__ import annotations

import functools
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recframe as rf
from plain_beyond import OF_USERS, overall, values
from plain_profiles import DEFINED
from plain_propensity import WEIGHTED
from plain_scene import Scene, Several, mean
from recframe.frames.options import DEFAULTS
from recframe.metrics.language.registry import registered
from recframe.profiles.library_profiles import PROFILES

RECORDERS = Path(__file__).parents[1] / "recorders"
sys.path.append(str(RECORDERS))

import scenes  # noqa: E402  the users that the peers were run on
import scenes_beyond  # noqa: E402
import scenes_cases  # noqa: E402

# some record a level that no grade of the fixture reaches
pytestmark = pytest.mark.filterwarnings("ignore:unreached_min_relevance:recframe.RecframeWarning")

Line = dict[str, Any]
Compared = tuple[Line, str, dict[str, Any]]
"""A line, the metric that gives its numbers, and what `rec(...)` binds."""
AT_ONCE = 10
FAMILIES = {name: one.definition.family for name, one in registered().items()}
FLOAT32 = {"torchmetrics": 1e-6, "warprec": 3e-6}
"""The precision of peers that compute in 32 bits."""
USUAL = {"k": scenes.KS, "moments": [], "options": {}, "bound": {}, "decimals": 10}
LEAST_CASES = 300


def recorded(name: str) -> dict[str, list[Line]]:
    told = json.loads((RECORDERS / f"{name}.json").read_text(encoding="utf-8"))
    return {peer: one["rows"] for peer, one in told.items()}


ACCURACY, BEYOND, CASES = map(recorded, ("values", "values_beyond", "values_cases"))
ACCURACY = {
    peer: [{"plain": line["metric"], **USUAL, **line} for line in lines]
    for peer, lines in ACCURACY.items()
}


def forms(line: Line, metric: str) -> list[rf.Metric[...]]:
    one = rf.parse(metric)
    return [one if k is None else one @ k for k in line["k"]]


def frame(rows: Iterable[Any], *columns: str) -> pl.DataFrame:
    return pl.DataFrame([*rows], schema=[*columns], orient="row")


def asked(rec: rf.Rec[Any], metrics: Iterable[Any], by: str | None = None) -> dict[str, Any]:
    """Return the values of each form, ten a call, and the keys of their rows."""
    found, every = {}, list(dict.fromkeys(metrics))
    for first in range(0, len(every), AT_ONCE):
        some = every[first : first + AT_ONCE]
        result = rec.evaluate(*some, by=by)
        found |= dict(zip(map(str, some), result[:, -len(some) :].iter_columns(), strict=True))
        found["keys"] = result[by] if by else None
    return found


def differences(
    compared: Sequence[Compared], rec_of: Callable[..., rf.Rec[Any]], by: str, differs: Any
) -> list[str]:
    """Return the lines whose numbers differ, each binding asked all of its forms at once."""
    bindings: dict[str, list[Compared]] = {}
    for one in compared:
        line, metric, options = one
        # a default that is written out is another metric under a profile that sets it
        plain = str(rf.parse(metric)) == metric
        about = (line["scene"], line.get("sides"), line.get("catalogue"), plain, options)
        bindings.setdefault(json.dumps(about), []).append(one)
    found = []
    for same in bindings.values():
        first, _, options = same[0]
        rec = rec_of(first, **options)
        means = asked(rec, [form for line, metric, _ in same for form in forms(line, metric)])
        of_keys = [one for one in same if one[0].get("moments") or one[0].get("values")]
        own = asked(rec, [form for line, m, _ in of_keys for form in forms(line, m)], by)
        for line, metric, _ in same:
            names = [*map(str, forms(line, metric))]
            each = [dict(zip(own["keys"], own[name], strict=True)) for name in names if name in own]
            if wrong := differs(line, [means[name].item() for name in names], each):
                found.append(f"{line['scene']} {line['call']}: {metric} {wrong}")
    return found


def apart(mine: Sequence[Any], theirs: Sequence[Any], tolerance: float, scale: float = 1) -> str:
    same = [*mine] == pytest.approx([*theirs], rel=tolerance, abs=tolerance * scale)
    return "" if same else f"{mine} instead of {theirs}"


def tolerance_of(peer: str, line: Line) -> float:
    return max(FLOAT32.get(peer, 1e-9), 10.0 ** -line.get("decimals", 10))


def moments_differ(peer: str, n_users: int, line: Line, means: Any, each: Any) -> str:
    """Say how the means, and the moments of the users' values, differ from those of a line."""
    tolerance = tolerance_of(peer, line)
    wrong = apart(means, line["means"], tolerance)
    if not wrong and line.get("moments"):
        own = [*map(scenes.moment, each)]
        wrong = apart(own, line["moments"], tolerance, n_users)
    return wrong


@functools.cache
def frames(scene: str, column: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Recommendations, with ranks or with scores, and truth."""
    made = scenes.SCENES[scene]()
    rows = made.recs if column == "score" else made.ranked()
    return frame(rows, "user", "item", column), frame(made.truth, "user", "item", "relevance")


def rec_of_accuracy(line: Line, **options: Any) -> rf.Rec[Any]:
    is_scored = line["scene"] in {"tied", "numbered"}
    recs, truth = frames(line["scene"], "score" if is_scored else "rank")
    items = pl.concat([recs, truth], how="diagonal").select("item").unique()
    return recs.rec(truth=truth, **{"items": items} if line.get("catalogue") else {}, **options)


@pytest.mark.slow
@pytest.mark.parametrize("peer", ACCURACY)
def test_profiles_and_parameters_give_the_recorded_numbers(peer: str):
    lines = ACCURACY[peer]
    compared = [(line, line["plain"], line["options"]) for line in lines if line["plain"]]
    of_profile = [line for line in lines if line["metric"]]
    compared += [
        (one, one["metric"], {"profile": one["profile"], **one["bound"]}) for one in of_profile
    ]
    differs = functools.partial(moments_differ, peer, scenes.N_USERS)
    assert differences(compared, rec_of_accuracy, "user", differs) == []


def test_each_metric_of_a_profile_has_a_recorded_answer_or_a_definition():
    lines = [line for some in ACCURACY.values() for line in some if line["metric"]]
    recorded = {(line["profile"], rf.parse(line["metric"]).name) for line in lines}
    defined = {(name, metric) for name, one in DEFINED.items() for metric in one.metrics}
    every = {(name, metric) for name, one in PROFILES.items() for metric in one.metrics}
    assert {one for one in every if FAMILIES[one[1]] == "accuracy"} == recorded | defined


# the users of a mean where a metric reads the truth: those with recommendations, or those that both have
UNIVERSE = {
    **dict.fromkeys([("rectools", "serendipity"), ("microsoft", "serendipity")], "recs"),
    **dict.fromkeys([("ndeval", name) for name in ("alpha_ndcg", "err_ia", "nrbp")], "both"),
    **dict.fromkeys([("warprec", name) for name in ("epc", "efd")], "recs"),
}


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


ITEMS = {"item": pl.String, "genre": pl.String}
ITEMS |= {"vector": pl.List(pl.Float64), "users": pl.List(pl.String)}


def rec_of_beyond(line: Line, **options: Any) -> rf.Rec[Any]:
    scene, names = made(line["scene"]), line["sides"]
    pairs = {name: frame(getattr(scene, name), "user", "item") for name in ("truth", "train")}
    if "propensity" in names:
        chances = [(*pair, chance) for pair, chance in propensities(scene).items()]
        pairs["truth"] = frame(chances, "user", "item", "propensity")
        options["propensity"] = "propensity"
    pairs["reference"] = frame(scene.ranked(scene.reference), "user", "item", "rank")
    chosen = {name: pairs[name] for name in names if name in pairs}
    if names and names[-1].startswith("items"):
        rows = items_of(scene, of_train=names[-1] == "items of train")
        chosen["items"] = pl.DataFrame(rows, schema=ITEMS)
    return frame(scene.ranked(scene.recs), "user", "item", "rank").rec(**chosen, **options)


def universe_of(peer: str, metric: str) -> dict[str, str]:
    universe = UNIVERSE.get((peer, rf.parse(metric).name))
    return {"universe": universe} if universe else {}


def under_its_profile(peer: str, line: Line) -> str:
    """The metric without what the peer's profile sets, or nothing where the profile does not give it."""
    metric, profile = rf.parse(line["metric"]), PROFILES.get(peer)
    if profile is None or metric.name not in profile.metrics or line["call"] == "Diversity":
        return ""  # Evidently's Diversity is held against ours by a factor
    own = profile.metrics[metric.name]
    switches = {name: value for name, value in own.items() if name not in DEFAULTS}
    if any(metric.parameters[name] != value for name, value in switches.items()):
        return ""
    settings = {name: value for name, value in metric.settings if name not in switches}
    return str(rf.parse(metric.name)(**settings))


@pytest.mark.slow
@pytest.mark.parametrize("peer", BEYOND)
def test_metrics_beyond_accuracy_give_the_recorded_numbers(peer: str):
    compared = [(line, line["metric"], universe_of(peer, line["metric"])) for line in BEYOND[peer]]
    differs = functools.partial(moments_differ, peer, scenes_beyond.N_USERS)
    assert differences(compared, rec_of_beyond, "user", differs) == []
    profiled = [(line, under_its_profile(peer, line), {"profile": peer}) for line in BEYOND[peer]]
    profiled = [({**one[0], "moments": []}, *one[1:]) for one in profiled if one[1]]
    decimals = PROFILES[peer].policies.get("decimals", 9) if profiled else 9
    least = FLOAT32.get(peer, 0.6 * 10.0**-decimals)

    def rounded_differ(line: Line, means: Any, _: Any) -> str:
        return apart(means, line["means"], least)

    assert differences(profiled, rec_of_beyond, "user", rounded_differ) == []
    of_profile = {rf.parse(metric).name for _, metric, _ in profiled}
    own = set(PROFILES[peer].metrics if peer in PROFILES else ())
    assert of_profile == {name for name in own if FAMILIES[name] != "accuracy"}


def told(scene: scenes_beyond.Scene, names: list[str]) -> Scene:
    """The scene as the plain definitions take it."""
    users = {user for user, _ in scene.truth}
    truth = {one: {item: 1.0 for user, item in scene.truth if user == one} for one in users}
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


def plain(peer: str, line: Line) -> tuple[list[float | None], list[Mapping[str, float | None]]]:
    """The means and the users' values of the plain definition."""
    metric = rf.parse(line["metric"])
    name, settings = metric.name, dict(metric.settings)
    scene = told(made(line["scene"]), line["sides"])
    users_of = {"recs": scene.lists.keys(), "both": scene.lists.keys() & scene.truth.keys()}
    universe = users_of.get(universe_of(peer, line["metric"]).get("universe", ""), scene.truth)
    counted = sorted(universe if name in OF_USERS | WEIGHTED else scene.lists)
    lists = [Several(scene, counted, k) for k in line["k"]]
    if name in WEIGHTED:
        each = [{one.user: WEIGHTED[name](one, **settings) for one in some} for some in lists]
        return [mean(one.values()) for one in each], each
    some = lists if "moments" in line else []
    each = [dict(values(name, one, **settings)) for one in some]
    return [overall(name, one, **settings) for one in lists], each


@pytest.mark.slow
@pytest.mark.parametrize("peer", BEYOND)
def test_plain_definitions_give_the_recorded_numbers(peer: str):
    differs = functools.partial(moments_differ, peer, scenes_beyond.N_USERS)
    wrong = [(line["call"], differs(line, *plain(peer, line))) for line in BEYOND[peer]]
    assert [one for one in wrong if one[1]] == []


@functools.cache
def cases_of(name: str) -> scenes_cases.Scene:
    return scenes_cases.SCENES[name]()


def ranked(rows: list[tuple[str, str, float]]) -> pl.DataFrame:
    rank = pl.int_range(1, pl.len() + 1).over("user")
    return frame(rows, "user", "item", "score").select("user", "item", rank=rank)


def rec_of_cases(line: Line, **options: Any) -> rf.Rec[Any]:
    """The users of each case, who are one or some where a metric has no value of one."""
    scene = cases_of(line["scene"])
    categories = [(item, [*own], own[0]) for item, own in scene.items.items()]
    sides = {
        "truth": frame(scene.truth, "user", "item", "relevance"),
        "train": frame(scene.train, "user", "item"),
        "reference": ranked(scene.reference),
        "items": frame(categories, "item", "genre", "brand"),
    }
    everyone = sorted({row[0] for row in [*scene.recs, *scene.truth]})
    users = frame([(user, scene.case(user)) for user in everyone], "user", "case")
    chosen = {name: sides[name] for name in line["sides"]}
    return ranked(scene.recs).rec(**chosen, users=users, **options)


def cases_differ(peer: str, line: Line, means: Any, each: Any) -> str:
    del means  # those that are recorded are over the cases
    wrong = ""
    for mine, theirs in zip(each, line["values"], strict=True):
        there = {case: value for case, value in enumerate(theirs) if value is not None}
        assert len(there) >= LEAST_CASES
        own = [mine[case] for case in there]
        wrong = wrong or apart(own, [*there.values()], tolerance_of(peer, line))
    return wrong[:300]


@pytest.mark.slow
@pytest.mark.parametrize("peer", CASES)
def test_each_case_has_the_recorded_number(peer: str):
    lines = [line for line in CASES[peer] if line["metric"]]
    compared = [(line, line["metric"], line.get("bound", {})) for line in lines]
    differs = functools.partial(cases_differ, peer)
    assert differences(compared, rec_of_cases, "case", differs) == []
    for line in CASES[peer]:
        if "fused" in line:
            assert not differs(line, [], [fused(line)]), line["call"]


def fused(line: Line) -> dict[int, float]:
    """The sum of score x number of the item, of each case."""
    scene = cases_of(line["scene"])
    # of both signs, as they were recorded
    lists = {
        name: frame(rows, "user", "item", "score").with_columns(pl.col("score") - 4)
        for name, rows in (("a", scene.recs), ("b", scene.reference))
    }
    number = pl.col("item").str.slice(1).cast(pl.Int64)
    result = rf.fuse(lists, **line["fused"])
    if line["fused"]["method"] == "borda":
        # a list is owed half a point for each item it lacks, and one: the same of all items of a user, which ours leaves out
        listed = pl.concat(lists.values()).group_by("user").len("n")
        owed = (2 * (pl.col("item").n_unique().over("user") + 1) - pl.col("n")) / 2
        result = result.join(listed, on="user").with_columns(pl.col("score") + owed)
    sums = result.group_by("user").agg(told=(pl.col("score") * number).sum())
    return {scene.case(user): value for user, value in sums.iter_rows()}


def test_the_moment_of_values_tells_users_apart():
    assert scenes.moment({"u1": 0.0, "u3": 1.0, "u9": None}) == pytest.approx(1.5)
    assert scenes.moment({"u1": 1.0, "u3": 0.0, "u9": None}) == pytest.approx(0.5)
