"""`rec.gaps` and `rec.slices`: segments of users compared by Welch's test with Sidak's correction, the worst slices first."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from statsmodels.stats.multitest import multipletests

import recframe as rf
from plain_uncertainty import clustered_error
from planted_shop import apart, hits, shop

SHOP = shop()
OF_USERS = ["country", "age"]
each_call = pytest.mark.parametrize("call", ["gaps", "slices"])


# Both


@each_call
def test_no_number_is_nan_and_what_is_missing_has_a_note(call, kind):
    rec = SHOP.rec(kind)
    result = kind.read(
        getattr(rec, call)("ndcg@5", "auc@5", "first_rank@1", by=OF_USERS, min_users=1)
    )

    floats = result.select(pl.selectors.float())
    assert floats.select(pl.all().is_nan().any()).row(0).count(True) == 0
    missing = pl.any_horizontal(pl.col(floats.columns).is_null())
    assert result.filter(missing, pl.col("note").is_null()).is_empty()


@each_call
@pytest.mark.parametrize("rate", [0.9, 0.1])
@pytest.mark.slow
def test_equal_segments_are_found_to_differ_no_more_often_than_said(call, rate):
    draw, shown, n_runs = np.random.default_rng(7), 0, 60
    for _ in range(n_runs):
        values = (draw.random(12 * 40) < rate).astype(int)
        rec = hits(values, country=[*range(12)] * 40).rec
        found = getattr(rec, call)("hit_rate@1", by="country")
        shown += (found["p_value" if call == "gaps" else "p_adjusted"] <= 0.05).any()

    # no more than are to be expected of a share of .05 in all but one of a thousand tries
    assert stats.binomtest(shown, n_runs, 0.05, alternative="greater").pvalue > 1e-3


# Gaps


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


def test_a_small_p_value_keeps_its_digits_and_a_level_its_interval():
    country = ["a"] * 400 + ["b"] * 400 + ["c"] * 400
    values = [1] * 240 + [0] * 160 + [1, 0] * 200 + [1] * 140 + [0] * 260
    found = row_of(hits(values, country=country).rec.gaps("hit_rate@1", by="country", level=0.9))

    welch = stats.ttest_ind(values[:400], values[800:], equal_var=False)
    assert found["gap_high"] == pytest.approx(welch.confidence_interval(0.9 ** (1 / 3)).high)
    assert 0 < found["p_value"] < 1e-11
    assert found["p_value"] == pytest.approx(3 * welch.pvalue, rel=1e-10)


def test_each_column_model_and_metric_has_a_row_in_the_order_asked(kind):
    result = kind.read(SHOP.rec(kind).gaps("ndcg@5", "mrr@3", by=["country", "age"]))

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


def test_a_column_may_be_made_by_an_expression_and_bound_by_group_by():
    by = pl.col("age") // 20 * 20
    result = SHOP.rec().gaps("ndcg@5", by=["country", by])

    assert result["by"].unique(maintain_order=True).to_list() == ["country", "age"]
    assert row_of(result, by="age", model="new")["n_segments"] == 2
    bound = SHOP.rec().group_by("country").gaps("ndcg@5", by=by)
    assert_frame_equal(bound, result)


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


# Slices


def plain_slices(baseline=None, least=30):
    """Each slice's values of the model new, and those of all users outside, from `evaluate` by user."""
    values = SHOP.rec().evaluate("ndcg@5", by=["model", "user"]).pivot("model", index="user")
    value = pl.col("new") - (pl.col("old") if baseline else 0)
    rows = values.join(SHOP.users, on="user").with_columns(value.alias("value"))
    found = {}
    for depth in (1, 2):
        for names in combinations(OF_USERS, depth):
            for one in rows.select(names).drop_nulls().unique().iter_rows():
                inside = pl.all_horizontal(
                    pl.col(a).eq_missing(b) for a, b in zip(names, one, strict=True)
                )
                mine = rows.filter(inside)["value"].to_list()
                text = ", ".join(f"{a}={b}" for a, b in zip(names, one, strict=True))
                if len(mine) >= least:
                    found[text] = mine, rows.filter(~inside)["value"].to_list()
    return found


