"""Laws that hold for every metric beyond accuracy, on any input."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import recframe as rf
from buckets_of_users import in_buckets
from choices import CHOICES, with_a_value
from plain_beyond import OF_LISTS
from strategies import examples

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
METRICS = [rf.parse(name)(**parameters) for name in CHOICES for parameters in CHOICES[name]]
# every choice of a parameter at one cut-off, each of these in turn
EVERY = [metric if k is None else metric @ k for metric, k in zip(METRICS, cycle([3, 1, 2, None]))]
# refused without a cut-off
EVERY = [
    metric for metric in EVERY if metric.k or with_a_value(metric.name, metric.parameters, [None])
]
AT_EVERY_K = [
    *EVERY,
    *(metric @ k for metric in METRICS for k in (1, 3) if metric @ k not in EVERY),
]
# A plan of them all takes four times as long as plans of some: laws that do not speak of what stands beside a metric ask these,
# each example some of them.
BATCHES = [EVERY[start : start + 31] for start in range(0, len(EVERY), 31)]
AT_EVERY_K_BY_31 = [AT_EVERY_K[start : start + 31] for start in range(0, len(AT_EVERY_K), 31)]
OF_A_LIST = [metric for metric in EVERY if metric.name in OF_LISTS and metric.shape == "user"]

Frames = Mapping[str, pl.DataFrame]
COLUMNS = {
    "recs": {"model": pl.String, "user": pl.String, "item": pl.String, "rank": pl.Int64},
    "truth": {"user": pl.String, "item": pl.String, "relevance": pl.Float64},
    "train": {"user": pl.String, "item": pl.String},
    "reference": {"user": pl.String, "item": pl.String, "rank": pl.Int64},
    "items": {
        "item": pl.String, "genre": pl.String, "tags": pl.List(pl.String),
        "vector": pl.List(pl.Float64), "price": pl.Float64, "cost": pl.Int64,
    },
    "users": {"user": pl.String, "country": pl.String},
}  # fmt: skip

users = st.sampled_from([*"vwxyz" * 2, None])
items = st.sampled_from([*"abcdefgh" * 2, None])
ranks = st.one_of(st.integers(1, 9), st.none())
numbers = st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.5, 3.0, 1e-9, 1e9])
COLUMN_VALUES = {
    "recs": (st.sampled_from("xy"), users, items, ranks),
    "truth": (users, items, st.sampled_from([0.0, 1.0, 1.0, 2.0, 0.5, -1.0, None])),
    "train": (users, items),
    "reference": (users, items, ranks),
    "items": (
        st.sampled_from("abcdefgi"),
        st.sampled_from(["p", "q", "r", None]),
        st.one_of(st.none(), st.lists(st.sampled_from(["p", "q", "r", None]), max_size=4)),
        st.one_of(st.none(), st.lists(numbers, min_size=2, max_size=2)),
        st.sampled_from([0.0, 0.5, 3.0, 1e9, None]),
        st.sampled_from([-2, 0, 5, None]),
    ),
    "users": (st.sampled_from("vwxyz"), st.sampled_from(["FR", "DE", None])),
}
UNIQUE = {"items", "users"}


@st.composite
def all_frames(draw: st.DrawFn) -> Frames:
    """Lists of two models and all side frames, with duplicates, nulls, repeated ranks and ids that only some of them have."""
    found = {}
    for name, columns in COLUMN_VALUES.items():
        unique = (lambda row: row[0]) if name in UNIQUE else None
        least = int(name == "items")  # an empty catalogue is an error
        rows = draw(st.lists(st.tuples(*columns), min_size=least, max_size=24, unique_by=unique))
        found[name] = pl.DataFrame(rows, schema=COLUMNS[name], orient="row")
    return found


def bound(frames: Frames) -> Any:
    sides = {name: frame for name, frame in frames.items() if name != "recs"}
    return frames["recs"].rec(model="model", **sides)


def ask(frames: Frames, *metrics: Any, by: Any = None) -> pl.DataFrame:
    return bound(frames).evaluate(*(metrics or EVERY), by=by)


def assert_same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12, check_dtypes=False)


few = settings(
    examples(5), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
of_some_metrics = settings(few, max_examples=examples(8).max_examples)
batches = st.sampled_from(BATCHES)
some = settings(few, max_examples=examples(5).max_examples)
segments = st.sampled_from([None, "user", "country", "genre", ["country", "genre"]])


@settings(few, max_examples=examples(10).max_examples)
@given(all_frames(), st.sampled_from(AT_EVERY_K_BY_31), segments)
def test_a_metric_stays_in_its_range(frames: Frames, metrics: Any, by: Any):
    found = ask(frames, *metrics, by=by)

    for metric in metrics:
        low, high = metric.range
        values = found[str(metric)].drop_nulls()
        assert values.is_finite().all(), metric
        assert ((values >= low - 1e-12) & (values <= high + 1e-12)).all(), metric


@of_some_metrics
@given(all_frames(), batches)
def test_new_names_for_categories_change_nothing(frames: Frames, metrics: Any):
    def renamed(one: pl.Expr) -> pl.Expr:
        return one.replace_strict(
            {"p": "z", "q": "y", "r": "x"}, default=None, return_dtype=pl.String
        )

    described = frames["items"].with_columns(
        genre=renamed(pl.col("genre")), tags=pl.col("tags").list.eval(renamed(pl.element()))
    )

    assert_same(ask({**frames, "items": described}, *metrics), ask(frames, *metrics))


@pytest.mark.slow
@settings(few, max_examples=examples(3).max_examples)
@given(all_frames(), batches)
def test_a_metric_alone_is_what_it_is_among_others(frames: Frames, metrics: Any):
    together = ask(frames, *metrics)

    for metric in metrics[::7]:
        assert_same(ask(frames, metric)[[str(metric)]], together[[str(metric)]])


@few
@given(all_frames(), st.integers(0, 3))
def test_a_list_cut_beforehand_is_the_list_at_k(frames: Frames, turn: int):
    # what is recommended below the cut is in the catalogue only where there are no items
    cut = {
        **frames,
        "recs": frames["recs"].with_columns(rank=pl.when(pl.col("rank") <= 3).then("rank")),
    }
    # k cuts what they are held against too
    whole_list = {"rbo", "overlap", "least_item_promoted", "unexpectedness", "serendipity", "value"}
    whole_list |= {"alpha_ndcg", "err_ia", "nrbp"}
    metrics = [
        metric
        for metric in METRICS
        if metric.name not in whole_list and "k" not in dict(metric.settings).values()
    ]

    asked = metrics[turn::4]
    last = pl.nth(range(-len(asked), 0))
    assert_same(
        ask(cut, *(metric @ 3 for metric in asked)).select(last),
        ask(cut, *asked).select(last.name.map(lambda name: f"{name}@3")),
    )


@some
@given(all_frames(), st.integers(0, 2))
def test_values_of_lists_average_to_the_overall_one_and_to_that_of_segments(
    frames: Frames, turn: int
):
    metrics = [str(metric) for metric in OF_A_LIST[turn::3]]
    users = ask(frames, *metrics, by="user")
    with_country = users.join(frames["users"], on="user", how="left", nulls_equal=True)

    for keys in (["model"], ["model", "country"]):
        found = ask(frames, *metrics, by=keys[1:] or None)
        averages = with_country.group_by(keys).agg(pl.col(metrics).mean())
        joined = found.select(keys).join(
            averages, on=keys, how="left", nulls_equal=True, maintain_order="left"
        )
        assert_same(found.select(keys + metrics), joined.select(keys + metrics))


of_users = st.fixed_dictionaries(
    {
        "universe": st.sampled_from(["truth", "recs", "both", "all"]),
        "no_relevant": st.sampled_from(["zero", "skip", "null"]),
        "relevant_from": st.sampled_from(["truth", "list"]),
    }
)


@some
@given(all_frames(), segments, of_users)
def test_gain_by_category_is_gain_where_each_item_is_a_category(
    frames: Frames, by: Any, policies: dict[str, Any]
):
    # nothing is seen twice, so that what stands beside it is ndcg, of the same users
    items = pl.DataFrame(
        {"item": list("abcdefghi"), "genre": [*"ppqqrrrr", None], "own": list("abcdefghi")}
    )
    rec = bound({**frames, "items": items})(**policies)

    found = rec.evaluate("alpha_ndcg(of=own)", "ndcg(gain=binary)", k=[1, 3, 9], by=by)

    gained, plain = (found.select(pl.nth(range(start, start + 3))) for start in (-6, -3))
    assert_same(gained.rename(dict(zip(gained.columns, plain.columns, strict=True))), plain)


COUNTED = [
    *EVERY[::9],
    "auc@3",
    "first_rank@2",
    "ndcg@1",
    "precision",
    rf.f_score(average="means") @ 2,
]


@given(all_frames(), st.sampled_from([None, "country"]), st.sampled_from(["zero", "skip", "null"]))
@few
def test_the_support_of_a_mean_is_the_number_of_values(frames: Frames, by: Any, no_relevant: str):
    rec, lazy = (
        bound({name: make(frame) for name, frame in frames.items()})(no_relevant=no_relevant)
        for make in (pl.DataFrame.clone, pl.DataFrame.lazy)
    )
    plain, users = rec.evaluate(*COUNTED, by=by), rec.evaluate(*COUNTED, by="user", support=True)
    names = plain.columns[-len(COUNTED) :]
    keys = ["model"] + [by] * (by is not None)

    found = rec.evaluate(*COUNTED, by=by, support=True)

    assert found.columns == [
        *plain.columns[: -len(COUNTED)],
        *(one for name in names for one in (name, f"n {name}")),
    ]
    assert_same(found.select(plain.columns), plain)
    counts = [f"n {name}" for name in names]
    assert {found.schema[name] for name in counts} == {pl.Int64}
    with_country = users.join(frames["users"], on="user", how="left", nulls_equal=True)
    totals = found.select(keys).join(
        with_country.group_by(keys).agg(pl.col(counts).sum()), on=keys, how="left", nulls_equal=True
    )
    assert_same(found.select(*keys, *counts), totals.with_columns(pl.col(counts).fill_null(0)))
    for name in (
        str(metric)
        for metric in map(rf.parse, map(str, COUNTED))
        if metric.definition.shape == "user"
    ):
        assert (users[f"n {name}"] == users[name].is_not_null().cast(pl.Int64)).all(), name
    parts = [one for one in COUNTED if "similarity=overlap" not in str(one)]
    in_parts = in_buckets(lazy, *parts, by=by, support=True)
    assert_same(in_parts, found.select(in_parts.columns))


MEANS_OF_ITEMS = [
    *(
        "novelty", "popularity", "repeat_rate", "overlap", "serendipity(against=popularity)",
        "serendipity(against=reference)",
    ),
    *("long_tail_share", "epc", "efd(relevance=True)"),
]  # fmt: skip
"""Not those of `tail="items"`, which is of the segment's own items."""


