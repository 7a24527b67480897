"""Packed numbers say what their keys and gains say: the same order, the same pairs, at both ends of every dtype."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames.rows.integer_keys import (
    SMALL_INTEGERS,
    alike_as_one,
    fits_31_bits,
    fits_64_bits,
    joined_as_numbers,
    key_hash,
)
from recframe.frames.rows.positions import best_first
from strategies import examples

BOUNDS = {
    **{
        dtype: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        for dtype, bits in ((pl.Int8, 8), (pl.Int16, 16), (pl.Int32, 32))
    },
    **{
        dtype: (0, 2**bits - 1)
        for dtype, bits in ((pl.UInt8, 8), (pl.UInt16, 16), (pl.UInt32, 32), (pl.UInt64, 64))
    },
    pl.Int64: (-(2**63), 2**63 - 1),
}
EDGES = [0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, -1, -(2**31), -(2**32), -(2**63)]
GAINS = [
    5e-324,
    0.25,
    0.5,
    1.0,
    1.5,
    2.0,
    2.0**32 - 1,
    2.0**32,
    2.0**53,
    1.7976931348623157e308,
    float("inf"),
]
small_dtypes = st.sampled_from(sorted(SMALL_INTEGERS, key=str))


def values_of(dtype: Any) -> st.SearchStrategy[int]:
    """Values of a dtype: those at its ends, around the ends of others, and any."""
    low, high = BOUNDS[dtype]
    edges = [*{low, low + 1, high - 1, high, *(edge for edge in EDGES if low <= edge <= high)}]
    return st.sampled_from(sorted(edges)) | st.integers(low, high)


@st.composite
def keyed(
    draw: st.DrawFn, dtypes: Sequence[Any], *, gains: Sequence[float] = GAINS
) -> pl.DataFrame:
    """Rows of a few keys, which repeat, each with a gain."""
    few = [draw(st.lists(values_of(dtype), min_size=1, max_size=4)) for dtype in dtypes]
    rows = draw(
        st.lists(
            st.tuples(*(st.sampled_from(some) for some in few), st.sampled_from(gains)), max_size=30
        )
    )
    schema = {**{f"key {n}": dtype for n, dtype in enumerate(dtypes)}, "gain": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def keys_of(frame: pl.DataFrame) -> list[str]:
    return [name for name in frame.columns if name.startswith("key")]


@examples(75)
@given(data=st.data(), few=st.booleans(), engine=st.sampled_from(["in-memory", "streaming"]))
def test_rows_of_the_same_keys_are_one_though_others_share_their_number(
    data: st.DataObject,
    few: bool,  # noqa: FBT001
    engine: Any,
):
    dtypes = data.draw(st.lists(st.sampled_from([*BOUNDS]), min_size=2, max_size=3))
    frame = data.draw(keyed(dtypes))
    if data.draw(st.booleans()):  # 0 and 2**32 have the number of 1 and 0
        pairs = st.lists(st.sampled_from([(0, 2**32, 1.0), (1, 0, 2.0), (1, 0, 3.0)]), max_size=6)
        schema = {"key 0": pl.Int64, "key 1": pl.Int64, "gain": pl.Float64}
        frame = pl.DataFrame(data.draw(pairs), schema=schema, orient="row")
    highest: dict[tuple[int, ...], float] = {}
    for *key, gain in frame.rows():
        highest[tuple(key)] = max(gain, highest.get(tuple(key), gain))

    values = [pl.col("gain").max()]
    plan = alike_as_one(frame.lazy(), keys_of(frame), frame.schema, values, few=few)
    found = plan.collect(engine=engine)

    assert found.schema == frame.schema
    assert sorted(found.rows()) == sorted((*key, gain) for key, gain in highest.items())


@examples(110)
@given(data=st.data())
def test_the_best_gain_of_a_list_comes_first(data: st.DataObject):
    narrow = data.draw(st.booleans())
    dtypes = data.draw(st.lists(st.sampled_from([*BOUNDS]), min_size=1, max_size=2))
    if narrow:  # what fits_64_bits is true of
        low = st.sampled_from([0, 1, 2**31 - 1])
        frame = data.draw(
            st.lists(
                st.tuples(low, st.sampled_from([1.0, 2.0, 5.0, 2.0**32 - 1])),
                min_size=1,
                max_size=30,
            ).map(
                lambda rows: pl.DataFrame(
                    rows, schema={"key 0": pl.Int64, "gain": pl.Float64}, orient="row"
                )
            )
        )
        assert fits_64_bits(frame["key 0"], frame["gain"])
    else:
        frame = data.draw(keyed(dtypes))
    keys = keys_of(frame)

    found = best_first(frame.lazy(), keys, frame.schema[keys[-1]], "gain", narrow=narrow).collect()

    assert found.schema == frame.schema
    assert found.rows() == sorted(frame.rows(), key=lambda row: (*row[:-1], -row[-1]))


@examples(75)
@given(data=st.data())
def test_rows_are_joined_as_by_their_two_keys(data: st.DataObject):
    ends = st.sampled_from([0, 1, 2, 127, 2**31 - 2, 2**31 - 1])
    others = pl.DataFrame(
        [
            (*pair, n)
            for n, pair in enumerate(
                data.draw(st.lists(st.tuples(ends, ends), max_size=12, unique=True))
            )
        ],
        schema={"key 0": pl.Int64, "key 1": pl.Int64, "number": pl.Int64},
        orient="row",
    )
    rows = data.draw(
        keyed(
            data.draw(
                st.lists(st.sampled_from([pl.Int32, pl.Int64, pl.UInt32]), min_size=2, max_size=2)
            )
        )
    )
    rows = rows.with_columns(pl.when(pl.col("gain") != 2).then("key 0"))  # and some without a key
    known = {row[:2]: row[2] for row in others.rows()}

    found = {
        how: joined_as_numbers(rows.lazy(), others.lazy(), keys_of(rows), how).collect()
        for how in ("left", "inner")
    }

    left = sorted([(*row, known.get(row[:2])) for row in rows.rows()], key=str)
    assert sorted(found["left"].select(*rows.columns, "number").rows(), key=str) == left
    assert sorted(found["inner"].select(*rows.columns, "number").rows(), key=str) == [
        row for row in left if row[-1] is not None
    ]


@pytest.mark.parametrize("dtype", [*BOUNDS], ids=str)
def test_narrow_is_what_fits_into_half_a_number(dtype: Any):
    low, high = BOUNDS[dtype]
    for key, gain in product({low, high, *(edge for edge in EDGES if low <= edge <= high)}, GAINS):
        frame = pl.DataFrame(
            {"key": pl.Series([1, key], dtype=dtype), "gain": pl.Series([1.0, gain])}
        )
        fits, whole = 0 <= key < 2**31, gain in {1.0, 2.0, 2.0**32 - 1}

        assert fits_31_bits(frame, ["key"]) is fits
        assert fits_64_bits(frame["key"], frame["gain"]) is (
            fits and whole and dtype.is_signed_integer()
        )


@examples(75)
@given(data=st.data())
def test_the_same_keys_have_the_same_number_and_narrow_pairs_one_of_their_own(data: st.DataObject):
    frame = data.draw(keyed(data.draw(st.lists(small_dtypes, min_size=2, max_size=3))))
    keys = keys_of(frame)

    numbers = (
        frame.select(key_hash([pl.col(key) for key in keys], frame.schema)).to_series().to_list()
    )

    of_keys = dict(zip((row[:-1] for row in frame.rows()), numbers, strict=True))
    assert numbers == [of_keys[row[:-1]] for row in frame.rows()]
    if len(keys) == 2 and fits_31_bits(frame, keys):
        assert len(set(of_keys.values())) == len(of_keys)


@pytest.mark.parametrize("dtype", [pl.String, pl.Float64, pl.Boolean], ids=str)
def test_what_is_no_whole_number_is_not_narrow(dtype: Any):
    keys = pl.Series("key", [0, 1]).cast(dtype)

    assert not fits_31_bits(keys.to_frame(), ["key"])
    assert not fits_64_bits(keys, pl.Series([1.0, 1.0]))
