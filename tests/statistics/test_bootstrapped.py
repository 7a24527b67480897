"""Means with intervals by resampling: SciPy's where users are few, and what cannot be resampled."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import recframe as rf
from compared_lists import asked_of, frames
from plain_uncertainty import values_of


def test_percentiles_are_scipys():
    users = 500
    truth = pl.DataFrame({"user": range(users), "item": 1})
    ranks = np.random.default_rng(0).geometric(0.2, users)
    rec = truth.with_columns(rank=pl.Series(ranks)).rec(truth=truth)

    found = rec.summarize("mrr", method="bootstrap", n_resamples=20_000, wide=True)

    of_scipy = stats.bootstrap(
        [1 / ranks],
        np.mean,
        n_resamples=20_000,
        method="percentile",
        random_state=np.random.default_rng(1),
    ).confidence_interval
    width = of_scipy.high - of_scipy.low
    # both ends are known to about two hundredths of the width
    for name, end in (("value_low", of_scipy.low), ("value_high", of_scipy.high)):
        assert found[name][0] == pytest.approx(end, abs=0.03 * width)


@pytest.mark.slow
@pytest.mark.parametrize("by", [None, "country", "genre"])
@pytest.mark.parametrize("cluster", [None, "household"])
def test_all_but_the_interval_is_what_the_formula_says(by, cluster):
    metrics = ["ndcg@3", "first_rank", "novelty@3"]
    drawn, formula = (
        asked_of(n_users=400).summarize(*metrics, by=by, cluster=cluster, method=method, wide=True)
        for method in ("bootstrap", "t")
    )

    same = pl.exclude("value_low", "value_high", "value", "std", "note")
    assert drawn.select(same).equals(formula.select(same))
    for name in ("value", "std"):
        one, other = (rows[name].fill_null(np.nan).to_list() for rows in (drawn, formula))
        assert one == pytest.approx(other, rel=1e-12, nan_ok=True)
    # with fewer, the quantiles of t and those of the normal distribution are far apart
    many = drawn["n_users"] > 60
    width = [(rows["value_high"] - rows["value_low"]).filter(many) for rows in (drawn, formula)]
    assert (width[0] / width[1] - 1).abs().max() < 0.15


def test_the_seed_decides_and_another_metric_changes_nothing():
    rec = asked_of()
    alone = rec.summarize("ndcg@3", method="bootstrap", seed=3, wide=True)
    beside = rec.summarize("ndcg@3", "recall", "first_rank", method="bootstrap", seed=3, wide=True)

    assert_frame_equal(beside.filter(pl.col("metric") == "ndcg@3"), alone, rel_tol=1e-12)
    assert not rec.summarize("ndcg@3", method="bootstrap", seed=4, wide=True).equals(alone)


def test_one_cluster_has_no_interval():
    users = frames()["users"].with_columns(household=pl.lit("all"))
    rec = asked_of()(users=users)

    found = rec.summarize("ndcg@3", cluster="household", method="bootstrap", wide=True)

    assert found["value_low"].to_list() == [None] * 3
    assert set(found["note"]) == {"clusters count as fewer than two of one size, so no interval"}


def test_draws_of_clusters_are_wider_where_their_users_are_alike():
    household = np.arange(300) // 5
    truth = pl.DataFrame({"user": range(300), "item": 1})
    ranks = np.random.default_rng(0).geometric(0.3, 60)[household]
    users = pl.DataFrame({"user": range(300), "household": household})
    rec = truth.with_columns(rank=pl.Series(ranks)).rec(truth=truth, users=users)

    wide, narrow = (
        rec.summarize("mrr", cluster=cluster, method="bootstrap", wide=True).row(0, named=True)
        for cluster in ("household", None)
    )

    ratio = (wide["value_high"] - wide["value_low"]) / (narrow["value_high"] - narrow["value_low"])
    # five users say as much as one
    assert ratio == pytest.approx(5**0.5, rel=0.12)


def test_ends_beyond_the_outermost_resample_are_told():
    with pytest.warns(rf.RecframeWarning) as told:
        asked_of().summarize("ndcg@3", method="bootstrap", n_resamples=38, wide=True)

    assert [str(one.message) for one in told] == [
        (
            "n_resamples=38: too few for the ends of intervals at level=0.95; write n_resamples=39 at least, and some "
            "thousand for two digits"
        )
    ]
    asked_of().summarize("ndcg@3", method="bootstrap", n_resamples=39, wide=True)


def test_values_are_those_of_the_users():
    rec = asked_of()
    values = values_of(rec, "recall")["a",].values()

    found = rec.summarize("recall", method="bootstrap", wide=True).row(0, named=True)

    assert found["value"] == pytest.approx(np.mean(list(values)), rel=1e-12)
