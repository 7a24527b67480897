"""Tables of results with intervals that one reads: few columns, each number with its interval, and four digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from recframe.uncertainty.rounded import rounded, with_interval

SHARES = ("relative", "detectable_relative", "margin", "wanted", "chance")
"""What is read in per cent."""


def view(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a short result as it is read: its keys, numbers with their intervals, and a note where there is one."""
    names = frame.columns
    first = min(names.index(one) for one in ("metric", "requirement") if one in names)
    ends = {f"{name}_{end}" for name in names[first:] for end in ("low", "high")}
    shown = [name for name in names[first:] if name not in ends]
    if frame["note"].null_count() == frame.height:
        shown.remove("note")
    keys = [frame.get_column(name) for name in names[:first]]
    return pl.DataFrame([*keys, *(_cells(frame, name) for name in shown)])


def _cells(frame: pl.DataFrame, name: str) -> pl.Series:
    column, ends = frame[name], [f"{name}_low", f"{name}_high"]
    written: Callable[..., str] = rounded
    parts = [column]
    if name in SHARES:
        written = _per_cent
    elif name in {"p_value", "p_adjusted"}:
        written = _p_value
    elif not column.dtype.is_float():
        return column if name != "note" else column.fill_null("")
    if set(ends) <= set(frame.columns):
        parts = [column, *(frame[end] for end in ends)]
        written = _share_with_interval if name in SHARES else with_interval
    return pl.Series(name, [written(*row) for row in _rows(parts)], dtype=pl.String)


def _rows(parts: Sequence[pl.Series]) -> list[tuple[Any, ...]]:
    return list(zip(*parts, strict=True))


def _per_cent(value: float | None) -> str:
    return "null" if value is None else f"{100 * value + 0.0:.1f} %"


def _share_with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return _per_cent(value)
    return f"{100 * value + 0.0:.1f} % [{100 * low + 0.0:.1f}, {100 * high + 0.0:.1f}]"


def _p_value(value: float | None) -> str:
    if value is None:
        return "null"
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"  # noqa: PLR2004  the last digit
