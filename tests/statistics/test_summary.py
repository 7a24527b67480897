"""Means with their intervals, held against plain definitions, SciPy and statsmodels, and against trials."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import recframe as rf
from compared_lists import LISTS_ARE_MISSING, POLICIES, asked_of, frames
from lanes import crossed
from plain_uncertainty import differing, summary, values_of
from recframe.statistics.summary import with_t_quantile
from strategies import examples, frame_pairs

pytestmark = LISTS_ARE_MISSING

METRICS = {
    "all branches": ["ndcg@3", "recall", "auc", "first_rank", "bpref@5", "judged@4", "list_length"],
    "hits alone": ["precision@3", "hit_rate@2", "mrr@2"],
    "lists": ["novelty@3", "recall@3", "popularity"],
}
each_group = pytest.mark.parametrize("metrics", METRICS.values(), ids=METRICS)
BYS = [(), ("country",), ("genre",), ("week",), ("country", "genre")]


def rows_of(result, by):
    """The rows by metric, model and segment."""
    return {
        (row["metric"], *(row[name] for name in ["model", *by])): row for row in result.to_dicts()
    }


def assert_summary(rec, metrics, by, clusters=None, tolerance=1e-9, **options):
    result = rec.summarize(*metrics, by=list(by) or None, **options).lazy().collect()
    found = rows_of(result, by)
    expected = 0
    for metric in map(rf.parse, metrics):
        for segment, values in values_of(rec, str(metric), by).items():
            row = summary(values, metric.range, clusters)
            assert not differing(found[(str(metric), *segment)], row, tolerance), (metric, segment)
            expected += row["n_users"] > 0
    assert sum(row["n_users"] > 0 for row in found.values()) == expected
    return expected


@pytest.mark.parametrize(
    ("policy", "metrics", "main", "by"), crossed(POLICIES, METRICS, ["recs", "judged"], BYS[:3])
)
def test_a_summary_is_what_the_users_values_say(policy, metrics, main, by):
    assert assert_summary(asked_of(main, **policy), metrics, by)


@pytest.mark.parametrize(("by", "metrics"), crossed(BYS[3:], METRICS))
def test_a_summary_of_segments_of_rows_is_what_the_users_values_say(by, metrics):
    assert assert_summary(asked_of(seed=1), metrics, by)


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@examples(20)
@given(frame_pairs(), st.sampled_from(POLICIES), st.sampled_from(list(METRICS.values())[:2]))
def test_odd_frames_are_summarized_as_the_users_values_say(pair, policy, metrics):
    recs, truth = pair

    for make in (pl.DataFrame.lazy, lambda frame: frame):
        rec = make(recs).rec(truth=make(truth), model="model", **policy)
        assert_summary(rec, metrics, ())


@each_group
@pytest.mark.parametrize("by", [(), ("genre",)], ids=str)
def test_clusters_are_those_of_leaving_each_out(metrics, by):
    # between whole degrees of freedom the quantile is right to 1e-5 from 5 on
    household = dict(frames()["users"].select("user", "household").rows())

    assert_summary(asked_of("recs"), metrics, by, household, tolerance=1e-5, cluster="household")


@pytest.mark.parametrize(
    ("low", "high", "off"),
    [(1, 2, 0.025), (2, 3, 1.1e-3), (3, 5, 1.2e-4), (5, 10, 1e-5), (10, 200, 1e-7)],
)
def test_between_whole_degrees_of_freedom_the_quantile_is_rather_too_high(low, high, off):
    freedom = np.linspace(low, high, 397)
    found = with_t_quantile(pl.DataFrame({"freedom": freedom}), 0.975)

    ratio = found["quantile"].to_numpy() / stats.t.ppf(0.975, freedom) - 1
    assert ratio.min() > -1e-10
    assert ratio.max() < off


def test_a_level_widens_by_students_t():
    def half(level):
        low, high = (
            asked_of("recs").summarize("first_rank", level=level).row(0, named=True)[name]
            for name in ("value_low", "value_high")
        )
        return high - low

    n = asked_of("recs").summarize("first_rank")["n_users"][0]
    assert half(0.99) / half(0.9) == pytest.approx(
        stats.t.ppf(0.995, n - 1) / stats.t.ppf(0.95, n - 1)
    )


def test_shares_have_wilsons_interval():
    statsmodels = pytest.importorskip("statsmodels.stats.proportion")
    n = 4_000
    users = pl.DataFrame({"user": range(n)})
    recs = users.with_columns(item=pl.lit(1), rank=pl.lit(1))
    truth = users.with_columns(item=pl.when(pl.col("user") % 10 < 3).then(1).otherwise(2))

    found = recs.rec(truth=truth).summarize("hit_rate@1").row(0, named=True)

    low, high = statsmodels.proportion_confint(0.3 * n, n, method="wilson")
    # t's quantile for z's
    assert found["value_low"] == pytest.approx(low, abs=1e-5)
    assert found["value_high"] == pytest.approx(high, abs=1e-5)


TRIALS, USERS = 600, 300


def trials(seed, draw):
    """Samples of 300 users of a population, each a segment: one list and one relevant item a user.

    `draw` gives the ranks at which users have their item, beyond 10 none.
    """
    random = np.random.default_rng(seed)
    ranks = np.minimum(draw(random, TRIALS * USERS), 11)
    users = np.arange(TRIALS * USERS)
    truth = pl.DataFrame({"user": users, "item": ranks})
    lists = pl.DataFrame({"item": np.arange(1, 11), "rank": np.arange(1, 11)})
    known = pl.DataFrame({"user": users, "sample": users // USERS})
    return known.select("user").join(lists, how="cross"), truth, known


def test_intervals_of_means_cover_the_populations():
    recs, truth, users = trials(0, lambda random, n: random.geometric(0.15, n))

    found = recs.rec(truth=truth, users=users).summarize("hit_rate@5", "mrr@10", by="sample")

    share = 0.15 * 0.85 ** np.arange(10)
    for metric, mean in {
        "hit_rate@5": share[:5].sum(),
        "mrr@10": share @ (1 / np.arange(1, 11)),
    }.items():
        rows = found.filter(pl.col("metric") == metric)
        covers = int(((rows["value_low"] <= mean) & (rows["value_high"] >= mean)).sum())
        # as many as a probability between .93 and .97 gives, but once in ten thousand
        assert stats.binom.ppf(1e-4, TRIALS, 0.93) <= covers <= stats.binom.isf(1e-4, TRIALS, 0.97)


def test_intervals_of_set_metrics_cover_other_samples_of_as_many_users():
    trials, users, items = 300, 200, 400
    random = np.random.default_rng(1)
    n = trials * users
    # the heads of the lists are popular, and no item stands twice in a list
    first, second = random.zipf(1.4, n) % 150, 150 + random.integers(0, 250, n)
    recs = pl.DataFrame({"user": np.arange(n).repeat(2), "rank": np.tile([1, 2], n)})
    recs = recs.with_columns(item=pl.Series(np.stack([first, second], axis=1).reshape(-1)))
    sides = {
        "users": pl.DataFrame({"user": np.arange(n), "sample": np.arange(n) // users}),
        "items": pl.DataFrame({"item": np.arange(items)}),
    }

    metrics = ["coverage", "gini", "entropy", "personalization"]
    found = recs.rec(truth=recs.select("user", "item"), **sides).summarize(*metrics, by="sample")

    for metric in metrics:
        rows = found.filter(pl.col("metric") == metric)
        mean = rows["value"].mean()
        covers = int(((rows["value_low"] <= mean) & (rows["value_high"] >= mean)).sum())
        assert stats.binom.ppf(1e-4, trials, 0.92) <= covers <= stats.binom.isf(1e-4, trials, 0.985)


@pytest.mark.parametrize(("n", "is_known"), [(8, False), (10, True)])
def test_ten_lists_of_one_size_decide_whatever_rounding(n, is_known):
    # every second list has an item of its own, the others share one: contributions are as far above the mean as below
    users = pl.DataFrame({"user": range(n)})
    own = pl.when(pl.col("user") % 2 == 0).then("user").otherwise(29)
    recs = users.with_columns(item=own, rank=1)
    truth = users.with_columns(item=0)

    for n_items in range(30, 70, 3):
        found = recs.rec(truth=truth, items=pl.DataFrame({"item": range(n_items)})).summarize(
            "coverage"
        )
        assert (found["value_low"][0] is not None) == is_known, n_items
