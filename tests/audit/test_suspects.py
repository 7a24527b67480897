"""Suspects of the audit, as loops in Python find them: spellings of one id, rows that share their keys."""

from __future__ import annotations

from typing import Any

import polars as pl
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
