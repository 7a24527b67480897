"""Rows of a log under the names of their roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.errors import ColumnError, RecframeError
from recframe.frames.collecting import check_threads
from recframe.frames.dtypes import check_dtypes, check_time
from recframe.frames.hints import NAMED, bind
from recframe.frames.kinds.kind import Kind
from recframe.frames.options import Context
from recframe.frames.roles import Side, has_relevance, listed

FOLD, PART = "fold", "part"
ROLES = ("user", "item", "time", "relevance")
"""The roles that a split reads; the last two may be missing."""
NUMBERS = ("relevance",)
"""Roles whose NaN is no missing value."""


@dataclass(frozen=True)
class Log:
    """A log: one row for each interaction."""

    kind: Kind
    names: Mapping[str, str]
    """The log's own names of the roles that are read."""
    rows: pl.LazyFrame
    """The columns of the roles (user, item, and time and relevance if bound), and what gives whole rows back."""
    roles: pl.LazyFrame
    """The columns of the roles alone, by a read of their own.

    NOTE: what is asked of the whole log goes by them. Two branches that share a read hold its rows in memory until both are
    through.
    """
    context: Context
    """The options that are bound."""

    @property
    def schema(self) -> pl.Schema:
        """The columns of `rows` and their dtypes."""
        return self.rows.collect_schema()

    @property
    def has_time(self) -> bool:
        """Whether a column of times is bound."""
        return "time" in self.names

    @property
    def is_lazy(self) -> bool:
        """Whether nothing of the log is at hand before a plan runs."""
        return self.kind.is_lazy

    def require_time(self, call: str) -> pl.DataType:
        """Return the dtype of the times, or say that the split needs them."""
        if self.has_time:
            return self.schema["time"]
        found = f"rec.split.{call}() needs the time of each row"
        msg = f"{found}. Name its column: {bind(time=NAMED)}. It has {listed(self.kind.columns)}"
        raise ColumnError(msg)


def log_of(frame: Any, context: Context, *, min_relevance: float | None = None) -> Log:
    """Return a frame as a log, after checks of its schema."""
    check_threads()
    side = Side("the log", frame, context)
    if side.kind.engine is not None:
        msg = f"rec.split takes frames of Polars, pandas and Arrow, and {side.kind.engine.name} has none"
        raise RecframeError(msg)
    roles = ["user", "item"] + ["time"] * (context.time is not None)
    roles += ["relevance"] * (min_relevance is not None or has_relevance(side))
    hints = {"relevance": f"Name the column that min_relevance= is of: {bind(relevance=NAMED)}"}
    names = {role: side.require(role, hints.get(role, "")) for role in roles}
    rows = side.kind.held_rows(names, NUMBERS)
    schema = rows.collect_schema()
    check_dtypes({"log": schema}, {"log": side})
    check_time(schema.get("time"), side)
    return Log(side.kind, names, rows, side.kind.take(names, names, NUMBERS).lazy(), context)


def check_names(log: Log) -> None:
    """Reject a log with columns of the names that labels get."""
    for name in (FOLD, PART):
        if name in log.kind.columns:
            msg = f"the log has a column {name!r}, which is the name of one that the split adds; rename it first"
            raise ColumnError(msg)
