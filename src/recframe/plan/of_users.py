"""The plan of metrics over users: a value of each list, summed up over the segments, as means."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import aggregate
from recframe.judging.judged_frame import Judged, after_checks, judge
from recframe.judging.settled import with_users
from recframe.metrics.language.definition import Metric
from recframe.plan.branches import rows_of_branches
from recframe.plan.recorder import Recorder
from recframe.plan.runs import Run
from recframe.plan.segments import deepest_of, keys_of, users_of_segments, with_attributes
from recframe.plan.values import check_shapes, is_counted, no_rows, settled_for, values_of_lists


def evaluate(inputs: Inputs, metrics: Sequence[Metric[...]], run: Run, *, support: bool = False) -> pl.LazyFrame:
    """Return one row for each segment: the `by` columns, n_users, and a column for each metric.

    `support` puts behind each metric the number of users that have a value of it.
    """
    parts = run.parts(inputs)
    models = judge(inputs).models if len(parts) > 1 else None  # a part of the users may not show all of them
    judged = [judge(part, models) for part in parts]
    by = keys_of(inputs, metrics)
    same = [f"empty value {number}" for number in range(len(metrics))]
    sums = run.added([_sums(one, metrics, run.ask) for one in judged], [inside for inside, _ in by], same)
    return _result(judged[0], by, sums, metrics, support=support)


def _sums(judged: Judged, metrics: Sequence[Metric[...]], ask: Ask | None = None) -> pl.LazyFrame:
    """Return one row for each segment: the keys, n_users, and what the means are made of."""
    keys = [inside for inside, _ in keys_of(judged.inputs, metrics)]
    if not metrics and judged.context.no_relevant != "skip":
        return _users_alone(judged if ask is None else with_users(judged, ask), keys)
    words = Recorder()
    deepest = deepest_of(metrics)
    values = values_of_lists(metrics, words, deepest, judged)
    counted = is_counted(words, judged.context.no_relevant)
    if ask is not None:
        judged = settled_for(judged, words, deepest, ask)
    rows = rows_of_branches(judged, words, deepest)  # the branches that the words above have asked for
    lists = rows.group_by(judged.list_keys).agg(*values.values(), counted=counted)
    check_shapes(lists, metrics)
    lists = lists.filter("counted")
    if set(keys) - {"model"}:
        lists = with_attributes(judged.named(lists), judged.inputs)
    sums = [pl.col(name).sum().alias(f"sum {name}") for name in values]
    counts = [pl.col(name).count().alias(f"count {name}") for name in values]
    per_segment = aggregate(lists, keys, [pl.len().alias("n_present"), *sums, *counts])
    asked = {name for value in values.values() for name in value.meta.root_names()}
    empty = no_rows(frozenset(asked)).select(value.alias(f"empty {name}") for name, value in values.items())
    joined = users_of_segments(judged, keys)
    if keys:
        joined = joined.join(per_segment, on=keys, how="left", nulls_equal=True)
        joined = joined.join(empty, how="cross") if values else joined  # a frame without columns has no row
    else:
        joined = pl.concat([joined, per_segment, empty], how="horizontal")
    joined = after_checks(joined, judged, "n_users", pl.Int64, steep="steepness" in words.asked)
    kept = [f"{part} {name}" for part in ("sum", "count", "empty") for name in values]
    return joined.select(*keys, "n_users", pl.col("n_present").cast(pl.Int64), *kept)


def _users_alone(judged: Judged, keys: Sequence[str]) -> pl.LazyFrame:
    """Return n_users of each segment, where no metric over users was asked."""
    support = after_checks(users_of_segments(judged, keys), judged, "n_users", pl.Int64, steep=False)
    return support.select(*keys, "n_users", n_present=pl.lit(0, dtype=pl.Int64))


def _result(
    judged: Judged, by: list[tuple[str, str]], sums: pl.LazyFrame, metrics: Sequence[Metric[...]], *, support: bool
) -> pl.LazyFrame:
    """Return the means under their names: users without a row in the branches count with the value of an empty list."""
    context = judged.context
    present = pl.col("n_present").cast(pl.Int64).fill_null(0)
    n_users = present if context.no_relevant == "skip" else pl.col("n_users")
    absent = n_users - present
    inside = [key for key, _ in by]
    columns: dict[str, pl.Expr] = {}
    for number, metric in enumerate(metrics):
        columns[str(metric)] = _mean(f"value {number}", absent)
        columns |= {support_of(metric): _count(f"value {number}", absent)} if support else {}
    numbered = [column.alias(f"column {number}") for number, column in enumerate(columns.values())]
    result = sums.select(*inside, n_users.alias("n_users"), *numbered)
    if inside:
        result = result.sort(inside, nulls_last=True)
    if context.no_relevant == "skip" and set(inside) - {"model"}:
        result = result.filter(pl.col("n_users") > 0)
    n_users_shown = [] if "user" in inside else [pl.col("n_users")]
    return result.select(
        *(pl.col(key).alias(name) for key, name in by),
        *n_users_shown,
        *(pl.col(f"column {number}").alias(name) for number, name in enumerate(columns)),
    )


def support_of(metric: Metric[...]) -> str:
    """Return the name of the column of how many users or lists a metric was averaged over."""
    return f"n {metric}"


def _mean(value: str, absent: pl.Expr) -> pl.Expr:
    """Return the mean over the users with a value, of whom those absent from the branches have that of an empty list."""
    empty = pl.col(f"empty {value}")
    total = pl.col(f"sum {value}").fill_null(0) + empty.fill_null(0) * absent
    count = _count(value, absent)
    return pl.when(count > 0).then(total / count)


def _count(value: str, absent: pl.Expr) -> pl.Expr:
    """Return the number of users with a value."""
    empty = pl.col(f"empty {value}")
    return (pl.col(f"count {value}").cast(pl.Int64).fill_null(0) + empty.is_not_null() * absent).cast(pl.Int64)
