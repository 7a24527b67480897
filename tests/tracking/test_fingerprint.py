"""The fingerprint of data: the same for rows that say the same, and another for any other."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from own_python import printed

RECS = pl.DataFrame(
    {
        "user": [1, 1, 2, 3, 3],
        "item": [10, 11, 10, 12, 11],
        "rank": [1, 2, 1, 1, None],
        "model": ["a", "a", "a", "b", "b"],
    }
)
TRUTH = pl.DataFrame({"user": [1, 2, 2], "item": [11, 10, 12]})
USERS = pl.DataFrame({"user": [1, 2, 3], "country": ["FR", "DE", None], "age": [20, 30, 40]})


def of(recs=RECS, truth=TRUTH, by=None, **bound):
    return rf.rec(recs, truth=truth, **bound).fingerprint(by=by)


def test_every_kind_of_frame_has_the_same(kind):
    found = of(kind(RECS), kind(TRUTH), model="model", users=kind(USERS), by="country")

    assert re.fullmatch("[0-9a-f]{16}", found)
    assert found == of(model="model", users=USERS, by="country")


@given(st.permutations(range(5)), st.permutations(range(3)))
def test_the_order_of_rows_changes_nothing(of_recs, of_truth):
    assert of(RECS[list(of_recs)], TRUTH[list(of_truth)]) == of()


@pytest.mark.parametrize("dtype", [pl.Int32, pl.UInt16, pl.Int8])
def test_the_width_of_numbers_changes_nothing(dtype):
    recs = RECS.with_columns(pl.col("user", "item").cast(dtype), pl.col("rank").cast(pl.Float32))

    assert of(recs, TRUTH.with_columns(pl.col("user", "item").cast(dtype))) == of()


def test_categories_are_their_text():
    text = RECS.with_columns(pl.col("item").cast(pl.String))
    truth = TRUTH.with_columns(pl.col("item").cast(pl.String))
    for dtype in (pl.Categorical, pl.Enum(["12", "11", "10"])):
        assert of(text.with_columns(pl.col("item").cast(dtype)), truth) == of(text, truth)


@pytest.mark.parametrize("height", [20_001, 2_000_001])
def test_large_frames_of_any_kind_and_order_have_the_same(height):
    rows = pl.select(user=pl.int_range(height) // 5, item=pl.int_range(height) * 7 % 1009)
    rows = rows.with_columns(rank=pl.int_range(height) % 5 + 1)
    truth = rows.gather_every(3).select("user", "item")

    assert of(rows, truth) == of(rows.lazy(), truth.reverse()) == of(rows.reverse(), truth.lazy())
    assert of(rows, truth) != of(rows[:-1], truth)


OTHER = {
    "a row more": (RECS.vstack(RECS[:1]), TRUTH),
    "a row less": (RECS[1:], TRUTH),
    "another rank": (RECS.with_columns(rank=pl.col("rank") + 1), TRUTH),
    "items among users": (RECS.with_columns(item=pl.col("item").reverse()), TRUTH),
    "users and items the other way round": (RECS.rename({"user": "item", "item": "user"}), TRUTH),
    "another truth": (RECS, TRUTH[:2]),
    "a graded truth": (RECS, TRUTH.with_columns(relevance=pl.Series([1, 2, 1]))),
    "no row": (RECS[:0], TRUTH),
}


@pytest.mark.parametrize("name", OTHER)
def test_other_data_have_another(name):
    everything = {of(*frames) for frames in OTHER.values()} | {of()}

    assert len(everything) == len(OTHER) + 1
    assert of(*OTHER[name]) != of()


def test_what_no_call_reads_changes_nothing_and_side_frames_and_what_it_is_split_by_do():
    older, train = USERS.with_columns(age=pl.col("age") + 1), TRUTH.reverse()
    sides = [{}, {"train": train}, {"train": train[:1]}, {"reference": train.with_columns(rank=1)}]

    assert of(RECS.with_columns(note=pl.lit("x")), TRUTH.with_columns(when=1)) == of()
    assert of(users=USERS) == of(users=older)
    assert of(users=USERS, by="age") != of(users=older, by="age")
    assert of(truth=TRUTH.with_columns(relevance=1.0)) == of()
    assert of(universe="all", no_relevant="skip", decimals=2) == of()
    assert len({of(**one) for one in sides}) == len(sides)
    assert of(model="model", reference="a") != of(model="model", reference="b")


def test_another_process_finds_the_same():
    code = """
import polars as pl, recframe as rf
df = pl.DataFrame({"user": ["ann", "bob"], "item": [1, 2], "rank": [1, 2], "relevance": [1.0, 0.5]})
print(df.rec.fingerprint())
"""

    assert printed(code) == printed(code)
