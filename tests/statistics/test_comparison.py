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
from statsmodels.stats.weightstats import DescrStatsW

import recframe as rf
from compared_lists import LISTS_ARE_MISSING, POLICIES, asked_of, frames
from lanes import crossed
from plain_uncertainty import clustered_error, comparison, differing, quantile, values_of
from recframe.statistics.comparison import of_unpaired
from strategies import examples, frame_pairs

pytestmark = LISTS_ARE_MISSING

METRICS = {
    "all branches": ["ndcg@3", "recall", "auc", "first_rank", "bpref@5", "judged@4", "list_length"],
    "hits alone": ["precision@3", "hit_rate@2"],
    "one": ["first_rank@3"],
    "lists": ["novelty@3"],
    "several plans": ["recall@3", "popularity", "first_rank"],
}
BYS = [(), ("country",), ("genre",), ("week",), ("country", "genre")]


def assert_compared(rec, metrics, by, baseline, margin=0.05, models="abc"):
    result = rec._compared(metrics, baseline, by=list(by) or None, margin=margin, counts=True)
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
        ends = metric.range if all(map(math.isfinite, metric.range)) else None
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

    found = rf.rec(models, truth=truth).compare("hit_rate@1", baseline="a", margin=0.05)

    row = found.row(0, named=True)
    # two of the 2^8 flips of signs are as far from 0
    assert row["p_value"] == 2 / 2**8
    # of gaps of -.95, eight times, and two users' at 1 and -.95 the mean may be 0 or more, but not with a chance of 5 %
    gaps = [-0.95] * 9 + [1.0]
    assert row["p_not_worse"] == pytest.approx(
        stats.ttest_1samp(gaps, 0, alternative="greater").pvalue
    )
    assert row["verdict"] == "worse"


@pytest.mark.parametrize("seed", range(3))
def test_tests_are_scipys_and_statsmodels_to_ten_digits(seed):
    random, close = np.random.default_rng(seed), {"rel": 1e-10, "abs": 0}
    n, ranks = 200, random.integers(1, 12, (4, 200))
    users = pl.DataFrame({"user": range(n), "item": 1})
    models = {
        name: users.with_columns(rank=pl.Series(one))
        for name, one in zip("abcd", ranks, strict=True)
    }
    rec, values = rf.rec(models, truth=users), np.where(ranks <= 10, 1 / ranks, 0.0)

    rows = rec.compare("mrr@10", baseline="a", margin=0.1)

    p_values = [stats.ttest_rel(b, values[0]).pvalue for b in values[1:]]
    assert rows["p_value"].to_list() == pytest.approx(p_values, **close)
    for row, b in zip(rows.to_dicts(), values[1:], strict=True):
        ends = stats.ttest_rel(b, values[0]).confidence_interval(0.95)
        assert (row["difference_low"], row["difference_high"]) == pytest.approx([*ends], **close)
        # two one-sided tests, of these users and two whose values are as far apart as any can be
        pair = np.append(b, [1, 0]), np.append(values[0], [0, 1])
        gaps = [DescrStatsW(pair[0] - factor * pair[1]) for factor in (0.9, 1.1)]
        one_sided = [
            gap.ttest_mean(0, of)[1] for gap, of in zip(gaps, ("larger", "smaller"), strict=True)
        ]
        assert row["p_equivalent"] == pytest.approx(max(one_sided), **close)
    for correction, method in (("holm", "holm"), ("benjamini-hochberg", "fdr_bh")):
        found = rec.compare("mrr@10", "hit_rate@5", correction=correction)
        expected = multipletests(found["p_value"], method=method)[1]
        assert found["p_adjusted"].to_list() == pytest.approx(expected.tolist(), **close)


def test_clusters_are_those_of_leaving_each_out():
    rec, household = asked_of(), dict(frames()["users"].select("user", "household").rows())
    a, b = (values_of(rec, "recall")[model,] for model in "ab")
    d = {user: b[user] - a[user] for user in a}

    found = rec.compare("recall", baseline="a", cluster="household").row(0, named=True)

    squared, freedom = clustered_error(list(d.values()), [household[user] for user in d])
    difference, error = np.mean(list(d.values())), squared**0.5
    half = quantile(freedom) * error
    expected = {
        "difference_low": difference - half,
        "difference_high": difference + half,
        "p_value": 2 * stats.t.sf(abs(difference) / error, freedom),
    }
    assert not differing(found, expected)


@pytest.mark.parametrize("by", [None, "country", "genre"])
def test_models_that_change_places_change_the_sign(by):
    metrics = ["ndcg@3", "recall", "first_rank", "novelty@3", "gini@3"]

    there, back = (
        asked_of()
        ._compared(metrics, baseline, by=by, correction=None, level=0.5, counts=True)
        .filter(pl.col("model") == model)
        for baseline, model in (("a", "b"), ("b", "a"))
    )

    for name, sign in [("difference", -1), ("p_value", 1)]:
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
        "novelty", "popularity", "gini", "entropy", "personalization", "popularity_lift",
        "f_score(average=means)",
    ]  # fmt: skip

    found = rec._compared(metrics, "a", counts=True).collect(engine="streaming")

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
    found = rec.compare("entropy", "hit_rate@1")

    assert found["difference"].abs().min() > 1e-3
    assert not found["verdict"].is_in(["same"]).any()


def test_clusters_whose_differences_cancel_do_not_differ():
    # of three users in a house two have .1 and .2 more by the one model, and one .3 more by the other: the sum is rounding
    hits = [(0, 1), (0, 2), (3, 0)]
    rows = [
        (model, 3 * house + user, item if item < n else 100 + item, item + 1)
        for house in range(20)
        for user, of in enumerate(hits)
        for model, n in zip("ab", of, strict=True)
        for item in range(10)
    ]
    recs = pl.DataFrame(rows, schema=["model", "user", "item", "rank"], orient="row")
    truth = pl.DataFrame({"user": range(60)}).join(pl.DataFrame({"item": range(5)}), how="cross")
    users = pl.DataFrame({"user": range(60)}).with_columns(house=pl.col("user") // 3)

    row = recs.rec(truth, users=users, model="model").compare(
        "precision@10", baseline="a", cluster="house"
    )

    found = row.row(0, named=True)
    assert (found["difference"], found["p_value"], found["verdict"]) == (0, 1, "open")


def test_more_than_a_fifth_of_users_with_one_value_alone_is_a_selection():
    # 5 of 25 users, and 5 of 24; 5 of 100 are not yet many, 5 of 99 are
    n, of_each = np.array([20.0, 19.0, 95.0, 94.0]), np.full(4, fill_value=True)
    selected, many = of_unpaired(n, np.full(4, 5.0), of_each).values()
    assert selected.tolist() == [False, True, False, False]
    assert many.tolist() == [True, False, False, True]


def test_two_users_with_the_same_values_are_enough_to_say_so():
    one = pl.DataFrame({"user": range(3), "item": 1, "rank": 1, "relevance": 1})
    both = pl.concat([one.with_columns(model=pl.lit(name)) for name in "ab"])
    for n, verdict in ((1, "open"), (2, "same"), (3, "same")):
        some = both.filter(pl.col("user") < n).rec(model="model")
        assert some.compare("hit_rate@1", min_users=1)["verdict"].to_list() == [verdict]
