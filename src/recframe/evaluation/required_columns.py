"""Columns and facts that a metric requires, recorded once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from recframe.evaluation import side_rows
from recframe.evaluation.recorder import Recorder
from recframe.metrics.language.at import At
from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import Definition, Metric, Over, Value
from recframe.side_info.sources import Fact


@dataclass(frozen=True)
class Needs:
    """Columns, facts and levels that one metric requires."""

    columns: frozenset[str]
    """Row columns that words of `At` read, including those of metrics whose means are requested."""
    facts: tuple[Fact, ...]
    """Facts requested from side frames."""
    levels: frozenset[str]
    """Levels on which words of `AtLists` request columns."""
    means: tuple[Metric[...], ...]
    """Metrics whose means are read, with their column names."""
    value: pl.Expr
    """Expression of the metric over those columns."""
    over: Over
    """Users of the universe, or lists: decides which plan has the sums."""
    reads_ranks: bool
    """Whether the ranks inside a list change the number."""

    @property
    def reads_relevance(self) -> bool:
        """Whether relevance must be known: the metric then runs over the users of the universe."""
        return self.over == "users" or any("relevance" in fact.builder.needs for fact in self.facts)


def needs_of(metric: Metric[...]) -> Needs:
    """Return the requirements of a metric."""
    return _needs(metric.definition, metric.settings, metric.k, str(metric))


def is_of_segment(metric: Metric[...]) -> bool:
    """Return whether a metric is one function of a segment, of all its lists or of means, and no mean of values."""
    return metric.shape == "set" or bool(needs_of(metric).means)


def is_share(metric: Metric[...]) -> bool:
    """Return whether a metric is known to be within 0 and 1, as a mean of such values or a ratio of means."""
    return metric.shape != "set" and metric.range == (0.0, 1.0)


@lru_cache(maxsize=2048)  # all metrics at many cut-offs
def _needs(
    definition: Definition, settings: tuple[tuple[str, Value], ...], k: int | None, name: str
) -> Needs:
    metric: Metric[...] = Metric(definition, settings)
    recorder = Recorder(name)
    levels = recorder.levels
    value = metric.value(AtLists(k, levels) if definition.over_lists else At(k, recorder))
    columns = recorder.read.union(*(needs_of(mean).columns for mean in recorder.means))
    of_rows = (one for asked in levels.columns.values() for one in asked)
    return Needs(
        columns=frozenset(columns),
        facts=tuple(levels.of_sides if definition.over_lists else side_rows.facts(columns)),
        levels=frozenset({*levels.columns, *levels.speaks_of.values()}),
        means=tuple(recorder.means),
        value=value,
        over="lists" if definition.over_lists else "users",
        reads_ranks=not definition.over_lists
        or any("rank" in one.meta.root_names() for one in of_rows),
    )
