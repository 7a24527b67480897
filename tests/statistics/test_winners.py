"""The best of several models: by plain sums over users, in trials, and where models are equal."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats

import recframe as rf
from compared_lists import frames
from plain_uncertainty import values_of
from recframe.statistics.comparison import Comparing
from recframe.statistics.pairs import Pairing
from recframe.statistics.winners import winners
from simulated_pairs import mean_of, reciprocal_ranks, sums_of

MODELS = "abcdef"


def many():
    found = frames(models=MODELS)
    return found["recs"].rec(truth=found["truth"], users=found["users"], model="model")


def all_hit():
    """Return models of whose lists each has the user's item at some rank."""
    random = np.random.default_rng(5)
    truth = pl.DataFrame({"user": range(70), "item": 1})
    users = truth.select("user", country=pl.col("user") % 3)
    lists = {one: truth.with_columns(rank=pl.Series(random.integers(1, 9, 70))) for one in MODELS}
    return rf.rec(lists, truth=truth, users=users)


def between(y, own):
    """Return the variance between models beyond their own errors, by Paule and Mandel."""

    def too_much(tau2):
        weight = 1 / (own + tau2)
        return (weight * (y - np.average(y, weights=weight)) ** 2).sum() - (len(y) - 1)

    return optimize.brentq(too_much, 0, 10, xtol=1e-15) if too_much(0) > 0 else 0.0


def expected(values, sign):
    """Return the winner's row, from users' values by model of whom all have one."""
    a, others = values["a"], sorted(set(values) - {"a"})
    d = np.array([values[one] - a for one in others])
    m, n = d.shape
    place, runner_up = np.argsort(-sign * d.mean(axis=1), kind="stable")[:2]
    # each model's own part of the covariance matrix of its mean, of which pairs have v + v'
    pairs = np.array([[np.var(one - two, ddof=1) / n for two in d] for one in d])
    own = (pairs.sum(axis=1) - pairs.sum() / (2 * (m - 1))) / (m - 2)
    own = np.maximum(own, own.mean() / 10)
    total = own + between(d.mean(axis=1), own)
    centre = np.average(d.mean(axis=1), weights=1 / total)
    kept = 1 - own[place] / total[place]
    low, high = stats.t.interval(
        0.95 ** (1 / m), n - 1, loc=d[place].mean(), scale=stats.sem(d[place])
    )
    ahead = d[place] - d[runner_up]
    return {
        "model": others[place],
        "n_models": m,
        "difference": d[place].mean(),
        "difference_low": low,
        "difference_high": high,
        "difference_shrunk": centre + kept * (d[place].mean() - centre),
        "runner_up": others[runner_up],
        "ahead": ahead.mean(),
        "p_value": max(stats.ttest_1samp(ahead, 0).pvalue, 2.0 ** (1 - np.count_nonzero(ahead))),
        "n_differ": np.count_nonzero(ahead),
    }


@pytest.mark.parametrize(
    ("rec", "metric", "sign"),
    [(many, "ndcg@3", 1), (many, "recall", 1), (all_hit, "first_rank", -1)],
)
@pytest.mark.parametrize("by", [(), ("country",)], ids=str)
def test_the_winner_is_what_plain_sums_over_users_say(rec, metric, sign, by):
    rec = rec()
    values = values_of(rec, metric, by)

    found = rec.winner(metric, baseline="a", by=list(by) or None, wide=True).to_dicts()

    assert found
    for row in found:
        segment = tuple(row[name] for name in by)
        users = values[("a", *segment)]
        of_models = {
            model: np.array([values[(model, *segment)][user] for user in users], dtype=float)
            for model in MODELS
        }
        for name, number in expected(of_models, sign).items():
            same = number if isinstance(number, str) else pytest.approx(number, rel=1e-7)
            assert row[name] == same, (segment, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rec", "metric", "sign"), [(many, "recall", 1), (all_hit, "first_rank", -1)]
)
def test_it_is_first_as_often_as_in_resamples_of_users(rec, metric, sign):
    rec = rec()
    values = values_of(rec, metric)
    users = list(values["a",])
    d = np.array([[values[one,][user] - values["a",][user] for user in users] for one in "bcdef"])
    weights = np.random.default_rng(0).poisson(1, (len(users), 20_000))
    means = sign * d @ weights / weights.sum(axis=0)
    first = means >= means.max(axis=0) - 1e-9

    found = [
        rec.winner(metric, baseline="a", n_resamples=20_000, seed=seed, wide=True).row(
            0, named=True
        )
        for seed in (0, 0, 1)
    ]

    share = (first / first.sum(axis=0))["bcdef".index(found[0]["model"])].mean()
    assert found[0]["first"] == pytest.approx(share, abs=0.03)
    assert found[0] == found[1]
    assert 0 < abs(found[0]["first"] - found[2]["first"]) < 0.02


