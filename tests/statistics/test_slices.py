"""`rec.slices`: columns crossed, each slice compared with all users outside, the worst first."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import recframe as rf
from plain_uncertainty import clustered_error
from planted_shop import apart, hits, shop

SHOP = shop()
OF_USERS = ["country", "age"]


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
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    expected = multitest.multipletests(slices["p_value"].to_numpy(), method="sidak")[1]

    assert slices["p_adjusted"].to_list() == pytest.approx(expected.tolist())
    for level in (0.5, 0.95):
        rows = SHOP.rec().slices("ndcg@5", "mrr@5", by=OF_USERS, level=level)
        beyond = (rows["difference_low"] > 0) | (rows["difference_high"] < 0)
        assert ((rows["p_adjusted"] <= 1 - level) == beyond).all()


def test_slices_of_one_column_have_the_values_of_evaluate():
    rec = SHOP.rec()
    slices = rec.slices("ndcg@5", by="age", min_users=1)
    values = rec.evaluate("ndcg@5", by=["model", "age"])
    segments = pl.format("age={}", "age").alias("segment")

    expected = values.select("model", segments, value="ndcg@5").sort("model", "segment")
    assert_frame_equal(
        slices.select("model", "segment", "value").sort("model", "segment"), expected
    )


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
    assert " ".join(slices.columns) == (
        "model segment metric difference difference_low difference_high value rest p_value p_adjusted n_users note"
    )
    eager = SHOP.rec().slices("ndcg@5", "first_rank@5", by=OF_USERS, min_users=5)
    assert slices["segment"].to_list() == eager["segment"].to_list()
    assert slices["p_adjusted"].to_list() == pytest.approx(eager["p_adjusted"].to_list())


def test_a_model_keeps_its_dtype_and_order():
    order = pl.Enum(["old", "new"])
    recs = SHOP.recs.with_columns(pl.col("model").cast(order))
    slices = recs.rec(SHOP.truth, users=SHOP.users, model="model").slices("ndcg@5", by="age")

    assert slices.schema["model"] == order
    assert slices["model"].unique(maintain_order=True).to_list() == ["old", "new"]


def test_a_lazy_frame_stays_lazy_and_says_its_schema():
    result = SHOP.rec(lambda frame: frame.lazy()).slices(
        "ndcg@5", by=["age", "country"], baseline="old"
    )

    assert isinstance(result, pl.LazyFrame)
    assert result.collect().schema == result.collect_schema()


def test_of_a_lower_direction_the_highest_is_the_worst():
    country = ["a"] * 40 + ["b"] * 40
    frame = hits([1] * 80, country=country).with_columns(rank=pl.Series([1, 3] * 20 + [4, 8] * 20))

    slices = frame.rec.slices("first_rank", by="country")
    assert slices["segment"].to_list() == ["country=b", "country=a"]
    assert slices["value"].to_list() == [6, 2]


# What the order is for


def test_the_worst_slices_are_closer_to_another_half_of_their_users_than_the_worst_raw():
    draw = np.random.default_rng(11)
    author = draw.permutation(np.repeat(np.arange(150), draw.integers(2, 60, 150)))
    rate = np.clip(draw.normal(0.4, 0.08, 150), 0, 1)[author]
    one, other = ((draw.random(len(author)) < rate).astype(int) for _ in range(2))

    slices = hits(one, author=author.tolist()).rec.slices("hit_rate@1", by="author", min_users=2)
    truth = hits(other, author=author.tolist()).rec.evaluate("hit_rate@1", by="author")
    held_out = {
        f"author={name}": value for name, value in truth.select("author", "hit_rate@1").iter_rows()
    }
    worst, raw = slices.head(10), slices.sort("value", maintain_order=True).head(10)

    def off(rows, said):
        return abs(fmean(rows[said]) - fmean(held_out[one] for one in rows["segment"]))

    assert off(worst, "value") < off(raw, "value") / 2
    assert worst["n_users"].mean() > 2 * raw["n_users"].mean()


@pytest.mark.parametrize("rate", [0.9, 0.1])
@pytest.mark.slow
def test_equal_slices_are_found_to_differ_no_more_often_than_said(rate):
    draw = np.random.default_rng(5)
    n_runs, n = 60, 12 * 40
    shown = 0
    for _ in range(n_runs):
        frame = hits((draw.random(n) < rate).astype(int), country=[*range(12)] * 40)
        slices = frame.rec.slices("hit_rate@1", by="country")
        shown += (slices["p_adjusted"] <= 0.05).any()

    assert stats.binomtest(shown, n_runs, 0.05, alternative="greater").pvalue > 1e-3


# Degenerate input


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


def test_no_number_is_nan_and_what_is_missing_has_a_note(kind):
    rec = SHOP.rec(kind)
    result = kind.read(rec.slices("ndcg@5", "auc@5", "first_rank@1", by=OF_USERS, min_users=1))

    floats = result.select(pl.selectors.float())
    assert floats.select(pl.all().is_nan().any()).row(0).count(True) == 0
    missing = pl.any_horizontal(pl.col(floats.columns).is_null())
    assert result.filter(missing, pl.col("note").is_null()).is_empty()


# Calls that are written wrong


def test_the_depth_is_that_of_the_columns_at_the_most():
    rec = SHOP.rec()

    assert_frame_equal(
        rec.slices("ndcg@5", by=OF_USERS, depth=7), rec.slices("ndcg@5", by=OF_USERS)
    )
    alone = rec.slices("ndcg@5", by=OF_USERS, depth=1)["segment"]
    assert not alone.str.contains(",").any()


def test_too_many_crossings_are_refused():
    names = [f"c{place}" for place in range(21)]
    frame = hits([1, 0], **{name: [0, 1] for name in names})
    users = frame.select("user", *names)
    rec = frame.drop(names).rec(users=users)

    with pytest.raises(
        rf.RecframeError,
        match=r"depth=2 of these columns makes 231 crossings, but slices takes 200",
    ):
        rec.slices("hit_rate@1", by=names)
    assert rec.slices("hit_rate@1", by=names, depth=1, min_users=1).height == 42


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
