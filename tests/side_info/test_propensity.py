"""Relevant items that count by how unlikely it was to observe them: where that comes from, and what is said of it."""

from __future__ import annotations

import math
import re
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import recframe as rf
from asking import ask, ask_one, liked, recommended, rows
from buckets_of_users import in_buckets
from frame_kinds import Kind
from plans import POLARS_2
from recframe.metrics.language.registry import registered
from strategies import frame_pairs

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")

RECS = recommended(u="axyz")
# of the three relevant items one is listed, at rank 1: 1/.5 of 1/.5 + 1/.1 + 1/.25 = 2 + 10 + 4
TRUTH = pl.DataFrame({"user": ["u"] * 3, "item": list("abc"), "seen": [0.5, 0.1, 0.25]})
WEIGHED = [one for one in registered().values() if "weights" in one.parameters]
BOTH = ["recall(weights=snips)", "recall(weights=ips)", "dcg(weights=snips)", "dcg(weights=ips)"]


def test_a_given_propensity_gives_the_worked_numbers(kind: Kind):
    found = ask_one(kind, RECS, *BOTH, k=2, truth=TRUTH, propensity="seen")

    # "ips" of recall is over the three relevant items; rank 1 has no discount
    assert [found[f"{name}@2"] for name in BOTH] == pytest.approx(
        [0.125, 2 / 3, 0.125, 2], abs=1e-12
    )


# a 1/.5 = 2 at rank 1 and c 1/.25 = 4 at rank 3; b 10 is not listed; of two misses both are below a, one below c
ALSO = {
    "precision": ((2 + 4) / 4, (2 + 4) / 4 * 3 / 16),
    "rbp": (0.2 * (2 + 4 * 0.64), 0.2 * (2 + 4 * 0.64) * 3 / 16),
    # the best order by gain / propensity is b, c, a
    "ndcg": (
        (2 + 4 / 2) / (1 + 1 / math.log2(3) + 1 / 2),
        (2 + 4 / 2) / (10 + 4 / math.log2(3) + 2 / 2),
    ),
    "auc": ((2 * 1 + 4 / 2) / 2, (2 * 1 + 4 / 2) / 6),
}


def test_every_sum_over_hits_gives_the_worked_numbers(kind: Kind):
    names = [f"{name}(weights={way})" for name in ALSO for way in ("ips", "snips")]

    found = ask_one(kind, recommended(u="axcy"), *names, truth=TRUTH, propensity="seen")

    expected = [value for pair in ALSO.values() for value in pair]
    assert [found[name] for name in names] == pytest.approx(expected, abs=1e-12)


def test_a_note_says_how_few_alike_the_hits_weigh_as(kind: Kind):
    # of u 2 and 4, of v 10 twice: 26² / (4 + 16 + 200) = 3.07
    seen = {"u": [0.5, 0.1, 0.25], "v": [0.1, 0.1, 1.0]}
    truth = pl.concat(
        TRUTH.with_columns(user=pl.lit(user), seen=pl.Series(own)) for user, own in seen.items()
    )
    rec = rf.rec(kind.make(recommended(u="axcy", v="abxy")))(
        truth=kind.make(truth), propensity="seen"
    )
    names = ["recall(weights=ips)", "recall", "auc(weights=snips)@3"]

    notes = kind.read(rec.summarize(*names))["note"].to_list()
    assert [str(note).partition("; ")[2] for note in notes] == [
        "the 4 hits weigh as 3 alike",
        "",
        "the 4 hits weigh as 3 alike",
    ]


def test_hits_that_weigh_alike_and_are_many_have_no_note():
    users = [f"u{number}" for number in range(40)]
    truth = pl.DataFrame({"user": users, "item": ["a"] * 40, "seen": [0.5] * 40})
    recs = pl.DataFrame({"user": users, "item": ["a", "b"] * 20, "rank": [1] * 40})
    more = pl.concat([recs, recs.with_columns(pl.lit("a").alias("item"), pl.col("rank") + 1)[1::2]])

    (note,) = more.rec(truth=truth, propensity="seen").summarize("dcg(weights=ips)")["note"]
    assert note is None
    seldom = truth.with_columns(seen=pl.Series([0.001] * 3 + [1.0] * 37))
    (note,) = more.rec(truth=seldom, propensity="seen").summarize("dcg(weights=ips)")["note"]
    assert note == "the 40 hits weigh as 3 alike"


def test_a_few_hits_that_are_seldom_observed_do_not_lift_a_share_above_1(kind: Kind):
    truth = pl.DataFrame({"user": ["u"] * 4, "item": list("abcd"), "seen": [0.01, 1, 1, 1]})
    names = ("precision(weights=snips)@1", "precision(weights=ips)@1")

    found = ask_one(kind, recommended(u="a"), *names, truth=truth, propensity="seen")
    assert [found[name] for name in names] == [1, 100]