@pytest.mark.parametrize("baseline", [None, "old"])
def test_the_numbers_are_those_of_the_users_values(baseline):
    rec = SHOP.rec()
    slices = rec.slices("ndcg@5", by=OF_USERS, baseline=baseline)
    found = {row["segment"]: row for row in slices.filter(pl.col("model") == "new").to_dicts()}
    plain = plain_slices(baseline)
    # of both models, where there is no baseline
    n, level = slices.height, 0.95 ** (1 / slices.height)

    assert found.keys() == plain.keys()
    assert n == len(plain) * (1 if baseline else 2)
    for text, (mine, others) in plain.items():
        row, pair = found[text], apart([mine, others])
        half = pair.half(level)
        assert (row["n_users"], row["metric"]) == (len(mine), "ndcg@5")
        assert row["value"] == pytest.approx(fmean(mine), abs=1e-12)
        assert row["rest"] == pytest.approx(fmean(others), abs=1e-12)
        assert row["difference"] == pytest.approx(fmean(mine) - fmean(others))
        assert row["difference_low"] == pytest.approx(pair.difference - half)
        assert row["difference_high"] == pytest.approx(pair.difference + half)
        assert row["p_value"] == pytest.approx(pair.p_value)


def test_intervals_and_p_values_are_corrected_alike_for_all_slices():
    slices = SHOP.rec().slices("ndcg@5", "mrr@5", by=OF_USERS)
    expected = multipletests(slices["p_value"].to_numpy(), method="sidak")[1]

    assert slices["p_adjusted"].to_list() == pytest.approx(expected.tolist())
    for level in (0.5, 0.95):
        rows = SHOP.rec().slices("ndcg@5", "mrr@5", by=OF_USERS, level=level)
        beyond = (rows["difference_low"] > 0) | (rows["difference_high"] < 0)
        assert ((rows["p_adjusted"] <= 1 - level) == beyond).all()


def test_those_worst_by_their_interval_stand_first_by_model_and_metric(kind):
    slices = kind.read(SHOP.rec(kind).slices("ndcg@5", "first_rank@5", by=OF_USERS, min_users=5))

    keys = slices.select("model", "metric").unique(maintain_order=True).rows()
    assert keys == [
        (model, metric) for model in ("new", "old") for metric in ("ndcg@5", "first_rank@5")
    ]
    for model, metric in keys:
        is_lower = metric == "first_rank@5"
        end = "difference_low" if is_lower else "difference_high"
        mine = slices.filter(model=model, metric=metric)[end].to_list()
        assert mine == sorted(mine, reverse=is_lower)
    eager = SHOP.rec().slices("ndcg@5", "first_rank@5", by=OF_USERS, min_users=5)
    assert slices["segment"].to_list() == eager["segment"].to_list()
    assert slices["p_adjusted"].to_list() == pytest.approx(eager["p_adjusted"].to_list())


def test_a_model_keeps_its_dtype_and_order():
    order = pl.Enum(["old", "new"])
    recs = SHOP.recs.with_columns(pl.col("model").cast(order))
    slices = recs.rec(SHOP.truth, users=SHOP.users, model="model").slices("ndcg@5", by="age")

    assert slices.schema["model"] == order
    assert slices["model"].unique(maintain_order=True).to_list() == ["old", "new"]


def test_of_a_lower_direction_the_highest_is_the_worst():
    country = ["a"] * 40 + ["b"] * 40
    frame = hits([1] * 80, country=country).with_columns(rank=pl.Series([1, 3] * 20 + [4, 8] * 20))

    slices = frame.rec.slices("first_rank", by="country")
    assert slices["segment"].to_list() == ["country=b", "country=a"]
    assert slices["value"].to_list() == [6, 2]


def test_a_slice_of_everybody_has_nobody_outside(kind):
    row = kind.read(
        kind(hits([1, 0] * 20, country=["a"] * 40)).rec.slices("hit_rate@1", by="country")
    ).to_dicts()[0]

    assert (row["value"], row["n_users"]) == (0.5, 40)
    assert (
        row["rest"]
        is row["difference"]
        is row["difference_low"]
        is row["p_value"]
        is row["p_adjusted"]
        is None
    )
    assert row["note"] == "nobody is outside"


