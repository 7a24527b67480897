"""Samples of users: from their values to the sums of their units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from recframe.evaluation import evaluation, trainings
from recframe.evaluation.evaluation import Convention, of_each_training, values_of_trainings
from recframe.evaluation.execution import Run
from recframe.evaluation.required_columns import is_of_segment
from recframe.evaluation.segments import TOTAL, name_beside, numbered
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import aggregate, in_long_form, joined
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.weighing import weights_of_hits
from recframe.statistics.groups import of_groups, without_groups
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import (
    BASELINE,
    MODEL,
    PLACE,
    USER,
    Pairing,
    by_metric,
    of_clusters,
    of_users,
    over_folds,
    wide_sums,
)

OF_HITS = "of hits"
"""Column of a note on the weights of hits."""


@dataclass(frozen=True)
class Sample:
    """Metrics of a call over its frames, and the unit that is independent."""

    inputs: Inputs
    conventions: Sequence[Convention]
    run: Run
    places: Mapping[int, Metric[...]]
    """Metrics by their places in the result, of which several may be of one metric."""
    cluster: str | None = None
    """Internal name of the column of clusters; over folds that of users, where no other is given."""
    over_trainings: bool = False
    """Whether trainings are a second sample, without rows of their own."""

    def with_values(
        self, *, of_sets: bool = False
    ) -> tuple[list[Convention], dict[int, Metric[...]]]:
        """Return the conventions and places of metrics that have values of users, or of those of a whole segment.

        Of rows that are seen in one round no metric is set apart, since the sums are those of `evaluate`.
        """
        found = [
            one
            for one in self.conventions
            if of_sets == (is_of_segment(one.metric) and not self.run.in_one_round)
        ]
        names = [str(one.metric) for one in found]
        return found, {place: one for place, one in self.places.items() if str(one) in names}


def sums_of(sample: Sample, pairing: Pairing | None) -> pl.LazyFrame:
    """Return one row for each segment, model, pair and metric: the keys, `PROPERTIES`, `PARTS` and `OF_UNITS`.

    Over trainings there are their number and variance, of the model and of the baseline.
    """
    inputs = sample.inputs
    if inputs.training and not sample.over_trainings:
        each = replace(
            sample,
            inputs=trainings.apart(inputs),
            conventions=of_each_training(sample.conventions),
        )
        return trainings.told_apart(sums_of(each, pairing), inputs)
    found, cluster = [], sample.cluster
    if sample.with_values()[0]:
        cells, keys = cells_of(sample, pairing)
        own = [*(key for key in keys if key not in inputs.units), PLACE]
        found.append(of_users(cells) if cluster is None else of_clusters(cells, own, cluster))
    sets, places = sample.with_values(of_sets=True)
    if sets:
        of_users_alone = cluster == USER
        rows, keys = without_groups(
            inputs, sets, sample.run, None if of_users_alone else cluster, pairing
        )
        rows = rows.cache()
        found += [of_groups(rows, keys, *one, pairing) for one in places.items()]
    sums = found[0] if len(found) == 1 else pl.concat(found, how="diagonal_relaxed")
    return _with_trainings(sums, sample, pairing) if sample.over_trainings else sums


def cells_of(sample: Sample, pairing: Pairing | None) -> tuple[pl.LazyFrame, list[str]]:
    """Return the sums of users' values in long form, of clusters apart where there are some, and the keys."""
    inputs, (of, places) = sample.inputs, sample.with_values()
    numbers = {str(one.metric): place for place, one in enumerate(of)}
    wide, keys = wide_sums(inputs, of, sample.run, pairing, sized=sample.cluster is not None)
    cells = by_metric(wide, keys, numbers, places)
    if inputs.folds is not None:
        own = [*(key for key in keys if key not in inputs.units), PLACE]
        cells = over_folds(cells, own, str(sample.cluster))
    return cells, keys


def _with_trainings(sums: pl.LazyFrame, sample: Sample, pairing: Pairing | None) -> pl.LazyFrame:
    """Return sums with the number and the variance of the trainings of both models."""
    inputs = sample.inputs
    units = {*inputs.units}
    segments = tuple(one for one in inputs.segments if one.inside not in units)
    whole = replace(inputs, segments=segments, units=())
    metrics = {str(one.metric): one.metric for one in sample.conventions}
    each = values_of_trainings(whole, sample.conventions, sample.run)
    wide = trainings.spread(each, whole, [*metrics.values()], {one: one for one in metrics})
    keys = [name for name in wide.collect_schema() if not name.startswith(OF_TRAININGS)]
    n, variance = OF_TRAININGS
    rows = [
        {
            PLACE: pl.lit(at, pl.Int64),
            n: pl.col(f"{n} {one}"),
            variance: pl.col(f"{variance} {one}"),
        }
        for at, one in sample.places.items()
    ]
    long = in_long_form(wide, keys, rows)
    sums = joined(sums, long, [*keys, PLACE])
    if pairing is None:
        return sums
    theirs = long.rename({MODEL: BASELINE, **{part: f"{BASELINE} {part}" for part in OF_TRAININGS}})
    keys = [BASELINE if key == MODEL else key for key in keys]
    return joined(sums, theirs, [*keys, PLACE])


def with_weights_of_hits(rows: pl.LazyFrame, sample: Sample, keys: Sequence[str]) -> pl.LazyFrame:
    """Return sums with a note where hits weigh as few effective ones, (Σ w)² / Σ w² of their weights w."""
    weighed = {place: of for place, one in sample.places.items() if (of := weights_of_hits(one))}
    if not weighed:
        return rows
    stated = {str(one.metric): one for one in sample.conventions}
    pairs = [(stated[str(sample.places[at])], one) for at in weighed for one in weighed[at]]
    conventions = [replace(convention, metric=one) for convention, one in pairs]
    wide = numbered(evaluation.evaluate(sample.inputs, conventions, sample.run, (TOTAL,)), keys)
    found = []
    for place, of_hits in weighed.items():
        n, weight, square = (pl.col(name_beside(TOTAL, one)).sum() for one in of_hits)
        effective = pl.when(square > 0).then(weight**2 / square)
        counts = (one.round().cast(pl.Int64) for one in (n, effective))
        told = pl.format("the {} hits weigh as {} alike", *counts)
        note = pl.when((effective < FEW) | (effective < n / 10)).then(told).alias(OF_HITS)
        found.append(aggregate(wide, keys, [note]).with_columns(pl.lit(place).alias(PLACE)))
    return joined(rows, pl.concat(found), [*keys, PLACE])
