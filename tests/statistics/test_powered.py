"""What so many users can show: by statsmodels, from differences at hand and from one model's values."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.power import TTestPower

import recframe as rf
from compared_lists import asked_of, frames
from plain_uncertainty import clustered_error, differing, power, values_of
from recframe.statistics.comparison import Comparing, compared
from recframe.statistics.power import Gap, Power, chance_to_hold, of_pairs, users_to_hold
from simulated_pairs import reciprocal_ranks, sums_of

METRICS = ["ndcg@3", "recall", "first_rank", "novelty@3"]


@pytest.mark.parametrize("by", [(), ("genre",)], ids=str)
@pytest.mark.parametrize("metric", METRICS)
def test_differences_at_hand_show_what_statsmodels_says(metric, by):
    rec = asked_of()
    values = values_of(rec, metric, by)

    for row in rec.power(metric, by=list(by) or None, baseline="a", wide=True).to_dicts():
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

    for row in rec.power(metric, correlation=0.6, wide=True).to_dicts():
        values = values_of(rec, metric)[row["model"],].values()
        known = [value for value in values if value is not None]
        # Var(b - a) = 2 (1 - r) Var(a)
        std = np.std(known, ddof=1) * np.sqrt(2 * 0.4)
        assert not differing(row, power(std, len(known), np.mean(known)), 2e-5), row["model"]


def test_users_who_hang_together_say_less():
    rec, household = asked_of(), dict(frames()["users"].select("user", "household").rows())
    a, b = (values_of(rec, "recall")[model,] for model in "ab")
    d = {user: b[user] - a[user] for user in b}

    found = rec.power("recall", baseline="a", cluster="household", wide=True)

    squared, _ = clustered_error(list(d.values()), [household[user] for user in d])
    row = found.filter(pl.col("model") == "b").row(0, named=True)
    # the standard deviation of as many independent users
    assert row["std"] == pytest.approx((squared * len(d)) ** 0.5, rel=1e-9)


def test_a_metric_without_a_known_interval_has_no_spread_to_go_by():
    # all items are covered twice, so that no list changes the coverage
    recs = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 1, 2], "rank": 1})
    rec = recs.rec(truth=recs.select("user", "item"), items=pl.DataFrame({"item": [1, 2]}))

    row = rec.power("coverage", wide=True).row(0, named=True)

    assert [row[name] for name in ("std", "detectable", "users_needed")] == [None] * 3
    assert row["note"] == "no spread of this metric is known"


def test_what_takes_more_users_than_there_are_is_told():
    users = pl.DataFrame({"user": range(50), "item": 1})
    rec = users.with_columns(rank=pl.col("user") % 2 + 1).rec(truth=users)

    row = rec.power("mrr", wanted=1e-12, wide=True).row(0, named=True)

    assert row["users_needed"] is None
    assert row["note"] == "the wanted difference needs more users than there are"


METRIC = [rf.parse("mrr")]


@pytest.mark.parametrize(
    ("margin", "wanted", "chance", "taste"),
    [(0.1, 0.0, 0.8, 1.0), (0.3, 0.0, 0.5, 6.0), (0.2, -0.1, 0.9, 1.0), (0.3, 0.05, 0.8, 6.0)],
)
def test_so_many_users_show_not_worse_as_often_as_was_asked(margin, wanted, chance, taste):
    random = np.random.default_rng(int(1000 * (margin + chance)))
    population = sums_of(reciprocal_ranks(random, 1, 400_000, [0.0, wanted], taste=taste))
    how = Power(wanted=wanted, margin=margin, power=chance)
    n = of_pairs(population, [], how)["users_needed"].item()
    block = max(1, 1_000_000 // n)

    held = [
        compared(
            sums_of(reciprocal_ranks(random, block, n, [0.0, wanted], taste=taste)),
            ["sample"],
            Comparing(margin=margin, correction=None),
        )["p_not_worse"]
        <= 0.025
        for _ in range(-(-2000 // block))
    ]

    shown = pl.concat(held).head(2000)
    assert shown.sum() == pytest.approx(2000 * chance, abs=0.04 * 2000)


@pytest.mark.parametrize("cluster", [None, "household"])
@pytest.mark.parametrize(("metric", "sign"), [("ndcg@3", 1), ("first_rank", -1)])
def test_users_who_hold_are_by_the_gap_of_two_more_at_its_ends(metric, sign, cluster):
    rec, household = asked_of(), dict(frames()["users"].select("user", "household").rows())
    values = values_of(rec, metric)
    both = {
        model: {
            user: (values[model,][user], a)
            for user, a in values["a",].items()
            if None not in {a, values[model,].get(user)}
        }
        for model in "bc"
    }
    seen = [one for pairs in both.values() for pair in pairs.values() for one in pair]
    lowest, highest = (0.0, 1.0) if sign > 0 else (min(seen), max(seen))
    b, a = np.array(list(both["b"].values())).T
    gap = sign * (b - (1 - sign * 0.1) * a)
    ends = [
        sign * (one - (1 - sign * 0.1) * two)
        for one in (lowest, highest)
        for two in (lowest, highest)
    ]
    squared, sizes = np.var(gap, ddof=1) / len(gap), [1] * len(gap)
    if cluster is not None:
        clusters = [household[user] for user in both["b"]]
        squared, _ = clustered_error(list(gap), clusters)
        known = [one for one in clusters if one is not None]
        sizes = [1] * clusters.count(None) + [known.count(one) for one in set(known)]

    row = rec.power(metric, baseline="a", margin=0.1, cluster=cluster, wide=True).row(0, named=True)

    std = (squared * len(gap)) ** 0.5
    assert row["std"] == pytest.approx(std, rel=1e-9)
    effective = sum(sizes) / np.square(sizes).sum()
    expected = Gap(0.1 * a.mean(), std, min(ends), max(ends), np.mean(sizes), effective)
    assert row["chance"] == pytest.approx(chance_to_hold(expected, len(gap)), rel=1e-6)
    assert row["users_needed"] == users_to_hold(expected)
    # with as many users, the two more say little, and it is one side of the paired t test
    one_sided = TTestPower().solve_power(
        0.1 * a.mean() / std, alpha=0.025, power=0.8, alternative="larger"
    )
    assert row["users_needed"] == pytest.approx(one_sided, rel=0.05)


def test_rows_divide_the_level_as_bonferroni_does():
    rec = asked_of()

    for options in ({}, {"margin": 0.2}):
        found = rec.power("recall", baseline="a", rows=5, **options, wide=True)
        assert found.equals(rec.power("recall", baseline="a", level=0.99, **options, wide=True))
        assert (
            found["users_needed"]
            > rec.power("recall", baseline="a", **options, wide=True)["users_needed"]
        ).all()


def test_a_gate_of_what_has_no_better_end_or_no_share_holds_of_nobody():
    rec = asked_of()
    missed = pl.DataFrame({"user": range(20), "item": 1})
    nothing = missed.with_columns(rank=2).rec(truth=missed)

    row = rec.power("list_length", margin=0.1, wide=True).row(0, named=True)
    assert (row["users_needed"], row["chance"]) == (None, None)
    assert row["note"].startswith("no direction of the metric is better")
    row = nothing.power("hit_rate@1", margin=0.1, wide=True).row(0, named=True)
    assert (row["users_needed"], row["chance"]) == (None, None)
    assert row["note"] == "the value is not above 0, so a relative margin has no meaning"
