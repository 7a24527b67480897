"""What the plain-Python metrics beyond accuracy are told: lists, truth, train, items, and how each of them is read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    """All that is known: the lists of one model, and what they are held against.

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
    universe: frozenset[Any] = frozenset()
    """The users of the accuracy metrics."""
    known: frozenset[Any] = frozenset()
    """Items that the truth or another model has, and so the catalogue where there are no `items`."""
    propensity: Mapping[tuple[Any, Any], float | None] | None = None
    within: frozenset[Any] | None = None

    def inside(self, item: Any) -> bool:
        return self.within is None or item in self.within

    def listed(self, user: Any, k: int | None) -> list[tuple[Any, float]]:
        """(item, rank) of the list cut at k, each item at its best rank, the best first."""
        return [one for one in cut(self.lists.get(user, ()), k) if self.inside(one[0])]

    def found(self, user: Any, k: int | None) -> list[Any]:
        return [item for item, _ in self.listed(user, k)]

    def with_lists(self, users: Iterable[Any], k: int | None) -> list[Any]:
        return [user for user in users if self.listed(user, k)]

    def relevant(self, user: Any) -> dict[Any, float]:
        return {item: gain for item, gain in self.truth.get(user, {}).items() if self.inside(item)}

    def all_relevant(self, user: Any) -> set[Any]:
        """The user's relevant items, whether or not those that no list has count."""
        both = self.truth.get(user, {}).keys() | self.unlisted.get(user, {}).keys()
        return {item for item in both if self.inside(item)}

    def history(self, user: Any) -> list[Any]:
        return [item for owner, item in self.train if owner == user and self.inside(item)]

    @cached_property
    def popularities(self) -> Counter[Any]:
        return Counter(item for _, item in self.train)

    def popularity(self, item: Any) -> int:
        """The item's train users."""
        return self.popularities[item]

    def train_users(self) -> set[Any]:
        return {user for user, _ in self.train}

    def train_items(self) -> set[Any]:
        return {item for _, item in self.train}

    def whole_catalogue(self) -> set[Any]:
        if self.items is not None:
            return set(self.items)
        recommended = {item for own in self.lists.values() for item, _ in own}
        judged = {item for own in self.truth.values() for item in own}
        return recommended | judged | self.train_items() | self.known

    def catalogue(self) -> set[Any]:
        return {item for item in self.whole_catalogue() if self.inside(item)}

    def feature(self, item: Any, of: str) -> Any:
        """Return the item's feature as a vector (tuple) or as a set of categories; None where it has none."""
        row = (self.items or {}).get(item, {})
        value = row.get(of or next((name for name in row if name != "item"), ""))
        if isinstance(value, (list, tuple)):
            present = [one for one in value if one is not None]
            if not any(isinstance(one, float) for one in present):
                return frozenset(present) or None
            usable = (
                len(present) == len(value) and all(map(math.isfinite, present)) and any(present)
            )
            return tuple(present) if usable else None
        return None if value is None else frozenset([value])

    def categories(self, item: Any, of: str) -> frozenset[Any]:
        return self.feature(item, of) or frozenset()


def cut(rows: Sequence[tuple[Any, float]], k: int | None) -> list[tuple[Any, float]]:
    best: dict[Any, float] = {}
    for item, rank in rows:
        if rank is not None and math.isfinite(rank):
            best[item] = min(rank, best.get(item, rank))
    kept = [(item, rank) for item, rank in best.items() if k is None or rank <= k]
    return sorted(kept, key=lambda one: (one[1], one[0]))
