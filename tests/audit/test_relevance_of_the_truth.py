"""A truth of which nobody said what is relevant: columns that may say it warn, `relevance=False` answers, thresholds raise."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from audited_frames import told
from frame_kinds import Kind
from many_frames import ManyFrame

# u clicked b alone, at rank 2; v clicked c, at rank 1, and not a
RECS = pl.DataFrame(
    {"user": ["u", "u", "v", "v"], "item": ["a", "b", "c", "a"], "rank": [1, 2, 1, 2]}
)
TRUTH = pl.DataFrame(
    {"user": ["u", "u", "v", "v"], "item": ["a", "b", "c", "a"], "clicked": [0, 1, 1, 0]}
)
GRADED = TRUTH.with_columns(stars=pl.Series([1, 4, 3, None]))
MODELS = pl.concat([RECS.with_columns(model=pl.lit(name)) for name in ("x", "y")])
USERS = pl.DataFrame({"user": ["u", "v"], "country": ["FR", "DE"]})


@pytest.mark.parametrize(
    ("first", "last", "is_told"),
    [([1], 0, True), ([0], 1, True), ([1.0], 0.0, True), ([0, 1], 2, False), ([0.0, 1.0], 0.5, False)],
)  # fmt: skip
def test_the_other_value_may_stand_behind_many_rows(first: Any, last: float, is_told: bool):  # noqa: FBT001
    n = 30_000
    truth = pl.DataFrame(
        {"user": range(n), "item": [1] * n, "weekday": [*(first * n)[: n - 1], last]}
    )

    words = told(lambda: truth.select("user", "item", rank=1).rec(truth).mrr(k=1))
    assert ["column 'weekday'" in one for one in words] == [True] * is_told


# Columns of two values, and of grades


def of_column(column: pl.Series) -> list[str]:
    truth = pl.DataFrame({"user": range(80), "item": [1] * 80}).with_columns(column)
    return told(lambda: truth.select("user", "item", rank=1).rec(truth).recall(k=2))


OTHERS = "quantity store age_group n_purchases event_weight hour count n_ratings avg_rating starting year week"
NO_GRADES = [
    ("rating", [4] * 80), ("rating", ["good", "bad"] * 40), ("target", [10, 250] * 40),
    ("grade", pl.Series([None] * 80, dtype=pl.Int64)), *((name, [1, 2, 3, 4] * 20) for name in OTHERS.split()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values"), NO_GRADES)
def test_numbers_of_other_names_or_too_far_apart_are_no_grades(name: str, values: Any):
    assert of_column(pl.Series(name, values)) == []


@pytest.mark.parametrize(
    ("truth", "options"),
    [
        (TRUTH, {"relevance": "clicked"}),
        (TRUTH, {"relevance": False}),
        (rf.frame(TRUTH, relevance=False), {}),
        (TRUTH, {"min_relevance": "any"}),
        (TRUTH, {"profile": "rectools"}),
        (TRUTH.with_columns(relevance=1), {}),
        (TRUTH.with_columns(clicked=1), {}),
        (TRUTH.rename({"clicked": "weight"}),
         {"users": USERS.with_columns(weight=pl.Series([1, 0])), "weight": "weight"}),
    ],
)  # fmt: skip
def test_who_said_what_is_relevant_is_not_warned(truth: Any, options: dict[str, Any]):
    assert told(lambda: RECS.rec(truth, **options).recall(k=2)) == []


def test_metrics_of_lists_alone_read_no_truth():
    items = TRUTH.select("item").unique()

    assert told(lambda: RECS.rec(TRUTH, items=items).coverage(k=2)) == []


CALLS: dict[str, Callable[[Any], object]] = {
    "evaluate": lambda rec: rec.evaluate("recall@2", "mrr@2", by="country"),
    "judge": lambda rec: rec.judge(),
    "summarize": lambda rec: rec.summarize("recall@2"),
    "compare": lambda rec: rec.compare("recall@2", baseline="x"),
    "power": lambda rec: rec.power("recall@2", baseline="x"),
    "gaps": lambda rec: rec.gaps("recall@2", by="country"),
    "slices": lambda rec: rec.slices("recall@2", by="country"),
    "worst": lambda rec: rec.worst("recall@2"),
    "best": lambda rec: rec.best("recall@2"),
    "require": lambda rec: rec.require("recall@2 >= 0", raises=False),
    "explain": lambda rec: rec.explain("recall@2"),
    "table": lambda rec: rec.table("recall@2"),
    "track": lambda rec: rec.track("recall@2", history=tempfile.mkdtemp(), as_of="2026-01-01"),
    "report": lambda rec: rec.report("recall@2"),
    "plot.curve": lambda rec: rec.plot.curve("recall", k=[1, 2]),
    "plot.distribution": lambda rec: rec.plot.distribution("recall@2"),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_warns_once(name: str):
    rec = MODELS.rec(TRUTH, users=USERS, model="model")

    assert ["column 'clicked'" in words for words in told(lambda: CALLS[name](rec))] == [True]
    assert told(lambda: CALLS[name](rec(relevance=False))) == []


@pytest.mark.parametrize("name", ["table", "report", "plot.curve"])
def test_what_collects_lazy_frames_warns_of_them(name: str):
    rec = MODELS.lazy().rec(TRUTH.lazy(), users=USERS.lazy(), model="model")
    assert ["column 'clicked'" in words for words in told(lambda: CALLS[name](rec))] == [True]


def test_a_plan_reads_nothing():
    n_scans = []

    def scanned(rows: pl.DataFrame) -> pl.DataFrame:
        n_scans.append(rows)
        return rows

    truth = TRUTH.lazy().map_batches(scanned, schema=TRUTH.schema, projection_pushdown=False)
    assert told(lambda: RECS.lazy().rec(truth).evaluate("recall@2")) == []
    assert told(lambda: RECS.lazy().rec(truth).judge()) == []
    assert told(lambda: RECS.lazy().rec(truth).audit()) == []
    assert n_scans == []


@pytest.mark.parametrize("truth", [TRUTH, GRADED, TRUTH.with_columns(pl.col("clicked") * 2)])
def test_the_audit_of_every_kind_finds_the_same(truth: pl.DataFrame):
    home = RECS.rec(truth).audit()
    found = home.filter(pl.col("check").str.starts_with("unbound"))

    expected = {
        ("unbound_two_values", "column 'clicked'", 2): truth["clicked"].max() == 1,
        ("unbound_grades", "column 'stars'", 3): "stars" in truth.columns,
    }
    assert found.select("check", "example", "rows").rows() == [
        one for one, is_there in expected.items() if is_there
    ]
    assert_frame_equal(RECS.lazy().rec(truth.lazy()).audit().collect(), home)
    assert_frame_equal(pl.DataFrame(RECS.to_pandas().rec(truth.to_pandas()).audit()), home)
    many = rf.rec(ManyFrame(RECS.to_arrow()), truth=ManyFrame(truth.to_arrow())).audit().collected
    assert_frame_equal(many.filter(pl.col("check").str.starts_with("unbound")), found)


# Each row counts


def test_each_row_counts_whatever_its_columns_say(kind: Kind):
    for truth in (
        TRUTH,
        TRUTH.rename({"clicked": "relevance"}),
        GRADED.rename({"stars": "relevance"}),
    ):
        rec = kind(RECS).rec(truth=kind(truth), relevance=False)

        # all four rows are listed, and each user's first one is relevant
        assert kind.read(rec.evaluate("recall@1", "mrr")).row(0) == (2, 0.5, 1.0)
        judged = rec.judge()
        assert kind.read(judged).select("relevance").to_series().to_list() == [1] * 4
        again = judged.rec(relevance=False)
        assert kind.read(again.evaluate("recall@1", "mrr")).row(0) == (2, 0.5, 1.0)


def test_each_judged_row_of_a_judged_frame_counts():
    columns = {"item": ["a", "b", "c"], "rank": [1, 2, 3], "relevance": [None, 0.0, 5.0]}
    judged = pl.DataFrame({"user": "u", **columns})

    # a is not judged, b and c are relevant alike: (1/log2(3) + 1/log2(4)) / (1 + 1/log2(3))
    expected = pytest.approx((0.63093 + 0.5) / 1.63093, abs=1e-5)
    assert judged.rec(relevance=False).ndcg(k=3) == expected
    assert judged.rec(relevance=False).recall(k=2) == 0.5


def test_a_column_of_the_truth_may_bear_the_name_of_another_role():
    assert RECS.rec(TRUTH.rename({"clicked": "score"}), relevance="score").mrr() == 0.75


def test_a_frame_of_its_own_names_wins_over_false():
    rec = RECS.rec(rf.frame(TRUTH, relevance="clicked"), relevance=False)

    # of u the second item is relevant, of v the first one
    assert rec.mrr() == 0.75
    assert RECS.rec(rf.frame(TRUTH, relevance=False), relevance="clicked").mrr() == 1.0


# Thresholds


def test_any_relevance_needs_no_column_of_it(kind: Kind):
    bare = kind(RECS).rec(truth=kind(TRUTH), min_relevance="any")

    # every row has a relevance, of 1
    assert kind.read(bare.evaluate("recall@1", "mrr")).row(0) == (2, 0.5, 1.0)


def test_a_level_that_the_highest_grade_reaches_is_right():
    rec = RECS.rec(truth=GRADED, relevance="stars", min_relevance=4)

    assert told(lambda: rec.evaluate("ndcg@2", "recall@2")) == []
    # relevant, and not listed up to 1
    assert told(lambda: rec.recall(k=1)) == []
