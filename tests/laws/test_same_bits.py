"""One call has one number, to the last bit: for shuffled rows, chunks, threads, lazy frames, parts of the users and engines."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import many_frames
import recframe as rf
from asking import ranking
from buckets_of_users import in_buckets
from lanes import crossed
from many_frames import many, read

N_USERS, LENGTH, N_ITEMS = 400, 12, 60
# whose values of users are no sums of several numbers, which have other last bits on other roads
OF_USERS = [
    "hit_rate@10", "precision@7", "recall@5", "f_score@5", "mrr", "ndcg@1", "dcg(gain=exp)@1",
    "value(of=price)@1",
]  # fmt: skip
SORTED_HITS = [*OF_USERS, "ndcg@10", "map@10", "rbp(p=0.9)"]
OF_LISTS = ["novelty@10", "popularity@10", "entropy@10"]
OF_LISTS += ["entropy(weight=log)@10", "gini(weight=log)@10"]
SPREAD = ["value", "std", "value_low", "value_high"]


def scene(seed: int = 0) -> dict[str, pl.DataFrame]:
    """Return frames whose grades, prices and weights have no exact sums."""
    draw, users, items = np.random.default_rng(seed), np.arange(N_USERS), np.arange(N_ITEMS)
    listed = np.concatenate([draw.permutation(N_ITEMS)[:LENGTH] for _ in users])
    ranks = np.tile(np.arange(1, LENGTH + 1), N_USERS)
    liked = np.concatenate([draw.permutation(N_ITEMS)[:9] for _ in users])
    grades = draw.choice([0.0, 0.1, 0.3, 0.7, 1.9], len(liked))
    prices, genres = draw.lognormal(3, 4, N_ITEMS), draw.choice([*"abcde"], N_ITEMS)
    train = {"user": draw.integers(0, N_USERS, 3000), "item": draw.binomial(N_ITEMS - 1, 0.3, 3000)}
    columns = {
        "lists": {"user": np.repeat(users, LENGTH), "item": listed, "rank": ranks},
        "truth": {"user": np.repeat(users, 9), "item": liked, "relevance": grades},
        "items": {"item": items, "price": prices, "genre": genres.tolist()},
        "users": {"user": users, "weight": draw.lognormal(0, 3, N_USERS), "country": users % 3},
        "train": train,
    }
    return {name: pl.DataFrame(own) for name, own in columns.items()}


def shuffled(frames: dict[str, pl.DataFrame], seed: int) -> dict[str, pl.DataFrame]:
    """Return the same rows in another order and in chunks."""
    found = {}
    for name, one in frames.items():
        rows = one.sample(fraction=1, shuffle=True, seed=seed)
        cuts = sorted({0, len(rows) // 5, len(rows) // (seed + 2), len(rows)})
        pieces = [rows[start:end] for start, end in pairwise(cuts)]
        found[name] = pl.concat(pieces, rechunk=False)
    return found


def rec(frames: dict[str, Any], **options: Any) -> Any:
    sides = {name: frames[name] for name in ("truth", "items", "users", "train")}
    return rf.rec(frames["lists"])(**sides, **options)


def bits(result: Any) -> dict[str, list[Any]]:
    """Return the columns of a result, numbers by all of their bits."""
    frame = result if isinstance(result, pl.DataFrame) else read(result)
    return {
        name: [one.hex() if isinstance(one, float) else one for one in frame[name]]
        for name in frame.columns
    }


def asked(frames: dict[str, pl.DataFrame], road: str, *metrics: str, **options: Any) -> Any:
    """Return what a call gives on one of the roads."""
    by = options.pop("by")
    if road == "eager":
        return rec(frames, **options).evaluate(*metrics, by=by)
    lazy = rec({name: one.lazy() for name, one in frames.items()}, **options)
    if road == "parts":
        return in_buckets(lazy, *metrics, by=by, n=5)
    return lazy.evaluate(*metrics, by=by).collect(engine=road)


ROADS = ["eager", "in-memory", "streaming", "parts"]
MEANS = {
    "all": ([*OF_USERS, *OF_LISTS], {"by": None}),
    "segments": ([*OF_USERS, *OF_LISTS], {"by": "country"}),
    "weighted": (OF_USERS, {"by": "country", "weight": "weight"}),
}


@pytest.mark.parametrize(("road", "means", "seed"), crossed(ROADS, [*MEANS], [0, 1]))
def test_means_have_the_same_bits_on_every_road_and_in_any_order_of_the_rows(
    road: str, means: str, seed: int
) -> None:
    frames, (metrics, options) = scene(seed), MEANS[means]
    expected = bits(asked(frames, "eager", *metrics, **options))
    for order in range(2):
        assert bits(asked(shuffled(frames, order), road, *metrics, **options)) == expected


CALLS: dict[str, Callable[[Any], Any]] = {
    "sums over sorted hits": lambda rec: rec.evaluate(*SORTED_HITS, by="country"),
    "comparisons": lambda rec: rec(model="model").compare("recall@5", "ndcg@10", "gini@10", baseline="a"),
    "spreads": lambda rec: rec.summarize(*OF_USERS, by="country").select(SPREAD),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_a_call_has_the_same_bits_in_any_order_of_the_rows(call: str) -> None:
    frames, draw = scene(5), np.random.default_rng(5)
    if call == "comparisons":
        other = pl.Series(draw.permutation(frames["lists"]["item"]))
        models = {"a": frames["lists"], "b": frames["lists"].with_columns(item=other)}
        named = [one.with_columns(model=pl.lit(name)) for name, one in models.items()]
        frames["lists"] = pl.concat(named)
    expected = bits(CALLS[call](rec(frames)))
    for order in range(3):
        rows = shuffled(frames, order)
        assert bits(CALLS[call](rec(rows))) == expected
        if call == "spreads":
            found = CALLS[call](rec({name: one.lazy() for name, one in rows.items()}))
            assert bits(found.collect(engine=["in-memory", "streaming"][order % 2])) == expected


def test_an_engine_adds_sums_up_to_the_same_bits() -> None:
    frames = scene(4)
    metrics = [*OF_USERS, "novelty@10"]
    expected = bits(rec(frames).evaluate(*metrics, by="country"))
    sides = {name: many(frames[name]) for name in ("lists", "truth", "train")}
    assert bits(rec(frames | sides).evaluate(*metrics, by="country")) == expected


@pytest.mark.parametrize("metric", [*SORTED_HITS, "dcg(gain=exp)@10", "novelty@10"])
def test_a_mean_is_that_of_fsum_to_its_last_place(metric: str) -> None:
    asks = rec(scene(6))
    values = asks.evaluate(metric, by="user")[metric].drop_nulls().to_list()
    expected = math.fsum(values) / len(values)
    assert abs(asks.evaluate(metric)[metric].item() - expected) <= math.ulp(expected)


def test_forty_calls_on_many_rows_in_fresh_orders_give_one_number() -> None:
    grades = np.random.default_rng(0).choice([0.0, 0.0, 0.1, 0.7], 300_000)
    row = pl.int_range(300_000)
    rows = pl.select(user=row // 10, item=row % 10, rank=row % 10 + 1, relevance=pl.Series(grades))
    orders = (rows.sample(fraction=1, shuffle=True, seed=seed) for seed in range(10))
    assert len({one.rec.ndcg(k=10) for one in orders for _ in range(4)}) == 1


def test_any_number_of_threads_gives_the_same_bits() -> None:
    found = []
    # not all of sys.path: the site.py of the pages would stand in for that of a Python 3.10
    paths = [str(Path(many_frames.__file__).parent), os.environ.get("PYTHONPATH", "")]
    for threads in ("1", "2", "7"):
        environment = {**os.environ, "POLARS_MAX_THREADS": threads}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        run = subprocess.run(  # noqa: S603  this file
            [sys.executable, __file__], env=environment, capture_output=True, check=True, text=True
        )
        found.append(json.loads(run.stdout))
    assert found[0] == found[1] == found[2]


def test_a_hit_far_down_the_list_is_not_lost():
    # a hit at rank 400 alone: 1/2 * 1/2^399, and 1/400 * 1/16 * (1 - 0)
    found = ranking([1], [400]).rec.evaluate(rf.rbp(p=0.5), "err")

    assert found.row(0) == pytest.approx((1, 2.0**-400, 1 / 16 / 400), rel=1e-12, abs=0)


def _print_bits() -> None:
    """Print the bits of some results, in a process of its own."""
    frames = scene(8)
    lazy = {name: one.lazy() for name, one in frames.items()}
    results = [
        rec(frames).evaluate(*SORTED_HITS, *OF_LISTS, by="country"),
        rec(frames).summarize("ndcg@10", by="country"),
        rec(lazy).evaluate(*OF_USERS, *OF_LISTS).collect(engine="streaming"),
    ]
    json.dump([bits(one) for one in results], sys.stdout)


if __name__ == "__main__":
    _print_bits()
