"""Numbers beside codes are counted as sets count them, by bits or as pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest import mock

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames.rows import integer_ids
from recframe.frames.rows.integer_ids import n_numbers_of_codes
from strategies import examples

N_NUMBERS, N_CODES = 11, 4
Pairs = Sequence[tuple[int, int]]
pairs = st.lists(st.tuples(st.integers(0, N_NUMBERS - 1), st.integers(0, N_CODES - 1)), max_size=40)


def frame(rows: Pairs, dtype: Any = pl.UInt32) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"number": dtype, "code": pl.UInt32}, orient="row")


@examples(90)
@given(
    frames=st.lists(pairs, min_size=1, max_size=2),
    most=st.sampled_from([0, 2**10]),
    dtype=st.sampled_from([pl.UInt32, pl.Int8, pl.Int64]),
    in_order=st.booleans(),
)
def test_each_number_beside_a_code_is_counted_once(
    frames: list[Pairs], most: int, dtype: Any, *, in_order: bool
):
    frames = [sorted(rows) for rows in frames] if in_order else frames
    with mock.patch.object(integer_ids, "MOST_BITS", most):
        found = n_numbers_of_codes([frame(rows, dtype) for rows in frames], N_NUMBERS, N_CODES)

    once = {pair for rows in frames for pair in rows}
    assert found.to_list() == [sum(pair[1] == code for pair in once) for code in range(N_CODES)]


@pytest.mark.parametrize("highest", [2**22, 2**40])
def test_many_numbers_and_codes_take_no_bits(highest: int):
    numbers = [(highest, 3), (5, 2), (highest, 3), (highest, 2), (7, 1)]
    rows = frame(numbers, pl.Int64)

    assert n_numbers_of_codes([rows], highest + 1, N_CODES).to_list() == [0, 1, 2, 1]
    assert n_numbers_of_codes([rows.clear()], 0, N_CODES).to_list() == [0] * N_CODES
