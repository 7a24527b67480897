"""Which metrics are near one: those of its family that read the same, and those that its docstring names."""

from __future__ import annotations

import re

import metric_shop as shop
from metric_text import prose_of, sentence_of, use_of

from recframe.evaluation.required_columns import needs_of
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import registered

MOST, FEWEST = 5, 2
CLOSE = 0.5
"""From where metrics of other families are near; those of the same one are."""


def section(metric: Metric[...]) -> str:
    """Return a line for each metric that is near."""
    lines = [
        f"- [`{one.name}`]({one.name}.md): {sentence_of(one.definition)}" for one in near(metric)
    ]
    family = metric.definition.family
    rest = (
        f"All of the family: [{family}](index.md#{family})."
        if family
        else "[All metrics](index.md)."
    )
    return "\n".join([*lines, "", rest])


def near(metric: Metric[...]) -> list[Metric[...]]:
    """Return metrics that a reader may want instead, the nearest first."""
    others = [one for name, one in shown().items() if name != metric.name]
    named = [one for one in others if _names(metric, one)]
    named += [one for one in others if one not in named and _names(one, metric)]
    alike = sorted(others, key=lambda one: -_alike(metric, one))
    rest = [one for one in alike if one not in named]
    close = sum(_alike(metric, one) > CLOSE for one in rest)
    return [*named, *rest][: max(FEWEST, min(MOST, len(named) + close), len(named))]


def shown() -> dict[str, Metric[...]]:
    """Return the metrics that have a page, those of recframe itself."""
    return {name: one for name, one in registered().items() if one.definition.builtin}


def _names(metric: Metric[...], other: Metric[...]) -> bool:
    """Return whether a metric's docstring speaks of another one, which many are called like plain words."""
    text = " ".join([use_of(metric.definition), *prose_of(metric.definition)])
    if other.name in metric.definition.parameters:
        return False
    if "_" in other.name:
        return re.search(rf"\b{other.name}\b", text) is not None
    return (
        re.search(rf"`{other.name}`|\b(?:as in|those of|is that of|than) {other.name}\b", text)
        is not None
    )


def _alike(metric: Metric[...], other: Metric[...]) -> float:
    """Return how much of what two metrics read is the same, and whether they are of one family."""
    mine, theirs = _read(metric), _read(other)
    same = metric.definition.family == other.definition.family
    shared = len(mine & theirs) / len(mine | theirs)
    return shared + same


def _read(metric: Metric[...]) -> set[str]:
    needs = needs_of(metric @ shop.K)
    facts = {one.builder.build.__name__ for one in needs.facts}
    return {*needs.columns, *facts, *needs.levels, metric.definition.over, metric.definition.shape}
