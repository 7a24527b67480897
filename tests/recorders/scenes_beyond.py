"""Lists, train and items for the metrics beyond accuracy: what `record.py --beyond` and the tests share."""

from __future__ import annotations

import random
from dataclasses import dataclass

from scenes import _nested, _one_of, _shuffled

KS = (1, 3, 10)
N_USERS = 90
N_ITEMS = 40
COLD = 4  # the last items, which train does not have
LENGTHS = (1, 2, 4, 7, 10, 15)
FULL = 12
HISTORIES = (0, 2, 3, 5, 9)


@dataclass(frozen=True)
class Scene:
    """Recommendations, a second model's, truth and train as rows; the items with a number for a category and a vector."""

    recs: list[tuple[str, str, float]]
    reference: list[tuple[str, str, float]]
    truth: list[tuple[str, str]]
    train: list[tuple[str, str]]
    items: dict[str, tuple[int, list[float]]]

    def ranked(self, rows: list[tuple[str, str, float]]) -> list[tuple[str, str, int]]:
        """Return rows of recommendations as (user, item, rank), ranks from 1."""
        return [
            (user, item, rank)
            for user, items in _nested(rows).items()
            for rank, item in enumerate(items, start=1)
        ]


def ragged() -> Scene:
    """Lists of 1 to 15 items, some cold or known to the user; users without train, truth or reference."""
    return _made(seed=11, lengths=LENGTHS, histories=HISTORIES, everybody=False)


def full() -> Scene:
    """Lists of 12 warm items that are new to their users, all of whom have train, truth and a reference of 12 items."""
    return _made(seed=12, lengths=(FULL,), histories=HISTORIES[1:], everybody=True)


def fresh() -> Scene:
    """Lists of 1 to 15 items, some cold, all new to their users; users without train, truth or reference."""
    return _made(seed=13, lengths=LENGTHS, histories=HISTORIES, everybody=False, fresh=True)


SCENES = {one.__name__: one for one in (ragged, full, fresh)}


def _made(
    *,
    seed: int,
    lengths: tuple[int, ...],
    histories: tuple[int, ...],
    everybody: bool,
    fresh: bool = False,
) -> Scene:
    rng = random.Random(seed)  # noqa: S311  no secret
    names = [f"i{place}" for place in range(N_ITEMS)]
    warm = names[:-COLD]
    users = [f"u{place}" for place in range(N_USERS)]
    train = {user: _taken(warm, _one_of(histories, rng), rng) for user in users}
    train["u0"] = [
        *train["u0"],
        *(item for item in warm if not any(item in own for own in train.values())),
    ]
    rows: dict[str, list[tuple[str, str, float]]] = {"recs": [], "reference": []}
    truth = []
    for user in users:
        candidates = warm if everybody else names
        candidates = (
            [item for item in candidates if item not in train[user]]
            if everybody or fresh
            else candidates
        )
        for own in rows.values():
            length = _one_of(lengths, rng)
            chosen = _taken(candidates, length, rng)
            if own is rows["recs"] or everybody or rng.random() < 0.8:
                own += [(user, item, float(length - place)) for place, item in enumerate(chosen)]
        if everybody or rng.random() < 0.8:
            truth += [(user, item) for item in _taken(names, 6, rng)]
    vectors = [[round(rng.random() - 0.3 * (not everybody), 3) for _ in range(4)] for _ in names]
    items = {
        item: (_one_of((1, 1, 1, 2, 2, 3, 4), rng), vector)
        for item, vector in zip(names, vectors)  # noqa: B905
    }
    pairs = [(user, item) for user, own in train.items() for item in own]
    return Scene(
        rows["recs"], rows["reference"], _shuffled(truth, rng), _shuffled(pairs, rng), items
    )


def _taken(items, count, rng):
    """Take some items, the first ones more often than the last."""
    ranked = sorted(items, key=lambda item: rng.random() * (3 + items.index(item)))
    return ranked[: min(count, len(ranked))]
