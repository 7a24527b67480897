"""P values of means held against scipy.stats, and what they are where there is no spread or no user."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recframe.statistics import estimates as p_values

RANDOM = np.random.default_rng(0)
SAMPLES = [RANDOM.normal(0.1, 1, n) for n in (2, 3, 30, 300)]


def parts(sample):
    """Return the mean, its standard error and the degrees of freedom."""
    return sample.mean(), sample.std(ddof=1) / len(sample) ** 0.5, len(sample) - 1


@pytest.mark.parametrize("sample", SAMPLES, ids=len)
@pytest.mark.parametrize(
    ("function", "alternative"),
    [(p_values.p_two_sided, "two-sided"), (p_values.p_below, "less")],
)  # fmt: skip
def test_p_of_t_is_scipys(sample, function, alternative):
    mean, error, freedom = parts(sample)

    expected = stats.ttest_1samp(sample, 0, alternative=alternative).pvalue
    assert function(p_values.t_statistic(mean, error), freedom) == pytest.approx(
        expected, rel=1e-10
    )


def test_the_far_tail_keeps_its_digits():
    t = np.array([10.0, 40.0, 300.0])

    assert p_values.p_two_sided(t, 29) == pytest.approx(2 * stats.t.sf(t, 29), rel=1e-10, abs=0)


def test_arrays_broadcast_and_infinite_freedom_is_normal():
    t, freedom = np.array([[0.5], [2.0]]), np.array([3.0, np.inf])
    expected = [
        [2 * stats.t.sf(0.5, 3), 2 * stats.norm.sf(0.5)],
        [2 * stats.t.sf(2, 3), 2 * stats.norm.sf(2)],
    ]

    assert p_values.p_two_sided(t, freedom) == pytest.approx(np.array(expected), rel=1e-10)
    assert p_values.t_quantile(0.9, freedom) == pytest.approx(
        [stats.t.ppf(0.95, 3), stats.norm.ppf(0.95)], rel=1e-10
    )


def test_without_spread_equal_systems_have_p_1_and_a_constant_difference_has_p_0():
    t = p_values.t_statistic([0, 0.1, -0.1], [0, 0, 0])

    assert t.tolist() == [0, np.inf, -np.inf]
    assert p_values.p_two_sided(t, 9).tolist() == [1, 0, 0]


def test_one_user_has_no_p_value():
    one_user = [0.1, np.nan, 0]
    nobody = [np.nan, np.nan, -1]

    for difference, error, freedom in (one_user, nobody):
        assert np.isnan(p_values.p_two_sided(p_values.t_statistic(difference, error), freedom))
        assert np.isnan(p_values.t_quantile(0.95, freedom))


def test_the_least_p_is_that_of_all_flips_of_signs():
    differences = np.array([0.1, 0.2, 0.1, 0.4])
    flips = stats.permutation_test((differences,), np.mean, permutation_type="samples")

    assert p_values.least_p(4) == flips.pvalue == 2 / 2**4
    assert p_values.least_p([0, 1, 2]).tolist() == [1, 1, 0.5]
