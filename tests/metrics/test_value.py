"""What hits are worth, worked out by hand, and what is no worth."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import recframe as rf
from asking import ask_one, recommended, rows
from buckets_of_users import in_buckets
from frame_kinds import KINDS, Kind

# a and d are relevant and listed, at ranks 1 and 3; so is e, at no rank
RECS = recommended(u="abd")
TRUTH = rows(("u", "a"), ("u", "d"), ("u", "e"), schema=("user", "item"))
PRICES = pl.DataFrame(
    {"item": list("abcde"), "price": [10.0, 99.0, 5.0, 4.0, 20.0], "cost": [1, 2, 3, -4, 5]}
)
LOG2_3 = math.log2(3)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("value(of=price)", 14),
        ("value(of=price)@2", 10),
        ("revenue(of=price)@1", 10),
        ("value(of=price,discount=log)@3", 10 + 4 / 2),
        # the best two are e and a
        ("value(of=price,normalizer=best)@2", 10 / 30),
        ("value(of=price,normalizer=best)", 14 / 34),
        ("value(of=price,normalizer=relevant)@1", 10 / 34),
        ("value(of=price,normalizer=best,discount=log)@3", 12 / (20 + 10 / LOG2_3 + 4 / 2)),
        # a margin may be below 0
        ("value(of=cost)", 1 - 4),
    ],
)
def test_hits_are_worth_what_their_items_are(kind: Kind, metric: str, value: float):
    found = ask_one(kind, RECS, metric, truth=TRUTH, items=PRICES)

    assert found[str(rf.parse(metric))] == pytest.approx(value)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("price", [None, math.nan, math.inf, -math.inf])
def test_a_price_that_is_no_number_adds_nothing(kind: Kind, price: Any):
    items = PRICES.select(
        "item", price=pl.when(item="a").then(pl.lit(price, pl.Float64)).otherwise("price")
    )
    found = ask_one(kind, RECS, "value", "value(normalizer=best)", k=1, truth=TRUTH, items=items)

    assert found["value@1"] == 0
    assert found["value(normalizer=best)@1"] == 0


def test_where_nothing_relevant_has_a_price_there_is_no_share():
    items = PRICES.select("item", price=pl.lit(0.0))
    rec = RECS.rec(truth=TRUTH, items=items)

    assert rec.evaluate("value", "value(normalizer=best)", by="user").row(0) == ("u", 0, None)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_share_of_prices_below_0_fails_where_the_item_is_relevant(*, lazy: bool):
    items = PRICES.select("item", "cost")
    rec = (RECS.lazy() if lazy else RECS).rec(truth=TRUTH, items=items)
    with pytest.raises((rf.DataError, pl.exceptions.PolarsError), match="value is below 0"):
        rec.evaluate("value(normalizer=best)").lazy().collect()
    fine = rec(items=items.filter(pl.col("item") != "d")).evaluate("value(normalizer=best)")
    assert fine.lazy().collect()["value(normalizer=best)"][0] == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("dtype", "hint"),
    [(pl.String, r"cast it: pl\.col\('price'\)\.cast\(pl\.Float64\)"), (pl.Boolean, "name another")],
)  # fmt: skip
def test_a_column_that_is_no_number_is_an_error_at_the_call(dtype: Any, hint: str):
    items = pl.LazyFrame(schema={"item": pl.String, "price": dtype, "more": pl.Int64})
    with pytest.raises(rf.ColumnError, match=rf"value takes a number; 'price' .* {hint}"):
        RECS.lazy().rec(truth=TRUTH, items=items).value(of="price")


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2)])
def test_prices_of_any_number_count(dtype: Any):
    items = PRICES.select("item", pl.col("price").cast(dtype))

    assert RECS.rec(truth=TRUTH, items=items).value() == pytest.approx(14)


def test_values_of_a_large_frame_are_those_of_its_lists():
    # just above what eager frames are asked cheap questions from
    users = 3_001
    recs = pl.DataFrame({"user": [*range(users)] * 7, "item": [*range(7)] * users}).with_columns(
        rank=pl.col("item").rank("ordinal").over("user")
    )
    truth = recs.filter(pl.col("item") % 2 == 0).select("user", "item")
    items = pl.DataFrame({"item": range(7), "price": [float(one) for one in range(7)]})
    metrics = ["value@3", "value(normalizer=best)@3", "value(discount=log)"]
    found = recs.rec(truth=truth, items=items).evaluate(*metrics)
    lazy = recs.lazy().rec(truth=truth.lazy(), items=items.lazy())

    assert found.row(0) == pytest.approx(lazy.evaluate(*metrics).collect().row(0), rel=1e-12)
    assert in_buckets(lazy, "value@3")["value@3"][0] == pytest.approx(found["value@3"][0])
