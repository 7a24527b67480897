"""Lists of several trainings of models, some of whose users have none, and a truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import recframe as rf

USERS = pl.DataFrame({"user": range(24), "country": ["FR", "DE", None, "FR"] * 6})
ITEMS = pl.DataFrame({"item": range(30)})
TRAININGS = {"a": [1, 2, 3, 4], "b": [1, 7, 9], "c": [2]}


def lists(
    seed: int, trainings: dict[str, list[int]] = TRAININGS, n_users: int = 24
) -> pl.DataFrame:
    """Return lists of models' trainings, some of whose users have none."""
    random = np.random.default_rng(seed)
    rows = []
    for model, numbers in trainings.items():
        for number in numbers:
            for user in np.flatnonzero(random.random(n_users) < 0.85):
                items = random.choice(30, random.integers(2, 8), replace=False)
                rows += [
                    (model, number, int(user), int(item), 1 + at) for at, item in enumerate(items)
                ]
    random.shuffle(rows)
    return pl.DataFrame(rows, schema=["model", "seed", "user", "item", "rank"], orient="row")


def truth_of(seed: int, n_users: int = 24) -> pl.DataFrame:
    random = np.random.default_rng([seed, 1])
    pairs = [
        (u, int(i), int(i) % 3) for u in range(n_users) for i in random.choice(30, 6, replace=False)
    ]
    return pl.DataFrame(pairs, schema=["user", "item", "relevance"], orient="row")


def bound(recs: pl.DataFrame, seed: int, **options: Any) -> rf.Rec[pl.DataFrame]:
    return recs.rec(
        truth_of(seed), model="model", training="seed", users=USERS, items=ITEMS, **options
    )
