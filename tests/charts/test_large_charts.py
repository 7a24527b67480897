"""Charts of many rows: what travels to the page stays small, whatever the number of rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import recframe as rf

N_USERS = 10_000
MOST = 200_000
"""Bytes of a specification with its data."""


@pytest.fixture(scope="module")
def rec() -> Any:
    """Two models' lists of ten items for 10,000 users: 200,000 rows, with a value of their own for each user."""
    draw = np.random.default_rng(5)
    n = 10 * N_USERS
    user = np.repeat(np.arange(N_USERS), 10)
    frames = {
        name: pl.DataFrame(
            {
                "user": user,
                "item": (draw.random(n) ** 3 * 5000).astype(np.int64),
                "rank": np.tile(np.arange(1, 11), N_USERS),
            }
        ).unique(["user", "item"])
        for name in ("a", "b")
    }
    truth = pl.DataFrame({"user": user, "item": (draw.random(n) ** 3 * 5000).astype(np.int64)})
    users = pl.DataFrame({"user": np.arange(N_USERS), "city": draw.integers(0, 3000, N_USERS)})
    return rf.rec(frames, truth=truth.unique(), users=users, train=truth.unique())


@pytest.mark.slow
@pytest.mark.parametrize(
    "ask",
    [
        lambda plot: plot.curve("ndcg"),
        lambda plot: plot.segments("ndcg@10", by="city"),
        lambda plot: plot.distribution("ndcg@10"),
        lambda plot: plot.exposure(k=10),
        lambda plot: plot.hits_by_rank(),
    ],
    ids=["curve", "segments", "distribution", "exposure", "hits_by_rank"],
)
def test_a_chart_of_many_rows_is_small(rec, ask):
    assert len(json.dumps(ask(rec.plot).to_dict())) < MOST
