"""Power of the paired t test held against statsmodels, and how its two inverses hang together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recframe.statistics.power import POWER, detectable_difference, power_of, users_needed

SIZES = [2, 3, 10, 300, 100_000]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_power_and_what_is_detectable_are_statsmodels(n, level):
    tests = pytest.importorskip("statsmodels.stats.power")
    given = {"nobs": n, "alpha": 1 - level, "alternative": "two-sided"}

    effect = float(detectable_difference(n, 1.0, level=level))

    assert power_of(effect, n, level=level) == pytest.approx(0.8, abs=1e-9)
    for share in (0.0, 0.3, 1.0):
        expected = tests.TTestPower().power(share * effect, **given)
        # of two users and level .99 it has NaN
        assert power_of(share * effect, n, level=level) == pytest.approx(expected, abs=1e-8) or (
            np.isnan(expected)
        )


@pytest.mark.parametrize("n", SIZES)
def test_power_rises_with_the_effect_to_one(n):
    found = power_of(np.linspace(0, 50, 2000), n)

    assert found[0] == pytest.approx(0.05, abs=1e-9)
    # the noncentral t of SciPy 1.11 is right to six digits
    assert (np.diff(found) > -1e-5).all()
    assert n == 2 or found[-1] == pytest.approx(1, abs=1e-3)


def test_two_users_by_their_own_integral():
    # T' = (Z + nc) / |Z'|: of nc = 20 and t = 12.7062, P(|Z'| < (Z + 20) / 12.7062)
    z, step = np.linspace(-9, 9, 20_001, retstep=True)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * step
    t = stats.t.ppf(0.975, 1)
    expected = (density * (1 - 2 * stats.norm.sf(np.abs(z + 20) / t))).sum()

    assert power_of(20 / 2**0.5, 2) == pytest.approx(expected, abs=1e-6)


@given(effect=st.floats(1e-5, 10), std=st.floats(0.01, 3))
def test_the_users_needed_are_the_fewest_that_are_enough(effect, std):
    n = float(users_needed(-effect * std, std))

    assert n == int(n) >= 2
    assert power_of(effect, n) >= POWER - 1e-9
    assert n == 2 or power_of(effect, n - 1) <= POWER + 1e-9


@given(n=st.integers(2, 10**7), std=st.floats(1e-3, 10))
def test_what_is_detectable_takes_the_users_there_are(n, std):
    detectable = detectable_difference(n, std)

    assert power_of(detectable / std, n) == pytest.approx(POWER, abs=1e-6)
    assert users_needed(detectable * (1 + 1e-6), std) <= n


def test_forty_thousand_users_for_a_hundredth_of_a_spread_of_seven_tenths():
    # the textbook's (1.96 + 0.8416)^2 (std / difference)^2 = 40,690 for .72 and 1 %
    assert users_needed(0.01, 0.72) == pytest.approx(7.849 * 72**2, rel=1e-3)


def test_arrays_broadcast_and_what_has_no_answer_is_told():
    assert users_needed([[0.1], [0.0]], [1.0, 0.0, np.nan]).tolist() == [
        [787, 2, pytest.approx(np.nan, nan_ok=True)],
        [np.inf, pytest.approx(np.nan, nan_ok=True), pytest.approx(np.nan, nan_ok=True)],
    ]
    found = detectable_difference([0, 1, 2, 30], [1.0, 1.0, 0.0, np.nan])
    assert np.isnan(found).tolist() == [True, True, False, True]
    assert found[2] == 0
    assert np.isnan(power_of(1.0, 1))
