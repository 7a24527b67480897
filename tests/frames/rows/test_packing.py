"""Rows of the same keys are told from others whose packed number is the same, at both ends of every dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames.rows.joins import alike_as_one
from strategies import examples

BOUNDS = {
    **{
        dtype: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        for dtype, bits in ((pl.Int8, 8), (pl.Int16, 16), (pl.Int32, 32))
    },
    **{dtype: (0, 2**bits - 1) for dtype, bits in ((pl.UInt8, 8), (pl.UInt16, 16), (pl.UInt32, 32), (pl.UInt64, 64))},
    pl.Int64: (-(2**63), 2**63 - 1),
}  # fmt: skip
EDGES = [0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, -1, -(2**31), -(2**32), -(2**63)]


def values_of(dtype: Any) -> st.SearchStrategy[int]:
    """Values of a dtype: those at its ends, around the ends of others, and any."""
    low, high = BOUNDS[dtype]
    edges = [*{low, low + 1, high - 1, high, *(edge for edge in EDGES if low <= edge <= high)}]
    return st.sampled_from(sorted(edges)) | st.integers(low, high)


@st.composite
def keyed(draw: st.DrawFn, dtypes: Sequence[Any]) -> pl.DataFrame:
    """Rows of a few keys, which repeat, each with a gain."""
    few = [draw(st.lists(values_of(dtype), min_size=1, max_size=4)) for dtype in dtypes]
    row = st.tuples(*map(st.sampled_from, few), st.sampled_from([0.25, 1.0, 2.0]))
    schema = {**{f"key {n}": dtype for n, dtype in enumerate(dtypes)}, "gain": pl.Float64}
    return pl.DataFrame(draw(st.lists(row, max_size=30)), schema=schema, orient="row")


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
    plan = alike_as_one(frame.lazy(), frame.columns[:-1], frame.schema, values, few=few)
    found = plan.collect(engine=engine)

    assert found.schema == frame.schema
    assert sorted(found.rows()) == sorted((*key, gain) for key, gain in highest.items())
