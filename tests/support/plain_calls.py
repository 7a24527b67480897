"""What `rec(...).evaluate(...)` says beyond accuracy: each segment's scene to the plain definitions, of any case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from plain_accuracy import METRICS
from plain_beyond import OF_LISTS, OF_ROWS, OF_USERS, follows, set_of
from plain_policies import (
    Asked,
    Case,
    Part,
    Row,
    Rows,
    gains_of,
    has_rank,
    identified,
    keys_of,
    models_of,
    parts_of,
    prepared,
    universe,
    weights_of,
)
from plain_policies import mean as mean_of_weighted
from plain_popularity import places_above
from plain_propensity import WEIGHTED
from plain_scene import Lists, Scene, mean

COUNTED = OF_USERS | WEIGHTED
"""A value for each user of the accuracy metrics, list or not."""


def is_of_accuracy(asked: Asked) -> bool:
    """Whether the plain definitions of one list have it."""
    return asked.name in METRICS and "weights" not in asked.parameters


@dataclass(frozen=True)
class Segment:
    """A row of the result: the scene of its model, rows and items, and its users."""

    case: Case
    scene: Scene
    users: tuple[Any, ...]

    def judged(self) -> list[Any]:
        """The users that the accuracy metrics run over, of whom `no_relevant` may leave some out."""
        keeps_all = self.case.policy.no_relevant == "zero"
        users = [user for user in self.users if user in self.scene.universe]
        return [user for user in users if keeps_all or self.scene.relevant(user)]

    def value(self, asked: Asked) -> float | None:
        name, k, parameters = asked.name, asked.k, asked.parameters
        of_relevance = follows(name, parameters)
        if (of_set := set_of(name, parameters)) is not None:
            # one value of all rows is of every list
            one_for_all = name in OF_ROWS or not of_relevance
            return of_set(self.scene, self.users if one_for_all else self.judged(), k, **parameters)
        if name in OF_LISTS:
            users: Sequence[Any] = self.scene.with_lists(self.users, k)
            users = [user for user in self.judged() if user in users] if of_relevance else users
            return mean(OF_LISTS[name](self.scene, user, k, **parameters) for user in users)
        weights = weights_of(self.case)
        present = []
        for user in self.judged():
            weight = 1.0 if weights is None else weights.get(user)
            value = COUNTED[name](self.scene, user, k, **parameters)
            if weight is not None and value is not None:
                # over pairs each relevant item is one
                pairs = parameters.get("average") == "pairs"
                n = len(places_above(self.scene, user, k)) if pairs else 1
                present.append((weight * n, value))
        return mean_of_weighted(present) if present else None


def lists_of(rows: Rows, model: Any = None) -> Lists:
    found: dict[Any, list[tuple[Any, float]]] = {}
    for row in rows:
        if has_rank(row) and row.get("model") == model:
            found.setdefault(row["user"], []).append((row["item"], row["rank"]))
    return found


def scene_of(case: Case, part: Part, model: Any) -> Scene:
    recs, truth = part.of_rows
    own = lists_of(recs, model)
    gains: dict[Any, dict[Any, float]] = {}
    unlisted: dict[Any, dict[Any, float]] = {}
    for (user, item), gain in gains_of(truth, case.policy).items():
        listed = item in {one for one, _ in own.get(user, ())}
        counts = listed or case.policy.relevant_from == "truth"
        (gains if counts else unlisted).setdefault(user, {})[item] = gain
    judged = case.recs if case.truth is None else case.truth
    known = frozenset(row["item"] for row in identified(judged))
    items = case.items and {row["item"]: row for row in case.items if row["item"] is not None}
    train = frozenset((row["user"], row["item"]) for row in identified(case.train))
    named = isinstance(case.reference, str)
    reference = lists_of(recs, case.reference) if named else lists_of(identified(case.reference))
    scene = Scene(
        lists=own,
        truth=gains,
        unlisted=unlisted,
        train=train,
        items=items,
        reference=reference,
        universe=frozenset(universe(case, part.recs, part.truth)),
        known=known | {row["item"] for row in identified(case.recs)},
        propensity=(
            {(row["user"], row["item"]): row["propensity"] for row in identified(judged)}
            if case.propensity
            else None
        ),
    )
    if part.inside is None:
        return scene
    others = {item for own in reference.values() for item, _ in own} | scene.whole_catalogue()
    every = others | scene.known | {item for _, item in train}
    return replace(scene, within=frozenset(item for item in every if part.inside(item)))


def segments_of(case: Case) -> dict[tuple[Any, ...], Segment]:
    """Every row of the result by its key: those in which somebody has a list or counts."""
    case = prepared(case)
    names, parts, found = keys_of(case), parts_of(case), {}
    for part in case.cut:
        for model in models_of(case):
            scene = scene_of(case, part, model)
            users = {row["user"] for rows in part.of_rows for row in rows} | scene.universe
            of_keys: dict[tuple[Any, ...], list[Any]] = {}
            for user in sorted(users):
                own = {name: known.get(user) for name, known in parts.of_users.items()}
                row: Row = {"model": model, "user": user, **part.key, **own}
                of_keys.setdefault(tuple(row[name] for name in names), []).append(user)
            for key, some in of_keys.items():
                found[key] = Segment(case, scene, tuple(some))
    return found
