"""The frames of the benchmark of growth: of any number of rows, in any order, of several models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import data
import polars as pl
from data import METRICS, Case, Settings

import recframe as rf

SIX = [f"{name}@10" for name in METRICS]
PLAIN = Settings()
CHUNK = 50_000
"""So many users are made at a time, which takes a gigabyte."""


def judged(rows: int, length: int = PLAIN.length, relevant: float = PLAIN.relevant) -> pl.DataFrame:
    """Return a judged frame of so many rows, sorted and known to be."""
    users = -(-rows // length)
    parts = []
    for first in range(0, users, CHUNK):
        some = Settings(min(CHUNK, users - first), length, relevant, seed=first)
        parts.append(data.numbers(some).with_columns(pl.col("user") + first))
    whole = parts[0] if len(parts) == 1 else pl.concat(parts).rechunk()
    return as_sorted(whole).head(rows)


def as_sorted(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose users are known to be sorted."""
    return frame.with_columns(pl.col("user").set_sorted())


def shuffled(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows in any order."""
    return frame.sample(fraction=1, shuffle=True, seed=0)


def two_frames(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return recommendations and truth, of which a judged frame is the join."""
    case = Case(PLAIN, frame, data.Arrays(*[frame["user"].to_numpy()] * 3))
    return case.recs, case.truth


def of_models(frame: pl.DataFrame, n_models: int) -> pl.DataFrame:
    """Return the lists of several models of the same users and items, each with other ranks, one model after the other."""
    rank = pl.col("rank")
    length = rank.count().over("user")
    parts = [
        frame.select(
            pl.lit(f"model {number:02}").alias("model"),
            *("user", "item"),
            rank=(rank + 7 * number) % length + 1,
            relevance="relevance",
        ).sort("user", "rank", nulls_last=True)
        for number in range(n_models)
    ]
    return pl.concat(parts).rechunk()


def asked(frame: pl.DataFrame, *metrics: str, **bound: object) -> Callable[[], object]:
    """Return the call for some metrics, or for the six at 10."""
    return partial(rf.rec(frame)(**bound).evaluate, *(metrics or SIX))
