"""Numbers and intervals as they are read, in messages and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import polars as pl

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Return a number with its interval: 0.2512 [0.2410, 0.2620]; the number alone where it has none."""
    if value is None or low is None or high is None:
        return rounded(value)
    return f"{rounded(value)} [{rounded(low)}, {rounded(high)}]"


def rounded(value: float | None) -> str:
    """Return a number with four digits behind the point, of a large one four in all."""
    if value is None:
        return "null"
    return f"{value + 0.0:.4f}" if abs(value) < 10 else f"{value:.4g}"  # noqa: PLR2004  one digit before the point


def as_shown(rows: Frame, decimals: Mapping[str, int]) -> Frame:
    """Return rows whose values are rounded to the decimals of their metrics; an interval goes on holding its value."""
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
