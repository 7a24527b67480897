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

Given = Callable[[Callable[[pl.DataFrame], Any]], tuple[Any, dict[str, Any]]]
"""Type of scenes: of how frames are made, returns the lists and what `rec(...)` binds."""


@dataclass(frozen=True, repr=False)
class Way(Kind):
    """A kind of frame with the call that is made of it."""

    call: Callable[[Way, Given, Sequence[Any], Any], Any]

    def answer(self, given: Given, metrics: Sequence[Any], by: Any = None) -> pl.DataFrame:
        return self.read(self.call(self, given, metrics, by))


def bound(given: Given, make: Callable[[pl.DataFrame], Any]) -> rf.Rec[Any]:
    lists, options = given(make)
    return rf.rec(lists)(**options)


def evaluated(way: Way, given: Given, metrics: Sequence[Any], by: Any) -> Any:
    return bound(given, way).evaluate(*metrics, by=by)


def in_parts(way: Way, given: Given, metrics: Sequence[Any], by: Any) -> Any:
    return in_buckets(bound(given, way), *metrics, by=by)


def from_the_cache(way: Way, given: Given, metrics: Sequence[Any], by: Any) -> Any:
    """Run the plan that was cached of other frames, half of the rows in another order."""
    # half of the rows may lack the reference, a model by its name
    with suppress(rf.DataError):
        rec = bound(given, lambda one: one.reverse().head(len(one) // 2 + 1))
        rec.evaluate(*metrics, by=by)
    return bound(given, way).evaluate(*metrics, by=by)


def added_up(way: Way, given: Given, metrics: Sequence[Any], by: Any) -> Any:
    """Add up two batches of users, of which the first has a list of each model."""
    lists, options = given(way)
    truth = options.pop("truth", None)
    several = rf.accumulator(*metrics, by=by, **options)
    there = lists.drop_nulls(["user", "item"])
    of_models = there.unique("model")["user"] if "model" in options else there["user"][:1]
    user = pl.col("user")
    first = user.is_in(of_models.implode()) | (user.hash(seed=1) % 2 > 0)
    for batch in (first.fill_null(value=True), ~first.fill_null(value=True)):
        own = None if truth is None else truth.filter(batch)
        several.update(lists.filter(batch), own)
    return several.result()


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
KIND = {one.name: one for one in KINDS}
OTHERS = [
    *(
        Way(name, KIND[name].make, KIND[name].read, evaluated)
        for name in ("lazy", "streaming", "pandas", "pandas-arrow")
    ),
    Way("arrow", pl.DataFrame.to_arrow, pl.DataFrame, evaluated),
    Way("cached", lambda one: one, eager, from_the_cache),
    Way("shuffled", shuffled, eager, evaluated),
    Way("parts", pl.DataFrame.lazy, eager, in_parts),
    Way("buckets", MANY.make, MANY.read, evaluated),
    Way("batches", lambda one: one, eager, added_up),
]
WAYS = [EAGER, *OTHERS, LARGE]
"""The last plans on what it has asked of the frames, as those of many rows do."""


def in_turn(place: int, n_others: int = 2) -> list[Way]:
    """Return the two that plan on their own, and some of the others in turn."""
    turn = [OTHERS[(place * n_others + more) % len(OTHERS)] for more in range(n_others)]
    return [EAGER, *turn, LARGE]
