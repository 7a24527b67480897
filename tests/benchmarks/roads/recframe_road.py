"""recframe, from the frame as it is."""

from __future__ import annotations

from given import Given, Road
from served import SIX

import recframe as rf

DISTRIBUTIONS = ["recframe", "polars", "pandas", "numpy", "pyarrow"]


def run(given: Given, k: int) -> list[float]:
    several = {"model": "model"} if "model" in given.recs.columns else {}
    result = rf.rec(given.recs, truth=given.truth, **several).evaluate(*SIX, k=k)
    return [float(result[f"{name}@{k}"][place]) for place in range(len(result)) for name in SIX]


ROADS = [Road("recframe", run, can_cut=False)]
