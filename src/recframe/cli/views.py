"""Tables of results with intervals that one reads: few columns, each number with its interval, and four digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from recframe.uncertainty.rounded import rounded, with_interval

SHOWN = {
    "summarize": ("metric", "value", "n_users", "note"),
    "compare": (
        *("metric", "value", "baseline_value", "difference", "relative", "p_adjusted"),
        *("verdict", "n_users", "note"),
    ),
    "winner": (
        *(
            "metric",
            "n_models",
            "value",
            "baseline_value",
            "difference",
            "difference_shrunk",
            "first",
        ),
        *("runner_up", "ahead", "p_adjusted", "verdict", "n_users", "note"),
    ),
    "power": (
        *(
            "metric",
            "n_users",
            "detectable",
            "detectable_relative",
            "margin",
            "wanted",
            "chance",
            "first",
        ),
        *("users_needed", "note"),
    ),
    "gaps": (
        *("metric", "n_segments", "best", "best_value", "worst", "worst_value", "gap", "p_value"),
        "note",
    ),
    "slices": ("metric", "n_users", "value", "rest", "difference", "p_adjusted", "pooled", "note"),
    "require": (
        *("requirement", "state", "value", "bound", "difference", "detectable", "n_users", "note"),
    ),
}
"""The columns that a table of each method shows behind its keys."""
SHARES = ("relative", "detectable_relative", "margin", "wanted", "chance")
"""What is read in per cent."""
DROPPED = ("by", "depth")
"""Keys that another one says too: slices have a column that names the segment with its columns."""


def view(frame: pl.DataFrame, method: str) -> pl.DataFrame:
    """Return a result as it is read: its keys, the columns of `SHOWN`, and a note where there is one."""
    shown = [name for name in SHOWN[method] if name in frame.columns]
    first = min(frame.columns.index(name) for name in shown)
    dropped = DROPPED if "segment" in frame.columns else ()
    keys = [name for name in frame.columns[:first] if name not in dropped]
    if frame["note"].null_count() == frame.height:
        shown.remove("note")
    return pl.DataFrame([frame[name] for name in keys] + [_cells(frame, name) for name in shown])


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
