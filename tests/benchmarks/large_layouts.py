"""Recommendations and truth in Parquet files of several layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import data
import engines_data
import numpy as np
import polars as pl

LENGTH = 100
DAYS = 20
MODELS = ("item_knn", "popular", "svd", "two_tower")
Frames = dict[str, pl.DataFrame]
Files = Iterator[tuple[str, pl.DataFrame]]
"""Files by their paths in a folder."""


@dataclass(frozen=True)
class Layout:
    """How rows lie in files."""

    files: Callable[[pl.DataFrame], Files]
    n_models: int = 1
    as_text: bool = False
    k: int | None = 10
    """The cut-off of the metrics."""


def made(users: int, layout: Layout) -> Frames:
    """Return recommendations and graded truth by user; a third of the truth is recommended."""
    length = LENGTH // layout.n_models
    random = np.random.default_rng(0)
    recs, truth = engines_data.chunk(random, np.arange(users), length)
    if layout.n_models > 1:
        recs = data.of_models(recs, MODELS)
    frames = {"recs": recs.sort("user", maintain_order=True), "truth": truth.sort("user")}
    if layout.as_text:
        frames = {name: data.in_ids(frame, "uuid") for name, frame in frames.items()}
    return frames


def in_slices(frame: pl.DataFrame, n: int) -> Files:
    size = -(-len(frame) // n)
    for number in range(n):
        yield f"{number:04}.parquet", frame.slice(number * size, size)


def by_day(frame: pl.DataFrame) -> Files:
    """Walk files of days, with rows of all users in each, in no order."""
    days = pl.Series(np.random.default_rng(1).integers(0, DAYS, len(frame)))
    shuffled = frame.with_columns(days.alias("day")).sample(fraction=1, shuffle=True, seed=2)
    for (day,), rows in shuffled.partition_by("day", as_dict=True, include_key=False).items():
        yield f"{day:02}.parquet", rows


def in_partitions(frame: pl.DataFrame) -> Files:
    """Walk Hive partitions by the country of the user."""
    for country in range(DAYS):
        yield f"country={country:02}/0.parquet", frame.filter(pl.col("user") % DAYS == country)


SORTED = partial(in_slices, n=10)
LAYOUTS = {
    "sorted by user": Layout(SORTED),
    "by day, users spread": Layout(by_day),
    "1,000 small files": Layout(partial(in_slices, n=1000)),
    "text ids of 36 bytes": Layout(SORTED, as_text=True),
    "Hive partitions": Layout(in_partitions),
    "whole lists, no k": Layout(SORTED, k=None),
    "4 models in a column": Layout(SORTED, n_models=len(MODELS)),
}


def write(folder: Path, users: int, layout: Layout) -> None:
    for name, frame in made(users, layout).items():
        for path, rows in layout.files(frame):
            place = folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            rows.write_parquet(place)
