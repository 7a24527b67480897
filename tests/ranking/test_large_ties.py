"""Large eager frames with many equal scores at the cut: whatever the dtypes and the order of the rows, as the lazy plan."""

from __future__ import annotations

from typing import get_args

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from lanes import crossed, in_turn
from recframe.frames.options import Ties

SIZE, LENGTH = 24_000, 12
METRICS = ["ndcg", "recall", "map", "mrr"]
ROW = pl.int_range(SIZE)
# within a list neither the items nor what is relevant stands in the order of the rows
ITEM, PLACE = ROW % LENGTH * 7 % LENGTH, ROW % LENGTH
LOW, HIGH = pl.lit(-(2**63), dtype=pl.Int64), pl.lit(2**63 - 40_000, dtype=pl.Int64)
SCORES = {
    "all tied": ROW * 0.0,
    "tied behind 2": -PLACE.clip(0, 2),
    "one in 32 bits": 0.3 + (ITEM % 2 > 0) * 2**-50,
    "some one in 32 bits": 0.3 + ((ITEM % 2 > 0) & (ROW < SIZE // 2)) * 2**-50,
    "zeros": pl.when(PLACE % 2 > 0).then(0.0).otherwise(-0.0),
    "infinite": pl.when(PLACE % 3 > 0).then(-float("inf")).otherwise(1e300),
    "missing": pl.when(PLACE == ROW // LENGTH % 5).then(-1e300),
    "NaN": pl.when(PLACE < 2).then(-float("inf")).otherwise(float("nan")),
    "Int128": (PLACE > 4).cast(pl.Int128) + pl.lit(2**100, dtype=pl.Int128),
    "UInt64": (PLACE > 4).cast(pl.UInt64) + pl.lit(2**64 - 2, dtype=pl.UInt64),
    "Decimal": (PLACE % 3).cast(pl.Decimal(38, 2)),
}
IDS = {
    "small": lambda number: number,
    "lowest": lambda number: number + LOW,
    "highest": lambda number: number + HIGH,
    "far apart": lambda number: number * 2**40,
    "32 bits": lambda number: number.cast(pl.UInt32) + pl.lit(2**32 - 40_000, dtype=pl.UInt32),
    "text": lambda number: number.cast(pl.String),
}
ORDERS = {
    "by user": lambda frame: frame,
    "by score": lambda frame: frame.sort("user", "score", descending=[False, True]),
    "by rank": lambda frame: frame.sort("user", "score", "item", descending=[False, True, False]),
    "shuffled": lambda frame: frame.sample(fraction=1, shuffle=True, seed=0),
}


# scores that are all equal are what these tests are about
pytestmark = pytest.mark.filterwarnings("ignore:scores_without_order:recframe.RecframeWarning")


def tied(score: str = "all tied", users: str = "small", items: str = "small") -> pl.DataFrame:
    relevance = pl.when(ROW % 7 > 0).then(ROW * 31 % 5 - 1)
    frame = pl.select(user=ROW // LENGTH, item=ITEM, score=SCORES[score], relevance=relevance)
    return frame.with_columns(IDS[users](pl.col("user")), IDS[items](pl.col("item")))


def check(frame: pl.DataFrame, **options: Ties) -> None:
    assert frame.rec._kind.asks is not None
    found = frame.rec(**options).evaluate(*METRICS, k=3)

    lazy = frame.lazy().rec(**options).evaluate(*METRICS, k=3)
    assert_frame_equal(found, lazy.collect(engine="in-memory"), rel_tol=1e-12)


@pytest.mark.parametrize(("score", "order"), in_turn([*SCORES], [*ORDERS]))
def test_ties_of_any_scores(score, order):
    check(ORDERS[order](tied(score)))


@pytest.mark.parametrize(("ids", "order"), in_turn([*IDS], [*ORDERS]))
def test_ties_of_any_ids(ids, order):
    check(ORDERS[order](tied(users=ids)))
    check(ORDERS[order](tied(items=ids)))


@pytest.mark.parametrize(("ties", "order"), crossed(get_args(Ties), [*ORDERS]))
def test_ties_in_any_order(ties, order):
    check(ORDERS[order](tied("some one in 32 bits")), ties=ties)


@pytest.mark.parametrize("order", ORDERS)
def test_a_tied_item_twice_takes_one_place(order):
    frame = tied()
    again = frame.filter(pl.col("item") % 3 == 0).with_columns(
        relevance=pl.lit(None, dtype=pl.Int64)
    )

    for repeated in (again, again.head(1), again.with_columns(pl.col("score") + 1)):
        check(ORDERS[order](pl.concat([repeated, frame])))


@pytest.mark.parametrize("order", ORDERS)
def test_lists_shorter_than_the_cut_and_longer_than_all_others(order):
    frame = tied().with_columns(user=pl.when(ROW < 15_000).then(0).otherwise(ROW - 15_000) // 2)

    check(ORDERS[order](frame.with_columns(item=ROW * 7 % SIZE)))