def test_a_judged_frame_gives_the_same(kind: Kind):
    judged = RECS.join(
        TRUTH.with_columns(relevance=1), on=["user", "item"], how="full", coalesce=True
    )

    found = ask_one(kind, judged, *BOTH, propensity="seen")
    assert [found[name] for name in BOTH] == pytest.approx([0.125, 2 / 3, 0.125, 2], abs=1e-12)


def test_popularity_gives_it_where_no_column_does(kind: Kind):
    # popularities a 4, b 1, c 0, which counts as 1, over the highest: 1, 1/4, 1/4
    train = liked(p="ab", q="a", r="a", s="a")
    recs, truth = recommended(u="xb"), liked(u="abc")

    found = ask_one(
        kind, recs, *(f"{name[:-1]},exponent=1)" for name in BOTH), truth=truth, train=train
    )
    # exponent 1 is the power 1: 1, 4 and 4; b at rank 2
    second = 4 / math.log2(3)
    assert list(found.values())[1:] == pytest.approx([4 / 9, 4 / 3, second / 9, second], abs=1e-12)

    names = ("recall(weights=snips,exponent=0)", "recall(weights=snips,min_propensity=0.5)")
    found = ask_one(kind, recs, *names, truth=truth, train=train)
    # the power 1/2: 1, 2 and 2; and at least a half: 1, 2 and 2 too
    assert list(found.values())[1:] == pytest.approx([2 / 5, 2 / 5], abs=1e-12)


@pytest.mark.parametrize("judged", [False, True])
@given(frames=frame_pairs(), k=st.sampled_from([1, 3, None]))
def test_a_relevant_item_that_train_does_not_have_counts_as_one_that_one_user_has(
    frames: Any, k: int | None, *, judged: bool
):
    recs, truth = frames
    rec = recs.rec(truth=truth, model="model")
    rec = rec.judge().rec(model="model") if judged else rec
    train = pl.DataFrame({"user": [1, 2, 3], "item": ["a"] * 3})
    once = pl.concat([train, pl.DataFrame({"user": [1] * 7, "item": list("bcdefgh")})])

    assert_frame_equal(
        rec(train=train).evaluate(*BOTH, k=k, by="user"),
        rec(train=once).evaluate(*BOTH, k=k, by="user"),
    )


def test_none_and_nothing_above_0_count_as_the_least(kind: Kind):
    odd = pl.DataFrame({"user": ["u"] * 4, "item": list("abcd"), "seen": [None, -1.0, 0.0, 1.0]})

    found = ask_one(
        kind,
        recommended(u="abd"),
        "recall(weights=ips,min_propensity=0.5)",
        truth=odd,
        propensity="seen",
    )
    # 2 for a and for b, 1 for d, of four relevant items
    assert list(found.values())[1:] == [5 / 4]


def test_a_pair_that_is_judged_twice_has_the_higher_propensity(kind: Kind):
    twice = pl.concat([TRUTH, TRUTH.with_columns(seen=pl.Series([0.25, None, 0.05]))])

    for truth in (twice, twice[::-1]):
        assert ask_one(kind, RECS, BOTH[0], truth=truth, propensity="seen")[
            BOTH[0]
        ] == pytest.approx(0.125, abs=1e-12)


def test_models_segments_and_rows_of_a_genre_have_their_own(kind: Kind):
    recs = pl.concat(
        [RECS.with_columns(model=pl.lit("x")), recommended(u="bc").with_columns(model=pl.lit("y"))]
    )
    items = pl.DataFrame({"item": list("abcxyz"), "genre": list("ppqqqq")})
    options = {"truth": TRUTH, "propensity": "seen", "items": items, "model": "model"}

    found = ask(kind, recs, "recall(weights=snips)", by="genre", **options)

    # genre p: a of a and b (2 of 12), b of them (10 of 12); genre q: c, which x does not list
    assert found.select("model", "genre", pl.nth(-1)).rows() == [
        ("x", "p", pytest.approx(2 / 12)),
        ("x", "q", 0.0),
        ("y", "p", pytest.approx(10 / 12)),
        ("y", "q", 1.0),
    ]


