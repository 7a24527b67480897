"""The files of the benchmark of engines: recommendations and graded truth as Parquet, in chunks of users."""

from __future__ import annotations

import shutil
from pathlib import Path

import data
import numpy as np
import polars as pl

CHUNK = 2_000_000
"""About as many recommendations are a file."""
N_ITEMS = 50_000
MOST = 19
"""Most rows of truth of a user; from one to so many, ten on average."""
RECOMMENDED = 0.3
"""The share of truth that was recommended."""
WITHOUT = 20
"""One of so many users has no list, and another one no truth."""
STEP = 7  # it has no divisor in common with the length of a list: places are met once
SPREAD, SPACE = 668_265_263, 2**40


def folder_of(folder: Path, rows: int, length: int, ids: str) -> Path:
    """Return the folder of files of some size; write them where they are missing."""
    found = folder / f"{rows}_{length}_{ids}"
    if not (found / "complete").exists():
        shutil.rmtree(found, ignore_errors=True)
        write(found, rows, length, ids)
        (found / "complete").touch()
    return found


def write(folder: Path, rows: int, length: int, ids: str, seed: int = 0) -> None:
    """Write `rows` recommendations, lists of `length`, and about ten rows of truth for each user with any."""
    for kind in ("recs", "truth"):
        (folder / kind).mkdir(parents=True)
    random = np.random.default_rng(seed)
    users = rows // length * WITHOUT // (WITHOUT - 1)
    step = CHUNK // length
    for start in range(0, users, step):
        recs, truth = chunk(random, np.arange(start, min(start + step, users)), length)
        recs, truth = (data.in_ids(frame, ids) for frame in (recs, truth))
        recs.write_parquet(folder / "recs" / f"{start:09}.parquet")
        # as events come: in no order of users
        truth = truth.sample(fraction=1, shuffle=True, seed=seed)
        truth.write_parquet(folder / "truth" / f"{start:09}.parquet")


def chunk(
    random: np.random.Generator, users: np.ndarray, length: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the recommendations and the truth of some users, with whole numbers as ids.

    The places of a list, and the rows of truth that were not recommended, share out the items by their remainder, so that
    no item comes twice for a user; within that share an item is drawn as often as Zipf's law has it.
    """
    n, classes = len(users), length + MOST
    most = N_ITEMS // classes
    drawn = np.floor(most ** random.random((n, classes))).astype(np.int64) - 1
    shift = random.integers(0, classes, (n, 1))
    items = drawn * classes + (np.arange(classes) + shift) % classes
    user = (users * SPREAD) % SPACE
    has_list, has_truth = users % WITHOUT != 0, users % WITHOUT != 1
    ranks = np.tile(np.arange(1, length + 1), (n, 1))
    recs = _rows(user, has_list[:, None] & (ranks > 0), item=items[:, :length], rank=ranks)
    slots = np.arange(MOST)
    places = (random.integers(0, length, (n, 1)) + STEP * slots) % length
    is_listed = random.random((n, MOST)) < RECOMMENDED
    liked = np.take_along_axis(items, np.where(is_listed, places, length + slots), axis=1)
    grades = random.integers(1, 6, (n, MOST))
    kept = has_truth[:, None] & (slots < random.integers(1, MOST + 1, (n, 1)))
    return recs, _rows(user, kept, item=liked, relevance=grades)


def _rows(user: np.ndarray, kept: np.ndarray, **columns: np.ndarray) -> pl.DataFrame:
    every = {"user": np.broadcast_to(user[:, None], kept.shape), **columns}
    return pl.DataFrame({name: one[kept] for name, one in every.items()})
