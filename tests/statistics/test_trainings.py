"""Trainings of one model, such as seeds: each judged by itself, means over them, and verdicts over users and trainings."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import stats

import recframe as rf
from plain_uncertainty import interval
from recframe.cli.commands import main
from recframe.statistics.estimates import Sums, judged, of_mean
from recframe.statistics.sums import PLACE
from trained_lists import ITEMS, USERS, bound, lists, truth_of

METRICS = ("ndcg@5", "recall@5", "auc", "coverage@5", "list_length", "first_rank")


def of_each(recs: pl.DataFrame, seed: int, *metrics: str, by=None) -> pl.DataFrame:
    """Return what the frame of each training alone says."""
    parts = recs.partition_by("model", "seed", as_dict=True, include_key=False)
    found = [
        part.rec(truth_of(seed), users=USERS, items=ITEMS)
        .evaluate(*metrics, by=by)
        .select(pl.lit(model).alias("model"), pl.lit(number).alias("seed"), pl.all())
        for (model, number), part in parts.items()
    ]
    return pl.concat(found)


# Values


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), by=st.sampled_from([None, "country", "user"]))
def test_values_are_means_over_those_of_each_training(seed, by):
    recs = lists(seed)
    metrics = [one for one in METRICS if by != "user" or one != "coverage@5"]
    keys = ["model", *([by] if by else [])]
    each = of_each(recs, seed, *metrics, by=by)
    support = [name for name in ("n_users", "n_lists") if name in each.columns]
    expected = each.group_by(keys).agg(pl.col(support).min(), pl.col(metrics).mean())

    found = bound(recs, seed).evaluate(*metrics, by=by)

    assert_frame_equal(found, expected.sort(keys, nulls_last=True), rel_tol=1e-12)
    again = bound(recs, seed).evaluate(*metrics, by=[*([by] if by else []), "seed"])
    keys.append("seed")
    expected = each.select(again.columns).sort(keys, nulls_last=True)
    assert_frame_equal(again.with_columns(pl.col("seed").cast(pl.Int32)), expected, rel_tol=1e-12)


def test_every_kind_of_frame_has_the_same_values(kind):
    recs, truth = lists(3), truth_of(3)
    rec = kind(recs).rec(kind(truth), model="model", training="seed")
    wanted = recs.rec(truth, model="model", training="seed").evaluate("ndcg@5", "list_length")
    assert_frame_equal(kind.read(rec.evaluate("ndcg@5", "list_length")), wanted, rel_tol=1e-12)


def test_trainings_without_models_are_means_and_floats():
    recs = lists(5, {"a": [1, 2, 3]}).drop("model")
    rec = recs.rec(truth_of(5), training="seed")
    each = [
        part.rec(truth_of(5)).ndcg(k=5) for part in recs.partition_by("seed", include_key=False)
    ]
    assert rec.ndcg(k=5) == pytest.approx(np.mean(each), rel=1e-12)
    assert rec.evaluate("ndcg@5", by="seed").columns == ["seed", "n_users", "ndcg@5"]


def test_large_frames_which_are_asked_before_have_the_same_values():
    random, n = np.random.default_rng(0), 48_000
    row = pl.int_range(n)
    recs = pl.select(
        model=pl.when(row < n // 2).then(pl.lit("a")).otherwise(pl.lit("b")),
        seed=row // (n // 6) % 3,
        user=row // 20 % 400,
        rank=row % 20 + 1,
        item=pl.lit(pl.Series(random.integers(0, 200, n))),
    )
    truth = pl.select(user=pl.int_range(4000) // 10, item=pl.Series(random.integers(0, 200, 4000)))
    one = recs.with_columns(pl.format("{} {}", "model", "seed").alias("model"))
    each = one.rec(truth, model="model").evaluate("ndcg@10", "list_length")
    wanted = each["ndcg@10"].to_numpy().reshape(2, 3).mean(axis=1)
    rec = recs.rec(truth, model="model", training="seed")
    assert rec.evaluate("ndcg@10")["ndcg@10"].to_list() == pytest.approx(wanted, rel=1e-12)
    summary = rec.summarize("ndcg@10")
    assert summary["value"].to_list() == pytest.approx(wanted, rel=1e-12)
    difference = rec.compare("ndcg@10", baseline="a")["difference"].item()
    assert difference == pytest.approx(wanted[1] - wanted[0])
    lazy = recs.lazy().rec(truth.lazy(), model="model", training="seed").summarize("ndcg@10")
    assert_frame_equal(lazy.collect(), summary, rel_tol=1e-9)


def test_a_judged_frame_of_trainings_has_their_values():
    recs = lists(6)
    rec = recs.rec(truth_of(6), model="model", training="seed")
    judged = rec.judge()
    assert judged.columns == ["model", "seed", "user", "item", "rank", "relevance"]
    again = judged.rec(model="model", training="seed").evaluate("ndcg@5", "recall@3")
    assert_frame_equal(again, rec.evaluate("ndcg@5", "recall@3"), rel_tol=1e-12)


def test_a_null_is_a_training_too_such_as_that_of_popularity():
    recs = lists(7, {"a": [1, 2]}).vstack(lists(8, {"popularity": [0]}))
    recs = recs.with_columns(pl.when(pl.col("model") == "a").then("seed").alias("seed"))
    found = recs.rec(truth_of(7), model="model", training="seed").evaluate("mrr", by="seed")
    assert found.select("model", "seed").rows() == [("a", 1), ("a", 2), ("popularity", None)]


def test_trainings_and_models_that_are_not_bound_are_warned_of_and_found():
    lists = pl.DataFrame({"seed": [1, 2], "user": [[*range(24)]] * 2}).explode("user")
    lists = lists.with_columns(rank=[*range(1, 6)]).explode("rank")
    lists = lists.with_columns(item=(pl.col("user") + pl.col("seed") + pl.col("rank")) % 30)
    recs = pl.concat([lists.with_columns(model=pl.lit(name)) for name in "ab"])
    rec = recs.rec(truth_of(1), model="model")
    with pytest.warns(rf.RecframeWarning, match=r"write rec\(training='seed'\)"):
        rec.evaluate("ndcg@5")
    found = rec.audit().filter(pl.col("check") == "pooled_models")
    assert "rec(training='seed')" in found["remedy"].item()
    assert "pooled_models" not in bound(recs, 1).audit()["check"]
    with pytest.warns(rf.RecframeWarning, match=r"write rec\(model='model'\)"):
        recs.rec(truth_of(1), training="seed").evaluate("ndcg@5")


def test_the_shell_takes_trainings(tmp_path):
    recs, paths = lists(18, {"a": [1, 2, 3], "b": [4, 5, 6]}), []
    for name, frame in {"recs": recs, "truth": truth_of(18)}.items():
        paths.append(str(tmp_path / f"{name}.parquet"))
        frame.write_parquet(paths[-1])
    options = ["--model", "model", "--training", "seed", "-m", "ndcg@5", "--format", "json"]
    rec = recs.rec(truth_of(18), model="model", training="seed")
    for command in ("evaluate", "compare"):
        found = CliRunner().invoke(main, [command, *paths, *options])
        wanted = getattr(rec, command)("ndcg@5")
        assert_frame_equal(pl.DataFrame(json.loads(found.stdout)), wanted, check_dtypes=False)
    refused = CliRunner().invoke(main, ["gaps", *paths, *options, "--by", "user"])
    assert "--training seed" in refused.output.replace("'", "")


# Intervals and verdicts


def users_values(recs, seed, metric):
    """Return users' values of each model, trainings x users, by a table of each training by itself."""
    each = of_each(recs, seed, metric, by="user").sort("model", "seed", "user")
    return {
        model: np.stack([one[metric].to_numpy() for one in part.partition_by("seed")])
        for (model,), part in each.partition_by("model", as_dict=True).items()
    }


