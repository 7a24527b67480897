"""What charts are drawn of: the numbers of the tables, and sums that stand to be counted by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from frame_kinds import KINDS, sharp_and_thorough
from planted_shop import shop

SHOP = shop(n=120)
TURNED = SHOP.recs.filter(model="old").with_columns(rank=6 - pl.col("rank"), model=pl.lit("turned"))
THREE = replace(SHOP, recs=pl.concat([SHOP.recs, TURNED]))
KS = [1, 2, 3, 5]
same = partial(assert_frame_equal, abs_tol=1e-12, check_dtypes=False)
bound = SHOP.rec
# intervals of fewer than ten users are not drawn
ENDS = pl.when(pl.col("n_users") >= 10).then(pl.col(r"^(\w+_)?(low|high)$"))


def summary(rec: Any, *metrics: str, **options: Any) -> pl.DataFrame:
    found = rec.summarize(*metrics, **options)
    found = found.with_columns(k=pl.col("metric").str.extract(r"@(\d+)").cast(pl.Int64))
    return found.rename({"value_low": "low", "value_high": "high"})


def of_segments(rec: Any) -> pl.DataFrame:
    found = summary(rec, "ndcg@5", by="country").with_columns(ENDS)
    return found.with_columns(segment=pl.col("country").fill_null("(none)"))


def differences(rec: Any) -> pl.DataFrame:
    found = rec.compare("ndcg@5", baseline="old", by="country", margin=0.1)
    found = found.rename({"difference_low": "low", "difference_high": "high"}).with_columns(ENDS)
    margin = 0.1 * pl.col("baseline_value")
    segment = pl.col("country").fill_null("(none)")
    is_open = pl.col("verdict") == "open"
    return found.with_columns(segment=segment, beyond=-margin, within=margin, hollow=is_open)


def both(rec: Any) -> pl.DataFrame:
    first, second = (summary(rec, metric, k=5) for metric in ("ndcg", "recall"))
    return first.join(second, on="model", suffix="_y")


def steps(rec: Any) -> pl.DataFrame:
    """Return what n_hits grows by."""
    found = rec.evaluate("n_hits", k=range(1, 6), tidy=True).sort("model", "k")
    grown = pl.col("value").diff().over("model").fill_null(pl.col("value"))
    return found.select("model", rank="k", value=grown)


def at_each_k(rec: Any) -> pl.DataFrame:
    found = rec.evaluate("precision", "recall", k=KS, tidy=True)
    return found.pivot("metric", index=["model", "k"], values="value")


Drawn = tuple[Callable[[Any], Any], Callable[[Any], pl.DataFrame], list[str]]
INTERVAL = ["value", "low", "high", "n_users"]
DRAWN: dict[str, Drawn] = {
    "curve": (
        lambda plot: plot.curve("ndcg", k=KS, level=0.9),
        lambda rec: summary(rec, "ndcg", k=KS, level=0.9),
        ["model", "k", *INTERVAL],
    ),
    "segments": (
        lambda plot: plot.segments("ndcg@5", by="country"),
        of_segments,
        ["segment", "model", *INTERVAL],
    ),
    "compare": (
        lambda plot: plot.compare("ndcg@5", baseline="old", by="country", margin=0.1),
        differences,
        [
            *("segment", "difference", "low", "high", "p_adjusted", "n_users", "verdict"),
            *("beyond", "within", "hollow"),
        ],
    ),
    "tradeoff": (
        lambda plot: plot.tradeoff("ndcg", "recall", k=5),
        both,
        ["model", "value", "low", "high", "value_y", "low_y", "high_y"],
    ),
    "hits_by_rank": (lambda plot: plot.hits_by_rank(k=5), steps, ["model", "rank", "value"]),
    "precision_recall": (
        lambda plot: plot.precision_recall(k=KS),
        at_each_k,
        ["model", "k", "precision", "recall"],
    ),
}  # fmt: skip
# whose numbers are those of a method, which other tests ask of every kind of frame
others = {one.name for one in KINDS} - {"polars"}


@pytest.mark.parametrize("kind", sharp_and_thorough(KINDS, others), ids=str)
@pytest.mark.parametrize("name", DRAWN)
def test_a_chart_has_the_numbers_of_a_table(name, kind):
    draw, table, columns = DRAWN[name]
    data = draw(bound(kind).plot).data

    same(data.select(columns).sort(columns[:2]), table(bound()).select(columns).sort(columns[:2]))


@pytest.mark.parametrize("name", ["curve", "segments", "tradeoff"])
def test_charts_of_clusters_have_the_intervals_of_summarize_and_say_so(name):
    # the first five users are in no household
    households = pl.when(pl.col("user") >= 5).then(pl.col("user") // 3)
    rec = bound()(users=SHOP.users.with_columns(household=households))
    more = {"level": 0.9, "cluster": "household"}
    draw = {
        "curve": lambda: rec.plot.curve("ndcg", k=KS, **more),
        "segments": lambda: rec.plot.segments("ndcg", by="age", **more),
        "tradeoff": lambda: rec.plot.tradeoff("ndcg", "mrr", **more),
    }
    options = {"curve": {"k": KS}, "segments": {"by": "age"}, "tradeoff": {}}[name]
    chart = draw[name]()

    ends = summary(rec, "ndcg", **options, **more).select("low", "high").sort(pl.all())
    same(chart.data.select("low", "high").sort(pl.all()), ends)
    pair = rec.plot.compare("ndcg@3", baseline="old", **more)
    for one in (chart, pair):
        told = " ".join(one.to_dict()["title"]["subtitle"])
        assert "at 90% (users in clusters, by household)" in told


def test_segments_stand_from_the_largest_to_the_smallest_with_their_users():
    data = bound().plot.segments("ndcg@5", by="country").data

    sizes = data.group_by("label", maintain_order=True).agg(pl.col("n_users").max())["n_users"]
    assert sizes.to_list() == sorted(sizes, reverse=True)
    assert sizes.n_unique() > 1
    for row in data.to_dicts():
        assert row["label"] == f"{row['segment']} ({row['n_users']})"


def test_fewer_than_ten_users_have_no_interval_in_a_segment():
    n = pl.int_range(pl.len())
    lists = pl.DataFrame({"user": range(29), "item": 1, "rank": 1}).with_columns(at=n // 10)
    chart = lists.rec(truth=lists.select("user", item=n % 3)).plot.segments("mrr", by="at")

    assert chart.data.drop_nulls(["low", "high"])["n_users"].to_list() == [10, 10]
    assert chart.data["value"].null_count() == 0
    assert chart.description.count("fewer than 10 users have no interval") == 1


def test_segments_may_be_few_of_many_bound_before_and_of_two_columns():
    few = bound().plot.segments("mrr", by="country", most=2)
    assert set(few.data["segment"]) == {"DE", "FR"}
    assert "2 of 5 segments" in " ".join(few.to_dict()["title"]["subtitle"])
    assert set(bound().group_by("age").plot.segments("mrr").data["segment"]) == {"20", "30", "40"}
    both = bound().plot.segments("mrr", by=["country", "age"], most=99).data
    assert "DE · 20" in both["segment"].to_list()


@pytest.mark.parametrize("kind", sharp_and_thorough(KINDS), ids=str)
def test_a_distribution_counts_users_values_in_bins(kind):
    data = bound(kind).plot.distribution("ndcg@5", bins=4).data
    users = bound().evaluate("ndcg@5", by="user")
    # (a, b], but the first, which has both ends
    binned = Counter(
        (model, max(math.ceil(value * 4 - 1e-9), 1)) for model, _, value in users.rows()
    )

    rows = data.to_dicts()
    assert {(row["model"], round(row["high"] * 4)): row["n"] for row in rows} == binned
    assert all(row["share"] == row["n"] / 120 for row in rows)


def test_bins_of_a_metric_without_an_end_run_over_its_values():
    # 3 hits and 1 hit: the bins are [0, 1.5] and (1.5, 3]
    frame = pl.DataFrame(
        {"user": [1, 1, 1, 2], "item": [1, 2, 3, 1], "rank": [1, 2, 3, 1], "relevance": 1}
    )
    data = frame.rec.plot.distribution("n_hits", bins=2).data
    assert data.select("low", "high", "n").rows() == [(0.0, 1.5, 1), (1.5, 3.0, 1)]


def test_the_front_has_what_no_other_equals_or_beats_in_both():
    # hits at rank 1 of two users, of none and of one; first_rank is the better the lower it is
    lists = {"best": [1, 1], "late": [2, 2], "mixed": [1, 3]}
    truth = pl.DataFrame({"user": [1, 2], "item": [1, 1]})
    frames = {name: truth.with_columns(rank=pl.Series(ranks)) for name, ranks in lists.items()}
    rec = rf.rec(frames, truth=truth)

    def behind(x: str, y: str) -> set[str]:
        return {*rec.plot.tradeoff(x, y).data.filter("hollow")["model"]}

    assert behind("hit_rate@1", "first_rank") == {"late", "mixed"}
    # hit_rate@3 is 1 for all, so that the best in the other is alone
    assert behind("mrr", "hit_rate@3") == {"late", "mixed"}
    # list_length has no better end
    assert behind("hit_rate@1", "list_length") == set()


@pytest.mark.parametrize("kind", sharp_and_thorough(KINDS, others), ids=str)
def test_the_front_is_that_of_pareto(kind):
    for x, y in (("mrr@5", "coverage@5"), ("first_rank@5", "mrr@5")):
        data = THREE.rec(kind).plot.tradeoff(x, y).data.sort("model")
        expected = THREE.rec().pareto(x, y).sort("model")
        assert data["model"].to_list() == expected["model"].to_list()
        assert data["hollow"].to_list() == (expected["front"] != "front").to_list()


def test_hits_by_rank_have_wilsons_intervals_of_the_share_of_lists():
    data = bound().plot.hits_by_rank(k=2, level=0.9).data
    # a share of hits at rank 1 is hit_rate@1
    found = summary(bound(), "hit_rate@1", level=0.9)

    first = data.filter(pl.col("rank") == 1).select("value", "low", "high")
    same(first, found.select("value", "low", "high"))


def test_lines_stop_at_the_longest_list():
    whole, truth = pl.DataFrame({"user": 1, "item": [1, 2, 3, 4]}), {"user": [1], "item": [3]}
    long = whole.with_columns(rank="item")
    scored = whole.with_columns(score=-pl.col("item").cast(pl.Float64))
    for one in (rf.rec({"short": long.head(2), "long": long}, pl.DataFrame(truth)),
                scored.rec(pl.DataFrame(truth))):  # fmt: skip
        assert one.plot.curve("recall", k=[1, 3, 4, 5, 50]).data["k"].max() == 4
        assert one.plot.precision_recall().data["k"].max() == 4
        assert one.plot.hits_by_rank().data["rank"].max() == 4
        # one at least
        assert one.plot.curve("recall", k=[20, 10]).data["k"].unique().to_list() == [10]


def test_exposure_is_the_share_of_the_places_that_the_items_shown_most_have():
    # five places of item 1, three of 2 and one of each of 3 to 14, by users who are not all in the truth
    items = [1] * 5 + [2] * 3 + [*range(3, 15)]
    recs = pl.DataFrame({"user": range(20), "item": items, "rank": 1})
    truth = pl.DataFrame({"user": [1], "item": [1]})

    for universe in ("truth", "both"):
        data = recs.rec(truth=truth, universe=universe).plot.exposure(k=1).data
        shares = {row["items"]: row["share"] for row in data.to_dicts()}
        assert {n: shares[n] for n in (1, 2, 3, 10, 14)} == pytest.approx(
            {1: 0.25, 2: 0.4, 3: 0.45, 10: 0.8, 14: 1.0}
        )


@pytest.mark.parametrize("kind", sharp_and_thorough(KINDS, others), ids=str)
def test_exposure_ends_at_the_number_of_items_that_lists_show(kind):
    last = bound(kind).plot.exposure(k=2).data.sort("items").group_by("model").last().sort("model")
    shown = SHOP.recs.filter(pl.col("rank") <= 2).group_by("model").agg(pl.col("item").n_unique())

    assert last["items"].to_list() == shown.sort("model")["item"].to_list()
    assert last["share"].to_list() == pytest.approx([1.0, 1.0])
