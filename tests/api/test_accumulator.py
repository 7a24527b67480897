"""Accumulators: equal to evaluate on the whole, to the bit, in any order of batches."""

from __future__ import annotations

import itertools
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from compared_lists import LISTS_ARE_MISSING, frames

pytestmark = LISTS_ARE_MISSING
GIVEN = frames(n_users=90)
SIDES = {name: GIVEN[name] for name in ("users", "items", "train")}
MODELS, TRUTH = GIVEN["recs"], GIVEN["truth"]
ONE = MODELS.filter(model="a").drop("model")


def batches(n: int, seed: int = 1) -> list[pl.Expr]:
    """Return conditions of users in batches, shuffled."""
    users = [*range(90)]
    random.Random(seed).shuffle(users)  # noqa: S311  no secret
    return [pl.col("user").is_in(users[place::n]) for place in range(n)]


def added(made: rf.Accumulator, lists: pl.DataFrame, *conditions: pl.Expr) -> rf.Accumulator:
    for mine in conditions:
        made.update(lists.filter(mine), TRUTH.filter(mine))
    return made


OF_USERS = ("ndcg@10", "recall@5", "map", "mrr", "bpref@10", "f_score(beta=2)@5")
CALLS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "of users": (OF_USERS, {"no_relevant": "null", "min_relevance": 2}),
    "by country": (OF_USERS, {"by": "country", "universe": "recs"}),
    "by genre": (OF_USERS, {"by": "genre"}),
    "by week": (("ndcg@5", "recall@5"), {"by": ["week", "country"]}),
    "of sets": (("coverage@5", "gini@5", "entropy@5", "tail_coverage@5"), {"by": "country"}),
    "of lists": (("novelty@5", "popularity@5", "ndcg@5"), {"decimals": 3}),
    "a profile": (("ndcg@10", "map@10"), {"profile": "trec_eval"}),
    "models": (("ndcg@10", "coverage@5"), {"model": "model", "by": "country"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_batches_in_any_order_are_evaluate_on_the_whole_to_the_bit(name: str) -> None:
    metrics, options = CALLS[name]
    lists = MODELS if "model" in options else ONE
    policies = {one: value for one, value in options.items() if one != "by"}
    rec = lists.rec(truth=TRUTH, **SIDES, **policies)
    whole = rec.evaluate(*metrics, by=options.get("by"))
    for n, seed in ((1, 0), (3, 1), (3, 5)):
        made = added(rf.accumulator(*metrics, **options, **SIDES), lists, *batches(n, seed))
        assert_frame_equal(made.result(), whole, check_exact=True)


def test_a_judged_frame_and_other_kinds_of_frames_are_batches_too() -> None:
    rec = ONE.rec(truth=TRUTH)
    whole, judged = rec.evaluate("ndcg@10", "recall@5"), rec.judge()
    of_judged = judged.rec.evaluate("ndcg@10", "recall@5")
    for lists, truth, expected in (
        (judged, None, of_judged),
        (ONE.lazy(), TRUTH.lazy(), whole),
        (ONE.to_arrow(), TRUTH.to_arrow(), whole),
        (ONE.to_pandas(), TRUTH.to_pandas(), whole),
        ({"one": ONE}, TRUTH, whole),
    ):
        found = rf.accumulator("ndcg@10", "recall@5").update(lists, truth).result()
        in_frames_of_polars = isinstance(lists, pl.LazyFrame | dict)
        assert type(found) is (pl.DataFrame if in_frames_of_polars else type(lists))
        read = pl.DataFrame(found).select(expected.columns)
        assert_frame_equal(read, expected, check_exact=True)


def test_states_merge_in_any_order_through_pickle() -> None:
    metrics, options = ("ndcg@10", "coverage@5", "gini@5"), {"model": "model", **SIDES}
    whole = MODELS.rec(truth=TRUTH, **options).evaluate(*metrics, by="country")
    options["by"] = "country"
    parts = [
        pickle.dumps(added(rf.accumulator(*metrics, **options), MODELS, mine).state())
        for mine in batches(3)
    ]
    for order in itertools.permutations(parts):
        states = [pickle.loads(one) for one in order]  # noqa: S301  our own
        fresh = rf.accumulator(*metrics, **options)
        found = reduce(lambda one, other: one.merge(other), states, fresh)
        assert_frame_equal(found.result(), whole, check_exact=True)
    again = rf.accumulator(*metrics, **options).merge(found)
    assert_frame_equal(again.result(), found.result(), check_exact=True)
    assert again.update(MODELS, TRUTH).n_batches == found.n_batches + 1


def test_the_state_does_not_grow_with_batches() -> None:
    metrics, items = ("ndcg@10", "coverage@5"), SIDES["items"]

    def size(n: int) -> int:
        made = added(rf.accumulator(*metrics, items=items), ONE, *[pl.lit(value=True)] * n)
        return len(pickle.dumps(made.state()))

    assert size(100) - size(1) < 1_000 * len(metrics) + 16 * len(items)
    few, many = (
        added(rf.accumulator("coverage@5", items=items), ONE, users).state()["sums"]
        for users in (pl.col("user") == 0, pl.col("user") >= 0)
    )
    assert 0 < sum(map(len, many)) - sum(map(len, few)) <= len(items)


def test_threads_lose_no_batch_and_a_batch_that_fails_leaves_nothing() -> None:
    metrics, options = ("ndcg@10", "recall@5", "coverage@5"), {"items": SIDES["items"]}
    made = rf.accumulator(*metrics, by="week", **options)
    with pytest.raises(rf.DataError):
        made.update(ONE.with_columns(rank=0, week=1), TRUTH.with_columns(week=1))
    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(lambda mine: added(made, ONE, mine), batches(30))} == {made}
    whole = ONE.rec(truth=TRUTH, **options).evaluate(*metrics, by="week")
    assert_frame_equal(made.result(), whole, check_exact=True)
    assert made.n_batches == 30


def test_a_user_of_two_batches_is_an_error_where_ids_are_kept() -> None:
    made, other = (rf.accumulator("ndcg@10", check_users=True) for _ in range(2))
    first, last = batches(2)
    added(made, ONE, first)
    with pytest.raises(rf.DataError):
        made.update(ONE.filter(last | (pl.col("user") < 9)), TRUTH)
    added(other, ONE, first | last)
    with pytest.raises(rf.DataError):
        other.merge(made.state())
    assert other.n_batches == 1
    other.reset()
    assert added(other, ONE, first | last).n_batches == 1


def test_arrays_become_batches_by_readers() -> None:
    made = rf.accumulator("recall@2", "precision@2", "mrr@2")
    scores = np.array([[0.1, 0.9, 0.5, float("-inf")], [0.3, 0.2, 0.1, 0.0]])
    relevant = np.array([[0, 1, 0, 1], [1, 0, 0, 0]])
    for user in (0, 1):
        made.update(
            rf.from_scores(scores[[user]], users=[user]),
            rf.from_scores(relevant[[user]], users=[user], truth=True),
        )
    # the first user finds item 1 of 1 and 3, the second item 0
    assert made.result().row(0) == (2, (1 / 2 + 1) / 2, (1 / 2 + 1 / 2) / 2, 1.0)


def test_later_batches_may_have_narrower_numbers_than_the_first() -> None:
    first, last = batches(2)
    made = added(rf.accumulator("ndcg@10", by="week"), ONE, first)
    numbers = [pl.col("user", "item").cast(pl.Int32), pl.col("rank").cast(pl.Float64)]
    added(made, ONE.with_columns(numbers), last)
    whole = ONE.rec(truth=TRUTH).evaluate("ndcg@10", by="week")
    assert_frame_equal(made.result(), whole, check_exact=True)


def test_states_of_other_items_are_not_merged():
    # whose digests are of the version of Polars
    ours, other = (
        rf.accumulator("coverage@2", items=pl.DataFrame({"item": list(items)}))
        for items in ("ab", "ac")
    )
    with pytest.raises(rf.RecframeError, match="the states have different ids of frames"):
        ours.merge(other)
