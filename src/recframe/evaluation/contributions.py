"""Contributions of users to metrics, for comparisons, segments and samples.

A metric over users or lists contributes the user's value; one function of a segment, such as coverage, has none. Nothing is
rounded here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import cast

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
from recframe.evaluation.required_columns import Convention, keys_of
from recframe.evaluation.user_values import UserValues, names_of, values_of_users
from recframe.frames.inputs import Frames
from recframe.frames.rows.joins import distinct_names
from recframe.metrics.language.definition import Metric
from recframe.ranking.judged_frame import Judged, judge


@dataclass(frozen=True)
class Contributions:
    """Users' contributions to metrics that share policies."""

    metrics: list[Metric[...]]
    names: list[str]
    """The names of the metrics' values: `value 0`, `value 1`, ..."""
    rows: pl.LazyFrame
    """The keys of lists, the user and the values; each once."""
    judged: Judged
    keys: list[str]
    """Keys of the segments, including the model."""
    of_user: list[str]
    """Keys of the rows of a user."""
    values: UserValues | None = None
    """The users' values of which `rows` are those present; None where each user who counts has a row."""
    has_all_users: bool = False
    """Whether all users of the universe count."""
    steep: bool = False
    """Whether gains may overflow at high grades."""
    is_described: bool = False
    """Whether rows have segments of users already."""

    @property
    def models(self) -> pl.LazyFrame:
        """The models, each once."""
        return cast("pl.LazyFrame", self.judged.models).select("model")

    def described(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the segments that are properties of their users."""
        if self.is_described:
            return rows
        return self.judged.inputs.attach(self.judged.named(rows), "users")


def contributions(
    inputs: Frames, conventions: Sequence[Convention], run: Run
) -> list[list[Contributions]]:
    """Compute users' contributions to metrics over users or lists, per plan and fold.

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
    found, of_users, listed = [], [], []
    for one in conventions:
        if one.needs.over == "users":
            of_users.append(one.of_users)
        else:
            listed.append(one)
    for under, metrics in by_policies(inputs, of_users):
        found.append([_of_users(under, metrics, run)])
    if listed:
        found.append([_of_lists(inputs, listed, run)])
    return found


def _averaged(one: Contributions, inputs: Frames) -> Contributions:
    """Return the means of what users contribute to the trainings of each model."""
    keys = [key for key in one.keys if key != "model" or inputs.model]
    rows = one.described(one.rows) if one.values is None else one.values.of_everyone()
    of_user = distinct_names(*keys, "user")
    rows = trainings.means_of_users(trainings.told_apart(rows, inputs), of_user, one.names)
    judged = trainings.of_models(one.judged, inputs)
    one = replace(one, rows=rows, judged=judged, keys=keys, of_user=of_user)
    return replace(one, values=None, is_described=True)


def _of_users(inputs: Frames, metrics: list[Metric[...]], run: Run) -> Contributions:
    """Return the contributions to metrics over users."""
    keys = [*keys_of(inputs, metrics)]
    values = values_of_users(judge(inputs, run.models(inputs)), metrics, keys, run.ask)
    judged, rows, names = values.judged, values.present, values.names
    # who is left out in one model may count in another, where the relevant rows are the lists' own
    counts = inputs.context.no_relevant != "skip"
    made, of_user = values if counts else None, judged.list_keys
    return Contributions(metrics, names, rows, judged, keys, of_user, made, counts, values.steep)


def _of_lists(inputs: Frames, conventions: Sequence[Convention], run: Run) -> Contributions:
    """Return the contributions to metrics over lists."""
    metrics = [convention.metric for convention in conventions]
    keys = [*keys_of(inputs, metrics)]
    inputs = inputs.under(of_the_plan(conventions[0].context, inputs))
    judged, rows = metrics_of_lists.values_of_each(inputs, metrics, run)
    return Contributions(metrics, names_of(metrics), rows, judged, keys, judged.list_keys)
