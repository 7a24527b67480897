"""Splits by the time line, against their definition in plain Python."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf

START = datetime(2024, 3, 1)  # noqa: DTZ001  as logs mostly are
rows_of_logs = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 5)),
        st.integers(0, 6),
        st.one_of(st.none(), st.integers(0, 30)),
    ),
    min_size=1,
    max_size=40,
)


def log_of(rows: list[tuple[int | None, int, int | None]]) -> pl.DataFrame:
    """Return rows of user, item and day as a log."""
    times = [None if day is None else START + timedelta(days=day) for *_, day in rows]
    columns = {"user": [row[0] for row in rows], "item": [row[1] for row in rows], "t": times}
    schema = {"user": pl.Int64, "item": pl.Int64, "t": pl.Datetime("us")}
    return pl.DataFrame(columns, schema=schema)


def window_of(day: int | None, user: int | None, last: int, gap: int, window: int | None) -> str:
    """Return the part of a row whose truth is the days from `last - 6` to `last`, by the definition."""
    if day is None or user is None:
        return "null"
    if day > last:
        return "later"
    if day > last - 7:
        return "truth"
    if day > last - 7 - gap:
        return "gap"
    if window is not None and day <= last - 7 - gap - window:
        return "earlier"
    return "train"


@given(rows_of_logs, st.integers(1, 3), st.integers(0, 3), st.one_of(st.none(), st.integers(1, 9)))
def test_rolling_is_its_definition(rows, folds, gap, window):
    days = [day for *_, day in rows if day is not None]
    expected = [
        [
            window_of(day, user, max(days) - 7 * (folds - 1 - fold), gap, window)
            for user, _, day in rows
        ]
        for fold in range(folds)
        if days
    ]
    lengths = {"gap": f"{gap}d"} | ({} if window is None else {"window": f"{window}d"})
    call = log_of(rows).rec(time="t").split.rolling
    has_rows = days and all("train" in parts for parts in expected)
    if not has_rows or not any("truth" in parts for parts in expected):
        with pytest.raises(rf.DataError):
            call(folds, "7d", **lengths)
        return

    labels = call(folds, "7d", **lengths).labels

    assert labels["part"].to_list() == [part for parts in expected for part in parts]
    assert labels["fold"].to_list() == [fold for fold in range(folds) for _ in rows]
    assert labels.drop("fold", "part").equals(pl.concat([log_of(rows)] * folds))
