"""Samples of users: from their values to the sums of their units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from recframe.evaluation import evaluation, trainings
from recframe.evaluation.evaluation import of_each_training, values_of_trainings
from recframe.evaluation.required_columns import (
    TOTAL,
    is_of_segment,
    keys_of,
    name_beside,
    numbered,
)
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.evaluation.trainings import TRAINING
from recframe.frames.rows.joins import aggregate, in_long_form, joined
from recframe.metrics.language.weighing import weights_of_hits
from recframe.statistics.groups import of_groups
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import (
    BASELINE,
    MODEL,
    PLACE,
    USER,
    Sample,
    cells_of,
    over_units,
)

OF_HITS = "of hits"
"""Column of a note on the weights of hits."""


def sums_of(sample: Sample) -> pl.LazyFrame:
    """Return one row for each segment, model, pair and metric: the keys, `PLACE`, `PARTS` and `OF_UNITS`.

    Over trainings there are their number and variance, of the model and of the baseline.
    """
    inputs, cluster = sample.inputs, sample.cluster
    if inputs.training and not sample.over_trainings:
        conventions = of_each_training(sample.conventions)
        each = replace(sample, inputs=trainings.apart(inputs), conventions=conventions)
        return trainings.told_apart(sums_of(each), inputs)
    found: list[pl.LazyFrame] = []
    of_users, sets = sample.of(lambda one: not is_of_segment(one)), sample.of(is_of_segment)
    if of_users.places:
        rows, keys = cells_of(of_users)
        found.append(over_units(rows, keys, cluster))
    if sets.places:
        unit = None if cluster == USER else cluster
        found.append(of_groups(replace(sets, cluster=unit)))
    sums = pl.concat(found, how="diagonal_relaxed")
    return _with_trainings(sums, sample) if sample.over_trainings else sums


def _with_trainings(sums: pl.LazyFrame, sample: Sample) -> pl.LazyFrame:
    """Return sums with the number and the variance of the trainings of both models."""
    whole, metrics = sample.whole, [one.metric for one in sample.conventions]
    each = values_of_trainings(whole, sample.conventions, sample.run)
    rows, keys = trainings.rows_of_trainings(each, whole, metrics), [*keys_of(whole, metrics)]
    values = [
        {PLACE: pl.lit(at, pl.Int64), "value": pl.col(str(one))}
        for at, one in sample.places.items()
    ]
    # a model that has no name of a training is fixed
    value, is_named = pl.col("value"), pl.col(TRAINING).is_not_null().any()
    n, (n_trainings, spread) = (value.count() * is_named).cast(pl.Int64), OF_TRAININGS
    columns = [n.alias(n_trainings), pl.when(n > 1).then(value.var()).alias(spread)]
    long = in_long_form(rows, [*keys, TRAINING], values)
    long = aggregate(long, [*keys, PLACE], columns)
    sums = joined(sums, long, [*keys, PLACE])
    if sample.pairing is None:
        return sums
    theirs = {MODEL: BASELINE, **{part: f"{BASELINE} {part}" for part in OF_TRAININGS}}
    keys = [BASELINE if key == MODEL else key for key in keys]
    return joined(sums, long.rename(theirs), [*keys, PLACE])


def with_weights_of_hits(rows: pl.LazyFrame, sample: Sample, keys: Sequence[str]) -> pl.LazyFrame:
    """Return sums with a note where hits weigh as few effective ones, (Σ w)² / Σ w² of their weights w."""
    stated = {str(one.metric): one for one in sample.conventions}
    conventions, notes = [], []
    for place, metric in sample.places.items():
        if of_hits := weights_of_hits(metric):
            conventions += [replace(stated[str(metric)], metric=one) for one in of_hits]
            n, weight, square = (pl.col(name_beside(TOTAL, one)) for one in of_hits)
            effective = pl.when(square > 0).then(weight**2 / square)
            counts = (one.round().cast(pl.Int64) for one in (n, effective))
            note = pl.format("the {} hits weigh as {} alike", *counts)
            is_few = (effective < FEW) | (effective < n / 10)
            notes.append({PLACE: pl.lit(place, pl.Int64), OF_HITS: pl.when(is_few).then(note)})
    if not notes:
        return rows
    wide = numbered(evaluation.evaluate(sample.whole, conventions, sample.run, (TOTAL,)), keys)
    return joined(rows, in_long_form(wide, keys, notes), [*keys, PLACE])
