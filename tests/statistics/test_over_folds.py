"""Intervals and comparisons over the folds of a split, whose users are clusters."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from buckets_of_users import buckets_of_users
from folded_frames import FOLDS, folded, of_fold, over_folds, rec_of
from plain_uncertainty import clustered_error, interval, quantile

NAMES = ["ndcg@3", "recall", "first_rank"]


def each_of(frames: Any, metrics: list[str], **options: Any) -> pl.DataFrame:
    """The values of each user in each fold, from the frames of that fold."""
    found = []
    for fold in FOLDS.numbers:
        rows = rec_of(of_fold(frames, fold), **options).evaluate(*metrics, by="user")
        found.append(rows.with_columns(fold=pl.lit(fold)))
    return pl.concat(found)


def test_the_interval_is_that_of_users_as_clusters() -> None:
    frames = folded(1, 40)

    found = over_folds(frames).summarize(*NAMES)

    each = each_of(frames, NAMES)
    for row in found.rows(named=True):
        rows = each.filter(pl.col(row["metric"]).is_not_null(), model=row["model"])
        values = rows[row["metric"]].to_list()
        error, freedom = clustered_error(values, rows["user"].to_list())
        scale = (1.0, None) if row["metric"] == "first_rank" else (0.0, 1.0)
        ends = interval(fmean(values), error, len(values), freedom, scale)
        assert row["value"] == pytest.approx(fmean(values))
        # between whole degrees of freedom the quantile is right to 1e-5 from 5 on
        assert (row["value_low"], row["value_high"]) == pytest.approx(ends, rel=1e-5)
        assert row["n_users"] == rows["user"].n_unique()


def test_one_row_by_fold_is_what_the_filtered_frames_give() -> None:
    frames = folded(2, 30)
    metrics = ["ndcg@3", "recall", "novelty@3", "gini"]

    found = over_folds(frames).summarize(*metrics, by="fold")
    compared = over_folds(frames).compare(*metrics, baseline="a", by="fold", correction=None)

    summaries, comparisons = [], []
    for fold in FOLDS.numbers:
        rec = rec_of(of_fold(frames, fold))
        summaries.append(rec.summarize(*metrics).with_columns(fold=pl.lit(fold, pl.Int64)))
        one = rec.compare(*metrics, baseline="a", correction=None)
        comparisons.append(one.with_columns(fold=pl.lit(fold, pl.Int64)))
    close = {"rel_tol": 1e-9, "abs_tol": 1e-12}
    wanted = pl.concat(summaries).sort("model", "fold", maintain_order=True)
    assert_frame_equal(found.drop("note"), wanted.select(found.columns).drop("note"), **close)
    wanted = pl.concat(comparisons).select(compared.columns)
    # of users, where lists and their jackknife have clusters
    assert_frame_equal(compared.drop("note"), wanted.drop("note"), **close)


def test_pairs_are_of_fold_and_user_and_users_are_their_clusters() -> None:
    frames = folded(3, 50)

    found = over_folds(frames)._compared(NAMES, "a", correction=None, counts=True)

    each = each_of(frames, NAMES)
    for row in found.rows(named=True):
        name = row["metric"]
        pairs = each.filter(model="b").join(each.filter(model="a"), on=["user", "fold"])
        pairs = pairs.drop_nulls([name, f"{name}_right"])
        differences = (pairs[name] - pairs[f"{name}_right"]).to_list()
        error, freedom = clustered_error(differences, pairs["user"].to_list())
        t = fmean(differences) / math.sqrt(error)
        assert row["difference"] == pytest.approx(fmean(differences))
        assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(t), freedom))
        half = quantile(freedom) * math.sqrt(error)
        assert row["difference_low"] == pytest.approx(fmean(differences) - half)
        assert row["n_users"] == pairs["user"].n_unique()
        moved = pairs.with_columns(d=pl.Series(differences)).group_by("user").agg(pl.col("d").sum())
        signs = [round(one, 12) for one in moved["d"]]
        better = sum(one > 0 for one in signs)
        lower = name == "first_rank"
        assert row["losses" if lower else "wins"] == better
        assert row["ties"] == signs.count(0)
        assert row["wins"] + row["ties"] + row["losses"] == row["n_users"]


@pytest.mark.parametrize(
    "call",
    [
        lambda rec: rec.summarize("recall", "gini", by="land"),
        lambda rec: rec.compare("recall", "gini", baseline="a", by="land"),
    ],
)
def test_lazy_frames_and_pandas_agree(call: Any) -> None:
    frames = folded(5, 30)
    eager = call(over_folds(frames))

    lazy = call(over_folds(frames, pl.DataFrame.lazy))
    of_pandas = call(over_folds(frames, pl.DataFrame.to_pandas))

    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), eager, rel_tol=1e-9)
    # whole numbers with a null are floats there
    assert_frame_equal(pl.from_pandas(of_pandas).cast(eager.schema), eager, rel_tol=1e-9)


def test_trainings_are_a_second_sample_over_folds_too() -> None:
    frames = folded(6, 40)
    lists = [
        frames["recs"].with_columns(seed=pl.lit(seed), item=(pl.col("item") + seed) % 15)
        for seed in (0, 1, 2)
    ]
    frames["recs"] = pl.concat(lists)
    rec = over_folds(frames, training="seed")

    (row, _) = rec.summarize("recall").rows(named=True)

    each = over_folds(frames, training="seed").evaluate("recall", by="seed").filter(model="a")
    # users' means over the trainings, of each fold
    found = []
    for seed in (0, 1, 2):
        one = frames | {"recs": frames["recs"].filter(seed=seed).drop("seed")}
        found.append(each_of(one, ["recall"]).filter(model="a"))
    users = pl.concat(found).group_by("user", "fold").agg(pl.col("recall").mean())
    error, _ = clustered_error(users["recall"].to_list(), users["user"].to_list())
    assert row["value"] == pytest.approx(users["recall"].mean())
    of_trainings = each["recall"].var() / 3
    freedom = _freedom(error, users, of_trainings)
    ends = interval(row["value"], error + of_trainings, len(users), freedom, (0.0, 1.0))
    # quantiles between whole degrees of freedom are off by some 1e-5
    assert (row["value_low"], row["value_high"]) == pytest.approx(ends, rel=1e-4)


def _freedom(error: float, users: pl.DataFrame, of_trainings: Any) -> float:
    """Satterthwaite's, of users as clusters and of three trainings."""
    sizes = users.group_by("user").len()["len"]
    own = sizes.sum() ** 2 / (sizes**2).sum() - 1
    return (error + of_trainings) ** 2 / (error**2 / own + of_trainings**2 / 2)


