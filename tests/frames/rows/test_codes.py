"""Columns as small codes: one for each combination of what they have, null among it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames.rows.integer_ids import MOST, integer_ids, small_codes
from recframe.frames.rows.integer_keys import READS_BITS
from strategies import examples

pytestmark = pytest.mark.skipif(not READS_BITS, reason="Polars 1 scatters to sorted places alone")
VALUES: dict[Any, list[Any]] = {
    pl.Int8: [-128, 100, 0],  # two columns of these have fewer codes than the most
    pl.Int64: [-(2**63), -(2**63) + 5],
    pl.UInt32: [2**32 - 1, 2**32 - 3],
    pl.Boolean: [True, False],
    pl.String: ["", "a", "é"],
    pl.Categorical: ["b", "a"],
    pl.Enum(["x", "y", "z"]): ["z", "x"],
    pl.Date: [dt.date(1969, 12, 31), dt.date(1970, 1, 2)],
}


@examples(100)
@given(data=st.data())
def test_rows_have_one_code_where_they_have_the_same_in_all_columns(data: st.DataObject):
    dtypes = data.draw(st.lists(st.sampled_from([*VALUES]), min_size=1, max_size=2))
    schema = {f"column {place}": dtype for place, dtype in enumerate(dtypes)}
    row = st.tuples(*(st.sampled_from([None, *VALUES[dtype]]) for dtype in dtypes))
    drawn = data.draw(st.lists(st.lists(row, max_size=8), min_size=1, max_size=2))
    frames = [pl.DataFrame(rows, schema=schema, orient="row") for rows in drawn]

    found = small_codes(frames)

    if any(column.null_count() == len(column) for column in pl.concat(frames)):
        assert found is None
        return
    assert found is not None
    codes, segments = found
    told = dict(zip(segments["code"], segments.drop("code").rows(), strict=True))
    for frame, of_frame in zip(frames, codes, strict=True):
        assert [told[code] for code in of_frame] == frame.rows()
    rows = {row for frame in frames for row in frame.rows()}
    assert len({code for of_frame in codes for code in of_frame}) == len(rows)


@pytest.mark.parametrize(
    "column", [[0, MOST], [0, 2**63 - 1], [0.5, 1.0], [2**64 - 1, 0], [[1], [2]]], ids=str
)
def test_columns_of_many_or_other_values_have_none(column: list[Any]):
    dtype = {2**64 - 1: pl.UInt64}.get(column[0]) if column[1] == 0 else None

    assert small_codes([pl.DataFrame({"column": pl.Series(column, dtype=dtype)})]) is None


IDS: dict[Any, list[Any]] = {
    pl.Int8: [-128, -1, 0, 1, 127],
    pl.Int64: [-(2**63), -3, 0, 2**31, 2**63 - 1],
    pl.UInt64: [0, 1, 2**63, 2**64 - 1],
    pl.String: ["", "a", "b", "é"],
    pl.Date: [dt.date(1969, 12, 31), dt.date(1970, 1, 2)],
    pl.Float64: [0.5, -1.0, 2.0],
}


@examples(110)
@given(data=st.data(), most=st.sampled_from([1, 300, 2**62]))
def test_equal_ids_of_several_columns_have_equal_numbers(data: st.DataObject, most: int):
    dtype = data.draw(st.sampled_from([*IDS]))
    ids = st.lists(st.sampled_from([None, *IDS[dtype]]), max_size=20)
    columns = [
        pl.Series("id", one, dtype=dtype)
        for one in data.draw(st.lists(ids, min_size=1, max_size=3))
    ]

    numbers = integer_ids(columns, most)

    assert [len(one) for one in numbers] == [len(one) for one in columns]
    pairs = {pair for one in zip(columns, numbers, strict=True) for pair in zip(*one, strict=True)}
    named, numbered = {name for name, _ in pairs}, {number for _, number in pairs}
    assert len(pairs) == len(named) == len(numbered)
    assert (None in named) == (None in numbered)
    assert all(0 <= one < max(most, len(named)) for one in numbered - {None})
    assert all(one.dtype == pl.Int64 for one in numbers)
