"""The users that every peer is run on, made by plain Python alike in any version of it: what `record.py` and the tests share.

A scene is recommendations (user, item, score), each list from the best down, and a truth (user, item, relevance).
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

KS = (1, 3, 5, 10, 20)
N_USERS = 300
N_ITEMS = 60
LENGTHS = (0, 1, 2, 4, 7, 10, 15)
FULL = 25
JUDGED = (0, 1, 2, 5, 9, 14)
GRADES = ((0,), (1,), (0, 0, 1), (0, 1, 2, 3, 4), (0, 1, 2, 3, 4))


@dataclass(frozen=True)
class Scene:
    """Recommendations and truth, as rows."""

    recs: list[tuple[str, str | int, float]]
    truth: list[tuple[str, str | int, int]]

    def lists(self) -> dict[str, dict[str, float]]:
        """Return {user: {item: score}}, the best item first."""
        return _nested(self.recs)

    def relevances(self) -> dict[str, dict[str, int]]:
        """Return {user: {item: relevance}}."""
        return _nested(self.truth)

    def ranked(self) -> list[tuple[str, str, int]]:
        """Return the recommendations as (user, item, rank), ranks from 1."""
        return [
            (user, item, rank)
            for user, items in self.lists().items()
            for rank, item in enumerate(items, start=1)
        ]


def _nested(rows):
    found: dict = {}
    for user, item, value in rows:
        found.setdefault(user, {})[item] = value
    return found


def fixture() -> Scene:
    """Five users by hand: a list longer than 3, a miss, a list without truth (u3), truth without a list (u4), a short list."""
    lists = {"u1": "axbyc", "u2": "xyz", "u3": "abc", "u5": "ab"}
    truth = {"u1": "abc", "u2": "a", "u4": "ab", "u5": "abcdef"}
    return Scene(
        [
            (user, item, 10.0 - place)
            for user, items in lists.items()
            for place, item in enumerate(items)
        ],
        [(user, item, 1) for user, items in truth.items() for item in items],
    )


def graded() -> Scene:
    """Lists of 0 to 15 items, up to 14 judged items, listed or not, of relevance 0 to 4; users with only one of the two."""
    return _random(seed=1, lengths=LENGTHS, judged=JUDGED, ties=False)


def positive() -> Scene:
    """The same without the rows of relevance 0, for peers to which every row of the truth is relevant."""
    scene = graded()
    return Scene(scene.recs, [row for row in scene.truth if row[2] > 0])


def binary() -> Scene:
    """The same with every row of the truth, also those of relevance 0, relevant alike."""
    scene = graded()
    return Scene(scene.recs, [(user, item, 1) for user, item, _ in scene.truth])


def full() -> Scene:
    """Lists of one length, and a relevant item at least for every user: what peers take that know no short lists."""
    scene = _random(seed=2, lengths=(FULL,), judged=JUDGED[1:], ties=False)
    return Scene(scene.recs, [(user, item, 1) for user, item, _ in scene.truth])


def tied() -> Scene:
    """As graded, with few different scores, so that most items are tied with others."""
    return _random(seed=3, lengths=LENGTHS, judged=JUDGED, ties=True)


def numbered() -> Scene:
    """As tied, of items that are numbers of one to three digits, and with scores that differ in 64 bits alone."""
    scene, rng = _random(seed=4, lengths=LENGTHS, judged=JUDGED, ties=True), random.Random(5)  # noqa: S311  no secret
    recs = [
        (user, _as_number(item), score + _one_of((0.0, 0.0, 1e-9), rng))
        for user, item, score in scene.recs
    ]
    place = {user: number for number, user in enumerate(dict.fromkeys(row[0] for row in recs))}
    recs.sort(key=lambda row: (place[row[0]], -row[2]))
    return Scene(
        recs, [(user, _as_number(item), relevance) for user, item, relevance in scene.truth]
    )


SCENES = {one.__name__: one for one in (fixture, binary, positive, graded, full, tied, numbered)}


def _as_number(item: str) -> int:
    return 2 * int(item[1:]) + 1


def number(user: str) -> int:
    """Return the number in a user's name."""
    return int(user[1:])


def moment(values: dict[str, float | None]) -> float:
    """Return the mean of value x number of the user: it tells values of different users apart, where a mean cannot."""
    found = {user: value for user, value in values.items() if value is not None}
    return math.fsum(value * number(user) for user, value in found.items()) / len(found)


def _random(*, seed: int, lengths: tuple[int, ...], judged: tuple[int, ...], ties: bool) -> Scene:
    rng = random.Random(seed)  # noqa: S311  no secret
    recs: list[tuple[str, str, float]] = []
    truth: list[tuple[str, str, int]] = []
    for user in (f"u{place}" for place in range(N_USERS)):
        items = _shuffled([f"i{place}" for place in range(N_ITEMS)], rng)
        length = _one_of(lengths, rng)
        scores = [float(length - place) for place in range(length)]
        if ties:
            scores = sorted((float(_one_of((1, 2, 2, 3), rng)) for _ in scores), reverse=True)
        recs += zip([user] * length, items, scores)  # noqa: B905  no such argument in Python 3.8 and 3.9
        candidates = _shuffled(items[: 2 * length + 8], rng)[: _one_of(judged, rng)]
        grades = _one_of(GRADES, rng)
        truth += [(user, item, _one_of(grades, rng)) for item in candidates]
    return Scene(_shuffled_users(recs, rng), _shuffled(truth, rng))


# NOTE: of the methods of Random only random() gives the same in every version of Python.


def _one_of(choices, rng):
    return choices[int(rng.random() * len(choices))]


def _shuffled(rows, rng):
    return [row for _, row in sorted([(rng.random(), row) for row in rows])]


def _shuffled_users(recs, rng):
    """Put the users in another order than the truth has them; each list stays from the best down."""
    place = {user: rng.random() for user in sorted({row[0] for row in recs})}
    return sorted(recs, key=lambda row: place[row[0]])
