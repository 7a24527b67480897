"""What a row of a result by segment is: the same call on filtered frames, worked out by hand; `laws` has the law of it."""

from __future__ import annotations

import polars as pl
import pytest

import recframe as rf
from buckets_of_users import in_buckets

pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")

ITEMS = pl.DataFrame({"item": [1, 2, 3, 4, 5], "kind": ["a", "b", "a", "b", "a"]})


def test_scores_are_ranked_within_each_part():
    # week 1: a before b; week 2: c before a. Over both weeks a would be first, c second: mrr .5, .333
    recs = pl.DataFrame(
        {"user": [1] * 4, "item": list("abca"), "score": [0.9, 0.5, 0.8, 0.1], "week": [1, 1, 2, 2]}
    )
    truth = pl.DataFrame({"user": [1, 1], "item": ["b", "c"], "week": [1, 2]})

    assert recs.rec(truth=truth).mrr(by="week").rows() == [(1, 1, 0.5), (2, 1, 1.0)]


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


@pytest.mark.parametrize(
    ("options", "by", "metric", "said"),
    [
        ({}, "event", "personalization", "column of the truth alone, and personalization reads whole lists.*users="),
        ({"universe": "all"}, "event", "mrr", "universe='all'.*give the lists the column"),
        ({}, "rank", "mrr", "is the rank, whose values are not segments"),
        ({}, "score", "mrr", "is the score, whose values are not segments"),
        ({}, pl.struct("user", "item").rank().alias("place"), "mrr", "reads other rows than its own"),
        ({}, (pl.struct("user", "item").rank() // 2).alias("place"), "mrr", "reads other rows than its own"),
    ],
)  # fmt: skip
def test_a_column_that_cannot_cut_says_what_to_do(options, by, metric, said):
    with pytest.raises(rf.ColumnError, match=said):
        TWO["recs"].rec(truth=TWO["truth"], **options).evaluate(metric, by=by)


def test_of_what_was_bought_the_whole_list_is_asked():
    found = TWO["recs"].rec(truth=TWO["truth"]).evaluate("mrr", "recall", by="event")

    # the click is at rank 1, the cart at rank 2 of the whole list
    assert found.rows() == [("cart", 1, 0.5, 1.0), ("click", 1, 1.0, 1.0)]


def test_an_expression_of_the_items_id_is_a_property_of_items():
    # item 2 is at rank 2 of the whole list, though the first of the even ones
    recs = TWO["recs"].drop("rank").rename({"item": "movie"})
    rec = recs.rec(truth=TWO["truth"].rename({"item": "movie"}), item="movie")

    found = rec.mrr(by=(pl.col("movie") % 2 == 0).alias("even"))

    assert found.rows() == [(False, 1, 1.0), (True, 1, 0.5)]


def test_the_tail_of_a_part_is_that_of_its_own_items():
    # items 1, 3 and 5 of kind a: 3 and 5 are in no train, and 1 is the most popular of the part. Of b, 2 and 4 alike
    train = pl.DataFrame({"user": [1, 2, 3, 1], "item": [1, 1, 2, 4]})
    recs = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3]})
    rec = recs.rec(truth=recs, items=ITEMS, train=train)

    found = rec.evaluate("long_tail_share(tail=items,share=0.5)", by="kind")

    # the rear half, rounded down: of a the one item 3, one of two listed; of b the one item 2, all that is listed
    assert found.rows() == [("a", 1, 1, 0.5), ("b", 1, 1, 1.0)]


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


def test_an_expression_of_the_users_id_is_a_property_of_users():
    # user 4 of the users frame has no row elsewhere, and stands in the part of even ones alone
    rec = TWO["recs"].rec(truth=TWO["truth"], users=pl.DataFrame({"user": [4]}), universe="all")

    found = rec.recall(by=(pl.col("user") % 2 == 0).alias("even"))

    assert found.rows() == [(False, 1, 1.0), (True, 1, 0.0)]


def test_the_catalogue_is_cut_by_an_expression_of_the_items_id():
    # items 1 and 2 are listed: of the odd 1, 3, 5 one in three, of the even 2, 4 one in two
    rec = TWO["recs"].rec(truth=TWO["truth"], items=ITEMS)

    found = rec.coverage(by=(pl.col("item") % 2).alias("odd"))

    assert found.rows() == [(0, 1, 1, 0.5), (1, 1, 1, pytest.approx(1 / 3))]


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
        rf.ColumnError, match=r"'thing' of .* holds Python objects, which no frame can group"
    ):
        frames["recs"].rec(**sides).mrr(by="thing")


LISTS = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 1], "week": ["z", "a"]})
LIKED = pl.DataFrame({"user": [1, 2, 3], "item": [1, 1, 1], "week": ["z", "a", "q"]})
PARTS = pl.Enum(["z", "a", "q"])


@pytest.mark.parametrize(
    ("lists", "truth"),
    [(PARTS, pl.String()), (PARTS, pl.Enum(["q", "a", "z"])), (pl.String(), PARTS)],
)
def test_parts_come_back_in_the_dtype_and_the_order_of_the_lists(
    lists: pl.DataType, truth: pl.DataType
):
    recs, liked = (
        one.with_columns(pl.col("week").cast(dtype))
        for one, dtype in ((LISTS, lists), (LIKED, truth))
    )

    found = recs.rec(truth=liked).mrr(by="week")

    assert found.schema["week"] == lists
    assert found["week"].to_list() == (["z", "a", "q"] if lists == PARTS else ["a", "q", "z"])


def test_a_part_of_the_truth_that_the_lists_dtype_does_not_hold_is_an_error():
    recs = LISTS.with_columns(pl.col("week").cast(pl.Enum(["z", "a"])))

    with pytest.raises(rf.DataError, match=r"'week' in the frame truth= do not all fit into Enum"):
        recs.rec(truth=LIKED).mrr(by="week")
