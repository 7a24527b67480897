"""Baselines of one fold in plain Python, by their definitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from plain_keys import plain_key

Row = Mapping[str, Any]
"""A row of a log: user, item, t, part."""
Lists = dict[Any, list[Any]]


def in_part(rows: Iterable[Row], *parts: str) -> list[Row]:
    """Return the rows of some parts."""
    return [row for row in rows if row["part"] in parts]


def users_of(rows: Iterable[Row]) -> list[Any]:
    """Return the users of the truth."""
    return sorted({row["user"] for row in in_part(rows, "truth")})


def own_of(rows: Iterable[Row], user: Any) -> list[Row]:
    """Return what a model may know of a user."""
    return [row for row in in_part(rows, "train", "fold_in") if row["user"] == user]


def by_users(rows: Iterable[Row]) -> list[Any]:
    """Return items by their number of users, equal ones by item."""
    buyers = defaultdict(set)
    for row in rows:
        buyers[row["item"]].add(row["user"])
    return sorted(buyers, key=lambda item: (-len(buyers[item]), item))


def without(items: Sequence[Any], seen: Iterable[Any], k: int) -> list[Any]:
    """Return the first k of some items that are none of the seen, each once."""
    seen = set(seen)
    return [item for item in dict.fromkeys(items) if item not in seen][:k]


def popular(rows: Sequence[Row], k: int, *, drop: bool, within: Callable[[Row], bool]) -> Lists:
    """Return the items of most users among some rows of train."""
    order = by_users(filter(within, in_part(rows, "train")))
    return {user: without(order, seen_by(rows, user, drop=drop), k) for user in users_of(rows)}


def seen_by(rows: Sequence[Row], user: Any, *, drop: bool) -> set[Any]:
    """Return the items that a user has, if they are dropped."""
    return {row["item"] for row in own_of(rows, user)} if drop else set()


def random(rows: Sequence[Row], k: int, *, drop: bool, seed: int) -> Lists:
    """Return the items in the order of their keys, the highest first, from each user's place in it on, and around."""
    items = {row["item"] for row in in_part(rows, "train")}
    order = sorted(items, key=lambda item: plain_key(seed, item), reverse=True)
    found = {}
    for user in users_of(rows):
        entry = plain_key(seed, user) % len(order)
        around = order[entry:] + order[:entry]
        found[user] = without(around, seen_by(rows, user, drop=drop), k)
    return found


def last_first(own: Sequence[Row]) -> list[Any]:
    """Return the items of a user's rows: the last, those of most rows, by item."""
    last: dict[Any, int] = {}
    for row in own:
        last[row["item"]] = max(row["t"], last.get(row["item"], row["t"]))
    n = Counter(row["item"] for row in own)
    return sorted(n, key=lambda item: (-last[item], -n[item], item))


def repeat(rows: Sequence[Row], k: int) -> Lists:
    """Return a user's own items."""
    return {user: last_first(own_of(rows, user))[:k] for user in users_of(rows)}


def oracle(rows: Sequence[Row], k: int, *, drop: bool) -> Lists:
    """Return the truth by relevance, then by item."""
    truth = in_part(rows, "truth")
    found = {}
    for user in users_of(rows):
        gain: dict[Any, float] = {}
        for row in truth:
            if row["user"] == user:
                gain[row["item"]] = max(row["relevance"], gain.get(row["item"], 0))
        order = sorted(gain, key=lambda item: (-gain[item], item))
        found[user] = without(order, seen_by(rows, user, drop=drop), k)
    return found
