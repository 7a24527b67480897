"""Plan of user metrics: users' values, and their means by segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from recframe.evaluation.plan import Run
from recframe.evaluation.segments import (
    SQUARE,
    TOTAL,
    ZERO,
    N,
    columns_beside,
    keys_of,
    n_users_of_segments,
)
from recframe.evaluation.user_values import (
    UserValues,
    bounded_names,
    names_of,
    sums_of_values,
    values_of_users,
)
from recframe.frames.inputs import Inputs
from recframe.metrics.language.definition import Definition, Metric
from recframe.ranking import known
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged import Judged, judge

WITH_RELEVANT: Metric[...] = Metric(
    Definition(
        "with relevant",
        lambda at: (at.n_relevant > 0).cast(pl.Float64),
        range=(0.0, 1.0),
        linear=True,
    )
)
"""Internal metric: whether a user has a relevant item; the space in its name avoids collisions."""
WITH_LIST: Metric[...] = Metric(
    Definition(
        "with list",
        lambda at: pl.when(at.list_length > 0).then(1.0),
        range=(0.0, 1.0),
        linear=True,
    )
)
"""Internal metric: 1 for users with a list, null for others."""
By = dict[str, str]
"""Own names of key columns, by their names inside the plan."""


def evaluate(
    inputs: Inputs, metrics: Sequence[Metric[...]], run: Run, beside: Sequence[str] = ()
) -> pl.LazyFrame:
    """Return one row for each segment: the `by` columns, n_users, and a column for each metric.

    `beside` names what stands behind each metric.
    """
    judged = judge(inputs, run.models(inputs))
    by = keys_of(inputs, metrics)
    keys = list(by)
    if "user" in keys:
        each = values_of_users(judged, metrics, keys, run.ask, run.held).each()
        return _values(run.added([each], keys), by, metrics, beside)
    same = [f"empty {name}" for name in names_of(metrics)]
    sums = run.added([_sums(judged, metrics, keys, run, _spread(metrics, beside))], keys, same)
    return _means(judged, by, sums, metrics, beside)


def _spread(metrics: Sequence[Metric[...]], beside: Sequence[str]) -> list[str]:
    """Return the names of values whose squares and zeros are summed too."""
    return names_of(metrics) if SQUARE in beside else []


def means_of(
    values: UserValues, by: By, metrics: Sequence[Metric[...]], beside: Sequence[str]
) -> pl.LazyFrame:
    """Return the row of each segment from the values of its users."""
    return _means(values.judged, by, values.sums(_spread(metrics, beside)), metrics, beside)


def _values(
    each: pl.LazyFrame, by: By, metrics: Sequence[Metric[...]], beside: Sequence[str]
) -> pl.LazyFrame:
    """Return the users' values under their names."""
    columns: dict[str, pl.Expr] = {}
    for number, metric in enumerate(metrics):
        value = pl.col(f"value {number}")
        columns[str(metric)] = value
        columns |= columns_beside(metric, beside, {N: value.is_not_null().cast(pl.Int64)})
    return _named(each, by, columns)


def _sums(
    judged: Judged,
    metrics: Sequence[Metric[...]],
    keys: Sequence[str],
    run: Run,
    spread: Sequence[str],
) -> pl.LazyFrame:
    """Return one row per segment: keys, n_users, and the sums for means."""
    if metrics or judged.context.no_relevant == "skip":
        return values_of_users(judged, metrics, keys, run.ask, run.held).sums(spread)
    if run.ask is not None:
        judged = replace(judged, known=known.ask(judged, None, run.ask))
    support = after_checks(
        n_users_of_segments(judged, keys), judged, "n_users", pl.Int64, steep=False
    )
    return support.select(*keys, "n_users", n_present=pl.lit(0, dtype=pl.Int64))


def _means(
    judged: Judged,
    by: By,
    sums: pl.LazyFrame,
    metrics: Sequence[Metric[...]],
    beside: Sequence[str],
) -> pl.LazyFrame:
    """Return the means under their names: users without a row in the branches count with the value of an empty list."""
    skips = judged.context.no_relevant == "skip"
    n_users, n_present = pl.col("n_users"), pl.col("n_present").fill_null(0)
    sums = sums.with_columns(absent=0 if skips else n_users - n_present)
    sums = sums.with_columns(_with_absent(metrics, _spread(metrics, beside)))
    columns = {"n_users": n_present if skips else n_users}
    for number, metric in enumerate(metrics):
        value = f"value {number}"
        total, count = pl.col(f"sum {value}"), pl.col(f"count {value}")
        columns[str(metric)] = pl.when(count > 0).then(total / count)
        if beside:
            columns |= columns_beside(metric, beside, _beside(value))
    parts = [inside for inside in by if inside != "model"]
    if skips and parts:
        # whose lists have a relevant row differs from model to model, and a part of one is one of all
        by_model = judged.models is not None and judged.context.relevant_from == "list"
        sums = sums.filter((n_present.max().over(parts) if by_model else n_present) > 0)
    return _named(sums, by, columns)


def _with_absent(metrics: Sequence[Metric[...]], spread: Sequence[str]) -> list[pl.Expr]:
    """Return the sums and the counts of values with those of users who are absent from the branches, under their names."""
    absent, names = pl.col("absent"), names_of(metrics)
    exact = sums_of_values(names, bounded_names(metrics), spread=spread)
    columns = []
    for name in names:
        empty = pl.col(f"empty {name}")
        counted, summed = {"count": empty.is_not_null()}, {"sum": empty}
        if name in spread:
            counted["zero"] = (empty == 0).fill_null(value=False)
            summed["square"] = empty * empty
        for part, of_empty in counted.items():
            count = pl.col(f"{part} {name}").fill_null(0) + of_empty * absent
            columns.append(count.cast(pl.Int64).alias(f"{part} {name}"))
        for part, value in summed.items():
            total = exact.total(f"{part} {name}", (value, absent))
            columns.append(total.alias(f"{part} {name}"))
    return columns


def _named(rows: pl.LazyFrame, by: By, columns: dict[str, pl.Expr]) -> pl.LazyFrame:
    """Return a result with its final column names, sorted by the keys; these may equal internal names."""
    rows = rows.sort(list(by), nulls_last=True) if by else rows
    named = {name: pl.col(key) for key, name in by.items()} | columns
    return rows.select(column.alias(name) for name, column in named.items())


def _beside(value: str) -> dict[str, pl.Expr]:
    """Return a metric's extra columns, by suffix."""
    return {
        N: pl.col(f"count {value}"),
        TOTAL: pl.col(f"sum {value}"),
        SQUARE: pl.col(f"square {value}"),
        ZERO: pl.col(f"zero {value}"),
    }
