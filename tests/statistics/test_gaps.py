"""`rec.gaps`: the best and the worst segment, with intervals that know that they were picked."""

from __future__ import annotations

import re
from itertools import combinations
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import recframe as rf
from planted_shop import apart, hits, shop
from recframe.statistics.shrinkage import borrowed_variances, pooled

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
def test_the_numbers_are_those_of_the_users_values(metric, column, baseline):
    rec, lower = SHOP.rec(), metric.startswith("first_rank")
    # few have a hit, and fewer in both models
    least = 10 if lower else 30
    result = rec.gaps(metric, by=column, baseline=baseline, min_users=least, wide=True)
    found = row_of(result, model="new")
    segments = of_users(rec, metric, column, "new", baseline)
    segments.pop(None, None)
    names = [name for name in sorted(segments) if len(segments[name]) >= least]
    groups = [segments[name] for name in sorted(segments)]
    places = {name: sorted(segments).index(name) for name in names}
    best, *_, worst = sorted(names, key=lambda name: fmean(segments[name]), reverse=not lower)

    assert found["n_segments"] == len(segments)
    assert found["n_small"] == len(segments) - len(names)
    if metric.startswith("list_length"):
        assert found["gap"] == found["gap_low"] == found["gap_high"] == 0
        assert found["p_value"] == 1
        assert found["note"].startswith("all users of a segment have the same value")
        return
    assert (found["best"], found["worst"]) == (str(best), str(worst))
    assert found["best_value"] == pytest.approx(fmean(segments[best]))
    assert found["worst_n_users"] == len(segments[worst])
    assert found["gap"] == pytest.approx(abs(found["best_value"] - found["worst_value"]))
    means = [fmean(segments[name]) for name in names]
    apart_by = fmean(abs(one - other) for one, other in combinations(means, 2))
    assert found["mad"] == pytest.approx(apart_by)
    ratio = None if baseline else pytest.approx(found["worst_value"] / found["best_value"])
    assert found["ratio"] == ratio
    pair = apart(groups, places[best], places[worst])
    z = stats.studentized_range.ppf(0.95, len(names), np.inf) / 2**0.5
    half = pair.half(1 - 2 * stats.norm.sf(z))
    assert found["gap_low"] == pytest.approx(found["gap"] - half, rel=1e-5)
    assert found["gap_high"] == pytest.approx(found["gap"] + half, rel=1e-5)
    each = [apart(groups, places[a], places[b]).p_value for a, b in combinations(names, 2)]
    of_all = stats.studentized_range.sf(stats.norm.isf(min(each) / 2) * 2**0.5, len(names), np.inf)
    assert found["p_value"] == pytest.approx(of_all, abs=1e-6)


def test_pooled_values_and_the_spread_take_the_small_segments_too():
    rec = SHOP.rec()
    segments = of_users(rec, "ndcg@5", "country", "old")
    groups = [segments[name] for name in ("DE", "FR", "JP", "LI")]
    n = np.array([*map(len, groups)])
    variances = borrowed_variances([np.var(one, ddof=1) for one in groups], n)
    expected = pooled([*map(np.mean, groups)], np.sqrt(variances / n))

    found = row_of(rec.gaps("ndcg@5", by="country", wide=True), model="old")

    assert n[3] < 30
    assert found["spread"] == pytest.approx(float(expected.spread))
    assert found["gap_pooled"] == pytest.approx(np.ptp(expected.value[:3]))


def test_each_column_model_and_metric_has_a_row_in_the_order_asked(kind):
    result = kind.read(SHOP.rec(kind).gaps("ndcg", "mrr@3", k=5, by=["country", "age"], wide=True))

    assert result.columns[:5] == ["by", "model", "metric", "k", "n_segments"]
    assert result.columns[-1] == "note"
    assert result.select("by", "model", "metric", "k").rows() == [
        (by, model, metric, k)
        for by in ("country", "age")
        for model in ("new", "old")
        for metric, k in (("ndcg@5", 5), ("mrr@3", 3))
    ]
    assert set(result["note"].to_list()[:4]) == {
        f"{SHOP.users['country'].null_count()} users are in no segment, as their 'country' is null"
    }
    eager = SHOP.rec().gaps("ndcg", "mrr@3", k=5, by=["country", "age"], wide=True)
    assert result["gap_low"].to_list() == pytest.approx(eager["gap_low"].to_list())


def test_a_lazy_frame_stays_lazy_and_says_its_schema():
    result = SHOP.rec(lambda frame: frame.lazy()).gaps("ndcg@5", by=["country", "genre"], wide=True)

    assert isinstance(result, pl.LazyFrame)
    assert result.collect().schema == result.collect_schema()


