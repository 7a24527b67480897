"""Contributions of users to metrics, for comparisons, segments and samples.

A metric over users or lists contributes the user's value; one function of a segment, such as coverage, has none. Nothing is
rounded here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
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
from recframe.evaluation.required_columns import Conventions, keys_of
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

    def described(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the segments that are properties of their users."""
        if self.is_described:
            return rows
        return self.judged.inputs.attach(self.judged.named(rows), "users")

    def of_everyone(self) -> Contributions:
        """Return the same with a row for each user who counts, where it is known who does."""
        if self.values is None:
            return self
        rows, of_user = self.values.of_everyone(), distinct_names(*self.keys, "user")
        return replace(self, rows=rows, of_user=of_user, values=None, is_described=True)


def contributions(
    inputs: Frames, conventions: Conventions, run: Run, *, paired: bool
) -> list[list[Contributions]]:
    """Compute users' contributions to metrics over users or lists, per plan and fold.

    Those that are `paired` have rows of the same users in each model, where it is known who counts.
    Means over the rows of all folds are the values over folds. Where trainings are bound it is the mean of what they contribute
    to the trainings of a model.
    """
    if inputs.training:
        each = of_each_training(conventions)
        averaged = partial(_averaged, inputs=inputs)
        plans = contributions(trainings.apart(inputs), each, run, paired=paired)
        return [[*map(averaged, parts)] for parts in plans]
    if inputs.folds is not None:
        compute = partial(contributions, conventions=conventions, run=run, paired=paired)
        each_fold = map(compute, folds.in_folds(inputs, run))
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
        keys, judged = [*keys_of(under, metrics)], judge(under, run.models(under))
        values = values_of_users(judged, metrics, keys, run.ask)
        judged, names = values.judged, values.names
        part = Contributions(metrics, names, values.present, judged, keys, judged.list_keys)
        # who is left out in one model may count in another, where the relevant rows are the lists' own
        if under.context.no_relevant != "skip":
            part = replace(part, values=values, has_all_users=True)
        part = part.of_everyone() if paired and not values.aligned else part
        found.append([replace(part, steep=values.steep)])
    if listed:
        found.append([_of_lists(inputs, listed, run)])
    return found


def _averaged(one: Contributions, inputs: Frames) -> Contributions:
    """Return the means of what users contribute to the trainings of each model."""
    keys = [key for key in one.keys if key != "model" or inputs.model]
    one = one.of_everyone()
    rows, of_user = one.described(one.rows), distinct_names(*keys, "user")
    rows = trainings.means_of_users(trainings.told_apart(rows, inputs), of_user, one.names)
    judged = trainings.of_models(one.judged, inputs)
    one = replace(one, rows=rows, judged=judged, keys=keys)
    return replace(one, of_user=of_user, is_described=True)


def _of_lists(inputs: Frames, conventions: Conventions, run: Run) -> Contributions:
    """Return the contributions to metrics over lists."""
    metrics = [convention.metric for convention in conventions]
    keys = [*keys_of(inputs, metrics)]
    inputs = inputs.under(of_the_plan(conventions[0].context, inputs))
    judged, rows = metrics_of_lists.values_of_each(inputs, metrics, run)
    return Contributions(metrics, names_of(metrics), rows, judged, keys, judged.list_keys)
