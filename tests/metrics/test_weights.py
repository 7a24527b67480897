"""Means in which users weigh what a column of theirs says: NumPy's weighted mean of the users' values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recframe as rf
from buckets_of_users import in_buckets
from frame_kinds import KINDS, Kind
from many_frames import MANY

N_USERS = 60
METRICS = ["ndcg@3", "recall@5", "precision@2", "auc", "first_rank", "map", "err@3", "bpref"]


def frames(seed: int = 0) -> dict[str, pl.DataFrame]:
    """Lists, of all but ten users; a truth; weights of all but two, of which one is null, one NaN and some are 0."""
    rng = np.random.default_rng(seed)
    recs = pl.DataFrame(
        {
            "user": np.repeat(np.arange(N_USERS - 10), 6),
            "item": np.tile(np.arange(6), N_USERS - 10),
            "rank": np.concatenate([rng.permutation(6) + 1 for _ in range(N_USERS - 10)]),
        }
    )
    truth = {
        "user": np.repeat(np.arange(N_USERS), 3),
        "item": rng.integers(0, 9, 3 * N_USERS),
        "relevance": rng.integers(0, 3, 3 * N_USERS),
    }
    weights = [None, math.nan, *rng.integers(0, 4, N_USERS - 4).astype(float).tolist()]
    users = {
        "user": range(2, N_USERS),
        "revenue": weights,
        "country": rng.choice(["FR", "DE"], N_USERS - 2),
    }
    return {"recs": recs, "truth": pl.DataFrame(truth), "users": pl.DataFrame(users)}


def bound(kind: Kind, given: dict[str, pl.DataFrame], **options: Any) -> Any:
    sides = {name: kind(frame) for name, frame in given.items() if name != "recs"}
    return rf.rec(kind(given["recs"]))(**sides, **options)


def expected(given: dict[str, pl.DataFrame], metrics: list[str], **options: Any) -> list[Any]:
    """NumPy's weighted means of the users' own values."""
    each = bound(KINDS[0], given, **options).evaluate(*metrics, by="user")
    each = each.join(given["users"], on="user", how="left").filter(
        pl.col("revenue").fill_nan(None).is_not_null()
    )
    found = []
    for metric in metrics:
        there = each.filter(pl.col(metric).is_not_null())
        found.append(np.average(there[metric], weights=there["revenue"]))
    return found


@pytest.mark.parametrize("kind", [*KINDS, MANY], ids=lambda kind: kind.name)
def test_means_are_weighted_on_every_kind_of_frame(kind: Kind):
    given = frames()
    found = kind.read(bound(kind, given, weight="revenue").evaluate(*METRICS))

    assert found["n_users"][0] == N_USERS
    assert found.row(0)[1:] == pytest.approx(expected(given, METRICS), rel=1e-12)


@pytest.mark.parametrize(
    "policies",
    [
        {"no_relevant": "skip"},
        {"no_relevant": "null"},
        {"universe": "both"},
        {"universe": "recs"},
        {"universe": "all"},
        {"relevant_from": "list"},
        {"min_relevance": 2},
    ],
)
def test_weights_stand_beside_every_policy(policies: dict[str, Any]):
    given = frames(1)
    found = bound(KINDS[0], given, weight="revenue", **policies).evaluate(*METRICS)

    assert found.row(0)[1:] == pytest.approx(expected(given, METRICS, **policies), rel=1e-12)


def test_segments_and_models_have_weighted_means_of_their_own():
    given = frames(2)
    turned = given["recs"].with_columns(rank=7 - pl.col("rank"))
    models = {"a": given["recs"], "b": turned}
    several = pl.concat([one.with_columns(model=pl.lit(name)) for name, one in models.items()])
    rec = bound(KINDS[0], {**given, "recs": several}, weight="revenue", model="model")
    found = rec.evaluate(*METRICS, by=["model", "country"])

    for model, country, *values in found.drop("n_users").drop_nulls("country").rows():
        own = given["users"].filter(country=country)
        users = own.select("user")
        part = {name: frame.join(users, on="user") for name, frame in given.items()}
        part["recs"] = models[model].join(users, on="user")
        assert values == pytest.approx(expected(part, METRICS), rel=1e-12)


def test_metrics_made_of_means_are_made_of_weighted_ones():
    given = frames(3)
    metrics = ["gauc", "f_score(average=means)@3", "map(average=geometric)"]
    found = bound(KINDS[0], given, weight="revenue").evaluate(*metrics).row(0)[1:]

    precision, recall = expected(given, ["precision@3", "recall@3"])
    each = bound(KINDS[0], given).evaluate("auc", "map", by="user")
    each = each.join(given["users"], on="user").filter(pl.col("revenue").fill_nan(None) >= 0)
    pairs = each.drop_nulls("auc")
    logarithms = np.log(np.maximum(each["map"].to_numpy(), 1e-5))
    # every list has six items
    assert found[0] == pytest.approx(np.average(pairs["auc"], weights=pairs["revenue"]))
    assert found[1] == pytest.approx(2 * precision * recall / (precision + recall))
    assert found[2] == pytest.approx(np.exp(np.average(logarithms, weights=each["revenue"])))


def test_a_user_has_their_own_value_and_one_without_a_weight_none():
    given = frames()
    plain = bound(KINDS[0], given).evaluate("ndcg@3", by="user")
    found = bound(KINDS[0], given, weight="revenue").evaluate("ndcg@3", by="user")
    weights = found.select("user").join(given["users"], on="user", how="left")["revenue"]

    counts = (weights.fill_nan(None) > 0).fill_null(value=False)
    assert found["ndcg@3"].is_not_null().to_list() == counts.to_list()
    assert found.filter(counts)["ndcg@3"].to_list() == pytest.approx(
        plain.filter(counts)["ndcg@3"].to_list()
    )


def test_equal_weights_change_no_number_and_parts_add_up():
    given = frames()
    one = given["users"].with_columns(revenue=pl.lit(0.25))
    everyone = pl.DataFrame({"user": range(N_USERS), "revenue": [0.25] * N_USERS})
    plain = bound(KINDS[0], given).evaluate(*METRICS)

    assert one.height < N_USERS
    same = bound(KINDS[0], {**given, "users": everyone}, weight="revenue").evaluate(*METRICS)
    assert same.row(0) == pytest.approx(plain.row(0), rel=1e-12)
    lazy = {name: frame.lazy() for name, frame in given.items()}
    sides = {"truth": lazy["truth"], "users": lazy["users"], "weight": "revenue"}
    parts = in_buckets(lazy["recs"].rec(**sides), *METRICS)
    assert parts.row(0)[1:] == pytest.approx(expected(given, METRICS), rel=1e-12)


def test_the_interval_is_that_of_a_ratio_of_two_means():
    rng = np.random.default_rng(5)
    n = 5_000
    ranks = rng.geometric(0.3, n)
    recs = pl.DataFrame({"user": range(n), "item": 1, "rank": ranks})
    truth = recs.select("user", "item")
    weights = rng.gamma(2.0, size=n)
    users = pl.DataFrame({"user": range(n), "revenue": weights})
    found = recs.rec(truth=truth, users=users, weight="revenue").summarize("mrr").row(0, named=True)

    values = 1 / ranks
    mean = np.average(values, weights=weights)
    # linearised: each user moves the ratio by weight · (value - mean) / mean weight
    moves = weights * (values - mean) / weights.mean()
    error = moves.std(ddof=1) / math.sqrt(n)
    half = (found["value_high"] - found["value_low"]) / 2
    assert found["value"] == pytest.approx(mean, rel=1e-12)
    # the error is estimated from 20 groups of users
    of_groups = half / stats.t.ppf(0.975, 19) / error
    least, most = np.sqrt(stats.chi2.ppf([0.0005, 0.9995], 19) / 19)
    assert least < of_groups < most


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("weight", [-1.0, math.inf])
def test_a_weight_below_0_or_without_end_fails_when_the_plan_runs(*, lazy: bool, weight: float):
    given = frames()
    users = given["users"].with_columns(
        revenue=pl.when(pl.col("user") == 40).then(weight).otherwise("revenue")
    )
    kind = KINDS[0] if not lazy else next(one for one in KINDS if one.name == "lazy")
    with pytest.raises(
        (rf.DataError, pl.exceptions.PolarsError), match="weight='revenue' is below 0 or infinite"
    ):
        kind.read(bound(kind, {**given, "users": users}, weight="revenue").evaluate("mrr"))


def test_weights_of_0_alone_give_no_number():
    given = frames()
    users = given["users"].with_columns(revenue=pl.lit(0))
    found = bound(KINDS[0], {**given, "users": users}, weight="revenue").evaluate("mrr")

    assert found.row(0) == (N_USERS, None)