def test_a_gate_is_that_of_users_as_clusters() -> None:
    frames = folded(10, 50)
    rec = over_folds(frames)

    found = rec.require("ndcg@3 >= 0.1", "recall >= 0.9 * a").rows(named=True)

    each = each_of(frames, ["ndcg@3", "recall"])
    summary = rec.summarize("ndcg@3")
    for row, one in zip(found, summary.rows(named=True), strict=False):
        ends = [one["value"], one["value_low"] - 0.1, one["value_high"] - 0.1, one["n_users"]]
        found_ends = ("value", "difference_low", "difference_high", "n_users")
        assert [row[name] for name in found_ends] == pytest.approx(ends)
    b, a = (each.filter(model=name).sort("fold", "user")["recall"] for name in "ba")
    users = each.filter(model="b").sort("fold", "user")["user"]
    error, freedom = clustered_error((b - 0.9 * a).to_list(), users.to_list())
    mean, half = float((b - 0.9 * a).mean() or 0), quantile(freedom) * math.sqrt(error)  # type: ignore[arg-type]
    row = found[-1]
    assert (row["requirement"], row["n_users"]) == ("recall >= 0.9 * a", users.n_unique())
    ends = (row["difference"], row["difference_low"], row["difference_high"])
    assert ends == pytest.approx((mean, mean - half, mean + half))


@pytest.mark.parametrize("options", [{}, {"baseline": "a"}])
@pytest.mark.parametrize("call", ["gaps", "slices", "power"])
def test_segments_and_power_are_of_users_whatever_their_folds(
    call: str, options: dict[str, Any]
) -> None:
    # the same three folds: as many users as of one fold, each a cluster of their own
    frames = folded(12, 60)
    own = {"own": pl.col("user"), "sector": pl.col("user") % 3}
    frames["users"] = frames["users"].with_columns(**own)
    first = {name: frame.filter(fold=0) for name, frame in frames.items()}
    again = {
        name: pl.concat([frame.with_columns(fold=pl.lit(fold, pl.Int64)) for fold in (0, 1, 2)])
        for name, frame in first.items()
    }
    of_segments: dict[str, Any] = {"by": ["land", "sector"], "min_users": 3}
    asked = options | (of_segments if call != "power" else {})

    found = getattr(over_folds(again), call)("recall", "ndcg@3", **asked)

    one = getattr(rec_of(of_fold(first, 0)), call)("recall", "ndcg@3", cluster="own", **asked)
    assert_frame_equal(found, one, rel_tol=1e-9)


@pytest.mark.parametrize("universe", ["recs", "all"])
def test_a_fold_whose_truth_the_filters_emptied_is_no_fold(universe: str) -> None:
    log = pl.DataFrame(
        {"user": [1, 2] * 3, "item": [10, 11, 10, 11, 11, 10], "t": [1, 1, 11, 11, 21, 21]}
    )
    split = log.rec(time="t").split.rolling(folds=2, horizon=10, seen="drop")
    lists = pl.DataFrame(
        {"fold": [0, 0, 1, 1], "user": [1, 2, 1, 2], "item": [10, 10, 11, 11], "rank": 1}
    )
    users = pl.DataFrame({"user": [1, 2]})
    rec = split.rec(lists, users=users, universe=universe, no_relevant="zero")

    # in the first fold both users have seen what they take, and lists of it say nothing
    assert split.truth["fold"].unique().to_list() == [1]
    calls = [rec.evaluate("coverage@1", "hit_rate@1"), rec.summarize("coverage@1", "hit_rate@1")]
    with buckets_of_users():
        divided = rec(memory="1GB")
        calls += [divided.evaluate("coverage@1", "hit_rate@1")]
        calls += [divided.summarize("coverage@1", "hit_rate@1")]
    assert [one.row(0) for one in calls[::2]] == [(2, 2, 0.5, 0.5)] * 2
    for summary in calls[1::2]:
        assert summary.select("value", "n_users", "n_lists").rows() == [(0.5, 2, 2), (0.5, 2, None)]
