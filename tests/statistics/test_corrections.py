"""Adjusted p values held against statsmodels, and the laws of every method."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.statistics.estimates import adjusted

METHODS = {"holm": "holm", "benjamini-hochberg": "fdr_bh"}
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
@given(p_values=P_VALUES)
def test_no_p_value_becomes_smaller_or_changes_its_place(method, p_values):
    p_values = np.array(p_values, dtype=float)
    found = adjusted(p_values, method=method)
    known = ~np.isnan(p_values)

    assert (np.isnan(found) == ~known).all()
    assert (found[known] >= p_values[known]).all()
    assert (found[known] <= 1).all()
    assert (np.diff(found[known][np.argsort(p_values[known])]) >= 0).all()


def test_no_tests_are_no_error():
    assert adjusted([], method="holm").tolist() == []
    assert np.isnan(adjusted([np.nan], method="holm")).all()
