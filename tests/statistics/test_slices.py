"""`rec.slices`: columns crossed, each slice against all users outside, the worst first."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import recframe as rf
from planted_shop import apart, hits, shop
from recframe.statistics.p_values import adjusted

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
    slices = rec.slices("ndcg@5", by=OF_USERS, baseline=baseline, wide=True)
    found = {row["segment"]: row for row in slices.filter(pl.col("model") == "new").to_dicts()}
    plain = plain_slices(baseline)
    # of both models, where there is no baseline
    n, level = slices.height, 0.95 ** (1 / slices.height)

    assert found.keys() == plain.keys()
    assert n == len(plain) * (1 if baseline else 2)
    for text, (mine, others) in plain.items():
        row, pair = found[text], apart([mine, others], 0, 1, least=True)
        half = pair.half(level)
        assert row["depth"] == text.count("=")
        assert row["by"] == ", ".join(name for name in OF_USERS if f"{name}=" in text)
        assert (row["n_users"], row["metric"], row["k"]) == (len(mine), "ndcg@5", 5)
        assert row["value"] == pytest.approx(fmean(mine), abs=1e-12)
        assert row["rest"] == pytest.approx(fmean(others), abs=1e-12)
        assert row["difference"] == pytest.approx(fmean(mine) - fmean(others))
        assert row["difference_low"] == pytest.approx(pair.difference - half)
        assert row["difference_high"] == pytest.approx(pair.difference + half)
        assert row["p_value"] == pytest.approx(pair.p_value)
        assert row["pooled_low"] < row["pooled"] < row["pooled_high"]
        if baseline:
            of_mine = stats.t.ppf(0.975, len(mine) - 1) * np.std(mine, ddof=1) / len(mine) ** 0.5
            assert row["value_high"] == pytest.approx(fmean(mine) + of_mine)


@pytest.mark.parametrize("correction", ["holm", "benjamini-hochberg", None])
def test_p_values_are_corrected_for_all_that_were_looked_at(correction):
    slices = SHOP.rec().slices("ndcg@5", "mrr@5", by=OF_USERS, correction=correction, wide=True)
    p = slices["p_value"].to_numpy()
    expected = p if correction is None else adjusted(p, method=correction)

    assert slices["p_adjusted"].to_list() == pytest.approx(expected.tolist())


def test_slices_of_one_column_have_the_intervals_of_summarize_and_the_values_of_evaluate():
    rec = SHOP.rec()
    names = ["value", "value_low", "value_high", "n_users"]
    slices = rec.slices("ndcg@5", "precision@5", by="age", wide=True).sort(
        "model", "segment", "metric"
    )
    summary = rec.summarize("ndcg@5", "precision@5", by=["model", "age"]).sort(
        "model", "age", "metric"
    )

    assert_frame_equal(slices.select(names), summary.select(names))


def test_the_worst_pooled_stand_first_by_model_and_metric(kind):
    slices = kind.read(
        SHOP.rec(kind).slices("ndcg@5", "first_rank@5", by=OF_USERS, min_users=5, wide=True)
    )

    keys = slices.select("model", "metric").unique(maintain_order=True).rows()
    assert keys == [
        (model, metric) for model in ("new", "old") for metric in ("ndcg@5", "first_rank@5")
    ]
    for model, metric in keys:
        mine = slices.filter(model=model, metric=metric)["pooled"].to_list()
        assert mine == sorted(mine, reverse=metric == "first_rank@5")
    assert slices.columns[:5] == ["model", "by", "segment", "depth", "metric"]
    eager = SHOP.rec().slices("ndcg@5", "first_rank@5", by=OF_USERS, min_users=5, wide=True)
    assert slices["segment"].to_list() == eager["segment"].to_list()
    assert slices["p_adjusted"].to_list() == pytest.approx(eager["p_adjusted"].to_list())


def test_a_model_keeps_its_dtype_and_order():
    order = pl.Enum(["old", "new"])
    recs = SHOP.recs.with_columns(pl.col("model").cast(order))
    slices = recs.rec(SHOP.truth, users=SHOP.users, model="model").slices(
        "ndcg@5", by="age", wide=True
    )

    assert slices.schema["model"] == order
    assert slices["model"].unique(maintain_order=True).to_list() == ["old", "new"]


def test_a_lazy_frame_stays_lazy_and_says_its_schema():
    result = SHOP.rec(lambda frame: frame.lazy()).slices(
        "ndcg@5", by=["age", "genre"], baseline="old", wide=True
    )

    assert isinstance(result, pl.LazyFrame)
    assert result.collect().schema == result.collect_schema()


def test_properties_of_items_are_crossed_too():
    rec = SHOP.rec()
    slices = rec.slices("ndcg@5", by=["age", "genre"], wide=True).filter(model="new")
    cells = rec.evaluate("ndcg@5", by=["model", "age", "genre", "user"]).filter(model="new")

    for name, keys in {"age, genre": ["age", "genre"], "genre": ["genre"]}.items():
        of = (
            cells
            if len(keys) > 1
            else rec.evaluate("ndcg@5", by=["model", "genre", "user"]).filter(model="new")
        )
        mine = slices.filter(by=name)
        assert mine["depth"].unique().to_list() == [len(keys)]
        assert set(mine["note"]) == {"some users are in several segments"}
        for row in mine.iter_rows(named=True):
            wanted = dict(part.split("=") for part in row["segment"].split(", "))
            inside = pl.all_horizontal(pl.col(key).cast(pl.String) == wanted[key] for key in keys)
            assert row["value"] == pytest.approx(of.filter(inside)["ndcg@5"].mean())
    assert slices.filter(by="age").height == 3
    assert slices.filter(by="age")["note"].null_count() == 3


def test_users_who_are_drawn_together_have_the_error_of_their_own_differences():
    # a user's values in two genres hang together, so that the difference is surer than of two groups of users
    draw = np.random.default_rng(0)
    n = 3000
    liked = draw.random(n) < 0.5
    other = np.where(draw.random(n) < 0.9, liked, ~liked)
    frame = pl.DataFrame(
        {
            "user": [*range(n)] * 2,
            "item": [1] * n + [2] * n,
            "rank": [1] * n + [2] * n,
            "relevance": [*liked.astype(int), *other.astype(int)],
        }
    )
    items = pl.DataFrame({"item": [1, 2], "genre": ["a", "b"]})
    slices = frame.rec(items=items).slices("hit_rate@2", by="genre", correction=None, wide=True)

    differences = liked.astype(float) - other
    half = stats.norm.ppf((1 + 0.95**0.5) / 2) * differences.std() / n**0.5
    row = slices.filter(segment="genre=a").to_dicts()[0]
    assert row["difference"] == pytest.approx(differences.mean())
    assert row["difference_high"] - row["difference"] == pytest.approx(half, rel=1e-3)


@pytest.mark.parametrize("baseline", [None, "old"])
def test_a_user_on_both_sides_is_one_cluster_whatever_the_other_users_are(baseline):
    draw = np.random.default_rng(4)
    n = 3000
    users = np.repeat(np.arange(n), 2)
    week = np.where(
        np.arange(2 * n) % 6 == 1, 1, np.arange(2 * n) % 2 + 1
    )  # a third in week 1 alone
    frames = [
        pl.DataFrame({"user": users, "item": np.arange(2 * n), "week": week}).with_columns(
            rank=pl.Series(draw.integers(1, 9, 2 * n)), model=pl.lit(model), relevance=1
        )
        for model in ("new", "old")
    ]
    judged = pl.concat(frames)
    rec = judged.rec(model="model")
    row = rec.slices("mrr", by="week", baseline=baseline, correction=None, wide=True).filter(
        model="new", segment="week=1"
    )

    def values(part):
        found = part.rec(model="model").evaluate("mrr", by=["model", "user"])
        wide = found.pivot("model", index="user", values="mrr")
        value = wide["new"] - (wide["old"] if baseline else 0)
        return dict(zip(wide["user"], value, strict=True))

    own, rest = (
        values(judged.filter(pl.col("week") == 1)),
        values(judged.filter(pl.col("week") != 1)),
    )
    mean, other = fmean(own.values()), fmean(rest.values())
    added = [
        (own.get(user, mean) - mean) / len(own) - (rest.get(user, other) - other) / len(rest)
        for user in own.keys() | rest.keys()
    ]
    error = (sum(one**2 for one in added) * len(added) / (len(added) - 1)) ** 0.5
    half = stats.norm.ppf((1 + 0.95 ** (1 / (2 if baseline else 4))) / 2) * error
    assert row["rest"].item() == pytest.approx(other, abs=1e-12)
    assert row["difference"].item() == pytest.approx(mean - other, abs=1e-12)
    assert row["difference_high"].item() - (mean - other) == pytest.approx(half, rel=0.02)


def test_of_a_lower_direction_the_highest_is_the_worst():
    country = ["a"] * 40 + ["b"] * 40
    frame = hits([1] * 80, country=country).with_columns(rank=pl.Series([1, 3] * 20 + [4, 8] * 20))

    slices = frame.rec.slices("first_rank", by="country", wide=True)
    assert slices["segment"].to_list() == ["country=b", "country=a"]
    assert slices["value"].to_list() == [6, 2]


# What pooling is for


def test_the_worst_pooled_slices_are_closer_to_another_half_of_their_users_than_the_worst_raw():
    draw = np.random.default_rng(11)
    author = draw.permutation(np.repeat(np.arange(150), draw.integers(2, 60, 150)))
    rate = np.clip(draw.normal(0.4, 0.08, 150), 0, 1)[author]
    one, other = ((draw.random(len(author)) < rate).astype(int) for _ in range(2))

    slices = hits(one, author=author.tolist()).rec.slices(
        "hit_rate@1", by="author", min_users=2, wide=True
    )
    truth = hits(other, author=author.tolist()).rec.evaluate("hit_rate@1", by="author")
    held_out = {
        f"author={name}": value for name, value in truth.select("author", "hit_rate@1").iter_rows()
    }
    worst, raw = slices.head(10), slices.sort("value", maintain_order=True).head(10)

    def off(rows, said):
        return abs(fmean(rows[said]) - fmean(held_out[one] for one in rows["segment"]))

    assert off(worst, "pooled") < 0.05
    assert off(raw, "value") > 0.15
    assert worst["n_users"].mean() > 2 * raw["n_users"].mean()


@pytest.mark.parametrize("rate", [0.9, 0.1])
@pytest.mark.slow
def test_equal_slices_are_found_to_differ_no_more_often_than_said(rate):
    draw = np.random.default_rng(5)
    n_runs, n = 60, 12 * 40
    shown = 0
    for _ in range(n_runs):
        frame = hits((draw.random(n) < rate).astype(int), country=[*range(12)] * 40)
        slices = frame.rec.slices("hit_rate@1", by="country", wide=True)
        shown += (slices["p_adjusted"] <= 0.05).any()

    assert stats.binomtest(shown, n_runs, 0.05, alternative="greater").pvalue > 1e-3


# Degenerate input


def test_a_slice_of_everybody_has_nobody_outside(kind):
    row = kind.read(
        kind(hits([1, 0] * 20, country=["a"] * 40)).rec.slices(
            "hit_rate@1", by="country", wide=True
        )
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

    assert frame.rec.slices("hit_rate@1", by="country", wide=True).height == 0
    assert frame.rec.slices("hit_rate@1", by="country", min_users=12, wide=True)[
        "segment"
    ].to_list() == ["country=b"]
    assert frame.head(0).rec.slices("hit_rate@1", by="country", min_users=1, wide=True).height == 0


def test_slices_of_one_user_each_have_no_interval_and_a_note():
    slices = hits([1, 0, 0], country=[*"abc"]).rec.slices(
        "hit_rate@1", by="country", min_users=1, wide=True
    )

    # the two outside have a spread, the one inside has none
    assert slices["segment"].to_list() == ["country=b", "country=c", "country=a"]
    assert set(slices["note"]) == {
        "one user, so no interval; no slice of these columns has two users"
    }
    assert slices["pooled_low"].null_count() == 3


def test_users_without_a_value_are_in_no_slice_and_outside_of_all():
    frame = hits([1, 0] * 20 + [0] * 10, country=["a"] * 40 + [None] * 10)

    (row,) = frame.rec.slices("hit_rate@1", by="country", wide=True).to_dicts()
    assert (row["segment"], row["rest"]) == ("country=a", 0)


def test_no_number_is_nan_and_what_is_missing_has_a_note(kind):
    rec = SHOP.rec(kind)
    result = kind.read(
        rec.slices(
            "ndcg@5", "auc@5", "first_rank@1", by=["country", "genre"], min_users=1, wide=True
        )
    )

    floats = result.select(pl.selectors.float())
    assert floats.select(pl.all().is_nan().any()).row(0).count(True) == 0
    missing = pl.any_horizontal(pl.col(floats.columns).is_null())
    assert result.filter(missing, pl.col("note").is_null()).is_empty()


# Calls that are written wrong


def test_the_depth_is_that_of_the_columns_at_the_most():
    rec = SHOP.rec()

    assert_frame_equal(
        rec.slices("ndcg@5", by=OF_USERS, depth=7, wide=True),
        rec.slices("ndcg@5", by=OF_USERS, wide=True),
    )
    assert rec.slices("ndcg@5", by=OF_USERS, depth=1, wide=True)["depth"].unique().to_list() == [1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": 0}, "depth takes a whole number from 1 up"),
        (
            {"correction": "max_t"},
            "correction takes 'holm' or 'benjamini-hochberg' or None",
        ),
    ],
)
def test_wrong_options_say_what_to_write(options, words):
    with pytest.raises(rf.RecframeError, match=words):
        SHOP.rec().slices("ndcg@5", by=OF_USERS, **options, wide=True)


def test_too_many_crossings_are_refused():
    names = [f"c{place}" for place in range(21)]
    frame = hits([1, 0], **{name: [0, 1] for name in names})
    users = frame.select("user", *names)
    rec = frame.drop(names).rec(users=users)

    with pytest.raises(
        rf.RecframeError,
        match=r"depth=2 of these columns makes 231 crossings, but slices takes 200",
    ):
        rec.slices("hit_rate@1", by=names, wide=True)
    with pytest.raises(
        rf.RecframeError, match=r"makes 45 crossings with properties of items, but slices takes 40"
    ):
        frame.rec.slices("hit_rate@1", by=names[:9], wide=True)
    assert rec.slices("hit_rate@1", by=names, depth=1, min_users=1, wide=True).height == 42


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
            gap = rec.gaps("hit_rate@1", by="segment", cluster=cluster, wide=True)
            slices = rec.slices("hit_rate@1", by="segment", cluster=cluster, wide=True)
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
    row = frame.rec.slices("hit_rate@1", by="segment", cluster="household", wide=True).row(
        0, named=True
    )

    def moved(of):
        """Return what leaving out each cluster changes of a segment's mean, times (G - 1) / G."""
        mine = [(house, value) for one, house, value in rows if one == of]
        mean = np.mean([value for _, value in mine])
        houses = sorted({house for house, _ in mine})
        without = [np.mean([value for one, value in mine if one != house]) for house in houses]
        return (mean - np.array(without)) * (len(houses) - 1) / len(houses)

    error = np.sqrt(12 / 11 * sum((moved(of) ** 2).sum() for of in sizes))
    of = np.array(sizes[row["segment"].removeprefix("segment=")])
    freedom = of.sum() ** 2 / (of**2).sum() - 1
    expected = 2 * stats.t.sf(abs(row["difference"]) / error, freedom)
    assert row["p_value"] == pytest.approx(expected, rel=1e-9)


def test_the_error_of_clusters_is_that_of_their_sums():
    frame = households(np.random.default_rng(5), 60)
    row = frame.rec.slices("hit_rate@1", by="segment", cluster="household", wide=True).row(
        0, named=True
    )

    name = row["segment"].removeprefix("segment=")
    mine = frame.filter(segment=name).group_by("household").agg(pl.col("relevance").sum())
    sums = mine["relevance"].to_numpy()
    # clusters of one size: the mean of their sums, of which one of some 2,000 groups may hold two
    error = stats.sem(sums) / 3
    t = stats.t.ppf(0.975, len(sums) - 1)
    effective = row["value"] * (1 - row["value"]) / error**2
    middle = (row["value"] + t**2 / (2 * effective)) / (1 + t**2 / effective)
    assert (row["value_low"] + row["value_high"]) / 2 == pytest.approx(middle, rel=1e-9)
    with pytest.raises(rf.RecframeError, match="give by= only columns of users"):
        SHOP.rec().slices("ndcg@5", by="genre", cluster="country", wide=True)
