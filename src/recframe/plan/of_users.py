"""Metrics over users: means of the users' values over each segment, or with the user as a key the values themselves."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.inputs import Inputs
from recframe.judging.data_checks import after_checks
from recframe.judging.judged_frame import Judged, judge
from recframe.judging.settled import with_users
from recframe.metrics.language.definition import Metric
from recframe.plan.runs import Run
from recframe.plan.segments import keys_of, n_users_of_segments
from recframe.plan.user_values import values_of_users

By = list[tuple[str, str]]
"""The key columns of a result, each by its name inside the plan and its own name."""


def evaluate(
    inputs: Inputs, metrics: Sequence[Metric[...]], run: Run, *, support: bool = False
) -> pl.LazyFrame:
    """Return one row for each segment: the `by` columns, n_users, and a column for each metric.

    `support` puts behind each metric the number of users that have a value of it.
    """
    parts = run.parts(inputs)
    # a part of the users may not show all of them
    models = judge(inputs).models if len(parts) > 1 else None
    judged = [judge(part, models) for part in parts]
    by = keys_of(inputs, metrics)
    keys = [inside for inside, _ in by]
    if "user" in keys:
        each = [values_of_users(part, metrics, keys, run.ask).each() for part in judged]
        return _values(run.added(each, keys), by, metrics, support=support)
    same = [f"empty value {number}" for number in range(len(metrics))]
    sums = run.added([_sums(part, metrics, keys, run.ask) for part in judged], keys, same)
    return _means(judged[0], by, sums, metrics, support=support)


def support_of(metric: Metric[...]) -> str:
    """Return the name of the column of how many users or lists a metric was averaged over."""
    return f"n {metric}"


def _values(
    each: pl.LazyFrame, by: By, metrics: Sequence[Metric[...]], *, support: bool
) -> pl.LazyFrame:
    """Return the users' values under their names."""
    columns: dict[str, pl.Expr] = {}
    for number, metric in enumerate(metrics):
        value = pl.col(f"value {number}")
        columns[str(metric)] = value
        columns |= {support_of(metric): value.is_not_null().cast(pl.Int64)} if support else {}
    return _named(each, by, columns)


def _sums(
    judged: Judged, metrics: Sequence[Metric[...]], keys: Sequence[str], ask: Ask | None
) -> pl.LazyFrame:
    """Return one row for each segment: the keys, n_users, and what the means are made of."""
    if metrics or judged.context.no_relevant == "skip":
        return values_of_users(judged, metrics, keys, ask).sums()
    judged = judged if ask is None else with_users(judged, ask)
    support = after_checks(
        n_users_of_segments(judged, keys), judged, "n_users", pl.Int64, steep=False
    )
    return support.select(*keys, "n_users", n_present=pl.lit(0, dtype=pl.Int64))


def _means(
    judged: Judged, by: By, sums: pl.LazyFrame, metrics: Sequence[Metric[...]], *, support: bool
) -> pl.LazyFrame:
    """Return the means under their names: users without a row in the branches count with the value of an empty list."""
    skips = judged.context.no_relevant == "skip"
    present = pl.col("n_present").cast(pl.Int64).fill_null(0)
    n_users = present if skips else pl.col("n_users")
    absent = n_users - present
    columns = {"n_users": n_users}
    for number, metric in enumerate(metrics):
        columns[str(metric)] = _mean(f"value {number}", absent)
        columns |= {support_of(metric): _count(f"value {number}", absent)} if support else {}
    if skips and {inside for inside, _ in by} - {"model"}:
        sums = sums.filter(present > 0)
    return _named(sums, by, columns)


def _named(rows: pl.LazyFrame, by: By, columns: dict[str, pl.Expr]) -> pl.LazyFrame:
    """Return a result's columns under their names, which may be those of columns inside; rows sorted by the keys."""
    inside = [key for key, _ in by]
    rows = rows.select(
        *inside,
        *(column.alias(f"column {number}") for number, column in enumerate(columns.values())),
    )
    rows = rows.sort(inside, nulls_last=True) if inside else rows
    return rows.select(
        *(pl.col(key).alias(name) for key, name in by),
        *(pl.col(f"column {number}").alias(name) for number, name in enumerate(columns)),
    )


def _mean(value: str, absent: pl.Expr) -> pl.Expr:
    """Return the mean over the users with a value, of whom those absent from the branches have that of an empty list."""
    empty = pl.col(f"empty {value}")
    total = pl.col(f"sum {value}").fill_null(0) + empty.fill_null(0) * absent
    count = _count(value, absent)
    return pl.when(count > 0).then(total / count)


def _count(value: str, absent: pl.Expr) -> pl.Expr:
    """Return the number of users with a value."""
    empty = pl.col(f"empty {value}")
    return (
        pl.col(f"count {value}").cast(pl.Int64).fill_null(0) + empty.is_not_null() * absent
    ).cast(pl.Int64)