def test_equal_models_share_the_first_place_and_the_first_by_name_has_it():
    users = pl.DataFrame({"user": range(40), "item": 1})
    same = users.with_columns(rank=pl.col("user") % 3 + 1)
    models = {
        "old": users.with_columns(rank=pl.col("user") % 5 + 1),
        "c": same,
        "b": same,
        "d": same,
    }

    row = rf.rec(models, truth=users).winner("mrr", baseline="old", wide=True).row(0, named=True)

    assert (row["model"], row["runner_up"], row["ahead"], row["verdict"]) == ("b", "c", 0, "same")
    assert row["first"] == pytest.approx(1 / 3)
    assert row["difference_shrunk"] == pytest.approx(row["difference"])
    assert row["note"] == "the runner-up is equally good, and second only by its name"


def test_what_is_worse_than_the_baseline_wins_with_a_note():
    users = pl.DataFrame({"user": range(40), "item": 1})
    models = {"a": users.with_columns(rank=3), "old": users.with_columns(rank=1)}

    row = rf.rec(models, truth=users).winner("mrr", baseline="old", wide=True).row(0, named=True)

    assert (row["model"], row["n_models"], row["first"]) == ("a", 1, 1.0)
    assert [row[name] for name in ("runner_up", "ahead", "verdict", "difference_shrunk")] == [
        None
    ] * 4
    assert row["note"].startswith("no other model is better than the baseline; one model beside")


def test_fewer_than_three_models_are_not_shrunk_and_few_users_not_judged():
    users = pl.DataFrame({"user": range(4), "item": 1})
    ranks = {"old": 3, "a": 1, "b": 2}
    rec = rf.rec({name: users.with_columns(rank=rank) for name, rank in ranks.items()}, truth=users)

    row = rec.winner("mrr", baseline="old", wide=True).row(0, named=True)

    assert (row["model"], row["runner_up"], row["verdict"], row["p_adjusted"]) == (
        "a",
        "b",
        "few",
        None,
    )
    assert row["difference_shrunk"] is None
    assert "fewer than three models, so no shrinkage" in row["note"]
    # four users who differ: 2 of the 16 ways in which four signs fall
    row = rec.winner("mrr", baseline="old", min_users=1, wide=True).row(0, named=True)
    assert (row["p_value"], row["verdict"]) == (2 / 2**4, "open")


@pytest.mark.parametrize(
    "model",
    [
        pl.col("model").replace_strict(dict(zip("abc", (1, 2, 10), strict=True))),
        pl.col("model").cast(pl.Categorical),
        pl.col("model").cast(pl.Enum(["c", "b", "a"])),
    ],
    ids=["numbers", "categories", "an enumeration"],
)
def test_models_of_any_dtype_win(model):
    tables = frames()
    recs = tables["recs"].with_columns(model)
    names = recs["model"].unique().sort()
    rec = recs.rec(truth=tables["truth"], model="model")

    found = rec.winner("recall", baseline=names[0], wide=True)

    assert (
        found["model"].dtype == found["runner_up"].dtype == found["baseline"].dtype == names.dtype
    )
    assert {found["model"][0], found["runner_up"][0]} == set(names[1:].to_list())


SCENES = {
    "ten equal": [0.0] * 10,
    "ten apart": list(np.linspace(-0.2, 0.2, 10)),
    "two equal": [0.0] * 2,
    "one better": [0.3, *[0.0] * 5],
}
TASTE = 6.0
SAMPLES = 1000
USERS = 300


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_what_is_claimed_of_a_winner_holds_in_trials(scene):
    lifts = SCENES[scene]
    random = np.random.default_rng(sum(map(ord, scene)))
    blocks = [
        sums_of(reciprocal_ranks(random, 200, USERS, [0.0, *lifts], taste=TASTE)).with_columns(
            pl.col("sample") + 200 * block
        )
        for block in range(SAMPLES // 200)
    ]
    pairing = Pairing("a", pl.String(), "model", among_others=True)

    found = winners(pl.concat(blocks), ["sample"], pairing, Comparing(n_resamples=1))

    assert len(found) == SAMPLES
    places = {chr(ord("b") + place): lift for place, lift in enumerate(lifts)}
    base = mean_of(0.0, TASTE)
    lift, behind = (
        base * found[name].replace_strict(places, return_dtype=pl.Float64).to_numpy()
        for name in ("model", "runner_up")
    )
    low, high, said = (
        found[name].to_numpy() for name in ("difference_low", "difference_high", "difference")
    )
    # whichever is picked, 95 are promised; some 90 of 100 would be those of 95 % intervals
    covered = np.count_nonzero((low <= lift) & (lift <= high))
    assert stats.binom.cdf(covered, SAMPLES, 0.95) > 1e-4
    # Holm is over the 1,000 samples, so p by itself
    wrong = np.count_nonzero((found["p_value"] <= 0.05).to_numpy() & (lift <= behind))
    assert stats.binom.sf(wrong - 1, SAMPLES, 0.05) > 1e-4
    if len(lifts) > 2:
        error = np.mean(found["difference_shrunk"].to_numpy() - lift)
        assert error < np.mean(said - lift) / 4
        # one that stands out from others who are alike is drawn too far
        assert error > -np.mean(said - lift) / 4 or scene == "one better"
