"""Keys of splits, against a published table and splitmix64 in plain Python."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain_keys import plain_key, splitmix64
from recframe.splits.hashing import hashed

TABLE: tuple[tuple[tuple[Any, ...], int], ...] = (
    ((0, 0), 12035550249420947055), ((0, 1), 627405149472732430), ((0, 2), 15549969042648332857),
    ((0, -1), 3303439293501059696), ((0, -2), 6627705640473728809), ((0, 255), 16895938656028170725),
    ((0, 2147483647), 8699518541604152746), ((0, -2147483648), 16376259599296046686),
    ((0, 9223372036854775807), 14389535693014737104), ((0, -9223372036854775808), 6018453421592093069),
    ((0, 1234567), 5398692458740779334), ((1, 0), 6791897765849424158), ((1, 1), 16860738450190168606),
    ((-1, 0), 6755974106381971767), ((42, 7), 1587005860896957696), ((18446744073709551615, 0), 6755974106381971767),
    ((0, ""), 12035550249420947055), ((0, "a"), 17106707319094771287), ((0, "b"), 5904214103699673091),
    ((0, "ab"), 15758212018053844182), ((0, "abcdefg"), 15369711519711620695),
    ((0, "abcdefgh"), 12579710754155495290), ((0, "abcdefghi"), 52576787014353247), ((0, "é"), 1421047335651848465),
    ((0, "日本"), 18235698286829364795), ((0, "user-0000001"), 16315045670673806897),
    ((0, "u" * 41), 4311819236767340317), ((0, "u" * 63), 5286254617220463855), ((0, "u" * 64), 8604292270631199031),
    ((0, "u" * 65), 11952143774884725132), ((0, "u" * 200), 17939696799626201945),
    ((0, "ä" * 100), 233844759788680005), ((42, "a"), 18132447505475986118), ((0, None), 6018453421592093069),
    ((0, 1, 2), 6768782832058643234), ((0, 2, 1), 5890467614480005915), ((0, "a", "b"), 5723372712367785798),
    ((0, "ab", ""), 4528079921225162605), ((0, "", "ab"), 6692103629201173565), ((7, "user", 3), 3233155749945551623),
)  # fmt: skip
"""Seed and ids, and their key: by NumPy's UInt64, from the definition. Another engine can check itself by it."""
AWARE = datetime(2024, 3, 31, 12, tzinfo=timezone(timedelta(hours=2)))
texts = st.one_of(
    st.none(), st.text(max_size=30), st.text("aé日", min_size=15, max_size=90), st.just("x" * 64)
)


def keys_of(seed: int, columns: dict[str, Any], *, at_hand: bool = False) -> list[int]:
    """Return the keys of rows with some columns."""
    rows = pl.DataFrame(columns).lazy()
    return hashed(rows, list(columns), "key", seed=seed, at_hand=at_hand).collect()["key"].to_list()


@pytest.mark.parametrize(("words", "key"), TABLE, ids=str)
def test_keys_are_those_of_the_published_table(words, key):
    seed, *ids = words

    assert plain_key(*words) == key
    assert keys_of(seed, {f"id {place}": [one] for place, one in enumerate(ids)}) == [key]


def test_the_generator_is_the_published_one():
    state, numbers = 1234567, []
    for _ in range(3):
        numbers.append(splitmix64(state))
        state += 0x9E3779B97F4A7C15

    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=8), st.integers(-(2**63), 2**64 - 1))
def test_keys_of_text_are_their_definition(rows, seed):
    columns = {"u": [one for one, _ in rows], "i": [other for _, other in rows]}
    columns = {name: pl.Series(values, dtype=pl.String) for name, values in columns.items()}
    expected = [plain_key(seed, *row) for row in rows]

    assert keys_of(seed, columns) == expected
    assert keys_of(seed, columns, at_hand=True) == expected
    lazy = hashed(pl.LazyFrame(columns), ["u", "i"], "key", seed=seed)
    assert lazy.collect(engine="streaming")["key"].to_list() == expected


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.UInt16, pl.Int32, pl.UInt64, pl.Int64, pl.Float32, pl.Float64]
)
def test_the_width_of_numbers_changes_no_key(dtype):
    ids = (0, 1, 100, None) if dtype.is_unsigned_integer() else (0, 1, -100, None)

    assert keys_of(3, {"u": pl.Series(ids, dtype=dtype)}) == [plain_key(3, one) for one in ids]


NAIVE = datetime(2024, 3, 1, 7, 30)  # noqa: DTZ001  as logs mostly are
OF_OTHERS = [
    (pl.Series([date(1969, 12, 1), date(2024, 5, 1)]), [date(1969, 12, 1), date(2024, 5, 1)]),
    (pl.Series([True, False]), [1, 0]),
    (pl.Series([-0.0, float("nan")]), [0, None]),
    *((pl.Series([NAIVE, None], dtype=pl.Datetime(unit)), [NAIVE, None]) for unit in ("ms", "us", "ns")),
    (pl.Series([AWARE]).dt.convert_time_zone("Asia/Tokyo"), [AWARE]),
    *((pl.Series(["a", "é" * 40, None, "x"], dtype=dtype), ["a", "é" * 40, None, "x"])
      for dtype in (pl.Categorical, pl.Enum(["x", "a", "é" * 40]))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ids", "words"), OF_OTHERS, ids=lambda one: str(getattr(one, "dtype", ""))
)
def test_keys_of_other_ids_are_those_of_their_words(ids, words):
    assert keys_of(0, {"u": ids}, at_hand=True) == [plain_key(0, one) for one in words]


def test_keys_of_no_rows():
    rows = pl.LazyFrame(schema={"u": pl.String, "i": pl.Float64})

    for at_hand in (False, True):
        found = hashed(rows, ["u", "i"], "key", at_hand=at_hand).collect(engine="streaming")
        assert found.schema == {"u": pl.String, "i": pl.Float64, "key": pl.UInt64}
