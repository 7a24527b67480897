"""Every way to run a call, each of which has the numbers of the plain definitions: one table for all scenes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import polars as pl

import recframe as rf
from buckets_of_users import in_buckets
from frame_kinds import KINDS, Kind, eager
from many_frames import MANY
from recframe.frames.kinds import kind as kinds

Bind = Callable[[Callable[[pl.DataFrame], Any]], rf.Rec[Any]]
"""Type of scenes: given how frames are made, returns the `rec` of them."""


@dataclass(frozen=True, repr=False)
class Way(Kind):
    """A kind of frame with the call that is made of it."""

    call: Callable[[Way, Bind, Sequence[Any], Any], Any]

    def answer(self, bind: Bind, metrics: Sequence[Any], by: Any = None) -> pl.DataFrame:
        return self.read(self.call(self, bind, metrics, by))


def evaluated(way: Way, bind: Bind, metrics: Sequence[Any], by: Any) -> Any:
    return bind(way).evaluate(*metrics, by=by)


def in_parts(way: Way, bind: Bind, metrics: Sequence[Any], by: Any) -> Any:
    return in_buckets(bind(way), *metrics, by=by)


def from_the_cache(way: Way, bind: Bind, metrics: Sequence[Any], by: Any) -> Any:
    """Run the plan that was cached of other frames, half of the rows in another order."""
    # half of the rows may lack the reference, a model by its name
    with suppress(rf.DataError):
        bind(lambda one: one.reverse().head(len(one) // 2 + 1)).evaluate(*metrics, by=by)
    return bind(way).evaluate(*metrics, by=by)


def padded(some: pl.DataFrame) -> pl.DataFrame:
    """Add rows of nobody, which count for nothing, until the frame is one that recframe calls large."""
    return (
        pl.concat([some, some.clear(kinds.LARGE + 1)])
        if {"rank", "score"} & set(some.columns)
        else some
    )


def shuffled(some: pl.DataFrame) -> pl.DataFrame:
    """Put the rows in another order, in chunks."""
    rows = some.sample(fraction=1, shuffle=True, seed=len(some))
    return pl.concat([rows[:2], rows[2:]], rechunk=False)


EAGER = Way("polars", lambda one: one, eager, evaluated)
LARGE = Way("precomputed", padded, eager, evaluated)
OTHERS = [
    *(Way(one.name, one.make, one.read, evaluated) for one in KINDS[1:]),
    Way("cached", lambda one: one, eager, from_the_cache),
    Way("shuffled", shuffled, eager, evaluated),
    Way("parts", pl.DataFrame.lazy, eager, in_parts),
    Way("buckets", MANY.make, MANY.read, evaluated),
]
WAYS = [EAGER, *OTHERS, LARGE]


def in_turn(place: int, n_others: int = 2) -> list[Way]:
    """Return the two that plan on their own, and some of the others in turn."""
    turn = [OTHERS[(place * n_others + more) % len(OTHERS)] for more in range(n_others)]
    return [EAGER, *turn, LARGE]