def test_slices_without_users_enough_are_not_listed():
    frame = hits([1, 0] * 20, country=["a"] * 11 + ["b"] * 29)

    assert frame.rec.slices("hit_rate@1", by="country").height == 0
    assert frame.rec.slices("hit_rate@1", by="country", min_users=12)["segment"].to_list() == [
        "country=b"
    ]
    assert frame.head(0).rec.slices("hit_rate@1", by="country", min_users=1).height == 0


def test_users_without_a_value_are_in_no_slice_and_outside_of_all():
    frame = hits([1, 0] * 20 + [0] * 10, country=["a"] * 40 + [None] * 10)

    (row,) = frame.rec.slices("hit_rate@1", by="country").to_dicts()
    assert (row["segment"], row["rest"]) == ("country=a", 0)


def test_the_depth_is_that_of_the_columns_at_the_most():
    rec = SHOP.rec()

    assert_frame_equal(
        rec.slices("ndcg@5", by=OF_USERS, depth=7), rec.slices("ndcg@5", by=OF_USERS)
    )
    alone = rec.slices("ndcg@5", by=OF_USERS, depth=1)["segment"]
    assert not alone.str.contains(",").any()


def households(random, n):
    """Return lists of users of whom each three live together, are alike, and are in one of five segments that are alike."""
    user = np.arange(3 * n)
    household = user // 3
    chance = random.beta(0.4, 0.8, n)[household]
    segment = (household % 5).astype(str).tolist()
    values = (random.random(3 * n) < chance).astype(int).tolist()
    return hits(values, household=household.tolist(), segment=segment)


@pytest.mark.slow
def test_users_who_hang_together_are_no_sign_of_segments_that_differ():
    random, trials = np.random.default_rng(21), 60
    found = dict.fromkeys(["gaps", "slices", "gaps alone", "slices alone"], 0)
    for _ in range(trials):
        rec = households(random, 200).rec
        for cluster, kind in (("household", ""), (None, " alone")):
            gap = rec.gaps("hit_rate@1", by="segment", cluster=cluster)
            slices = rec.slices("hit_rate@1", by="segment", cluster=cluster)
            found[f"gaps{kind}"] += (gap["p_value"] <= 0.05).any()
            found[f"slices{kind}"] += (slices["p_adjusted"] <= 0.05).any()

    # of 60 trials that err with a chance of 5 %, more than 8 do in 1 of 500
    assert max(found["gaps"], found["slices"]) <= 8
    assert min(found["gaps alone"], found["slices alone"]) >= 9


def test_clusters_of_unlike_sizes_have_the_error_of_leaving_each_out():
    sizes = {"a": [40, 3, 5, 9, 2, 14], "b": [30, 8, 4, 6, 21, 2]}
    chances = np.random.default_rng(8).permutation(np.linspace(0, 1, 12)).reshape(2, 6)
    rows = [
        (segment, f"{segment}{number}", int(user < chance * size))
        for (segment, of), chosen in zip(sizes.items(), chances, strict=True)
        for number, (size, chance) in enumerate(zip(of, chosen, strict=True))
        for user in range(size)
    ]
    segment, household, values = zip(*rows, strict=True)
    frame = hits(list(values), household=list(household), segment=list(segment))
    row = frame.rec.slices("hit_rate@1", by="segment", cluster="household").row(0, named=True)

    def of_one(of):
        """Return the squared error of a segment's mean by leaving out each cluster, and its freedom."""
        mine = [(house, value) for one, house, value in rows if one == of]
        sizes_of = np.array(sizes[of])
        squared, _ = clustered_error([value for _, value in mine], [house for house, _ in mine])
        # no less than that of as many users of all
        least = np.var([value for *_, value in rows], ddof=1) / len(mine)
        return max(squared, least), sizes_of.sum() ** 2 / (sizes_of**2).sum() - 1

    parts = [of_one(of) for of in sizes]
    squared = sum(one for one, _ in parts)
    freedom = squared**2 / sum(one**2 / of for one, of in parts)
    expected = 2 * stats.t.sf(abs(row["difference"]) / np.sqrt(squared), freedom)
    assert row["p_value"] == pytest.approx(expected, rel=1e-9)
