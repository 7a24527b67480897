"""Results as shown: rounded numbers, alone and with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

import polars as pl

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

MOST_DECIMALS = 9


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Return a number with its interval, to two digits of half its width: 0.251 [0.193, 0.317]; or one of them alone."""
    if low is None or high is None:
        return rounded(value)
    decimals = decimals_of(low, high)
    number, *ends = (
        "" if one is None else f"{rounded(one, decimals)}" for one in (value, low, high)
    )
    return f"{number} [{', '.join(ends)}]".lstrip()


def decimals_of(low: float | None, high: float | None) -> int | None:
    """Return the decimals that show two significant digits of half an interval's width; None without a width.

    >>> decimals_of(0.0301, 0.0463), decimals_of(0.00783, 0.00811), decimals_of(140.0, 190.0)
    (4, 5, 0)
    """
    half = 0.0 if low is None or high is None else (high - low) / 2
    if not 0.0 < half < math.inf:
        return None
    return min(max(1 - math.floor(math.log10(half)), 0), MOST_DECIMALS)


def rounded(value: float | None, decimals: int | None = None) -> str:
    """Return a number with so many decimals; else with four, a large one with four digits in all."""
    if value is None:
        return "null"
    if decimals is None and abs(value) >= 10:  # noqa: PLR2004  one digit before the point
        return f"{value:.4g}"
    decimals = 4 if decimals is None else decimals
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def as_shown(rows: Frame, decimals: Mapping[str, int]) -> Frame:
    """Return rows rounded to their metrics' decimals; intervals still contain their value."""
    if not decimals:
        return rows
    names = rows.collect_schema().names()
    there = [name for name in ("value", "baseline_value") if name in names]
    rows = rows.with_columns(_rounded(name, decimals) for name in there)
    if "value_low" not in names:
        return rows
    return rows.with_columns(
        value_low=pl.min_horizontal("value_low", pl.when(_has("value_low")).then("value")),
        value_high=pl.max_horizontal("value_high", pl.when(_has("value_high")).then("value")),
    )


def _has(name: str) -> pl.Expr:
    return pl.col(name).is_not_null()


def _rounded(name: str, decimals: Mapping[str, int]) -> pl.Expr:
    value = pl.col(name)
    rounded = [
        pl.when(pl.col("metric") == metric).then(value.round(n)) for metric, n in decimals.items()
    ]
    return pl.coalesce(*rounded, value).alias(name)
