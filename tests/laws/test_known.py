"""A call has the same bits with and without what is known of large eager frames, over all kinds of ids."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_sizes import LARGE, SIZE
from lanes import thorough
from recframe.evaluation import metrics_of_lists
from recframe.ranking import known

pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
LENGTH, N_ITEMS = 12, 40
METRICS = {
    "of hits": ["ndcg", "recall", "map", "err", "hit_rate", "f_score"],
    "of rows": ["auc", "bpref", "judged", "list_length"],
    "of lists": ["miscalibration(of=genre)", "diversity(of=genre)", "novelty", "coverage", "gini"],
}
IDS = {
    "narrow": lambda number: number,
    "negative": lambda number: -number,
    "wide": lambda number: number * 2**40,
    "unsigned": lambda number: number.cast(pl.UInt64) + 2**63,
    "fractional": lambda number: number.cast(pl.Float64),
    "decimal": lambda number: number.cast(pl.Decimal(20, 2)),
    "date": lambda number: number.cast(pl.Int32).cast(pl.Date),
    "text": lambda number: pl.format("number {}", number),
    "binary": lambda number: pl.format("number {}", number).cast(pl.Binary),
    "category": lambda number: pl.format("number {}", number).cast(pl.Categorical),
}
ORDERS = {
    "sorted": lambda rows: rows,
    "shuffled": lambda rows: rows.sample(fraction=1, shuffle=True, seed=1),
    "repeating": lambda rows: pl.concat([rows, rows[::7]]),
}
KINDS = ("judged", "two frames", "scores", "two frames of scores")
POLICIES: dict[str, dict[str, Any]] = {
    "plain": {},
    "recommended users": {"universe": "recs"},
    "users of both": {"universe": "both", "no_relevant": "skip"},
    "relevant in the list": {"relevant_from": "list"},
    "ties by item": {"ties": "item"},
    "models": {"model": "model"},
}
SEGMENTS = [None, "country", "day", "kind", "user"]


def cases() -> list[Any]:
    """Return each kind of frames with metrics and ids of each kind, the other choices drawn."""
    draw = random.Random(0)  # noqa: S311  test data
    drawn = [
        (*chosen, *map(draw.choice, ([*POLICIES], SEGMENTS, [*ORDERS])))
        for chosen in product(KINDS, METRICS, IDS)
    ]
    draw.shuffle(drawn)
    return thorough(drawn, fast=12)


def scene(kind: str, ids: Any, order: Any) -> dict[str, pl.DataFrame]:
    """Return lists, and the truth where they have none, users' histories and items."""
    draw = np.random.default_rng(0)
    n_users = SIZE // LENGTH
    listed = np.concatenate([draw.permutation(N_ITEMS)[:LENGTH] for _ in range(n_users)])
    rows = pl.DataFrame(
        {
            "user": np.repeat(np.arange(n_users), LENGTH),
            "item": listed,
            "rank": np.tile(np.arange(1, LENGTH + 1), n_users),
            "relevance": draw.choice([0, 0, 1, 2], SIZE),
        }
    ).with_columns(
        model=pl.when(pl.col("user") % 2 > 0).then(pl.lit("a")).otherwise(pl.lit("b")),
        country=pl.format("country {}", pl.col("user") % 5),
        day=pl.col("item") % 3,
    )
    train = rows.select("user", item=(pl.col("item") * 7 + pl.col("user")) % N_ITEMS)
    items = pl.DataFrame({"item": np.arange(N_ITEMS - 2)}).with_columns(
        genre=pl.format("genre {}", pl.col("item") % 6),
        kind=pl.when(pl.col("item") % 4 > 0).then(pl.col("item") % 4),
    )
    if "scores" in kind:
        rows = rows.with_columns(score=-((pl.col("rank") - 1) // 3 * 1.0)).drop("rank")
    frames = {"recommendations": rows, "train": train, "items": items}
    if kind.startswith("two"):
        frames["truth"] = rows.select("user", "item", "relevance", "country", "day")
        frames["recommendations"] = rows.drop("relevance")
    named = {
        name: one.with_columns(
            ids(pl.col(key)).alias(key) for key in ("user", "item") if key in one
        )
        for name, one in frames.items()
    }
    return {name: one if name == "items" else order(one) for name, one in named.items()}


@pytest.mark.parametrize("case", cases())
def test_a_number_is_the_same_where_nothing_is_known(
    case: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, metrics, ids, policy, by, order = case
    frames = scene(kind, IDS[ids], ORDERS[order])
    recommendations = frames.pop("recommendations")

    def found() -> pl.DataFrame:
        rec = recommendations.rec(**frames, **POLICIES[policy])
        assert len(recommendations) > LARGE
        assert rec._kind.asks is not None
        return rec.evaluate(*METRICS[metrics], k=[3, 10], by=by)

    expected = found()
    monkeypatch.setattr(known, "ask", lambda judged, *_: judged.known)
    monkeypatch.setattr(metrics_of_lists, "settled", lambda sides, *_: sides)

    plain = found()
    assert_frame_equal(plain, expected, rel_tol=1e-12)
    # whose sums over the categories of a list are taken in another order
    sums = [name for name in plain.columns if "of=genre" in name]
    assert plain.drop(sums).equals(expected.drop(sums))
