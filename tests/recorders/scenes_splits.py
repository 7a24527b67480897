"""Logs for the splits: what `record.py --splits` and the tests share.

A log is rows (user, item, hours since `START`), in no order of time. A fold of a peer is written as a letter a row.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import datetime, timedelta

START = datetime(2024, 3, 1)  # noqa: DTZ001  peers refuse time zones
TRAIN, TRUTH, NEITHER, BOTH = "t", "x", ".", "?"

Row = tuple[int, int, int]


def tied() -> list[Row]:
    """Return 203 rows of few times, the last at midnight: repeats, users of one row, users and items that come late."""
    rng = random.Random(3)  # noqa: S311  no secret
    rows = [_row(rng, hours=rng.randrange(0, 30 * 24, 12)) for _ in range(170)]
    rows += [(*rng.choice(rows)[:2], rng.randrange(0, 30 * 24, 12)) for _ in range(22)]
    rows += [(100 + user, rng.randrange(25), 24 * rng.randrange(30)) for user in range(10)]
    return _shuffled([*rows, (3, 4, 30 * 24)], rng)


def untied() -> list[Row]:
    """Return 197 rows at as many times, the last at one in the afternoon."""
    rng = random.Random(4)  # noqa: S311  no secret
    hours = rng.sample(range(30 * 24), 196)
    return _shuffled([*(_row(rng, hours=hour) for hour in hours), (5, 6, 30 * 24 + 13)], rng)


def eight() -> list[Row]:
    """Return 25 users of eight rows each, most of them tied with another of the user."""
    rng = random.Random(5)  # noqa: S311  no secret
    return _shuffled(
        [
            (user, rng.randrange(25), 24 * rng.randrange(5 + user % 20))
            for user in range(25)
            for _ in range(8)
        ],
        rng,
    )


def ten() -> list[Row]:
    """Return ten rows: a user of two, one of one, and five rows that tie at the border of a share of .3."""
    hours = (0, 1, 2, 3, 9, 9, 9, 9, 9, 20)
    users = (1, 1, 1, 2, 1, 2, 1, 1, 1, 3)
    return [
        (user, place, hour) for place, (user, hour) in enumerate(zip(users, hours, strict=True))
    ]


SCENES = {one.__name__: one for one in (tied, untied, eight, ten)}


def moments(rows: Iterable[Row]) -> list[datetime]:
    """Return the times of the rows."""
    return [START + timedelta(hours=hours) for _, _, hours in rows]


def answer(scene, call, folds, ours=None):
    """Return one line of the file.

    call: the peer's own; folds: (rows of train, rows of truth), each by number.
    ours: the rule of recframe that gives these rows, with its options; None: no rule does.
    """
    n_rows = len(SCENES[scene]())
    return {
        "scene": scene,
        "call": call,
        "ours": ours,
        "folds": [letters(n_rows, *parts) for parts in folds],
    }


def letters(n_rows: int, train: Iterable[int], truth: Iterable[int]) -> str:
    """Return a letter for each row of the log."""
    train, truth = {int(row) for row in train}, {int(row) for row in truth}
    kinds = {(True, False): TRAIN, (False, True): TRUTH, (False, False): NEITHER}
    return "".join(kinds.get((row in train, row in truth), BOTH) for row in range(n_rows))


def _row(rng: random.Random, *, hours: int) -> Row:
    """Return a row whose user and item are the newer, the later it is."""
    days = hours // 24
    return (
        rng.randrange(max(0, days - 24), 12 + days // 2),
        rng.randrange(20 + days // 5),
        hours,
    )


def _shuffled(rows: list[Row], rng: random.Random) -> list[Row]:
    rng.shuffle(rows)
    return rows
