"""The core of a log, against its definition in plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import recframe as rf

ids = st.one_of(st.none(), st.integers(0, 6))
logs = st.lists(st.tuples(ids, ids), max_size=50)


def frame_of(rows: list[Any]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema={"user": pl.Int64, "item": pl.Int64}, orient="row")
    return frame.with_row_index("n")


def core_of(rows: list[Any], least: tuple[int, int]) -> list[int]:
    """The numbers of the rows that are left when users and items of fewer are left out in turn."""
    left = [(n, row) for n, row in enumerate(rows) if None not in row]
    for _ in rows:
        for role in (0, 1):
            counts = Counter(row[role] for _, row in left)
            left = [(n, row) for n, row in left if counts[row[role]] >= least[role]]
    return [n for n, _ in left]


@given(logs, st.integers(1, 4), st.integers(1, 4))
def test_a_core_is_its_definition(rows, users, items):
    log = frame_of(rows)
    call = {"users": users, "items": items, "after_split": True}

    found = log.rec().core(**call)

    assert found["n"].to_list() == core_of(rows, (users, items))
    assert found.schema == log.schema
    assert_frame_equal(log.lazy().rec().core(**call).collect(), found)


def test_a_core_of_a_lazy_log_is_native():
    log = frame_of([(row % 5, row % 7) for row in range(60)] + [(9, 9)])
    found = log.rec().core(after_split=True)

    lazy = log.lazy().rec().core(after_split=True)

    assert "python" not in lazy.explain().lower()
    assert_frame_equal(lazy.collect(engine="streaming"), found)


def test_a_whole_log_is_warned_of():
    with pytest.warns(rf.RecframeWarning, match="train knows the future"):
        frame_of([(1, 1)]).rec().core()


@pytest.mark.parametrize("options", [{"users": 0}, {"items": "5"}])
def test_wrong_numbers_say_what_to_write(options):
    with pytest.raises(rf.RecframeError, match="takes a whole number from 1 up"):
        frame_of([(1, 1)]).rec().core(**options)
