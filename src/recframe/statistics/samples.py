"""Samples of users: from their values to the sums of their units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from recframe.evaluation import evaluation, trainings
from recframe.evaluation.evaluation import of_each_training, values_of_trainings
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import (
    TOTAL,
    Convention,
    is_of_segment,
    name_beside,
    numbered,
)
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.frames.inputs import Frames
from recframe.frames.rows.joins import in_long_form, joined
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.weighing import weights_of_hits
from recframe.statistics.groups import of_groups
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import (
    BASELINE,
    MODEL,
    PLACE,
    USER,
    Pairing,
    cells,
    over_folds,
    over_units,
)

OF_HITS = "of hits"
"""Column of a note on the weights of hits."""


@dataclass(frozen=True)
class Sample:
    """Metrics of a call over its frames, and the unit that is independent."""

    inputs: Frames
    conventions: Sequence[Convention]
    run: Run
    places: Mapping[int, Metric[...]]
    """Metrics by their places in the result, of which several may be of one metric."""
    cluster: str | None = None
    """Internal name of the column of clusters; over folds that of users, where no other is given."""
    over_trainings: bool = False
    """Whether trainings are a second sample, without rows of their own."""

    @property
    def whole(self) -> Frames:
        """The frames without units as segments."""
        inputs = self.inputs
        left = tuple(one for one in inputs.segments if one.inside not in inputs.units)
        return replace(inputs, segments=left, units=())

    def of(self, *, sets: bool) -> Sample:
        """Return the sample of metrics that have values of users, or of those that whole segments have."""
        apart = {str(one.metric) for one in self.conventions if is_of_segment(one.metric)}
        kept = [one for one in self.conventions if (str(one.metric) in apart) is sets]
        places = {at: one for at, one in self.places.items() if (str(one) in apart) is sets}
        return replace(self, conventions=kept, places=places)


def sums_of(sample: Sample, pairing: Pairing | None) -> pl.LazyFrame:
    """Return one row for each segment, model, pair and metric: the keys, `PROPERTIES`, `PARTS` and `OF_UNITS`.

    Over trainings there are their number and variance, of the model and of the baseline.
    """
    inputs, cluster = sample.inputs, sample.cluster
    if inputs.training and not sample.over_trainings:
        conventions = of_each_training(sample.conventions)
        each = replace(sample, inputs=trainings.apart(inputs), conventions=conventions)
        return trainings.told_apart(sums_of(each, pairing), inputs)
    found, of_users, sets = [], sample.of(sets=False), sample.of(sets=True)
    if of_users.places:
        rows, keys = cells_of(of_users, pairing)
        found.append(over_units(rows, keys, cluster))
    if sets.places:
        unit = None if cluster == USER else cluster
        found.append(of_groups(inputs, sets.conventions, sets.run, sets.places, unit, pairing))
    sums = found[0] if len(found) == 1 else pl.concat(found, how="diagonal_relaxed")
    return _with_trainings(sums, sample, pairing) if sample.over_trainings else sums


def cells_of(sample: Sample, pairing: Pairing | None) -> tuple[pl.LazyFrame, list[str]]:
    """Return the sums of users' values in long form, of clusters apart where there are some, and the keys of rows."""
    inputs = sample.inputs
    found, keys = cells(inputs, sample.conventions, sample.run, sample.places, pairing)
    own = [*(key for key in keys if key not in inputs.units), PLACE]
    return found if inputs.folds is None else over_folds(found, own, str(sample.cluster)), own


def _with_trainings(sums: pl.LazyFrame, sample: Sample, pairing: Pairing | None) -> pl.LazyFrame:
    """Return sums with the number and the variance of the trainings of both models."""
    whole, names = sample.whole, {str(one.metric): one.metric for one in sample.conventions}
    each = values_of_trainings(whole, sample.conventions, sample.run)
    wide = trainings.spread(each, whole, [*names.values()])
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
    theirs = {MODEL: BASELINE, **{part: f"{BASELINE} {part}" for part in OF_TRAININGS}}
    keys = [BASELINE if key == MODEL else key for key in keys]
    return joined(sums, long.rename(theirs), [*keys, PLACE])


def with_weights_of_hits(rows: pl.LazyFrame, sample: Sample, keys: Sequence[str]) -> pl.LazyFrame:
    """Return sums with a note where hits weigh as few effective ones, (Σ w)² / Σ w² of their weights w."""
    stated = {str(one.metric): one for one in sample.conventions}
    weighed = {place: of for place, one in sample.places.items() if (of := weights_of_hits(one))}
    if not weighed:
        return rows
    conventions, notes = [], []
    for place, of_hits in weighed.items():
        convention = stated[str(sample.places[place])]
        conventions += [replace(convention, metric=one) for one in of_hits]
        n, weight, square = (pl.col(name_beside(TOTAL, one)) for one in of_hits)
        effective = pl.when(square > 0).then(weight**2 / square)
        counts = (one.round().cast(pl.Int64) for one in (n, effective))
        is_few = (effective < FEW) | (effective < n / 10)
        note = pl.when(is_few).then(pl.format("the {} hits weigh as {} alike", *counts))
        notes.append({PLACE: pl.lit(place, pl.Int64), OF_HITS: note})
    wide = numbered(evaluation.evaluate(sample.whole, conventions, sample.run, (TOTAL,)), keys)
    return joined(rows, in_long_form(wide, keys, notes), [*keys, PLACE])
