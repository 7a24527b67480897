"""Weighted means and hits, and ratios pooled over users."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

import polars as pl

from recframe.errors import RecframeError
from recframe.metrics.language.at import At, Source, Valued, ratio
from recframe.metrics.language.definition import COUNT, Bounds, Definition, Metric, Value

Average = Literal["users", "pooled"]
"""Whether a segment has the mean of its users' ratios, or the sum of the parts over the sum of the wholes."""
Weights = Literal["none", "snips", "ips"]
"""Whether hits count once, or once over the probability that they were observed, normalized or not."""
Exponent = Annotated[float, Bounds(above=-1)]
BY_IPS: dict[tuple[str, Value], tuple[float, float]] = {("weights", "ips"): COUNT}
"""The range without an upper bound that a share has with inverse propensities."""
Count = Callable[[At], pl.Expr]


def averaged_ratio(at: At, part: Count, whole: Count, *, pooled: bool) -> pl.Expr:
    """Return part / whole of a list, 0 where the whole is 0; pooled, that of both sums over a segment's users."""
    if not pooled:
        return ratio(part(at), whole(at))
    return ratio(at.mean(unregistered(part)), at.mean(unregistered(whole)))


def over_propensities(at: At, worth: Count, exponent: float, least: float) -> pl.Expr:
    """Return the sum of what the hits are worth over their propensities."""
    return at.sum(lambda hit: worth(hit) * hit.inverse_propensity(exponent, least))


def corrected_share(
    at: At, share: pl.Expr, weights: Weights, exponent: float, least: float
) -> pl.Expr:
    """Return a share of hits over their propensities; with "snips" times n_relevant / Σ 1 / propensity, at most 1."""
    if weights == "ips":
        return share
    observed = ratio(at.n_relevant, at.inverse_propensities(exponent, least))
    return (share * observed).clip(upper_bound=1.0)


def weights_of_hits(metric: Metric[...]) -> list[Metric[...]]:
    """Return the numbers of hits, their weights and the squares of these, of a metric that weighs them; else nothing."""
    if metric.parameters.get("weights", "none") == "none":
        return []

    def power(n: int) -> Metric[...]:
        def total(at: At) -> pl.Expr:
            exponent, least = (metric.parameters[name] for name in ("exponent", "min_propensity"))
            return at.sum(lambda hit: hit.inverse_propensity(float(exponent), float(least)) ** n)

        return replace(unregistered(total), k=metric.k, label=f"weights^{n} of {metric}")

    return [power(n) for n in range(3)]


def refusal(metric: str, weights: Weights, why: str, left_out: str) -> RecframeError:
    """Return the error of a correction by propensities beside a parameter that it does not go with."""
    return RecframeError(f"{metric}(weights={weights!r}) {why}; leave out {left_out}")


def unregistered(function: Count) -> Metric[...]:
    """Return a list value as an unregistered metric, whose mean others use.

    NOTE: its function is of this module, and so none of recframe's own metrics: of these a plan leaves out lists without a
    hit, since they have the value of an empty one, which `n_relevant` has not.
    """

    def value(at: At) -> pl.Expr:
        return function(at)

    return Metric(Definition("value", value, linear=True))


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
