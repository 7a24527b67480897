"""What so many users can show: by statsmodels, from differences at hand and from one model's values."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from compared_lists import asked_of, frames
from plain_uncertainty import clustered_error, differing, power, values_of

METRICS = ["ndcg@3", "recall", "first_rank", "novelty@3"]


@pytest.mark.parametrize("by", [(), ("genre",)], ids=str)
@pytest.mark.parametrize("metric", METRICS)
def test_differences_at_hand_show_what_statsmodels_says(metric, by):
    rec = asked_of()
    values = values_of(rec, metric, by)

    for row in rec.power(metric, by=list(by) or None, baseline="a").to_dicts():
        segment = tuple(row[name] for name in by)
        a, b = (values[(model, *segment)] for model in ("a", row["model"]))
        pairs = [(b[user], a[user]) for user in a if user in b]
        both = np.array([pair for pair in pairs if None not in pair])
        if len(both) < 2:
            assert row["detectable"] is None
            assert row["note"]
            continue
        expected = power(np.std(both[:, 0] - both[:, 1], ddof=1), len(both), both[:, 1].mean())
        assert not differing(row, expected, 2e-5), (row["model"], segment)


@pytest.mark.parametrize("metric", METRICS)
def test_one_models_values_stand_for_differences_to_one_like_it(metric):
    rec = asked_of()

    for row in rec.power(metric, correlation=0.6).to_dicts():
        values = values_of(rec, metric)[row["model"],].values()
        known = [value for value in values if value is not None]
        # Var(b - a) = 2 (1 - r) Var(a)
        std = np.std(known, ddof=1) * np.sqrt(2 * 0.4)
        assert not differing(row, power(std, len(known), np.mean(known)), 2e-5), row["model"]


def test_users_who_hang_together_say_less():
    rec, household = asked_of(), dict(frames()["users"].select("user", "household").rows())
    a, b = (values_of(rec, "recall")[model,] for model in "ab")
    d = {user: b[user] - a[user] for user in b}

    found = rec.power("recall", baseline="a", cluster="household")

    squared, _ = clustered_error(list(d.values()), [household[user] for user in d])
    row = found.filter(pl.col("model") == "b").row(0, named=True)
    # the standard deviation of as many independent users
    assert row["std"] == pytest.approx((squared * len(d)) ** 0.5, rel=1e-9)


def test_a_metric_without_a_known_interval_has_no_spread_to_go_by():
    # all items are covered twice, so that no list changes the coverage
    recs = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 1, 2], "rank": 1})
    rec = recs.rec(truth=recs.select("user", "item"), items=pl.DataFrame({"item": [1, 2]}))

    row = rec.power("coverage").row(0, named=True)

    assert [row[name] for name in ("std", "detectable", "users_needed")] == [None] * 3
    assert row["note"] == "no spread of this metric is known"


def test_what_takes_more_users_than_there_are_is_told():
    users = pl.DataFrame({"user": range(50), "item": 1})
    rec = users.with_columns(rank=pl.col("user") % 2 + 1).rec(truth=users)

    row = rec.power("mrr", wanted=1e-12).row(0, named=True)

    assert row["users_needed"] is None
    assert row["note"] == "what is wanted takes more users than there are"
