"""Frames filtered by hand to a part of a `by` column, as the page on segments says, and what the same call returns on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import polars as pl

import recframe as rf
from plain_policies import Policy, ranked_by_score

Value = Any
OF_USERS = {"users", "lists", "user", "even users"}
OF_ITEMS = {"items", "item", "odd items"}
IDS = ["user", "item"]
COLUMNS = {
    "users": "land",
    "items": "kind",
    "user": "user",
    "item": "item",
    "even users": "even",
    "odd items": "odd",
}
"""The `by` column of a place; "week" stands in the lists, in the truth or in both."""
MADE = {
    "even": (pl.col("user") % 2 == 0).alias("even"),
    "odd": (pl.col("item") % 2 == 1).alias("odd"),
}
OVER_LISTS = frozenset(rf.list_metrics().filter(over="lists")["name"])


@dataclass(frozen=True)
class Scene:
    """The frames of a call, its options, and where its `by` columns stand."""

    recs: pl.DataFrame
    truth: pl.DataFrame | None
    users: pl.DataFrame | None
    items: pl.DataFrame
    train: pl.DataFrame
    reference: pl.DataFrame
    options: Mapping[str, Any]
    places: tuple[str, ...]
    cuts_train: bool = False
    """Whether a part of the items cuts train too, which it does to the users' own histories."""

    @property
    def by(self) -> dict[str, str]:
        """The columns, with their places."""
        return {COLUMNS.get(place, "week"): place for place in self.places}

    @property
    def asked_by(self) -> list[Any]:
        """What `by=` takes."""
        return [MADE.get(name, name) for name in self.by]

    @property
    def has_models(self) -> bool:
        return "model" in self.recs.columns

    @property
    def is_scored(self) -> bool:
        return "score" in self.recs.columns

    @property
    def cuts_items(self) -> bool:
        return bool(OF_ITEMS & {*self.places})

    def rec(self, make: Any = lambda frame: frame) -> Any:
        sides = ("truth", "users", "items", "train", "reference")
        given = {name: getattr(self, name) for name in sides if getattr(self, name) is not None}
        model = {"model": "model"} if self.has_models else {}
        kinds = {name: make(frame) for name, frame in given.items()}
        return rf.rec(make(self.recs), **kinds, **self.options, **model)


def plain(value: Value) -> Value:
    """A value as a segment: NaN is null, and -0.0 is 0."""
    if isinstance(value, float):
        return None if math.isnan(value) else value + 0.0
    return value


def rows(frame: pl.DataFrame | None, name: str) -> set[Value]:
    if frame is None or name not in frame.columns:
        return set()
    ids = [one for one in IDS if one in frame.columns]
    return {plain(one) for one in frame.drop_nulls(ids)[name].to_list()}


def values(scene: Scene, name: str, place: str) -> list[Value]:
    """The values that rows of the frames have, and null where ids may have no row that describes them."""
    if place in {"even users", "odd items"}:
        return [True, False]
    source = {"users": [scene.users], "items": [scene.items]}
    frames = source.get(place, [scene.recs, scene.truth])
    frames += {"user": [scene.users], "item": [scene.items]}.get(place, [])
    found = set[Value]().union(*(rows(one, name) for one in frames))
    return [*found, *([None] if place in {"users", "items", "lists"} and None not in found else [])]


def known(scene: Scene, name: str, place: str) -> Any:
    """How a `by` column is known of an id."""
    if place == "lists":
        pairs = scene.recs.drop_nulls(IDS).select("user", name).rows()
        # null beside a value of a user is that value
        return {one: plain(week) for one, week in pairs if plain(week) is not None}.get
    if place in {"users", "items"}:
        frame: Any = getattr(scene, place)
        return {one: plain(value) for one, value in frame.select(place[:-1], name).rows()}.get
    return {"even users": lambda one: one % 2 == 0, "odd items": lambda one: one % 2 == 1}.get(
        place, lambda one: one
    )


def alike(one: Value, other: Value) -> bool:
    return one == other and (one is None) == (other is None)


def kept(frame: pl.DataFrame | None, role: str, of: Any, value: Value) -> Any:
    if frame is None:
        return None
    ids = [one for one in frame[role].unique() if one is not None and alike(of(one), value)]
    return frame.filter(pl.col(role).is_in(ids))


def filtered(scene: Scene, part: Mapping[str, Value]) -> Scene:
    """The frames of a part: filters of rows and users first, then ranks from scores, then filters of items."""
    found = scene
    for name, place in scene.by.items():
        value = part[name]
        if place in OF_USERS:
            of = known(scene, name, place)
            cut = {
                one: kept(getattr(found, one), "user", of, value)
                for one in ("recs", "truth", "users")
            }
            found = replace(found, **cut)
        elif place not in OF_ITEMS:
            frames = {"recs": found.recs, "truth": found.truth}
            weeks = {one: frame for one, frame in frames.items() if rows_have(frame, name)}
            cut = {
                one: frame.filter(alike(plain(week), value) for week in frame[name].to_list())
                for one, frame in weeks.items()
            }
            found = replace(found, **cut)
    if scene.cuts_items and scene.is_scored:
        found = ranked(found)
    for name, place in scene.by.items():
        if place in OF_ITEMS:
            of = known(scene, name, place)
            frames = ("recs", "truth", "items", "reference", *["train"] * scene.cuts_train)
            cut = {one: kept(getattr(found, one), "item", of, part[name]) for one in frames}
            found = replace(found, **cut)
    frames = {"recs": found.recs.drop("week", strict=False)}
    frames |= {} if found.truth is None else {"truth": found.truth.drop("week", strict=False)}
    return replace(found, **frames, places=())