@some
@given(all_frames())
def test_what_items_add_to_a_list_is_the_same_in_a_segment_of_items(frames: Frames):
    # a mean times the number of its items is a total, and totals of segments add up
    rows = (
        frames["recs"]
        .drop_nulls()
        .unique(["model", "user", "item"])
        .join(frames["items"], on="item", how="left")
    )
    keys = ["model", "user", "genre"]
    names = [str(rf.parse(name)) for name in MEANS_OF_ITEMS]

    whole, parts = (ask(frames, *MEANS_OF_ITEMS, by=by) for by in ("user", ["user", "genre"]))

    parts = parts.join(rows.group_by(keys).len(), on=keys, nulls_equal=True)
    totals = parts.group_by(keys[:2]).agg(
        (pl.col(names) * pl.col("len")).sum() / pl.col("len").sum()
    )
    both = whole.join(totals, on=keys[:2], suffix=" in parts", nulls_equal=True).sort(keys[:2])
    for name in names:
        assert_same(
            both.select(pl.col(f"{name} in parts").alias(name)),
            both.select(pl.col(name).fill_null(0.0)),
        )


@given(tenths=st.integers(1, 9), n_items=st.integers(1, 30))
@few
def test_the_head_and_the_tail_of_the_items_are_what_their_shares_say(tenths: int, n_items: int):
    # RecBole's tail_ratio, which is what the head leaves: 1 - 0.9 is less than 0.1 by a bit
    items = pl.DataFrame({"item": [f"i{number:02}" for number in range(n_items)]})
    recs = items.with_columns(user=pl.lit("u"), rank=pl.int_range(1, n_items + 1))
    rec = recs.rec(items=items, train=recs.select("user", "item"))

    share = 1 - tenths / 10

    assert rec.long_tail_count(tail="items", share=share) == max(int(tenths / 10 * n_items), 1)


