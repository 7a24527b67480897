"""Sums that are exact: those of `math.fsum`, whichever way the rows are ordered, cut into parts and added up."""

from __future__ import annotations

import math
import random

import polars as pl
import pytest

from recframe.frames.rows.joins import ExactSums, of_few

EXACT = ExactSums({"s": pl.col("v")})
BOUNDED = ExactSums({"s": pl.col("v")}, bounded={"s"})
KINDS = {
    "shares": lambda draw: draw.random(),
    "small shares": lambda draw: draw.random() * 2.0 ** -draw.randrange(40),
    "any size": lambda draw: draw.choice([-1, 1]) * draw.random() * 2.0 ** draw.randint(-41, 94),
    "money": lambda draw: round(draw.uniform(-1e12, 1e12), 2),
    "cancelling": lambda draw: draw.choice([1e16, -1e16, 3e20, -3e20, 1.0, -1.0, 0.1, -0.1, 1e-3]),
}


def frame(values: list[float | None]) -> pl.LazyFrame:
    return pl.LazyFrame({"v": values}, schema={"v": pl.Float64})


def total(values: list[float | None], exact: ExactSums = EXACT) -> float:
    return exact.of(frame(values), []).collect().item()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 17, 1000])
def test_a_sum_of_numbers_of_any_size_and_sign_is_that_of_fsum(kind: str, n: int) -> None:
    draw = random.Random(n)  # noqa: S311  test data
    for exact in (EXACT, BOUNDED) if "shares" in kind else (EXACT,):
        for _ in range(20):
            values = [KINDS[kind](draw) for _ in range(n)]
            expected = math.fsum(values)
            assert abs(total(values, exact) - expected) <= math.ulp(expected)


def test_parts_of_the_rows_summed_apart_and_added_have_the_bits_of_all() -> None:
    draw = random.Random(7)  # noqa: S311  test data
    values = [KINDS["any size"](draw) for _ in range(999)]
    whole = total(values)
    for size in (1, 10, 400):
        draw.shuffle(values)
        parts = [
            EXACT.summed(frame(values[start : start + size]), [])
            for start in range(0, len(values), size)
        ]
        added = pl.concat(parts).select(pl.all().sum())
        assert EXACT.put_together(added).collect().item() == whole


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([math.inf, 1.0], math.inf),
        ([-math.inf, 1e300], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([math.nan, 1.0], math.nan),
        ([1e300, 1e300, None], 2e300),
        # far below the least unit
        ([1e-200, 1e-200], 2e-200),
        ([None, 0.5], 0.5),
        ([None], 0.0),
        ([], 0.0),
    ],
)
def test_what_no_whole_number_holds_is_summed_up_by_floating_point(
    values: list[float | None], expected: float
) -> None:
    assert total(values) == pytest.approx(expected, rel=1e-15, nan_ok=True)


def test_the_few_numbers_of_a_list_have_one_sum_in_any_order() -> None:
    draw = random.Random(5)  # noqa: S311  test data
    # from 2^-10 up to 2^20
    values = [draw.random() * 2.0 ** draw.randint(-9, 20) for _ in range(300)]
    expected = math.fsum(values)
    for _ in range(10):
        draw.shuffle(values)
        for engine in ("in-memory", "streaming"):
            rows = frame(values).with_columns(key=1)
            found = of_few(rows, ["key"], {"s": pl.col("v")}).collect(engine=engine)
            assert found["s"].item() == expected


def test_an_infinite_number_makes_a_sum_infinite_or_leaves_the_error_to_the_check_of_its_row() -> (
    None
):
    rows = frame([math.inf, 1.0])

    assert of_few(rows, [], {"s": pl.col("v")}).collect().item() == math.inf
    assert BOUNDED.of(rows, []).collect().height == 1