def rows_have(frame: pl.DataFrame | None, name: str) -> bool:
    return frame is not None and name in frame.columns


def ranked(scene: Scene) -> Scene:
    """The lists with the ranks that their scores make, ties in the order that the options say."""
    options = dict(scene.options)
    ties = options.pop("ties", "item")
    policy = Policy(min_relevance=options.get("min_relevance"), ties=ties)
    own = scene.recs.drop_nulls(IDS).with_columns(pl.col("score").fill_nan(None))
    judged = own if scene.truth is None else scene.truth.drop_nulls(IDS)
    key = ["model", "user"] if scene.has_models else ["user"]
    found = ranked_by_score(own.to_dicts(), key, ties, judged.to_dicts(), policy)
    schema = {**own.drop("score").schema, "rank": pl.Float64}
    recs = pl.DataFrame(found, schema=schema) if found else pl.DataFrame(schema=schema)
    return replace(scene, recs=recs, options=options)


def exists(scene: Scene, part: Mapping[str, Value]) -> bool:
    """Whether a user has the values of users, and a row of lists or of judged pairs those of rows and items."""
    of_users = {name: known(scene, name, one) for name, one in scene.by.items() if one in OF_USERS}
    users = rows(scene.recs, "user") | rows(scene.truth, "user")
    users |= rows(scene.users, "user") - {None}
    if not any(all(alike(of(one), part[name]) for name, of in of_users.items()) for one in users):
        return False
    cut = filtered(
        replace(scene, places=tuple(one for one in scene.places if one not in OF_USERS)), part
    )
    judged = cut.recs if cut.truth is None else cut.truth.drop_nulls("relevance")
    has_rows = any(len(frame.drop_nulls(IDS)) for frame in (cut.recs, judged))
    return has_rows or {*scene.places} <= OF_USERS


def models(scene: Scene) -> list[Value]:
    recs = scene.recs.drop_nulls(IDS)
    return sorted(recs["model"].unique()) if scene.has_models else []


def without_a_list(scene: Scene, metrics: Sequence[str]) -> dict[str, Any]:
    """What the users of a part get from a model that has no list there."""
    recs = scene.recs.drop_nulls(IDS)
    judged = recs if scene.truth is None else scene.truth.drop_nulls(IDS)
    judged = judged.with_columns(pl.col("relevance").fill_nan(None)).drop_nulls("relevance")
    ranks = [True] * len(recs) if scene.is_scored else [is_rank(one) for one in recs["rank"]]
    listed, liked = {*recs.filter(ranks)["user"]}, {*judged["user"]}
    everyone = liked | ({*recs["user"]} if scene.truth is None else listed)
    universe = scene.options.get("universe") or ("rows" if scene.truth is None else "truth")
    users = {"truth": liked, "recs": listed, "both": liked & listed, "rows": everyone}
    users |= {"all": everyone | rows(scene.users, "user") - {None}}
    counted = pl.DataFrame({"user": sorted(users[universe])}, schema={"user": pl.Int64})
    alone = replace(
        scene,
        recs=recs.clear().drop("model", "relevance", strict=False),
        truth=judged.select(*IDS, "relevance").filter(
            pl.col("user").is_in(counted["user"].implode())
        ),
        users=counted,
        options={**scene.options, "universe": "all"},
    )
    found: dict[str, Any] = alone.rec().evaluate(*metrics).row(0, named=True)
    return found


def is_rank(one: float | None) -> bool:
    return one is not None and math.isfinite(one)


def is_over_lists(metric: str) -> bool:
    return metric.partition("(")[0].partition("@")[0] in OVER_LISTS


def parts(scene: Scene) -> Iterator[tuple[Value, ...]]:
    """The values of each part that a row of the frames is in."""
    names = [*scene.by]
    for part in product(*(values(scene, name, place) for name, place in scene.by.items())):
        if exists(scene, dict(zip(names, part, strict=True))):
            yield part


def by_model(
    scene: Scene, part: Scene, metrics: Sequence[str]
) -> dict[tuple[Value, ...], dict[str, Any]]:
    """What the call returns on the frames of a part, for every model of the scene."""
    rows_ = part.rec().evaluate(*metrics).to_dicts()
    found = {(row.pop("model"),) if scene.has_models else (): row for row in rows_}
    for model in models(scene):
        if (model,) not in found:
            found[model,] = without_a_list(part, metrics)
    return found


def expected(scene: Scene, metrics: Sequence[str]) -> dict[tuple[Value, ...], dict[str, Any]]:
    """The row of each part where a user counts, or where a list stands that a metric over lists reads; of every model."""
    found = {}
    for part in parts(scene):
        one = filtered(scene, dict(zip(scene.by, part, strict=True)))
        of = by_model(scene, one, metrics)
        if any(row["n_users"] or row.get("n_lists") for row in of.values()):
            found |= {(*model, *part): row for model, row in of.items()}
    return found