def test_a_column_may_be_made_by_an_expression_and_bound_by_group_by():
    by = pl.col("age") // 20 * 20
    result = SHOP.rec().gaps("ndcg@5", by=["country", by], wide=True)

    assert result["by"].unique(maintain_order=True).to_list() == ["country", "age"]
    assert row_of(result, by="age", model="new")["n_segments"] == 2
    bound = SHOP.rec().group_by("country").gaps("ndcg@5", by=by, wide=True)
    assert_frame_equal(bound, result)


def test_a_judged_frame_that_repeats_a_property_of_users_is_as_a_frame_of_users():
    frame = hits([1, 0, 1] * 30, country=["DE", "FR", "FR"] * 30)
    users = frame.select("user", "country")

    found = frame.rec.gaps("hit_rate@1", by="country", wide=True)
    of_users = frame.drop("country").rec(users=users).gaps("hit_rate@1", by="country", wide=True)
    assert_frame_equal(found, of_users)


@pytest.mark.parametrize("baseline", [None, "old"])
def test_by_a_property_of_items_users_stand_in_several_segments(baseline):
    rec = SHOP.rec()
    found = row_of(rec.gaps("ndcg@5", by="genre", baseline=baseline, wide=True), model="new")
    values = rec.evaluate("ndcg@5", by=["model", "genre", "user"])
    wide = values.pivot("model", index=["genre", "user"], values="ndcg@5")
    value = pl.col("new") - (pl.col("old") if baseline else 0)
    means = dict(wide.group_by("genre").agg(value.mean()).iter_rows())
    best, worst = max(means, key=means.get), min(means, key=means.get)
    table = wide.with_columns(value.alias("value")).pivot("genre", index="user", values="value")
    # of users who are in both: the error of the difference, paired
    pairs = table.select(pl.col(best) - pl.col(worst)).drop_nulls().to_series()
    pairs_half = stats.t.ppf(1 - 0.05 / 6, len(pairs)) * pairs.std() / len(pairs) ** 0.5

    assert (found["best"], found["worst"]) == (best, worst)
    assert found["gap"] == pytest.approx(means[best] - means[worst])
    assert found["note"] == "some users are in several segments"
    # other users are in one of them alone, and groups of users are drawn: it holds roughly
    assert found["gap_high"] - found["gap"] == pytest.approx(pairs_half, rel=0.25)


# Reversals between segments


def mixed(rates, sizes, seed=0):
    """Countries with so many light and heavy users, who have a hit as often as the rates say."""
    draw = np.random.default_rng(seed)
    cells = [(c, a, sizes[c, a]) for c, a in sizes]
    country, activity = (
        np.repeat([cell[at] for cell in cells], [n for *_, n in cells]) for at in (0, 1)
    )
    values = [int(draw.random() < rates[one]) for one in zip(country, activity, strict=True)]
    return hits(values, country=country.tolist(), activity=activity.tolist())


RATES = {("DE", "light"): 0.2, ("DE", "heavy"): 0.7, ("FR", "light"): 0.3, ("FR", "heavy"): 0.8}
MOSTLY_HEAVY = {
    ("DE", "light"): 300,
    ("DE", "heavy"): 2700,
    ("FR", "light"): 2700,
    ("FR", "heavy"): 300,
}


def test_a_paradox_of_the_mix_is_named():
    frame = mixed(RATES, MOSTLY_HEAVY)
    users = frame.select("user", "country", "activity")
    rec = frame.drop("country", "activity").rec(users=users)

    result = rec.gaps("hit_rate@1", by=["country", "activity"], wide=True)

    assert row_of(result, by="country")["best"] == "DE"
    assert row_of(result, by="country")["note"] == (
        "FR is below DE, but above it in every 'activity': a paradox of the mix"
    )
    assert row_of(result, by="activity")["note"] is None
    assert rec.gaps("hit_rate@1", by="country", wide=True)["note"].to_list() == [None]


