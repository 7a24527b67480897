"""How sure a ratio of two sums over users is: by what it changes without each user, and by Wilson's interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import recframe as rf

POOLED = rf.recall(average="pooled")


def drawn(
    n: int, seed: int, *, model: str = "a", n_samples: int = 1, p: float = 0.2
) -> tuple[pl.DataFrame, ...]:
    """Lists, truth and users: each user finds a share of Beta(3 p, 3 (1 - p)) of 1 to some 20 items; then recall is p."""
    rng, sizes = np.random.default_rng(seed), np.random.default_rng(7)
    total = n * n_samples
    relevant = np.minimum(np.ceil(sizes.lognormal(1.0, 0.8, total)).astype(int), 40)
    hits = rng.binomial(relevant, rng.beta(3 * p, 3 * (1 - p), total))
    users = pl.DataFrame({"user": np.arange(total), "sample": np.arange(total) // n})

    def rows(counts: Any) -> pl.DataFrame:
        items = np.concatenate([np.arange(count) for count in counts])
        return pl.DataFrame({"user": np.repeat(np.arange(total), counts), "item": items})

    misses = users.select("user", item=pl.lit(50, pl.Int64))
    lists = pl.concat([rows(hits), misses]).with_columns(rank=pl.col("item") + 1)
    lists = lists.with_columns(model=pl.lit(model))
    return lists, rows(relevant), users


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p"), [(30, 0.2), (300, 0.05)])
def test_intervals_of_samples_hold_as_often_as_they_say(n: int, p: float):
    lists, truth, users = drawn(n, 11, n_samples=600, p=p)
    found = lists.rec(truth=truth, users=users).summarize(POOLED, by="sample")
    held = ((found["value_low"] <= p) & (found["value_high"] >= p)).sum() / 600

    # 95 in 100, give or take 2.2 times the error of 600 samples, and one in a hundred for what is rough
    assert 0.92 <= held <= 0.97
    assert found["value_low"].null_count() == 0
