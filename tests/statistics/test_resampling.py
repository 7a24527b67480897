"""Bootstrap and sign flips of groups: against their formulas, against scipy, by counting all flips, and at the edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recframe.statistics.resampling import (
    bootstrap_means,
    bootstrap_test,
    covariance_of_means,
    percentile_interval,
    sign_flip_test,
)

TESTS = {"bootstrap": bootstrap_test, "sign flips": sign_flip_test}
each_test = pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)


def grouped(values, n_groups, seed=0):
    """Return sums and counts of random groups of users, whose values are rows; NaN is no value."""
    group = np.random.default_rng(seed).integers(0, n_groups, len(values))
    sums, counts = (np.zeros((n_groups, values.shape[1])) for _ in range(2))
    np.add.at(sums, group, np.nan_to_num(values))
    np.add.at(counts, group, ~np.isnan(values))
    return sums, counts


def test_resampled_means_spread_as_the_formula_has_it():
    values = np.random.default_rng(1).beta(1, 4, (50_000, 3))
    values[::3, 1] = np.nan
    means = bootstrap_means(*grouped(values, 5_000), n_resamples=4_000, seed=0)

    n = (~np.isnan(values)).sum(axis=0)
    # the standard deviation of 4,000 draws is known to 1.1 %, and that of 5,000 groups to 1 %
    assert means.std(axis=0) == pytest.approx(np.nanstd(values, axis=0) / n**0.5, rel=0.06)
    assert means.mean(axis=0) == pytest.approx(np.nanmean(values, axis=0), abs=1e-4)
    correlation = np.corrcoef(values[1::3, 0], values[1::3, 2])[0, 1]
    assert np.corrcoef(means[:, 0], means[:, 2])[0, 1] == pytest.approx(correlation, abs=0.06)


def test_percentile_intervals_are_scipys_of_the_same_users():
    values = np.random.default_rng(2).exponential(1, 400)
    low, high = percentile_interval(
        bootstrap_means(values[:, None], np.ones(400), n_resamples=20_000, seed=0), level=0.9
    )

    # since SciPy 1.15 the seed is called rng
    seed = {"rng" if "rng :" in stats.bootstrap.__doc__ else "random_state": 0}
    expected = stats.bootstrap(
        (values,), np.mean, method="percentile", confidence_level=0.9, n_resamples=20_000, **seed
    ).confidence_interval
    width = expected.high - expected.low
    # a quantile of 20,000 draws is known to 1 % of the width; Poisson weights vary in their sum as well
    assert [low[0], high[0]] == pytest.approx([expected.low, expected.high], abs=0.04 * width)


@each_test
def test_p_values_of_either_test_are_near_those_of_t(test):
    random = np.random.default_rng(3)
    values = random.normal(np.linspace(0, 0.15, 6), 1, (400, 6))

    found = test(values, np.ones(400), n_resamples=9_999, seed=0).p_value

    expected = stats.ttest_1samp(values, 0).pvalue
    assert found == pytest.approx(expected, abs=0.03)


def test_sign_flips_of_few_groups_are_scipys_exact_permutations():
    values = np.round(np.random.default_rng(4).normal(0.5, 1, (11, 3)), 1)
    found = sign_flip_test(values, np.ones(11), n_resamples=9_999, seed=0)

    # no more flips than resamples, so that both count all 2,048
    expected = stats.permutation_test(
        (values, np.zeros_like(values)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        axis=0,
    ).pvalue
    assert found.p_value == pytest.approx(np.minimum(expected, 1))


@given(seed=st.integers(0, 500))
def test_all_flips_counted_by_hand_give_the_same_p_values_for_the_family(seed):
    random = np.random.default_rng(seed)
    values = random.integers(-2, 4, (6, 3)).astype(float)
    found = sign_flip_test(values, np.ones(6), n_resamples=64, seed=0)

    norm = np.sqrt((values**2).sum(axis=0))
    scaled = values / np.where(norm > 0, norm, 1)
    flips = np.array([*itertools.product([-1, 1], repeat=6)])
    flipped, observed = np.abs(flips @ scaled), np.abs(scaled.sum(axis=0))
    assert found.p_value == pytest.approx((flipped >= observed - 1e-9).mean(axis=0))
    single_step = (flipped.max(axis=1)[:, None] >= observed - 1e-9).mean(axis=0)
    assert (found.p_max_t <= single_step + 1e-12).all()
    assert found.p_max_t[observed.argmax()] == pytest.approx(single_step[observed.argmax()])


@each_test
def test_one_column_more_changes_no_p_value_and_the_seed_is_all_that_does(test):
    random = np.random.default_rng(5)
    values, counts = random.normal(0.1, 1, (300, 40)), np.ones(300)

    many = test(values, counts, n_resamples=1_500, seed=0)
    one = test(values[:, :1], counts, n_resamples=1_500, seed=0)

    assert one.p_value[0] == many.p_value[0]
    assert test(values, counts, n_resamples=1_500, seed=0).p_max_t.tolist() == many.p_max_t.tolist()
    assert test(values, counts, n_resamples=1_500, seed=1).p_value.tolist() != many.p_value.tolist()
    means = bootstrap_means(values, counts, n_resamples=1_500, seed=0)
    alone = bootstrap_means(values[:, :1], counts, n_resamples=1_500, seed=0)
    assert alone[:, 0] == pytest.approx(means[:, 0], rel=1e-12)


@each_test
def test_families_are_tested_as_if_each_stood_alone(test):
    random = np.random.default_rng(6)
    values, counts = random.normal(0.1, 1, (200, 5)), np.ones(200)
    families = np.array([7, 2, 7, 2, 7])

    found = test(values, counts, n_resamples=999, seed=0, families=families).p_max_t

    for family in (2, 7):
        alone = test(values[:, families == family], counts, n_resamples=999, seed=0)
        assert found[families == family].tolist() == alone.p_max_t.tolist()


@each_test
def test_a_column_that_says_the_same_twice_costs_the_family_nothing(test):
    values = np.repeat(np.random.default_rng(7).normal(0.1, 1, (200, 1)), 8, axis=1)

    found = test(values, np.ones(200), n_resamples=999, seed=0)

    assert found.p_max_t == pytest.approx(found.p_value)


@each_test
@pytest.mark.parametrize("n_groups", [5, 300])
def test_columns_without_a_spread_have_the_p_values_of_their_limit(test, n_groups):
    random = np.random.default_rng(8)
    rows = np.zeros((n_groups, 5))
    counts = np.ones((n_groups, 5))
    # equal systems; a constant difference, with sums that are rounded; one user; nobody; and one of noise
    counts[:, 1] = random.integers(1, 9, n_groups)
    rows[:, 1] = 0.1 * counts[:, 1]
    counts[1:, 2] = 0
    rows[0, 2] = 0.3
    counts[:, 3] = 0
    rows[:, 4] = random.normal(0, 1, n_groups)

    found = test(rows, counts, n_resamples=999, seed=0)

    # all 32 flips of five groups are counted, of which two have one sign; Poisson draws none of five with e^-5
    few = 2 / 32 if test is sign_flip_test else 0.0067
    least = few if n_groups == 5 else 1 / 1000
    assert found.p_value[:2] == pytest.approx([1, least], abs=0.006 * (n_groups == 5))
    assert np.isnan(found.p_value).tolist() == [False, False, True, True, False]
    assert np.isnan(found.p_max_t).tolist() == [False, False, True, True, False]
    assert (found.p_max_t[[0, 1, 4]] >= found.p_value[[0, 1, 4]]).all()


@each_test
def test_no_p_value_is_below_one_over_the_resamples_and_one(test):
    sure = test(
        np.full((500, 1), 5.0) + np.arange(500)[:, None] / 500,
        np.ones(500),
        n_resamples=199,
        seed=0,
    )

    assert sure.p_value == sure.p_max_t == pytest.approx(1 / 200)


def test_resamples_of_nobody_are_null_and_the_interval_is_of_the_others():
    sums, counts = np.array([[0.5, 0.0], [0.0, 0.0]]), np.array([[1, 0], [0, 0]])
    means = bootstrap_means(sums, counts, n_resamples=500, seed=0)

    # one user is drawn by nobody with the probability 1 / e
    assert np.isnan(means[:, 0]).mean() == pytest.approx(np.exp(-1), abs=0.08)
    low, high = percentile_interval(means)
    assert [low[0], high[0]] == [0.5, 0.5]
    assert np.isnan([low[1], high[1]]).all()


@pytest.mark.parametrize("n_groups", [3, 5_000])
def test_progress_is_told_until_all_is_done(n_groups):
    told = []
    sums, counts = np.ones((n_groups, 1)), np.ones(n_groups)

    bootstrap_means(sums, counts, n_resamples=1_300, seed=0, tell=lambda *at: told.append(at))

    assert told[-1] == (1_300, 1_300)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert len(told) > 1


def test_the_covariance_of_means_is_that_of_users_who_stand_in_both_columns():
    random = np.random.default_rng(9)
    values = random.normal(size=(2_000, 1)) + random.normal(size=(2_000, 2))
    values[::4, 1] = np.nan
    found = covariance_of_means(np.nan_to_num(values), ~np.isnan(values))

    both = ~np.isnan(values).any(axis=1)
    shared = np.cov(values[both].T)[0, 1] * both.sum() / 2_000 / both.sum()
    expected = np.array(
        [[values[:, 0].var() / 2_000, shared], [shared, np.nanvar(values[:, 1]) / both.sum()]]
    )
    # to 10 %, since a covariance is known to some 1 / sqrt(2,000) of both variances
    assert found == pytest.approx(expected, rel=0.1)
