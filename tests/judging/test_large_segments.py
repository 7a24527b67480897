"""Segments of large eager frames, asked whether they never change within a user, give what the lazy plan gives."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from test_large_frames import IDS, METRICS, NUMBER, ORDERS, judged

import recframe as rf
from lanes import crossed, in_turn
from recframe.frames.described import described
from recframe.judging.judged_frame import judge
from recframe.judging.members import members_of_items

POLICIES: list[dict[str, Any]] = [
    {},
    {"universe": "recs"},
    {"universe": "both", "no_relevant": "skip"},
    {"universe": "all"},
    {"relevant_from": "list"},
    {"ties": "optimistic"},
    {"model": "model"},
]
# of the number of a row and its user
COLUMNS: dict[str, pl.Expr] = {
    "of users": NUMBER // 12 % 7,
    "of users, some null": pl.when(NUMBER // 12 % 5 > 0).then(NUMBER // 12 % 7),
    "text of users": pl.format("country {}", NUMBER // 12 % 7).cast(pl.Categorical),
    "of rows": NUMBER % 3,
    "half null": pl.when(NUMBER % 2 == 0).then(NUMBER // 12 % 7),
    "null in one row": pl.when(NUMBER != 4_321).then(NUMBER // 12 % 7),
}


def frame_of(dtype: str, column: str, order: str) -> pl.DataFrame:
    """A judged frame of two models' worth of users, with a segment and a property of users beside it."""
    frame = judged(IDS[dtype], NUMBER).with_row_index("number")
    made = frame.with_columns(
        segment=COLUMNS[column].cast(pl.String),
        week=(NUMBER // 24).cast(pl.Int32).cast(pl.Date).dt.truncate("1mo"),
        model=pl.when(NUMBER % 24 < 12).then(pl.lit("a")).otherwise(pl.lit("b")),
    )
    return ORDERS[order](made.drop("number"))


def check(rec: Any, lazy: Any, by: Any) -> None:
    found = rec.evaluate(*METRICS, k=[3, 10], by=by)
    assert rec._kind.asks is not None
    expected = lazy.evaluate(*METRICS, k=[3, 10], by=by).collect(engine="in-memory")
    assert_frame_equal(found, expected, rel_tol=1e-12)


@pytest.mark.filterwarnings("ignore:by='segment'.*two segments:recframe.RecframeWarning")
@pytest.mark.parametrize(("column", "order", "policies"), crossed([*COLUMNS], [*ORDERS], POLICIES))
def test_by_a_column_of_a_judged_frame(column, order, policies):
    frame = frame_of("Int64", column, order)
    users = frame.select("user").unique().drop_nulls()
    options = policies | ({"users": users} if policies.get("universe") == "all" else {})

    for by in ("segment", ["segment", "week"]):
        check(frame.rec(**options), frame.lazy().rec(**options), by)


@pytest.mark.parametrize("order", ["sorted", "shuffled"])
@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_that_never_changes_within_a_user_is_looked_up_by_the_user(column, order):
    rec = frame_of("Int64", column, order).rec

    (segment,) = described(rec._inputs("segment"), rec._kind.asks).segments

    # a null is a value like others
    assert segment.owner == ("user" if "of users" in column else "row")


@pytest.mark.parametrize(("dtype", "order", "column"), crossed([*IDS], [*ORDERS], [*COLUMNS][:3]))
def test_by_a_column_of_users_of_any_dtype(dtype, order, column):
    frame = frame_of(dtype, column, order)
    several = frame["user"].n_unique() < 1_000
    # users of few ids have several segments, which are then properties of rows
    frame = frame.with_columns(item=pl.int_range(pl.len())) if several else frame

    check(frame.rec, frame.lazy().rec, "segment")


@pytest.mark.parametrize(
    ("has", "column", "order"), crossed(["lists", "truth", "both"], [*COLUMNS], [*ORDERS])
)
def test_by_a_column_of_one_of_two_frames_or_of_both(has, column, order):
    frame = frame_of("Int64", column, order)
    truth = frame.filter(pl.col("relevance") > 0).select("user", "item", "relevance", "segment")
    # of users whom the truth does not have, and the other way round
    recs = frame.filter(pl.col("user").fill_null(1) % 12 > 0).select(
        "user", "item", "rank", "segment", "model"
    )
    truth = truth.filter(pl.col("user").fill_null(1) % 7 > 0)
    recs = recs.drop("segment") if has == "truth" else recs
    truth = truth.drop("segment") if has == "lists" else truth

    for options in ({}, {"universe": "all"}, {"model": "model", "universe": "both"}):
        rec, lazy = recs.rec(truth=truth, **options), recs.lazy().rec(truth=truth.lazy(), **options)
        if column == "of rows" and has != "both" and len(frame.drop_nulls("user")):
            with pytest.raises(rf.DataError, match="two values of this column"):
                rec.evaluate(*METRICS, k=3, by="segment")
        else:
            check(rec, lazy, "segment")


ITEMS = pl.select(number=pl.int_range(15)).select(
    item=NUMBER - 2,
    kind=pl.when(NUMBER % 4 > 0).then(NUMBER % 4).cast(pl.String),
    year=2000 + NUMBER,
)
"""Of some items of the lists nothing is known, and of one of these that there is nothing."""


@pytest.mark.parametrize(("dtype", "are_numbers"), [("Int64", True), ("String", False)])
def test_users_that_are_numbers_are_counted_by_numbers(dtype, are_numbers):
    rec = frame_of(dtype, "of users", "shuffled").rec(items=ITEMS)

    found = members_of_items(judge(rec._inputs("kind")), rec._kind.asks)

    assert (found is not None) == are_numbers


@pytest.mark.parametrize(("order", "policies"), in_turn([*ORDERS, *ORDERS], POLICIES))
@pytest.mark.parametrize("dtype", ["Int64", "negative", "wide", "String", "UInt64"])
def test_by_a_property_of_items(dtype, order, policies):
    frame = frame_of("Int64" if dtype == "UInt64" else dtype, "of users", order)
    items = ITEMS.filter(pl.col("item") < 10)
    if dtype == "UInt64":
        frame, items = (one.with_columns(pl.col("item") * 2**50) for one in (frame, items))
    truth = frame.filter(pl.col("relevance") > 0).select("user", "item", "relevance")
    recs = frame.select("user", "item", "rank", "model")

    for by in ("kind", ["year", "kind"], ["kind", "segment"]):
        given = frame.rec(items=items, **policies)
        check(given, frame.lazy().rec(items=items.lazy(), **policies), by)
        if "segment" not in by:
            held = recs.rec(truth=truth, items=items, **policies)
            check(held, recs.lazy().rec(truth=truth.lazy(), items=items.lazy(), **policies), by)
