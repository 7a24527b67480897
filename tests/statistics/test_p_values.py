"""P values of means and their corrections compared with SciPy and statsmodels, and where there is no spread or no user."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from recframe.statistics.estimates import adjusted, least_p, p_below, t_quantile

RANDOM = np.random.default_rng(0)
SAMPLES = [RANDOM.normal(0.1, 1, n) for n in (2, 3, 30, 300)]
P_VALUES = st.lists(
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1e-300, 0.05, 1.0, np.nan])), max_size=12
)


@pytest.mark.parametrize("sample", SAMPLES, ids=len)
def test_p_of_t_is_scipys(sample):
    error, freedom = sample.std(ddof=1) / len(sample) ** 0.5, len(sample) - 1

    expected = stats.ttest_1samp(sample, 0, alternative="less").pvalue
    assert p_below(sample.mean(), error, freedom) == pytest.approx(expected, rel=1e-10)


def test_arrays_broadcast_infinite_freedom_is_normal_and_the_far_tail_keeps_its_digits():
    t, freedom = np.array([[-0.5], [-300.0]]), np.array([3.0, np.inf])
    expected = np.stack([stats.t.cdf(t[:, 0], 3), stats.norm.cdf(t[:, 0])], axis=1)

    assert p_below(t, 1.0, freedom) == pytest.approx(expected, rel=1e-10, abs=0)
    quantiles = [stats.t.ppf(0.95, 3), stats.norm.ppf(0.95)]
    assert t_quantile(0.9, freedom) == pytest.approx(quantiles, rel=1e-10)


def test_without_spread_a_difference_is_sure_and_none_is_not():
    assert p_below([0, 0.1, -0.1], 0, 9).tolist() == [0.5, 1, 0]


def test_one_user_has_no_p_value_and_no_quantile():
    for difference, error, freedom in ([0.1, np.nan, 0], [np.nan, np.nan, -1]):
        assert np.isnan(p_below(difference, error, freedom))
        assert np.isnan(t_quantile(0.95, freedom))


def test_the_least_p_is_that_of_all_flips_of_signs():
    differences = np.array([0.1, 0.2, 0.1, 0.4])
    flips = stats.permutation_test((differences,), np.mean, permutation_type="samples")

    assert least_p(np.array([4, 0, 1, 2])).tolist() == [flips.pvalue, 1, 1, 0.5]


@pytest.mark.parametrize(("method", "theirs"), [("holm", "holm"), ("benjamini-hochberg", "fdr_bh")])
@given(p_values=P_VALUES)
def test_corrections_are_statsmodels_with_nulls_left_out(method, theirs, p_values):
    p_values = np.array(p_values, dtype=float)
    expected, known = np.full(len(p_values), np.nan), ~np.isnan(p_values)
    if known.any():
        expected[known] = multipletests(p_values[known], method=theirs)[1]

    found = adjusted(p_values, method=method)

    assert found == pytest.approx(expected, rel=1e-10, nan_ok=True)
