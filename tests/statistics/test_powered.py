"""What so many users can show: by statsmodels, and by trials."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import recframe as rf
from compared_lists import LISTS_ARE_MISSING, asked_of, frames
from plain_uncertainty import clustered_error, differing, power, values_of
from recframe.statistics.comparison import Comparing, compared
from recframe.statistics.power import Power, powered
from simulated_pairs import METRICS as OF
from simulated_pairs import reciprocal_ranks, sums_of

pytestmark = LISTS_ARE_MISSING

METRICS = ["ndcg@3", "recall", "first_rank", "novelty@3"]


@pytest.mark.parametrize("by", [(), ("genre",)], ids=str)
@pytest.mark.parametrize("metric", METRICS)
def test_differences_at_hand_show_what_statsmodels_says(metric, by):
    rec = asked_of()
    values = values_of(rec, metric, by)

    for row in rec.power(metric, by=list(by) or None, baseline="a").to_dicts():
        segment = tuple(row[name] for name in by)
        a, b = (values[(model, *segment)] for model in ("a", row["model"]))
        pairs = [(b[user], a[user]) for user in a if user in b]
        both = np.array([pair for pair in pairs if None not in pair])
        if len(both) < 2:
            assert row["detectable"] is None
            assert row["note"]
            continue
        expected = power(np.std(both[:, 0] - both[:, 1], ddof=1), len(both), both[:, 1].mean())
        assert not differing(row, expected, 2e-5), (row["model"], segment)


def test_users_who_hang_together_say_less():
    rec, household = asked_of(), dict(frames()["users"].select("user", "household").rows())
    a, b = (values_of(rec, "recall")[model,] for model in "ab")
    d = {user: b[user] - a[user] for user in b}

    found = rec.power("recall", baseline="a", cluster="household")

    squared, _ = clustered_error(list(d.values()), [household[user] for user in d])
    row = found.filter(pl.col("model") == "b").row(0, named=True)
    # the standard deviation of as many independent users
    assert row["std"] == pytest.approx((squared * len(d)) ** 0.5, rel=1e-9)


def test_what_takes_more_users_than_there_are_is_told():
    users = pl.DataFrame({"user": range(50), "item": 1})
    models = {"a": users.with_columns(rank=2), "b": users.with_columns(rank=pl.col("user") % 2 + 1)}

    row = rf.rec(models, truth=users).power("mrr", wanted=1e-12).row(0, named=True)

    assert row["users_needed"] is None
    assert row["note"] == "the wanted difference needs more users than there are"


@pytest.mark.parametrize("lift", [0.1, 0.3])
def test_so_many_users_show_a_difference_as_often_as_is_said(lift):
    random = np.random.default_rng(int(10 * lift))
    population = sums_of(reciprocal_ranks(random, 1, 400_000, [0.0, lift], taste=6.0))
    n = powered(population, OF, Power(lift, level=0.95))["users_needed"].item()
    block = max(1, 1_000_000 // n)

    found = [
        compared(
            sums_of(reciprocal_ranks(random, block, n, [0.0, lift], taste=6.0)),
            OF,
            Comparing(correction=None),
        )["p_value"]
        <= 0.05
        for _ in range(-(-2000 // block))
    ]

    assert pl.concat(found).head(2000).sum() == pytest.approx(2000 * 0.8, abs=0.04 * 2000)
