"""What so many users can show: by statsmodels and SciPy, by trials, and how its two inverses hang together."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

import recframe as rf
from compared_lists import LISTS_ARE_MISSING, asked_of, frames
from plain_uncertainty import clustered_error, differing, power, values_of
from recframe.statistics.comparison import (
    POWER,
    Comparing,
    compared,
    detectable_difference,
    powered,
    users_needed,
)
from simulated_pairs import METRICS as OF
from simulated_pairs import reciprocal_ranks, sums_of

pytestmark = LISTS_ARE_MISSING


@pytest.mark.parametrize("n", [2, 3, 10, 300, 100_000])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_what_is_detectable_is_that_of_statsmodels(n, level):
    effect = float(detectable_difference(n, 1.0, level=level))

    # SciPy 1.17 has the noncentrality to six digits
    found = TTestPower().power(effect, n, (1 - level) / 2, alternative="larger")
    assert found == pytest.approx(0.8, abs=1e-5)


def power_of(effect: float, n: float) -> float:
    """Return the probability that n users show an effect on its own side, at 0.95."""
    return float(stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, effect * n**0.5))


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # of SciPy 1.11's own answer
@given(effect=st.floats(0.02, 10), std=st.floats(0.01, 3))
def test_the_users_needed_are_the_fewest_that_are_enough(effect, std):
    n = float(users_needed(-effect * std, std))

    assert n == int(n) >= 2
    assert power_of(effect, n) >= POWER - 1e-6
    assert n == 2 or power_of(effect, n - 1) <= POWER + 1e-6


@given(n=st.integers(2, 10**7), std=st.floats(1e-3, 10))
def test_what_is_detectable_takes_the_users_there_are(n, std):
    assert users_needed(detectable_difference(n, std) * (1 + 1e-6), std) <= n


def test_arrays_broadcast_and_what_has_no_answer_is_told():
    # the textbook's (1.96 + 0.8416)^2 (std / difference)^2 = 40,690 for .72 and 1 %
    assert users_needed(0.01, 0.72) == pytest.approx(7.849 * 72**2, rel=1e-3)
    found = users_needed([[0.1], [0.0]], [1.0, 0.0, np.nan])
    assert found == pytest.approx(
        np.array([[787, 2, np.nan], [np.inf, np.nan, np.nan]]), nan_ok=True
    )
    detectable = detectable_difference([0, 1, 2, 30], [1.0, 1.0, 0.0, np.nan])
    assert detectable == pytest.approx([np.nan, np.nan, 0, np.nan], nan_ok=True)


@pytest.mark.parametrize("by", [(), ("genre",)], ids=str)
@pytest.mark.parametrize("metric", ["ndcg@3", "first_rank", "novelty@3"])
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
    n = powered(population, OF, wanted=lift, level=0.95)["users_needed"].item()
    block = max(1, 1_000_000 // n)

    found = []
    for _ in range(-(-2000 // block)):
        pairs = sums_of(reciprocal_ranks(random, block, n, [0.0, lift], taste=6.0))
        found.append(compared(pairs, OF, Comparing(correction=None))["p_value"] <= 0.05)

    assert pl.concat(found).head(2000).sum() == pytest.approx(2000 * 0.8, abs=0.04 * 2000)
