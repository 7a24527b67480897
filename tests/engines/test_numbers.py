"""Every metric, policy and profile in buckets of users: the numbers of one machine, to 1e-12."""

from __future__ import annotations

import random
from functools import partial

import polars as pl
import pytest

import many_frames
import random_cases
import recframe as rf
from asked_twice import asked_twice, assert_same, eager
from frame_kinds import slow_after_the_first
from many_frames import MANY
from parted_frames import ALL_SIDES, LISTS_ARE_NO_SAMPLES, every

pytestmark = LISTS_ARE_NO_SAMPLES

asked = partial(asked_twice, MANY)


OF_PROFILES = (
    "recall@3",
    "ndcg@3",
    "mrr@2",
    "mrr",
    "hit_rate@1",
    "precision@5",
    "map@4",
    "map",
    "auc",
)


def has(rec: rf.Rec[pl.DataFrame], metric: str) -> bool:
    """Whether a profile has a metric."""
    try:
        rec.evaluate(metric)
    except rf.RecframeError:
        return False
    return True


@pytest.mark.parametrize("profile", slow_after_the_first(rf.list_profiles()["profile"]))
def test_every_profile_holds_in_buckets(profile):
    recs, truth = eager(model=True)
    options = {"profile": profile, "model": "model"}
    metrics = [one for one in OF_PROFILES if has(recs.rec(truth=truth, **options), one)]

    one, other = asked(
        "evaluate", recs, truth, options, *metrics, support=True, sides=("users",), by="country"
    )

    assert_same(one, other, ordered=True)


@pytest.mark.parametrize("empty", slow_after_the_first(["both", "ids", "recs", "truth"]))
@pytest.mark.parametrize("by", slow_after_the_first([None, ["country", "week"], "user"]), ids=str)
def test_buckets_of_nothing_are_what_nothing_is(empty, by):
    recs, truth = eager(model=False)
    if empty == "ids":
        recs, truth = (one.with_columns(user=pl.lit(None, dtype=pl.Int64)) for one in (recs, truth))
    recs = recs.clear() if empty in {"recs", "both"} else recs
    truth = truth.clear() if empty in {"truth", "both"} else truth

    one, other = asked("evaluate", recs, truth, {}, *every(*ALL_SIDES), sides=ALL_SIDES, by=by)

    assert_same(one, other, ordered=by != "user")


METRICS_OF_TIES = ["ndcg@3", "recall@2", "mrr@3", "precision@3", "list_length@2", "judged@3"]


OF_CUT_OFFS = [
    {"ties": "last"},
    {},
    {"no_relevant": "skip"},
    {"relevant_from": "list"},
    {"universe": "both"},
    {"ties": "item_reverse"},
]


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("policies", slow_after_the_first(OF_CUT_OFFS), ids=str)
def test_what_stands_behind_the_largest_cut_off_changes_nothing(policies):
    choose = random.Random("cut-offs")  # noqa: S311  test data
    # each of the others under every second policy
    others = random_cases.AT_ONE_CUT[OF_CUT_OFFS.index(policies) % 2 :: 2]
    metrics = METRICS_OF_TIES if "ties" in policies else [str(one) for one in others]
    for number, metric in enumerate(metrics):
        case = random_cases.two_frames(choose.choice, 40, 4, "rank")
        recs = random_cases.frame(case.recs, {}).select("user", "item", "rank")
        truth = random_cases.frame(case.truth, {})
        graded = ["relevance"] * (number % 2 and "relevance" in truth.columns)
        # alone, since others may read all ranks
        one, other = asked(
            "evaluate", recs, truth.select("user", "item", *graded), policies, metric
        )
        assert_same(one, other, ordered=True)


def large_frames() -> tuple[pl.DataFrame, pl.DataFrame, dict[str, pl.DataFrame]]:
    """Frames whose buckets are large, so that their rows are asked before a plan is made."""
    n_users, n_rows = 3_000, 20
    users = pl.DataFrame({"user": range(n_users + 100)}).with_columns(country=pl.col("user") % 7)
    lists = users.head(n_users).join(pl.DataFrame({"rank": range(1, n_rows + 1)}), how="cross")
    item = (pl.col("user") * 31 + pl.col("rank") * (17 + pl.col("model").str.len_chars())) % 500
    models = [lists.with_columns(model=pl.lit(name)) for name in ("a", "bb")]
    recs = pl.concat(models).with_columns(item=item).drop("country")
    truth = users.join(pl.DataFrame({"n": range(4)}), how="cross")
    truth = truth.select(
        "user", item=(pl.col("user") * 13 + pl.col("n") * 37) % 520, relevance=pl.col("n")
    )
    items = pl.DataFrame({"item": range(510)}).with_columns(
        genre=pl.format("g{}", pl.col("item") % 5), price=pl.col("item") % 7 / 2
    )
    train = recs.filter(pl.col("rank") % 5 == 0).select("user", "item")
    return recs, truth, {"users": users, "items": items, "train": train}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "metrics", "arguments"),
    [
        ("evaluate", tuple(every(*ALL_SIDES)), {"by": "country"}),
        ("evaluate", tuple(every(*ALL_SIDES)), {}),
        ("summarize", ("ndcg@5", "auc", "novelty@3"), {"by": "country"}),
        ("compare", ("ndcg@5", "recall", "novelty@3"), {"by": "country"}),
        ("compare", ("ndcg@5",), {"test": "permutation", "n_resamples": 99}),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_large_buckets_have_the_numbers_of_one_machine(call, metrics, arguments, monkeypatch):
    monkeypatch.setattr(many_frames, "N_BUCKETS", 2)
    recs, truth, sides = large_frames()

    one, other = asked(call, recs, truth, {"model": "model"}, *metrics, sides=sides, **arguments)

    assert_same(one, other, ordered=True)
