"""A sample of users by segment, model and metric: from its values to the sums of its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from recframe.evaluation import trainings
from recframe.evaluation.evaluation import Convention, of_each_training, values_of_trainings
from recframe.evaluation.execution import Run
from recframe.evaluation.required_columns import is_of_segment
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import in_long_form, joined
from recframe.metrics.language.definition import Metric
from recframe.statistics.groups import of_groups, without_groups
from recframe.statistics.sums import BASELINE, MODEL, PLACE, Pairing, by_metric, wide_sums
from recframe.statistics.units import of_clusters, of_users, over_folds


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

    @property
    def numbers(self) -> dict[str, int]:
        """The places of metrics among the conventions of users' values."""
        return {str(one.metric): place for place, one in enumerate(self.of_values)}

    @property
    def of_values(self) -> list[Convention]:
        """The conventions of metrics that have values of users; of all in one round, whose sums are those of `evaluate`."""
        every = self.conventions
        return [one for one in every if self.run.in_one_round or not is_of_segment(one.metric)]

    @property
    def of_sets(self) -> list[Convention]:
        """The conventions of metrics that are one function of a segment."""
        return [one for one in self.conventions if one not in self.of_values]

    def chosen(self, conventions: Sequence[Convention]) -> dict[int, Metric[...]]:
        """Return the places of some metrics."""
        names = {str(one.metric) for one in conventions}
        return {place: one for place, one in self.places.items() if str(one) in names}


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
    found = []
    if sample.of_values and sample.chosen(sample.of_values):
        cells, keys = cells_of(sample, pairing)
        own = [*(key for key in keys if key not in inputs.units), PLACE]
        cluster = sample.cluster
        found.append(of_users(cells) if cluster is None else of_clusters(cells, own, cluster))
    if of_sets := sample.of_sets:
        cluster = sample.cluster if sample.cluster != "user" else None
        rows, keys = without_groups(inputs, of_sets, sample.run, cluster, pairing)
        rows = rows.cache()
        for place, metric in sample.chosen(of_sets).items():
            found.append(of_groups(rows, keys, place, metric, pairing))
    sums = found[0] if len(found) == 1 else pl.concat(found, how="diagonal_relaxed")
    return _with_trainings(sums, sample, pairing) if sample.over_trainings else sums


def cells_of(sample: Sample, pairing: Pairing | None) -> tuple[pl.LazyFrame, list[str]]:
    """Return the sums of users' values in long form, of clusters apart where there are some, and the keys."""
    inputs, of = sample.inputs, sample.of_values
    wide, keys = wide_sums(inputs, of, sample.run, pairing, sized=sample.cluster is not None)
    cells = by_metric(wide, keys, sample.numbers, sample.chosen(of))
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
    rows = [
        {PLACE: pl.lit(place, pl.Int64)}
        | {part: pl.col(f"{part} {metric}") for part in OF_TRAININGS}
        for place, metric in sample.places.items()
    ]
    long = in_long_form(wide, keys, rows)
    sums = joined(sums, long, [*keys, PLACE])
    if pairing is None:
        return sums
    theirs = long.rename({MODEL: BASELINE, **{part: f"{BASELINE} {part}" for part in OF_TRAININGS}})
    keys = [BASELINE if key == MODEL else key for key in keys]
    return joined(sums, theirs, [*keys, PLACE])
