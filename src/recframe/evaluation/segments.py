"""Segments of a result: keys, user counts, user attributes, extra columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from recframe.errors import ColumnError
from recframe.frames.collecting import Ask
from recframe.frames.hints import Given
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Owner, Segment
from recframe.frames.rows.joins import aggregate
from recframe.frames.rows.profiling import constant_of, heads
from recframe.metrics.language.definition import Metric
from recframe.ranking.judged_frame import Judged


def n_keys(inputs: Inputs) -> int:
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


def deepest_of(metrics: Sequence[Metric[...]]) -> int | None:
    """Return the largest cut-off of the metrics, None where one has none; without a metric no rank is read."""
    ks = [metric.k for metric in metrics]
    return None if None in ks else max((k for k in ks if k is not None), default=1)


def keys_of(inputs: Inputs, metrics: Sequence[Metric[...]]) -> dict[str, str]:
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


def with_attributes(lists: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return lists or users with the segments that are properties of the user."""
    names = inputs.inside("users")
    if names and inputs.users is not None:
        lists = lists.join(inputs.users.select("user", *names), on="user", how="left")
    lists = inputs.with_made_of_ids(lists, "user")
    found = inputs.inside("user", "constant")
    for table in inputs.of_users:
        asked = [name for name in table.collect_schema().names() if name in found]
        lists = lists.join(table.select("user", *asked), on="user", how="left") if asked else lists
    for name in inputs.inside("recommendations"):
        pairs = inputs.counted("recommendations").select("user", name).drop_nulls().unique()
        lists = lists.join(pairs.group_by("user").agg(pl.col(name).first()), on="user", how="left")
    lists = lists if inputs.draw is None else inputs.draw(lists)
    return lists if inputs.fold is None else lists.with_columns(inputs.fold)


def users_in_segments(judged: Judged) -> pl.LazyFrame:
    """Return each user of the universe once for each segment and model, whether or not they have a row in the branches."""
    return _for_each_model(with_attributes(judged.members(), judged.inputs), judged)


def n_users_of_segments(judged: Judged, keys: Sequence[str]) -> pl.LazyFrame:
    """Return n_users for each segment, whether or not any of its users has a row in the branches."""
    of_users = [key for key in keys if key != "model"]
    n_users = pl.len().cast(pl.Int64).alias("n_users")
    if of_users and judged.precomputed.n_of_segments is not None:
        support = judged.precomputed.n_of_segments
    elif of_users:
        members = with_attributes(judged.members(), judged.inputs)
        support = members.group_by(of_users).agg(n_users)
    elif judged.precomputed.crowd is not None:
        support = judged.precomputed.crowd.select(n_users)
    else:
        # rows mostly stand user by user, so that few are left to a hash table
        n_users = pl.col("user").n_unique().cast(pl.Int64).alias("n_users")
        support = aggregate(heads(judged.users), [], [n_users])
    return _for_each_model(support, judged)


def _for_each_model(rows: pl.LazyFrame, judged: Judged) -> pl.LazyFrame:
    return rows if judged.models is None else rows.join(judged.models, how="cross")


N, TOTAL, SQUARE, ZERO = "n", "total", "square", "zero"
SUPPORT = (N,)
"""Column suffixes of the support: the number of users or lists averaged over."""
SPREAD = (N, TOTAL, SQUARE, ZERO)
"""Column suffixes of support and spread: sums of values and squares, and numbers of zeros; null for set metrics."""


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


Owned = Literal["row", "recommendations", "truth"]
FOUND: dict[Owned, Owner] = {"row": "constant", "recommendations": "user", "truth": "user"}
"""Owner of a segment found to be constant per user, by its previous owner."""
OF_USERS = {"users", "recommendations", "user id", "user", "constant"}
"""Owners of segments of which each user is in exactly one."""
OF_ROWS = {"row", "truth"}
"""Owners of segments of which a user is in one where all of their rows have the same value."""


def not_of_users(call: str, segment: Segment, units: Sequence[str]) -> str:
    """Return the message on a column of which a user has several values."""
    option = "cluster" if segment.inside in units else "by"
    given = Given(option, segment.name)
    instead = f"evaluate(..., {given}) has the values of each segment, and compare(..., {given}) compares models within each"
    if option == "cluster":
        instead = "name a column that has one value for each user"
    return f"{given}: {call} takes columns of users, but this one has several values for some user; {instead}"


def described(inputs: Inputs, ask: Ask | None) -> Inputs:
    """Return inputs with `by` columns that are constant per user turned into user properties.

    No answer changes a number: a user whose rows all say the same stands in that segment alone.
    """
    if ask is None:
        return inputs
    found = {owner: _tables(inputs, owner, ask) for owner in FOUND}
    tables = [table for some in found.values() for table in some]
    if not tables:
        return inputs
    owners = {
        name: FOUND[owner]
        for owner, some in found.items()
        for table in some
        for name in table.columns
        if name != "user"
    }
    return replace(
        inputs,
        segments=tuple(
            replace(segment, owner=owners.get(segment.inside, segment.owner))
            for segment in inputs.segments
        ),
        of_users=(*inputs.of_users, *(table.lazy() for table in tables)),
        crowd=tables[0].lazy().select("user") if inputs.truth is None else None,
    )


def _tables(inputs: Inputs, owner: Owned, ask: Ask) -> list[pl.DataFrame]:
    """Return each user once with the segments of an owner that are properties of users: all in one table, or one in each."""
    names = inputs.inside(owner)
    # who has no row is in no segment of rows
    if not names or (
        owner == "row" and inputs.context.universe == "all" and inputs.users is not None
    ):
        return []
    together = _table(inputs, owner, names, ask)
    if together is not None:
        return [together]
    alone = [_table(inputs, owner, [name], ask) for name in names] if len(names) > 1 else []
    return [table for table in alone if table is not None]


def _table(inputs: Inputs, owner: Owned, names: Sequence[str], ask: Ask) -> pl.DataFrame | None:
    """Return each user of the frames of an owner once, with columns that never change within one.

    None where one does.
    """
    sources = [inputs.identified("truth" if owner == "truth" else "recommendations")]
    if owner == "row" and inputs.truth is not None:
        sources.append(inputs.identified("truth"))
    found = None
    for rows in ask([source.select("user", *names) for source in sources]):
        table = constant_of("user", rows)
        if table is None:
            return None
        found = table if found is None else _of_both(found, table)
    return found


def _of_both(lists: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame | None:
    """Return the users of both frames; None where the frames differ, so that each row decides."""
    table = pl.concat([lists, truth]).unique()
    return table if table["user"].n_unique() == len(table) else None
