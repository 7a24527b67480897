"""Users and trainings as two samples: variances of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import polars as pl

from recframe.evaluation import trainings
from recframe.evaluation.contributions import Contributions, contributions, of_sets
from recframe.evaluation.evaluation import (
    Convention,
    evaluate,
    of_each_training,
    values_of_trainings,
)
from recframe.evaluation.execution import Run
from recframe.evaluation.folds import added
from recframe.evaluation.jackknife import sums_of_contributions
from recframe.evaluation.metrics_of_users import means_of
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.segments import (
    FOURTH,
    SPREAD,
    SQUARE,
    TOTAL,
    ZERO,
    N,
    keys_of,
    name_beside,
    numbered,
)
from recframe.evaluation.trainings import PARTS
from recframe.evaluation.user_values import UserValues, bounded_names, sums_of_values
from recframe.frames.inputs import GROUP, Inputs
from recframe.frames.rows.joins import joined
from recframe.metrics.language.definition import Metric
from recframe.statistics import over_folds, summary
from recframe.statistics.pairs import BASELINE, MODEL, PLACE

PARTS_OF_SUMS = (N, TOTAL, SQUARE, ZERO)


def spread_of_each(
    inputs: Inputs, conventions: Sequence[Convention], run: Run
) -> tuple[pl.LazyFrame, list[str]]:
    """Return the sums for each training's interval, of its users alone, and their keys; see `Question.spread`."""
    metrics = [convention.metric for convention in conventions]
    each, conventions = trainings.apart(inputs), of_each_training(conventions)
    inside = [*keys_of(each, metrics)]
    wide = numbered(evaluate(each, conventions, run, SPREAD), inside)
    wide = trainings.told_apart(with_spread_of_sets(wide, inside, each, conventions, run), inputs)
    keys = [*keys_of(inputs, metrics)]
    return wide.sort(keys, nulls_last=True), keys


def spread_of_users(
    inputs: Inputs,
    conventions: Sequence[Convention],
    run: Run,
    cluster: str | None,
    places: Mapping[int, Metric[...]],
) -> pl.LazyFrame:
    """Return values with their errors in long form, of users' values over all folds, and of means over trainings.

    Where trainings are bound the variance between them stands beside.
    """
    metrics = [convention.metric for convention in conventions]
    whole = without(inputs)
    keys = [*keys_of(whole, metrics)]
    values = numbered(evaluate(whole, conventions, run, (N,)), keys)
    if inputs.training:
        apart = between(whole, conventions, run, {str(metric): str(metric) for metric in metrics})
        values = joined(values, apart, keys)
    rows = summary.by_metric(values, keys, places)
    inside = [*keys_of(inputs, metrics)]
    sums = sums_of_users(contributions(inputs, conventions, run), inside)
    if inputs.folds is None:
        users = summary.rows_of_units(sums, inside, places, cluster)
    else:
        users = over_folds.rows_of_users(sums, inside, places, [*keys, PLACE], str(cluster))
    of_users = {*users.collect_schema()} - {*rows.collect_schema()}
    users = users.select(*keys, PLACE, *sorted(of_users), *summary.SUMS)
    rows = joined(rows.drop(summary.SUMS), users, [*keys, PLACE])
    rows = summary.over_trainings(rows) if inputs.training else rows
    return rows.sort([*keys, PLACE], nulls_last=True)


def without(inputs: Inputs) -> Inputs:
    """Return inputs without the segments of clusters."""
    units = {*inputs.units} - {GROUP}
    segments = tuple(segment for segment in inputs.segments if segment.inside not in units)
    return replace(inputs, segments=segments, units=()) if units else inputs


def between(
    inputs: Inputs, conventions: Sequence[Convention], run: Run, names: Mapping[str, str]
) -> pl.LazyFrame:
    """Return the variance between trainings: keys, and `PARTS` per metric, by what `names` has for its string."""
    metrics = [convention.metric for convention in conventions]
    each = values_of_trainings(inputs, conventions, run)
    return trainings.spread(each, inputs, metrics, names)


