"""Laws that hold for every metric of the registry on any input."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import recframe as rf
from random_cases import stops_at_k
from recframe.metrics.language.registry import registered
from strategies import frame_pairs, judged_frames

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
BUILTIN = [metric for metric in registered().values() if metric.definition.family == "accuracy"]
VARIANTS = [
    *BUILTIN,
    *(rf.precision(denominator=way) for way in ("list", "achievable")),
    rf.recall(denominator="capped"),
    rf.f_score(beta=2),
    rf.f_score(denominator="list", average="means"),
    *(rf.precision(denominator=way, average="pooled") for way in ("k", "list", "achievable")),
    *(rf.recall(denominator=way, average="pooled") for way in ("relevant", "capped")),
    rf.f_score(average="pooled"),
    *(rf.map(normalizer=way) for way in ("min", "list", "hits", "k", "ranks")),
    rf.map(average="geometric"),
    rf.ncrr(denominator="list"),
    rf.compatibility(normalize=False),
    rf.interpolated_precision(recall=1),
    rf.auc(without_pair="hit"),
    rf.gauc(weight="pairs"),
    rf.partial_auc(misses=2),
    rf.partial_auc(misses=2, hits="first"),
    rf.dcg(gain="exp"),
    rf.dcg(offset=-1, discount="unshifted"),
    *(
        rf.ndcg(gain=gain, ideal=ideal)
        for gain in ("linear", "exp", "binary")
        for ideal in ("relevant", "list")
    ),
    rf.ndcg(ideal="all"),
    *(one(without_relevant="one") for one in (rf.ndcg, rf.map)),
    rf.ndcg(ideal="k", discount="unshifted"),
    rf.ndcg(gain="exp", offset=1, discount="unshifted"),
    rf.r_precision(without_hit="null"),
    rf.ndcg(ideal="k"),
    rf.rbp(p=0.5),
    rf.err(max_grade=2),
    *(rf.nerr(form=form) for form in ("target", "discount", "gain")),
]
CUTOFFS = [1, 3, None]
EVERY = list(
    dict.fromkeys(
        metric if k is None else metric @ k
        for metric in VARIANTS
        for k in CUTOFFS
        if k or not stops_at_k(metric.name, metric.parameters)
    )
)
# A plan of a hundred metrics takes longer than three of a third of them: each example of most laws asks one of these.
BATCHES = [EVERY[start : start + 51] for start in range(0, len(EVERY), 51)]
batches = st.sampled_from(BATCHES)
BEST_OF_1 = [
    "hit_rate", "recall(denominator=capped)", "map(normalizer=min)", "mrr", "ndcg",
    "ndcg(ideal=list)",
]  # fmt: skip
BEST_OF_1 += ["map(normalizer=list)", "ndcg(discount=unshifted)", "ndcg(gain=exp,offset=1)"]
BEST_OF_1 += ["ncrr", "ncrr(denominator=list)"]
OF_MEANS = {"gauc", "gauc(weight=pairs)", "recall_at_precision"}
BEST_OF_1_WHOLE = [
    "r_precision",
    "bpref",
    "compatibility",
]  # a cut-off cuts the list before these; infap smooths by 0.00001


def is_a_mean(metric: rf.Metric) -> bool:
    """Whether the value of a segment is the mean of its users' own values."""
    return "average=" not in str(metric) and str(metric).partition("@")[0] not in OF_MEANS


def assert_same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12, check_dtypes=False)


@given(judged_frames(), batches, st.sampled_from([None, "user"]))
def test_a_metric_stays_in_its_range(frame, metrics, by):
    found = frame.rec.evaluate(*metrics, by=by)

    for metric in metrics:
        low, high = metric.range
        values = found[str(metric)].drop_nulls()
        assert ((values >= low) & (values <= high + 1e-12)).all(), metric
        assert values.is_finite().all(), metric


@given(judged_frames(), batches)
def test_new_names_for_users_and_items_change_nothing(frame, metrics):
    # The new names keep the order of items, which decides between repeated ranks.
    renamed = frame.with_columns(
        user=pl.format("u{}", 9 - pl.col("user")), item=pl.format("item {}", "item")
    )

    assert_same(renamed.rec.evaluate(*metrics), frame.rec.evaluate(*metrics))


@given(judged_frames(), batches)
def test_values_of_users_average_to_the_overall_one(frame, asked):
    metrics = [metric for metric in asked if is_a_mean(metric)]
    users = frame.rec.evaluate(*metrics, by="user")
    overall = frame.rec.evaluate(*metrics)

    assert overall["n_users"].item() == len(users)
    assert_same(
        users.select(pl.col(str(metric)).mean() for metric in metrics), overall.drop("n_users")
    )


