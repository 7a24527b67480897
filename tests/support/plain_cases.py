"""Frames as rows, and what `rec(...).evaluate(...)` says of them beyond accuracy: each segment's scene to the reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from plain_beyond import OF_LISTS, OF_PAIRS, OF_ROWS, OF_USERS, follows, set_of
from plain_propensity import WEIGHTED
from plain_scene import Scene, mean

Row = Mapping[str, Any]
Rows = Sequence[Row]


@dataclass(frozen=True)
class Case:
    """What one call is given; without a truth, `recs` are judged rows."""

    recs: Rows
    truth: Rows | None = None
    train: Rows = ()
    users: Rows = ()
    items: Rows | None = None
    reference: Rows | str = ()
    by: tuple[str, ...] = ()
    model: bool = False
    propensity: bool = False
    counting: str | None = None
    """The `universe=`."""
    no_relevant: str = "zero"

    @cached_property
    def seen(self) -> dict[Any, Any]:
        """Keep what is asked again and again of the same rows."""
        return {}

    def once(self, key: Any, made: Callable[[], Any]) -> Any:
        if key not in self.seen:
            self.seen[key] = made()
        return self.seen[key]

    def identified(self, name: str) -> list[Row]:
        return self.once(name, lambda: self._identified(name))

    def ranked(self) -> list[Row]:
        return self.once(" ranked", self._ranked)

    def judged(self) -> list[Row]:
        return self.once(" judged", self._judged)

    def _identified(self, name: str) -> list[Row]:
        """The rows that have both ids."""
        return [
            row
            for row in getattr(self, name) or ()
            if row["user"] is not None and row["item"] is not None
        ]

    def _ranked(self) -> list[Row]:
        return [
            row
            for row in self.identified("recs")
            if row["rank"] is not None and math.isfinite(row["rank"])
        ]

    def _judged(self) -> list[Row]:
        rows = self.identified("recs" if self.truth is None else "truth")
        return [
            row
            for row in rows
            if (gain := row.get("relevance", 1)) is not None and not math.isnan(gain)
        ]

    def models(self) -> list[Any]:
        return (
            list(dict.fromkeys(row["model"] for row in self.identified("recs")))
            if self.model
            else [None]
        )

    def lists(
        self, rows: Iterable[Row], model: Any = None, *, of_models: bool = False
    ) -> dict[Any, list[tuple[Any, float]]]:
        found: dict[Any, list[tuple[Any, float]]] = {}
        for row in rows:
            if (
                row["rank"] is not None
                and math.isfinite(row["rank"])
                and (not of_models or row["model"] == model)
            ):
                found.setdefault(row["user"], []).append((row["item"], row["rank"]))
        return found

    def universe(self, inside: Callable[[Any], bool] = bool) -> frozenset[Any]:
        """The users that count by their rows of the items inside."""
        kept = [
            [row for row in rows if inside is bool or inside(row["item"])]
            for rows in (self.judged(), self.ranked(), self.identified("recs"))
        ]
        judged, listed, recs = ({row["user"] for row in rows} for rows in kept)
        everyone = recs | judged
        found = {
            "truth": judged,
            "recs": listed,
            "both": judged & listed,
            "all": (judged | listed if self.truth is not None else everyone)
            | {row["user"] for row in self.users},
            None: everyone if self.truth is None else judged,
        }
        return frozenset(found[self.counting])

    def gains(self) -> dict[Any, dict[Any, float]]:
        found: dict[Any, dict[Any, float]] = {}
        for row in self.judged():
            gain = row.get("relevance", 1)
            if gain > 0:
                own = found.setdefault(row["user"], {})
                own[row["item"]] = max(gain, own.get(row["item"], gain))
        return found

    def scene(self, model: Any) -> Scene:
        recs = self.identified("recs")
        named = isinstance(self.reference, str)
        return Scene(
            lists=self.lists(recs, model, of_models=self.model),
            truth=self.gains(),
            train=frozenset((row["user"], row["item"]) for row in self.identified("train")),
            items=None
            if self.items is None
            else {row["item"]: row for row in self.items if row["item"] is not None},
            reference=(
                self.lists(recs, self.reference, of_models=True)
                if named
                else self.lists(self.identified("reference"))
            ),
            universe=self.universe(),
            known=frozenset(row["item"] for row in [*recs, *self.judged()]),
            propensity=(
                {(row["user"], row["item"]): row["propensity"] for row in self.judged()}
                if self.propensity
                else None
            ),
        )


@dataclass(frozen=True)
class Asked:
    """A metric with its parameters and its cut-off."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    k: int | None = None

    @property
    def of_sets(self) -> bool:
        return set_of(self.name, self.parameters) is not None


