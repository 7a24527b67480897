"""Adjusted p values held against statsmodels, the laws of every method, and max-t as it is defined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.statistics.p_values import StepDown, adjusted

METHODS = {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "fdr_bh"}
each_method = pytest.mark.parametrize("method", METHODS)
P_VALUES = st.lists(
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1e-300, 0.05, 1.0, np.nan])), max_size=12
)


def by_statsmodels(p_values, method):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    found, known = np.full(len(p_values), np.nan), ~np.isnan(p_values)
    if known.any():
        found[known] = multitest.multipletests(p_values[known], method=METHODS[method])[1]
    return found


@each_method
@given(p_values=P_VALUES)
def test_every_method_is_statsmodels_with_nulls_left_out(method, p_values):
    p_values = np.array(p_values, dtype=float)

    found = adjusted(p_values, method=method)

    assert found == pytest.approx(by_statsmodels(p_values, method), rel=1e-9, nan_ok=True)


@each_method
@given(data=st.data(), p_values=P_VALUES)
def test_families_are_adjusted_apart_in_any_order_of_rows(method, data, p_values):
    p_values = np.array(p_values, dtype=float)
    n = len(p_values)
    families = np.array(data.draw(st.lists(st.integers(-2, 3), min_size=n, max_size=n)), dtype=int)
    order = data.draw(st.permutations(range(n)))

    found = adjusted(p_values, method=method, families=families)

    for family in np.unique(families):
        own = families == family
        assert found[own] == pytest.approx(adjusted(p_values[own], method=method), nan_ok=True)
    again = adjusted(p_values[order], method=method, families=families[order])
    assert again == pytest.approx(found[order], nan_ok=True)


@each_method
@given(p_values=P_VALUES)
def test_no_p_value_becomes_smaller_or_changes_its_place(method, p_values):
    p_values = np.array(p_values, dtype=float)
    found = adjusted(p_values, method=method)
    known = ~np.isnan(p_values)

    assert (np.isnan(found) == ~known).all()
    assert (found[known] >= p_values[known]).all()
    assert (found[known] <= 1).all()
    assert (np.diff(found[known][np.argsort(p_values[known])]) >= 0).all()


@each_method
def test_small_p_values_of_late_families_keep_their_digits(method):
    # 1,000 families of two
    p_values = np.tile([1e-200, 0.5], 1000)
    found = adjusted(p_values, method=method, families=np.repeat(np.arange(1000), 2))

    assert found[::2] == pytest.approx(2e-200, rel=1e-12, abs=0)


def by_definition(observed, resampled):
    """Adjust by Westfall and Young's algorithm 2.8, a test after the other."""
    order = np.argsort(-np.abs(observed), kind="stable")
    found, so_far = np.empty(len(observed)), 0.0
    for place, test in enumerate(order):
        largest = np.abs(resampled[:, order[place:]]).max(axis=1)
        share = (1 + (largest >= abs(observed[test])).sum()) / (1 + len(resampled))
        found[test] = so_far = max(so_far, share)
    return found


def step_down_max_t(observed, resampled):
    stepped = StepDown(observed)
    stepped.add(resampled)
    return stepped.p_adjusted()


@given(seed=st.integers(0, 1000), m=st.integers(1, 6), b=st.integers(1, 30))
def test_max_t_is_westfalls_and_youngs_algorithm(seed, m, b):
    random = np.random.default_rng(seed)
    # steps of a half, so that there are ties
    observed = np.round(2 * random.normal(0, 2, m)) / 2
    resampled = np.round(2 * random.normal(0, 1, (b, m))) / 2

    assert step_down_max_t(observed, resampled) == pytest.approx(by_definition(observed, resampled))


@given(seed=st.integers(0, 1000))
def test_max_t_by_families_and_blocks_is_that_of_each_family_in_one_piece(seed):
    random = np.random.default_rng(seed)
    observed, resampled = random.normal(0, 2, 7), random.normal(0, 1, (20, 7))
    observed[2] = np.nan
    families = random.integers(0, 3, 7)
    stepped = StepDown(observed, families)
    for block in np.array_split(resampled, 3):
        stepped.add(block)

    found = stepped.p_adjusted()

    assert np.isnan(found[2])
    for family in np.unique(families):
        own = (families == family) & ~np.isnan(observed)
        assert found[own] == pytest.approx(by_definition(observed[own], resampled[:, own]))
    assert (np.nan_to_num(found) >= np.nan_to_num(stepped.p_values())).all()


def test_a_resample_without_a_test_counts_against_this_test_alone():
    # the first is never reached but has no statistic twice: (1 + 2) / (1 + 4); the second is reached once
    resampled = np.array([[np.nan, 0], [np.nan, 3], [0, 0], [0, 0]])

    assert step_down_max_t([5, 2], resampled).tolist() == [3 / 5, 3 / 5]
    assert StepDown([5, 2]).p_adjusted().tolist() == [1, 1]
    stepped = StepDown([5, 2])
    stepped.add(resampled)
    assert stepped.p_values().tolist() == [3 / 5, 2 / 5]


def test_no_tests_are_no_error():
    assert adjusted([], method="holm").tolist() == []
    assert step_down_max_t([], np.empty((3, 0))).tolist() == []
    assert np.isnan(adjusted([np.nan], method="holm")).all()
