"""`rec.pareto`: models compared with one another by several metrics at once."""

from __future__ import annotations

from typing import Any, Generic

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs, F
from recframe.api.request import Request
from recframe.charts.long_format import check_models
from recframe.errors import ColumnError, silent
from recframe.evaluation.segments import keys_of, numbered
from recframe.frames.hints import Given
from recframe.metrics.language import registry
from recframe.statistics.pairs import BASELINE, MODEL
from recframe.statistics.pareto_fronts import COLUMNS, VERDICT, Fronts


class ModelsTogether(Generic[F]):
    """`rec.pareto`: models compared with one another by several metrics at once."""

    @argument_errors.understood
    def pareto(self, *metrics: Asked, k: Cutoffs = None, by: By = None) -> F:
        """Return which models are on the Pareto front of several metrics.

        `metrics`, `k` and `by` are those of `evaluate`.

        Columns: those of `evaluate`, a row for each segment and model, then

            front: "front" if no other model equals or beats it in all metrics and beats it in one. "dominated" if another one
                does, and the verdicts of `compare` show it: better in one metric at least, and better or the same in all
                others. Else "open": another one does by its values, which may be chance.
            dominated_by: these other models; those that are shown, where some are.
            note: why something is null, or cannot be shown.

        A model without a value of a metric has null, and dominates nobody. Where a profile rounds, fronts go by what is shown.
        Metrics that `compare` does not take, such as exposure_disparity, leave "open" what others dominate, and so does a
        Python without recframe[stats].

        Raises a RecframeError for a metric without a better end, and for fewer than two metrics; and what `evaluate` and
        `compare` raise.

        >>> import polars as pl, recframe as rf
        >>> truth = pl.DataFrame({"user": range(40), "item": 0})
        >>> lists = {name: truth.with_columns(rank=rank) for name, rank in {"a": 1, "b": 2, "c": 3}.items()}
        >>> found = rf.rec(lists, truth).pareto("mrr@2", "recall@3")
        >>> found.select("model", "mrr@2", "recall@3", "front", "dominated_by")
        shape: (3, 5)
        ┌───────┬───────┬──────────┬───────────┬──────────────┐
        │ model ┆ mrr@2 ┆ recall@3 ┆ front     ┆ dominated_by │
        │ ---   ┆ ---   ┆ ---      ┆ ---       ┆ ---          │
        │ str   ┆ f64   ┆ f64      ┆ str       ┆ str          │
        ╞═══════╪═══════╪══════════╪═══════════╪══════════════╡
        │ a     ┆ 1.0   ┆ 1.0      ┆ front     ┆ null         │
        │ b     ┆ 0.5   ┆ 1.0      ┆ dominated ┆ a            │
        │ c     ┆ 0.0   ┆ 1.0      ┆ dominated ┆ a, b         │
        └───────┴───────┴──────────┴───────────┴──────────────┘
        """
        found = registry.asked(registry.each(metrics), k)
        fronts = Fronts.of(found)
        rec: Any = self._candidates()  # type: ignore[attr-defined]  # of a Rec
        check_models(rec, "pareto()")
        request = Request.of(rec, found, by)
        keys = keys_of(request.inputs, found)
        for name in keys.values():
            if name in COLUMNS:
                msg = f"{Given('by', name)} is also the name of a result column; rename the column first"
                raise ColumnError(msg)
        kind = request.kind
        asked = rec._in_polars() if kind.collects else rec  # noqa: SLF001  those of a Rec
        cells = numbered(asked.evaluate(found, by=by).lazy(), [*keys])
        schema = pl.Schema([*cells.collect_schema().items(), *COLUMNS.items()])
        if fronts.tested:
            with silent():
                pairs = asked.compare(fronts.tested, by=by)
            of_pairs = [*(key for key in keys if key != MODEL), MODEL, BASELINE, "metric", VERDICT]
            verdicts = numbered(pairs.lazy(), of_pairs).select(of_pairs)
            cells = pl.concat([cells, verdicts], how="diagonal")
        plan = kind.applied(cells, lambda rows: fronts.rows(rows, [*keys]), schema)
        result: F = kind.give(plan.rename(keys), request.inputs.sources)
        return result
