"""Values that a profile or `decimals=` rounds: shown so, decided by as they are, and never outside their interval."""

from __future__ import annotations

import polars as pl
import pytest

from frame_kinds import Kind

# a: hits of 19 in 50 users at rank 1, .38; b: 17 in 50, .34. To one decimal .4 and .3, to none 0
HITS = {"a": 19, "b": 17}


def shop(name: str) -> pl.DataFrame:
    ranks = [1 if user < HITS[name] else None for user in range(50)]
    return pl.DataFrame(
        {"user": range(50), "item": 1, "rank": ranks, "relevance": 1},
        schema_overrides={"rank": pl.Int64},
    )


def models() -> pl.DataFrame:
    return pl.concat([shop(name).with_columns(model=pl.lit(name)) for name in HITS])


@pytest.mark.parametrize(("decimals", "shown"), [(0, 0.0), (1, 0.4), (2, 0.38), (3, 0.38)])
@pytest.mark.parametrize(("bound", "state"), [(0.2, "holds"), (0.385, "open"), (0.6, "fails")])
def test_a_value_is_shown_rounded_and_decided_as_it_is(kind, decimals, shown, bound, state):
    rec = kind(shop("a")).rec(decimals=decimals)

    found = rec.require(f"mrr >= {bound}", raises=False)
    (row,) = kind.read(found).to_dicts()

    assert (row["value"], row["state"]) == (shown, state)
    assert row["difference"] == pytest.approx(0.38 - bound)


@pytest.mark.parametrize(("decimals", "shown"), [(0, 0.0), (1, 0.4)])
def test_an_interval_holds_its_rounded_value(kind: Kind, decimals, shown):
    exact, rounded = (
        kind.read(rec.summarize("mrr")).row(0, named=True)
        for rec in (kind(shop("a")).rec, kind(shop("a")).rec(decimals=decimals))
    )

    assert rounded["value"] == shown
    assert rounded["value_low"] == pytest.approx(min(exact["value_low"], shown))
    assert rounded["value_high"] == pytest.approx(max(exact["value_high"], shown))
    assert rounded["std"] == pytest.approx(exact["std"])


def test_models_are_compared_as_they_are(kind):
    rec = kind(models()).rec(model="model")
    exact, rounded = (
        kind.read(one.compare("mrr")).row(0, named=True) for one in (rec, rec(decimals=1))
    )

    assert (rounded["value"], rounded["baseline_value"]) == (0.3, 0.4)
    for name in ("difference", "difference_low", "difference_high", "relative", "p_value"):
        assert rounded[name] == pytest.approx(exact[name])
    gate = rec(decimals=1).require("mrr >= 0.89 * a", "mrr >= 0.9 * a", raises=False)
    # .34 of .38 is .8947
    assert (kind.read(gate)["difference"] > 0).to_list() == [True, False]


@pytest.mark.parametrize(
    ("decimals", "more", "difference"),
    [(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 0.003, 0), (2, 0.007, -0.007)],
)
def test_half_a_unit_of_the_last_decimal_is_no_difference_to_an_earlier_value(
    decimals, more, difference
):
    rec = models().rec(model="model", decimals=decimals)
    exact = models().rec(model="model").summarize("mrr")
    last = exact.with_columns(pl.col("value") + more) if more else rec.summarize("mrr")

    found = rec.require("mrr >= last", last=last, raises=False)

    assert found["difference"].to_list() == pytest.approx([difference] * 2)
