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
    household = dict(frames()["users"].select("user", "household").rows())

    assert_summary(asked_of("recs"), metrics, by, household, cluster="household")


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
