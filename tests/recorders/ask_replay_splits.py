"""RePlay on pandas and on Polars, which disagree wherever the order of ties decides."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import polars as pl
from replay.splitters import LastNSplitter, RatioSplitter, TimeSplitter
from scenes_splits import START, answer, moments

DROPPED = {"drop_cold_users": True, "drop_cold_items": True}
SHARES = (0.1, 0.25, 0.3, 0.9)
NAMES = {"query_column": "user", "divide_column": "user", "timestamp_column": "time"}


def answers(name, rows):
    """Give points of time, shares of rows, last rows and shares of users' rows."""
    columns = {
        "user": [user for user, _, _ in rows],
        "item_id": [item for _, item, _ in rows],
        "time": moments(rows),
        "row": [*range(len(rows))],
    }
    for kind, log in (("pandas", pd.DataFrame(columns)), ("Polars", pl.DataFrame(columns))):
        for call, splitter, same in _calls(name, kind):
            train, truth = splitter.split(log)
            yield answer(name, f"{call} on {kind}", [(train["row"], truth["row"])], same)


def _calls(name, kind):
    """Yield (call, splitter, the rule and options of ours where they agree)."""
    time = {"query_column": "user", "timestamp_column": "time"}
    if name != "ten":
        at = START + timedelta(days=22 if name != "eight" else 12)
        point = {"rule": "by_time", "at": at.isoformat()}
        yield f"TimeSplitter({at})", TimeSplitter(at, **time), point
        dropped = TimeSplitter(at, **time, **DROPPED)
        yield f"TimeSplitter({at}, drop cold)", dropped, {**point, "cold": "drop"}
    for share in SHARES:
        # Polars cuts ties, and of (1 - .9) * 10, which is .9999999999999998, both take the whole part
        agree = (kind == "pandas" or name == "untied") and not (name == "ten" and share == 0.9)
        same = {"rule": "by_time", "share": share} if agree else None
        yield f"TimeSplitter({share})", TimeSplitter(share, **time), same
    if name == "ten":  # where neither sort is asked to be stable
        yield "LastNSplitter(2)", LastNSplitter(2, **NAMES), None
        yield "RatioSplitter(0.25)", RatioSplitter(0.25, **NAMES), None
