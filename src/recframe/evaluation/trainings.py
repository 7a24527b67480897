"""Trainings of a model (seeds): judged apart, then averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import polars as pl

from recframe.evaluation.folds import as_parts, means_of_few
from recframe.evaluation.required_columns import keys_of, n_keys, numbered
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import Frames
from recframe.frames.options import Context
from recframe.frames.rows.joins import Frame
from recframe.frames.segments import Segment
from recframe.metrics.language.definition import Metrics
from recframe.ranking.judged_frame import Judged, is_rank

MODEL, TRAINING = "model", "training"
N_TRAININGS, SPREAD_OF_TRAININGS = "trainings", "between trainings"
PARTS = (N_TRAININGS, SPREAD_OF_TRAININGS)
"""Columns per metric and model: number of trainings, and variance of their values (null for one)."""


def of_each(context: Context) -> Context:
    """Return a context with each training as a model, without rounding."""
    model = context.model or context.training
    return context.having(model=model, training=None, decimals=None)


def apart(inputs: Frames) -> Frames:
    """Return inputs with each training as a model of its own, so that lists are separate."""
    both, context = _model_and_training(inputs), of_each(inputs.context)
    found = inputs.with_lists(lambda lists: lists.with_columns(both))
    return replace(found, segments=_without_trainings(inputs), context=context)


def _without_trainings(inputs: Frames) -> tuple[Segment, ...]:
    """Return the segments other than those of trainings."""
    return tuple(segment for segment in inputs.segments if segment.inside != TRAINING)


def _model_and_training(inputs: Frames) -> pl.Expr:
    """Return what stands for a model; null on a judged row that nobody lists, which is one of all trainings."""
    named = [pl.col(name).is_not_null() for name in inputs.model]
    if inputs.truth is None and not inputs.scored:
        is_listed = is_rank(pl.col("rank"), inputs.schema["rank"])
        named.append(pl.col(TRAINING).is_not_null() | is_listed)
    both = pl.struct(*inputs.model, TRAINING)
    return (pl.when(*named).then(both) if named else both).alias(MODEL)


def one_of_each(inputs: Frames) -> Frames:
    """Return inputs with one training per model and folds as parts of lists, for checks of a model's lists."""
    inputs = as_parts(inputs)
    if not inputs.training:
        return inputs
    first = is_first(inputs.model)
    found, context = inputs.with_lists(lambda lists: lists.filter(first)), inputs.context
    segments = _without_trainings(inputs)
    return replace(found, segments=segments, context=context.having(training=None))


def is_first(model: Sequence[str]) -> pl.Expr:
    """Return whether rows of lists are of the first training, of each model where there are several."""
    first = pl.col(TRAINING).first()
    return pl.col(TRAINING).eq_missing(first.over(model) if model else first)


def named(inputs: Frames) -> Frames:
    """Return inputs with each training as a model, named by both."""
    if not inputs.training:
        return inputs
    found, dtypes = apart(inputs), inputs.schema
    names = {**dict.fromkeys(inputs.model, ""), TRAINING: f"{inputs.context.training} "}
    fields = [
        pl.lit(before) + as_text(pl.col(MODEL).struct.field(name), dtypes[name]).fill_null("null")
        for name, before in names.items()
    ]
    words = pl.concat_str(fields, separator=", ")
    text = pl.when(pl.col(MODEL).is_not_null()).then(words).alias(MODEL)
    models = None if found.models is None else found.models.with_columns(text)
    return replace(found.with_lists(lambda lists: lists.with_columns(text)), models=models)


def told_apart(rows: Frame, inputs: Frames) -> Frame:
    """Return rows of trainings with separate model (if bound) and training columns."""
    names = [*inputs.model, TRAINING]
    told = rows.with_columns(pl.col(MODEL).struct.field(name).alias(name) for name in names)
    return told if inputs.model else told.drop(MODEL)


def rows_of_trainings(each: pl.LazyFrame, inputs: Frames, metrics: Metrics) -> pl.LazyFrame:
    """Return the rows of a result of trainings, by the names of keys inside the plan."""
    return told_apart(numbered(each, [*keys_of(apart(inputs), metrics)]), inputs)


def means(each: pl.LazyFrame, inputs: Frames, metrics: Metrics) -> pl.LazyFrame:
    """Return the result of a model from those of its trainings: means of metrics, and the least support.

    Where trainings are among the `by` columns each keeps a row of its own.
    """
    keys, rows = keys_of(inputs, metrics), rows_of_trainings(each, inputs, metrics)
    schema = each.collect_schema()
    names = schema.names()[n_keys(apart(inputs)) :]
    if TRAINING not in keys:
        values = [name for name in names if not schema[name].is_integer()]
        least = [pl.col(name).min() for name in names if name not in values]
        rows = means_of_few(rows, [*keys], {name: pl.col(name) for name in values}, least)
    rows = rows.sort(list(keys), nulls_last=True) if keys else rows
    return rows.select(*(pl.col(inside).alias(name) for inside, name in keys.items()), *names)


def of_models(judged: Judged, inputs: Frames) -> Judged:
    """Return a judgement of trainings as one of their models, which are those of the inputs."""
    context = judged.context.having(model=inputs.context.model)
    models = _trainings(judged, inputs).select(MODEL).unique() if inputs.model else None
    return replace(judged, inputs=replace(judged.inputs, context=context), models=models)


def _trainings(judged: Judged, inputs: Frames) -> pl.LazyFrame:
    """Return the trainings of each model."""
    return told_apart(cast("pl.LazyFrame", judged.models), inputs)


def means_of_users(rows: pl.LazyFrame, keys: Sequence[str], names: Sequence[str]) -> pl.LazyFrame:
    """Return users' values averaged over the trainings of a model, from those of each training; nulls do not count."""
    return means_of_few(rows, keys, {name: pl.col(name) for name in names}).select(*keys, *names)
