"""Folds of a split: judged one by one, then averaged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import polars as pl

from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import numbered, support_of
from recframe.evaluation.user_values import WITH_RELEVANT, users_in_segments, values_of_users
from recframe.frames.inputs import Frames
from recframe.frames.options import FOLD
from recframe.frames.rows.joins import aggregate, of_few
from recframe.frames.segments import Segment
from recframe.metrics.language.definition import Metrics
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
        is_frame = frame is not None and not isinstance(frame, str)  # the name of a model
        if is_frame and FOLD in frame.collect_schema():
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


def summed(each: Sequence[Frames], run: Run, plan_of: Callable[..., pl.LazyFrame]) -> pl.LazyFrame:
    """Return the result of a plan that is filled a fold at a time, and finished once, from the sums of all folds."""
    *before, last = each
    sums = [deque[pl.LazyFrame]() for _ in before]
    for one, own in zip(before, sums, strict=True):
        plan_of(one, run=replace(run, adds=partial(_kept, own)))

    def of_all(rows: pl.LazyFrame, keys: Sequence[str], same: Sequence[str] = ()) -> pl.LazyFrame:
        return run.added([*(own.popleft() for own in sums), rows], keys, same)

    return plan_of(last, run=replace(run, adds=of_all))


def _kept(sums: deque[pl.LazyFrame], rows: pl.LazyFrame, *_how: Sequence[str]) -> pl.LazyFrame:
    """Keep the sums of a fold, in the order in which its plan adds them up."""
    sums.append(rows)
    return rows


def means_of_sets(each: Sequence[pl.LazyFrame], n_keys: int, metrics: Metrics) -> pl.LazyFrame:
    """Return the keys, and of set metrics the means over the folds that have lists, with the number of these lists."""
    keys = [f"key {place}" for place in range(n_keys)]
    rows = pl.concat(numbered(one, keys) for one in each)
    also = [pl.col(name).sum() for name in ("n_users", "n_lists") if name in rows.collect_schema()]
    values: dict[str, pl.Expr] = {}
    for metric in metrics:
        n = pl.col(support_of(metric))
        values[str(metric)] = pl.when(n > 0).then(str(metric))
        also.append(n.sum())
    return means_of_few(rows, keys, values, also)


def means_of_few(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    values: Mapping[str, pl.Expr],
    also: Sequence[pl.Expr] = (),
) -> pl.LazyFrame:
    """Return means of few rows for each combination of the keys, null of nothing, and other columns."""
    counts = {name: f"count of {name}" for name in values}
    number = [pl.col(name).count().alias(count) for name, count in counts.items()]
    sums = of_few(rows, keys, values, [*number, *also])
    return sums.with_columns(
        pl.when(pl.col(count) > 0).then(pl.col(name) / pl.col(count)).alias(name)
        for name, count in counts.items()
    )


def n_users(each: Sequence[Frames], keys: Sequence[str], run: Run) -> pl.LazyFrame:
    """Return n_users of each segment: the users who count in any of the folds, each once."""
    users = run.added([_users(one, keys, run) for one in each], [*keys, "user"])
    return aggregate(users, keys, [pl.len().cast(pl.Int64).alias("n_users")])


def _users(inputs: Frames, keys: Sequence[str], run: Run) -> pl.LazyFrame:
    """Return the users who count, with their segments."""
    judged = judge(inputs, run.models(inputs))
    if inputs.context.no_relevant != "skip":
        return users_in_segments(judged).select(*keys, "user")
    each = values_of_users(judged, [WITH_RELEVANT], keys, run.ask).each()
    return each.select(*keys, "user")