@given(
    judged_frames(),
    batches,
    st.lists(st.sampled_from(["FR", "DE", None]), min_size=5, max_size=5),
)
def test_segments_of_users_weighted_by_their_users_average_to_the_overall_value(
    frame, asked, countries
):
    null_for_some = {"auc", "first_rank", "r_precision(without_hit=null)"}
    metrics = [
        metric
        for metric in asked
        if is_a_mean(metric) and str(metric).partition("@")[0] not in null_for_some
    ]
    users = pl.DataFrame(
        {"user": range(1, 6), "country": countries}, schema_overrides={"country": pl.String}
    )
    rec = frame.rec(users=users)
    segments, overall = rec.evaluate(*metrics, by="country"), rec.evaluate(*metrics)

    assert segments["n_users"].sum() == overall["n_users"].item()
    weighted = segments.select(
        pl.col(str(metric)).dot("n_users") / pl.col("n_users").sum() for metric in metrics
    )
    if len(frame):
        assert_same(weighted, overall.drop("n_users"))


@given(
    frame_pairs(),
    batches,
    st.sampled_from([None, "truth", "recs", "both", "all"]),
    st.sampled_from(["zero", "skip", "null"]),
    st.sampled_from([None, 2]),
    st.sampled_from([None, "model"]),
)
def test_the_judged_frame_gives_the_numbers_of_its_two_frames(
    frames, metrics, universe, no_relevant, min_relevance, model
):
    recs, truth = frames
    recs = recs if model else recs.filter(model="x")
    # a model that ranks nothing leaves no row to tell of it where the truth is empty
    recs = recs.filter(pl.col("rank").is_not_null().any().over("model"))
    options = {
        "universe": universe,
        "no_relevant": no_relevant,
        "min_relevance": min_relevance,
        "model": model,
    }
    rec = recs.rec(truth=truth, **options)
    judged = rec.judge()

    assert judged.columns == [*(["model"] if model else []), "user", "item", "rank", "relevance"]
    assert not judged.select(pl.exclude("rank", "relevance")).is_duplicated().any()
    again = judged.rec(**options).evaluate(*metrics, by="user")
    assert_same(again, rec.evaluate(*metrics, by="user"))


@given(judged_frames(clean=True, min_size=1))
def test_a_perfect_order_scores_the_best(frame):
    # Every relevant item listed, best first, and nothing else.
    gain = pl.col("relevance").fill_nan(0)
    perfect = frame.filter(gain > 0).with_columns(
        rank=gain.rank("ordinal", descending=True).over("user")
    )
    found = perfect.rec.evaluate(
        *(rf.parse(name) @ k for name in BEST_OF_1 for k in (1, 3, 10)), *BEST_OF_1_WHOLE
    )

    for name in found.columns[1:]:
        assert found["n_users"].item() == 0 or found[name].item() == pytest.approx(1, abs=1e-12), (
            name
        )


@given(judged_frames(clean=True))
def test_exchanging_a_hit_with_a_miss_above_it_never_costs(frame):
    listed = frame.filter(pl.col("rank").is_not_null()).with_columns(
        hit=pl.col("relevance").fill_nan(0).fill_null(0) > 0
    )
    above = (
        listed.filter(~pl.col("hit"))
        .join(listed.filter("hit"), on="user", suffix="_hit")
        .filter(pl.col("rank") < pl.col("rank_hit"))
    )
    if above.is_empty():
        return
    row = above.row(0, named=True)
    user, miss, hit = row["user"], row["item"], row["item_hit"]
    swapped = frame.with_columns(
        rank=pl.when((pl.col("user") == user) & (pl.col("item") == miss))
        .then(row["rank_hit"])
        .when((pl.col("user") == user) & (pl.col("item") == hit))
        .then(row["rank"])
        .otherwise("rank")
    )
    upward = [
        metric for metric in EVERY if metric.direction == "higher" and metric.name != "judged"
    ]
    before, after = frame.rec.evaluate(*upward, by="user"), swapped.rec.evaluate(*upward, by="user")

    for metric in upward:
        # map over hits, ndcg of the list's own best order and auc change their own yardstick where the list is cut
        if metric.k and (
            "ideal=list" in str(metric) or str(metric).startswith(("map(normalizer=hits)", "auc"))
        ):
            continue
        lost = (before[str(metric)].fill_null(0) - after[str(metric)].fill_null(0)).max()
        assert lost is None or lost <= 1e-12, metric


@given(judged_frames())
@example(
    pl.DataFrame(
        {"user": [1], "item": ["a"], "rank": [None], "relevance": [1.0]},
        schema_overrides={"rank": pl.Int64},
    )
)
def test_metrics_that_are_lists_of_hits_over_k_never_fall_with_k(frame):
    growing = ["hit_rate", "recall", "dcg", "rbp", "err", "n_hits", "list_length", "mrr"]
    found = frame.rec.evaluate(*growing, k=[1, 2, 3, 5, 8, 20]).row(0, named=True)

    for name in growing:
        values = [found[f"{name}@{k}"] for k in (1, 2, 3, 5, 8, 20)]
        assert all(low is None or low <= high + 1e-12 for low, high in pairwise(values)), name


@pytest.mark.parametrize("metric", VARIANTS, ids=str)
def test_a_metric_survives_its_own_string(metric):
    for k in (1, 10, 250):
        assert rf.parse(str(metric @ k)) == metric @ k
        assert hash(rf.parse(str(metric @ k))) == hash(metric @ k)
        assert metric @ k != metric