@some
@given(all_frames())
def test_lists_are_counted_once_in_the_segments_of_users(frames: Frames):
    if not OF_A_LIST:
        return
    listed = frames["recs"].filter(
        pl.col("rank").is_not_null(), pl.col("user").is_not_null(), pl.col("item").is_not_null()
    )
    expected = (
        listed.group_by("model").agg(pl.col("user").n_unique().alias("n_lists")).sort("model")
    )
    overall, countries = (
        ask(frames, METRICS[0], OF_A_LIST[-1]),
        ask(frames, OF_A_LIST[-1], by="country"),
    )

    assert_same(
        overall.filter(pl.col("n_lists") > 0).select("model", "n_lists").sort("model"), expected
    )
    assert countries["n_lists"].sum() == overall["n_lists"].sum()


def same_lists(n_users: int, length: int) -> pl.DataFrame:
    rows = [
        ("x", str(user), "abcdefgh"[rank - 1], rank)
        for user in range(n_users)
        for rank in range(1, length + 1)
    ]
    return pl.DataFrame(rows, schema=COLUMNS["recs"], orient="row")


def value(name: str, recs: pl.DataFrame, **sides: pl.DataFrame) -> float | None:
    (found,) = recs.drop("model").rec(**sides).evaluate(name)[:, -1]
    return found


