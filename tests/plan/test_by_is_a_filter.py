"""A row of a result by segment is what the same call returns on frames that are really filtered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from frame_kinds import KINDS
from strategies import examples

pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")

METRICS = ["ndcg@2", "recall@2", "mrr", "auc", "judged@2", "list_length"]
OVER_LISTS = [
    "epc(relevance=True)",
    "efd(relevance=True)@2",
    "serendipity",
    "category_coverage(relevance=True)",
    "coverage@2",
    "entropy@2",
    "overlap@2",
]
ITEMS = pl.DataFrame({"item": [1, 2, 3, 4, 5], "kind": ["a", "b", "a", "b", "a"]})
TRAIN = pl.DataFrame({"user": [1, 1, 2, 3, 3], "item": [1, 2, 2, 3, 5]})
SIDES = {
    "items": ITEMS,
    "train": TRAIN,
    "reference": TRAIN.with_columns(rank=1 + pl.col("item") % 2),
}
WEEKS = [1.0, 2.0, None]
ids, ranks = st.integers(1, 4), st.sampled_from([1, 1, 2, 3, None])


def frames(columns: dict[str, Any], schema: dict[str, Any]) -> st.SearchStrategy[pl.DataFrame]:
    rows = st.lists(st.tuples(*columns.values()), min_size=1, max_size=14)
    return rows.map(lambda found: pl.DataFrame(found, schema=schema, orient="row"))


ORDER = {"user": pl.Int64, "item": pl.Int64, "model": pl.String, "week": pl.Float64}
lists = frames(
    dict.fromkeys(["user", "item"], ids)
    | {"model": st.sampled_from("mn"), "week": st.sampled_from(WEEKS), "rank": ranks},
    ORDER | {"rank": pl.Int64},
)
truths = frames(
    dict.fromkeys(["user", "item"], ids)
    | {"relevance": st.integers(0, 2), "week": st.sampled_from(WEEKS)},
    {"user": pl.Int64, "item": pl.Int64, "relevance": pl.Int64, "week": pl.Float64},
)


def values_of(*given: pl.DataFrame) -> list[Any]:
    return pl.concat(one.select("week") for one in given).unique().to_series().to_list()


def of_value(frame: pl.DataFrame, value: Any) -> pl.DataFrame:
    return frame.filter(pl.col("week").eq_missing(pl.lit(value, pl.Float64))).drop("week")


def answers(found: pl.DataFrame) -> dict[Any, Any]:
    return {row[0]: row[1:] for row in found.rows()}


def filtered(recs: pl.DataFrame, truth: pl.DataFrame, cut: Any, **options: Any) -> dict[Any, Any]:
    """The rows that filters give, of the parts in which a user counts or a list stands."""
    found = {}
    holders = [one for one in (recs, truth) if "week" in one.columns]
    for value in values_of(*holders):
        own = [of_value(one, value) if "week" in one.columns else one for one in (recs, truth)]
        row = own[0].rec(truth=own[1], **SIDES, **options).evaluate(*cut).row(0)
        n_lists = row[1] if any(one in OVER_LISTS for one in cut) else 0
        if row[0] or n_lists:
            found[value] = row
    return found


def same(found: dict[Any, Any], expected: dict[Any, Any]) -> None:
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        assert alike(found[key], row), (key, found[key], row)


def alike(found: Sequence[Any], expected: Sequence[Any]) -> bool:
    pairs = zip(found, expected, strict=True)
    return all(
        one is other
        or (None not in (one, other) and math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12))
        for one, other in pairs
    )


@examples(40)
@given(
    recs=lists,
    truth=truths,
    universe=st.sampled_from([None, "recs", "both", "all"]),
    options=st.sampled_from(
        [{}, {"no_relevant": "skip"}, {"relevant_from": "list"}, {"ties": "pessimistic"}]
    ),
    scored=st.booleans(),
    kind=st.sampled_from(KINDS),
)
def test_a_column_of_lists_and_truth_filters_both(
    recs: pl.DataFrame, truth: pl.DataFrame, universe: Any, options: Any, scored: Any, kind: Any
):
    recs = recs.drop("model")
    recs = recs.rename({"rank": "score"}) if scored else recs
    options = options if universe is None else {**options, "universe": universe}
    asked = [*METRICS, *([] if "ties" in options else OVER_LISTS)]

    sides = {name: kind(one) for name, one in {"truth": truth, **SIDES}.items()}
    rec = rf.rec(kind(recs), **sides, **options)

    expected = filtered(recs, truth, asked, **options)
    same(answers(kind.read(rec.evaluate(*asked, by="week"))), expected)


@examples(30)
@given(recs=lists, truth=truths, universe=st.sampled_from([None, "recs", "both", "all"]))
def test_each_part_has_every_model(recs: pl.DataFrame, truth: pl.DataFrame, universe: Any):
    options = {} if universe is None else {"universe": universe}
    asked = ["ndcg@2", "recall@2", "auc"]
    models = recs["model"].unique().to_list()
    # a list of nobody who counts keeps a model in the part
    recs = recs.with_columns(pl.col("rank").fill_null(9))
    judged = pl.concat([recs.select("week", "user"), truth.select("week", "user")]).unique()

    found = recs.rec(truth=truth, model="model", **options).evaluate(*asked, by="week")

    listed = recs.select("week", "user").unique()
    wanted = truth.select("week", "user").unique()
    both = wanted.join(listed, on=["week", "user"], how="semi", nulls_equal=True)
    users = {None: wanted, "recs": listed, "both": both, "all": judged}[universe]
    expected = {(model, week) for model in models for week in users["week"].unique().to_list()}
    assert {row[:2] for row in found.rows()} == expected
    for model, week, n_users, *values in found.rows():
        of_week = users.filter(pl.col("week").eq_missing(pl.lit(week, pl.Float64)))
        counted = of_week["user"].to_list()
        assert n_users == len(counted)
        own = of_value(recs.filter(model=model).drop("model"), week)
        own = own.filter(pl.col("user").is_in(counted))
        liked = of_value(truth, week).filter(pl.col("user").is_in(counted))
        everyone = pl.DataFrame({"user": counted}, schema={"user": pl.Int64})
        alone = own.rec(truth=liked, universe="all", users=everyone).evaluate(*asked)
        assert alike([n_users, *values], alone.row(0))


@examples(40)
@given(recs=lists, truth=truths, both=st.booleans(), ties=st.sampled_from(["item", "optimistic"]))
def test_a_column_of_the_truth_alone_filters_the_truth(
    recs: pl.DataFrame, truth: pl.DataFrame, both: Any, ties: str
):
    recs = recs.drop("model", "week")
    options = {"ties": ties} | ({"universe": "both"} if both else {})

    for rec in (recs.rec(truth=truth, **options), recs.lazy().rec(truth=truth.lazy(), **options)):
        found = pl.LazyFrame.collect(rec.evaluate(*METRICS, by="week").lazy())
        same(answers(found), filtered(recs, truth, METRICS, **options))


@examples(30)
@given(judged=truths, ranks=st.lists(ranks, min_size=14, max_size=14), scored=st.booleans())
def test_a_column_of_a_judged_frame_filters_it(
    judged: pl.DataFrame, ranks: list[int | None], scored: Any
):
    judged = judged.with_columns(
        pl.Series("score" if scored else "rank", ranks[: len(judged)], pl.Int64)
    )
    asked = [*METRICS, *OVER_LISTS]

    rec = judged.rec(**SIDES)
    found = answers(rec.evaluate(*asked, by="week"))
    parts = answers(judged.lazy().rec().collect(*METRICS, by="week", parts=2))

    alone = {value: of_value(judged, value).rec(**SIDES) for value in values_of(judged)}
    same(found, {value: one.evaluate(*asked).row(0) for value, one in alone.items()})
    same(parts, {value: one.evaluate(*METRICS).row(0) for value, one in alone.items()})


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
        (
            {},
            "event",
            "personalization",
            "column of the truth alone, and personalization reads whole lists.*users=",
        ),
        ({"universe": "all"}, "event", "mrr", "universe='all'.*give the lists the column"),
        ({}, "rank", "mrr", "is the rank, whose values are no segments"),
        ({}, "score", "mrr", "is the score, whose values are no segments"),
        (
            {},
            pl.struct("user", "item").rank().alias("place"),
            "mrr",
            "reads other rows than its own",
        ),
    ],
)
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
