"""Plan of user metrics: users' values, and their means by segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    bounded_names,
    names_of,
    sums_of_values,
    values_of_users,
)
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import ExactSums
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
PARTS = {N: "count", TOTAL: "sum", SQUARE: "square", ZERO: "zero"}
"""Prefix of the column of each part behind a mean."""
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
    keys, names = list(by), names_of(metrics)
    if "user" in keys:
        each = values_of_users(judged, metrics, keys, run.ask, run.held).each()
        return _values(run.added([each], keys), by, metrics, beside)
    spread = names if SQUARE in beside else []
    if metrics or inputs.context.no_relevant == "skip":
        sums = values_of_users(judged, metrics, keys, run.ask, run.held).sums(spread)
    else:
        if run.ask is not None:
            judged = replace(judged, known=known.ask(judged, None, run.ask))
        support = n_users_of_segments(judged, keys)
        support = after_checks(support, judged, "n_users", pl.Int64, steep=False)
        sums = support.select(*keys, "n_users", n_present=pl.lit(0, dtype=pl.Int64))
    sums = run.added([sums], keys, [f"empty {name}" for name in names])
    exact = sums_of_values(names, bounded_names(metrics), spread=spread)
    return _means(judged, by, sums, dict(zip(names, metrics, strict=True)), beside, exact)


def _values(
    each: pl.LazyFrame, by: By, metrics: Sequence[Metric[...]], beside: Sequence[str]
) -> pl.LazyFrame:
    """Return the users' values under their names."""
    columns: dict[str, pl.Expr] = {}
    for name, metric in zip(names_of(metrics), metrics, strict=True):
        value = pl.col(name)
        columns[str(metric)] = value
        columns |= columns_beside(metric, beside, {N: value.is_not_null().cast(pl.Int64)})
    return _named(each, by, columns)


def _means(
    judged: Judged,
    by: By,
    sums: pl.LazyFrame,
    metrics: Mapping[str, Metric[...]],
    beside: Sequence[str],
    exact: ExactSums,
) -> pl.LazyFrame:
    """Return the means under their names: users without a row in the branches count with the value of an empty list."""
    skips = judged.context.no_relevant == "skip"
    n_users, n_present = pl.col("n_users"), pl.col("n_present").fill_null(0)
    sums = sums.with_columns(absent=0 if skips else n_users - n_present)
    sums = sums.with_columns(_with_absent([*metrics], exact, spreads=SQUARE in beside))
    columns = {"n_users": n_present if skips else n_users}
    for name, metric in metrics.items():
        parts = {part: pl.col(f"{word} {name}") for part, word in PARTS.items()}
        columns[str(metric)] = pl.when(parts[N] > 0).then(parts[TOTAL] / parts[N])
        columns |= columns_beside(metric, beside, parts) if beside else {}
    parts_of_rows = [key for key in by if key != "model"]
    if skips and parts_of_rows:
        # whose lists have a relevant row differs from model to model, and a part of one is one of all
        by_model = judged.models is not None and judged.context.relevant_from == "list"
        is_there = (n_present.max().over(parts_of_rows) if by_model else n_present) > 0
        sums = sums.filter(is_there)
    return _named(sums, by, columns)


def _with_absent(names: Sequence[str], exact: ExactSums, *, spreads: bool) -> list[pl.Expr]:
    """Return the sums and counts of values, with those of users who are absent from the branches."""
    absent, columns = pl.col("absent"), []
    for name in names:
        empty = pl.col(f"empty {name}")
        counted, summed = {"count": empty.is_not_null()}, {"sum": empty}
        if spreads:
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
