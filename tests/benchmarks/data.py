"""The frames of benchmarks: a judged frame of a chosen size, the two frames it is the join of, and bare sorted arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

# NOTE: a prime, so that steps of any size from any start visit every item once before one comes again
N_ITEMS = 49_999
UNRANKED = 0.08
JUDGED_ZERO = 0.05
GRADES = 5
IDS = ("int", "string", "uuid")


@dataclass(frozen=True)
class Settings:
    """What the frames are like."""

    users: int = 100_000
    length: int = 100
    relevant: float = 0.12
    ids: str = "int"
    order: str = "sorted"
    shape: str = "judged"
    seed: int = 0


@dataclass
class Case:
    """The same rows in every form that a contender starts from; forms that nobody asks for are not made."""

    settings: Settings
    judged: pl.DataFrame
    arrays: tuple[np.ndarray, np.ndarray, np.ndarray]
    """User, rank and gain for the loop, by user, then rank; in place of nulls a rank far down, and gain 0: not relevant."""

    @cached_property
    def recs(self) -> pl.DataFrame:
        """The recommendations: user, item, rank."""
        ranked = self.judged.filter(pl.col("rank").is_not_null())
        return ranked.select("user", "item", "rank").rechunk()

    @cached_property
    def truth(self) -> pl.DataFrame:
        """The truth: user, item, relevance from 1 to 5."""
        relevant = self.judged.filter(pl.col("relevance") > 0)
        return relevant.select("user", "item", "relevance").rechunk()

    def rec(self, kind: Callable[[pl.DataFrame], Any] = lambda frame: frame) -> Any:
        """Return `.rec` of the frames that contenders are given, each made into a kind of frame."""
        if self.settings.shape == "two":
            return kind(self.recs).rec(truth=kind(self.truth))
        return kind(self.judged).rec


def numbers(settings: Settings) -> pl.DataFrame:
    """Return the judged frame with Int64 ids, sorted by user and rank, rows without a rank last.

    Users differ in how much they like (a gamma distribution around the share of relevant rows, so a few like nothing);
    relevant rows are graded 1 to 5 and stand anywhere in the list; some of them were never recommended. Of the other rows
    a few are judged 0 and most are not judged.
    """
    random = np.random.default_rng(settings.seed)
    size = (settings.users, settings.length)
    likes = np.minimum(random.gamma(2, settings.relevant / 2, (settings.users, 1)), 1 - JUDGED_ZERO)
    draw = random.random(size, dtype=np.float32)
    relevant = draw < likes
    grade = np.where(relevant, random.integers(1, GRADES + 1, size, dtype=np.int64), 0)
    ranked = ~(relevant & (random.random(size, dtype=np.float32) < UNRANKED))
    first, step = random.integers(1, N_ITEMS, (2, settings.users, 1))
    columns = {
        "user": np.repeat(np.arange(settings.users), settings.length),
        "item": ((first + step * np.arange(settings.length)) % N_ITEMS).ravel(),
        "rank": ranked.cumsum(axis=1, dtype=np.int64).ravel(),
        "relevance": grade.ravel(),
    }
    masks = {"rank": ranked.ravel(), "relevance": (relevant | (draw > 1 - JUDGED_ZERO)).ravel()}
    frame = pl.DataFrame(columns).with_columns(
        pl.when(pl.Series(mask)).then(name).alias(name) for name, mask in masks.items()
    )
    return frame.sort("user", "rank", nulls_last=True)


def case(frame: pl.DataFrame, settings: Settings) -> Case:
    """Return the forms of a frame that `numbers` made: ids and order as the settings say."""
    arrays = (
        frame["user"].to_numpy(),
        frame["rank"].fill_null(np.iinfo(np.int64).max).to_numpy(),
        frame["relevance"].fill_null(0).to_numpy(),
    )
    judged = in_ids(frame, settings.ids)
    if settings.order == "shuffled":
        judged = judged.sample(fraction=1, shuffle=True, seed=settings.seed)
    return Case(settings, judged.rechunk(), arrays)


def of_models(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the lists of several models below each other, each with the items of a list in turned order."""
    rank, last = pl.col("rank"), pl.col("rank").max().over("user")
    return pl.concat(
        frame.with_columns(model=pl.lit(name), rank=(rank + 7 * turn) % last + 1)
        for turn, name in enumerate(names)
    )


def in_ids(frame: pl.DataFrame, ids: str) -> pl.DataFrame:
    """Return a frame with ids of a kind: whole numbers, names, or texts of the form of a UUID in no order."""
    if ids == "int":
        return frame
    made = {"string": lambda name: pl.format(f"{name}_{{}}", name), "uuid": _uuid}[ids]
    return frame.with_columns(made(name).alias(name) for name in ("user", "item"))


def _uuid(name: str) -> pl.Expr:
    first, last = (pl.col(name).hash(seed).cast(pl.String).str.zfill(20) for seed in (1, 2))
    parts = [first.str.slice(start, size) for start, size in ((0, 8), (8, 4), (12, 4), (16, 4))]
    return pl.concat_str([*parts, last.str.slice(8, 12)], separator="-")
