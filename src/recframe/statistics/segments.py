"""Segments of users, alone and crossed, with their sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.errors import fails_whole_if
from recframe.evaluation.required_columns import not_of_users
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import run_by_size
from recframe.frames.rows.joins import ExactSums, joined
from recframe.metrics.language.definition import Metric
from recframe.statistics.sums import (
    MODEL,
    OF_UNITS,
    PARTS,
    PLACE,
    SAME,
    USER,
    USERS,
    exactly_0,
    over_units,
)

REST, ALL = "rest ", "all "
"""Prefixes of the sums of all users outside of a segment, and of all users."""


@dataclass(frozen=True)
class Segmenting:
    """How segments are compared."""

    names: Mapping[str, str]
    """Own names of the columns, by internal name."""
    metrics: Mapping[int, Metric[...]]
    min_users: int
    level: float
    cluster: str | None
    """Column of clusters, within which users are correlated."""


def checks(inputs: Frames, call: str) -> Iterator[pl.LazyFrame]:
    """Give frames of one row that fail when the plan runs, if a column of rows puts a user into several segments."""
    for segment in inputs.segments:
        if segment.at not in {"rows", "truth"}:
            continue
        name = segment.inside
        frames = [inputs.truth] if segment.at == "truth" else [inputs.lists, inputs.truth]
        users = [
            frame.filter(pl.col("user").is_not_null()).select("user", name).unique()
            for frame in frames
            if frame is not None
        ]
        in_several = pl.len() > pl.col("user").n_unique()
        each = pl.concat(users, how="vertical_relaxed").unique()
        message = not_of_users(call, segment, inputs.units)
        yield each.select(check=fails_whole_if(in_several, message))


def segments_of(
    cells: pl.DataFrame, columns: Sequence[str], how: Segmenting, *, with_rest: bool = False
) -> pl.DataFrame:
    """Return each segment of some columns with its sums and users, by model and metric, those without a known value too.

    The columns come as text. `with_rest` has the sums of all other users and of all too, under the prefixes `REST` and `ALL`.
    """
    on = [*([MODEL] if MODEL in cells.columns else []), PLACE]
    keys, units = [*columns, *on], [] if how.cluster is None else [how.cluster]
    counts = [name for name in (*PARTS, USERS) if name in cells.columns]
    exact, plan = ExactSums({name: pl.col(name).cast(pl.Float64) for name in counts}), cells.lazy()
    each = exact.of(plan, [*keys, *units], SAME)
    rows = over_units(each, keys, how.cluster)
    if with_rest:
        own = each.select(*keys, *units, pl.col(*counts).name.prefix("own "))
        every = exact.of(plan, [*on, *units], SAME)
        parts = joined(joined(rows.select(keys), every, on, "inner"), own, [*keys, *units])
        rest = over_units(parts.with_columns(map(_less_own, counts)), keys, how.cluster)
        # over folds a user is a cluster, of which there is no variance within
        user = how.cluster if how.cluster == USER else None
        whole = over_units(every if user else exact.of(plan, on, SAME), on, user)
        for prefix, others, by in ((REST, rest, keys), (ALL, whole, on)):
            sums = pl.col(*dict.fromkeys([*counts, *OF_UNITS])).name.prefix(prefix)
            rows = joined(rows, others.select(*by, sums), by)
    found = run_by_size(rows.sort(*on, *columns, nulls_last=True), len(cells))
    texts = [as_text(pl.col(name), found.schema[name]).alias(name) for name in columns]
    # who count once over folds
    users = pl.col(USERS if USERS in counts else "n").cast(pl.Int64).alias(USERS)
    return found.with_columns(*texts, users)


def _less_own(name: str) -> pl.Expr:
    """Return a sum of all users less that of a segment, without what rounding leaves."""
    rest = pl.col(name) - pl.col(f"own {name}").fill_null(0.0)
    return exactly_0(rest, pl.col(name).abs()).alias(name)
