"""`rec.gaps`: the best and the worst segment, by Welch's test and Sidak's correction for all pairs of segments."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import recframe as rf
from planted_shop import hits, shop

SHOP = shop()


def of_users(rec, metric, column, model, baseline=None):
    """The users' values by segment, from `evaluate`."""
    values = rec.evaluate(metric, by=["model", "user"])
    mine = values.filter(pl.col("model") == model).select("user", value=metric)
    if baseline is not None:
        base = values.filter(pl.col("model") == baseline).select("user", base=metric)
        mine = mine.join(base, on="user").with_columns(pl.col("value") - pl.col("base"))
    rows = mine.drop_nulls().join(SHOP.users, on="user")
    found = {}
    for segment, value in rows.select(column, "value").iter_rows():
        found.setdefault(segment, []).append(value)
    return found


def row_of(result, **where):
    rows = result.filter(*(pl.col(name) == value for name, value in where.items())).to_dicts()
    assert len(rows) == 1
    return rows[0]


@pytest.mark.parametrize("baseline", [None, "old"])
@pytest.mark.parametrize("column", ["country", "age"])
@pytest.mark.parametrize("metric", ["ndcg@5", "first_rank@5", "list_length@5"])
def test_the_numbers_are_scipys_welch_test_with_sidaks_correction(metric, column, baseline):
    rec, lower = SHOP.rec(), metric.startswith("first_rank")
    # few have a hit, and fewer in both models
    least = 10 if lower else 30
    result = rec.gaps(metric, by=column, baseline=baseline, min_users=least)
    found = row_of(result, model="new")
    segments = of_users(rec, metric, column, "new", baseline)
    segments.pop(None, None)
    names = [name for name in sorted(segments) if len(segments[name]) >= least]
    best, *_, worst = sorted(names, key=lambda name: fmean(segments[name]), reverse=not lower)

    assert found["n_segments"] == len(segments)
    if metric.startswith("list_length"):
        assert found["gap"] == 0
        assert found["gap_low"] is found["gap_high"] is found["p_value"] is None
        words = "all users of the best or the worst segment have the same value, so no interval"
        assert found["note"].startswith(words)
        return
    assert (found["best"], found["worst"]) == (str(best), str(worst))
    assert found["best_value"] == pytest.approx(fmean(segments[best]))
    assert found["worst_n_users"] == len(segments[worst])
    assert found["gap"] == pytest.approx(abs(found["best_value"] - found["worst_value"]))
    ends = (worst, best) if lower else (best, worst)
    welch = stats.ttest_ind(*(segments[end] for end in ends), equal_var=False)
    n_pairs = len(names) * (len(names) - 1) / 2
    interval = welch.confidence_interval(0.95 ** (1 / n_pairs))
    assert [found["gap_low"], found["gap_high"]] == pytest.approx([*interval], rel=1e-10)
    assert found["p_value"] == pytest.approx(1 - (1 - welch.pvalue) ** n_pairs, rel=1e-10)


def test_two_segments_are_welchs_test_at_any_level():
    draw = np.random.default_rng(2)
    values, country = draw.integers(0, 2, 90), ["a"] * 30 + ["b"] * 60
    found = row_of(hits(values, country=country).rec.gaps("hit_rate@1", by="country", level=0.9))

    one, other = sorted((values[:30], values[30:]), key=np.mean)
    welch = stats.ttest_ind(other, one, equal_var=False)
    assert found["p_value"] == pytest.approx(welch.pvalue)
    assert found["gap_high"] == pytest.approx(welch.confidence_interval(0.9).high)


def test_a_small_p_value_keeps_its_digits():
    country = ["a"] * 400 + ["b"] * 400 + ["c"] * 400
    values = [1] * 240 + [0] * 160 + [1, 0] * 200 + [1] * 140 + [0] * 260
    found = row_of(hits(values, country=country).rec.gaps("hit_rate@1", by="country"))

    welch = stats.ttest_ind(values[:400], values[800:], equal_var=False)
    assert 0 < found["p_value"] < 1e-11
    assert found["p_value"] == pytest.approx(3 * welch.pvalue, rel=1e-10)