@given(frame_pairs(), st.sampled_from([1, 3, None]), st.sampled_from([0.25, 1.0]))
def test_a_propensity_that_is_the_same_for_all_cancels(frames: Any, k: int | None, seen: float):
    recs, truth = frames
    rec = recs.rec(truth=truth.with_columns(seen=pl.lit(seen)), model="model", propensity="seen")

    found = rec.evaluate(
        "recall(weights=snips)", "recall(weights=ips)", "recall", "dcg(weights=ips)", "dcg", k=k,
        by="user",
    )  # fmt: skip

    weighed, by_number, plain, total, gained = (found.to_series(place) for place in range(-5, 0))
    assert weighed.to_list() == pytest.approx(plain.to_list(), abs=1e-12)
    assert (by_number * seen).to_list() == pytest.approx(plain.to_list(), rel=1e-12, abs=1e-12)
    assert (total * seen).to_list() == pytest.approx(gained.to_list(), rel=1e-12, abs=1e-12)


@given(
    frame_pairs(), st.lists(st.floats(-1, 2, allow_nan=False) | st.none(), min_size=1, max_size=9)
)
def test_it_stays_in_its_range(frames: Any, seen: list[float | None]):
    recs, truth = frames
    seen = [seen[place % len(seen)] for place in range(len(truth))]
    rec = recs.rec(
        truth=truth.with_columns(seen=pl.Series(seen, dtype=pl.Float64)),
        model="model",
        propensity="seen",
    )
    metrics = [metric(weights=way) for metric in WEIGHED for way in ("snips", "ips")]

    found = rec.evaluate(*metrics, by="user")

    for metric in metrics:
        low, high = metric.range
        values = found[str(metric)].drop_nulls()
        assert values.is_finite().all()
        assert ((values >= low) & (values <= high + 1e-12)).all()


def test_a_row_of_the_truth_without_a_relevance_gives_no_propensity():
    # a was observed with the probability 1/2, whatever an ignored row says of the pair: 1 / 0.5 hits of one
    truth = pl.DataFrame(
        {"user": ["u", "u"], "item": ["a", "a"], "relevance": [1, None], "seen": [0.5, 1.0]}
    )

    assert RECS.rec(truth=truth, propensity="seen").recall(weights="ips") == 2


def test_a_range_is_that_of_the_parameters():
    assert (
        rf.recall.range == rf.recall(weights="snips").range == (rf.recall @ 10).range == (0.0, 1.0)
    )
    assert (
        rf.recall(weights="ips").range
        == rf.parse("recall(weights=ips)@10").range
        == (0.0, math.inf)
    )


@pytest.mark.skipif(
    not POLARS_2, reason="Polars 1 writes the conditions of one plan in one order or another"
)
def test_without_weights_nothing_more_is_read():
    lazy = RECS.lazy().rec(truth=TRUTH.lazy())
    bound = lazy(train=liked(u="a").lazy(), propensity="seen")

    def plan(rec: Any, name: str) -> str:
        return re.sub(r"CACHE\[id: \S*\]", "CACHE", rec.evaluate(name).explain())

    for name in ("recall@2", "dcg@2"):
        assert plan(bound, name) == plan(lazy, name)


def test_parts_of_the_users_change_nothing():
    recs = recommended(u="axyz", v="ba", w="c").lazy()
    truth = pl.concat([TRUTH.with_columns(user=pl.lit(user)) for user in "uvw"]).lazy()
    rec = recs.rec(truth=truth, propensity="seen")

    found, expected = in_buckets(rec, *BOTH), rec.evaluate(*BOTH).collect()
    assert found.row(0) == pytest.approx(expected.row(0), abs=1e-12)


def test_a_metric_whose_hits_hang_on_other_hits_has_no_weights():
    for metric in registered().values():
        if metric not in WEIGHED:
            with pytest.raises(rf.UnknownMetricError, match=f"^{metric.name} takes no weights: "):
                metric(weights="ips")


def test_it_is_no_expression_over_one_list_and_has_no_expectation_over_ties():
    scored = RECS.select("user", "item", score=-pl.col("rank"))
    rec = scored.rec(truth=TRUTH, propensity="seen", ties="expected")
    for metric in WEIGHED:
        with pytest.raises(rf.RecframeError, match="expression"):
            metric(weights="snips").expr(k=2)
        with pytest.raises(rf.RecframeError, match="no expectation in closed form"):
            rec.evaluate(metric(weights="snips"))


def test_strict_refuses_a_given_propensity_of_a_cold_item_too_and_not_one_from_train():
    truth = rows(("u", "a", 0.5), ("u", "b", 0.0), schema=("user", "item", "seen"), seen=pl.Float64)
    strict = RECS.rec(truth=truth, train=liked(p="a"), strict=True)

    with pytest.raises(rf.DataError, match="missing_propensity: 1 row of truth"):
        strict(propensity="seen").recall(weights="snips")
    assert strict.recall(weights="snips") == 0.5  # a and b count alike: one user, as one has a
