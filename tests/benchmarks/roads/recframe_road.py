"""recframe, from the frame as it is."""

from __future__ import annotations

from given import SIX, Given, Road

import recframe as rf

DISTRIBUTIONS = ["recframe", "polars", "pandas", "numpy", "pyarrow"]


def run(given: Given, k: int) -> list[float]:
    """Evaluate the six."""
    result = rf.rec(given.recs, truth=given.truth).evaluate(*SIX, k=k)
    return [float(result[f"{name}@{k}"][0]) for name in SIX]


ROADS = [Road("recframe", run, can_cut=False)]
