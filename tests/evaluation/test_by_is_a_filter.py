"""What a row of a result by segment is: the same call on filtered frames, worked out by hand; `laws` has the law of it."""

from __future__ import annotations

import polars as pl
import pytest

import recframe as rf
from buckets_of_users import in_buckets

pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")

ITEMS = pl.DataFrame({"item": [1, 2, 3, 4, 5], "kind": ["a", "b", "a", "b", "a"]})


def test_a_row_without_a_week_is_in_the_null_segment_for_hits_and_for_lists():
    recs = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "week": [1, None]})
    truth = pl.DataFrame({"user": [1, 1], "item": [1, 2], "week": [1, 1]})

    found = recs.rec(truth=truth, items=ITEMS).evaluate("recall", "coverage", by="week")

    # in week 1 one of two relevant items is listed; the other row is a list of the null segment, where nobody counts
    assert found.rows() == [(1, 1, 1, 0.5, 0.2), (None, 0, 1, None, 0.2)]


TWO = {
    "recs": pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "score": [2.0, 1.0]}),
    "truth": pl.DataFrame({"user": [1, 1], "item": [1, 2], "event": ["click", "cart"]}),
}


def test_of_what_was_bought_the_whole_list_is_asked():
    found = TWO["recs"].rec(truth=TWO["truth"]).evaluate("mrr", "recall", by="event")

    # the click is at rank 1, the cart at rank 2 of the whole list
    assert found.rows() == [("cart", 1, 0.5, 1.0), ("click", 1, 1.0, 1.0)]


def test_a_plan_by_many_values_scans_each_frame_as_often_as_by_two():
    def scans(n_values: int) -> int:
        number = pl.int_range(3000, eager=True)
        recs = pl.LazyFrame(
            {
                "user": number % 50,
                "item": number,
                "rank": number // 50 + 1,
                "week": number % n_values,
            }
        )
        truth = recs.select("user", "item", "week")
        plan = recs.rec(truth=truth).evaluate("ndcg@10", "recall@10", by="week")
        assert isinstance(plan, pl.LazyFrame)
        assert len(plan.collect()) == n_values
        return plan.explain().count("DF [")

    assert scans(1000) == scans(2)


def test_a_part_of_the_users_shows_every_model_where_another_part_has_its_lists():
    # n has a list in week 2 alone, of one user; whatever part that one is in, n has a row of every week
    recs = pl.DataFrame(
        {"user": [1, 2, 3], "item": 1, "rank": 1, "week": [1, 1, 2], "model": ["m", "m", "n"]}
    )
    truth = pl.DataFrame({"user": [9], "item": [1], "week": [1]})

    rec = recs.rec(truth=truth, model="model", items=ITEMS)
    found = in_buckets(rec, "mrr", "coverage", by="week")

    assert [row[:4] for row in found.rows()] == [
        ("m", 1, 1, 2),
        ("m", 2, 0, 0),
        ("n", 1, 1, 0),
        ("n", 2, 0, 1),
    ]


AGES = pl.DataFrame({"user": [1, 2, 3], "age": [10, 20, 30]})
OF_AGES = {
    "recs": pl.DataFrame({"user": [1, 1, 2, 3], "item": [1, 2, 1, 3], "rank": [1, 2, 1, 1]}),
    "truth": pl.DataFrame({"user": [1, 2, 3], "item": [2, 1, 3]}),
}


def test_a_function_in_python_makes_a_segment():
    age = pl.col("age").map_elements(
        lambda age: "old" if age > 15 else "young", return_dtype=pl.String
    )

    for make in (pl.DataFrame.clone, pl.DataFrame.lazy):
        rec = rf.rec(make(OF_AGES["recs"]), truth=make(OF_AGES["truth"]), users=make(AGES))
        found = pl.LazyFrame.collect(rec.evaluate("mrr", by=age).lazy())
        assert found.rows() == [("old", 2, 1.0), ("young", 1, 0.5)]


@pytest.mark.parametrize("owner", ["users", "items", "truth", "recs"])
def test_a_column_of_python_objects_is_no_segment(owner: str):
    frames = {**OF_AGES, "users": AGES, "items": ITEMS}
    things = pl.Series("thing", [object() for _ in range(len(frames[owner]))], dtype=pl.Object)
    frames[owner] = frames[owner].with_columns(things)
    sides = {name: frame for name, frame in frames.items() if name != "recs"}

    with pytest.raises(
        rf.ColumnError,
        match=r"'thing' of .* holds Python objects, which no frame can join or group",
    ):
        frames["recs"].rec(**sides).mrr(by="thing")


LISTS = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 1], "week": ["z", "a"]})
LIKED = pl.DataFrame({"user": [1, 2, 3], "item": [1, 1, 1], "week": ["z", "a", "q"]})
PARTS = pl.Enum(["z", "a", "q"])


@pytest.mark.parametrize(
    ("lists", "truth"), [(PARTS, pl.String()), (PARTS, pl.Enum(["q", "a", "z"]))]
)
def test_parts_of_two_dtypes_come_back_as_text(lists: pl.DataType, truth: pl.DataType):
    recs = LISTS.with_columns(pl.col("week").cast(lists))

    found = recs.rec(truth=LIKED.with_columns(pl.col("week").cast(truth))).mrr(by="week")

    assert found["week"].to_list() == ["a", "q", "z"]
    assert found["mrr"].to_list() == [1, 0, 1]
