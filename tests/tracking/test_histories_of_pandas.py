"""Histories of who works in pandas: they are read as pandas, as `rf.changes` of them is."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import polars as pl

import recframe as rf
from recframe.tracking.histories import runs

# of 20 years: user 1 of rank 1, user 3 without a relevant item; of 30: ranks 2 and none
DF = pl.DataFrame(
    {
        "user": [1, 2, 3, 4],
        "item": [1, 1, 1, 1],
        "rank": [1, 2, 1, None],
        "relevance": [1, 1, 0, 1],
        "age": [20, 30, 20, 30],
    }
)
DAY = "2026-11-22"


def test_who_tracked_from_pandas_reads_pandas(place):
    pandas = DF.to_pandas()
    for day in range(1, 9):
        pandas.rec.track("mrr", by="age", history=place, as_of=dt.date(2026, 11, day))
    shown = ["as_of", "definition", "age", "metric", "value", "n_users"]

    found = rf.history(place)

    assert isinstance(found, pd.DataFrame)
    assert pl.from_pandas(found[shown]).equals(runs(place).select(shown))
    # the same runs as a frame of pandas, as a path, and as a frame of Polars
    changes = [rf.changes(one) for one in (found, place, runs(place))]
    assert [type(one) for one in changes] == [pd.DataFrame, pd.DataFrame, pl.DataFrame]
    assert [list(one["value"]) for one in changes] == [[0.5, 0.25] * 8] * 3
    gate = pandas.rec.require(
        "mrr >= trailing", by="age", min_users=2, history=found, window=5, wide=True
    )
    assert isinstance(gate, pd.DataFrame)


def test_a_history_of_both_libraries_is_a_frame_of_polars(place):
    DF.to_pandas().rec.track("mrr", history=place, as_of=DAY)
    assert isinstance(rf.history(place), pd.DataFrame)

    DF.rec.track("mrr", history=place, as_of="2026-11-23")

    assert isinstance(rf.history(place), pl.DataFrame)


def test_without_pandas_its_runs_are_a_frame_of_polars(tmp_path, monkeypatch):
    rf.track(DF.to_pandas().rec.summarize("mrr"), tmp_path, as_of=DAY)
    monkeypatch.setattr("recframe.frames.kinds.lookup.find_spec", lambda _: None)

    assert isinstance(rf.history(tmp_path), pl.DataFrame)
