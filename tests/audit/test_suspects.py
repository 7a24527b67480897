"""Spellings of one id are those that plain Python finds."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

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
