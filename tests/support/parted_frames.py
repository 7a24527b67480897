"""Frames of two models for plans over parts of the users, and every metric that side frames allow."""

from __future__ import annotations

import random

import polars as pl
import pytest

import recframe as rf
from recframe.metrics.language.registry import registered

METRICS = ["ndcg@3", "recall", "mrr@2", "auc", "bpref@5", "judged@4", "first_rank"]


def frames(seed: int = 0) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
    """Two models' lists, a truth that speaks of some users alone, and the users' countries."""
    choose = random.Random(seed)  # noqa: S311  test data
    recs = [
        {"model": model, "user": user, "item": item, "rank": rank}
        for model in "ab"
        for user in range(40)
        for rank, item in enumerate(choose.sample(range(15), choose.randint(0, 8)), 1)
    ]
    truth = [
        {"user": user, "item": item, "relevance": choose.randint(0, 3)}
        for user in range(5, 50)
        for item in choose.sample(range(15), choose.randint(1, 6))
    ]
    users = [{"user": user, "country": choose.choice("FD")} for user in range(48)]
    return pl.LazyFrame(recs), pl.LazyFrame(truth), pl.LazyFrame(users)


OF_CATEGORIES = ["diversity", "category_coverage", "category_entropy", "alpha_ndcg", "err_ia"]
OF_CATEGORIES += ["nrbp", "miscalibration", "serendipity", "exposure_disparity"]
GIVEN_A_COLUMN = {**dict.fromkeys(OF_CATEGORIES, "genre"), "value": "price"}
SAMPLED = "corrected(n_items=20,n_negatives=2)"
ALL_SIDES = ("items", "train", "users")

# what the sampled metric says of lists that are no samples
LISTS_ARE_NO_SAMPLES = pytest.mark.filterwarnings(
    "ignore:lists_of_other_samples:recframe.RecframeWarning"
)


def every(*sides: str, **options: object) -> list[rf.Metric[...]]:
    """Every metric of the library that the side frames allow, and forms that read other columns."""
    there = {*sides, *options} | ({"catalogue"} if {"items", "train"} & {*sides} else set())
    forms = []
    for row in rf.list_metrics().to_dicts():
        name, needs = row["name"], {*filter(None, row["needs"].split(", "))}
        if registered()[name].definition.builtin and needs <= there:
            of = GIVEN_A_COLUMN.get(name) if "items" in sides else None
            forms.append(f"{name}(of={of})" if of else name)
    # some of the lists have two items that are not relevant
    forms = [SAMPLED if name == "corrected" else name for name in forms]
    forms += ["recall(weights=snips)", "ndcg(weights=snips)", "auc(weights=snips)"] * (
        "train" in sides
    )
    return [rf.parse(one) @ 3 for one in forms]


def sides_of(*names: str) -> dict[str, pl.LazyFrame]:
    """The frames beside two frames, none of which has all that others have."""
    choose = random.Random(1)  # noqa: S311  test data
    items = [
        {
            "item": i,
            "genre": choose.choice("xyz"),
            "kind": choose.choice("pq"),
            "price": i % 5 * 1.0,
        }
        for i in range(12)
    ]
    train = [
        {"user": user, "item": item}
        for user in range(3, 45)
        for item in choose.sample(range(15), choose.randint(1, 4))
    ]
    found = {"items": pl.LazyFrame(items), "train": pl.LazyFrame(train), "users": frames()[2]}
    return {name: found[name] for name in names}


def rows_of(order: str, *, model: bool) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The two frames with a property of the row, with ranks or scores, of one or both models."""
    recs, truth, _ = frames()
    week = (pl.col("item") * 7 + pl.col("user")) % 2
    recs = recs.with_columns(score=(10 - pl.col("rank")) // 2) if order == "score" else recs
    recs = recs.drop("rank") if order == "score" else recs
    recs = recs if model else recs.filter(pl.col("model") == "a").drop("model")
    return recs.with_columns(week=week), truth.with_columns(week=week)
