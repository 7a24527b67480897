"""Micro averages: the sum of all users' hits over the sum of their denominators."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import recframe as rf
from frame_kinds import KINDS, Kind
from many_frames import MANY
from recframe.metrics.language.registry import parse

# Up to rank 3: a has 2 of 5 relevant items in a list of 3, b the only one in a list of 1, c none of 2 and no list.
RECS = pl.DataFrame({"user": list("aaab"), "item": [1, 2, 90, 6], "rank": [1, 2, 3, 1]})
TRUTH = pl.DataFrame({"user": list("aaaaabcc"), "item": [1, 2, 3, 4, 5, 6, 7, 8]})
USERS = pl.DataFrame({"user": list("abc"), "country": ["FR", "FR", "DE"], "spent": [1, 4, 2]})
BY_HAND = {
    # 3 hits over 3 · 3 places, of which 3 + 1 are filled, and 3 + 1 + 2 could be hits
    "precision(average=pooled)@3": 3 / 9,
    "precision(denominator=list,average=pooled)@3": 3 / 4,
    "precision(denominator=achievable,average=pooled)@3": 3 / 6,
    "recall(average=pooled)@3": 3 / 8,
    "recall(denominator=capped,average=pooled)@3": 3 / 6,
    # 2 P R / (P + R) = 2 hits / (places + n_relevant)
    "f_score(average=pooled)@3": 6 / (9 + 8),
    "f_score(beta=2,average=pooled)@3": 15 / (9 + 4 * 8),
    "f_score(denominator=achievable,average=pooled)@3": 6 / (6 + 8),
    # without a cut-off as many places as the list has
    "precision(average=pooled)": 3 / 4,
}
METRICS = list(BY_HAND)


def bound(kind: Kind = KINDS[0], **options: Any) -> Any:
    return rf.rec(kind(RECS))(truth=kind(TRUTH), users=kind(USERS), **options)


@pytest.mark.parametrize("kind", [*KINDS, MANY], ids=lambda kind: kind.name)
def test_hits_and_what_they_are_divided_by_are_added_up_on_every_kind_of_frame(kind: Kind):
    found = kind.read(bound(kind).evaluate(*METRICS)).row(0, named=True)

    assert found == pytest.approx({"n_users": 3} | BY_HAND)


def test_each_segment_and_model_has_sums_of_its_own():
    models = pl.concat([RECS.with_columns(model=pl.lit(name)) for name in "xy"])
    models = models.filter((pl.col("model") == "x") | (pl.col("item") != 2))
    rec = models.rec(truth=TRUTH, users=USERS, model="model")
    found = rec.evaluate("recall(average=pooled)@3", by="country").rows()

    # y lists one hit of a less
    assert found == [
        ("x", "DE", 1, 0),
        ("x", "FR", 2, 3 / 6),
        ("y", "DE", 1, 0),
        ("y", "FR", 2, 2 / 6),
    ]


def test_one_user_has_the_ratio_that_the_mean_runs_over():
    pooled = bound().evaluate(*METRICS, by="user").drop("user")
    plain = bound().evaluate(*(parse(one)(average="users") @ 3 for one in METRICS[:-1]), by="user")

    assert pooled.rows() == [(*row, row[1]) for row in plain.drop("user").rows()]


def test_users_without_a_relevant_item_leave_both_sums_with_their_policy():
    more = pl.concat([RECS, pl.DataFrame({"user": ["d"], "item": [1], "rank": [1]})])
    for universe, no_relevant, places in [
        ("all", "zero", 12),
        ("all", "skip", 9),
        ("all", "null", 9),
        ("recs", "zero", 9),
        ("both", "zero", 6),
    ]:
        rec = more.rec(truth=TRUTH, universe=universe, no_relevant=no_relevant)
        assert rec.precision(k=3, average="pooled") == pytest.approx(3 / places)


def test_a_users_weight_counts_in_both_sums():
    found = bound(weight="spent").evaluate(*METRICS[:5]).row(0)[1:]

    # hits 1 · 2 + 4 · 1; places 3 · 7, filled 3 + 4, relevant 5 + 4 + 2 · 2, of these up to k 3 + 4 + 2 · 2
    assert found == pytest.approx([6 / 21, 6 / 7, 6 / 11, 6 / 13, 6 / 11])


def test_nobody_has_no_pooled_value_and_nothing_to_find_is_0():
    nobody = RECS.rec(truth=TRUTH.clear())
    found = nobody.evaluate(*METRICS).row(0)
    empty = pl.DataFrame({"user": ["a"], "item": [1], "rank": [1], "relevance": [0]})

    assert found == (0, *[None] * len(METRICS))
    assert empty.rec.evaluate(*METRICS).row(0) == (1, *[0.0] * len(METRICS))


def test_scikit_learns_micro_averages_agree():
    library = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    n_users, n_items, k = 300, 40, 7
    truth = rng.random((n_users, n_items)) < rng.beta(1, 6, (n_users, 1))
    order = rng.permuted(np.tile(np.arange(n_items), (n_users, 1)), axis=1)
    lengths = rng.integers(0, 12, n_users)
    lists = pl.DataFrame(
        [
            (user, int(item), rank + 1)
            for user in range(n_users)
            for rank, item in enumerate(order[user, : lengths[user]])
        ],
        schema=["user", "item", "rank"],
        orient="row",
    )
    predicted = np.zeros_like(truth)
    for user in range(n_users):
        predicted[user, order[user, : min(lengths[user], k)]] = True
    user, item = np.nonzero(truth)
    rec = lists.rec(truth=pl.DataFrame({"user": user, "item": item}), universe="all")
    found = rec.evaluate(
        rf.precision(denominator="list", average="pooled"),
        rf.recall(average="pooled"),
        rf.f_score(denominator="list", average="pooled"),
        rf.f_score(beta=0.5, denominator="list", average="pooled"),
        k=k,
    ).row(0)

    assert found[1:] == pytest.approx(
        [
            library.precision_score(truth, predicted, average="micro"),
            library.recall_score(truth, predicted, average="micro"),
            library.f1_score(truth, predicted, average="micro"),
            library.fbeta_score(truth, predicted, beta=0.5, average="micro"),
        ],
        rel=1e-12,
    )


def test_propensities_weigh_the_hits_and_what_they_are_divided_by():
    truth = TRUTH.with_columns(seen=pl.Series([0.5, 0.25, 1, 0.5, 1, 0.2, 0.5, 1]))
    rec = RECS.rec(truth=truth, propensity="seen")
    found = rec.evaluate(
        rf.recall(weights="snips", average="pooled"),
        rf.recall(weights="ips", average="pooled"),
        k=3,
    )

    # hits weigh 2 + 4 + 5, all relevant items 2 + 4 + 1 + 2 + 1 + 5 + 2 + 1 = 18, and there are 8
    assert found.row(0)[1:] == pytest.approx((11 / 18, 11 / 8))


def test_the_expectation_over_ties_is_refused_in_words():
    with pytest.raises(rf.RecframeError, match="several means, whose errors are correlated"):
        RECS.rename({"rank": "score"}).rec(truth=TRUTH, ties="expected").precision(
            k=3, average="pooled"
        )
