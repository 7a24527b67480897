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
from asking import ask_one, liked, recommended, rows
from frame_kinds import Kind
from plans import POLARS_2
from recframe.metrics.language.registry import registered
from strategies import frame_pairs

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")

RECS = recommended(u="axyz")
# of the three relevant items one is listed, at rank 1: 1/.5 of 1/.5 + 1/.1 + 1/.25 = 2 + 10 + 4
TRUTH = pl.DataFrame({"user": ["u"] * 3, "item": [*"abc"], "seen": [0.5, 0.1, 0.25]})
WEIGHED = [one for one in registered().values() if "weights" in one.parameters]
BOTH = ["recall(weights=snips)", "recall(weights=ips)", "dcg(weights=snips)", "dcg(weights=ips)"]
WORKED = pytest.approx([2 / 16, 2 / 3, 2 / 16, 2], abs=1e-12)


def test_two_frames_a_judged_one_and_pairs_that_stand_twice_give_the_worked_numbers(kind: Kind):
    relevant = TRUTH.with_columns(relevance=1)
    judged = RECS.join(relevant, on=["user", "item"], how="full", coalesce=True)
    # the higher propensity of a pair counts
    twice = pl.concat([TRUTH, TRUTH.with_columns(seen=pl.Series([0.25, None, 0.05]))])

    for recs, truth in ((RECS, TRUTH), (judged, None), (RECS, twice), (RECS, twice[::-1])):
        found = ask_one(kind, recs, *BOTH, truth=truth, propensity="seen")
        assert [found[name] for name in BOTH] == WORKED


def test_none_and_nothing_above_0_count_as_the_least(kind: Kind):
    odd = pl.DataFrame({"user": ["u"] * 4, "item": [*"abcd"], "seen": [None, -1.0, 0.0, 1.0]})
    name = "recall(weights=ips,min_propensity=0.5)"

    found = ask_one(kind, recommended(u="abd"), name, truth=odd, propensity="seen")
    # 2 for a and for b, 1 for d, of four relevant items
    assert found[name] == 5 / 4


def test_a_few_hits_that_are_seldom_observed_do_not_lift_a_share_above_1(kind: Kind):
    truth = pl.DataFrame({"user": ["u"] * 4, "item": [*"abcd"], "seen": [0.01, 1, 1, 1]})
    names = ("precision(weights=snips)@1", "precision(weights=ips)@1")

    found = ask_one(kind, recommended(u="a"), *names, truth=truth, propensity="seen")
    assert [found[name] for name in names] == [1, 100]


def test_a_row_of_the_truth_without_a_relevance_gives_no_propensity():
    # a was observed with the probability 1/2, whatever an ignored row says of the pair: 1 / 0.5 hits of one
    columns = {"user": "u", "item": "a", "relevance": [1, None], "seen": [0.5, 1.0]}

    assert RECS.rec(truth=pl.DataFrame(columns), propensity="seen").recall(weights="ips") == 2


def test_a_note_says_how_few_alike_the_hits_weigh_as(kind: Kind):
    # of u 2 and 4, of v 10 twice: 26² / (4 + 16 + 200) = 3.07
    of_v = TRUTH.with_columns(user=pl.lit("v"), seen=pl.Series([0.1, 0.1, 1.0]))
    sides = {"truth": kind(pl.concat([TRUTH, of_v])), "propensity": "seen"}
    rec = rf.rec(kind(recommended(u="axcy", v="abxy")))(**sides)

    found = rec.summarize("recall(weights=ips)", "recall", "auc(weights=snips)@3")
    notes = [str(note).partition("; ")[2] for note in kind.read(found)["note"]]
    assert notes == ["the 4 hits weigh as 3 alike", "", "the 4 hits weigh as 3 alike"]


@pytest.mark.parametrize(("few", "said"), [(0.5, None), (0.001, "the 40 hits weigh as 3 alike")])
def test_hits_that_weigh_alike_and_are_many_have_no_note(few: float, said: str | None):
    users = pl.DataFrame({"user": [f"u{number}" for number in range(40)], "item": "a"})
    truth = users.with_columns(seen=pl.Series([few] * 3 + [0.5 if said is None else 1.0] * 37))
    # each second list has the hit at rank 2
    recs = users.with_columns(rank=pl.int_range(40) % 2 + 1)

    (note,) = recs.rec(truth=truth, propensity="seen").summarize("dcg(weights=ips)")["note"]
    assert note == said


@pytest.mark.parametrize("judged", [False, True])
@given(frames=frame_pairs(), k=st.sampled_from([1, 3, None]))
def test_a_relevant_item_that_train_does_not_have_counts_as_one_that_one_user_has(
    frames: Any, k: int | None, *, judged: bool
):
    recs, truth = frames
    rec = recs.rec(truth=truth, model="model")
    rec = rec.judge().rec(model="model") if judged else rec
    train = pl.DataFrame({"user": [1, 2, 3], "item": ["a"] * 3})
    once = pl.concat([train, pl.DataFrame({"user": [1] * 7, "item": [*"bcdefgh"]})])

    assert_frame_equal(
        rec(train=train).evaluate(*BOTH, k=k, by="user"),
        rec(train=once).evaluate(*BOTH, k=k, by="user"),
    )


@given(
    frame_pairs(), st.lists(st.floats(-1, 2, allow_nan=False) | st.none(), min_size=1, max_size=9)
)
def test_it_stays_in_its_range(frames: Any, seen: list[float | None]):
    recs, truth = frames
    drawn = pl.Series([seen[place % len(seen)] for place in range(len(truth))], dtype=pl.Float64)
    rec = recs.rec(truth=truth.with_columns(seen=drawn), model="model", propensity="seen")
    metrics = [metric(weights=way) for metric in WEIGHED for way in ("snips", "ips")]

    found = rec.evaluate(*metrics, by="user")

    for metric in metrics:
        low, high = metric.range
        values = found[str(metric)].drop_nulls()
        assert values.is_finite().all()
        assert ((values >= low) & (values <= high + 1e-12)).all()


def test_a_range_is_that_of_the_parameters():
    ranges = [rf.parse(one).range for one in ("recall", "recall(weights=snips)", "recall@10")]

    assert ranges == [(0.0, 1.0)] * 3
    assert rf.parse("recall(weights=ips)@10").range == (0.0, math.inf)


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


def test_strict_takes_a_propensity_of_a_cold_item_from_train():
    truth = rows(("u", "a", 0.5), ("u", "b", 0.0), schema=("user", "item", "seen"), seen=pl.Float64)
    strict = RECS.rec(truth=truth, train=liked(p="a"), strict=True)

    assert strict.recall(weights="snips") == 0.5  # a and b count alike: one user, as one has a


def test_metrics_without_weights_say_so_and_weighted_ones_that_there_is_no_expression():
    for metric in registered().values():
        if metric not in WEIGHED:
            with pytest.raises(rf.UnknownMetricError, match=f"^{metric.name} takes no weights: "):
                metric(weights="ips")
    scored = RECS.select("user", "item", score=-pl.col("rank"))
    rec = scored.rec(truth=TRUTH, propensity="seen", ties="expected")
    for metric in WEIGHED:
        with pytest.raises(rf.RecframeError, match="expression"):
            metric(weights="snips").expr(k=2)
        with pytest.raises(rf.RecframeError, match="no expectation in closed form"):
            rec.evaluate(metric(weights="snips"))
