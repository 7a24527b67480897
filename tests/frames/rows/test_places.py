"""Places and ranks in rows that stand list by list, against loops in Python."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames.rows.positions import by_item, spread_ranks, with_places
from strategies import examples

KEYS = ["model", "user"]
SCHEMA = {"model": pl.String, "user": pl.Int64}
# null is a value of a key
lists = st.lists(
    st.tuples(st.sampled_from([None, "m", "n"]), st.sampled_from([None, -1, 0, 7])), max_size=20
)


def runs(rows: list[tuple[Any, ...]]) -> list[tuple[int, int, tuple[Any, ...]]]:
    """Return each row behind the number of its list's first row and its place there."""
    found: list[tuple[int, int, tuple[Any, ...]]] = []
    for _, own in groupby(rows, key=lambda row: row[:2]):
        start = len(found)
        found += [(start, place, row) for place, row in enumerate(own, start=1)]
    return found


@examples(75)
@given(rows=lists, n_keys=st.sampled_from([1, 2]))
def test_places_start_at_one_in_each_list(rows: list[tuple[Any, ...]], n_keys: int):
    rows = [(row[0] if n_keys == 2 else None, row[1]) for row in rows]
    frame = pl.LazyFrame(rows, schema=SCHEMA, orient="row")

    found = with_places(frame, KEYS[-n_keys:]).collect()

    assert found.rows(named=True) == [
        {"start": start, "model": row[0], "user": row[1], "place": place}
        for start, place, row in runs(rows)
    ]


WHOLE = [-3, 1, 1, 1, 2, 3, 5, 2**40, 2**53, 2**62]
BROKEN = [-2.5, 1.0, 1.0, 1.25, 1.5, 2.0, 2.75, 4.0, 1e9]


@examples(110)
@given(data=st.data(), whole=st.booleans())
def test_ranks_are_pushed_at_least_one_apart(data: st.DataObject, whole: bool):  # noqa: FBT001
    rank: Any = st.sampled_from(WHOLE if whole else BROKEN)
    own = st.lists(rank, min_size=1, max_size=8).map(sorted)
    drawn = data.draw(st.lists(own, max_size=5))
    rows = [("m", user, one) for user, ranks in enumerate(drawn) for one in ranks]
    frame = pl.LazyFrame(
        rows, schema={**SCHEMA, "rank": pl.Int64 if whole else pl.Float64}, orient="row"
    )
    expected = []
    for ranks in drawn:
        furthest = -float("inf")
        for one in ranks:
            furthest = max(one, furthest + 1)
            expected.append(float(furthest))

    found = spread_ranks(with_places(frame, KEYS), KEYS, whole=whole).collect()["rank"]

    assert found.dtype == pl.Float64
    assert found.to_list() == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["b", "c", "a"])], ids=str)
def test_items_that_are_text_stand_by_what_they_say(dtype: Any):
    frame = pl.LazyFrame({"item": ["c", "a", "b"]}, schema={"item": dtype})

    assert frame.sort(by_item(frame.collect_schema())).collect()["item"].to_list() == [
        "a",
        "b",
        "c",
    ]
    assert by_item(frame.collect_schema(), ["user", "item"]) == []
