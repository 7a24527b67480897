"""Suspects of the audit, as loops in Python find them: spellings of one id, rows that share their keys."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.audit.data import sharing
from recframe.ranking.judged_frame import PAIR
from strategies import examples

SPELLINGS = ["a", " a", "a ", "1", "1.0", "+1.0", "+1", " 1.00 ", "1.", ".0", "1.0.0", "10", "x1.0"]


def plain(text: str) -> str:
    """An id without blanks around it, and a whole number without its point and noughts."""
    text = text.strip()
    whole, point, noughts = text.rpartition(".")
    is_whole = whole.removeprefix("+").isdecimal() and point and noughts and not noughts.strip("0")
    return whole if is_whole else text


@examples(25)
@given(
    listed=st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=6),
    judged=st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=6),
)
def test_spellings_of_one_id_are_those_that_are_plain_the_same(
    listed: list[str], judged: list[str]
):
    recs, truth = (
        pl.DataFrame({"user": users, "item": range(len(users)), "rank": 1})
        for users in (listed, judged)
    )

    found = recs.rec(truth=truth.drop("rank")).audit(2).filter(check="id_spellings")

    spelled: dict[str, set[str]] = {}
    for user in listed + judged:
        spelled.setdefault(plain(user), set()).add(user)
    odd = {one for text, ones in spelled.items() if len(ones) > 1 for one in ones - {text}}
    frames = {"recommendations": listed, "truth": judged}
    expected = {name: sum(user in odd for user in users) for name, users in frames.items()}
    assert dict(found.select("frame", "rows").rows()) == {
        name: rows for name, rows in expected.items() if rows
    }


@pytest.mark.parametrize("dtype", [pl.Int64, pl.String, pl.Categorical, pl.Binary])
def test_two_lists_of_a_user_one_far_behind_the_other_are_one(dtype: Any):
    # each of three users has items 0 and 1 at the ranks 1 and 2, and then items 1 and 2
    rows = [
        (user, item + more, item + 1) for more in (0, 1) for user in range(3) for item in (0, 1)
    ]
    frame = pl.DataFrame(rows, ["user", "item", "rank"], orient="row").with_columns(relevance=1)
    frame = frame.with_columns(pl.col("user").cast(pl.String).cast(dtype, strict=False))

    found = frame.rec.audit(2)

    counts = found.select("check", "rows").rows()
    assert {("duplicate_items", 6), ("repeated_ranks", 12)} <= {*counts}


@given(
    pairs=st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), max_size=20),
    dtype=st.sampled_from([pl.Int64, pl.String]),
)
def test_rows_that_share_their_keys_are_those_whose_pair_is_there_twice(
    pairs: list[tuple[int, int]], dtype: Any
):
    schema = {"user": pl.Int64, "item": pl.Int64}
    rows = pl.DataFrame(pairs, schema, orient="row").cast(dtype)

    found = sharing(rows.lazy(), PAIR).collect().cast(pl.Int64)

    assert sorted(found.rows()) == sorted(one for one in pairs if pairs.count(one) > 1)
