"""Trainings of a model (seeds): judged apart, then averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import polars as pl

from recframe.evaluation.folds import as_parts
from recframe.evaluation.required_columns import keys_of, n_keys, numbered
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import Frames
from recframe.frames.options import Context
from recframe.frames.rows.joins import Frame, aggregate, joined, of_few
from recframe.frames.segments import Segment
from recframe.metrics.language.definition import Metric
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


def _of_each_training(
    each: pl.LazyFrame, inputs: Frames, metrics: Sequence[Metric[...]]
) -> pl.LazyFrame:
    """Return the rows of a result of trainings, by the names of keys inside the plan."""
    return told_apart(numbered(each, [*keys_of(apart(inputs), metrics)]), inputs)


def means(each: pl.LazyFrame, inputs: Frames, metrics: Sequence[Metric[...]]) -> pl.LazyFrame:
    """Return the result of a model from those of its trainings: means of metrics, and the least support.

    Where trainings are among the `by` columns each keeps a row of its own.
    """
    keys, rows = keys_of(inputs, metrics), _of_each_training(each, inputs, metrics)
    schema = each.collect_schema()
    names = schema.names()[n_keys(apart(inputs)) :]
    if TRAINING not in keys:
        values = [name for name in names if not schema[name].is_integer()]
        counts = [pl.col(name).count().alias(f"count of {name}") for name in values]
        least = [pl.col(name).min() for name in names if name not in values]
        rows = of_few(rows, [*keys], {name: pl.col(name) for name in values}, [*counts, *least])
        rows = rows.with_columns(_mean(pl.col(name), f"count of {name}") for name in values)
    rows = rows.sort(list(keys), nulls_last=True) if keys else rows
    return rows.select(*(pl.col(inside).alias(name) for inside, name in keys.items()), *names)


def _mean(total: pl.Expr, count: str) -> pl.Expr:
    """Return a mean, null of nothing."""
    return pl.when(pl.col(count) > 0).then(total / pl.col(count)).alias(total.meta.output_name())


def spread(each: pl.LazyFrame, inputs: Frames, metrics: Sequence[Metric[...]]) -> pl.LazyFrame:
    """Return the keys of each segment, and of each metric the number of trainings and the variance between them."""
    rows = _of_each_training(each, inputs, metrics)
    # a model that has no name of a training is fixed
    is_named = pl.col(TRAINING).is_not_null().any()
    columns = []
    for name in map(str, metrics):
        n = (pl.col(name).count() * is_named).cast(pl.Int64)
        columns.append(n.alias(f"{N_TRAININGS} {name}"))
        variance = pl.when(n > 1).then(pl.col(name).var())
        columns.append(variance.alias(f"{SPREAD_OF_TRAININGS} {name}"))
    return aggregate(rows, [*keys_of(inputs, metrics)], columns)


def of_models(judged: Judged, inputs: Frames) -> Judged:
    """Return a judgement of trainings as one of their models, which are those of the inputs."""
    context = judged.context.having(model=inputs.context.model)
    models = _trainings(judged, inputs).select(MODEL).unique() if inputs.model else None
    return replace(judged, inputs=replace(judged.inputs, context=context), models=models)


def _trainings(judged: Judged, inputs: Frames) -> pl.LazyFrame:
    """Return the trainings of each model."""
    return told_apart(cast("pl.LazyFrame", judged.models), inputs)


def values_of_models(
    rows: pl.LazyFrame, empty: pl.LazyFrame, names: Sequence[str], judged: Judged, inputs: Frames
) -> pl.LazyFrame:
    """Return users' values averaged over the trainings of a model, from those of each training.

    `empty` has the values of a user without a row in a training, which do not count where they are null.
    """
    keys = [key for key in judged.list_keys if key != MODEL or inputs.model]
    counts = [pl.col(name).count().cast(pl.Int64).alias(f"count of {name}") for name in names]
    counts.append(pl.len().cast(pl.Int64).alias("present"))
    sums = {name: pl.col(name) for name in names}
    found = of_few(told_apart(rows, inputs), keys, sums, counts)
    n = aggregate(_trainings(judged, inputs), inputs.model, [pl.len().alias("trainings")])
    found = joined(found, n, inputs.model)
    found = found.join(empty.rename({name: f"empty {name}" for name in names}), how="cross")
    absent = pl.col("trainings").cast(pl.Int64) - pl.col("present")
    for name in names:
        value, count = pl.col(f"empty {name}"), pl.col(f"count of {name}")
        total = pl.col(name) + (value * absent).fill_null(0.0)
        found = found.with_columns(total, count + value.is_not_null() * absent)
    return found.select(*keys, *(_mean(pl.col(name), f"count of {name}") for name in names))
