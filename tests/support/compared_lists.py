"""Lists of several models to compare, with all that real ones have: gaps, ties, nulls, users of one side alone."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import recframe as rf

LISTS_ARE_MISSING = pytest.mark.filterwarnings(
    "ignore:.* of the users have a list of:recframe.RecframeWarning"
)
"""What calls say of these lists, as they should."""
COUNTRIES = ["A", "B", "C", None]


def frames(seed: int = 0, n_users: int = 60, **sizes: Any) -> dict[str, pl.DataFrame]:
    """Return recommendations, a truth, and the side frames, which `_made` makes once."""
    return dict(_made(seed, n_users, **sizes))


@functools.cache
def _made(
    seed: int, n_users: int, models: str = "abc", n_items: int = 14
) -> dict[str, pl.DataFrame]:
    """Make the frames.

    The first model has a list for each user; others lack some, and the last has none of the users of one country. Users 0 to 4
    have no truth, the last five no list; each fifth has no relevant item.
    """
    choose = random.Random(seed)  # noqa: S311  test data
    users = range(n_users)
    country = {user: choose.choice(COUNTRIES) for user in users}
    lists = [
        {"model": model, "user": user, "item": item, "rank": rank}
        for model in models
        for user in users[:-5]
        if model == models[0]
        or (choose.random() < 0.8 and (model != models[-1] or country[user] != "A"))
        for rank, item in enumerate(choose.sample(range(n_items), choose.randint(1, 8)), 1)
    ]
    truth = [
        {"user": user, "item": item, "relevance": choose.randint(0, 3) if user % 5 else 0}
        for user in users[5:]
        for item in choose.sample(range(n_items), choose.randint(1, 6))
    ]
    recs, judged = pl.DataFrame(lists), pl.DataFrame(truth)
    week = (pl.col("item") * 7 + pl.col("user")) % 2
    columns = {
        "user": users,
        "country": [country[user] for user in users],
        "household": [None if user % 11 == 0 else user // 3 for user in users],
    }
    genres = pl.Series([choose.choice("xy") for _ in range(n_items)])
    return {
        "recs": recs.with_columns(week=week),
        "truth": judged.with_columns(week=week),
        "users": pl.DataFrame(columns),
        "items": pl.DataFrame({"item": range(n_items)}).with_columns(genre=genres),
        "train": judged.select("user", "item").gather_every(3),
    }


def judged(seed: int = 0, **sizes: Any) -> pl.DataFrame:
    """Return the frames as one, of the pairs that are recommended or judged, with a model on each row."""
    found = frames(seed, **sizes)
    pairs = found["truth"].join(found["recs"].select("model").unique(), how="cross").drop("week")
    lists = found["recs"].drop("week")
    return lists.join(pairs, on=["model", "user", "item"], how="full", coalesce=True)


POLICIES: list[dict[str, Any]] = [
    {},
    {"no_relevant": "skip"},
    {"no_relevant": "null", "universe": "recs"},
    {"no_relevant": "zero", "universe": "all"},
    {"no_relevant": "skip", "universe": "both"},
    {"relevant_from": "list", "no_relevant": "zero"},
    {"relevant_from": "list", "no_relevant": "skip"},
    {"relevant_from": "list", "no_relevant": "null"},
]


def asked_of(
    main: str = "recs",
    seed: int = 0,
    make: Callable[[pl.DataFrame], Any] = lambda frame: frame,
    n_users: int = 60,
    **options: Any,
) -> Any:
    """Return a Rec of two frames, or of the judged one, with the side frames bound."""
    found = frames(seed, n_users)
    sides: dict[str, Any] = {name: make(found[name]) for name in ("users", "items", "train")}
    truth = {"truth": make(found["truth"])} if main == "recs" else {}
    rows = found["recs"] if main == "recs" else judged(seed, n_users=n_users)
    return rf.rec(make(rows))(model="model", **truth, **sides, **options)
