"""What the plain metrics beyond accuracy are told: lists, truth, train, items, and the part of one user."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Lists = Mapping[Any, Sequence[tuple[Any, float]]]


def mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True)
class Scene:
    """All that is known: the lists of one model, and what they are compared with.

    `within`, the items of one segment of items, leaves in lists, histories, truth and catalogue only those.
    """

    lists: Lists
    truth: Mapping[Any, Mapping[Any, float]] = field(default_factory=dict)
    """{user: {relevant item: gain}}"""
    unlisted: Mapping[Any, Mapping[Any, float]] = field(default_factory=dict)
    """The same of items that do not count, since no list has them."""
    train: frozenset[tuple[Any, Any]] = frozenset()
    items: Mapping[Any, Mapping[str, Any]] | None = None
    reference: Lists = field(default_factory=dict)
    known: frozenset[Any] = frozenset()
    """Items that the truth or another model has, and so the catalogue where there are no `items`."""
    propensity: Mapping[tuple[Any, Any], float | None] | None = None
    within: frozenset[Any] | None = None

    def inside(self, item: Any) -> bool:
        return self.within is None or item in self.within

    @cached_property
    def popularity(self) -> Counter[Any]:
        """Each item's train users."""
        return Counter(item for _, item in self.train)

    @cached_property
    def train_users(self) -> set[Any]:
        return {user for user, _ in self.train}

    @cached_property
    def whole_catalogue(self) -> set[Any]:
        if self.items is not None:
            return set(self.items)
        listed = {item for own in self.lists.values() for item, _ in own}
        judged = {item for own in self.truth.values() for item in own}
        return listed | judged | {*self.popularity} | self.known

    @cached_property
    def catalogue(self) -> set[Any]:
        return {item for item in self.whole_catalogue if self.inside(item)}

    def feature(self, item: Any, of: str) -> Any:
        """Return the item's feature as a vector (tuple) or as a set of categories; None where it has none."""
        row = (self.items or {}).get(item, {})
        value = row.get(of or next((name for name in row if name != "item"), ""))
        if isinstance(value, (list, tuple)):
            present = [one for one in value if one is not None]
            if not any(isinstance(one, float) for one in present):
                return frozenset(present) or None
            is_whole = len(present) == len(value) and all(map(math.isfinite, present))
            return tuple(present) if is_whole and any(present) else None
        return None if value is None else frozenset([value])

    def categories(self, items: Iterable[Any], of: str) -> set[Any]:
        return {one for item in items for one in self.feature(item, of) or ()}


@dataclass(frozen=True)
class One:
    """A user's list cut at k, and what the scene has of the user."""

    scene: Scene
    user: Any
    k: int | None

    @cached_property
    def listed(self) -> list[tuple[Any, float]]:
        """(item, rank), each item at its best rank, the best first."""
        return self._inside(cut(self.scene.lists.get(self.user, ()), self.k))

    @cached_property
    def found(self) -> list[Any]:
        return [item for item, _ in self.listed]

    @cached_property
    def relevant(self) -> dict[Any, float]:
        return dict(self._inside(self.scene.truth.get(self.user, {}).items()))

    @cached_property
    def all_relevant(self) -> set[Any]:
        """The user's relevant items, whether or not those that no list has count."""
        return {*self.relevant, *dict(self._inside(self.scene.unlisted.get(self.user, {}).items()))}

    @cached_property
    def history(self) -> list[Any]:
        scene = self.scene
        return [item for user, item in scene.train if user == self.user and scene.inside(item)]

    def reference(self, k: int | None = None) -> list[tuple[Any, float]]:
        return cut(self.scene.reference.get(self.user, ()), k)

    def reference_inside(self, k: int | None = None) -> list[tuple[Any, float]]:
        return self._inside(self.reference(k))

    def features(self, items: Iterable[Any], of: str) -> dict[Any, Any]:
        """Return the features of those items that have some."""
        found = {item: self.scene.feature(item, of) for item in items}
        return {item: feature for item, feature in found.items() if feature is not None}

    def _inside(self, pairs: Iterable[tuple[Any, float]]) -> list[tuple[Any, float]]:
        return [pair for pair in pairs if self.scene.inside(pair[0])]


@dataclass(frozen=True)
class Several:
    """The lists of some users, cut at k."""

    scene: Scene
    users: Sequence[Any]
    k: int | None

    def __iter__(self) -> Iterator[One]:
        return (One(self.scene, user, self.k) for user in self.users)

    @property
    def listed(self) -> list[tuple[Any, float]]:
        return [row for one in self for row in one.listed]

    def with_lists(self) -> Several:
        return Several(self.scene, [one.user for one in self if one.listed], self.k)


def cut(rows: Sequence[tuple[Any, float]], k: int | None) -> list[tuple[Any, float]]:
    best: dict[Any, float] = {}
    for item, rank in rows:
        if rank is not None and math.isfinite(rank):
            best[item] = min(rank, best.get(item, rank))
    kept = [(item, rank) for item, rank in best.items() if k is None or rank <= k]
    return sorted(kept, key=lambda one: (one[1], one[0]))
