"""Models held against one another: plain definitions, SciPy and statsmodels, laws, and trials of equal models."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

import recframe as rf
from compared_lists import POLICIES, asked_of, frames
from lanes import crossed, in_turn, thorough
from plain_uncertainty import clustered_error, comparison, differing, quantile, values_of
from strategies import examples, frame_pairs

METRICS = {
    "all branches": ["ndcg@3", "recall", "auc", "first_rank", "bpref@5", "judged@4", "list_length"],
    "hits alone": ["precision@3", "hit_rate@2"],
    "one": ["first_rank@3"],
    "lists": ["novelty@3"],
    "several plans": ["recall@3", "popularity", "first_rank"],
}
BYS = [(), ("country",), ("genre",), ("week",), ("country", "genre")]


def assert_compared(rec, metrics, by, baseline, margin=0.05, models="abc"):
    result = rec.compare(*metrics, by=list(by) or None, baseline=baseline, margin=margin, wide=True)
    result = result.lazy().collect()
    keys = ["metric", "model", "baseline", *by]
    found = {tuple(row[name] for name in keys): row for row in result.to_dicts()}
    pairs = [pair for pair in itertools.combinations(models, 2) if baseline in {pair[0], None}]
    expected = 0
    for metric in map(rf.parse, metrics):
        values = values_of(rec, str(metric), by)
        segments = dict.fromkeys(
            segment for _, *segment in map(tuple, values) for segment in [tuple(segment)]
        )
        ends = ends_of(metric, values, pairs, segments)
        for segment, (a, b) in itertools.product(segments, pairs):
            one, other = (values.get((model, *segment), {}) for model in (b, a))
            direction = metric.direction
            row = comparison(one, other, margin=margin, direction=direction, ends=ends)
            if not row["n_users"] and (str(metric), b, a, *segment) not in found:
                continue
            assert not differing(found[(str(metric), b, a, *segment)], row), (metric, segment, a, b)
            expected += row["n_users"] > 0
    assert (result["n_users"] > 0).sum() == expected
    return expected


def ends_of(metric, values, pairs, segments):
    """Return the ends of a metric's range, or those of the values of all users who have both."""
    if all(map(math.isfinite, metric.range)):
        return metric.range
    found = []
    for segment, (a, b) in itertools.product(segments, pairs):
        one, other = (values.get((model, *segment), {}) for model in (b, a))
        for user in one.keys() & other.keys():
            both = [one[user], other[user]]
            found += both if None not in both else []
    return (min(found), max(found)) if found else None


@pytest.mark.parametrize(
    ("policy", "metrics", "main", "baseline", "by"),
    crossed(POLICIES, METRICS, ["recs", "judged"], ["a", None], BYS[:3]),
)
def test_a_comparison_is_what_the_users_differences_say(policy, metrics, main, baseline, by):
    assert assert_compared(asked_of(main, **policy), metrics, by, baseline)


@pytest.mark.parametrize(("by", "metrics"), crossed(BYS[3:], METRICS))
def test_a_comparison_in_segments_of_rows_is_what_the_users_differences_say(by, metrics):
    assert assert_compared(asked_of(seed=1), metrics, by, None)


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@examples(20)
@given(frame_pairs(), st.sampled_from(POLICIES), st.sampled_from(list(METRICS.values())[:3]))
def test_odd_frames_are_compared_as_the_users_differences_say(pair, policy, metrics):
    """Null, NaN and negative relevance, ranks that are missing or repeated, items twice in a list."""
    recs, truth = pair
    assume(recs["model"].n_unique() == 2)

    for make in (pl.DataFrame.lazy, lambda frame: frame):
        rec = make(recs).rec(truth=make(truth), model="model", **policy)
        assert_compared(rec, metrics, (), "x", models="xy")


