"""Users and trainings as two samples: variances of both."""

from __future__ import annotations

from collections.abc import Sequence
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
from recframe.statistics.pairs import BASELINE, MODEL
from recframe.statistics.summary import ERROR, FREEDOM, N_TRAININGS, OWN_FREEDOM, STD_TRAININGS


def refuse(inputs: Inputs, what: str, instead: str) -> None:
    """Reject requests that have no answer over trainings, with the alternative."""
    if inputs.training:
        bound = Given("training", inputs.context.training)
        msg = f"{what} is of users alone, and {bound} says that trainings differ too; {instead}"
        raise RecframeError(msg)


def spread_of_each(
    inputs: Inputs, conventions: Sequence[Convention], run: Run, cluster: str | None
) -> pl.LazyFrame:
    """Return the sums for each training's interval, of its users alone; see `Question.spread`."""
    metrics = [one.metric for one in conventions]
    each, conventions = trainings.apart(inputs), of_each_training(conventions)
    inside = [*keys_of(each, metrics)]
    wide = numbered(evaluate(each, conventions, run, SPREAD), inside)
    wide = trainings.told_apart(with_spread_of_sets(wide, inside, each, conventions, run), inputs)
    keys = [*keys_of(inputs, metrics)]
    wide = wide.sort(keys, nulls_last=True)
    return wide if cluster is None else summary.of_clusters(wide, keys, metrics)


def spread_over_trainings(
    inputs: Inputs, conventions: Sequence[Convention], run: Run, cluster: str | None
) -> pl.LazyFrame:
    """Return values with the sums for their intervals: users' means over trainings, and variance between trainings."""
    metrics = [one.metric for one in conventions]
    whole = without(inputs, cluster)
    keys = [*keys_of(whole, metrics)]
    values = numbered(evaluate(whole, conventions, run, (N, WITHOUT_RELEVANT)), keys)
    values = values.drop(name_beside(N, one) for one in metrics)
    inside = [*keys_of(inputs, metrics)]
    users = _sums_of_users(contributions(inputs, conventions, run), inside)
    if cluster is not None:
        users = summary.of_clusters(users, inside, metrics).drop(map(str, metrics))
    users = users.drop(name_beside(WITHOUT_RELEVANT, one) for one in metrics)
    wide = joined(joined(values, users, keys), between(whole, conventions, run), keys)
    wide = wide.with_columns(column for one in metrics for column in _of_users(one, cluster))
    wide = wide.with_columns(
        column for place, one in enumerate(metrics) for column in _over_both(one, place)
    )
    return wide.sort(keys, nulls_last=True) if keys else wide


def without(inputs: Inputs, inside: str | None) -> Inputs:
    """Return inputs without the segment of clusters, if there is one."""
    segments = tuple(one for one in inputs.segments if one.inside != inside)
    return inputs if inside is None else replace(inputs, segments=segments, units=())


def between(inputs: Inputs, conventions: Sequence[Convention], run: Run) -> pl.LazyFrame:
    """Return the variance between trainings: keys, and `PARTS` per metric, by its place."""
    metrics = [one.metric for one in conventions]
    each = values_of_trainings(inputs, conventions, run)
    places = {str(metric): str(place) for place, metric in enumerate(metrics)}
    return trainings.spread(each, inputs, metrics, places)


def with_trainings(
    sums: pl.LazyFrame, keys: Sequence[str], apart: pl.LazyFrame, n_metrics: int
) -> pl.LazyFrame:
    """Return sums over pairs of models, with both models' variance between trainings."""
    names = [f"{part} {place}" for place in range(n_metrics) for part in PARTS]
    theirs = apart.rename({MODEL: BASELINE, **{name: f"{BASELINE} {name}" for name in names}})
    return joined(joined(sums, apart, [*keys, MODEL]), theirs, [*keys, BASELINE])


def _sums_of_users(plans: Sequence[Sequence[Contributions]], keys: Sequence[str]) -> pl.LazyFrame:
    """Return the extra sums of all metrics, joined over plans."""
    found = [
        sums_of_sets(one) if one.placed is not None else _sums_of_each(one) for (one, *_) in plans
    ]
    sums = reduce(lambda first, other: joined(first, other, keys, "full"), found)
    metrics = [metric for (one, *_) in plans for metric in one.metrics]
    names = [name_beside(part, metric) for metric in metrics for part in SPREAD]
    there = sums.collect_schema().names()
    missing = (pl.lit(None, pl.Float64).alias(name) for name in names if name not in there)
    return sums.with_columns(missing)


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


def _of_users(metric: Metric[...], cluster: str | None) -> list[pl.Expr]:
    """Return the squared error of users, or of clusters, and its degrees of freedom."""
    n, total, square = (
        pl.col(name_beside(part, metric)).cast(pl.Float64) for part in (N, TOTAL, SQUARE)
    )
    own = {ERROR: summary.variance(n, total, square) / n, FREEDOM: n - 1.0}
    known = own if cluster is None else {part: pl.col(name_beside(part, metric)) for part in own}
    return [
        known[ERROR].alias(name_beside(ERROR, metric)),
        known[FREEDOM].alias(name_beside(OWN_FREEDOM, metric)),
    ]


def _over_both(metric: Metric[...], place: int) -> list[pl.Expr]:
    """Return the squared error of users and trainings together, with Satterthwaite's degrees of freedom."""
    n, apart = (pl.col(f"{part} {place}") for part in PARTS)
    users, freedom = (pl.col(name_beside(part, metric)) for part in (ERROR, OWN_FREEDOM))
    both, of_both = summary.over_trainings(users, freedom, n, apart)
    return [
        both.alias(name_beside(ERROR, metric)),
        of_both.alias(name_beside(FREEDOM, metric)),
        n.alias(name_beside(N_TRAININGS, metric)),
        apart.sqrt().alias(name_beside(STD_TRAININGS, metric)),
    ]


def with_spread_of_sets(
    wide: pl.LazyFrame, keys: Sequence[str], inputs: Inputs, asked: Sequence[Convention], run: Run
) -> pl.LazyFrame:
    """Return the metrics of each segment, with sums of contributions to set metrics.

    Those of metrics over lists stand there already, unless there are sums of clusters, which are no segments of them.
    """
    rest = [one for one in asked if inputs.units or needs_of(one.metric).means]
    plans = of_sets(inputs, rest, run)
    for one in plans:
        parts = (N, TOTAL, SQUARE, FOURTH)
        names = [name_beside(part, metric) for metric in one.metrics for part in parts]
        wide = joined(wide.drop(names), sums_of_sets(one), keys)
    return wide.sort(keys, nulls_last=True) if plans and keys else wide


def sums_of_sets(one: Contributions) -> pl.LazyFrame:
    """Return the sums per segment, or per cluster with the whole segment's fourth powers."""
    placed, names = list(one.placed or ()), [str(metric) for metric in one.metrics]
    if placed == one.keys:
        return sums_of_contributions(one.rows, placed, names)
    rows = one.described(one.rows)
    of_clusters = sums_of_contributions(rows, one.keys, names, (N, TOTAL, SQUARE))
    return joined(of_clusters, sums_of_contributions(one.rows, placed, names, (FOURTH,)), placed)
