"""Users and trainings as two samples: variances of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import polars as pl

from recframe.errors import RecframeError
from recframe.evaluation import trainings
from recframe.evaluation.contributions import Contributions, contributions, of_sets
from recframe.evaluation.evaluation import (
    Convention,
    evaluate,
    of_each_training,
    values_of_trainings,
)
from recframe.evaluation.execution import Run
from recframe.evaluation.jackknife import sums_of_contributions
from recframe.evaluation.metrics_of_users import means_of
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.segments import (
    FOURTH,
    SPREAD,
    SQUARE,
    TOTAL,
    UNDEFINED,
    WITHOUT_RELEVANT,
    ZERO,
    N,
    keys_of,
    name_beside,
    numbered,
)
from recframe.evaluation.trainings import PARTS
from recframe.evaluation.user_values import UserValues, bounded_names
from recframe.frames.hints import Given
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import joined
from recframe.metrics.language.definition import Metric
from recframe.statistics import summary
from recframe.statistics.pairs import BASELINE, MODEL, PLACE


def refuse(inputs: Inputs, what: str, instead: str) -> None:
    """Reject requests that have no answer over trainings, with the alternative."""
    if inputs.training:
        bound = Given("training", inputs.context.training)
        msg = f"{what} is over users alone, but {bound} adds trainings; {instead}"
        raise RecframeError(msg)


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


def spread_over_trainings(
    inputs: Inputs,
    conventions: Sequence[Convention],
    run: Run,
    cluster: str | None,
    places: Mapping[int, Metric[...]],
) -> pl.LazyFrame:
    """Return values with their errors in long form: users' means over trainings, and the variance between trainings."""
    metrics = [convention.metric for convention in conventions]
    whole = without(inputs, cluster)
    keys = [*keys_of(whole, metrics)]
    values = numbered(evaluate(whole, conventions, run, (N, WITHOUT_RELEVANT)), keys)
    apart = between(whole, conventions, run, {str(metric): str(metric) for metric in metrics})
    rows = summary.by_metric(joined(values, apart, keys), keys, places)
    inside = [*keys_of(inputs, metrics)]
    sums = _sums_of_users(contributions(inputs, conventions, run), inside)
    users = summary.rows_of_units(sums, inside, places, cluster)
    of_users = {*users.collect_schema()} - {*rows.collect_schema()}
    counted = [name for name in summary.SUMS if name != "n_without_relevant"]
    users = users.select(*keys, PLACE, *sorted(of_users), *counted)
    rows = joined(rows.drop(counted), users, [*keys, PLACE])
    return summary.over_trainings(rows).sort([*keys, PLACE], nulls_last=True)


def without(inputs: Inputs, inside: str | None) -> Inputs:
    """Return inputs without the segment of clusters, if there is one."""
    segments = tuple(segment for segment in inputs.segments if segment.inside != inside)
    return inputs if inside is None else replace(inputs, segments=segments, units=())


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


def _sums_of_users(plans: Sequence[Sequence[Contributions]], keys: Sequence[str]) -> pl.LazyFrame:
    """Return the extra sums of all metrics, joined over plans."""
    found = [
        sums_of_sets(one) if one.placed is not None else _sums_of_each(one) for (one, *_) in plans
    ]
    return reduce(lambda first, other: joined(first, other, keys, "full"), found)


def _sums_of_each(one: Contributions) -> pl.LazyFrame:
    """Return the sums of users' values, of those without a row too, for each segment and model."""
    judged = one.judged
    if not one.counts_absent:
        context = judged.context.having(no_relevant="skip")
        judged = replace(judged, inputs=replace(judged.inputs, context=context))
    values = UserValues(
        judged=judged,
        keys=one.keys,
        names=one.names,
        present=one.rows,
        empty=one.empty,
        steep=False,
        aligned=one.aligned,
        bounded=bounded_names(one.metrics),
    )
    parts = (N, TOTAL, SQUARE, ZERO, UNDEFINED)
    sums = means_of(values, {key: key for key in one.keys}, one.metrics, parts)
    return sums.drop("n_users", *map(str, one.metrics))


def with_spread_of_sets(
    wide: pl.LazyFrame, keys: Sequence[str], inputs: Inputs, asked: Sequence[Convention], run: Run
) -> pl.LazyFrame:
    """Return the metrics of each segment, with sums of contributions to set metrics.

    Those of metrics over lists stand there already, unless there are sums of clusters, which are no segments of them.
    """
    rest = [convention for convention in asked if inputs.units or needs_of(convention.metric).means]
    plans = of_sets(inputs, rest, run)
    for plan in plans:
        parts = (N, TOTAL, SQUARE, FOURTH)
        names = [name_beside(part, metric) for metric in plan.metrics for part in parts]
        wide = joined(wide.drop(names), sums_of_sets(plan), keys)
    return wide.sort(keys, nulls_last=True) if plans and keys else wide


def sums_of_sets(one: Contributions) -> pl.LazyFrame:
    """Return the sums per segment, or per cluster with the whole segment's fourth powers."""
    placed, names = list(one.placed or ()), [str(metric) for metric in one.metrics]
    if placed == one.keys:
        return sums_of_contributions(one.rows, placed, names)
    rows = one.described(one.rows)
    of_clusters = sums_of_contributions(rows, one.keys, names, (N, TOTAL, SQUARE))
    return joined(of_clusters, sums_of_contributions(one.rows, placed, names, (FOURTH,)), placed)
