"""A row by segment is what the same call returns on filtered frames: every metric, place of a column, policy and road."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recframe as rf
from buckets_of_users import in_buckets
from choices import CHOICES
from filtered_frames import IDS, Scene, expected, is_over_lists, plain
from forms import VARIANTS, stops_at_k
from frame_kinds import KINDS
from pooled_ranks import frame_apart
from strategies import examples
from ways_to_run import padded

pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")

PLACES = [
    *(("both",), ("judged",), ("users",), ("items",), ("truth",), ("lists",)),
    *(("user",), ("item",), ("even users",), ("odd items",)),
    *(("both", "items"), ("both", "users"), ("judged", "item"), ("judged", "users")),
    *(("users", "items"), ("truth", "users"), ("truth", "items"), ("lists", "odd items")),
    *(("items", "user"), ("items", "item"), ("lists", "users")),
]
WEEKS: list[tuple[Any, list[Any]]] = [
    (pl.Float64(), [1.0, math.nan, None, -0.0, 0.0]),
    (pl.String(), ["a", "b", None]),
    (pl.Enum(["z", "a"]), ["z", "a", None]),
    (pl.Boolean(), [True, False, None]),
]
RANKS = [1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 1.5, None, math.nan]
SCORES = [0.1, 0.5, 0.5, 0.9, None, math.nan]
SHARING = ["recall@2", "ndcg@3", "mrr", "list_length@2", "hit_rate@1"]
# what else a part of the items asks of train than its users' own histories, or of the catalogue than its items
WHOLE = {("serendipity", "popularity"), ("popularity_lift", None)}
OF_HISTORY = ("miscalibration", "repeat_rate", "serendipity(of")


def named(name: str, parameters: Mapping[str, Any], cut: str = "") -> str:
    return f"{rf.parse(name)(**parameters)}{cut}"


BEYOND = [
    named(name, one, "@2")
    for name, some in CHOICES.items()
    for one in some
    if one.get("of") not in {"vector", "cost"} and (name, one.get("against")) not in WHOLE
]
METRICS = [
    *(
        named(name, one, cut)
        for name, one in VARIANTS
        for cut in ("", "@2")
        if cut or not stops_at_k(name, one)
    ),
    *BEYOND,
]


def frame(
    draw: Any, columns: Mapping[str, tuple[Any, Sequence[Any]]], most: int = 14
) -> pl.DataFrame:
    rows = st.tuples(*(st.sampled_from(some) for _, some in columns.values()))
    found = draw(st.lists(rows, min_size=1, max_size=most))
    return pl.DataFrame(found, {name: dtype for name, (dtype, _) in columns.items()}, orient="row")


def described(
    draw: Any, role: str, ids: Sequence[int], columns: Mapping[str, tuple[Any, Sequence[Any]]]
) -> pl.DataFrame:
    cells = {
        name: pl.Series(
            draw(st.lists(st.sampled_from(some), min_size=len(ids), max_size=len(ids))), dtype=dtype
        )
        for name, (dtype, some) in columns.items()
    }
    return pl.DataFrame({role: pl.Series(ids, dtype=pl.Int64), **cells})


@st.composite
def scenes(draw: Any) -> Scene:
    places = draw(st.sampled_from(PLACES))
    week = draw(st.sampled_from(WEEKS))
    free = places[0] not in {"both", "truth", "lists"}
    is_judged = places[0] == "judged" or (free and draw(st.booleans()))
    has_models = draw(st.sampled_from([False, False, True]))
    ids = {"user": (pl.Int64(), [1, 2, 3, None]), "item": (pl.Int64(), [1, 2, 3, 4])}
    order = draw(st.sampled_from(["rank", "score"]))
    columns: dict[str, Any] = ids | {order: (pl.Float64(), RANKS if order == "rank" else SCORES)}
    relevance = (pl.Float64(), [0.0, 1.0, 2.0, None])
    columns |= {"relevance": relevance} if is_judged else {}
    columns |= {"model": (pl.String(), ["m", "n", "n"])} if has_models else {}
    recs = frame(draw, columns | ({"week": week} if places[0] in {"both", "judged"} else {}))
    if places[0] == "lists":  # one value a user, or null beside it
        values = {one: draw(st.sampled_from(week[1])) for one in (1, 2, 3)}
        said = [(values.get(one), draw(st.booleans())) for one in recs["user"]]
        weeks = [value if says else None for value, says in said]
        recs = recs.with_columns(pl.Series("week", weeks, dtype=week[0]))
    recs = frame_apart(recs) if order == "rank" else recs
    of_truth = {"week": week} if places[0] in {"both", "truth"} else {}
    truth = None if is_judged else frame(draw, {**ids, "relevance": relevance, **of_truth})
    users = described(draw, "user", [1, 3, 9], {"land": week})
    kinds = {"kind": week, "genre": (pl.String(), ["x", "y", None])}
    kinds |= {
        "tags": (pl.List(pl.String), [["x"], ["x", "y"], []]),
        "price": (pl.Float64(), [1.0, 2.5]),
    }
    # by item, a frame that is filtered to an item of no catalogue is an error, where the part has no value
    known = [1, 2, 4] if "items" in places and "item" not in places else [1, 2, 3, 4]
    items = described(draw, "item", known, kinds)
    others = {"item": [90 + number for number in range(len(week[1]))], "kind": week[1]}
    items = pl.concat(
        [items, pl.DataFrame(others, {"item": pl.Int64, "kind": week[0]})], how="diagonal"
    )
    pairs = {name: (pl.Int64(), [1, 2, 3]) for name in IDS}
    truth_alone = places[0] == "truth"
    universes = [None, None, "both", *([] if truth_alone else ["recs", "all"])]
    options = {
        "universe": draw(st.sampled_from(universes)),
        "no_relevant": draw(st.sampled_from([None, "skip", "null"])),
        "min_relevance": draw(st.sampled_from([None, None, 2, "any"])),
        "relevant_from": draw(st.sampled_from([None, None, "list"])),
        "ties": draw(
            st.sampled_from([None, None, "pessimistic", "item_reverse", "order", "expected"])
        ),
    }
    scene = Scene(
        recs,
        truth,
        users if "users" in places or draw(st.booleans()) else None,
        items,
        frame(draw, pairs),
        frame(draw, pairs | {"rank": (pl.Int64(), [1, 2, 3])}),
        {name: value for name, value in options.items() if value is not None},
        places,
    )
    if scene.is_scored and scene.options.get("ties") == "expected" and scene.cuts_items:
        return replace(scene, options={**scene.options, "ties": "optimistic"})
    if not scene.is_scored:
        scene.options.pop("ties", None)
    return scene


Road = tuple[str, Callable[[Scene, Sequence[str]], Any]]


def in_parts(scene: Scene, metrics: Sequence[str]) -> pl.DataFrame:
    of_users = [one for one in metrics if not is_over_lists(one)] or ["mrr"]
    return in_buckets(scene.rec(pl.DataFrame.lazy), *of_users, by=scene.asked_by)


def of_kind(kind: Any) -> Callable[[Scene, Sequence[str]], Any]:
    def asked(scene: Scene, metrics: Sequence[str]) -> pl.DataFrame:
        has_all = not any(
            one is not None and one.select(IDS).null_count().sum_horizontal().item()
            for one in (scene.recs, scene.truth)
        )
        make = kind if has_all or "pandas" not in kind.name else KINDS[0]
        found: pl.DataFrame = make.read(scene.rec(make).evaluate(*metrics, by=scene.asked_by))
        return found

    return asked


def large(scene: Scene, metrics: Sequence[str]) -> pl.DataFrame:
    found: pl.DataFrame = scene.rec(padded).evaluate(*metrics, by=scene.asked_by)
    return found


ROADS: list[Road] = [
    *(
        (kind.name, of_kind(kind))
        for kind in KINDS
        if kind.name in {"polars", "lazy", "streaming", "pandas"}
    ),
    ("large", large),
    ("large", large),
    ("parts", in_parts),
]


@settings(examples(40), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    scene=scenes(),
    metrics=st.lists(st.sampled_from(METRICS), min_size=2, max_size=4, unique=True),
    road=st.sampled_from(ROADS),
)
def test_a_part_has_the_values_and_the_users_of_filtered_frames(
    scene: Scene, metrics: list[str], road: Road
):
    if scene.options.get("ties") == "expected":
        metrics = SHARING
    if scene.places[0] == "truth":
        metrics = [one for one in metrics if not is_over_lists(one)] or ["ndcg@2"]
    found = road[1](scene, metrics)
    metrics = [one for one in found.columns if one in metrics]

    own = [one for one in metrics if scene.cuts_items and one.startswith(OF_HISTORY)]
    wanted = expected(scene, metrics)
    for key, row in (of_own_histories(scene, own) if own else {}).items():
        wanted[key] |= {name: row[name] for name in own}
    keys = ["model"] * scene.has_models + [*scene.by]
    got = {tuple(plain(row[name]) for name in keys): row for row in found.to_dicts()}
    assert got.keys() == wanted.keys()
    assert len(got) == len(found)
    for key, row in wanted.items():
        names = [name for name in row if "user" not in keys or name not in {"n_users", "n_lists"}]
        assert [*got[key]] == [*keys, *names]
        differ = {
            name: (got[key][name], row[name])
            for name in names
            if not near(got[key][name], row[name])
        }
        assert not differ, (key, differ)


def of_own_histories(scene: Scene, metrics: Sequence[str]) -> Any:
    """The same where train, which is filtered for users' own histories alone, is cut to the items of the part."""
    return expected(replace(scene, cuts_train=True), metrics)


def near(found: float | None, wanted: float | None) -> bool:
    if found is None or wanted is None:
        return found is wanted
    return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)