@pytest.mark.parametrize(("is_missed_by_new", "word"), [(True, "lower"), (False, "higher")])
def test_a_difference_that_is_shown_within_a_margin_says_so_beside_the_verdict(
    is_missed_by_new, word
):
    # of 4,000 users all have a hit but 30, by the one model or the other: a mean difference of .0075
    users = pl.DataFrame({"user": range(4000), "item": [1] * 4000, "rank": [1] * 4000})
    missed = users.with_columns(item=pl.when(pl.col("user") < 30).then(2).otherwise("item"))
    models = {"a": users, "b": missed} if is_missed_by_new else {"a": missed, "b": users}

    found = rf.rec(models, truth=users.drop("rank")).compare(
        "hit_rate@1", baseline="a", margin=0.05
    )

    assert found.select("verdict", "note").row(0) == ("same", f"within 5 %, {word}")


def test_a_difference_that_is_the_same_for_all_is_worse_by_any_margin():
    # the rounding of 1 - 2 · .95 + .95² is below 0, and its root must be no -0
    users = {"user": range(8), "item": [1] * 8}
    truth = pl.DataFrame(users)
    models = {
        "a": truth.with_columns(rank=1),
        "b": truth.with_columns(rank=1, item=pl.col("item") + 1),
    }

    found = rf.rec(models, truth=truth).compare("hit_rate@1", baseline="a", margin=0.05, wide=True)

    row = found.row(0, named=True)
    # two of the 2^8 flips of signs are as far from 0
    assert row["p_value"] == 2 / 2**8
    # of gaps of -.95, eight times, and two users' at 1 and -.95 the mean may be 0 or more, but not with a chance of 5 %
    gaps = [-0.95] * 9 + [1.0]
    assert row["p_not_worse"] == pytest.approx(
        stats.ttest_1samp(gaps, 0, alternative="greater").pvalue
    )
    assert row["verdict"] == "worse"


CORRECTIONS = {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "fdr_bh"}


@pytest.mark.parametrize(
    ("family", "correction"), in_turn(["table", "metric", "segment"], CORRECTIONS.keys())
)
def test_corrections_are_those_of_statsmodels_in_each_family(family, correction):
    found = asked_of().compare(
        "ndcg@3", "recall", "auc", by="country", correction=correction, family=family, wide=True
    )

    group = {"table": [], "metric": ["metric"], "segment": ["country"]}[family]
    families = found.partition_by(group) if group else [found]
    for rows in (one.filter(pl.col("n_users") >= 5) for one in families):
        expected = multipletests(rows["p_value"], method=CORRECTIONS[correction])[1]
        assert rows["p_adjusted"].to_list() == pytest.approx(expected.tolist(), rel=1e-12)
    without = asked_of().compare(
        "ndcg@3", "recall", "auc", by="country", correction=None, wide=True
    )
    judged = without.filter(pl.col("n_users") >= 5)
    assert judged["p_adjusted"].equals(judged["p_value"])


def test_clusters_are_those_of_leaving_each_out():
    rec, household = asked_of(), dict(frames()["users"].select("user", "household").rows())
    a, b = (values_of(rec, "recall")[model,] for model in "ab")
    d = {user: b[user] - a[user] for user in a}

    found = rec.compare("recall", baseline="a", cluster="household", wide=True).row(0, named=True)

    squared, freedom = clustered_error(list(d.values()), [household[user] for user in d])
    difference, error = np.mean(list(d.values())), squared**0.5
    half = quantile(freedom) * error
    expected = {
        "difference_low": difference - half,
        "difference_high": difference + half,
        "p_value": 2 * stats.t.sf(abs(difference) / error, freedom),
    }
    assert not differing(found, expected)


