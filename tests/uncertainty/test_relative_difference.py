"""The interval of a difference as a share of the baseline: by hand, by users' own numbers, and in trials."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recframe.uncertainty.relative_difference import PairedSums, relative_difference


def sums(a, d):
    """Return the sums of users along the first axis."""
    pieces = (a, d, a * a, a * d, d * d)
    return PairedSums(len(a), *(piece.sum(axis=0) for piece in pieces))


def test_four_users_by_hand():
    # r = 2 / 8; u = (d - a / 4) / 2 = (1/4, -1/4, 1/4, -1/4); se = sqrt(1/4 / 3 / 4); t(3) = 3.182446
    found = relative_difference(sums(np.array([2.0, 2, 2, 2]), np.array([1.0, 0, 1, 0])))

    assert found.value == 0.25
    assert found.standard_error == pytest.approx((1 / 48) ** 0.5)
    assert found.low == pytest.approx(0.25 - 3.182446 * (1 / 48) ** 0.5, abs=1e-6)
    assert found.high == pytest.approx(0.25 + 3.182446 * (1 / 48) ** 0.5, abs=1e-6)


def test_it_is_the_mean_of_each_users_part_about_the_ratio():
    random = np.random.default_rng(0)
    a, d = random.beta(1, 3, (50, 4)), random.normal(0.02, 0.1, (50, 4))

    found = relative_difference(sums(a, d), level=0.9)

    u = (d - a * (d.sum(axis=0) / a.sum(axis=0))) / a.mean(axis=0)
    expected = stats.sem(u, axis=0)
    assert found.standard_error == pytest.approx(expected)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.95, 49) * expected)


def test_systems_that_are_a_share_apart_for_everybody_are_certain():
    a = np.array([0.1, 0.7, 0.3])
    found = relative_difference(sums(a, 0.1 * a))

    assert [found.value, found.low, found.high] == pytest.approx([0.1] * 3, abs=1e-7)


def test_no_baseline_and_no_second_user_give_no_interval():
    nothing = relative_difference(sums(np.zeros(3), np.ones(3)))
    one_user = relative_difference(sums(np.array([0.5]), np.array([0.1])))
    nobody = relative_difference(sums(np.zeros(0), np.zeros(0)))

    assert np.isnan([*nothing, *nobody]).all()
    assert one_user.value == 0.2
    assert np.isnan([one_user.standard_error, one_user.low, one_user.high]).all()
