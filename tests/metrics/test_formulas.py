"""Formulas in closed form against the sums that they stand for: in fractions where these are rational."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.metrics.language import at as formulas
from recframe.metrics.language import sums_over_ranks
from strategies import examples


def of(value: pl.Expr) -> list[float | None]:
    return pl.select(value).to_series().to_list()


@examples(75)
@given(k=st.integers(1, 400), base=st.floats(1.01, 50) | st.sampled_from([2.0, 3.0, 10.0]))
def test_a_sum_of_unshifted_discounts_is_that_of_its_terms(k: int, base: float):
    terms = [1 / math.log(max(rank, base), base) for rank in range(1, k + 1)]

    assert of(formulas.unshifted_discount(pl.int_range(1, k + 1), base)) == pytest.approx(
        terms, rel=1e-12
    )
    assert sums_over_ranks.sum_of_unshifted_discounts(k, base) == pytest.approx(
        math.fsum(terms), rel=1e-12
    )


@pytest.mark.parametrize("k", [1, 2, 9_999, 10_000, 10_001, 20_000, 300_000])
def test_a_sum_of_discounts_does_not_need_its_terms(k: int):
    exact = math.fsum(1 / math.log2(rank + 1) for rank in range(1, k + 1))

    assert sums_over_ranks.sum_of_discounts(k) == pytest.approx(exact, rel=1e-13)
    assert (
        sums_over_ranks.sum_of_discounts(10**15) > sums_over_ranks.sum_of_discounts(10**14) > exact
    )
