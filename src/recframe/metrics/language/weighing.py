"""Metrics over users as weighted means: each user counts as much as a column of the users says."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

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
        source = _Weighing(at.source)
        value = definition.function(replace(at, source=source), **settings)
        # a metric that is made of means, such as gauc, has asked for weighted ones
        if source.asked:
            return value
        return source.mean(Metric(definition, tuple(settings.items())), at)

    return replace(definition, function=function, linear=True)


@dataclass
class _Weighing:
    """A source of words whose means are weighted."""

    source: Source
    asked: bool = False

    def column(self, name: str) -> pl.Expr:
        return self.source.column(name)

    def running(self, expression: pl.Expr) -> pl.Expr:
        return self.source.running(expression)

    def total(self, value: pl.Expr) -> pl.Expr:
        return self.source.total(value)

    def of_rows(self, value: Callable[[Source], pl.Expr]) -> pl.Expr:
        return self.source.of_rows(value)

    def mean(self, metric: Valued, at: At) -> pl.Expr:
        self.asked = True

        def total(at: At) -> pl.Expr:
            return metric.value(at) * at.user_weight

        def weights(at: At) -> pl.Expr:
            return pl.when(metric.value(at).is_not_null()).then(at.user_weight)

        means = (self.source.mean(unregistered(function), at) for function in (total, weights))
        return ratio(next(means), next(means), empty=None)
