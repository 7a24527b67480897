"""Segments of a result: keys, user counts, user attributes, extra columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from recframe.errors import ColumnError
from recframe.frames.collecting import Ask
from recframe.frames.hints import Given
from recframe.frames.inputs import Frames
from recframe.frames.rows.profiling import constant_of
from recframe.frames.segments import OfUsers, Place, Segment
from recframe.metrics.language.definition import Metric


def n_keys(inputs: Frames) -> int:
    """Return the number of key columns: the `by` columns, and a bound model that is none of them."""
    return len(inputs.segments) + (
        bool(inputs.model) and all(segment.inside != "model" for segment in inputs.segments)
    )


def numbered(result: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return a result with plain names for its key columns; it goes by position, since they may have any name."""
    names = result.collect_schema().names()
    return result.select(
        pl.nth(place).alias(name) for place, name in enumerate([*keys, *names[len(keys) :]])
    )


def keys_of(inputs: Frames, metrics: Sequence[Metric[...]]) -> dict[str, str]:
    """Return the result's key columns, by their names inside the plan; a model that nobody names comes first."""
    by = {segment.inside: segment.name for segment in inputs.segments}
    if inputs.model and "model" not in by:
        by = {"model": inputs.context.names["model"], **by}
    for name in by.values():
        if name in {"n_users", "n_lists", *map(str, metrics)}:
            msg = (
                f"{Given('by', name)} is also the name of a result column; rename the column first"
            )
            raise ColumnError(msg)
    return by


N, TOTAL = "n", "total"
SUPPORT = (N,)
"""Column suffixes of the support: the number of users or lists averaged over."""


def name_beside(part: str, metric: Metric[...]) -> str:
    """Return the name of a metric's extra column."""
    return f"{part} {metric}"


def support_of(metric: Metric[...]) -> str:
    """Return the name of a metric's support column."""
    return name_beside(N, metric)


def columns_beside(
    metric: Metric[...], beside: Sequence[str], found: Mapping[str, pl.Expr]
) -> dict[str, pl.Expr]:
    """Return a metric's extra columns, null for those not computed."""
    missing = pl.lit(None, pl.Float64)
    return {name_beside(part, metric): found.get(part, missing) for part in beside}


def not_of_users(call: str, segment: Segment, units: Sequence[str]) -> str:
    """Return the message on a column of which a user has several values."""
    option = "cluster" if segment.inside in units else "by"
    given = Given(option, segment.name)
    instead = f"evaluate(..., {given}) has the values of each segment, and compare(..., {given}) compares models within each"
    if option == "cluster":
        instead = "name a column that has one value for each user"
    return f"{given}: {call} takes columns of users, but this one has several values for some user; {instead}"


FOUND: tuple[Place, ...] = ("rows", "lists", "truth")
"""Places whose columns may be constant per user."""


def described(inputs: Frames, ask: Ask | None) -> Frames:
    """Return inputs whose users get the `by` columns that are constant per user as properties.

    No answer changes a number: a user whose rows all say the same stands in that segment alone.
    """
    if ask is None:
        return inputs
    found: dict[str, OfUsers] = {}
    for at in FOUND:
        names = inputs.inside(at)
        # who has no row is in no segment of rows
        everyone = inputs.context.universe == "all" and inputs.users is not None
        if not names or (at == "rows" and everyone):
            continue
        # all in one table, or one in each
        for some in (names, *([name] for name in names if len(names) > 1)):
            table = None if {*some} <= found.keys() else _table(inputs, at, some, ask)
            if table is not None:
                found |= dict.fromkeys(some, OfUsers(table.lazy()))
    segments = [replace(one, add=found.get(one.inside, one.add)) for one in inputs.segments]
    return replace(inputs, segments=tuple(segments)) if found else inputs


def _table(inputs: Frames, at: Place, names: Sequence[str], ask: Ask) -> pl.DataFrame | None:
    """Return each user of the frames of a place once, with columns that never change within one.

    None where one does, or where lists and truth differ, so that each row decides.
    """
    sources = [inputs.identified("truth" if at == "truth" else "recommendations")]
    if at == "rows" and inputs.truth is not None:
        sources.append(inputs.identified("truth"))
    tables = []
    for rows in ask([source.select("user", *names) for source in sources]):
        table = constant_of("user", rows)
        if table is None:
            return None
        tables.append(table)
    if len(tables) == 1:
        return tables[0]
    both = pl.concat(tables).unique()
    return both if both["user"].n_unique() == len(both) else None
