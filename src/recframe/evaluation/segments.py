"""Segments of a result: keys, user counts and user attributes."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.errors import ColumnError
from recframe.frames.hints import Given
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import aggregate
from recframe.frames.rows.profiling import heads
from recframe.metrics.language.definition import Metric
from recframe.ranking.judged_frame import Judged


def n_keys(inputs: Inputs) -> int:
    """Return the number of key columns: the `by` columns, and a bound model that is none of them."""
    return len(inputs.segments) + (
        bool(inputs.model) and all(one.inside != "model" for one in inputs.segments)
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


def keys_of(inputs: Inputs, metrics: Sequence[Metric[...]]) -> list[tuple[str, str]]:
    """Return the result's key columns, each by its name inside the plan and its own name; an unnamed model comes first."""
    by = [(one.inside, one.name) for one in inputs.segments]
    if inputs.model and ("model", inputs.context.names["model"]) not in by:
        by = [("model", inputs.context.names["model"]), *by]
    names = [name for _, name in by]
    for name in names:
        if name in {"n_users", "n_lists", *map(str, metrics)}:
            msg = (
                f"{Given('by', name)} is also the name of a result column; rename the column before"
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
    return lists if inputs.draw is None else lists.with_columns(inputs.draw)


def users_in_segments(judged: Judged) -> pl.LazyFrame:
    """Return each user of the universe once for each segment and model, whether or not they have a row in the branches."""
    return _for_each_model(with_attributes(judged.members(), judged.inputs), judged)


def n_users_of_segments(judged: Judged, keys: Sequence[str]) -> pl.LazyFrame:
    """Return n_users for each segment, whether or not any of its users has a row in the branches."""
    of_users = [key for key in keys if key != "model"]
    if of_users and judged.known.n_of_segments is not None:
        support = judged.known.n_of_segments
    elif of_users:
        members = with_attributes(judged.members(), judged.inputs)
        support = members.group_by(of_users).agg(n_users=pl.len().cast(pl.Int64))
    else:
        known = pl.LazyFrame({"n_users": [judged.known.n_users]}, schema={"n_users": pl.Int64})
        # rows mostly stand user by user, so that few are left to a hash table
        n_users = pl.col("user").n_unique().cast(pl.Int64).alias("n_users")
        counted = aggregate(heads(judged.users), [], [n_users])
        support = counted if judged.known.n_users is None else known
    return _for_each_model(support, judged)


def _for_each_model(rows: pl.LazyFrame, judged: Judged) -> pl.LazyFrame:
    return rows if judged.models is None else rows.join(judged.models, how="cross")
