"""Frames of a call whose plan has rows of some users at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import polars as pl

from recframe.evaluation.plan import Plan
from recframe.frames.kinds.kind import Kind, Named, Names, Seen, Sources
from recframe.frames.kinds.polars_frames import LazyPolars


class Shown(NamedTuple):
    """What shows the result of a call as the caller's kind of frame."""

    sources: Sources
    seen: Seen | None
    columns: Sequence[str] | None


@dataclass(frozen=True)
class Part:
    """Frame of a plan, under its name there."""

    KIND: ClassVar[type[Kind]]
    rows: pl.LazyFrame
    name: str
    plan: Plan
    like: Kind | None = None
    """Kind of the frame that it has rows of, where that is of this process."""


class RowsOfSomeUsers(LazyPolars):
    """A frame of a plan."""

    def __init__(self, frame: Part) -> None:
        super().__init__(frame.rows)
        self.part, self.all_users = frame, frame.plan
        self.in_one_round = frame.plan.in_one_round
        self.index_names = () if frame.like is None else frame.like.index_names

    def labels(self) -> list[str]:
        """Return no names: what columns may tell systems apart is looked for over all users."""
        return []

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> pl.LazyFrame:
        """Return some columns, which the plan then knows to be read."""
        self.part.plan.columns[self.part.name].update(dict.fromkeys(named.values()))
        return super().take(named, ids, numbers)

    def source(self, name: str) -> Any:
        """Return what a result's column is made like."""
        return None if self.part.like is None else self.part.like.source(name)

    def give(
        self,
        plan: pl.LazyFrame,
        sources: Sources,
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> pl.LazyFrame:
        """Return a call's plan with all of its columns, and leave to the plan how its result is shown."""
        self.part.plan.shown = Shown(sources, seen, columns)
        return plan


Part.KIND = RowsOfSomeUsers
