"""One lazy plan of a call over frames that are filled in when it runs, cut where sums of users add up.

It is made of the schemas of the frames. It is what is kept for small repeated calls, what an engine runs over each bucket of
users, what an accumulator adds batches to, and what a bound on memory runs over each scan:

    for step in plan.steps:
        plan.take(step, step.added([plan.part(rows_of_some_users, step) for ...]))
    plan.finish()
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import polars as pl

from recframe.errors import NeedsAllUsersError
from recframe.frames.collecting import run_all_by_size, run_by_size
from recframe.frames.kinds.engine import Added, Frames

Made = Callable[[Mapping[str, pl.LazyFrame], "Plan"], pl.LazyFrame]
"""Type of functions that make the plan of a call on frames; they leave sums of users to the plan that is given."""
WHOLE = {"items"}
"""Frames that every part of the users has in full."""


@dataclass(frozen=True)
class Sums:
    """Sums over some users, and the way in which they add up."""

    rows: pl.LazyFrame
    how: Added
    reads: frozenset[str]
    """Names of the frames that they are made of."""
    needs: frozenset[int] = frozenset()
    """Places of the sums of all users that they are made of."""
    round: int = 0
    """Number of rounds before this one, whose sums these sums are made of."""

    @property
    def are_keys(self) -> bool:
        """Whether they are distinct keys alone, to which rows add up that are not of whole users."""
        return not self.has_users and {*self.rows.collect_schema()} == {*self.how.keys}

    @property
    def has_users(self) -> bool:
        """Whether they are rows of users."""
        return "user" in self.how.keys


@dataclass(frozen=True)
class Step:
    """Sums of one round over all users; each step reads the sums of those before."""

    places: tuple[int, ...]
    sums: tuple[Sums, ...]

    @property
    def are_keys(self) -> bool:
        """Whether rows of users may be parted in any way."""
        return all(one.are_keys for one in self.sums)

    @property
    def reads(self) -> frozenset[str]:
        """Names of the frames that are read."""
        return frozenset().union(*(one.reads for one in self.sums))

    def added(self, parts: Iterable[Sequence[pl.DataFrame]]) -> list[pl.DataFrame]:
        """Return the sums of several parts of all users."""
        each = zip(*parts, strict=True)
        return [one.how.up(some) for one, some in zip(self.sums, each, strict=True)]


class Plan:
    """Lazy plan of a call over frames to come, or over those of all users."""

    def __init__(
        self,
        made: Made,
        frames: Mapping[str, Mapping[str, pl.DataType] | pl.LazyFrame],
        *,
        keeps_users: bool = False,
        in_one_round: bool = False,
    ) -> None:
        self.sums: list[Sums] = []
        self.columns: dict[str, dict[str, None]] = {name: {} for name in frames}
        """The columns that the call takes of each frame."""
        self.keeps_users = keeps_users
        """Whether the result has rows of users, of whom each part gives its own."""
        self.in_one_round = in_one_round
        """Whether rows of users are seen once, so that what looks at them again after their sums is left out."""
        self.shown: Any = None
        """What the call says on how its result is shown."""
        self._filled: dict[str, pl.DataFrame] = {}
        self._of_all: dict[Hashable, pl.LazyFrame] = {}
        self._has_all_users = any(isinstance(one, pl.LazyFrame) for one in frames.values())
        given = {
            name: one if isinstance(one, pl.LazyFrame) else self._hole(name, one)
            for name, one in frames.items()
        }
        self.result = made(given, self)
        # NOTE: Polars then has the plan in the form that it runs in, which is half of what a kept plan saves
        self.result.collect_schema()

    def _hole(self, name: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """Return a placeholder, whose rows are those that are filled in when it runs.

        NOTE: cached for the run, since each call of a function in a plan waits for Python. Its column of nothing shows in the
        text of a plan which placeholders this reads.
        """
        whole = dict.fromkeys(
            ("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False
        )
        given = partial(_filled, self._filled, name)
        nothing = pl.LazyFrame(schema={_mark(name): pl.Null})
        return nothing.map_batches(given, **whole, schema=pl.Schema(schema)).cache()

    def adds(
        self, rows: pl.LazyFrame, keys: Sequence[str], same: Collection[str] = ()
    ) -> pl.LazyFrame:
        """Return the sums of all users, of sums over some by the keys; columns in `same` are the same in each."""
        if self.keeps_users and "user" in keys:
            return rows
        text, schema = rows.explain(optimized=False), rows.collect_schema()
        needs = frozenset(at for at in range(len(self.sums)) if _mark(sums_at(at)) in text)
        reads = self._read_by(rows)
        now = max((1 + self.sums[at].round for at in needs), default=0)
        kept = tuple(name for name in same if name in schema)
        self.sums.append(Sums(rows, Added(tuple(keys), kept), reads, needs, now))
        if self._has_all_users:
            return rows
        return self._hole(sums_at(len(self.sums) - 1), schema)

    def _read_by(self, rows: pl.LazyFrame) -> frozenset[str]:
        """Return the names of the frames that rows are made of."""
        text = rows.explain(optimized=False)
        return frozenset(name for name in self.columns if _mark(name) in text)

    def of_all(
        self, name: Hashable, rows: Callable[[], pl.LazyFrame], keys: Sequence[str]
    ) -> pl.LazyFrame:
        """Return sums of all users that several parts of the plan read under one name."""
        if name not in self._of_all:
            self._of_all[name] = self.adds(rows(), keys)
        return self._of_all[name]

    @cached_property
    def steps(self) -> list[Step]:
        """The steps of the plan over all users."""
        found = []
        for now in range(1 + max((one.round for one in self.sums), default=-1)):
            for are_keys in (True, False):
                step = self.step(
                    place
                    for place, one in enumerate(self.sums)
                    if one.round == now and one.are_keys is are_keys
                )
                found += [step] * bool(step.places)
        if self.keeps_users:
            rows = Sums(self.result, Added(("user",), ()), self._read_by(self.result))
            found.append(Step((), (rows,)))
        return found

    def step(self, places: Iterable[int]) -> Step:
        """Return a step of some of the sums."""
        found = tuple(places)
        return Step(found, tuple(self.sums[place] for place in found))

    def check(self) -> None:
        """Reject a result that is made of rows of users after their sums."""
        rows = [] if self.keeps_users else [name for name in self.columns if name not in WHOLE]
        text = self.result.explain() if rows else ""
        if any(_mark(name) in text for name in rows):
            msg = "this call reads rows of all users at once, but buckets hold only some users"
            raise NeedsAllUsersError(msg)

    def fill(self, frames: Frames) -> None:
        """Fill in rows, which stay until they are cleared."""
        self._filled.update(frames)

    def clear(self, names: Iterable[str] | None = None) -> None:
        """Let go of the rows of some frames, or of all that was filled in."""
        for name in [*self._filled] if names is None else names:
            self._filled.pop(name, None)

    def part(self, frames: Frames, step: Step) -> list[pl.DataFrame]:
        """Return the sums of a step over the users of some frames."""
        self.fill(frames)
        try:
            size = sum(map(len, frames.values()))
            return run_all_by_size([one.rows for one in step.sums], size)
        finally:
            self.clear(frames)

    def take(self, step: Step, sums: Sequence[pl.DataFrame]) -> None:
        """Fill in the sums of a step over all users."""
        self.fill({sums_at(place): one for place, one in zip(step.places, sums, strict=True)})

    def finish(self) -> pl.DataFrame:
        """Return the result, of what is filled in."""
        return run_by_size(self.result, max(map(len, self._filled.values()), default=0))


def sums_at(place: int) -> str:
    """Return the name by which the sums of a place are filled in."""
    return f"sums {place}"


def _mark(name: str) -> str:
    """Return the column by which a placeholder shows in the text of a plan."""
    return f"recframe {name}."


def _filled(frames: Frames, name: str, _nothing: pl.DataFrame) -> pl.DataFrame:
    return frames[name]
