"""Segments of large eager frames, asked whether they never change within a user, give what the lazy plan gives."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from test_large_frames import IDS, METRICS, NUMBER, OF_ROWS, ORDERS, judged

import recframe as rf
from frame_sizes import SIZE
from lanes import crossed
from recframe.metrics.language.definition import Definition, Metric

# the truth of these frames is made of their lists
# users of random models, as in arms of an experiment
pytestmark = pytest.mark.filterwarnings("ignore:no_relevant_beyond_lists|models_of_other_users")

POLICIES: list[dict[str, Any]] = [
    {},
    {"universe": "recs"},
    {"universe": "both", "no_relevant": "skip"},
    {"universe": "all"},
    {"relevant_from": "list"},
    {"model": "model"},
]
# of the number of a row and its user
COLUMNS: dict[str, pl.Expr] = {
    "of users": NUMBER // 12 % 7,
    "of users, some null": pl.when(NUMBER // 12 % 5 > 0).then(NUMBER // 12 % 7),
    "text of users": pl.format("country {}", NUMBER // 12 % 7).cast(pl.Categorical),
    "of rows": NUMBER // 5 % 3,
    "of items": NUMBER % 3,
    "half null": pl.when(NUMBER % 2 == 0).then(NUMBER // 12 % 7),
    "null in one row": pl.when(NUMBER != 432).then(NUMBER // 12 % 7),
}


def frame_of(dtype: str, column: str, order: str) -> pl.DataFrame:
    """A judged frame of two models' worth of users, with a segment and a property of users beside it."""
    frame = judged(IDS[dtype], NUMBER).with_row_index("number")
    made = frame.with_columns(
        segment=COLUMNS[column].cast(pl.String),
        week=(NUMBER // 24).cast(pl.Int32).cast(pl.Date).dt.truncate("3d"),
        model=pl.when(NUMBER % 24 < 12).then(pl.lit("a")).otherwise(pl.lit("b")),
    )
    return ORDERS[order](made.drop("number"))


def check(rec: Any, lazy: Any, by: Any, metrics: Any = METRICS) -> None:
    found = rec.evaluate(*metrics, k=[3, 10], by=by)
    assert rec._kind.asks is not None
    expected = lazy.evaluate(*metrics, k=[3, 10], by=by).collect(engine="in-memory")
    assert_frame_equal(found, expected, rel_tol=1e-12)


@pytest.mark.filterwarnings("ignore:by='segment'.*two segments:recframe.RecframeWarning")
@pytest.mark.parametrize(("column", "order", "policies"), crossed([*COLUMNS], [*ORDERS], POLICIES))
def test_by_a_column_of_a_judged_frame(column, order, policies):
    frame = frame_of("Int64", column, order)
    users = frame.select("user").unique().drop_nulls()
    options = policies | ({"users": users} if policies.get("universe") == "all" else {})

    for by in ("segment", ["segment", "week"], ["user", "segment"], ["segment", "item"]):
        check(frame.rec(**options), frame.lazy().rec(**options), by)


@pytest.mark.filterwarnings("ignore:ranks_over_all_lists")  # a part of a list begins far down
@pytest.mark.parametrize(("dtype", "order", "column"), crossed([*IDS], [*ORDERS], [*COLUMNS][:3]))
def test_by_a_column_of_users_of_any_dtype(dtype, order, column):
    frame = frame_of(dtype, column, order)
    several = frame["user"].n_unique() < SIZE // 12
    # users of few ids have several segments, which are then properties of rows
    row = pl.int_range(pl.len())
    frame = frame.with_columns(item=row, rank=row.over("user") + 1) if several else frame

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
        if has == "truth" and options.get("universe") == "all":
            with pytest.raises(rf.ColumnError, match="a column of the truth alone"):
                rec.ndcg(k=3, by="segment")
            continue
        cuts = column in {"of rows", "of items"}
        if cuts and has == "lists" and len(frame.drop_nulls("user")):
            with pytest.raises(rf.DataError, match="two values of this column"):
                rec.evaluate(*METRICS, k=3, by="segment")
        else:
            check(rec, lazy, "segment")


OF_LISTS = ["entropy", "gini", "personalization", "personalization(against=all)"]


@pytest.mark.filterwarnings("ignore:by='segment'.*two segments:recframe.RecframeWarning")
@pytest.mark.parametrize(
    ("column", "has", "order"),
    crossed([*COLUMNS], ["frame", "lists", "both"], [*ORDERS][:3], fast=4),
)
def test_lists_and_contributions_by_a_column_of_the_rows(column, has, order):
    frame = frame_of("Int64", column, order).drop("model")
    # lists of other items, so that it tells which are held against one another; and weeks that differ, since an interval
    # without width has ends of mere rounding
    frame = frame.with_columns(item=(pl.col("user") ** 2 + pl.col("item") * 7) % 40)
    truth = frame.filter(pl.col("relevance") > 0).drop("rank")
    recs, sides = frame, {"items": frame.select("item").unique()}
    if has != "frame":
        recs = recs.drop("relevance")
        sides["truth"] = truth.drop("segment") if has == "lists" else truth
    if column in {"of rows", "of items"} and has == "lists":
        recs = recs.with_columns(segment=pl.col("user"))  # of rows alone it is an error
    sides["train"] = recs.select("user", "item")
    lazy = {name: side.lazy() for name, side in sides.items()}
    models = [(recs, "a"), (recs.with_columns(rank=16 - pl.col("rank")), "b")]
    recs_of_two = pl.concat([one.with_columns(model=pl.lit(name)) for one, name in models])
    of_users = ["ndcg@3", "list_length@3", "novelty@3"]

    check(recs.rec(**sides), recs.lazy().rec(**lazy), "segment", OF_LISTS)
    for name, one, options, cluster in (
        ("summarize", recs, {}, None),
        ("summarize", recs, {}, "week"),
        ("compare", recs_of_two, {"model": "model"}, None),
        ("compare", recs_of_two, {"model": "model"}, "week"),
    ):
        metrics = of_users if cluster else [*of_users, "entropy@3"]
        asked = {"by": "segment", "cluster": cluster}
        found = getattr(one.rec(**sides, **options), name)(*metrics, **asked)
        expected = getattr(one.lazy().rec(**lazy, **options), name)(*metrics, **asked)
        expected = expected.collect(engine="in-memory")
        assert_frame_equal(found, expected, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("has", ["frame", "both"])
def test_segments_of_rows_that_are_those_of_items_change_nothing_else_of_items(has):
    frame = frame_of("Int64", "of items", "shuffled")
    truth = frame.filter(pl.col("relevance") > 0).select("user", "item", "relevance", "segment")
    other = frame.with_columns(model=pl.lit("c"), rank=13 - pl.col("rank"))
    recs = pl.concat([frame.with_columns(model=pl.lit("b")), other])
    sides = {}
    if has == "both":
        recs, sides = recs.drop("relevance"), {"truth": truth}
    lazy = {name: side.lazy() for name, side in sides.items()}

    items = frame.select("item").unique()
    # users without a row are in no segment of rows
    users = frame.select(pl.col("user").drop_nulls().append(pl.Series([10_000, 10_001]))).unique()
    both = sides | {"items": items, "users": users}
    both_lazy = {name: side.lazy() for name, side in both.items()}
    for metrics in (["coverage", "ndcg"], ["novelty", "recall"], ["recall", "ndcg"]):
        options = {"model": "model", "universe": "all"}
        if "novelty" in metrics:
            both["train"], both_lazy["train"] = frame.select("user", "item"), frame.lazy()
        check(
            recs.rec(**both, **options), recs.lazy().rec(**both_lazy, **options), "segment", metrics
        )
    for cluster in (None, "week", "segment"):
        given = ["ndcg@3", "recall@10"]
        asked = {"by": None if cluster == "segment" else "segment", "cluster": cluster}
        found = recs.rec(**sides, model="model").compare(*given, **asked)
        expected = recs.lazy().rec(**lazy, model="model").compare(*given, **asked).collect()
        assert_frame_equal(found, expected, rel_tol=1e-9, abs_tol=1e-12)


ITEMS = pl.select(number=pl.int_range(15)).select(
    item=NUMBER - 2,
    kind=pl.when(NUMBER % 4 > 0).then(NUMBER % 4).cast(pl.String),
    year=2000 + NUMBER,
)
"""Of some items of the lists nothing is known, and of one of these that there is nothing."""


DTYPES = ["Int64", "negative", "wide", "String", "Categorical", "UInt64"]


# what a list without a hit leaves is not what an empty list leaves
MISSED: Metric[...] = Metric(Definition("missed", lambda at: at.n_relevant - at.n_hits))
OF_HITS = ["ndcg", "recall", "map", "err", "first_rank", "ndcg(gain=exp)"]
MORE_POLICIES = [
    *({"no_relevant": "null"}, {"no_relevant": "skip"}),
    {"model": "model", "relevant_from": "list"},
]


@pytest.mark.parametrize(
    ("policies", "order", "dtype"), crossed(POLICIES + MORE_POLICIES, [*ORDERS], DTYPES, fast=4)
)
def test_lists_without_a_hit_in_a_segment_of_items_may_be_left_out(policies, order, dtype):
    frame, items = frame_of(dtype, "of users", order).drop("week"), ITEMS
    if dtype == "String":
        frame, items = (one.with_columns(pl.col("item").cast(pl.String)) for one in (frame, items))
    truth = frame.filter(pl.col("relevance") > 0, pl.col("user").hash() % 7 > 0)
    recs, truth = frame.drop("relevance", "segment"), truth.select("user", "item", "relevance")
    scores = recs.select("user", "item", "model", score=-pl.col("rank"))

    both = {"items": items, "truth": truth}
    for one, sides in ((frame, {"items": items}), (recs, both), (scores, both)):
        lazy = {name: side.lazy() for name, side in sides.items()}
        given = one.rec(**sides, **policies), one.lazy().rec(**lazy, **policies)
        check(*given, "kind", [*OF_HITS, MISSED])
        check(*given, "year" if sides is both else ["kind", "year"], OF_HITS)


@pytest.mark.filterwarnings("ignore:by='segment'.*two segments:recframe.RecframeWarning")
@pytest.mark.parametrize(
    ("policies", "order", "dtype", "column"),
    crossed(
        POLICIES + MORE_POLICIES, [*ORDERS], DTYPES, ["of rows", "half null", "of items"], fast=4
    ),
)
def test_lists_without_a_hit_in_a_segment_of_rows_may_be_left_out(policies, order, dtype, column):
    frame = frame_of(dtype, column, order).drop("week").with_columns(day=pl.col("rank") % 3)
    truth = frame.filter(pl.col("relevance") > 0, pl.col("user").hash() % 7 > 0)
    recs, truth = frame.drop("relevance"), truth.drop("rank", "model")
    # rows of which the other frame alone says in which segment they stand, or neither
    some = [pl.when(pl.col("item").hash(seed) % 3 > 0).then("segment") for seed in (0, 1)]
    halves = [one.with_columns(segment=two) for one, two in zip((recs, truth), some, strict=True)]

    pairs = ((frame, {}), (recs, {"truth": truth}), (halves[0], {"truth": halves[1]}))
    for one, sides in pairs:
        lazy = {name: side.lazy() for name, side in sides.items()}
        given = one.rec(**sides, **policies), one.lazy().rec(**lazy, **policies)
        for by in ("segment", ["day", "segment"], ["user", "day"]):
            check(*given, by, OF_HITS)
        check(*given, "segment", [*OF_HITS, MISSED])


@pytest.mark.parametrize(
    ("policies", "dtype", "order"),
    crossed(POLICIES, ["Int64", "negative", "wide", "String", "UInt64"], [*ORDERS], fast=7),
)
def test_by_a_property_of_items(policies, dtype, order):
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


OF_RANKED_USERS = {"model": "model", "universe": "recs"}


@pytest.mark.parametrize(
    ("order", "policies"),
    crossed([*ORDERS], [*POLICIES, OF_RANKED_USERS], fast=6),
)
def test_metrics_of_whole_lists_by_a_property_of_items(order, policies):
    frame = frame_of("Int64", "of users", order).drop("segment", "week")
    truth = frame.filter(pl.col("relevance").is_not_null()).select("user", "item", "relevance")
    recs = frame.select("user", "item", "rank", "model")

    for one, sides in ((frame, {"items": ITEMS}), (recs, {"items": ITEMS, "truth": truth})):
        lazy = {name: side.lazy() for name, side in sides.items()}
        for by in ("kind", ["user", "kind"]):
            given = one.rec(**sides, **policies), one.lazy().rec(**lazy, **policies)
            check(*given, by, [*OF_ROWS, "ndcg"])
            check(*given, by, OF_ROWS)