@dataclass(frozen=True)
class Segment:
    """A row of the result: the scene of its model and items, and its users."""

    scene: Scene
    users: tuple[Any, ...]
    no_relevant: str = "zero"

    def counted(self, k: int | None) -> list[Any]:
        """The users with a list."""
        return self.scene.with_lists(self.users, k)

    def judged_users(self) -> list[Any]:
        """The users that the accuracy metrics run over."""
        return [user for user in self.users if user in self.scene.universe]

    def with_relevant(self, users: Sequence[Any]) -> list[Any]:
        """Of users, those who have a value by `no_relevant`."""
        return [user for user in users if self.no_relevant == "zero" or self.scene.relevant(user)]

    def value(self, asked: Asked) -> float | None:
        if (of_set := set_of(asked.name, asked.parameters)) is not None:
            users: Sequence[Any] = self.users
            # one value of all rows is of every list
            if asked.name not in OF_ROWS and follows(asked.name, asked.parameters):
                users = self.with_relevant(self.judged_users())
            return of_set(self.scene, users, asked.k, **asked.parameters)
        if asked.name in OF_LISTS:
            over, users = OF_LISTS[asked.name], self.counted(asked.k)
            if follows(asked.name, asked.parameters):
                users = self.with_relevant([user for user in users if user in self.scene.universe])
        else:
            over, users = (OF_USERS | WEIGHTED)[asked.name], self.with_relevant(self.judged_users())
        if asked.parameters.get("average") == "pairs":
            return OF_PAIRS[asked.name](self.scene, users, asked.k)
        return mean(over(self.scene, user, asked.k, **asked.parameters) for user in users)


def segment(case: Case, key: Row) -> Segment:
    """Return what a row of the result is about: of `by` columns, country describes users and genre describes items."""
    scene = case.scene(key.get("model"))
    rows = [*case.ranked(), *case.judged()] if case.truth is not None else case.identified("recs")
    users = {row["user"] for row in rows if row["user"] is not None} | case.universe()
    if "user" in key:
        users &= {key["user"]}
    if "country" in key:
        countries = {row["user"]: row["country"] for row in case.users}
        users = {user for user in users if countries.get(user) == key["country"]}
    if "genre" in key:
        beside = [] if isinstance(case.reference, str) else case.identified("reference")
        known = {row["item"] for row in [*rows, *case.identified("train"), *beside]}
        known |= set(scene.items or ())
        genre = {item: (scene.items or {}).get(item, {}).get("genre") for item in known}
        scene = replace(
            scene, within=frozenset(item for item in known if genre[item] == key["genre"])
        )
        scene = replace(scene, universe=case.universe(scene.inside))
    return Segment(scene, tuple(sorted(users)), case.no_relevant)


def keys(case: Case, k: int | None, *, of_universe: bool) -> list[dict[str, Any]]:
    """The `by` columns of every row that must be there: those in which somebody (of the universe) has a list cut at k."""
    return case.once(("keys", k, of_universe), lambda: _keys(case, k, of_universe=of_universe))


def _keys(case: Case, k: int | None, *, of_universe: bool) -> list[dict[str, Any]]:
    by = ["model"] * (case.model and "model" not in case.by) + [*case.by]
    countries = {row["user"]: row["country"] for row in case.users if "country" in row}
    genres = {row["item"]: row.get("genre") for row in case.items or ()}
    found = {}
    for row in case.ranked():
        own = genres.get(row["item"]) if "genre" in by else None
        counting = case.once(
            ("genre", own, "genre" in by),
            lambda own=own: case.universe(
                (lambda item: genres.get(item) == own) if "genre" in by else bool
            ),
        )
        if (k is None or row["rank"] <= k) and (row["user"] in counting or not of_universe):
            named = {**row, "country": countries.get(row["user"]), "genre": genres.get(row["item"])}
            key = {name: named[name] for name in by}
            found[tuple(key.values())] = key
    return list(found.values())
