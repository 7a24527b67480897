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
    described,
    of_each_training,
    of_the_plan,
)
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import Convention, is_of_segment, keys_of
from recframe.evaluation.user_values import (
    UserValues,
    n_users_of_segments,
    names_of,
    values_of_users,
)
from recframe.frames.inputs import Frames
from recframe.frames.rows.joins import distinct_names
from recframe.metrics.language.definition import Metric
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import Judged, judge


@dataclass(frozen=True)
class Contributions:
    """Users' contributions to metrics that share policies."""

    metrics: list[Metric[...]]
    """Metrics, with columns `value 0`, `value 1`, ..."""
    rows: pl.LazyFrame
    """The keys of lists, the user and the values; each once."""
    judged: Judged
    keys: list[str]
    """Keys of the segments, including the model."""
    values: UserValues | None = None
    """The users' values of which `rows` are those present; None where each user who counts has a row."""
    has_all_users: bool = False
    """Whether all users of the universe count."""
    steep: bool = False
    """Whether gains may overflow at high grades."""
    of_user: Sequence[str] | None = None
    """Keys of a user beside the model, where rows have segments of users already."""

    @cached_property
    def names(self) -> list[str]:
        """The names of the values."""
        return names_of(self.metrics)

    @property
    def pairing(self) -> list[str]:
        """The keys on which two models' rows of one user are paired."""
        keys = self.judged.list_keys if self.of_user is None else self.of_user
        return [key for key in keys if key != "model"]

    def described(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the segments that are properties of their users."""
        if self.of_user is not None:
            return rows
        return self.judged.inputs.attach(self.judged.named(rows), "users")

    def checked(self, sums: pl.LazyFrame, number: str) -> pl.LazyFrame:
        """Return sums after checks of what only the data shows; `number` names a column of numbers that they have."""
        schema = sums.collect_schema()
        found = after_checks(sums, self.judged, number, schema[number], steep=self.steep)
        return found.select(schema.names())

    def n_users(self) -> pl.LazyFrame:
        """Return the number of users of each segment and model."""
        return n_users_of_segments(self.judged, self.keys)


def contributions(
    inputs: Frames, conventions: Sequence[Convention], run: Run
) -> list[list[Contributions]]:
    """Compute users' contributions to the metrics, per plan and fold.

    Means over the rows of all folds are the values over folds. Where trainings are bound it is the mean of what they contribute
    to the trainings of a model.
    """
    if inputs.training:
        each = of_each_training(conventions)
        averaged = partial(_averaged, inputs=inputs)
        plans = contributions(trainings.apart(inputs), each, run)
        return [[*map(averaged, parts)] for parts in plans]
    if inputs.folds is not None:
        each_fold = [contributions(one, conventions, run) for one in folds.in_folds(inputs, run)]
        return [[*chain.from_iterable(plan)] for plan in zip(*each_fold, strict=True)]
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


def _averaged(one: Contributions, inputs: Frames) -> Contributions:
    """Return the means of what users contribute to the trainings of each model."""
    keys = [key for key in one.keys if key != "model" or inputs.model]
    rows = one.described(one.rows) if one.values is None else one.values.of_everyone()
    of_user = distinct_names(*keys, "user")
    rows = trainings.means_of_users(trainings.told_apart(rows, inputs), of_user, one.names)
    judged = trainings.of_models(one.judged, inputs)
    return replace(one, rows=rows, judged=judged, keys=keys, values=None, of_user=of_user)


def _of_users(
    inputs: Frames, metrics: list[Metric[...]], run: Run, models: pl.LazyFrame | None
) -> Contributions:
    keys = [*keys_of(inputs, metrics)]
    values = values_of_users(judge(inputs, models), metrics, keys, run.ask)
    # who is left out in one model may count in another, where the relevant rows are the lists' own
    counts = inputs.context.no_relevant != "skip"
    made = values if counts else None
    return Contributions(metrics, values.present, values.judged, keys, made, counts, values.steep)


def _of_lists(inputs: Frames, conventions: Sequence[Convention], run: Run) -> Contributions:
    metrics = [convention.metric for convention in conventions]
    keys = [*keys_of(inputs, metrics)]
    inputs = inputs.under(of_the_plan(conventions[0].context, inputs))
    judged, rows = metrics_of_lists.values_of_each(inputs, metrics, run)
    return Contributions(metrics, rows, judged, keys)
