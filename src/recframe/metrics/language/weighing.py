"""Metrics over users as weighted means: each user counts as much as a column of the users says."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.metrics.language.at import At, Source, Valued
from recframe.metrics.language.definition import Definition, Metric, Value
from recframe.metrics.language.formulas import ratio
from recframe.metrics.language.ratios import unregistered


def weighed(metric: Metric[...]) -> Metric[...]:
    """Return a metric whose means are weighted; its column keeps its name."""
    return replace(metric, definition=_weighed(metric.definition), label=str(metric))


@functools.lru_cache
def _weighed(definition: Definition) -> Definition:
    """Return a definition that is a ratio of means: of weight times value, and of the weights of the users with a value."""

    @functools.wraps(definition.function)
    def function(at: At, **settings: Value) -> pl.Expr:
        source: Any = _Weighing(at.source)
        value = definition.function(replace(at, source=source), **settings)
        # a metric that is made of means, such as gauc, has asked for weighted ones
        if source.asked:
            return value
        weighted: pl.Expr = source.mean(Metric(definition, tuple(settings.items())), at)
        return weighted

    return replace(definition, function=function, linear=True)


class _Weighing:
    """A source of words whose means are weighted; all else is the source's own."""

    def __init__(self, source: Source) -> None:
        self.source, self.asked = source, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def mean(self, metric: Valued, at: At) -> pl.Expr:
        self.asked = True

        def total(at: At) -> pl.Expr:
            return metric.value(at) * at.user_weight

        def weights(at: At) -> pl.Expr:
            return pl.when(metric.value(at).is_not_null()).then(at.user_weight)

        means = [self.source.mean(unregistered(function), at) for function in (total, weights)]
        return ratio(*means, empty=None)
