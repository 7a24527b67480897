"""A log by role, and its k-core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.audit.split_rows import PAIR
from recframe.errors import ColumnError, RecframeError
from recframe.frames.hints import NAMED, bind
from recframe.frames.kinds.kind import Kind, ask, check_threads, stream
from recframe.frames.options import Context
from recframe.frames.roles import Side, check_dtypes, check_time, has_relevance, listed
from recframe.frames.rows.joins import IS_POLARS_1, joined

FOLD, PART = "fold", "part"
ROW = "row of the log"
"""Column with the number of a row, where labels are in memory."""
N_LEFT = "rows of the pair"


@dataclass(frozen=True)
class Log:
    """A log: one row for each interaction."""

    kind: Kind
    names: Mapping[str, str]
    """The log's own names of the roles that a split reads: user, item, and time and relevance where they are bound."""
    rows: pl.LazyFrame
    """The columns of the roles, and what gives whole rows back."""
    roles: pl.LazyFrame
    """The columns of the roles alone.

    NOTE: a read of its own, since two branches that share a read hold its rows in memory until both are through.
    """
    context: Context
    """The options that are bound."""

    @property
    def schema(self) -> pl.Schema:
        """The dtypes of the columns of `rows`."""
        return self.rows.collect_schema()

    @property
    def is_lazy(self) -> bool:
        """Whether nothing of the log is in memory before a plan runs."""
        return self.kind.is_lazy

    def held(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows that are made once: at once of a log in memory, else once in each plan that runs.

        NOTE: Polars 1 panics where one cache reads another, so there the plan makes them anew.
        """
        if self.is_lazy:
            return rows if IS_POLARS_1 else rows.cache()
        return ask([rows])[0].lazy()

    def require_time(self, call: str) -> pl.DataType:
        """Return the dtype of the times, or say that the split needs them."""
        if "time" in self.names:
            return self.schema["time"]
        raise ColumnError(
            f"rec.split.{call}() needs the time of each row. Name its column: {bind(time=NAMED)}. "
            f"It has {listed(self.kind.columns)}"
        )


def log_of(frame: Any, context: Context, *, min_relevance: float | None = None) -> Log:
    """Return a frame as a log, after checks of its schema."""
    check_threads()
    side = Side("the log", frame, context)
    if side.kind.engine is not None:
        raise RecframeError(
            f"rec.split takes frames of Polars, pandas and Arrow, and {side.kind.engine.name} has none"
        )
    roles = [*PAIR] + ["time"] * (context.time is not None)
    roles += ["relevance"] * (min_relevance is not None or has_relevance(side))
    grades = f"Name the column that min_relevance= is of: {bind(relevance=NAMED)}"
    names = {role: side.require(role, grades * (role == "relevance")) for role in roles}
    numbers = ("relevance",)  # whose NaN is no missing value
    rows = side.kind.held_rows(names, numbers)
    schema = rows.collect_schema()
    check_dtypes({"log": schema}, {"log": side})
    check_time(schema.get("time"), side)
    return Log(side.kind, names, rows, side.kind.take(names, names, numbers).lazy(), context)


def core_of(log: Log, least: Mapping[str, int]) -> pl.LazyFrame:
    """Return the rows of a log whose users and items have at least `least` of the rows that are left, in their order.

    Users, then items, of fewer are left out in turn, on counts of pairs, which are collected once.
    """
    pairs, size = stream(log.roles.select(PAIR).drop_nulls().group_by(PAIR).len(N_LEFT)), -1
    while len(pairs) != size:
        size = len(pairs)
        for role in PAIR:
            pairs = pairs.filter(pl.col(N_LEFT).sum().over(role) >= least[role])
    # a pair is left where its user and its item are
    return joined(log.rows, pairs.lazy(), PAIR, in_order=True).drop_nulls(N_LEFT)
