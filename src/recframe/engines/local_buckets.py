"""Tables of frames of this process, which calls on engines and accumulators read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from recframe.frames.collecting import stream
from recframe.frames.kinds.engine import Engine, Work, counted, rows_with
from recframe.frames.kinds.lookup import kind_for


class Local(Engine):
    """The threads of this process."""

    name = "this machine"
    is_here = True

    def schema(self, frame: Any) -> pl.Schema:
        """Return the dtypes of a frame's columns."""
        return pl.Schema(kind_for(frame).schema)

    def read(self, frame: Any, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns of a small frame."""
        names = frame.collect_schema().names()
        return stream(frame.select(pl.nth(names.index(column)) for column in columns))

    def distinct(
        self, frame: Any, columns: Sequence[str], present: Sequence[str], any_of: Sequence[str]
    ) -> pl.DataFrame:
        """Return columns' values, of rows that have others."""
        names = frame.collect_schema().names()
        rows = rows_with(frame, present, any_of)
        return stream(rows.select(pl.nth([names.index(one) for one in columns])).unique())

    def counted(self, frame: Any, user: str, item: str) -> tuple[pl.DataFrame, int]:
        """Return each item with its number of users, and the number of users."""
        names = frame.collect_schema().names()
        columns = {"user": pl.nth(names.index(user)), "item": pl.nth(names.index(item))}
        return counted(frame.select(**columns))

    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames of one kind below each other."""
        raise NotImplementedError

    def run(self, frame: Any, work: Work) -> Any:
        """Return the result of a call."""
        raise NotImplementedError
