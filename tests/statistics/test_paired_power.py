"""Power of the paired t test held against statsmodels and SciPy, and how its two inverses hang together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recframe.statistics.power import POWER, detectable_difference, users_needed


def power_of(effect: float, n: float, level: float = 0.95) -> float:
    """Return the probability that n users show an effect on its own side."""
    t = stats.t.ppf(0.5 + level / 2, n - 1)
    return float(stats.nct.sf(t, n - 1, effect * n**0.5))


@pytest.mark.parametrize("n", [2, 3, 10, 300, 100_000])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_what_is_detectable_is_that_of_statsmodels(n, level):
    tests = pytest.importorskip("statsmodels.stats.power").TTestPower()

    effect = float(detectable_difference(n, 1.0, level=level))

    alpha = (1 - level) / 2
    # SciPy 1.17 has the noncentrality to six digits
    assert tests.power(effect, n, alpha, alternative="larger") == pytest.approx(0.8, abs=1e-5)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # of SciPy 1.11's own answer
@given(effect=st.floats(0.02, 10), std=st.floats(0.01, 3))
def test_the_users_needed_are_the_fewest_that_are_enough(effect, std):
    n = float(users_needed(-effect * std, std))

    assert n == int(n) >= 2
    assert power_of(effect, n) >= POWER - 1e-6
    assert n == 2 or power_of(effect, n - 1) <= POWER + 1e-6


@given(n=st.integers(2, 10**7), std=st.floats(1e-3, 10))
def test_what_is_detectable_takes_the_users_there_are(n, std):
    detectable = detectable_difference(n, std)

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