@pytest.mark.parametrize(
    ("rates", "sizes"),
    [
        # the same mix; a level in which they are the same; too few users to tell
        (RATES, dict.fromkeys(RATES, 1000)),
        (RATES | {("FR", "heavy"): 0.7}, MOSTLY_HEAVY | {("FR", "heavy"): 29}),
        (RATES, {cell: n // 60 + 30 for cell, n in MOSTLY_HEAVY.items()}),
        (dict.fromkeys(RATES, 0.5), MOSTLY_HEAVY),
    ],
)
def test_no_paradox_is_named_where_none_is_shown(rates, sizes):
    frame = mixed(rates, sizes)
    users = frame.select("user", "country", "activity")
    result = (
        frame.drop("country", "activity")
        .rec(users=users)
        .gaps("hit_rate@1", by=["country", "activity"], wide=True)
    )

    assert not result.filter(pl.col("note").str.contains("paradox")).height


# How often a gap is found where there is none


@pytest.mark.parametrize("rate", [0.9, 0.1])
@pytest.mark.slow
def test_equal_segments_show_no_gap_more_often_than_said(rate):
    draw = np.random.default_rng(7)
    n_runs, n = 60, 12 * 40
    frames = [
        hits((draw.random(n) < rate).astype(int), country=[*range(12)] * 40) for _ in range(n_runs)
    ]
    rows = pl.concat(frame.rec.gaps("hit_rate@1", by="country", wide=True) for frame in frames)

    shown = (rows["gap_low"] > 0).sum()
    # no more than are to be expected of a share of .05 in all but one of a thousand tries
    assert stats.binomtest(int(shown), n_runs, 0.05, alternative="greater").pvalue > 1e-3
    assert ((rows["p_value"] <= 0.05) >= (rows["gap_low"] > 0)).all()
    assert (rows["gap"] > 0).all()


def test_a_gap_that_is_there_is_found_between_the_two():
    draw = np.random.default_rng(3)
    country = np.array([*range(12)] * 300)
    values = draw.random(3600) < np.where(country == 4, 0.2, 0.5)

    found = row_of(
        hits(values.astype(int), country=country.tolist()).rec.gaps(
            "hit_rate@1", by="country", wide=True
        )
    )

    assert found["worst"] == "4"
    assert found["gap_low"] > 0
    assert found["p_value"] < 1e-6


# Degenerate input


NO_GAP = {"best": None, "best_n_users": None, "worst_value": None, "gap": None, "gap_low": None}
NO_GAP |= {"gap_pooled": None, "ratio": None, "mad": None, "p_value": None}
CASES = {
    "one segment": ([1, 0] * 30, ["DE"] * 60, {}, "fewer than two segments of at least 30 users, so no gap"),
    "all null": (
        [1, 0] * 30, [None] * 60, {},
        "nobody has a value; 60 users are in no segment, as their 'country' is null",
    ),
    "one user a segment": ([1, 0] * 3, [*"abcdef"], {}, "fewer than two segments of at least 30 users, so no gap"),
    "nobody": ([], [], {}, "nobody has a value"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_without_two_large_segments_there_is_no_gap_and_a_note(case, kind):
    values, country, options, note = CASES[case]
    frame = hits(values, country=country).cast({"country": pl.String})
    users = frame.select("user", "country")
    rec = kind(frame.drop("country")).rec(users=kind(users))

    found = row_of(kind.read(rec.gaps("hit_rate@1", by="country", **options, wide=True)))

    assert {name: found[name] for name in NO_GAP} == NO_GAP
    assert found["note"] == note


def test_very_many_segments_that_share_users_have_no_interval():
    n = 1001
    lists = {
        "user": [1, 2] * n,
        "item": [*range(n)] * 2,
        "rank": [1] * 2 * n,
        "relevance": [1] * 2 * n,
    }
    frame = pl.DataFrame(lists | {"item": np.repeat(range(n), 2)})

    found = row_of(frame.rec.gaps("hit_rate", by="item", min_users=2, wide=True))
    assert (found["n_segments"], found["gap"], found["gap_low"]) == (n, 0, None)
    assert (
        found["note"]
        == "more than 1,000 segments share users, so no interval; some users are in several segments"
    )
    slices = frame.rec.slices("hit_rate", by="item", min_users=2, wide=True)
    assert slices["difference"].abs().max() == slices["difference_high"].abs().max() == 0


def test_columns_without_a_value_cross_with_others():
    frame = hits([1, 0] * 30)
    users = frame.select("user", age=pl.Series([20, 30] * 30), nothing=pl.lit(None))

    result = frame.rec(users=users).gaps("hit_rate@1", by=["nothing", "age"], wide=True)
    assert result["n_segments"].to_list() == [0, 2]


def test_segments_of_one_user_have_a_gap_without_an_interval():
    found = row_of(
        hits([1, 0, 0], country=[*"abc"]).rec.gaps(
            "hit_rate@1", by="country", min_users=1, wide=True
        )
    )

    assert (found["best"], found["worst"], found["gap"]) == ("a", "c", 1)
    assert found["gap_low"] is found["p_value"] is found["spread"] is None
    assert found["note"] == "no segment has two users, so no interval"


def test_segments_in_which_all_have_the_same_value():
    country = ["a"] * 30 + ["b"] * 30
    found = row_of(
        hits([1] * 30 + [0] * 30, country=country).rec.gaps("hit_rate@1", by="country", wide=True)
    )
    none = row_of(hits([0] * 60, country=country).rec.gaps("hit_rate@1", by="country", wide=True))

    assert (found["gap_low"], found["gap_high"], found["p_value"]) == (1, 1, 0)
    assert found["note"] == "all users of a segment have the same value"
    assert (none["gap"], none["p_value"], none["ratio"]) == (0, pytest.approx(1), None)
    assert (
        none["note"]
        == "all users of a segment have the same value; the best value is 0, so no ratio"
    )


def test_no_number_is_nan(kind):
    rec = SHOP.rec(kind)
    result = kind.read(
        rec.gaps("ndcg@5", "auc@5", "first_rank@1", by=["country", "genre"], min_users=5, wide=True)
    )

    assert result.select(pl.selectors.float().is_nan().any()).row(0).count(True) == 0
    assert result.filter(pl.col("gap_low").is_null(), pl.col("note").is_null()).is_empty()


# Calls that are written wrong


@pytest.fixture
def grows():
    """Say of the metrics that grow that they do, where the registry does not say so yet."""
    names = [rf.coverage, rf.gini, rf.entropy, rf.tail_coverage]
    lacking = [one.definition for one in names if not hasattr(one.definition, "grows")]
    for one in lacking:
        object.__setattr__(one, "grows", True)
    yield
    for one in lacking:
        object.__delattr__(one, "grows")


@pytest.mark.parametrize("call", ["gaps", "slices"])
@pytest.mark.parametrize("metric", ["coverage@5", "gini@5", "entropy@5", "tail_coverage@5"])
@pytest.mark.usefixtures("grows")
def test_metrics_that_grow_with_the_number_of_users_are_refused(call, metric):
    name = metric.partition("@")[0]
    with pytest.raises(rf.RecframeError) as error:
        getattr(SHOP.rec(train=SHOP.truth), call)("ndcg@5", metric, by="country")

    assert str(error.value) == (
        f"{call} takes no {name!r}, which grows with the number of users: a large segment has a larger value by its "
        f"size alone; evaluate({metric!r}, by=...) has the values, and compare({metric!r}, by=...) compares models within each "
        "segment, where they have the same users"
    )


@pytest.mark.parametrize("call", ["gaps", "slices"])
@pytest.mark.parametrize("metric", ["personalization@5", "f_score(average=means)@5"])
def test_other_functions_of_a_whole_segment_are_refused_too(call, metric):
    words = f"{call} takes means of users' values, and {metric!r} is computed from all users"
    with pytest.raises(rf.RecframeError, match=re.escape(words)):
        getattr(SHOP.rec(), call)(metric, by="country")


def test_a_model_with_the_name_of_a_result_column_is_to_be_renamed():
    recs = SHOP.recs.rename({"model": "note"})

    with pytest.raises(rf.RecframeError, match="model='note' is also the name of a result column"):
        recs.rec(SHOP.truth, users=SHOP.users, model="note").gaps("ndcg@5", by="age", wide=True)


@pytest.mark.parametrize("call", ["gaps", "slices"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs columns of segments: {call}\\(..., by='country'\\)"),
        ({"by": "model"}, "by='model': {call} compares segments; compare"),
        ({"by": "user"}, "by='user': one user has no interval"),
        ({"by": "contry"}, "by='contry' is not a column .* did you mean 'country'"),
        ({"by": "country", "min_users": 0}, "min_users takes a whole number from 1 up"),
        ({"by": "country", "level": 95}, "level takes a number between 0 and 1"),
        ({"by": "country", "baseline": "older"}, "baseline='older' is not a model"),
        ({"by": "country", "min_user": 3}, "has no option 'min_user'; did you mean 'min_users'"),
        ({"by": "country", "universe": "all"}, "has no option 'universe', which is bound first"),
    ],
)
def test_wrong_calls_say_what_to_write(call, options, words):
    with pytest.raises(rf.RecframeError, match=words.format(call=call)):
        getattr(SHOP.rec(), call)("ndcg@5", **options)


@pytest.mark.parametrize("call", ["gaps", "slices"])
def test_a_baseline_needs_models(call):
    frame = hits([1, 0], country=["a", "b"])

    with pytest.raises(rf.RecframeError, match="needs a column of models: rec\\(model='model'\\)"):
        getattr(frame.rec, call)("hit_rate@1", by="country", baseline="old")