def with_trainings(
    sums: pl.LazyFrame,
    keys: Sequence[str],
    inputs: Inputs,
    conventions: Sequence[Convention],
    run: Run,
) -> pl.LazyFrame:
    """Return sums over pairs of models, with both models' variance between trainings."""
    places = {str(one.metric): str(place) for place, one in enumerate(conventions)}
    apart = between(inputs, conventions, run, places)
    names = [f"{part} {place}" for place in places.values() for part in PARTS]
    theirs = apart.rename({MODEL: BASELINE, **{name: f"{BASELINE} {name}" for name in names}})
    return joined(joined(sums, apart, [*keys, MODEL]), theirs, [*keys, BASELINE])


def sums_of_users(plans: Sequence[Sequence[Contributions]], keys: Sequence[str]) -> pl.LazyFrame:
    """Return the extra sums of all metrics, of all folds together, joined over plans."""
    found = [
        sums_of_sets(parts)
        if parts[0].placed is not None
        else added([*map(_sums_of_each, parts)], keys)
        for parts in plans
    ]
    return reduce(lambda first, other: joined(first, other, keys, "full"), found)


def _sums_of_each(one: Contributions) -> pl.LazyFrame:
    """Return the sums of users' values, where they count of those without a row too, for each segment and model."""
    if not one.counts_absent:
        return _sums_of_rows(one)
    values = UserValues(
        judged=one.judged,
        keys=one.keys,
        names=one.names,
        present=one.rows,
        empty=one.empty,
        steep=False,
        aligned=one.aligned,
        bounded=bounded_names(one.metrics),
    )
    sums = means_of(values, {key: key for key in one.keys}, one.metrics, PARTS_OF_SUMS)
    return sums.drop("n_users", *map(str, one.metrics))


def _sums_of_rows(one: Contributions) -> pl.LazyFrame:
    """Return the same of the lists or users that have a row, such as lists of users who are not in the truth."""
    exact = sums_of_values(one.names, bounded_names(one.metrics), spread=one.names)
    counts: list[pl.Expr] = []
    columns: dict[str, pl.Expr] = {}
    for name, metric in zip(one.names, one.metrics, strict=True):
        value = pl.col(name)
        found = {N: value.count(), ZERO: (value == 0).sum()}
        named = {name_beside(part, metric): of.cast(pl.Int64) for part, of in found.items()}
        counts += [of.alias(column) for column, of in named.items()]
        sums = {TOTAL: f"sum {name}", SQUARE: f"square {name}"}
        columns |= {name_beside(part, metric): pl.col(of) for part, of in sums.items()}
        columns |= {column: pl.col(column) for column in named}
    return exact.of(one.described(one.rows), one.keys, counts).select(*one.keys, **columns)


def with_spread_of_sets(
    wide: pl.LazyFrame, keys: Sequence[str], inputs: Inputs, asked: Sequence[Convention], run: Run
) -> pl.LazyFrame:
    """Return the metrics of each segment, with sums of contributions to set metrics.

    Those of metrics over lists stand there already, unless there are sums of clusters, which are no segments of them.
    """
    if run.in_one_round:
        return wide
    rest = [convention for convention in asked if inputs.units or needs_of(convention.metric).means]
    plans = of_sets(inputs, rest, run)
    for plan in plans:
        parts = (N, TOTAL, SQUARE, FOURTH)
        names = [name_beside(part, metric) for metric in plan.metrics for part in parts]
        wide = joined(wide.drop(names), sums_of_sets([plan]), keys)
    return wide.sort(keys, nulls_last=True) if plans and keys else wide


def sums_of_sets(parts: Sequence[Contributions]) -> pl.LazyFrame:
    """Return the sums per segment, or per cluster with the whole segment's fourth powers; of all folds together."""
    one, *_ = parts
    placed, names = list(one.placed or ()), [str(metric) for metric in one.metrics]
    if placed == one.keys:
        return sums_of_contributions(one.rows, placed, names)
    fourth = [sums_of_contributions(part.rows, placed, names, (FOURTH,)) for part in parts]
    of_clusters = [
        sums_of_contributions(part.described(part.rows), one.keys, names, (N, TOTAL, SQUARE))
        for part in parts
    ]
    return joined(added(of_clusters, one.keys), added(fourth, placed), placed)
