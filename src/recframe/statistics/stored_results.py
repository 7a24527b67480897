"""Results as shown, and earlier results as read back."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TypeVar

import polars as pl

from recframe.errors import fails_if

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

METRIC = pl.col("requirement").cast(pl.String).str.extract(r"^(.*) [<>]= ")
"""The metric of a requirement."""
OF_NUMBER = pl.col("requirement").cast(pl.String).str.contains(r" [<>]= -?[\d.]+(e[-+]?\d+)?$")
"""Whether the bound of a requirement is a number: the interval of the difference is then that of the value, less the bound."""
CUT_OFF = r"@(\d+)$"
MOST_DECIMALS = 9
WITHOUT_INTERVAL = (
    "the earlier result is a short one of require(...), which has no interval for a comparison of two values; keep the "
    "result of summarize(...), or of require(..., wide=True)"
)


def is_summary(columns: Collection[str]) -> bool:
    """Return whether columns are those of a tidy result with values, and not of users' values."""
    return "value" in columns and not {"metric", "requirement"}.isdisjoint(columns)


def is_short(columns: Collection[str]) -> bool:
    """Return whether columns are those of a short result."""
    has_metric = not {"metric", "requirement"}.isdisjoint(columns)
    return has_metric and "note" in columns and "k" not in columns


def tidy(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a result with `metric` and `k` after its keys, where it has no `k`."""
    names = rows.columns
    if not is_short(names):
        return rows
    last = "metric" if "metric" in names else "requirement"
    metric = METRIC if last == "requirement" else pl.col("metric")
    known = rows.select(metric=metric, k=metric.str.extract(CUT_OFF).cast(pl.Int64))
    at = names.index(last)
    keys = [*names[:at], *(["requirement"] if last == "requirement" else [])]
    found = {name: rows.get_column(name) for name in keys} | known.to_dict()
    return pl.DataFrame(found | {name: rows.get_column(name) for name in names[at + 1 :]})


def with_intervals(rows: Frame, metrics: Collection[str]) -> Frame:
    """Return rows of a short gate with `metric` and the interval of its value, of some metrics.

    Of a metric whose interval no row says the plan fails.
    """
    rows = rows.with_columns(METRIC.alias("metric"), OF_NUMBER.alias("of_number"))
    rows = rows.filter(pl.col("metric").is_in(list(metrics)))
    unknown = ~pl.col("of_number").any().over("metric") & pl.col("value").is_not_null()
    low, high = (pl.col("bound") + pl.col(f"difference_{end}") for end in ("low", "high"))
    check = fails_if(unknown, WITHOUT_INTERVAL)
    rows = rows.with_columns(value_low=low, value_high=high, check=check)
    # NOTE: one condition on both, of which none is asked before the other
    return rows.filter(pl.col("of_number") | (pl.col("check") != 0))


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