def test_each_column_model_and_metric_has_a_row_in_the_order_asked(kind):
    result = kind.read(SHOP.rec(kind).gaps("ndcg@5", "mrr@3", by=["country", "age"]))

    assert " ".join(result.columns) == (
        "by model metric best worst gap gap_low gap_high best_value worst_value p_value "
        "best_n_users worst_n_users n_segments note"
    )
    assert result.select("by", "model", "metric").rows() == [
        (by, model, metric)
        for by in ("country", "age")
        for model in ("new", "old")
        for metric in ("ndcg@5", "mrr@3")
    ]
    assert set(result["note"].to_list()[:4]) == {
        f"{SHOP.users['country'].null_count()} users are in no segment, as their 'country' is null"
    }
    eager = SHOP.rec().gaps("ndcg@5", "mrr@3", by=["country", "age"])
    assert result["gap_low"].to_list() == pytest.approx(eager["gap_low"].to_list())


def test_a_lazy_frame_stays_lazy_and_says_its_schema():
    result = SHOP.rec(lambda frame: frame.lazy()).gaps("ndcg@5", by=["country", "age"])

    assert isinstance(result, pl.LazyFrame)
    assert result.collect().schema == result.collect_schema()


def test_a_column_may_be_made_by_an_expression_and_bound_by_group_by():
    by = pl.col("age") // 20 * 20
    result = SHOP.rec().gaps("ndcg@5", by=["country", by])

    assert result["by"].unique(maintain_order=True).to_list() == ["country", "age"]
    assert row_of(result, by="age", model="new")["n_segments"] == 2
    bound = SHOP.rec().group_by("country").gaps("ndcg@5", by=by)
    assert_frame_equal(bound, result)


def test_a_judged_frame_that_repeats_a_property_of_users_is_as_a_frame_of_users():
    frame = hits([1, 0, 1] * 30, country=["DE", "FR", "FR"] * 30)
    users = frame.select("user", "country")

    found = frame.rec.gaps("hit_rate@1", by="country")
    of_users = frame.drop("country").rec(users=users).gaps("hit_rate@1", by="country")
    assert_frame_equal(found, of_users)


@pytest.mark.parametrize("call", ["gaps", "slices"])
def test_a_column_of_rows_is_one_of_users_where_each_has_one_value(call, kind):
    frame = hits([1, 0, 1] * 30, country=["DE", "FR", "FR"] * 30)
    other = frame.with_columns(item=pl.lit(2, pl.Int64), rank=pl.lit(2, pl.Int64))
    expected = getattr(frame.rec, call)("hit_rate@1", by="country")
    both = kind(pl.concat([frame, other]))
    assert_frame_equal(kind.read(getattr(both.rec, call)("hit_rate@1", by="country")), expected)

    words = f"by='country': {call} takes columns of users, but this one has several values for"
    moved = kind(pl.concat([frame, other.with_columns(country=pl.lit("FR"))]))
    with pytest.raises((rf.RecframeError, pl.exceptions.PolarsError), match=words):
        kind.read(getattr(moved.rec, call)("hit_rate@1", by="country"))


def test_a_column_of_the_truth_is_one_of_users_where_each_has_one_value():
    truth = SHOP.truth.join(SHOP.users, on="user")
    rec = SHOP.recs.rec(truth, model="model")
    expected = SHOP.rec().gaps("ndcg@5", by="country")
    assert_frame_equal(rec.gaps("ndcg@5", by="country"), expected)
    moved = truth.with_columns(country=pl.col("item").cast(pl.String))
    rec = SHOP.recs.rec(moved, model="model")
    with pytest.raises(rf.RecframeError, match="several values for some user"):
        rec.gaps("ndcg@5", by="country")


# How often a gap is found where there is none


