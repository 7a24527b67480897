"""What a report is written from: results of `rec` with plain names, its charts, its cases, and what could not be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from recframe.metrics.language.definition import Metric


@dataclass(frozen=True)
class Asked:
    """What a report was asked for."""

    metrics: Sequence[Metric[...]]
    baseline: str | None = None
    by: Sequence[str] = ()
    """The names of the columns of segments."""
    level: float = 0.95
    min_users: int = 30
    cluster: str | None = None
    """The column of users who hang together."""
    title: str = ""
    title_of: str | None = None
    """The column of `items` that names an item."""


@dataclass(frozen=True)
class Drawn:
    """A chart, and the words for those who do not see it."""

    name: str
    chart: Any
    alt: str = ""


@dataclass(frozen=True)
class Gathered:
    """The numbers of a report; frames have the model as text in `model`, and segments in `segment`."""

    asked: Asked
    models: Sequence[str]
    """Their names; one for all lists, where no models are bound."""
    facts: Sequence[tuple[str, str]]
    sure: str
    """At which level intervals are, and of how many clusters of users, in words."""
    summary: pl.DataFrame | None = None
    meanings: Sequence[tuple[str, str]] = ()
    """The metrics, and what each means."""
    compared: pl.DataFrame | None = None
    untested: Sequence[str] = ()
    """Metrics of which no test is known."""
    gaps: pl.DataFrame | None = None
    slices: pl.DataFrame | None = None
    costs: pl.DataFrame | None = None
    zeros: pl.DataFrame | None = None
    """The share of users whose value is 0, by model."""
    findings: pl.DataFrame | None = None
    cases: Mapping[str, Any] | None = None
    charts: Mapping[str, Sequence[Drawn]] = field(default_factory=dict)
    """The charts of each section."""
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What is not shown in a section, and what to bind to see it."""
    warnings: Sequence[str] = ()

    @property
    def has_models(self) -> bool:
        """Whether there are several models."""
        return len(self.models) > 1
