"""Adjusted p values compared with statsmodels."""

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

    assert found == pytest.approx(by_statsmodels(p_values, method), rel=1e-10, nan_ok=True)


def test_no_tests_are_no_error():
    assert adjusted([], method="holm").tolist() == []
    assert np.isnan(adjusted([np.nan], method="holm")).all()
