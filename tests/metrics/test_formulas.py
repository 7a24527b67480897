"""Formulas in closed form against the sums that they stand for: in fractions where these are rational."""

from __future__ import annotations

import math
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.metrics.language import at as formulas
from recframe.metrics.language import sums_over_ranks
from strategies import examples


def of(value: pl.Expr) -> list[float | None]:
    return pl.select(value).to_series().to_list()


def test_harmonic_numbers_are_sums_of_fractions():
    exact, total = [0.0], Fraction(0)
    for n in range(1, 301):
        total += Fraction(1, n)
        exact.append(float(total))

    for dtype in (pl.Int64, pl.UInt32, pl.Float64):
        assert of(formulas.harmonic(pl.int_range(301).cast(dtype))) == pytest.approx(
            exact, rel=2e-15, abs=2e-15
        )


@examples(45)
@given(n=st.integers(10**4, 2 * 10**5))
def test_far_harmonic_numbers_differ_by_one_over_n(n: int):
    head = math.fsum(1 / place for place in range(1, n + 1))

    assert of(formulas.harmonic(pl.lit(n))) == pytest.approx([head], rel=1e-14)


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


@examples(45)
@given(rank=st.integers(1, 60), numerator=st.integers(1, 99))
def test_a_geometric_discount_is_a_power(rank: int, numerator: int):
    exact = Fraction(numerator, 100) ** (rank - 1)

    assert of(formulas.geometric_discount(pl.lit(rank), numerator / 100)) == pytest.approx(
        [float(exact)], rel=1e-12
    )


def test_a_ratio_of_nothing_is_what_stands_for_it():
    part, whole = pl.Series([1, 0, 0, None]), pl.Series([2, 3, 0, 1])

    assert of(formulas.ratio(pl.lit(part), pl.lit(whole))) == [0.5, 0.0, 0.0, None]
    assert of(formulas.ratio(pl.lit(part), pl.lit(whole), empty=None)) == [0.5, 0.0, None, None]
