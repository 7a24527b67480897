"""Numbers beside codes are counted as sets count them, block by block or all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plans import POLARS_2
from recframe.frames.rows import tallies
from recframe.frames.rows.tallies import n_numbers_of_codes
from strategies import examples

pytestmark = pytest.mark.skipif(not POLARS_2, reason="Polars 1 scatters to sorted places alone")

N_NUMBERS, N_CODES = 11, 4
Pairs = Sequence[tuple[int, int]]
pairs = st.lists(st.tuples(st.integers(0, N_NUMBERS - 1), st.integers(0, N_CODES - 1)), max_size=40)


def frame(rows: Pairs) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"number": pl.UInt32, "code": pl.UInt32}, orient="row")


@examples(60)
@given(first=pairs, second=pairs, in_order=st.booleans(), block=st.sampled_from([1, 12, 2**24]))
def test_each_number_beside_a_code_is_counted_once(
    first: Pairs, second: Pairs, in_order: Any, block: int
):
    given = [frame(sorted(rows) if in_order else rows) for rows in (first, second)]
    given = [one.with_columns(pl.col("number").set_sorted()) if in_order else one for one in given]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tallies, "BLOCK", block)
        patch.setattr(tallies, "MOST", 2**10)
        patch.setattr(tallies, "MARKS", 2**10)
        found = n_numbers_of_codes(given, N_NUMBERS, N_CODES)

    expected = [len({pair for pair in [*first, *second] if pair[1] == code}) for code in range(4)]
    if first or second:
        assert found is not None
        assert found.to_list() == expected


def test_more_bits_than_a_few_for_each_row_are_too_many():
    rows = frame([(0, 0), (1, 2)])

    assert n_numbers_of_codes([rows], 2, 64) is not None
    assert n_numbers_of_codes([rows], 2, 65) is None
    in_order = rows.with_columns(pl.col("number").set_sorted())
    assert n_numbers_of_codes([in_order], 2, 256) is not None
    assert n_numbers_of_codes([in_order], 2, 257) is None
