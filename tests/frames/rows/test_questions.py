"""Questions to rows give the answers that loops in Python give, whether users are marked as sorted or not."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any, Literal
from unittest import mock

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames.rows import profiling
from recframe.frames.rows.integer_keys import key_hash
from recframe.frames.rows.profiling import (
    are_in_order,
    constant_of,
    merged,
)
from strategies import examples

IDS: dict[Any, list[Any]] = {
    pl.Int8: [-128, -1, 0, 1, 127],
    pl.Int64: [-(2**63), -3, 0, 2**31, 2**63 - 1],
    pl.UInt32: [0, 1, 7, 2**32 - 1],
    pl.UInt64: [0, 1, 2**63, 2**64 - 1],
    pl.String: ["", "a", "b", "é"],
}
NEAR = {
    pl.Int8: [-3, -2, -1, 0, 1],
    pl.Int64: [-2, -1, 0, 1, 2],
    pl.UInt32: [0, 1, 2],
    pl.UInt64: [0, 1, 2],
}
RANKS = [None, 1, 1, 2, 3, 4, 4.5, 5]


@st.composite
def listed(draw: st.DrawFn, *, within: Any = (*IDS,)) -> pl.DataFrame:
    """Rows of users and items with ranks: in any order, or user by user, or sorted and marked so."""
    dtype = draw(st.sampled_from([*within]))
    ids = draw(st.sampled_from([IDS[dtype], NEAR.get(dtype, IDS[dtype])]))
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from(ids), st.integers(1, 4), st.sampled_from(RANKS)), max_size=20
        )
    )
    order = draw(st.sampled_from(["any", "by user", "sorted"]))
    if order != "any":
        rows = sorted(rows, key=lambda row: row[0] if order == "sorted" else str(row[0])[::-1])
    frame = pl.DataFrame(
        rows, schema={"user": dtype, "item": pl.Int64, "rank": pl.Float64}, orient="row"
    )
    return frame.with_columns(pl.col("user").set_sorted()) if order == "sorted" else frame


def ask(questions: list[pl.LazyFrame]) -> list[pl.DataFrame]:
    return pl.collect_all(questions)


@examples(150)
@given(
    frame=listed(),
    key=st.sampled_from(["user", "item"]),
    columns=st.sampled_from([["odd"], ["rank"], ["odd", "rank"]]),
    look=st.sampled_from([2, 50_000]),
)
def test_what_never_changes_within_a_user_or_an_item_is_told_from_what_does(
    frame: pl.DataFrame, key: Literal["user", "item"], columns: list[str], look: int
):
    # whether a user is an odd one is a property of the user; null is a value like others
    odd = pl.col(key).cast(pl.String).str.len_bytes() % 2 == 1
    rows = frame.with_columns(odd=pl.when(odd).then(pl.lit("odd"))).select(key, *columns)

    with mock.patch.object(profiling, "_A_LOOK", look):
        found = constant_of(key, rows)

    expected = set(rows.rows())
    is_constant = len(expected) == rows[key].n_unique()
    assert (found is not None) == is_constant
    assert found is None or (sorted(map(str, found.rows())) == sorted(map(str, expected)))


@examples(110)
@given(frame=listed(), hashes=st.sampled_from([2**64, 2, 1]))
def test_rows_of_one_item_of_a_list_are_merged(frame: pl.DataFrame, hashes: int):
    def few_hashes(keys: Any, schema: Any) -> pl.Expr:
        return key_hash(keys, schema).cast(pl.Int128).abs() % hashes

    # of few, other pairs share it
    with mock.patch.object(profiling, "key_hash", few_hashes):
        found = merged(frame, ["user"], ask).select(frame.columns)

    best: dict[tuple[Any, Any], Any] = {}
    for user, item, rank in frame.rows():
        ranks = [one for one in (rank, best.get((user, item))) if one is not None]
        best[user, item] = min(ranks, default=None)
    assert {(user, item): rank for user, item, rank in found.rows()} == best
    assert len(found) == len(best)
    users = found["user"].to_list()
    assert users == sorted(users) or not frame["user"].flags["SORTED_ASC"]


@examples(110)
@given(frame=listed())
def test_lists_are_in_order_where_ranks_are_one_apart_and_missing_ones_last(frame: pl.DataFrame):
    expected = bool(frame["user"].flags["SORTED_ASC"])
    for _, own in groupby(frame.rows(), key=lambda row: row[0]):
        ranks = [rank for _, _, rank in own]
        there = [rank for rank in ranks if rank is not None]
        last = ranks[len(there) :] == [None] * (len(ranks) - len(there))
        expected = expected and last and all(b - a >= 1 for a, b in pairwise(there))

    (found,) = ask([are_in_order(frame, ["user"])])

    assert found.item() is expected
