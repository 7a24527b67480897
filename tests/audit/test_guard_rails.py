"""Plausible mistakes of a first hour: each is said to be one, by an error, a warning or the audit, and right calls are not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import recframe as rf
from buckets_of_users import in_buckets

pd = pytest.importorskip("pandas")

N_USERS, LENGTH = 40, 10
RECS = pl.DataFrame(
    {"user": [user for user in range(N_USERS) for _ in range(LENGTH)]}
).with_columns(
    item=(pl.col("user") * 7 + pl.int_range(pl.len()) * 3) % 101,
    rank=pl.int_range(pl.len()) % LENGTH + 1,
    score=1 / (pl.int_range(pl.len()) % LENGTH + 1),
)
TRUTH = RECS.filter(pl.col("rank").is_in([2, 5])).select(
    "user", "item", rating=pl.col("rank").replace({2: 5, 5: 1})
)
USERS = pl.DataFrame(
    {"user": range(N_USERS), "country": ["DE" if user < 15 else "FR" for user in range(N_USERS)]}
)
GRADED: dict[str, Any] = {"truth": TRUTH, "relevance": "rating"}
SYSTEMS = pl.concat([RECS.with_columns(system=pl.lit(name)) for name in ("a", "b", "c")])

KINDS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "eager": lambda one: one,
    "lazy": pl.DataFrame.lazy,
    "pandas": pl.DataFrame.to_pandas,
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def ask(
    kind: str, recs: pl.DataFrame, *metrics: str, by: str | None = None, **options: Any
) -> None:
    given = {
        name: KINDS[kind](one) if isinstance(one, pl.DataFrame) else one
        for name, one in options.items()
    }
    rec = rf.rec(KINDS[kind](recs), **given)
    rec = rec(memory="1GB") if kind == "lazy" else rec
    rec.evaluate(*(metrics or ("ndcg@10",)), by=by)


def told(*arguments: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", rf.RecframeWarning)
        ask(*arguments, **options)
    return [str(one.message) for one in found]


@every_kind
def test_right_calls_warn_of_nothing(kind: str):
    liked = TRUTH.drop("rating")
    judged = RECS.join(TRUTH, on=["user", "item"], how="full", coalesce=True).rename(
        {"rating": "relevance"}
    )

    assert told(kind, RECS, **GRADED) == []
    assert (
        told(
            kind, RECS, "ndcg@10", "recall@3", "list_length", truth=liked, users=USERS, by="country"
        )
        == []
    )
    assert told(kind, SYSTEMS, **GRADED, model="system", users=USERS, by="country") == []
    assert told(kind, RECS.drop("rank"), **GRADED) == []
    assert told(kind, judged, "ndcg@5") == []
    assert told(kind, RECS.with_columns(title=pl.col("item").cast(pl.String)), **GRADED) == []
    # ranks tied in pairs
    assert (
        told(kind, RECS.with_columns(rank=pl.col("rank") - 1 + pl.col("rank") % 2), **GRADED) == []
    )
    assert told(kind, RECS.filter(pl.col("user") < 15), **GRADED, universe="recs") == []
    assert told(kind, RECS.filter(pl.col("user") < 25), **GRADED) == []  # most users have a list


def test_a_history_without_the_lists_items_is_a_warning_of_the_audit_alone():
    train = TRUTH.select("user", pl.col("item") + 1_000)

    assert told("eager", RECS, **GRADED, train=train) == []
    found = rf.rec(RECS, **GRADED, train=train).audit().filter(check="no_common_items")
    assert found.select("severity", "frame", "rows").rows() == [
        ("warning", "train", train["item"].n_unique())
    ]


@every_kind
@pytest.mark.parametrize("order", [["rank", "score"], ["score"]])
def test_systems_in_one_frame_are_warned_of(kind: str, order: list[str]):
    for systems in (
        SYSTEMS,
        SYSTEMS.sort("user", maintain_order=True),
        SYSTEMS.with_columns(system=pl.col("system") == "a"),
    ):
        found = told(kind, systems.select("user", "item", *order, "system"), **GRADED)
        # a column of two values does not tell three systems apart
        pooled = systems["system"].dtype == pl.String
        assert [words.partition("write ")[2] for words in found] == ["rec(model='system')"] * pooled


@every_kind
@pytest.mark.parametrize("strict", [False, True])
def test_ranks_that_no_column_tells_apart_are_no_systems(kind: str, *, strict: bool):
    tied = RECS.with_columns(pl.lit(1).alias("rank"), source=pl.lit("web"))

    assert told(kind, tied.drop("score"), **GRADED, strict=strict) == []


@pytest.mark.parametrize(
    ("column", "grades"),
    [
        (pl.Series("rating", [1, 2, 3, 4] * 20), True),
        (pl.Series("user_stars", [0.5, 1.0, 4.5, None] * 20), True),
        (pl.Series("Rating", [1.0, 87.3] * 40), True),
        (pl.Series("Book-Rating", range(80)), True),
        (pl.Series("relevanceLabel", [0, 1, 2, 4] * 20), True),
        (pl.Series("rating_x", [3, 4] * 40), True),
        (pl.Series("rating", [5] * 79 + [1]), True),
        (pl.Series("rating", [4] * 80), False),
        (pl.Series("rating", ["good", "bad"] * 40), False),
        (pl.Series("target", [10, 250] * 40), False),
        (pl.Series("n_ratings", [1, 2, 3, 4] * 20), False),
        (pl.Series("avg_rating", [3.5, 4.5] * 40), False),
        (pl.Series("starting", [1, 2, 3, 4] * 20), False),
        *(
            (pl.Series(name, [1, 2, 3, 4] * 20), False)
            for name in (
                "quantity",
                "store",
                "age_group",
                "n_purchases",
                "event_weight",
                "hour",
                "count",
            )
        ),
        (pl.Series("weekday", [0, 1, 2, 3] * 20), False),
        (pl.Series("year", [1990 + year for year in range(8)] * 10), False),
        (pl.Series("price", [0.99, 1.25, 3.5, 7.1] * 20), False),
        (pl.Series("week", [1, 2, 3, 4] * 20), False),
        (pl.Series("grade", [None] * 80, dtype=pl.Int64), False),
    ],
)
def test_grades_bear_a_name_of_grades_and_numbers_that_may_be_some(column: pl.Series, grades: bool):  # noqa: FBT001
    truth = TRUTH.drop("rating").with_columns(column)

    assert bool(told("eager", RECS, truth=truth)) == grades


@pytest.mark.filterwarnings("ignore:.*empty_as_null:DeprecationWarning")
@every_kind
@pytest.mark.parametrize("array", [False, True])
def test_lists_in_place_of_items_raise_with_the_line_that_explodes_them(kind: str, array: bool):  # noqa: FBT001
    nested = RECS.group_by("user", maintain_order=True).agg("item")
    nested = (
        nested.with_columns(pl.col("item").list.to_array(LENGTH))
        if array and kind != "pandas"
        else nested
    )
    nested = nested.with_columns(rank=1)

    with pytest.raises(
        rf.RecframeError,
        match=r"a row has one id; give each id a row: recs\.explode\('item'\)",
    ):
        ask(kind, nested, **GRADED)
    with pytest.raises(rf.RecframeError, match=r"truth\.explode\('item'\)"):
        ask(kind, RECS, truth=nested.drop("rank"))
    counted = (
        nested.drop("rank")
        .explode("item")
        .with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
    )
    # the line that the message shows
    assert rf.rec(counted, **GRADED).ndcg(k=10) == rf.rec(RECS, **GRADED).ndcg(k=10)


def test_a_column_of_the_truth_may_bear_the_name_of_another_role():
    assert rf.rec(RECS, truth=TRUTH.rename({"rating": "score"}), relevance="score").ndcg(k=10) > 0


def test_an_expression_over_several_lists_raises():
    judged = RECS.with_columns(relevance=1, week=pl.col("user") % 2)

    with pytest.raises(
        pl.exceptions.InvalidOperationError, match="the group has rows of several lists"
    ):
        judged.group_by("week").agg(rf.ndcg.expr(k=10))
    ranks = pl.DataFrame(
        {"user": [1] * 4, "item": range(4), "rank": [1, 1, 3, 9], "relevance": [1, 0, 1, 1]}
    )
    # ties as in sports, and a gap
    assert ranks.select(rf.recall.expr(k=3)).item() == pytest.approx(2 / 3)


def test_a_column_of_both_frames_cuts_both():
    weeks = pl.int_range(pl.len()) * 7 % 3  # most pairs stand in several weeks, with other ranks
    recs = pl.concat([RECS, RECS.with_columns(pl.col("rank").reverse().over("user"))])
    recs = recs.drop("score").with_columns(week=weeks)
    truth = pl.concat([TRUTH, TRUTH[:30]]).with_columns(week=weeks)
    options: dict[str, Any] = {"relevance": "rating", "no_relevant": "skip"}

    message = "cuts lists and truth into parts, such as weeks, give the truth the column too"
    with pytest.raises(rf.DataError, match=message):
        rf.rec(RECS.with_columns(week=weeks), truth=TRUTH, **options).recall(k=10, by="week")
    for kind in KINDS.values():
        rec = rf.rec(kind(recs), truth=kind(truth), **options)
        if kind is KINDS["lazy"]:
            found = in_buckets(rec, "ndcg@5", "mrr@3", by="week")
        else:
            found = pl.from_dataframe(rec.evaluate("ndcg@5", "mrr@3", by="week"))
        for week, *values in found.rows():
            alone = [frame.filter(week=week).drop("week") for frame in (recs, truth)]
            expected = rf.rec(alone[0], truth=alone[1], **options).evaluate("ndcg@5", "mrr@3")
            assert values == pytest.approx(expected.row(0))
