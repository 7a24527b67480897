"""The simulated shop that pictures and live pages are made of, and a history of its weeks."""

from __future__ import annotations

import tempfile
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from recframe.demo import Simulation, simulate

HISTORY = "history.parquet"
WEEKS = 12
VISITORS = 150 / 211
"""Share of the users who come in a week."""
LATE = 3
"""Places by which a bug puts all items but the first too low in the last week."""


@cache
def shop() -> Simulation:
    """Return the shop of `recframe demo`."""
    return simulate()


@cache
def weeks() -> Any:
    """Return a folder with the history of how_to/history.md, for each country too; it goes when it is no longer held."""
    folder = tempfile.TemporaryDirectory()
    shown, path = shop(), Path(folder.name) / HISTORY
    recs = shown.recs.filter(model="matrix_factorisation")
    for week in range(WEEKS):
        visitors = (pl.col("user") * 31 + week * 97) % 211 < 211 * VISITORS
        moved = LATE if week == WEEKS - 1 else 0
        lists = recs.filter(visitors).with_columns(pl.col("rank") + moved * (pl.col("rank") > 1))
        rec = lists.rec(truth=shown.truth.filter(visitors), users=shown.users)
        day = date(2026, 9, 7) + timedelta(weeks=week)
        for by in (None, "country"):
            rec.track("ndcg@10", "recall@10", by=by, history=path, as_of=day)
    return folder