@pytest.mark.parametrize("rate", [0.9, 0.1])
@pytest.mark.slow
def test_equal_segments_show_no_gap_more_often_than_said(rate):
    draw = np.random.default_rng(7)
    n_runs, n = 60, 12 * 40
    frames = [
        hits((draw.random(n) < rate).astype(int), country=[*range(12)] * 40) for _ in range(n_runs)
    ]
    rows = pl.concat(frame.rec.gaps("hit_rate@1", by="country") for frame in frames)

    shown = (rows["gap_low"] > 0).sum()
    # no more than are to be expected of a share of .05 in all but one of a thousand tries
    assert stats.binomtest(int(shown), n_runs, 0.05, alternative="greater").pvalue > 1e-3
    assert ((rows["p_value"] <= 0.05) == (rows["gap_low"] > 0)).all()
    assert (rows["gap"] > 0).all()


def test_a_gap_that_is_there_is_found_between_the_two():
    draw = np.random.default_rng(3)
    country = np.array([*range(12)] * 300)
    values = draw.random(3600) < np.where(country == 4, 0.2, 0.5)

    found = row_of(
        hits(values.astype(int), country=country.tolist()).rec.gaps("hit_rate@1", by="country")
    )

    assert found["worst"] == "4"
    assert found["gap_low"] > 0
    assert found["p_value"] < 1e-6


# Degenerate input


NO_GAP = {"best": None, "best_n_users": None, "worst_value": None, "gap": None}
NO_GAP |= {"gap_low": None, "p_value": None}
CASES = {
    "one segment": ([1, 0] * 30, ["DE"] * 60, {}, "fewer than two segments of at least 30 users, so no gap"),
    "all null": ([1, 0] * 30, [None] * 60, {},
        "nobody has a value; 60 users are in no segment, as their 'country' is null"),
    "one user a segment": ([1, 0] * 3, [*"abcdef"], {}, "fewer than two segments of at least 30 users, so no gap"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_without_two_large_segments_there_is_no_gap_and_a_note(case, kind):
    values, country, options, note = CASES[case]
    frame = hits(values, country=country).cast({"country": pl.String})
    users = frame.select("user", "country")
    rec = kind(frame.drop("country")).rec(users=kind(users))

    found = row_of(kind.read(rec.gaps("hit_rate@1", by="country", **options)))

    assert {name: found[name] for name in NO_GAP} == NO_GAP
    assert found["note"] == note


def test_a_column_without_a_value_stands_beside_others():
    frame = hits([1, 0] * 30)
    users = frame.select("user", age=pl.Series([20, 30] * 30), nothing=pl.lit(None))

    result = frame.rec(users=users).gaps("hit_rate@1", by=["nothing", "age"])
    assert result["n_segments"].to_list() == [0, 2]


@pytest.mark.parametrize(
    ("values", "gap"), [([1] * 30 + [0] * 30, 1), ([0] * 60, 0), ([1, 0] * 15 + [0] * 30, 0.5)]
)
def test_a_segment_without_spread_has_a_gap_without_an_interval(values, gap):
    country = ["a"] * 30 + ["b"] * 30
    found = row_of(hits(values, country=country).rec.gaps("hit_rate@1", by="country"))

    assert (found["gap"], found["gap_low"], found["p_value"]) == (gap, None, None)
    words = "all users of the best or the worst segment have the same value, so no interval"
    assert found["note"] == words


def test_segments_of_one_user_have_a_gap_without_an_interval():
    found = row_of(
        hits([1, 0, 0], country=[*"abc"]).rec.gaps("hit_rate@1", by="country", min_users=1)
    )

    assert (found["best"], found["worst"], found["gap"]) == ("a", "c", 1)
    assert found["gap_low"] is found["p_value"] is None


def test_no_number_is_nan(kind):
    rec = SHOP.rec(kind)
    result = kind.read(
        rec.gaps("ndcg@5", "auc@5", "first_rank@1", by=["country", "age"], min_users=5)
    )

    assert result.select(pl.selectors.float().is_nan().any()).row(0).count(True) == 0
    assert result.filter(pl.col("gap_low").is_null(), pl.col("note").is_null()).is_empty()
