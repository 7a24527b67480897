"""recframe, on a frame of Spark's, and on a plan of Polars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from road import Road, read
from served import SIX

import recframe as rf

DISTRIBUTIONS = ["pyspark", "polars", "pyarrow"]


def on_spark(session: Any, folder: Path, k: int) -> list[float]:
    recs, truth = read(session, folder)
    result = rf.rec(recs, truth=truth).evaluate(*SIX, k=k).collect()[0]
    return [result[f"{name}@{k}"] for name in SIX]


def on_one_machine(_: None, folder: Path, k: int) -> list[float]:
    recs, truth = (pl.scan_parquet(folder / kind / "*.parquet") for kind in ("recs", "truth"))
    result = rf.rec(recs, truth=truth).evaluate(*SIX, k=k).collect(engine="streaming")
    return [result[f"{name}@{k}"][0] for name in SIX]


ROADS = {
    "recframe": Road(on_spark),
    "recframe without Spark": Road(on_one_machine, on_spark=False),
}
