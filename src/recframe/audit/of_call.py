"""The metrics, the frames and the result of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from recframe.evaluation.recorder import EXPECTED, HITS
from recframe.evaluation.required_columns import needs_of
from recframe.metrics.language.definition import Metric

HARDLY = 0.01
"""Share of users, or of ids, below which hardly any are left."""
NEARLY_ALL = 0.95
"""Share from which nearly all are there."""


@dataclass(frozen=True)
class OfCall:
    """The metrics of a call, its eager frames and its result."""

    metrics: Sequence[Metric[...]]
    result: pl.DataFrame
    model: str | None
    """The result's column of models, where a model is bound."""
    given: Mapping[str, pl.DataFrame]
    """The eager frames, by name."""

    @property
    def cutoff(self) -> int | None:
        """The largest cut-off of the metrics; None where all of them read whole lists."""
        return max((metric.k for metric in self.metrics if metric.k is not None), default=None)

    @property
    def reads_relevance(self) -> bool:
        """Whether relevance changes the answer: `judge()` has no metric, and gives all of it."""
        return not self.metrics or any(needs_of(one).reads_relevance for one in self.metrics)

    @cached_property
    def n_rows(self) -> int:
        """The number of rows of the result, at least 1."""
        return max(len(self.result), 1)

    @cached_property
    def n_users(self) -> int:
        """The number of counted users, of each model, 0 where the result does not have it."""
        if "n_users" not in self.result.columns:
            return 0
        n_models = 1
        if self.model in self.result.columns:
            n_models = max(self.result[self.model].drop_nulls().n_unique(), 1)
        return int(self.result["n_users"].sum()) // n_models

    @cached_property
    def values(self) -> dict[str, pl.Series]:
        """The values of the metrics that are above 0 only where a list has a relevant item, by metric."""
        counting = (str(one) for one in self.metrics if needs_of(one).columns & (HITS | EXPECTED))
        return {name: self.result[name] for name in counting if name in self.result.columns}

    @cached_property
    def are_hits_low(self) -> bool:
        """Whether less than 1 % of the users, or of those of a model, have a hit, or every value is 0 or null.

        NOTE: a mean of values up to 1 is at most the share of users with a hit.
        """
        if not self.values:
            names = [str(one) for one in self.metrics if str(one) in self.result.columns]
            return bool(names) and not any(_highest(self.result[name]) for name in names)
        values = self.values.values()
        if self.result.is_empty() or any(_lowest(one) >= HARDLY for one in values):
            return False
        if self.model not in self.result.columns:
            return max(map(_highest, values)) < HARDLY
        of_model = self.result[self.model].alias("model")
        rows = pl.DataFrame(
            [of_model, *(one.alias(str(place)) for place, one in enumerate(values))]
        )
        rows = rows.drop_nulls("model").group_by("model").max().drop("model").fill_null(0.0)
        return bool((rows.max_horizontal() < HARDLY).any())

    @property
    def found_a_hit(self) -> bool:
        """Whether the result shows that a list has a relevant item."""
        return any(_highest(values) > 0 for values in self.values.values())

    @cached_property
    def may_be_perfect(self) -> bool:
        """Whether a metric of hits is nearly 1, or none tells."""
        return not self.values or any(_highest(one) >= NEARLY_ALL for one in self.values.values())


def _highest(values: pl.Series) -> float:
    """Return the largest value, 0 where there is none."""
    highest: Any = values.max()
    return float(highest or 0.0)


def _lowest(values: pl.Series) -> float:
    """Return the smallest value, 0 where one is missing."""
    lowest: Any = 0.0 if values.has_nulls() else values.min()
    return float(lowest)
