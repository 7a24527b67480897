"""recframe without Spark, on a plan of Polars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from road import Road
from served import SIX

import recframe as rf

ON_SPARK = False
DISTRIBUTIONS = ["polars"]


def run(session: Any, folder: Path, k: int) -> list[float]:
    """Evaluate the six."""
    del session
    recs, truth = (pl.scan_parquet(folder / kind / "*.parquet") for kind in ("recs", "truth"))
    result = rf.rec(recs, truth=truth).evaluate(*SIX, k=k).collect(engine="streaming")
    return [result[f"{name}@{k}"][0] for name in SIX]


ROADS = {"recframe without Spark": Road(run)}
