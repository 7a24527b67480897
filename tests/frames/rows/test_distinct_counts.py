"""Numbers beside codes are counted as sets count them, where bits would be too many."""

from __future__ import annotations

import polars as pl
import pytest

from recframe.frames.rows.integer_ids import n_numbers_of_codes

N_CODES = 4


@pytest.mark.parametrize("highest", [2**22, 2**40])
def test_many_numbers_and_codes_take_no_bits(highest: int):
    numbers = [(highest, 3), (5, 2), (highest, 3), (highest, 2), (7, 1), (9, 3)]
    rows = pl.DataFrame(numbers, schema={"number": pl.Int64, "code": pl.UInt32}, orient="row")

    assert n_numbers_of_codes(rows, highest + 1, N_CODES).to_list() == [0, 1, 2, 2]
    assert n_numbers_of_codes(rows.clear(), 0, N_CODES).to_list() == [0] * N_CODES
