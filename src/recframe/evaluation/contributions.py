"""Contributions of users to metrics, for comparisons, segments and samples.

A metric over users or lists contributes the user's value; one function of a segment, such as coverage, has none. Nothing is
rounded here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain

import polars as pl

from recframe.evaluation import folds, metrics_of_lists, trainings
from recframe.evaluation.evaluation import (
    by_policies,
    check_parts_of_truth,
    of_each_training,
    of_the_plan,
)
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import Convention, is_of_segment, keys_of
from recframe.evaluation.user_values import n_users_of_segments, names_of, values_of_users
from recframe.frames.inputs import Frames, described
from recframe.metrics.language.definition import Metric
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import Judged, judge


@dataclass(frozen=True)
class Contributions:
    """Users' contributions to metrics that share policies.

    A user without a row has the contributions of `empty`; there may be millions of them, so that `n_users` counts them.
    """

    metrics: list[Metric[...]]
    """Metrics, with columns `value 0`, `value 1`, ..."""
    rows: pl.LazyFrame
    """The keys of the lists, the user and the values; each once."""
    empty: pl.LazyFrame
    """One row: the values of a user without rows."""
    judged: Judged
    keys: list[str]
    """Keys of the segments, including the model."""
    counts_absent: bool = False
    """Whether users without a row count."""
    steep: bool = False
    """Whether gains may overflow at high grades."""
    aligned: bool = False
    """Whether users are the same in all models."""

    @cached_property
    def names(self) -> list[str]:
        """The names of the values."""
        return names_of(self.metrics)

    @property
    def pairing(self) -> list[str]:
        """The keys on which two models' rows of one user are paired."""
        return [key for key in self.judged.list_keys if key != "model"]

    def described(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the segments that are properties of their users."""
        return self.judged.inputs.attach(self.judged.named(rows), "users")

    def checked(self, sums: pl.LazyFrame, number: str, *also: pl.LazyFrame) -> pl.LazyFrame:
        """Return sums after checks of what only the data shows; `number` names a column of whole numbers that they have."""
        names, inputs = sums.collect_schema().names(), self.judged.inputs
        judged = replace(self.judged, inputs=replace(inputs, checks=(*inputs.checks, *also)))
        return after_checks(sums, judged, number, pl.Int64, steep=self.steep).select(names)

    def n_users(self) -> pl.LazyFrame:
        """Return the number of users of each segment and model, those without a row included."""
        return n_users_of_segments(self.judged, self.keys)


def contributions(
    inputs: Frames, conventions: Sequence[Convention], run: Run
) -> list[list[Contributions]]:
    """Compute users' contributions to the metrics, per plan and fold.

    Where trainings are bound it is the mean of what they contribute to the trainings of a model.
    """
    if inputs.training:
        each = of_each_training(conventions)
        averaged = partial(_averaged, inputs=inputs)
        plans = contributions(trainings.apart(inputs), each, run)
        return [[*map(averaged, parts)] for parts in plans]
    if inputs.folds is not None:
        return _over_folds(inputs, conventions, run)
    if inputs.segments:
        check_parts_of_truth(inputs, conventions)
        inputs = described(inputs, run.ask)
    each = [convention for convention in conventions if not is_of_segment(convention.metric)]
    models = run.models(inputs)
    of_users = by_policies(inputs, [one.of_users for one in each if one.over == "users"])
    found = [[_of_users(under, metrics, run, models)] for under, metrics in of_users]
    if listed := [one for one in each if one.over == "lists"]:
        found.append([_of_lists(inputs, listed, run)])
    return found


def _over_folds(
    inputs: Frames, conventions: Sequence[Convention], run: Run
) -> list[list[Contributions]]:
    """Return the contributions of all folds, each fold a part, whose means over (fold, user) are the values over folds."""
    each = folds.in_folds(inputs, run)
    plans = zip(*(contributions(one, conventions, run) for one in each), strict=True)
    return [list(chain.from_iterable(plan)) for plan in plans]


def _averaged(one: Contributions, inputs: Frames) -> Contributions:
    """Return the means of what users contribute to the trainings of each model."""
    judged = one.judged
    return replace(
        one,
        rows=trainings.values_of_models(one.rows, one.empty, one.names, judged, inputs),
        judged=trainings.of_models(judged, inputs),
        keys=[key for key in one.keys if key != "model" or inputs.model],
    )


def _nothing(metrics: Sequence[Metric[...]]) -> pl.LazyFrame:
    """Return one row of nulls, for a user without a list."""
    names = names_of(metrics)
    return pl.select(pl.lit(None, pl.Float64).alias(name) for name in names).lazy()


def _of_users(
    inputs: Frames, metrics: list[Metric[...]], run: Run, models: pl.LazyFrame | None
) -> Contributions:
    keys = [*keys_of(inputs, metrics)]
    values = values_of_users(judge(inputs, models), metrics, keys, run.ask)
    # who is left out in one model may count in another, where the relevant rows are the lists' own
    counts_absent = inputs.context.no_relevant != "skip"
    return Contributions(
        metrics=metrics,
        rows=values.present,
        empty=values.empty if counts_absent else _nothing(metrics),
        judged=values.judged,
        keys=keys,
        counts_absent=counts_absent,
        steep=values.steep,
        aligned=values.aligned,
    )


def _of_lists(inputs: Frames, conventions: Sequence[Convention], run: Run) -> Contributions:
    metrics = [convention.metric for convention in conventions]
    keys = [*keys_of(inputs, metrics)]
    inputs = inputs.under(of_the_plan(conventions[0].context, inputs))
    judged, rows = metrics_of_lists.values_of_each(inputs, metrics, run)
    return Contributions(metrics, rows, _nothing(metrics), judged, keys)
