"""LazyFrames evaluated in parts of the users: the same numbers, in the memory of one part."""

from __future__ import annotations

import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf

METRICS = ["ndcg@3", "recall", "mrr@2", "auc", "bpref@5", "judged@4", "first_rank"]


def frames(seed: int = 0) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
    """Two models' lists, a truth that speaks of some users alone, and the users' countries."""
    choose = random.Random(seed)  # noqa: S311  test data
    recs = [
        {"model": model, "user": user, "item": item, "rank": rank}
        for model in "ab"
        for user in range(40)
        for rank, item in enumerate(choose.sample(range(15), choose.randint(0, 8)), 1)
    ]
    truth = [
        {"user": user, "item": item, "relevance": choose.randint(0, 3)}
        for user in range(5, 50)
        for item in choose.sample(range(15), choose.randint(1, 6))
    ]
    users = [{"user": user, "country": choose.choice("FD")} for user in range(48)]
    return pl.LazyFrame(recs), pl.LazyFrame(truth), pl.LazyFrame(users)


@pytest.mark.parametrize(
    "by",
    [
        "country",
        *(pytest.param(one, marks=pytest.mark.slow) for one in (None, "user", ["country", "user"])),
    ],
)
@pytest.mark.parametrize(
    "policies",
    [
        {},
        pytest.param({"universe": "all"}, marks=pytest.mark.slow),
        pytest.param({"universe": "both", "no_relevant": "skip"}, marks=pytest.mark.slow),
        pytest.param({"no_relevant": "null", "min_relevance": 2}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_parts_change_no_number(by, policies):
    recs, truth, users = frames()
    rec = recs.rec(truth=truth, users=users, model="model", **policies)
    expected = rec.evaluate(*METRICS, by=by).collect()

    for parts in (2, 7, *[100] * (by == "country")):  # 100 are more than there are users
        assert_frame_equal(
            rec.collect(*METRICS, by=by, parts=parts), expected, rel_tol=1e-12, abs_tol=1e-12
        )


# ---- every metric of the registry


GIVEN_A_COLUMN = {
    "diversity",
    "category_coverage",
    "alpha_ndcg",
    "miscalibration",
    "serendipity",
    "exposure_disparity",
}
ALL_SIDES = ("items", "train", "users")


def every(*sides: str, **options: object) -> list[rf.Metric[...]]:
    """Every metric that the side frames allow, and forms that read other columns."""
    there = {*sides, *options} | ({"catalogue"} if {"items", "train"} & {*sides} else set())
    names = [
        row["name"]
        for row in rf.list_metrics().to_dicts()
        if {*filter(None, row["needs"].split(", "))} <= there
    ]
    forms = [
        f"{name}(of=genre)" if name in GIVEN_A_COLUMN and "items" in sides else name
        for name in names
    ]
    forms += ["recall(weights=snips)"] * ("train" in sides)
    return [rf.parse(one) @ 3 for one in forms]


def sides_of(*names: str) -> dict[str, pl.LazyFrame]:
    """The frames beside two frames, none of which has all that others have."""
    choose = random.Random(1)  # noqa: S311  test data
    items = [
        {"item": item, "genre": choose.choice("xyz"), "kind": choose.choice("pq")}
        for item in range(12)
    ]
    train = [
        {"user": user, "item": item}
        for user in range(3, 45)
        for item in choose.sample(range(15), choose.randint(1, 4))
    ]
    found = {"items": pl.LazyFrame(items), "train": pl.LazyFrame(train), "users": frames()[2]}
    return {name: found[name] for name in names}


def rows_of(order: str, *, model: bool) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The two frames with a property of the row, with ranks or scores, of one or both models."""
    recs, truth, _ = frames()
    week = (pl.col("item") * 7 + pl.col("user")) % 2
    recs = recs.with_columns(score=(10 - pl.col("rank")) // 2) if order == "score" else recs
    recs = recs.drop("rank") if order == "score" else recs
    recs = recs if model else recs.filter(pl.col("model") == "a").drop("model")
    return recs.with_columns(week=week), truth.with_columns(week=week)


def assert_parts_agree(
    rec: rf.Rec[pl.LazyFrame], metrics: list[rf.Metric[...]], by: object, parts: int = 3
) -> None:
    one = rec.evaluate(*metrics, by=by).collect()

    assert_frame_equal(rec.collect(*metrics, by=by, parts=parts), one, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize(
    ("sides", "by"),
    [
        *(((), by) for by in (None, "week")),
        *(
            pytest.param(sides, by, marks=pytest.mark.slow)
            for sides, by in (((), "user"), (("train",), None), (("items",), "kind"))
        ),
        *(
            pytest.param(ALL_SIDES, by, marks=pytest.mark.slow)
            for by in ("user", "week", "item", ["kind", "country"])
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize(("order", "model"), [("rank", False), ("score", True)])
def test_every_metric_is_in_parts_what_it_is_in_one(order, model, sides, by):
    recs, truth = rows_of(order, model=model)
    options = {"model": "model", "reference": "b"} if model else {}

    assert_parts_agree(
        recs.rec(truth=truth, **sides_of(*sides), **options), every(*sides, **options), by
    )


@pytest.mark.parametrize(
    "policies",
    [
        {"universe": "recs", "relevant_from": "list", "no_relevant": "null"},
        {"profile": "recbole"},
        {"strict": True},
        *(
            pytest.param(policies, marks=pytest.mark.slow)
            for policies in ({"universe": "all"}, {"universe": "both", "no_relevant": "skip"})
        ),
        *(
            pytest.param({"ties": ties}, marks=pytest.mark.slow)
            for ties in ("pessimistic", "order")
        ),
    ],
    ids=str,
)
def test_parts_hold_under_every_policy(policies):
    recs, truth = rows_of("score" if "ties" in policies else "rank", model=False)
    metrics = [
        one for one in every(*ALL_SIDES) if "profile" not in policies or one.name in PROFILED
    ]

    assert_parts_agree(
        recs.rec(truth=truth, **sides_of(*ALL_SIDES), **policies), metrics, "country", parts=2
    )


PROFILED = {"recall", "ndcg", "mrr", "hit_rate"}


def test_expectations_over_ties_are_in_parts_what_they_are_in_one():
    recs, truth = rows_of("score", model=True)
    rec = recs.rec(truth=truth, users=frames()[2], model="model", ties="expected")

    assert_parts_agree(
        rec, [rf.parse(name) for name in ("ndcg@3", "recall@3", "mrr", "auc")], "country", parts=60
    )


@pytest.mark.parametrize(
    "empty",
    ["both", *(pytest.param(one, marks=pytest.mark.slow) for one in ("ids", "recs", "truth"))],
)
def test_parts_of_nothing_are_what_one_part_of_it_is(empty):
    recs, truth = rows_of("rank", model=False)
    if empty == "ids":
        recs, truth = (one.with_columns(user=pl.lit(None, dtype=pl.Int64)) for one in (recs, truth))
    recs, truth = (
        one.clear() if empty in {name, "both"} else one
        for name, one in (("recs", recs), ("truth", truth))
    )
    rec = recs.rec(truth=truth, **sides_of(*ALL_SIDES))

    for by in (None, ["country", "week"]):
        assert_parts_agree(rec, every(*ALL_SIDES), by)


def test_parts_have_the_catalogue_of_all_users():
    # u's list [a], v's [b, c]; nobody likes more than a. Over the catalogue a, b, c: u 0, v 2 misses of 3 items; v is
    # not in the truth. Of u: fp 0. Of w, whose list is [d]: 1 miss of the catalogue a, b, c, d less the liked b: 1/3.
    recs = pl.LazyFrame({"user": [*"uvvw"], "item": [*"abcd"], "rank": [1, 1, 2, 1]})
    truth = pl.LazyFrame({"user": [*"uw"], "item": [*"ab"]})
    rec = recs.rec(truth=truth, train=truth)

    for parts in (1, 2, 3, 9):
        assert rec.collect("fall_out", by="user", parts=parts).rows() == [
            ("u", 0.0),
            ("w", pytest.approx(1 / 3)),
        ]


@pytest.mark.parametrize("parts", [1, 3])
def test_a_judged_frame_is_read_in_parts_too(parts):
    recs, truth, _ = frames()
    judged = recs.filter(pl.col("model") == "a").rec(truth=truth, universe="all").judge()

    assert_frame_equal(
        judged.rec.collect(*METRICS, parts=parts),
        judged.rec.evaluate(*METRICS).collect(),
        rel_tol=1e-12,
        abs_tol=1e-12,
    )


def test_the_share_that_is_done_is_told_part_by_part():
    recs, truth, _ = frames()
    told: list[float] = []

    recs.rec(truth=truth, model="model").collect("recall@2", parts=4, tell=told.append)

    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("parts", [1, 3])
def test_what_only_the_data_shows_is_an_error_in_parts_too(parts):
    recs, truth, _ = frames()

    with pytest.raises(rf.DataError, match="a rank is below 1"):
        recs.with_columns(pl.col("rank") - 1).rec(truth=truth, model="model").collect(
            "recall@2", parts=parts
        )


BROKEN = {
    "a repeated item": ({"items": pl.LazyFrame({"item": [1, 1]})}, "has an item twice"),
    "a repeated user": (
        {"users": pl.LazyFrame({"user": [7, 7], "country": ["DE", "DE"]})},
        "has a user twice",
    ),
    "a rank below 1": ({}, "a rank is below 1"),
}


@pytest.mark.parametrize(("sides", "message"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("metric", ["recall", "coverage", "fall_out"])
@pytest.mark.parametrize("universe", [pytest.param("truth", marks=pytest.mark.slow), "both"])
def test_every_check_is_made_whoever_counts_and_in_every_part(universe, metric, sides, message):
    # one user has a list and another one a truth: with universe="both" nobody counts, and most parts have nobody
    recs = pl.LazyFrame(
        {"user": [1, 1], "item": [1, 2], "rank": [1, 0 if "rank" in message else 2]}
    )
    truth = pl.LazyFrame({"user": [2], "item": [1]})
    sides = {
        "users": pl.LazyFrame({"user": [1], "country": ["FR"]}),
        "items": pl.LazyFrame({"item": [1, 2]}),
    } | sides
    rec = recs.rec(truth=truth, universe=universe, **sides)

    for by in (None, "country"):
        with pytest.raises(pl.exceptions.PolarsError, match=message):
            rec.evaluate(metric, by=by).collect(engine="streaming")
        for parts in (2, 5):
            with pytest.raises(rf.DataError, match=message):
                rec.collect(metric, by=by, parts=parts)


@pytest.mark.parametrize("parts", [0, -1, 1.5, True, "2"])
def test_parts_that_cannot_be_made_are_named(parts):
    recs, truth, _ = frames()

    with pytest.raises(rf.RecframeError, match="write a whole number from 1 up"):
        recs.rec(truth=truth).collect("recall@2", parts=parts)
