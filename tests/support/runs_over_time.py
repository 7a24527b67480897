"""Histories of made-up runs, as `rf.history` gives them."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping, Sequence

import polars as pl

FIRST = dt.datetime(2026, 10, 1)  # noqa: DTZ001  as a history has it


def history(  # noqa: PLR0913  what runs differ in
    *,
    runs: int = 30,
    metrics: Sequence[str] = ("ndcg@10",),
    models: Sequence[str] = (),
    countries: Sequence[str] = (),
    drop: Mapping[int, float] | None = None,
    spread: float = 0.004,
    seed: int = 0,
) -> pl.DataFrame:
    """Return a history of a run a day, whose values are normal; `drop` has what is added to the values of some days."""
    chance = random.Random(seed)  # noqa: S311
    rows = [
        {
            "as_of": FIRST + dt.timedelta(days=day),
            "name": None,
            **({"model": model} if models else {}),
            **({"country": country} if countries else {}),
            "metric": metric,
            "value": (value := 0.3 + chance.gauss(0, spread) + (drop or {}).get(day, 0.0)),
            "low": value - 0.005,
            "high": value + 0.005,
            "std": 0.2,
            "n": 6147,
            "fingerprint": f"data {day}",
        }
        for day in range(runs)
        for model in models or [None]
        for country in countries or [None]
        for metric in metrics
    ]
    return pl.DataFrame(rows, schema_overrides={"name": pl.String})
