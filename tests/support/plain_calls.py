"""What `rec(...).evaluate(...)` says, in plain Python: each segment's lists and scene to the plain definitions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from plain_accuracy import METRICS, Added, RankedList
from plain_beyond import OF_LISTS, OF_ROWS, OF_SETS, OF_USERS, follows, set_of
from plain_policies import (
    Asked,
    Case,
    Part,
    Row,
    Rows,
    cut,
    gains_of,
    grouped,
    has_rank,
    identified,
    judged_rows,
    prepared,
    ranked_list,
    universe,
)
from plain_popularity import places_above
from plain_propensity import WEIGHTED
from plain_scene import Lists, Scene, Several
from plain_scene import mean as mean_of

COUNTED = OF_USERS | WEIGHTED
"""A value for each user of the accuracy metrics, list or not."""
Key = tuple[Any, ...]


def is_of_accuracy(asked: Asked) -> bool:
    """Whether the plain definitions of one list have it."""
    return asked.name in METRICS and "weights" not in asked.parameters


@dataclass(frozen=True)
class Segment:
    """A row of the result: its users, of whom those of the universe have a list, which may be empty."""

    case: Case
    part: Part | None = None
    model: Any = None
    users: list[Any] = field(default_factory=list)
    lists: dict[Any, RankedList] = field(default_factory=dict)

    @cached_property
    def scene(self) -> Scene:
        return scene_of(self.case, self.part, self.model)

    @cached_property
    def counted(self) -> list[Any]:
        """The users that `no_relevant` leaves in."""
        no_relevant = self.case.policy.no_relevant
        return [u for u, one in self.lists.items() if one.n_relevant or no_relevant != "skip"]

    @cached_property
    def valued(self) -> list[Any]:
        """Those who have a value."""
        keeps_all = self.case.policy.no_relevant == "zero"
        return [user for user in self.counted if keeps_all or self.lists[user].n_relevant]

    def has_lists(self, k: int | None) -> bool:
        return bool(self.part and Several(self.scene, self.users, k).with_lists().users)

    def value(self, asked: Asked) -> float | None:
        name, k, parameters = asked.name, asked.k, asked.parameters
        if is_of_accuracy(asked):
            return self.mean((user, 1, asked.value(self.lists[user])) for user in self.valued)
        if not self.part:
            return None
        of_relevance = follows(name, parameters)
        if (of_set := set_of(name, parameters)) is not None:
            # one value of all rows is of every list
            users = self.users if name in OF_ROWS or not of_relevance else self.valued
            return of_set(Several(self.scene, users, k), **parameters)
        if name in OF_LISTS:
            users = self.valued if of_relevance else self.users
            lists = Several(self.scene, users, k).with_lists()
            return mean_of(OF_LISTS[name](one, **parameters) for one in lists)
        # over pairs each relevant item is one
        of_pairs, found = parameters.get("average") == "pairs", []
        for one in Several(self.scene, self.valued, k):
            n = len(places_above(one)) if of_pairs else 1
            found.append((one.user, n, COUNTED[name](one, **parameters)))
        return self.mean(found)

    def mean(self, values: Iterable[tuple[Any, float, Any]]) -> float | None:
        """The mean of the users' values that there are, each with its weight and that of the user."""
        weights = self.case.weights
        of_users = dict.fromkeys(self.users, 1.0) if weights is None else weights
        weighed = [(n * of_users.get(user, 0.0), value) for user, n, value in values]
        present = [(weight, value) for weight, value in weighed if weight and value is not None]
        return mean(present) if present else None


def mean(present: Sequence[tuple[float, float | Added]]) -> float:
    """The mean of weighted values, or what is made of sums or of means over them."""
    first = present[0][1]
    if not isinstance(first, Added):
        present = [(weight, Added((value,), float, of_means=True)) for weight, value in present]
        first = present[0][1]
    whole = math.fsum(weight for weight, _ in present) if first.of_means else 1.0
    columns = zip(*(one.parts for _, one in present), strict=True)
    weights = [weight for weight, _ in present]
    sums = [math.fsum(w * v for w, v in zip(weights, own, strict=True)) for own in columns]
    return first.made(*(total / whole for total in sums))


def lists_of(rows: Rows, model: Any = None) -> Lists:
    own = grouped((row for row in rows if has_rank(row) and row.get("model") == model), "user")
    return {user: [(row["item"], row["rank"]) for row in some] for (user,), some in own.items()}


