"""How sure a ratio of two sums over users is: by what it changes without each user, and by Wilson's interval."""

from __future__ import annotations

import math
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


def test_where_all_users_are_divided_by_one_number_it_is_as_sure_as_the_mean():
    (a, truth, users), (b, _, _) = drawn(60, 1), drawn(60, 2, model="b")
    rec = pl.concat([a, b]).rec(truth=truth, users=users, model="model")
    both = plain, pooled = rf.precision @ 5, rf.precision(average="pooled") @ 5
    whole = ["value", "value_low", "value_high", "std", "n_users"]
    paired = ["difference", "difference_low", "difference_high", "relative", "p_value", "verdict"]

    for found, columns in [
        (rec.summarize(plain, pooled), whole),
        (rec.compare(plain, pooled, baseline="a"), paired),
    ]:
        for one in columns:
            mean, ratio = (found.filter(metric=str(metric))[one].to_list() for metric in both)
            assert ratio == (
                mean if isinstance(mean[0], str) or mean[0] is None else pytest.approx(mean)
            ), one


def test_its_error_is_that_of_a_ratio_of_two_means():
    lists, truth, users = drawn(3_000, 3)
    rec = lists.rec(truth=truth, users=users)
    found = rec.summarize(POOLED).row(0, named=True)
    m = truth.group_by("user").len("m")
    both = m.join(lists.group_by("user").agg(h=pl.len() - 1), on="user")
    hits, relevant = both["h"].to_numpy(), both["m"].to_numpy()
    value = hits.sum() / relevant.sum()
    # linearised: a user moves the ratio by (hits - ratio · relevant) / mean of relevant
    error = (hits - value * relevant).std(ddof=1) / relevant.mean() / math.sqrt(3_000)

    assert found["value"] == pytest.approx(value, rel=1e-12)
    assert (found["value_high"] - found["value_low"]) / 2 == pytest.approx(1.961 * error, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p"), [(30, 0.2), (300, 0.05)])
def test_intervals_of_samples_hold_as_often_as_they_say(n: int, p: float):
    lists, truth, users = drawn(n, 11, n_samples=600, p=p)
    found = lists.rec(truth=truth, users=users).summarize(POOLED, by="sample")
    held = ((found["value_low"] <= p) & (found["value_high"] >= p)).sum() / 600

    # 95 in 100, give or take 2.2 times the error of 600 samples, and one in a hundred for what is rough
    assert 0.92 <= held <= 0.97
    assert found["value_low"].null_count() == 0


def test_a_note_says_where_few_users_decide_it():
    truth = pl.DataFrame({"user": [1] * 200 + list(range(2, 42)), "item": [*range(200), *[0] * 40]})
    lists = truth.filter(pl.col("item") % 3 == 0).with_columns(
        rank=pl.int_range(pl.len()).over("user") + 1
    )
    found = lists.rec(truth=truth).summarize(POOLED).row(0, named=True)

    assert found["note"] == "a few users carry most of the weight, so the interval is rough"
    assert found["value_low"] < found["value"] < found["value_high"]


def test_what_takes_values_of_users_refuses_it_in_words():
    lists, truth, users = drawn(40, 5)
    rec = lists.rec(truth=truth, users=users)
    with pytest.raises(rf.RecframeError, match="gaps takes means of users' values"):
        rec.gaps(POOLED, by="sample")
