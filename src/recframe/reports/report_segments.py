"""Section of a report on segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.charts.formatting import listed
from recframe.charts.long_format import Intervals, Names
from recframe.charts.themes import MOST_COLOURED
from recframe.frames.hints import Either
from recframe.frames.inputs import Inputs
from recframe.metrics.language.definition import Metric
from recframe.reports import headline
from recframe.reports.decision import Asking, Decision
from recframe.reports.page import Section, figure, where_it_can
from recframe.reports.report_tables import segments_table

MOST_SEGMENTS = 30
"""Of a column in a chart, the largest."""
MOST_MARKS = 120
"""Of a chart of segments or differences, one below the other."""
OF_ONE_TRAINING = "a report of one training, whose lists are one of each user,"
MOST_ALIKE = MOST_COLOURED
"""Most models of which each is compared with each; of more with the best alone."""
TO_BIND = {
    "truth": Either("truth=, or a column of relevance,", "TRUTH, or a column of relevance,"),
    "model": Either(
        "model=, a column of models, or a frame for each, rf.rec({'a': a, 'b': b}),",
        "--model, a column of models,",
    ),
    "baseline": Either("baseline=", "--baseline"),
    "by": Either("by=", "--by"),
    "train": Either("train=", "--train"),
    "items": Either("items=", "--items"),
}
"""The arguments that let a report show more, in Python and in a shell."""


class SectionsOfSegments:
    """Section on segments; best, runner-up and baseline stand out in it."""

    rec: Any
    inputs: Inputs
    data: dict[str, list[dict[str, Any]]]
    decision: Decision | None
    asking: Asking
    how: Intervals
    names: Names
    models: list[str]
    has_models: bool
    of_users: list[Metric[...]]
    columns: list[Any]
    by: list[str]
    baseline: str | None
    level: float
    margin: float | None
    min_users: int
    sure: dict[str, Any]

    def _keep(self, name: str, result: pl.DataFrame) -> list[dict[str, Any]]:
        """Return the rows of a result, which are numbers of the page."""
        self.data[name] = result.drop("place", strict=False).to_dicts()
        return self.data[name]

    @property
    def named(self) -> list[str]:
        """Best, runner-up and baseline."""
        named = [] if self.decision is None else [self.decision.best, self.decision.runner_up]
        return list(dict.fromkeys([*named, *([] if self.baseline is None else [self.baseline])]))

    @property
    def highlight(self) -> list[str]:
        """The models that stand out in charts where there are many: best, runner-up and baseline."""
        return self.named if len(self.models) > MOST_ALIKE else []

    @property
    def plot(self) -> Any:
        """Charts in which they stand out."""
        return self.rec.plot(highlight=self.highlight)

    def segments(self, section: Section) -> None:
        """Show where the best model gains and loses, and the values of all models."""
        if not self.columns:
            words = f"{TO_BIND['by']} shows segments, by columns of users, items or lists."
            section.missing.append(words)
        if not self.columns or not self.of_users:
            return
        with where_it_can(section):
            self._for_whom(section)
        self._values(section)

    def _for_whom(self, section: Section) -> None:
        """Show the best model less the other one in each segment, the worst first."""
        if self.decision is None:
            return
        of, first = self.decision, self.asking.metrics[0]
        columns = dict(zip(self.by, self.columns, strict=True))
        frames = self.asking.in_segments((of.best, of.runner_up), columns)
        self.decision = replace(of, segments=self.asking.worst_first(frames))
        if of.loser != of.runner_up:
            frames = self.asking.in_segments((of.best, of.loser), columns)
        rows = self.data["segments"] = self.asking.worst_first(frames)
        if not rows:
            return
        section.lead = headline.for_whom(rows, of.best, of.loser)
        names = of.best, of.loser
        section.parts.append(segments_table(rows, names, self.how.words, self.level))
        for place, found in enumerate(frames.values()):
            largest = found.sort("n_users", descending=True).head(MOST_SEGMENTS)
            chart = self._chart_of(largest, [first], of.loser)
            section.parts.append(figure(f"chart-for-whom-{place}", chart))

    def _chart_of(
        self,
        found: pl.DataFrame,
        metrics: Sequence[Metric[...]],
        baseline: str | None,
    ) -> Any:
        """Return the chart of comparisons at hand."""
        return self.plot._differences(  # noqa: SLF001  what plot.compare draws of a result
            found, metrics, self.how, baseline=baseline, margin=self.margin
        )

    def _values(self, section: Section) -> None:
        """Show the first metric in the segments of each column."""
        first = self.of_users[0]
        most = max(min(MOST_SEGMENTS, MOST_MARKS // max(len(self.models), 1)), 3)
        for place, column in enumerate(self.columns):
            chart = self.plot.segments(first, by=column, most=most, **self.sure)
            section.parts.append(figure(f"chart-segments-{place}", chart))
        section.lead = section.lead or f"{first} in the segments of {listed(self.by)}."
