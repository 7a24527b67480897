"""Distinct numbers of codes are those of sets: by bits of one block or several, or without bits that would be too many."""

from __future__ import annotations

from unittest.mock import patch

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames.rows import integer_ids

PAIRS = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 3)))


@given(pairs=PAIRS, step=st.sampled_from([1, 2**22, 2**40]), order=st.sampled_from([list, sorted]))
def test_distinct_numbers_of_codes_are_those_of_sets(pairs, step, order):
    rows = [(number * step, code) for number, code in order(pairs)]
    frame = pl.DataFrame(rows, schema={"number": pl.Int64, "code": pl.UInt32}, orient="row")
    n_numbers = max((number + 1 for number, _ in rows), default=0)

    with patch.object(integer_ids, "BLOCK_BITS", 40):
        counts = integer_ids.n_numbers_of_codes(frame, n_numbers, 4)

    distinct = [code for _, code in {*rows}]
    assert counts.to_list() == [*map(distinct.count, range(4))]
