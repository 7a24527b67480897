"""The best order of relevant rows of any grades: a large eager frame's answers are those of the lazy plan."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from recframe.metrics.language import registry

N_USERS, LENGTH = 700, 40
HALF_STARS = [place / 2 for place in range(1, 11)]
GRADES: dict[str, tuple[Any, list[Any]]] = {
    "one": (pl.Int64, [3]),
    "stars": (pl.Int8, [1, 2, 3, 4, 5]),
    "stars with gaps": (pl.UInt8, [2, 9, 14]),
    "half stars": (pl.Float64, HALF_STARS),
    "tenths of 32 bits": (pl.Float32, [0.1, 0.2, 0.7]),
    "yes": (pl.Boolean, [True]),
    "the highest numbers": (pl.UInt64, [1, 2**63, 2**64 - 1]),
    "decimals": (pl.Decimal(10, 2), [Decimal("0.25"), Decimal("1.5")]),
}
MANY: dict[str, tuple[Any, list[Any]]] = {
    "fourteen": (pl.Float64, [place + 0.5 for place in range(14)]),
    "all different": (pl.Float64, [place / 977 for place in range(1, 10_000)]),
}
METRICS = [
    rf.ndcg @ 5,
    rf.ndcg(ideal="all") @ 5,
    rf.ndcg(gain="exp") @ 5,
    rf.ndcg(discount="unshifted", offset=-0.5) @ 10,
    rf.ndcg,
    rf.recall @ 5,
]


def graded(dtype: Any, grades: list[Any], size: int = N_USERS * LENGTH) -> pl.DataFrame:
    """Return lists of which about every third row is relevant, some of these without a rank, as chance has it."""
    chance = pl.col("row").hash(1)
    grade = pl.lit(pl.Series(grades, dtype=dtype)).gather(chance // 8 % len(grades))
    place = pl.col("row") % LENGTH
    frame = pl.select(row=pl.int_range(size)).select(
        user=pl.col("row") // LENGTH,
        item=place,
        rank=pl.when(chance % 5 > 0).then(place + 1),
        relevance=pl.when(chance % 3 == 0).then(grade),
        side=place % 2,
        model=pl.lit("m"),
    )
    return frame.sample(fraction=1, shuffle=True, seed=0)


def check(frame: pl.DataFrame, metrics: Sequence[Any], **bound: Any):
    """Compare a large eager frame with the lazy plan, which cannot ask."""
    by = bound.pop("by", None)
    assert frame.rec._kind.asks is not None

    found = frame.rec(**bound).evaluate(*metrics, by=by)

    lazy = frame.lazy().rec(**bound).evaluate(*metrics, by=by).collect()
    assert_frame_equal(found, lazy, rel_tol=1e-12)


@pytest.mark.parametrize("name", [*GRADES, *MANY])
def test_grades_of_any_kind(name):
    frame = graded(*(GRADES | MANY)[name])
    truth = frame.filter(pl.col("relevance").is_not_null()).select("user", "item", "relevance")
    steep = name == "the highest numbers"
    metrics = [metric for metric in METRICS if not (steep and "exp" in str(metric))]

    check(frame, metrics)
    check(frame.sort("user", "rank"), metrics)
    check(frame.drop("relevance"), metrics, truth=truth)


@pytest.mark.parametrize(
    "bound",
    [
        {"universe": "both"},
        {"relevant_from": "list"},
        {"model": "model"},
        {"no_relevant": "null"},
        {"by": "side"},
        {"min_relevance": 2.5},
        {"ties": "expected"},
    ],
    ids=str,
)
def test_whatever_else_is_asked_for(bound):
    metrics = [metric for metric in METRICS if "offset" not in str(metric)]
    check(graded(pl.Float64, HALF_STARS), metrics, **bound)


def test_a_list_of_very_many_rows():
    for grades in ([1, 2], [2]):
        long = graded(pl.Int64, grades, size=120_000).with_columns(
            user=pl.lit(7), item=pl.int_range(120_000), rank=pl.int_range(120_000) + 1
        )
        check(long, METRICS)


def test_metrics_of_ones_own(monkeypatch):
    monkeypatch.setattr(registry, "_registry", registry.registered())

    @rf.metric
    def by_itself(at: rf.At) -> pl.Expr:
        return at.best(lambda best: best.sum(lambda hit: hit.gain.sqrt() / hit.rank)) * 2

    @rf.metric
    def beside_others(at: rf.At) -> pl.Expr:
        return at.best(lambda best: best.sum(lambda hit: hit.gain / hit.gain.max()))

    @rf.metric
    def in_python(at: rf.At) -> pl.Expr:
        return at.best(
            lambda best: best.sum(lambda hit: hit.gain.map_batches(lambda gains: gains * 2))
        )

    @rf.metric
    def of_none(at: rf.At) -> pl.Expr:
        return at.best(lambda best: best.sum(lambda _: pl.lit(1.0)) + best.gain.sum())

    @rf.metric
    def of_the_rows(at: rf.At) -> pl.Expr:
        return at.ideal_gain.max()

    frame = graded(pl.Float64, HALF_STARS)
    for one in (by_itself, beside_others, in_python, of_none, of_the_rows):
        check(frame, [one @ 5, one])


def test_a_list_in_its_best_order_has_the_best_value():
    best = graded(pl.Float64, HALF_STARS).sort(
        "user", "relevance", descending=[False, True], nulls_last=True
    )
    best = best.with_columns(rank=pl.int_range(pl.len()).over("user") + 1)

    found = best.rec.evaluate(rf.ndcg @ 5, rf.ndcg, rf.ndcg(gain="exp") @ 5)

    assert found.row(0)[1:] == pytest.approx([1.0] * 3, rel=1e-14)
