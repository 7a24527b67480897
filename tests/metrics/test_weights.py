"""The interval of a mean in which users weigh what a column of theirs says; numbers of weighted means are test_agrees.py's."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats


def test_the_interval_is_that_of_a_ratio_of_two_means():
    rng = np.random.default_rng(5)
    n = 5_000
    recs = pl.DataFrame({"user": range(n), "item": 1, "rank": rng.geometric(0.3, n)})
    weights = rng.gamma(2.0, size=n)
    users = pl.DataFrame({"user": range(n), "revenue": weights})
    rec = recs.rec(truth=recs.select("user", "item"), users=users, weight="revenue")
    found = rec.summarize("mrr").row(0, named=True)

    values = 1 / recs["rank"].to_numpy()
    mean = np.average(values, weights=weights)
    # linearised: each user moves the ratio by weight · (value - mean) / mean weight
    moves = weights * (values - mean) / weights.mean()
    error = moves.std(ddof=1) / math.sqrt(n)
    half = (found["value_high"] - found["value_low"]) / 2
    assert found["value"] == pytest.approx(mean, rel=1e-12)
    # the error is estimated from 20 groups of users
    of_groups = half / stats.t.ppf(0.975, 19) / error
    least, most = np.sqrt(stats.chi2.ppf([0.0005, 0.9995], 19) / 19)
    assert least < of_groups < most


def test_weights_of_0_alone_give_no_number_and_one_of_them_no_value():
    judged = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    users = pl.DataFrame({"user": [1, 2], "revenue": [0.0, 3.0]})
    rec = judged.rec(users=users, weight="revenue")

    assert rec.evaluate("mrr", by="user").rows() == [(1, None), (2, 0.5)]
    assert rec.evaluate("mrr").rows() == [(2, 0.5)]
    none = rec(users=users.with_columns(revenue=0.0))
    metrics = ["mrr", "recall(average=pooled)@2", "f_score(average=means)@2"]
    assert none.evaluate(*metrics).rows() == [(2, None, None, None)]