def scene_of(case: Case, part: Part, model: Any) -> Scene:
    recs, truth = part.of_rows
    own = lists_of(recs, model)
    gains: dict[Any, dict[Any, float]] = {}
    unlisted: dict[Any, dict[Any, float]] = {}
    for (user, item), gain in gains_of(truth, case.policy).items():
        listed = item in dict(own.get(user, ()))
        counts = listed or case.policy.relevant_from == "truth"
        (gains if counts else unlisted).setdefault(user, {})[item] = gain
    items = case.items and {row["item"]: row for row in case.items if row["item"] is not None}
    named = case.reference if isinstance(case.reference, str) else None
    judged = identified(case.judged)
    chances = {(row["user"], row["item"]): row.get("propensity") for row in judged}
    scene = Scene(
        lists=own,
        truth=gains,
        unlisted=unlisted,
        train=frozenset((row["user"], row["item"]) for row in identified(case.train)),
        items=items,
        reference=lists_of(recs, named) if named else lists_of(identified(case.reference)),
        known=frozenset(row["item"] for row in [*judged, *identified(case.recs)]),
        propensity=chances if case.propensity else None,
    )
    if part.inside is None:
        return scene
    others = {item for own in scene.reference.values() for item, _ in own} | scene.whole_catalogue
    every = others | scene.known | {item for _, item in scene.train}
    return replace(scene, within=frozenset(item for item in every if part.inside(item)))


def segments_of(case: Case) -> dict[Key, Segment]:
    """Every segment by its key in which there is somebody, and those that are there without."""
    case, found = prepared(case), {}
    for part in cut(case):
        users = universe(case, part.recs, part.truth)
        rows = grouped(judged_rows(case, part.recs, part.truth), "model", "user")
        everyone = users | {row["user"] for some in part.of_rows for row in some}
        for model in case.models:
            for user in sorted(everyone):
                own = {name: known.get(user) for name, known in case.of_users.items()}
                row = {"model": model, "user": user, **part.key, **own}
                key = tuple(row[name] for name in case.keys)
                segment = found.setdefault(key, Segment(case, part, model, [], {}))
                segment.users.append(user)
                if user in users:
                    own_rows = rows.get((model, user), [])
                    segment.lists[user] = ranked_list(own_rows, case.policy)
    of_all = {(): [()], ("model",): [(model,) for model in case.models]}
    for key in of_all.get(tuple(case.keys), []):
        found.setdefault(key, Segment(case))
    return found


def evaluate(asked: Sequence[Asked], case: Case, also: Iterable[Key] = ()) -> list[dict[str, Any]]:
    """One row for each segment, as `rec(...).evaluate(...)` returns them, in any order; `also` are rows that may be there."""
    plain = replace(case, policy=replace(case.policy, min_relevance_for="all"))
    if case.policy.min_relevance_for == "all" or case.policy.min_relevance is None:
        return [*rows_of(asked, plain, also).values()]
    gains = [one for one in asked if one.weighs_gains]
    others = [one for one in asked if not one.weighs_gains]
    every = replace(plain, policy=replace(plain.policy, min_relevance=None))
    first = rows_of(others, plain) if others else {}
    second = rows_of(gains, every) if gains else {}
    if not (others and gains):
        return [*(first or second).values()]
    # a row of gains alone counts nobody
    empty = dict.fromkeys(map(str, asked)) | ({} if "user" in case.by else {"n_users": 0})
    nobody = {name: value for name, value in empty.items() if name == "n_users"}
    keys = {**first, **second}
    return [empty | second.get(key, {}) | nobody | first.get(key, {}) for key in keys]


def rows_of(
    asked: Sequence[Asked], case: Case, also: Iterable[Key] = ()
) -> dict[Key, dict[str, Any]]:
    segments, names = segments_of(case), case.keys
    accuracy = [one for one in asked if is_of_accuracy(one)]
    always = {*names} <= {"model"}

    def of_models(key: Key) -> Row:
        return {name: value for name, value in zip(names, key, strict=True) if name != "model"}

    kept = {key for key, one in segments.items() if accuracy and (one.counted or always)}
    # a part of one model is one of all models
    parts = [of_models(key) for key in kept]
    if "user" not in case.by:
        kept |= {key for key, one in segments.items() if one.lists and of_models(key) in parts}
    ks = [one.k for one in asked if one.name in OF_LISTS | OF_SETS]
    if ks:
        k = None if None in ks else max(ks)
        kept |= {key for key, one in segments.items() if one.has_lists(k)}
    result = {}
    for key in {*kept, *also}:
        segment = segments.get(key, Segment(case))
        count = {} if "user" in case.by else {"n_users": len(segment.counted)}
        values = {str(one): segment.value(one) for one in asked}
        result[key] = dict(zip(names, key, strict=True)) | count | values
    return result
