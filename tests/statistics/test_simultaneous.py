"""Gaps between segments that were picked from all pairs: held against Tukey's range in scipy, all pairs, and the edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recframe.statistics.simultaneous import (
    NO_GAP,
    gap,
    level_of_all,
    level_of_pairs,
    p_of_pairs,
    range_above,
    simultaneous_interval,
)


@pytest.mark.parametrize("n", [2, 3, 12, 146])
@pytest.mark.parametrize("q", [0.5, 3.0, 5.0])
def test_the_range_is_scipys_studentised_range(n, q):
    expected = stats.studentized_range.sf(q, n, np.inf)

    assert range_above(q, n) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("n", [2, 3, 12, 1_000])
@pytest.mark.parametrize("independent", [True, False])
def test_the_level_of_pairs_is_where_their_p_value_is_that_of_all(n, independent):
    each = level_of_pairs(0.95, n, independent=independent)

    assert p_of_pairs(1 - each, n, independent=independent) == pytest.approx(0.05)
    assert n > 2 or each == pytest.approx(0.95)


@given(p_value=st.floats(0, 1), n=st.integers(2, 2_000))
def test_a_p_value_of_pairs_is_no_smaller_than_the_pairs_and_no_larger_than_bonferronis(p_value, n):
    found = p_of_pairs(p_value, n)
    at_worst = p_of_pairs(p_value, n, independent=False)

    # equal for two segments, but for rounding
    assert p_value <= found * (1 + 1e-6) + 1e-15
    assert found <= at_worst * (1 + 1e-9) + 1e-300
    assert at_worst <= min(1, p_value * n * (n - 1) / 2) * (1 + 1e-9) + 1e-300


def test_the_gap_of_three_equal_segments_is_tukeys():
    found = gap([0.2, 0.5, 0.3], [0.05] * 3, freedom=np.inf)

    half = stats.studentized_range.ppf(0.95, 3, np.inf) * 0.05
    assert (found.best, found.worst) == (1, 0)
    assert found.gap == pytest.approx(0.3)
    assert [found.low, found.high] == pytest.approx([0.3 - half, 0.3 + half])
    assert found.least == pytest.approx(0.3 - half)
    assert found.p_value == pytest.approx(stats.studentized_range.sf(0.3 / 0.05, 3, np.inf))


def test_two_segments_are_welchs_t_test():
    random = np.random.default_rng(0)
    one, other = random.normal(0, 1, 12), random.normal(0.8, 3, 30)

    found = gap(
        [one.mean(), other.mean()], [stats.sem(one), stats.sem(other)], freedom=[11, 29], level=0.9
    )

    expected = stats.ttest_ind(other, one, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.9)
    assert [found.low, found.high] == pytest.approx([interval.low, interval.high])


@given(seed=st.integers(0, 500), n=st.integers(2, 25))
def test_the_pairs_that_are_asked_show_what_all_pairs_show(seed, n):
    random = np.random.default_rng(seed)
    means, errors = random.normal(size=n), random.uniform(0.05, 0.5, n)
    found = gap(means, errors, freedom=np.inf)

    times = stats.norm.ppf(0.5 + level_of_pairs(0.95, n) / 2)
    pairs = [*itertools.permutations(range(n), 2)]
    shown = [means[i] - means[j] - times * np.hypot(errors[i], errors[j]) for i, j in pairs]
    largest = max((means[i] - means[j]) / np.hypot(errors[i], errors[j]) for i, j in pairs)
    assert found.least == pytest.approx(max(0, *shown))
    assert found.p_value == pytest.approx(p_of_pairs(2 * stats.norm.sf(largest), n))
    assert (found.low > 0) <= (found.least > 0) == (found.p_value < 0.05)


def test_a_small_segment_at_the_end_does_not_hide_a_gap_between_large_ones():
    found = gap([0.9, 0.6, 0.5], [0.5, 0.01, 0.01], freedom=[5, 999, 999])

    assert found.low < 0 < found.least < 0.1
    assert found.p_value < 1e-6


def test_users_who_stand_in_two_segments_are_told_by_the_covariance():
    # the same users in both: their difference is nearly certain
    covariance = np.array([[1.0, 0.99], [0.99, 1.0]]) / 100
    apart = gap([0.5, 0.6], [0.1, 0.1], freedom=200)
    shared = gap([0.5, 0.6], [0.1, 0.1], freedom=200, covariance=covariance)

    half = stats.t.ppf(0.975, 200) * 0.02**0.5 / 10
    assert [shared.low, shared.high] == pytest.approx([0.1 - half, 0.1 + half])
    assert shared.p_value < 1e-6 < apart.p_value
    # apart by nothing at all
    assert gap([0.5, 0.6], [0.1] * 2, freedom=9, covariance=np.full((2, 2), 0.01)).p_value == 0


def test_absent_segments_and_those_without_freedom_are_none():
    found = gap([np.nan, 0.5, 0.2, 0.9], [0.1, 0.1, 0.1, 0.1], freedom=[9, 9, 9, 0])

    assert found[:2] == (1, 2)
    assert found == gap([7, 0.5, 0.2], [np.nan, 0.1, 0.1], freedom=9)
    for means in ([], [0.5], [0.5, np.nan]):
        none = gap(means, np.full(len(means), 0.1), freedom=9)
        assert none[:2] == NO_GAP[:2] == (-1, -1)
        assert np.isnan(none[2:]).all()


def test_segments_without_spread_are_certain():
    same, apart = gap([0.5] * 3, [0.0] * 3, freedom=9), gap([0.5, 0.7], [0.0] * 2, freedom=9)

    assert same[2:] == (0, 0, 0, 0, 1)
    assert apart[2:] == pytest.approx((0.2, 0.2, 0.2, 0.2, 0))


def test_intervals_of_many_slices_hold_at_sidaks_level():
    low, high = simultaneous_interval([0.1, np.nan, 0.3], [0.1, 0.1, 0.2], freedom=[9, 9, 0])

    # two have a standard error, one of them no freedom
    half = stats.t.ppf(0.5 + 0.95**0.5 / 2, 9) * 0.1
    assert [low[0], high[0]] == pytest.approx([0.1 - half, 0.1 + half])
    assert np.isnan([*low[1:], *high[1:]]).all()
    assert level_of_all(0.95, 0) == level_of_all(0.95, 1) == 0.95
