"""The users that the peers run on live, and what each of them is given."""

from __future__ import annotations

import functools
import importlib
import math
import random
import sys
import types
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
import pytest

N_USERS = 4000
KS = [1, 3, 5, 10, 50]
TOLERANCE = 1e-9
Values = dict[str, float | None]


@functools.cache
def users() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Recommendations and truth: short lists, users without a list, without truth, or without a relevant item."""
    rng = random.Random("recframe oracles")  # noqa: S311  no secret
    recs, truth = [], []
    for user in range(N_USERS):
        items = rng.sample(range(60), 60)
        length = rng.choice([0, 1, 2, 4, 10, 10, 20])
        recs += [
            {"user": f"u{user}", "item": f"i{item}", "rank": rank}
            for rank, item in enumerate(items[:length], start=1)
        ]
        judged = rng.sample(
            items[: 2 * length + 8],
            rng.choice([0, 1, 2, 5, 9, 20, 2 * length + 8]) % (2 * length + 9),
        )
        grades = rng.choice([[0], [1], [0, 0, 1], [0, 1, 2, 3, 4]])
        truth += [
            {"user": f"u{user}", "item": f"i{item}", "relevance": rng.choice(grades)}
            for item in judged
        ]
    rng.shuffle(recs)
    rng.shuffle(truth)
    return recs, truth


@functools.cache
def run() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in users()[0]:
        found.setdefault(row["user"], {})[row["item"]] = 1000.0 - row["rank"]
    return found


@functools.cache
def qrels(grade: Any = int) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in users()[1]:
        found.setdefault(row["user"], {})[row["item"]] = grade(row["relevance"])
    return found


@functools.cache
def listed_relevances() -> dict[str, list[int]]:
    """The relevance of each list's items, from the best rank down; what was not judged has 0."""
    judged = qrels()
    return {
        user: [
            judged.get(user, {}).get(item, 0) for item in sorted(items, key=items.get, reverse=True)
        ]  # type: ignore[arg-type]
        for user, items in run().items()
    }


@functools.cache
def recframe(metrics: tuple[str, ...], **policy: str) -> dict[str, Values]:
    """Each metric's value for each user."""
    recs, truth = (pl.DataFrame(rows) for rows in users())
    result = recs.lazy().rec(truth=truth.lazy(), **policy).evaluate(*metrics, by="user").collect()
    return {
        name: dict(zip(result["user"], result[name], strict=True)) for name in result.columns[1:]
    }


def agree(ours: Values, theirs: Mapping[str, float], metric: str, *, at_least: int = 1000) -> None:
    """Every user that the peer has a value for has the same one here."""
    assert len(theirs) >= at_least, f"{metric}: the peer has {len(theirs)} users"
    wrong = {
        user: (ours[user], value) for user, value in theirs.items() if not close(ours[user], value)
    }
    assert not wrong, (
        f"{metric}: {len(wrong)} of {len(theirs)} users differ, among them {dict(list(wrong.items())[:3])}"
    )


def close(ours: float | None, theirs: float) -> bool:
    return ours is not None and math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def peer(name: str) -> types.ModuleType:
    if name == "ir_measures" and sys.version_info >= (3, 14):
        pytest.skip("ir_measures reads names by parts of Python's ast that are gone since 3.14")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


def at(metric: str, measure: str, ks: Iterable[int] = KS) -> dict[str, str]:
    return {f"{metric}@{k}": measure.format(k) for k in ks}