@pytest.mark.parametrize("similarity", ["cosine", "overlap"])
@pytest.mark.parametrize("against", ["segment", "all"])
@given(n_users=st.integers(2, 4), length=st.integers(1, 5))
@few
def test_identical_lists_are_not_personal(similarity: str, against: str, n_users: int, length: int):
    name = f"personalization(similarity={similarity},against={against})"
    assert value(name, same_lists(n_users, length)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("similarity", ["cosine", "overlap"])
@pytest.mark.parametrize("against", ["segment", "all"])
def test_disjoint_lists_are_all_personal(similarity: str, against: str):
    recs = same_lists(4, 8).filter(pl.col("rank") % 4 == pl.col("user").cast(pl.Int64))
    assert value(
        f"personalization(similarity={similarity},against={against})", recs
    ) == pytest.approx(1, abs=1e-12)


@given(length=st.integers(1, 8))
@few
def test_a_list_against_itself_overlaps_wholly(length: int):
    recs = same_lists(2, length)
    reference = recs.drop("model")
    assert value("overlap", recs, reference=reference) == 1
    assert value("unexpectedness", recs, reference=reference) == 0
    assert value("rbo", recs, reference=reference) == pytest.approx(1, abs=1e-12)
    assert value("rbo(form=truncated)", recs, reference=reference) == pytest.approx(1, abs=1e-12)


def test_equal_exposure_has_no_gini_and_all_the_entropy():
    recs = same_lists(3, 8)
    items = pl.DataFrame({"item": list("abcdefgh")})
    assert value("gini", recs, items=items) == pytest.approx(0, abs=1e-12)
    assert value("entropy(normalized=True)", recs, items=items) == pytest.approx(1, abs=1e-12)


def test_one_item_for_everybody_has_all_the_gini_and_no_entropy():
    recs = same_lists(3, 1)
    items = pl.DataFrame({"item": list("abcdefgh")})
    assert value("gini", recs, items=items) == pytest.approx(1, abs=1e-12)
    assert value("entropy", recs, items=items) == 0


@pytest.mark.parametrize("divergence", ["kl", "js", "hellinger"])
def test_a_list_of_the_history_is_calibrated(divergence: str):
    recs = same_lists(3, 4)
    items = pl.DataFrame({"item": list("abcd"), "genre": [["p"], ["p", "q"], None, ["r"]]})
    train = recs.select("user", "item")
    assert value(
        f"miscalibration(divergence={divergence})", recs, items=items, train=train
    ) == pytest.approx(0, abs=1e-7)


def test_a_list_of_the_history_repeats_and_lifts_nothing():
    recs = same_lists(3, 4).filter(pl.col("rank") <= pl.col("user").cast(pl.Int64) + 1)
    train = recs.select("user", "item")
    assert value("repeat_rate", recs, train=train) == 1
    assert value("popularity_lift", recs, train=train) == pytest.approx(0, abs=1e-12)


def test_the_best_order_of_categories_scores_one():
    # p and q once each, then those that repeat
    items = pl.DataFrame({"item": list("abcd"), "genre": ["p", "q", "p", "q"]})
    recs = same_lists(2, 4)
    assert value(
        "alpha_ndcg", recs, items=items, truth=recs.select("user", "item")
    ) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", ["novelty", "epc", "popularity"])
@given(frames=all_frames())
@few
def test_novelty_falls_where_popularity_rises(name: str, frames: Frames):
    # of two lists of one item each
    first = (
        frames["recs"]
        .filter(pl.col("rank").is_not_null())
        .unique(["model", "user"])
        .with_columns(rank=1)
    )
    values = ask({**frames, "recs": first}, name, by="user")
    popular = ask({**frames, "recs": first}, "popularity", by="user")
    order = popular.join(values, on=["model", "user"], suffix=" ").drop_nulls().sort(pl.nth(-2))
    steps = order[:, -1].diff().drop_nulls() * (1 if name == "popularity" else -1)
    assert (steps >= -1e-12).all()
