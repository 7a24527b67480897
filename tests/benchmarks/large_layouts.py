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
    by: tuple[str, ...] = ()
    """Columns of users that the metrics are asked by."""


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
SPREAD = "more rows than memory"
"""Lists of text ids that are made file by file: each file has rows of all users, one of whom has a hundredth of all rows."""
OF_SPREAD = Layout(SORTED, by=("country", "device"))
ROWS_OF_FILE = 5_000_000
LISTED, N_ITEMS, STEP = 20, 20_011, 7_919
"""The length of a list; a prime number of items, and one that spreads users over the files."""


def write(folder: Path, rows: int, layout: Layout) -> None:
    """Write the files of a layout."""
    if layout.by:
        write_spread(folder, rows)
        return
    for name, frame in made(rows // LENGTH, layout).items():
        for path, part in layout.files(frame):
            put(part, folder / name / path)


def put(frame: pl.DataFrame, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(path)


def write_spread(folder: Path, n_rows: int) -> None:
    """Write lists, a truth of a tenth of their rows, every second of which is a hit, and users."""
    n_users = n_rows // LISTED | 1  # no multiple of 10, so that the truth has all of them
    users, items = texts(n_users), texts(N_ITEMS)
    for start in range(0, n_rows, ROWS_OF_FILE):
        row = pl.int_range(start, min(n_rows, start + ROWS_OF_FILE))
        is_bot = row % 100 == 0
        user = pl.when(is_bot).then(0).otherwise(row * STEP % n_users)
        rank = pl.when(is_bot).then(row // 100).otherwise(row // n_users) + 1
        numbers = pl.select(row=row, user=user, item=row * STEP % N_ITEMS, rank=rank.cast(pl.Int32))
        named = {"user": users.gather(numbers["user"]), "item": items.gather(numbers["item"])}
        recs = pl.DataFrame(named).with_columns(numbers["rank"])
        put(recs, folder / "recs" / f"{start:012}.parquet")
        item = pl.when(numbers["row"] % 20 == 3).then("item").otherwise(pl.lit("another item"))
        truth = recs.select("user", item).filter(numbers["row"] % 10 == 3)
        put(truth, folder / "truth" / f"{start:012}.parquet")
    number = pl.int_range(n_users)
    country, device = (number % 5).cast(pl.String), (number % 3).cast(pl.String)
    put(pl.select(user=users, country=country, device=device), folder / "users" / "0.parquet")


def texts(n: int) -> pl.Series:
    """Return ids of 36 characters."""
    number = pl.int_range(n)
    parts = (number.hash(1).cast(pl.String).str.zfill(20), number.cast(pl.String).str.zfill(15))
    return pl.select(pl.format("{}-{}", *parts)).to_series()
