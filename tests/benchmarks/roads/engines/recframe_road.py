"""recframe, on a frame of Spark's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from road import Road, read
from served import SIX

import recframe as rf

ON_SPARK = True
DISTRIBUTIONS = ["pyspark", "polars", "pyarrow"]


def run(session: Any, folder: Path, k: int) -> list[float]:
    """Evaluate the six."""
    recs, truth = read(session, folder)
    result = rf.rec(recs, truth=truth).evaluate(*SIX, k=k).collect()[0]
    return [result[f"{name}@{k}"] for name in SIX]


ROADS = {"recframe": Road(run)}