def satterthwaite(parts):
    whole = sum(error for error, _ in parts)
    return whole**2 / sum(error**2 / freedom for error, freedom in parts if error > 0)


def between(values, factor=1.0):
    """Return the squared error of trainings, and its degrees of freedom; none of one training."""
    means = values.mean(axis=1)
    one = len(means) == 1
    return (0.0, 1.0) if one else (factor**2 * means.var(ddof=1) / len(means), len(means) - 1.0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("metric", ["ndcg@5", "dcg@5"])
def test_comparisons_are_those_of_users_and_trainings(seed, metric):
    recs = lists(seed)
    values = users_values(recs, seed, metric)

    found = bound(recs, seed).compare(metric, margin=0.1, correction=None)

    for row in found.iter_rows(named=True):
        b, a = values[row["model"]], values[row["baseline"]]
        own, other = b.mean(axis=0), a.mean(axis=0)
        d = own - other
        n = len(d)
        parts = [(d.var(ddof=1) / n, n - 1.0), between(b), between(a)]
        error, freedom = sum(one for one, _ in parts) ** 0.5, satterthwaite(parts)
        reach = stats.t.ppf(0.975, freedom)
        p = max(2 * stats.t.sf(abs(d.mean()) / error, freedom), 2.0 ** (1 - np.sum(d != 0)))
        assert row["value"] == pytest.approx(own.mean())
        assert row["difference"] == pytest.approx(d.mean())
        assert row["difference_low"] == pytest.approx(d.mean() - reach * error, rel=1e-9)
        assert row["difference_high"] == pytest.approx(d.mean() + reach * error, rel=1e-9)
        assert row["p_value"] == pytest.approx(p, rel=1e-9)
        check_margin(row, own, other, values, metric)


def check_margin(row, own, other, values, metric):
    """Hold "not worse" against the users, two more where the metric has ends, and the trainings."""
    b, a = values[row["model"]], values[row["baseline"]]
    ends = [-0.9, 1.0] if metric == "ndcg@5" else []
    if not ends and (own != other).sum() < 30:
        assert row["p_not_worse"] is None
        return
    gap = np.array([*(own - 0.9 * other), *ends])
    parts = [(gap.var(ddof=1) / len(gap), len(gap) - 1.0), between(b), between(a, 0.9)]
    t = gap.mean() / sum(one for one, _ in parts) ** 0.5
    assert row["p_not_worse"] == pytest.approx(stats.t.sf(t, satterthwaite(parts)), rel=1e-9)


def test_intervals_of_values_are_those_of_users_and_trainings():
    recs = lists(11)
    for metric, scale in (("ndcg@5", (0.0, 1.0)), ("dcg@5", (0.0, None))):
        values = users_values(recs, 11, metric)
        for row in bound(recs, 11).summarize(metric).iter_rows(named=True):
            own = values[row["model"]]
            users = own.mean(axis=0)
            parts = [(users.var(ddof=1) / len(users), len(users) - 1.0), between(own)]
            error, freedom = sum(one for one, _ in parts), satterthwaite(parts)
            ends = interval(users.mean(), error, len(users), freedom, scale)
            assert (row["value"], row["std"]) == pytest.approx((users.mean(), users.std(ddof=1)))
            assert (row["value_low"], row["value_high"]) == pytest.approx(ends, rel=1e-9)


def test_clusters_of_one_user_are_users():
    recs = lists(12)
    rec = bound(recs, 12)
    alone = USERS.with_columns(household=pl.col("user"))
    clustered = recs.rec(truth_of(12), model="model", training="seed", users=alone, items=ITEMS)
    for ask, options in (("summarize", {}), ("compare", {"baseline": "a"})):
        found = getattr(clustered, ask)("ndcg@5", cluster="household", **options)
        wanted = getattr(rec, ask)("ndcg@5", **options)
        assert_frame_equal(found.drop("note"), wanted.drop("note"), rel_tol=1e-9)


def test_a_value_of_one_training_is_its_own_with_a_note():
    recs = lists(14, {"a": [1], "b": [5]})
    plain = recs.drop("seed").rec(truth_of(14), model="model", users=USERS, items=ITEMS)
    rec, metrics = bound(recs, 14), ("ndcg@5", "list_length", "coverage@5")
    assert_frame_equal(rec.evaluate(*metrics), plain.evaluate(*metrics))
    for ask, options in (("summarize", {}), ("compare", {"baseline": "a", "margin": 0.1})):
        wanted = getattr(plain, ask)(*metrics, **options)
        found = getattr(rec, ask)(*metrics, **options)
        # one training says nothing of others: there is no verdict
        assert set(found.get_column("verdict")) == {"open"} if ask == "compare" else True
        without = {"note", "p_adjusted", "verdict"}
        numbers = [name for name in wanted.columns if name not in without]
        assert_frame_equal(found.select(numbers), wanted.select(numbers), rel_tol=1e-12)
        noted = found.filter(pl.col("metric") == "ndcg@5")["note"]
        assert all("one training" in note for note in noted)


def test_a_model_whose_training_is_null_is_fixed():
    recs = pl.concat([lists(16, {"a": [1, 2, 3]}), lists(17, {"popularity": [0]})])
    recs = recs.with_columns(seed=pl.when(pl.col("model") == "a").then("seed"))
    values = users_values(recs.fill_null(0), 16, "ndcg@5")
    b, a = values["popularity"][0], values["a"].mean(axis=0)

    row = bound(recs, 16).compare("ndcg@5", baseline="a").row(0, named=True)

    parts = [((b - a).var(ddof=1) / len(a), len(a) - 1.0), between(values["a"])]
    error, freedom = sum(one for one, _ in parts) ** 0.5, satterthwaite(parts)
    assert row["p_adjusted"] == pytest.approx(2 * stats.t.sf(abs((b - a).mean()) / error, freedom))
    assert "training" not in (row["note"] or "")
    assert "training" not in (bound(recs, 16).summarize("ndcg@5")["note"][-1] or "")


def test_a_set_metric_is_the_mean_of_its_trainings_without_each_group_of_users():
    recs = lists(20, {"a": [1, 2, 3]}, 300)
    rec = recs.rec(truth_of(20, 300), model="model", training="seed", items=ITEMS)
    values = rec.evaluate("gini@5", by="seed")["gini@5"].to_numpy()

    row = rec.summarize("gini@5").row(0, named=True)

    assert row["value"] == pytest.approx(values.mean())
    of_groups = row["std"] ** 2 / row["n_users"]
    parts = [
        (of_groups, 19.0),
        (values.var(ddof=1) / 3, 2.0),
    ]
    reach = stats.t.ppf(0.975, satterthwaite(parts)) * sum(one for one, _ in parts) ** 0.5
    assert row["value_high"] - row["value"] == pytest.approx(reach)


@pytest.mark.parametrize(("n", "m"), [(5, 5), (2, 2), (2, 5)])
@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0, 3.0])
def test_equal_models_differ_as_seldom_as_said_whatever_trainings_vary(n, m, spread):
    random, samples, users = np.random.default_rng([n, m]), 1_000, 200
    # the trainings' standard deviation, in the error of the users' mean difference
    a, b = (random.normal(0, spread / users**0.5, (samples, of)) for of in (n, m))
    d = random.normal(0, 1, (samples, users)) + (b.mean(axis=1) - a.mean(axis=1))[:, None]
    sums: dict[str, object] = {PLACE: [0] * samples}
    sums |= dict.fromkeys(("n", "nn", "units", "effective", "differ"), float(users))
    sums |= dict.fromkeys(("a", "aa", "ad", "an"), 0.0) | {"trainings": m, "baseline trainings": n}
    sums |= dict.fromkeys(("d", "dn"), d.sum(axis=1)) | {"dd": (d * d).sum(axis=1)}
    sums |= {"between trainings": b.var(axis=1, ddof=1)}
    sums |= {"baseline between trainings": a.var(axis=1, ddof=1)}

    p_value = judged(of_mean(Sums(pl.DataFrame(sums), [rf.mrr])), level=0.95).p_value

    # at most 8 in 100, but once in ten thousand
    assert (p_value <= 0.05).sum() <= stats.binom.isf(1e-4, samples, 0.08)
