"""Methods of `rec` that hold several models against one another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Generic

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs, F
from recframe.api.request import Request
from recframe.charts.long_format import Names, against_each, check_models, check_reference
from recframe.errors import ColumnError, DataError, silent
from recframe.evaluation import evaluation
from recframe.evaluation.execution import Run
from recframe.evaluation.segments import keys_of, numbered
from recframe.frames.hints import Given
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.ranking.relevance import rows_of_models
from recframe.statistics.pairs import BASELINE, MODEL
from recframe.statistics.pareto_fronts import COLUMNS, VERDICT, Fronts, with_verdicts

REFERENCE = "reference"
ROW = "row of the result"


class ModelsTogether(Generic[F]):
    """Methods of `rec` that hold several models against one another."""

    @argument_errors.understood
    def agreement(self, *metrics: Asked, k: Cutoffs = None, by: By = None) -> F:
        """Return how far the lists of each two models agree: metrics of each model with another one as its reference.

        Metrics are those that hold lists against a `reference`, such as "rbo@10", "overlap@10" and "unexpectedness@10". The
        arguments are those of `evaluate`. No truth is needed.

        The result is that of `evaluate`, with the column `reference` behind the `by` columns and the model: a row for each
        ordered pair of models, sorted by these columns. "a" held against "b" and "b" against "a" are two rows, since the mean
        runs over the lists of the model, and a metric may divide by the length of its list: both are alike where both models
        have full lists for the same users. What `rec(reference=...)` binds is not read.

        Raises a RecframeError without a column of models, and for a metric without a reference; a DataError for fewer than two
        models, on a LazyFrame when it is collected; and what `evaluate` raises.

        >>> import polars as pl, recframe as rf
        >>> a = pl.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 3, 4], "rank": [1, 2, 1, 2]})
        >>> b = a.with_columns(item=pl.Series([1, 3, 3, 4]))
        >>> rf.rec({"a": a, "b": b}).agreement("overlap", "rbo", k=2)
        shape: (2, 6)
        ┌───────┬───────────┬─────────┬─────────┬───────────┬───────┐
        │ model ┆ reference ┆ n_users ┆ n_lists ┆ overlap@2 ┆ rbo@2 │
        │ ---   ┆ ---       ┆ ---     ┆ ---     ┆ ---       ┆ ---   │
        │ str   ┆ str       ┆ i64     ┆ i64     ┆ f64       ┆ f64   │
        ╞═══════╪═══════════╪═════════╪═════════╪═══════════╪═══════╡
        │ a     ┆ b         ┆ 2       ┆ 2       ┆ 0.75      ┆ 0.775 │
        │ b     ┆ a         ┆ 2       ┆ 2       ┆ 0.75      ┆ 0.775 │
        └───────┴───────────┴─────────┴─────────┴───────────┴───────┘
        """
        found = registry.asked(registry.each(metrics), k)
        for metric in found:
            check_reference(metric, "agreement")
        rec: Any = self._candidates()  # type: ignore[attr-defined]  # of a Rec
        check_models(rec, "agreement()")
        request, keys = _asked(rec(reference=""), found, by, [REFERENCE])
        plan = evaluation.evaluate(request.home, request.stated, Run())
        schema = [*numbered(plan, [*keys]).collect_schema().items()]
        schema.insert(len(keys), (REFERENCE, dict(schema)[MODEL]))
        models = rows_of_models(request.inputs).unique()
        asked = partial(
            _pairs,
            rec._in_polars(),  # noqa: SLF001  the methods of this room are those of a Rec
            keys,
            metrics=found,
            by=by,
        )
        plan = request.kind.applied(models, asked, pl.Schema(schema)).rename(keys)
        sources = {**request.inputs.sources, REFERENCE: request.inputs.sources.get(keys[MODEL])}
        result: F = request.kind.give(plan, sources)
        return result

    @argument_errors.understood
    def pareto(  # noqa: PLR0913  those of evaluate, the points, and how models are compared
        self,
        *metrics: Asked,
        k: Cutoffs = None,
        by: By = None,
        worst: Mapping[str, float] | None = None,
        ideal: Mapping[str, float] | None = None,
        level: float = 0.95,
        margin: float | None = None,
        cluster: str | None = None,
    ) -> F:
        """Return models by several metrics at once: who is on the Pareto front, and how much of it each one holds.

        `metrics`, `k` and `by` are those of `evaluate`; `level`, `margin` and `cluster` those of `compare`, of each
        two models.

            worst: the worst point, by metrics, such as {"novelty@10": 0}; elsewhere the bad end of a metric's range.
            ideal: the ideal point; elsewhere the good end of a metric's range.

        Columns: those of `evaluate`, a row for each segment and model, then

            front: "front" if no other model equals or beats it in all metrics and beats it in one. "dominated" if another one
                does, and the verdicts of `compare` show it: better in one metric at least, and better, the same or, with a
                margin, not worse in all others. Else "open": another one does by its values, which may be chance.
            dominated_by: these other models; those that are shown, where some are.
            hypervolume: the product over the metrics of the distance from the worst point, 0 where a value is beyond it.
            hypervolume_of_all: the volume of the union of these boxes, of all models of the segment, the same in each row.
            distance: from the ideal point, the root of the summed squares. It adds metrics as they are, so those of a wide
                range count most.
            note: why something is null, or cannot be shown.

        Where a metric's range has no end, as that of novelty, the ideal point is not known and the distance is null, until
        `ideal=` has a number for each such metric; so is the hypervolume, where the range has no bad end. A model without
        a value of a metric has null in all of them, and dominates nobody. Where a profile rounds, fronts go by what is shown.
        Metrics that `compare` does not take, such as exposure_disparity, leave "open" what others dominate, and so does a
        Python without recframe[stats].

        Raises a RecframeError for a metric without a better end, for fewer than two metrics and
        for a point without a number that it needs; and what `evaluate` and `compare` raise.

        >>> import polars as pl, recframe as rf
        >>> truth = pl.DataFrame({"user": range(40), "item": 0})
        >>> lists = {name: truth.with_columns(rank=rank) for name, rank in {"a": 1, "b": 2, "c": 3}.items()}
        >>> found = rf.rec(lists, truth).pareto("mrr@2", "recall@3")
        >>> found.select("model", "mrr@2", "front", "dominated_by", "hypervolume", "distance")
        shape: (3, 6)
        ┌───────┬───────┬───────────┬──────────────┬─────────────┬──────────┐
        │ model ┆ mrr@2 ┆ front     ┆ dominated_by ┆ hypervolume ┆ distance │
        │ ---   ┆ ---   ┆ ---       ┆ ---          ┆ ---         ┆ ---      │
        │ str   ┆ f64   ┆ str       ┆ str          ┆ f64         ┆ f64      │
        ╞═══════╪═══════╪═══════════╪══════════════╪═════════════╪══════════╡
        │ a     ┆ 1.0   ┆ front     ┆ null         ┆ 1.0         ┆ 0.0      │
        │ b     ┆ 0.5   ┆ dominated ┆ a            ┆ 0.5         ┆ 0.5      │
        │ c     ┆ 0.0   ┆ dominated ┆ a, b         ┆ 0.0         ┆ 1.0      │
        └───────┴───────┴───────────┴──────────────┴─────────────┴──────────┘
        """
        found = registry.asked(registry.each(metrics), k)
        tested = with_verdicts(found)
        untested = [str(one) for one in found if one not in tested]
        fronts = Fronts.of(found, worst, ideal, untested)
        rec: Any = self._candidates()  # type: ignore[attr-defined]  # of a Rec
        check_models(rec, "pareto()")
        request, keys = _asked(rec, found, by, COLUMNS)
        kind, given = request.kind, {"by": by}
        asked = rec._in_polars() if kind.collects else rec  # noqa: SLF001  those of a Rec
        cells = numbered(asked.evaluate(found, **given).lazy(), [*keys])
        schema = pl.Schema([*cells.collect_schema().items(), *COLUMNS.items()])
        if tested:
            with silent():
                pairs = asked.compare(tested, level=level, margin=margin, cluster=cluster, **given)
            of_pairs = [*(key for key in keys if key != MODEL), MODEL, BASELINE, "metric", VERDICT]
            verdicts = numbered(pairs.lazy(), of_pairs).select(of_pairs)
            cells = pl.concat([cells, verdicts], how="diagonal")
        plan = kind.applied(cells, lambda rows: fronts.rows(rows, [*keys]), schema)
        result: F = kind.give(plan.rename(keys), request.inputs.sources)
        return result


def _asked(
    rec: Any, metrics: Sequence[Metric[...]], by: By, columns: Collection[str]
) -> tuple[Request, dict[str, str]]:
    """Return the request and its key columns, by their names inside the plan; none is called as one of some columns."""
    request = Request.of(rec, metrics, by)
    keys = keys_of(request.inputs, metrics)
    for name in keys.values():
        if name in columns:
            msg = (
                f"{Given('by', name)} is also the name of a result column; rename the column first"
            )
            raise ColumnError(msg)
    return request, keys


def _pairs(rec: Any, keys: Mapping[str, str], rows: pl.DataFrame, **asked: Any) -> pl.DataFrame:
    """Return a row for each segment and pair of models, in the order of the segments, the model and its reference."""
    models = rows[MODEL].sort()
    names = Names.of([models]).order
    if len(names) < 2:  # noqa: PLR2004  a pair
        found = ", ".join(map(repr, names)) or "none"
        msg = f"there are no two models to compare: the column {keys[MODEL]!r} has {found}"
        raise DataError(msg)
    parts = []
    for place, result in enumerate(against_each(rec, models=names, **asked)):
        rows = result.clone()
        rows.columns = [*keys, *result.columns[len(keys) :]]
        other = models.slice(place, 1).new_from_index(0, len(rows)).alias(REFERENCE)
        rows = rows.insert_column(len(keys), other).with_row_index(ROW)
        parts.append(rows.filter(pl.col(MODEL) != pl.col(REFERENCE)))
    # the parts have the same rows
    return pl.concat(parts).sort(ROW, maintain_order=True).drop(ROW)