def test_sign_flips_are_scipys_permutations_where_there_are_few_users():
    few = pl.col("user") < 12
    recs, truth = (frames()[name].filter(few) for name in ("recs", "truth"))
    rec = recs.rec(truth=truth, model="model")
    a, b = (values_of(rec, "recall")[model,] for model in "ab")
    pairs = np.array([[b[user], a[user]] for user in a])

    found = rec.compare("recall", baseline="a", test="permutation", wide=True).row(0, named=True)

    exact = stats.permutation_test(
        tuple(pairs.T),
        lambda b, a, axis: np.mean(b - a, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
    )
    assert found["p_value"] == pytest.approx(exact.pvalue, rel=1e-12)


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_resampled_p_values_are_near_students_where_there_are_many_users(test):
    recs, truth = (frames(n_users=800)[name] for name in ("recs", "truth"))
    rec = recs.rec(truth=truth, model="model")

    by_t, by_draws = (
        rec.compare("ndcg@5", "recall", "hit_rate@3", test=one, wide=True)["p_value"]
        for one in ("t", test)
    )

    # three binomial errors of 9,999 draws, and what skewness does
    assert (by_t - by_draws).abs().max() < 0.02


@pytest.mark.parametrize("by", [None, "country", "genre"])
def test_models_that_change_places_change_the_sign(by):
    metrics = ["ndcg@3", "recall", "first_rank", "novelty@3", "gini@3"]

    there, back = (
        asked_of()
        .compare(*metrics, baseline=baseline, by=by, correction=None, level=0.5, wide=True)
        .filter(pl.col("model") == model)
        for baseline, model in (("a", "b"), ("b", "a"))
    )

    for name, sign in [("difference", -1), ("p_value", 1), ("effect_size", -1), ("n_unpaired", 1)]:
        one, other = (rows[name].cast(pl.Float64).fill_null(np.nan) for rows in (there, back))
        assert one.to_list() == pytest.approx((sign * other).to_list(), abs=1e-12, nan_ok=True)
    assert there["wins"].to_list() == back["losses"].to_list()
    mirrored = {"better": "worse", "worse": "better"}
    assert there["verdict"].to_list() == back["verdict"].replace(mirrored).to_list()
    assert {"better", "worse"} & set(there["verdict"])


def test_equal_lists_in_another_order_are_the_same():
    """Sums in another order differ by their rounding, which is neither a win nor a finding."""
    random = np.random.default_rng(0)
    n, length = 400, 10
    items = np.stack([random.choice(60, length, replace=False) for _ in range(n)])
    truth = pl.DataFrame({"user": range(n), "item": items[:, 3]})
    train = pl.DataFrame(
        {"user": random.integers(0, n, 3_000), "item": random.integers(0, 60, 3_000)}
    )

    def lists(items):
        columns = {"user": np.repeat(range(n), length), "item": items.reshape(-1)}
        return pl.DataFrame(columns | {"rank": np.tile(range(1, length + 1), n)})

    models = {
        "a": lists(items),
        "b": lists(items[:, ::-1]),
        "c": lists(items).sample(fraction=1, shuffle=True, seed=0),
    }
    rec = rf.rec(
        {name: one.lazy() for name, one in models.items()},
        truth=truth.lazy(),
        train=train.unique().lazy(),
    )
    metrics = [
        "novelty",
        "popularity",
        "gini",
        "entropy",
        "personalization",
        "popularity_lift",
        "f_score(average=means)",
    ]

    found = rec.compare(*metrics, baseline="a", wide=True).collect(engine="streaming")

    assert set(found["difference"]) == {0.0}
    assert set(found["p_value"]) == {1.0}
    assert set(found["verdict"]) == {"same"}
    assert set(found["ties"].drop_nulls()) == {n}


def test_a_difference_of_few_users_is_no_rounding():
    n = 300
    recs = pl.DataFrame({"user": range(n), "item": range(n)}).with_columns(
        rank=1, item=pl.col("item") % 20
    )
    other = recs.with_columns(item=pl.when(pl.col("user") < 12).then(99).otherwise("item"))
    models = {"a": recs, "b": other}

    items = pl.DataFrame({"item": range(100)})
    rec = rf.rec(models, truth=recs.select("user", "item"), items=items)
    found = rec.compare("entropy", "hit_rate@1", wide=True)

    assert found["difference"].abs().min() > 1e-3
    assert not found["verdict"].is_in(["same"]).any()


def test_too_few_resamples_for_a_correction_are_told():
    rec = asked_of()
    with pytest.warns(rf.RecframeWarning) as told:
        rec.compare("ndcg@3", "recall", test="permutation", n_resamples=99, wide=True)

    # 6 rows: Holm asks for 6 / (B + 1) <= .05
    assert [str(one.message) for one in told] == [
        (
            "n_resamples=99: no p value can be below 0.01, too high for level=0.95 over 6 rows with correction='holm'; "
            "write n_resamples=119, or correction='max_t'"
        )
    ]
    rec.compare("ndcg@3", "recall", test="permutation", n_resamples=119, wide=True)
    rec.compare(
        "ndcg@3", "recall", test="permutation", n_resamples=99, correction="max_t", wide=True
    )
    rec.compare("ndcg@3", "recall", test="permutation", n_resamples=99, family="metric", wide=True)
    with pytest.warns(rf.RecframeWarning, match=r"level=0.95; write n_resamples=19$"):
        rec.compare("ndcg@3", test="bootstrap", n_resamples=18, correction=None, wide=True)
    rec.compare("ndcg@3", test="bootstrap", n_resamples=19, correction=None, wide=True)


@pytest.mark.parametrize(("n", "is_tested"), [(2, False), (4, False), (5, True)])
def test_a_bootstrap_of_fewer_than_five_users_tests_nothing(n, is_tested):
    users = pl.DataFrame({"user": range(n), "item": 1})
    models = {
        "a": users.with_columns(rank=1),
        "b": users.with_columns(rank=pl.col("user") % 3 + 1),
    }
    rec = rf.rec(models, truth=users)

    found = rec.compare("mrr", test="bootstrap", min_users=1, wide=True).row(0, named=True)

    assert (found["p_value"] is not None) == is_tested
    few = "fewer than 5 users or clusters, which are too few to resample"
    assert (few in found["note"]) == (not is_tested)
    assert found["difference_low"] is not None
    assert rec.compare("mrr", test="permutation", min_users=1, wide=True)["p_value"][0] is not None


@pytest.mark.parametrize("test", thorough(["t", "permutation", "bootstrap"], 1))
def test_equal_models_are_told_apart_as_rarely_as_is_said(test):
    samples, users = 400, 200
    random, n = np.random.default_rng(2), 400 * 200
    truth = pl.DataFrame({"user": np.arange(n), "item": 1})
    ranks = {name: random.geometric(0.25, n) for name in "ab"}
    models = {name: truth.with_columns(rank=pl.Series(one)) for name, one in ranks.items()}
    segments = pl.DataFrame({"user": np.arange(n), "sample": np.arange(n) // users})

    found = rf.rec(models, truth=truth, users=segments).compare(
        "mrr@10", "hit_rate@3", by="sample", test=test, correction=None, n_resamples=499, wide=True
    )

    for metric in ("mrr@10", "hit_rate@3"):
        false = int((found.filter(pl.col("metric") == metric)["p_value"] <= 0.05).sum())
        assert (
            stats.binom.ppf(1e-4, samples, 0.03) <= false <= stats.binom.isf(1e-4, samples, 0.065)
        )


def skewed_models(share):
    """Make models of 900 users: "b" puts the item first for a share, and a place lower for half; "c" and "d" are shuffles."""
    random, n = np.random.default_rng(11), 900
    truth = pl.DataFrame({"user": np.arange(n), "item": 1})
    chance = random.random(n)
    ranks = {
        "a": np.full(n, 10),
        "b": np.where(chance < share, 1, np.where(chance < share + 0.5, 11, 10)),
        "c": random.permuted(np.arange(n) % 10 + 1),
        "d": random.permuted(np.arange(n) % 10 + 1),
    }
    models = {name: truth.with_columns(rank=pl.Series(one)) for name, one in ranks.items()}
    return rf.rec(models, truth=truth)


def test_skewed_differences_are_noted_where_max_t_takes_them_for_symmetric():
    note = "skewed differences, for which max_t finds too many; correction='holm' errs less often"

    def noted(baseline, model, **how):
        found = skewed_models(0.02).compare(
            "mrr", baseline=baseline, n_resamples=199, **how, wide=True
        )
        return note in (found.filter(model=model)["note"][0] or "")

    # 18 of 900 users gain .9, some 450 lose .01: 18 · .9³ / (18 · .9²)^1.5 is .24; two shuffles of the same places are alike
    assert noted("a", "b", correction="max_t")
    assert noted("a", "b", correction="max_t", test="bootstrap")
    assert not noted("c", "d", correction="max_t")
    assert not noted("a", "b", correction="holm", test="permutation")
    assert not noted("a", "b", correction="holm")
