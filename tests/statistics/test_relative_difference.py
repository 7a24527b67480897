"""The interval of a difference as a share of the baseline: by hand, by users' own numbers, and in trials."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recframe.statistics.moments import PairedMeans, relative_difference


def means(a, d):
    """Return the means of users along the first axis, with the variances of the means."""
    n = len(a)
    aa, dd = (np.var(one, axis=0, ddof=1) / n if n > 1 else np.nan for one in (a, d))
    deviations = (a - a.mean(axis=0)) * (d - d.mean(axis=0))
    ad = deviations.sum(axis=0) / (n - 1) / n if n > 1 else np.nan
    return PairedMeans(a.mean(axis=0), d.mean(axis=0), aa, ad, dd, n - 1)


def test_the_ends_are_the_shares_that_a_t_test_just_does_not_reject():
    random = np.random.default_rng(0)
    a, d = random.beta(1, 3, (50, 4)), random.normal(0.02, 0.1, (50, 4))

    found = relative_difference(means(a, d), level=0.9)

    assert found.value == pytest.approx(d.mean(axis=0) / a.mean(axis=0))
    for end in (found.low, found.high):
        assert stats.ttest_1samp(d - end * a, 0).pvalue == pytest.approx([0.1] * 4)
    assert (found.low < found.value).all()
    assert (found.value < found.high).all()


def test_systems_that_are_a_share_apart_for_everybody_are_certain():
    a = np.array([0.1, 0.7, 0.3, 0.6, 0.5, 0.4])
    found = relative_difference(means(a, 0.1 * a))

    assert [found.value, found.low, found.high] == pytest.approx([0.1] * 3, rel=1e-12)


def test_a_baseline_that_may_be_0_bounds_no_share():
    # the mean of 1 hit among 30 users is 1 standard error from 0
    a = np.zeros(30)
    a[0] = 1
    found = relative_difference(means(a, np.linspace(-0.1, 0.2, 30)))

    assert found.value == pytest.approx(0.05 * 30)
    assert np.isnan([found.low, found.high]).all()


def test_no_baseline_and_no_second_user_give_no_interval():
    nothing = relative_difference(means(np.zeros(3), np.ones(3)))
    one_user = relative_difference(means(np.array([0.5]), np.array([0.1])))

    assert np.isnan([*nothing]).all()
    assert one_user.value == 0.2
    assert np.isnan([one_user.low, one_user.high]).all()
