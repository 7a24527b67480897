"""Trainings of a model (seeds): judged apart, then averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import polars as pl

from recframe.evaluation.folds import as_parts
from recframe.evaluation.segments import keys_of, n_keys, numbered
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import Inputs
from recframe.frames.options import Context
from recframe.frames.rows.joins import ExactSums, Frame, aggregate, joined, of_few
from recframe.frames.segments import Segment
from recframe.metrics.language.definition import Metric
from recframe.ranking.judged import Judged, is_rank

MODEL, TRAINING = "model", "training"
N_TRAININGS, SPREAD_OF_TRAININGS = "trainings", "between trainings"
PARTS = (N_TRAININGS, SPREAD_OF_TRAININGS)
"""Columns per metric and model: number of trainings, and variance of their values (null for one)."""


def of_each(context: Context) -> Context:
    """Return a context with each training as a model."""
    return context.having(model=context.model or context.training, training=None)


def apart(inputs: Inputs) -> Inputs:
    """Return inputs with each training as a model of its own, so that lists are separate."""
    both, context = _model_and_training(inputs), of_each(inputs.context)
    found = inputs.with_lists(lambda lists: lists.with_columns(both))
    return replace(found, segments=_without_trainings(inputs), context=context)


def _without_trainings(inputs: Inputs) -> tuple[Segment, ...]:
    """Return the segments other than those of trainings."""
    return tuple(segment for segment in inputs.segments if segment.inside != TRAINING)


def _model_and_training(inputs: Inputs) -> pl.Expr:
    """Return what stands for a model; null on a judged row that nobody lists, which is one of all trainings."""
    named = [pl.col(name).is_not_null() for name in inputs.model]
    if inputs.truth is None and not inputs.scored:
        is_listed = is_rank(pl.col("rank"), inputs.schema["rank"])
        named.append(pl.col(TRAINING).is_not_null() | is_listed)
    both = pl.struct(*inputs.model, TRAINING)
    return (pl.when(*named).then(both) if named else both).alias(MODEL)


def one_of_each(inputs: Inputs) -> Inputs:
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


def named(inputs: Inputs) -> Inputs:
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


def told_apart(rows: Frame, inputs: Inputs) -> Frame:
    """Return rows of trainings with separate model (if bound) and training columns."""
    names = [*inputs.model, TRAINING]
    told = rows.with_columns(pl.col(MODEL).struct.field(name).alias(name) for name in names)
    return told if inputs.model else told.drop(MODEL)


def _of_each_training(
    each: pl.LazyFrame, inputs: Inputs, metrics: Sequence[Metric[...]]
) -> pl.LazyFrame:
    """Return the rows of a result of trainings, by the names of keys inside the plan."""
    return told_apart(numbered(each, [*keys_of(apart(inputs), metrics)]), inputs)


def means(
    each: pl.LazyFrame,
    inputs: Inputs,
    metrics: Sequence[Metric[...]],
    decimals: Mapping[str, int | None],
) -> pl.LazyFrame:
    """Return the result of a model from those of its trainings: means of metrics, and the least support.

    Where trainings are among the `by` columns each keeps a row of its own.
    """
    keys, rows = keys_of(inputs, metrics), _of_each_training(each, inputs, metrics)
    schema = each.collect_schema()
    names = schema.names()[n_keys(apart(inputs)) :]
    counts = [name for name in names if schema[name].is_integer()]
    if TRAINING not in keys:
        values = [name for name in names if name not in counts]
        rows = _means(rows, list(keys), values, [pl.col(name).min() for name in counts])
    rows = rows.sort(list(keys), nulls_last=True) if keys else rows
    shown = [
        pl.col(name) if (n := decimals.get(name)) is None else pl.col(name).round(n)
        for name in names
    ]
    return rows.select(*(pl.col(inside).alias(name) for inside, name in keys.items()), *shown)


def _means(
    rows: pl.LazyFrame, keys: Sequence[str], values: Sequence[str], also: Sequence[pl.Expr] = ()
) -> pl.LazyFrame:
    """Return means of values that are not null for each combination of the keys."""
    sums = ExactSums({name: pl.col(name) for name in values})
    counts = [pl.col(name).count().alias(f"count of {name}") for name in values]
    found = sums.of(rows, keys, [*counts, *also])
    return found.with_columns(_mean(name) for name in values).drop(
        f"count of {name}" for name in values
    )


def _mean(name: str) -> pl.Expr:
    count = pl.col(f"count of {name}")
    return pl.when(count > 0).then(pl.col(name) / count).alias(name)


def spread(
    each: pl.LazyFrame, inputs: Inputs, metrics: Sequence[Metric[...]], columns: Mapping[str, str]
) -> pl.LazyFrame:
    """Return the variance between trainings per segment, of some metrics: keys, and two columns each.

    `columns` has the names of the metrics' values among those of `each`, and what the two columns' names end with.
    """
    keys, rows = [*keys_of(inputs, metrics)], _of_each_training(each, inputs, metrics)
    is_named = pl.col(TRAINING).is_not_null().alias("is named")
    rows = rows.select(
        *keys, is_named, *(pl.col(name).alias(f"of {one}") for name, one in columns.items())
    )
    values = [f"of {column}" for column in columns.values()]
    centre = _means(rows, keys, values).rename({name: f"mean {name}" for name in values})
    rows = joined(rows, centre, keys)
    squares = {f"square {name}": (pl.col(name) - pl.col(f"mean {name}")) ** 2 for name in values}
    # a model that has no name of a training is fixed
    counts = [
        (pl.col(name).count() * pl.col("is named").any()).cast(pl.Int64).alias(f"n {name}")
        for name in values
    ]
    found = ExactSums(squares).of(rows, keys, counts)
    made = {}
    for one in columns.values():
        n, square = pl.col(f"n of {one}"), pl.col(f"square of {one}")
        made[f"{N_TRAININGS} {one}"] = n
        made[f"{SPREAD_OF_TRAININGS} {one}"] = pl.when(n > 1).then(square / (n - 1))
    return found.select(*keys, **made)


@dataclass(frozen=True)
class Averaged:
    """Users' values of several trainings, averaged per model."""

    inputs: Inputs
    """Inputs with bound trainings."""
    judged: Judged
    """The judged lists of the trainings, each training a model of its own."""

    @property
    def models(self) -> pl.LazyFrame | None:
        """The models, each once."""
        return None if not self.inputs.model else self._trainings.select(MODEL).unique()

    def kept(self, keys: Sequence[str]) -> list[str]:
        """Return keys without the training that acts as the model, where there are no models."""
        return [key for key in keys if key != MODEL or self.inputs.model]

    @property
    def _trainings(self) -> pl.LazyFrame:
        return told_apart(cast("pl.LazyFrame", self.judged.models), self.inputs)

    @property
    def judgement(self) -> Judged:
        """The same judgement of models."""
        context = self.judged.context.having(model=self.inputs.context.model)
        inputs = replace(self.judged.inputs, context=context)
        return replace(self.judged, inputs=inputs, models=self.models)

    def rows(
        self,
        each: pl.LazyFrame,
        keys: Sequence[str],
        names: Sequence[str],
        empty: pl.LazyFrame | None,
    ) -> pl.LazyFrame:
        """Return one row per key, user included, with values averaged over the trainings.

        `empty` has the values of a user without a row in a training; without it such a training does not count.
        """
        keys = self.kept(keys)
        counts = [pl.col(name).count().alias(f"count of {name}") for name in names]
        values = {name: pl.col(name) for name in names}
        rows = told_apart(each, self.inputs)
        found = of_few(rows, keys, values, [*counts, pl.len().alias("present")])
        if empty is not None:
            n = aggregate(self._trainings, self.inputs.model, [pl.len().alias("trainings")])
            found = joined(found, n, self.inputs.model)
            found = found.join(empty.rename({name: f"empty {name}" for name in names}), how="cross")
            absent = pl.col("trainings").cast(pl.Int64) - pl.col("present").cast(pl.Int64)
            found = found.with_columns(
                column for name in names for column in _with_absent(name, absent)
            )
        return found.select(*keys, *map(_mean, names))


def _with_absent(name: str, absent: pl.Expr) -> list[pl.Expr]:
    """Return a value's sum and count, including trainings in which the user has no row."""
    empty, count = pl.col(f"empty {name}"), pl.col(f"count of {name}")
    return [
        pl.col(name) + (empty * absent).fill_null(0.0),
        (count.cast(pl.Int64) + empty.is_not_null() * absent).alias(count.meta.output_name()),
    ]
