"""What charts are drawn of: the numbers of the tables, and sums that stand to be counted by hand."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from frame_kinds import KINDS, sharp_and_thorough
from planted_shop import shop

SHOP = shop(n=120)
each_kind = pytest.mark.parametrize("kind", sharp_and_thorough(KINDS), ids=str)
# whose numbers are those of a method, which other tests ask of every kind of frame
others = {one.name for one in KINDS} - {"polars"}
each_kind_thoroughly = pytest.mark.parametrize("kind", sharp_and_thorough(KINDS, others), ids=str)
KS = [1, 2, 3, 5]
ABS = 1e-12


def bound(kind: Any = None, **options: Any) -> Any:
    return SHOP.rec(kind or (lambda frame: frame), **options)


# those of fewer than ten users are not drawn
ENDS = pl.when(pl.col("n_users") >= 10).then(pl.col(r"^\w+_(low|high)$"))


def values(frame: pl.DataFrame, *columns: str) -> list[Any]:
    return [pytest.approx(row, abs=ABS) for row in frame.select(columns).rows()]


@each_kind
def test_a_curve_has_the_values_and_intervals_of_summarize(kind):
    data = bound(kind).plot.curve("ndcg", k=KS, level=0.9).data.sort("model", "k")
    found = bound().summarize("ndcg", k=KS, level=0.9)

    assert data["model"].to_list() == found["model"].to_list()
    expected = values(found, "value", "value_low", "value_high", "n_users")
    assert data["k"].to_list() == KS * data["model"].n_unique()
    assert data.select("value", "low", "high", "n_users").rows() == expected


OF_CLUSTERS = {
    "curve": (lambda plot, **more: plot.curve("ndcg", k=KS, **more), {"k": KS}),
    "segments": (lambda plot, **more: plot.segments("ndcg", by="age", **more), {"by": "age"}),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_CLUSTERS)
def test_charts_of_clusters_have_the_intervals_of_summarize_and_say_so(name):
    draw, options = OF_CLUSTERS[name]
    # the first five users are in no household
    households = pl.when(pl.col("user") >= 5).then(pl.col("user") // 3)
    rec = SHOP.rec()(users=SHOP.users.with_columns(household=households))
    chart = draw(rec.plot, level=0.9, cluster="household")
    found = rec.summarize("ndcg", level=0.9, cluster="household", **options)

    ends = found.select("value_low", "value_high").sort(pl.all())
    drawn = chart.data.select(value_low="low", value_high="high").sort(pl.all())
    assert_frame_equal(drawn, ends, abs_tol=ABS)
    told = " ".join(chart.to_dict()["title"]["subtitle"])
    assert "at 90% (users in clusters, by household)" in told


def test_the_other_charts_of_intervals_take_clusters_too():
    rec = SHOP.rec()(users=SHOP.users.with_columns(household=pl.col("user") // 3))
    options = {"level": 0.9, "cluster": "household"}
    plot = rec.plot
    ndcg = values(rec.summarize("ndcg@3", **options), "value_low", "value_high")

    drawn = plot.tradeoff("ndcg@3", "mrr", **options).data.sort("model")
    assert drawn.select("low", "high").rows() == ndcg
    told = " ".join(
        plot.compare("ndcg@3", baseline="old", **options).to_dict()["title"]["subtitle"]
    )
    assert "intervals at 90% (users in clusters, by household), each by itself" in told


@each_kind_thoroughly
def test_segments_have_the_values_of_summarize(kind):
    rec = bound(kind)
    data = rec.plot.segments("ndcg@5", by="country").data.sort("segment", "model")
    found = bound().summarize("ndcg@5", by="country").sort("country", "model", nulls_last=True)
    found = found.with_columns(pl.col("country").fill_null("(none)"), ENDS).sort("country", "model")
    assert data["segment"].to_list() == found["country"].to_list()
    columns = ["value", "value_low", "value_high", "n_users"]
    assert data.select("value", "low", "high", "n_users").rows() == values(found, *columns)


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


def test_of_many_segments_the_largest_are_shown_and_the_chart_says_so():
    chart = bound().plot.segments("mrr", by="country", most=2)

    assert set(chart.data["segment"]) == {"DE", "FR"}
    assert "2 of 5 segments" in " ".join(chart.to_dict()["title"]["subtitle"])


def test_segments_bound_before_are_drawn_and_two_columns_stand_together():
    assert set(bound().group_by("age").plot.segments("mrr").data["segment"]) == {"20", "30", "40"}
    both = bound().plot.segments("mrr", by=["country", "age"], most=99).data
    assert "DE · 20" in both["segment"].to_list()


@each_kind
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


@each_kind_thoroughly
def test_differences_are_those_of_compare(kind):
    options = {"baseline": "old", "by": "country", "margin": 0.1}
    data = bound(kind).plot.compare("ndcg@5", **options).data.sort("place")
    found = bound().compare("ndcg@5", **options).with_columns(ENDS)

    columns = ["difference", "difference_low", "difference_high", "p_adjusted", "n_users"]
    drawn = data.select("difference", "low", "high", "p_adjusted", "n_users").rows()
    assert drawn == values(found, *columns)
    assert data["verdict"].to_list() == found["verdict"].to_list()
    margins = [(-0.1 * value, 0.1 * value) for value in found["baseline_value"]]
    assert data.select("beyond", "within").rows() == [pytest.approx(one) for one in margins]


@each_kind_thoroughly
def test_a_tradeoff_has_the_values_and_intervals_of_both_metrics(kind):
    data = bound(kind).plot.tradeoff("ndcg", "recall", k=5).data.sort("model")
    found = bound().summarize("ndcg@5", "recall@5")

    for end, metric in {"": "ndcg@5", "_y": "recall@5"}.items():
        columns = ["model", "value", "value_low", "value_high"]
        of_metric = found.filter(pl.col("metric") == metric).select(columns).rows()
        assert data.select("model", f"value{end}", f"low{end}", f"high{end}").rows() == [
            (name, *(pytest.approx(one) for one in others)) for name, *others in of_metric
        ]


def test_the_front_has_what_no_other_equals_or_beats_in_both():
    # hits at rank 1 of two users, of none and of one; first_rank is the better the lower it is
    lists = {"best": [1, 1], "late": [2, 2], "mixed": [1, 3]}
    frames = {
        name: pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": ranks})
        for name, ranks in lists.items()
    }
    rec = rf.rec(frames, truth=pl.DataFrame({"user": [1, 2], "item": [1, 1]}))

    def behind(x: str, y: str) -> set[str]:
        return {*rec.plot.tradeoff(x, y).data.filter("hollow")["model"]}

    assert behind("hit_rate@1", "first_rank") == {"late", "mixed"}
    # hit_rate@3 is 1 for all, so that the best in the other is alone
    assert behind("mrr", "hit_rate@3") == {"late", "mixed"}
    # list_length has no better end
    assert behind("hit_rate@1", "list_length") == set()


@each_kind_thoroughly
def test_the_front_is_that_of_pareto(kind):
    worse = SHOP.recs.filter(pl.col("model") == "old").with_columns(
        rank=6 - pl.col("rank"), model=pl.lit("turned")
    )
    recs = pl.concat([SHOP.recs, worse])
    rec = kind(recs).rec(truth=kind(SHOP.truth), items=kind(SHOP.items), model="model")
    plain = recs.rec(truth=SHOP.truth, items=SHOP.items, model="model")
    for x, y in (("mrr@5", "coverage@5"), ("first_rank@5", "mrr@5")):
        data = rec.plot.tradeoff(x, y).data.sort("model")
        expected = plain.pareto(x, y).sort("model")
        drawn = zip(data["model"], data["hollow"], strict=True)
        assert [*drawn] == [
            (name, front != "front") for name, front in expected.select("model", "front").rows()
        ]


@each_kind_thoroughly
def test_hits_by_rank_are_what_n_hits_grows_by(kind):
    data = bound(kind).plot.hits_by_rank(k=5).data
    found = bound().evaluate("n_hits", k=range(1, 6))

    for model, *counts in found.drop("n_users").rows():
        steps = [b - a for a, b in zip([0.0, *counts], counts, strict=False)]
        of_model = data.filter(pl.col("model") == model)
        assert of_model["rank"].to_list() == [1, 2, 3, 4, 5]
        assert of_model["value"].to_list() == pytest.approx(steps, abs=ABS)


def test_hits_by_rank_have_wilsons_intervals_of_the_share_of_lists():
    data = bound().plot.hits_by_rank(k=2, level=0.9).data
    # a share of hits at rank 1 is hit_rate@1
    found = bound().summarize("hit_rate@1", level=0.9)

    first = data.filter(pl.col("rank") == 1).select("value", "low", "high").rows()
    assert first == values(found, "value", "value_low", "value_high")


def test_lines_stop_at_the_longest_list():
    lists = {"short": [1, 2], "long": [1, 2, 3, 4]}
    frames = {
        name: pl.DataFrame({"user": 1, "item": ranks, "rank": ranks})
        for name, ranks in lists.items()
    }
    plot = rf.rec(frames, truth=pl.DataFrame({"user": [1], "item": [3]})).plot
    by_score = frames["long"].select("user", "item", score=-pl.col("rank").cast(pl.Float64))
    scored = by_score.rec(truth=pl.DataFrame({"user": [1], "item": [3]})).plot

    for one in (plot, scored):
        assert one.curve("recall", k=[1, 3, 4, 5, 50]).data["k"].max() == 4
        assert one.precision_recall().data["k"].max() == 4
        assert one.hits_by_rank().data["rank"].max() == 4
        # one at least
        assert one.curve("recall", k=[20, 10]).data["k"].unique().to_list() == [10]


@each_kind_thoroughly
def test_precision_and_recall_are_those_of_evaluate(kind):
    data = bound(kind).plot.precision_recall(k=KS).data
    found = bound().evaluate("precision", "recall", k=KS)

    for row in data.to_dicts():
        of_model = found.row(by_predicate=pl.col("model") == row["model"], named=True)
        for name in ("precision", "recall"):
            assert row[name] == pytest.approx(of_model[f"{name}@{row['k']}"], abs=ABS)


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


@each_kind_thoroughly
def test_exposure_ends_at_the_number_of_items_that_lists_show(kind):
    data = bound(kind).plot.exposure(k=2).data
    shown = SHOP.recs.filter(pl.col("rank") <= 2).group_by("model").agg(pl.col("item").n_unique())

    assert dict(data.group_by("model").agg(pl.col("items").max()).rows()) == dict(shown.rows())
    last = data.filter(pl.col("items") == pl.col("items").max().over("model"))
    assert last["share"].to_list() == pytest.approx([1.0, 1.0])
