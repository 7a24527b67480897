"""Logs of a few users and days, and frames beside them."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import strategies as st

LAST = 4
"""The days of the truth."""
rows_of_logs = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 7), st.integers(0, 12), st.integers(1, 3)),
    min_size=2,
    max_size=40,
).filter(lambda rows: max(row[2] for row in rows) - LAST >= min(row[2] for row in rows))
users = pl.DataFrame({"user": [0, 1, 2, 3], "land": ["F", "D", None, "F"]})
items = pl.DataFrame({"item": [0, 1, 2, 3, 4, 5], "genre": ["x", "y", "x", "z", None, "y"]})


def log_of(rows: list[tuple[int, int, int, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["user", "item", "t", "relevance"], orient="row")


def split_of(log: Any, **options: Any) -> Any:
    return log.rec(time="t").split.by_time(last=LAST, **options)


LOG = log_of([(row * 7 % 5, row * 11 % 9, row // 3, row % 3 + 1) for row in range(60)])
