"""Random cases, 300 or more with a value, of what few libraries have: what `record.py --cases` and the tests share."""

from __future__ import annotations

import random
from dataclasses import dataclass

from scenes import _nested, _one_of, _shuffled

N_CASES = 360
N_USERS_OF_A_CASE = 4
N_ITEMS = 40
COLD = 4  # the last items, which train does not have
LENGTHS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15)
FULL = 12
JUDGED = (0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 12)
GRADES = ((1,), (0, 1, 1), (0, 0, 1, 2, 3, 4), (0, 1, 2, 4))
POOLED = -1  # as qrels files have it
CATEGORIES = ("drama", "comedy", "crime", "music")


@dataclass(frozen=True)
class Scene:
    """Lists of two models, truth with grades, train, and the categories of each item; users are u0, u1, and so on."""

    recs: list[tuple[str, str, float]]
    reference: list[tuple[str, str, float]]
    truth: list[tuple[str, str, int]]
    train: list[tuple[str, str]]
    items: dict[str, tuple[str, ...]]
    of_users: int  # of how many users a case is

    def lists(self) -> dict[str, dict[str, float]]:
        """Return {user: {item: score}}, the best item first."""
        return _nested(self.recs)

    def references(self) -> dict[str, dict[str, float]]:
        """Return the second model's lists alike."""
        return _nested(self.reference)

    def relevances(self) -> dict[str, dict[str, int]]:
        """Return {user: {item: grade}}."""
        return _nested(self.truth)

    def case(self, user: str) -> int:
        """Return the number of a user's case, from 0."""
        return int(user[1:]) // self.of_users


def ragged() -> Scene:
    """A user a case: lists of 1 to 15 items, grades 0 to 4, relevant items that no list has; users without list or truth."""
    return _made(seed=21, lengths=LENGTHS, judged=JUDGED)


def pooled() -> Scene:
    """The same, with pairs that were in the pool and were not judged."""
    return _made(seed=22, lengths=LENGTHS, judged=JUDGED, pool=0.3)


def full() -> Scene:
    """A user a case, lists of 12 items, relevance 0 and 1; everybody has something relevant."""
    return _made(seed=23, lengths=(FULL,), judged=JUDGED[1:], grades=((1,),))


def small() -> Scene:
    """Four users a case, lists of 12 warm items that are new to their users, each with something relevant."""
    return _made(
        seed=24,
        lengths=(FULL,),
        judged=JUDGED[1:],
        grades=((1,),),
        of_users=N_USERS_OF_A_CASE,
        fresh=True,
    )


def short() -> Scene:
    """Four users a case, lists of 1 to 15 items, grades 0 to 4."""
    return _made(seed=25, lengths=LENGTHS[1:], judged=JUDGED, of_users=N_USERS_OF_A_CASE)


SCENES = {one.__name__: one for one in (ragged, pooled, full, small, short)}


def _made(  # noqa: PLR0913  the kinds of scenes
    *,
    seed: int,
    lengths: tuple[int, ...],
    judged: tuple[int, ...],
    grades: tuple[tuple[int, ...], ...] = GRADES,
    of_users: int = 1,
    pool: float = 0.0,
    fresh: bool = False,
) -> Scene:
    rng = random.Random(seed)  # noqa: S311  no secret
    names = [f"i{place}" for place in range(N_ITEMS)]
    warm = names[:-COLD]
    users = [f"u{place}" for place in range(N_CASES * of_users)]
    train = [
        (user, item) for user in users for item in _shuffled(warm, rng)[: _one_of((2, 3, 5), rng)]
    ]
    known = _nested([(*pair, 1) for pair in train])
    rows: dict[str, list[tuple[str, str, float]]] = {"recs": [], "reference": []}
    truth: list[tuple[str, str, int]] = []
    for user in users:
        items = [item for item in warm if item not in known[user]] if fresh else names
        for own in rows.values():
            length = _one_of(lengths, rng)
            drawn = sorted((round(0.01 + 9 * rng.random(), 6) for _ in range(length)), reverse=True)
            own.extend(zip([user] * length, _shuffled(items, rng), drawn, strict=False))
        own_grades = _one_of(grades, rng)
        listed = {row[1] for row in rows["recs"][-FULL:] if row[0] == user}
        drawn_items = sorted(items, key=lambda item: rng.random() * (1 if item in listed else 4))
        for item in drawn_items[: _one_of(judged, rng)]:
            grade = POOLED if rng.random() < pool else _one_of(own_grades, rng)
            truth.append((user, item, grade))
    categories = {
        item: tuple(_shuffled(CATEGORIES, rng)[: _one_of((1, 1, 2), rng)]) for item in names
    }
    return Scene(rows["recs"], rows["reference"], truth, train, categories, of_users)
