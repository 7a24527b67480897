"""The question of a report, and the numbers of its sections."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from recframe.audit.report import meanings_of_checks
from recframe.charts.long_format import Names, Result, at_level, models_of, named
from recframe.errors import RecframeError
from recframe.evaluation.required_columns import is_of_segment, needs_of
from recframe.frames.dtypes import text_of
from recframe.frames.inputs import Frames
from recframe.metrics import catalogue_metrics, popularity_metrics
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.reports.decision import Decision, sign_of
from recframe.side_info.requirements import check_needs

CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
"""The cut-offs of curves."""
MOST_CURVES = 2
BEYOND = (
    *(catalogue_metrics.coverage, catalogue_metrics.gini),
    *(popularity_metrics.novelty, popularity_metrics.popularity_lift),
)
"""Metrics of the costs of accuracy."""
Rows = list[dict[str, Any]]


@dataclass
class Facts:
    """The question of a report, and its numbers, each of which is computed once."""

    whole: Any
    """The `rec`, with models that are bounds."""
    columns: Sequence[Any]
    """Those of segments."""
    metrics: list[Metric[...]]
    """The first one decides."""
    baseline: str | None
    by: list[str]
    level: float
    min_users: int
    """Fewest users of a segment that is judged."""
    cluster: str | None
    margin: float | None
    lacks: Sequence[str]
    """Sentences on models whose lists are of other users."""
    data: dict[str, Any] = field(default_factory=dict)
    """The numbers of the page."""
    stop: str = ""
    """Why nothing is decided."""
    places: dict[str, int] = field(default_factory=dict)
    """The places of the models by the first metric."""

    def __post_init__(self) -> None:
        """Note what is asked, and the names of the models."""
        self.rec = self.whole._candidates()._in_polars()  # noqa: SLF001  the methods of this room
        self.inputs: Frames = self.rec._inputs(None, self.metrics)  # noqa: SLF001
        self.names: Names = models_of(self.rec)
        self.models = self.names.order
        self.data = {
            "metrics": [*map(str, self.metrics)],
            "models": self.models,
            "baseline": self.baseline,
            "by": self.by,
            **self.how,
            "summary": [],
            "findings": [],
        }

    @property
    def of_users(self) -> list[Metric[...]]:
        """The metrics of which users have values."""
        return [metric for metric in self.metrics if not is_of_segment(metric)]

    @property
    def over_cutoffs(self) -> list[Metric[...]]:
        """The metrics that are drawn over the cut-off."""
        cut = {one.name: replace(one, k=None) for one in self.of_users if one.k is not None}
        return [*cut.values()][:MOST_CURVES]

    @property
    def k(self) -> int | None:
        """The first cut-off."""
        return next((metric.k for metric in self.metrics if metric.k is not None), None)

    @property
    def how(self) -> dict[str, Any]:
        """Options of intervals."""
        return {"level": self.level, "cluster": self.cluster}

    @property
    def at(self) -> str:
        """The level of intervals, and the column of clusters, as a sentence has them."""
        return at_level(**self.how)

    @property
    def about(self) -> dict[str, str]:
        """Names and values below the headline."""
        users = max((row["n_users"] for row in self.summary), default=0)
        found = {"Users": f"{users:,}", "Models": f"{len(self.models):,}"}
        found |= {"Baseline": self.baseline or "", "Segments by": ", ".join(self.by)}
        found |= {"Conventions of": self.inputs.context.profile or "", "Intervals": self.at}
        return {name: value for name, value in found.items() if value}

    def keep(self, name: str, result: pl.DataFrame) -> Rows:
        """Return the rows of a result, which are numbers of the page."""
        rows: Rows = result.drop("place", strict=False).to_dicts()
        self.data[name] = rows
        return rows

    @cached_property
    def summary(self) -> Rows:
        """The rows of `summarize`, models by the value of the first metric, the best first."""
        if not self.metrics:
            return []
        result = self.rec.summarize(self.metrics, **self.how)
        rows = self.keep("summary", named(self.rec, result).data)
        sign = sign_of(self.metrics[0]) or 1
        firsts = self.of_first(rows)
        # of equal ones the baseline is the first
        firsts.sort(
            key=lambda row: (
                row["value"] is None,
                -sign * (row["value"] or 0),
                row["model"] != self.baseline,
            )
        )
        self.places = {row["model"]: place for place, row in enumerate(firsts)}
        return self.by_value(rows)

    def of_first(self, rows: Rows) -> Rows:
        """Return rows of the first metric."""
        return [row for row in rows if row["metric"] == str(self.metrics[0])]

    def by_value(self, rows: Rows) -> Rows:
        """Return rows of models in the order of the values of the first metric, the best first."""
        return sorted(rows, key=lambda row: self.places.get(row["model"], 0))

    @cached_property
    def bounds(self) -> str:
        """The values of models that are bounds, in a sentence."""
        names = self.whole._context.bounds  # noqa: SLF001
        if not names:
            return ""
        whole = self.whole._in_polars()  # noqa: SLF001
        bounds = {*map(text_of, names)}
        rows = named(whole, whole.evaluate(self.metrics[0], tidy=True)).data.to_dicts()
        values = [f"{row['model']} {row['value']:.3f}" for row in rows if row["model"] in bounds]
        return f"Bounds of {self.metrics[0]}, which are no candidates: {', '.join(values)}."

    @cached_property
    def costs(self) -> Rows:
        """The values beyond accuracy, of the metrics whose frames are bound."""
        metrics = [replace(one, k=self.k) for one in BEYOND]
        served = [metric for metric in metrics if self._is_served(metric)]
        if not served:
            return []
        found = named(self.rec, self.rec.evaluate(served, tidy=True)).data
        names = pl.col("metric").replace({one.name: str(one) for one in served})
        rows = self.by_value(found.with_columns(names).drop("n", "k").to_dicts())
        self.data["costs"] = rows
        return rows

    def _is_served(self, metric: Metric[...]) -> bool:
        """Return whether the profile has a metric, and the frames that it needs are bound."""
        with suppress(RecframeError):
            under_profile.asked(self.inputs.context, [metric])
            check_needs(self.inputs, metric, needs_of(metric).facts)
            return True
        return False

    @cached_property
    def findings(self) -> Rows:
        """The findings of the audit with their meanings; none of folds, whose audit is that of the split."""
        if self.inputs.folds is not None or not self.inputs.judged:
            return []
        found = self.rec.audit(self.k, by=[*self.columns] or None)
        what = pl.col("check").replace_strict(
            meanings_of_checks(), default="", return_dtype=pl.String
        )
        return self.keep("findings", found.with_columns(what=what))

    def compared(self, baseline: str, metrics: Any, **more: Any) -> Result:
        """Return comparisons of models with one, whose rows are a family of tests, with their numbers of users."""
        how = {**self.how, "margin": self.margin, **more}
        return named(self.rec, self.rec._compared([metrics], baseline, counts=True, **how))  # noqa: SLF001

    @property
    def against(self) -> str:
        """The baseline, or else the best model, "" without a model to compare with."""
        return self.baseline or (self.decision.best if self.decision else "")

    @cached_property
    def compared_all(self) -> Result | None:
        """Comparisons of all models with that one, in all metrics."""
        if self.stop or not self.against:
            return None
        return self.compared(self.against, self.metrics)

    @cached_property
    def decision(self) -> Decision | None:
        """The decision between candidates; None where two are not known, or none is better."""
        first = next(iter(self.metrics), None)
        baseline = self.baseline
        if self.stop or first is None or not sign_of(first):
            return None
        signs = {str(one): sign_of(one) for one in self.metrics}
        rows = self.of_first(self.summary)
        known = [row["model"] for row in rows if row["value"] is not None]
        best, runner_up, *_ = [*(one for one in known if one != self.names.none), "", ""]
        if not runner_up:
            return None
        others = [one for one in self.metrics if one != first]
        families = [self.compared(runner_up, of, model=best) for of in ([first], others) if of]
        every = [row for found in families for row in found.data.to_dicts()]
        ahead = [row for row in every if signs[row["metric"]]]
        above = {}
        if baseline is not None and baseline not in {best, runner_up}:
            rows = self.compared(baseline, first).data.to_dicts()
            above = {row["model"]: row for row in rows if row["model"] in {best, runner_up}}
        judged = {"min_users": self.min_users, "model": best}
        by_column = {
            name: self.compared(runner_up, first, by=column, **judged)
            for name, column in zip(self.by, self.columns, strict=False)
            if first in self.of_users
        }
        decision = Decision(
            str(first), signs, self.level, self.margin, baseline, ahead, above, by_column
        )
        self.data |= {"ahead": ahead, "segments": decision.segments}
        return decision
