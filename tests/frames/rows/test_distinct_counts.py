"""Numbers beside codes are counted as sets count them, block by block, all at once or sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames.rows import distinct_counts
from recframe.frames.rows.distinct_counts import n_numbers_of_codes
from strategies import examples

N_NUMBERS, N_CODES = 11, 4
Pairs = Sequence[tuple[int, int]]
pairs = st.lists(st.tuples(st.integers(0, N_NUMBERS - 1), st.integers(0, N_CODES - 1)), max_size=40)


def frame(rows: Pairs) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"number": pl.UInt32, "code": pl.UInt32}, orient="row")


@examples(90)
@given(
    frames=st.lists(pairs, min_size=1, max_size=2),
    in_order=st.booleans(),
    block=st.sampled_from([1, 12, 2**24]),
    most=st.sampled_from([0, 2**10]),
)
def test_each_number_beside_a_code_is_counted_once(
    frames: list[Pairs], in_order: Any, block: int, most: int
):
    given = [frame(sorted(rows) if in_order else rows) for rows in frames]
    given = [one.with_columns(pl.col("number").set_sorted()) if in_order else one for one in given]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct_counts, "BLOCK", block)
        patch.setattr(distinct_counts, "MOST", most)
        patch.setattr(distinct_counts, "MOST_IN_ORDER", most)
        found = n_numbers_of_codes(given, N_NUMBERS, N_CODES)

    once = {pair for rows in frames for pair in rows}
    assert found.to_list() == [sum(pair[1] == code for pair in once) for code in range(N_CODES)]


def test_many_numbers_and_codes_take_no_bits():
    rows = frame([(2**31, 3), (5, 2), (2**31, 3), (2**31, 2)])

    assert n_numbers_of_codes([rows], 2**31 + 1, N_CODES).to_list() == [0, 0, 2, 1]
    assert n_numbers_of_codes([rows.clear()], 0, N_CODES).to_list() == [0] * N_CODES
