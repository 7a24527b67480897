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


@dataclass(frozen=True)
class OfCall:
    """What a call asks of its frames, and its answer."""

    metrics: Sequence[Metric[...]]
    result: pl.DataFrame
    model: str | None
    """The result's column of models, where one is bound."""
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
    def n_models(self) -> int:
        """The number of models of the result, 1 where none is bound."""
        here = self.model is not None and self.model in self.result.columns
        return self.result[self.model].drop_nulls().n_unique() if here else 1

    @cached_property
    def n_users(self) -> int:
        """The number of counted users, of each model, 0 where the result does not have it."""
        if "n_users" not in self.result.columns:
            return 0
        return int(self.result["n_users"].sum()) // max(self.n_models, 1)

    @cached_property
    def are_hits_low(self) -> bool:
        """Whether less than 1 % of the users, or of those of one model, have a hit, or every value is 0 or null.

        NOTE: a mean of values up to 1 is at most the share of users with a hit.
        """
        names = {str(one): one for one in self.metrics if str(one) in self.result.columns}
        if not names:
            return False
        reads = HITS | EXPECTED
        counting = [name for name, one in names.items() if needs_of(one).columns & reads]
        if not counting:
            return not any(self._highest(self.result[name]) for name in names)
        highest = [self._of_models(self.result[name]) for name in counting]
        return any(max(values) < HARDLY for values in zip(*highest, strict=True))

    def _of_models(self, values: pl.Series) -> list[float]:
        """Return the largest value of each model."""
        if self.model is None or self.model not in self.result.columns:
            return [self._highest(values)]
        models = self.result[self.model]
        names = models.drop_nulls().unique(maintain_order=True)
        return [self._highest(values.filter(models == name)) for name in names]

    @staticmethod
    def _highest(values: pl.Series) -> float:
        highest: Any = values.max()
        return float(highest or 0.0)
