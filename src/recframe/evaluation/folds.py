"""Folds of a split: judged one by one, then averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import polars as pl

from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import TOTAL, N, name_beside, support_of
from recframe.evaluation.user_values import WITH_RELEVANT, users_in_segments, values_of_users
from recframe.frames.inputs import Frames
from recframe.frames.options import FOLD
from recframe.frames.rows.joins import aggregate, of_few
from recframe.frames.segments import Segment
from recframe.metrics.language.definition import Metric
from recframe.ranking.judged_frame import judge, rows_of_models
from recframe.ranking.known import models_of

CUT = ("lists", "truth", "users", "items", "train", "reference")
"""The frames that a fold has its own rows of, where they have the column."""


def in_folds(inputs: Frames, run: Run) -> list[Frames]:
    """Return the inputs of each fold: the rows of it of every frame that has folds, and the whole of the others.

    Every fold has all models. Large eager frames are cut once, before plans read them again and again.
    """
    if inputs.model:
        models = rows_of_models(inputs).unique() if run.ask is None else models_of(inputs).lazy()
        inputs = replace(inputs, models=models)
    each = []
    for number in () if inputs.folds is None else inputs.folds.numbers:
        each.append(_in_fold(inputs, number, run))
        # the checks are of all folds together
        inputs = replace(inputs, checks=())
    return each


def _in_fold(inputs: Frames, number: int, run: Run) -> Frames:
    """Return the inputs of a fold; one without truth has no row, since what filters have emptied is no fold."""
    fold = pl.lit(number, inputs.schema[FOLD]).alias(FOLD)
    cut: dict[str, Any] = {}
    for name in CUT:
        frame = getattr(inputs, name)
        is_given = frame is not None and not isinstance(frame, str)
        if is_given and FOLD in frame.collect_schema():
            cut[name] = frame.filter(pl.col(FOLD) == fold).drop(FOLD)
    if run.ask is not None:
        collected = run.ask([*cut.values()])
        cut = {name: frame.lazy() for name, frame in zip(cut, collected, strict=True)}
    if "truth" in cut:
        truth = cut["truth"]
        if inputs.all_users is not None:  # some users may lack what others have
            whole = cast("pl.LazyFrame", inputs.truth)
            truth = inputs.added("folds", lambda: whole.select(FOLD).unique(), [FOLD])
            truth = truth.filter(pl.col(FOLD) == fold)
        there = truth.with_columns(there=pl.lit(value=True)).select("there").head(1)
        for name in ("lists", "users"):
            rows = cut.get(name, getattr(inputs, name))
            if rows is not None:
                cut[name] = rows.join(there, how="cross").drop("there")
    segments = tuple(
        replace(one, at="rows", add=partial(_with, fold=fold)) if one.inside == FOLD else one
        for one in inputs.segments
    )
    return replace(inputs, **cut, segments=segments, given={}, fold=fold)


def _with(rows: pl.LazyFrame, *, fold: pl.Expr) -> pl.LazyFrame:
    return rows.with_columns(fold)


def as_parts(inputs: Frames) -> Frames:
    """Return inputs with folds as parts of lists and truth, for checks of lists."""
    if inputs.folds is None:
        return inputs
    others = tuple(segment for segment in inputs.segments if segment.inside != FOLD)
    part = Segment(FOLD, inputs.folds.column, "rows")
    context = inputs.context.having(folds=None)
    return replace(inputs, segments=(*others, part), units=(*inputs.units, FOLD), context=context)


def stacked(each: Sequence[pl.LazyFrame], n_keys: int) -> pl.LazyFrame:
    """Return the results of folds that are segments of their own, which begin with so many keys."""
    rows = pl.concat(each)
    # by position, since keys may have any name
    return rows.sort([pl.nth(place) for place in range(n_keys)], nulls_last=True)


def pooled(
    each: Sequence[pl.LazyFrame],
    keys: Sequence[str],
    metrics: Sequence[Metric[...]],
    beside: Sequence[str],
) -> pl.LazyFrame:
    """Return results of folds with the totals behind their values, `beside`, as one result: the keys, supports and metrics.

    Values of users are averaged over all folds together; of a set metric each fold's value counts alike. What is summed up of
    users is summed up over folds too.
    """
    rows = pl.concat(each)
    sums: dict[str, pl.Expr] = {}
    counts: list[pl.Expr] = [pl.col("n_lists").sum()] * ("n_lists" in rows.collect_schema())
    values: list[pl.Expr] = []
    for metric in metrics:
        name, n, of_set = str(metric), pl.col(support_of(metric)), metric.shape == "set"
        own, total = pl.col(name), name_beside(TOTAL, metric)
        # of a user there is a value alone, of a set metric one of each fold that has lists
        whole = pl.when(n > 0).then(own if of_set else pl.col(total).fill_null(own))
        known = whole.count() if of_set else n.sum()
        sums[f"sum {name}"] = whole.fill_null(0.0)
        counts.append(known.alias(f"known {name}"))
        count = pl.col(f"known {name}")
        values.append(pl.when(count > 0).then(pl.col(f"sum {name}") / count).alias(name))
        for part in beside:
            column = name_beside(part, metric)
            summed = pl.col(column).sum() if part == N or not of_set else pl.lit(None, pl.Float64)
            counts.append(summed.alias(column))
    found = of_few(rows, keys, sums, counts)
    return found.with_columns(values)


def n_users(each: Sequence[Frames], keys: Sequence[str], run: Run) -> pl.LazyFrame:
    """Return n_users of each segment: the users who count in any of the folds, each once."""
    found = [run.added([_users(one, keys, run)], [*keys, "user"]) for one in each]
    users = pl.concat(found).unique()
    return aggregate(users, keys, [pl.len().cast(pl.Int64).alias("n_users")])


def _users(inputs: Frames, keys: Sequence[str], run: Run) -> pl.LazyFrame:
    """Return the users who count, with their segments."""
    judged = judge(inputs, run.models(inputs))
    if inputs.context.no_relevant != "skip":
        return users_in_segments(judged).select(*keys, "user")
    each = values_of_users(judged, [WITH_RELEVANT], keys, run.ask).each()
    return each.select(*keys, "user")
