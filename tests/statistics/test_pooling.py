"""The variance between segments and their pooled values: compared with statsmodels, by hand, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.statistics.shrinkage import borrowed_variances, pooled, variance_between


@given(seed=st.integers(0, 500), k=st.integers(2, 30), spread=st.sampled_from([0, 0.05, 1]))
def test_the_variance_between_is_statsmodels_paule_and_mandels(seed, k, spread):
    meta = pytest.importorskip("statsmodels.stats.meta_analysis")
    random = np.random.default_rng(seed)
    errors = random.uniform(0.02, 0.3, k)
    means = random.normal(0.4, spread, k) + errors * random.normal(size=k)

    found = variance_between(means, errors)

    expected, ended = meta._fit_tau_iterative(means, errors**2, atol=1e-7, maxiter=1000)
    if ended:
        assert found == pytest.approx(expected, abs=1e-6)
    # it gives up where the sum is below k - 1, be it by rounding, so that the equation is held too
    weight = 1 / (errors**2 + found)
    q = (weight * (means - np.average(means, weights=weight)) ** 2).sum()
    assert q == pytest.approx(k - 1, rel=1e-6) or (found == 0 and q < k - 1)


def test_segments_of_one_error_have_the_variance_of_means_less_that_of_errors():
    # means 1, 2, 3 vary by 1, of which errors of 0.6 explain 0.36
    assert variance_between([1, 2, 3], [0.6] * 3) == pytest.approx(0.64)
    assert variance_between([1, 2, 3], [0.0] * 3) == pytest.approx(1)
    assert variance_between([1, 2, 3], [1.1] * 3) == 0
    assert variance_between([0.1] * 3, [0.0] * 3) == 0


@given(seed=st.integers(0, 500))
def test_columns_are_pooled_apart_and_absent_segments_have_no_part(seed):
    random = np.random.default_rng(seed)
    means, errors = random.normal(size=(9, 4)), random.uniform(0.1, 2, (9, 4))
    means[random.random((9, 4)) < 0.3] = np.nan
    found = pooled(means, errors)

    for column in range(4):
        there = ~np.isnan(means[:, column])
        alone = pooled(means[there, column], errors[there, column])
        assert found[there, column] == pytest.approx(alone)
        assert np.isnan(found[~there, column]).all()


@given(seed=st.integers(0, 500), k=st.integers(4, 20))
def test_pooled_values_lie_between_their_own_and_the_centre_and_the_unsure_move_most(seed, k):
    random = np.random.default_rng(seed)
    means, errors = random.normal(size=k), random.uniform(0.1, 2, k)
    found = pooled(means, errors)

    weight = 1 / (errors**2 + variance_between(means, errors))
    moved = (means - found) / (means - np.average(means, weights=weight))
    assert (moved >= -1e-9).all()
    assert (moved <= 1).all()
    assert (np.diff(moved[np.argsort(errors)]) >= -1e-9).all()


def test_five_equal_errors_by_hand():
    # variance of means 2.5, of errors 0.5, between 2; 1 - B = 0.5 / 2.5 x (5 - 3) / (5 - 1) = 0.1
    assert pooled([1, 2, 3, 4, 5], [0.5**0.5] * 5) == pytest.approx([1.2, 2.1, 3, 3.9, 4.8])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_fewer_than_four_segments_stay_as_they_are(k):
    means = np.arange(k) / 10

    assert pooled(means, np.full(k, 0.1)).tolist() == means.tolist()


def test_a_column_of_nobody_is_null():
    assert np.isnan(pooled([np.nan] * 4, [0.1] * 4)).all()
    assert np.isnan(variance_between(np.empty((0, 2)), np.empty((0, 2)))).all()


def test_segments_without_spread_are_certain():
    for means in ([0.1, 0.1, 0.2, 0.3], [0.1] * 4):
        assert pooled(means, [0.0] * 4) == pytest.approx(means)
    assert variance_between([0.1] * 4, [0.0] * 4) == 0


def test_borrowed_variances_by_hand():
    # freedoms 4, 1, 0: the common variance is (4 x .1 + 1 x .6) / 5 = .2
    found = borrowed_variances([0.1, 0.6, np.nan, np.nan], [5, 2, 1, 0], borrowed=10)

    assert found[:3] == pytest.approx([(0.4 + 2) / 14, (0.6 + 2) / 11, 0.2])
    assert np.isnan(found[3])
    assert np.isnan(borrowed_variances([np.nan, np.nan], [1, 1])).all()
    assert borrowed_variances([0.3, 0.5], [4, 9], borrowed=0).tolist() == [0.3, 0.5]
