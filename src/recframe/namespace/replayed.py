"""A call made again where the data is: over a bucket of users, and over the sums of all buckets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with every engine

from recframe.engines.sums import Sums
from recframe.engines.tasks import Finishing, Summing, Trial, Whole
from recframe.frames.context import SIDES, Context
from recframe.frames.hints import InPython, in_words
from recframe.frames.kinds.recframe_bucket import Bucket, Task
from recframe.frames.kinds.tables import Tables
from recframe.frames.own_names import NamedFrame
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Definition
from recframe.namespace.bound_frame import Rec

LISTS = "recommendations"
WHOLE = ("items",)
"""The frames that each bucket has with all their rows."""


@dataclass(frozen=True)
class Call:
    """A method of `rec` with its arguments and all that is bound, but for the frames."""

    method: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]
    context: Context
    names: Mapping[str, Mapping[str, str]]
    """The column names that side frames have of their own."""
    own: tuple[Definition, ...]
    """The metrics of the user's own that are asked for."""
    words: Callable[[InPython], str]
    """What puts hints of messages into words where the call is made."""

    def made(self, task: Task, frames: Mapping[str, pa.Table], plain: Sequence[str] = WHOLE) -> Any:
        """Make the call over some frames; those in `plain` are taken as they are."""
        for one in self.own:
            registry.know(one)
        given = {
            name: rows if name in plain else Bucket(rows, name, task)
            for name, rows in frames.items()
        }
        sides: dict[str, Any] = {
            name: NamedFrame(given[name], self.names[name]) if name in self.names else given[name]
            for name in SIDES
            if name in given
        }
        rec: Rec[Any] = Rec(given[LISTS])
        bound = rec._with(replace(self.context, **sides))  # noqa: SLF001  a call's own frames
        with in_words(self.words):
            return getattr(bound, self.method)(*self.arguments, **self.options)


@dataclass(frozen=True)
class Replayed:
    """A call with what a trial has told of it: what runs in the buckets, and behind them."""

    call: Call
    plans: tuple[Sums, ...]
    """The sums that are added up; none where a bucket's rows are those of the result."""
    result: pl.Schema
    tables: Mapping[str, pl.DataFrame]
    none: Mapping[str, pa.Table]
    """The frames that travel, without their rows."""
    whole: Mapping[str, pa.Table]
    """Those that each bucket has with all their rows."""

    def of_bucket(self, frames: Mapping[str, pa.Table]) -> pa.Table:
        """Return a bucket's sums, or its rows of the result."""
        given = {**self.none, **frames}
        size, tables = sum(rows.num_rows for rows in given.values()), Tables(self.tables)
        task = Summing(self.plans, tables, size) if self.plans else Whole(self.result, tables, size)
        self.call.made(task, {**given, **self.whole})
        return task.table()

    def finished(self, sums: pa.Table) -> pa.Table:
        """Return the result, from the sums of all buckets."""
        task = Finishing(self.plans, Tables(self.tables), sums)
        self.call.made(task, {**self.none, **self.whole})
        return task.found


def tried(call: Call, frames: Mapping[str, pa.Table], *, divided: bool) -> Trial:
    """Return what a call over frames without rows tells."""
    task = Trial(divided=divided)
    call.made(task, frames, plain=())
    return task
