"""Numbers beside codes are counted as sets count them, block by block, all at once or sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames import collecting
from recframe.frames.rows import distinct_counts
from recframe.frames.rows.distinct_counts import n_numbers_of_codes
from strategies import examples

N_NUMBERS, N_CODES, CODE = 11, 4, pl.col("code")
Pairs = Sequence[tuple[int, int]]
pairs = st.lists(st.tuples(st.integers(0, N_NUMBERS - 1), st.integers(0, N_CODES - 1)), max_size=40)


def frame(rows: Pairs, dtype: Any = pl.UInt32) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"number": dtype, "code": pl.UInt32}, orient="row")


@examples(90)
@given(
    frames=st.lists(pairs, min_size=1, max_size=2),
    in_order=st.booleans(),
    sizes=st.tuples(*map(st.sampled_from, ([1, 24, 2**24], [0, 2**10], [-1, 10**9]))),
    dtype=st.sampled_from([pl.UInt32, pl.Int8, pl.Int64]),
)
def test_each_number_beside_a_code_is_counted_once(
    frames: list[Pairs],
    in_order: Any,
    sizes: tuple[int, int, int],
    dtype: Any,
):
    block, most, streamed = sizes
    given = [frame(sorted(rows) if in_order else rows, dtype) for rows in frames]
    given = [one.with_columns(pl.col("number").set_sorted()) if in_order else one for one in given]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collecting, "_STREAMED", streamed)
        patch.setattr(distinct_counts, "BLOCK", block)
        # blocks of three numbers
        patch.setattr(distinct_counts, "WORD", 3)
        patch.setattr(distinct_counts, "MOST", most)
        patch.setattr(distinct_counts, "MOST_IN_ORDER", most)
        found = n_numbers_of_codes([(one, CODE) for one in given], N_NUMBERS, N_CODES)

    once = {pair for rows in frames for pair in rows}
    assert found.to_list() == [sum(pair[1] == code for pair in once) for code in range(N_CODES)]


def test_many_numbers_and_codes_take_no_bits():
    numbers = [(2**22, 3), (5, 2), (2**22, 3), (2**22, 2), (7, 1)]
    rows = frame(numbers)

    assert n_numbers_of_codes([(rows, CODE)], 2**22 + 1, N_CODES).to_list() == [0, 1, 2, 1]
    assert n_numbers_of_codes([(rows.clear(), CODE)], 0, N_CODES).to_list() == [0] * N_CODES
