"""Methods of `rec` that hold several models against one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs, F
from recframe.api.request import Request
from recframe.charts.long_format import against_each, check_models, check_reference
from recframe.errors import ColumnError, DataError, shown
from recframe.evaluation import evaluation
from recframe.evaluation.execution import Run
from recframe.evaluation.segments import keys_of, numbered
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Given
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.ranking.relevance import rows_of_models
from recframe.statistics.pairs import MODEL

REFERENCE = "reference"
ROW = "row of the result"


class ModelsTogether(Generic[F]):
    """Methods of `rec` that hold several models against one another."""

    @argument_errors.understood
    def agreement(
        self, *metrics: Asked, k: Cutoffs = None, by: By = None, profile: str | None = None
    ) -> F:
        """Return how far the lists of each two models agree: metrics of each model with another one as its reference.

        Metrics are those that hold lists against a `reference`, such as "rbo@10", "overlap@10" and "unexpectedness@10". The
        arguments are those of `evaluate`. No truth is needed.

        The result is that of `evaluate`, with the column `reference` behind the `by` columns and the model: a row for each
        ordered pair of models, sorted by these columns. "a" held against "b" and "b" against "a" are two rows, since the mean
        runs over the lists of the model, and a metric may divide by the length of its list: both are alike where both models
        have full lists for the same users. Of a model that is null the lists are measured, but it is no reference. What
        `rec(reference=...)` binds is not read.

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
        request = Request.of(rec(reference=""), found, by, profile)
        inputs, kind = request.inputs, request.kind
        keys = keys_of(inputs, found)
        for name in keys.values():
            if name == REFERENCE:
                msg = f"{Given('by', name)} is also the name of a result column; rename the column first"
                raise ColumnError(msg)
        in_polars = rec._in_polars()  # noqa: SLF001  the methods of this room are those of a Rec
        pairs = Pairs(in_polars, found, by, profile, [*keys], inputs.context.names[MODEL])
        plan = kind.applied(rows_of_models(inputs).unique(), pairs.rows, pairs.schema(request))
        names = (pl.col(inside).alias(name) for inside, name in keys.items())
        plan = plan.select(*names, REFERENCE, pl.exclude(*keys, REFERENCE))
        sources = {**inputs.sources, REFERENCE: inputs.sources.get(keys[MODEL])}
        result: F = kind.give(plan, sources)
        return result


@dataclass(frozen=True)
class Pairs:
    """Pairs of models, of which one is measured and the other one its reference."""

    rec: Any
    """The `rec` whose results are frames of Polars."""
    metrics: Sequence[Metric[...]]
    by: By
    profile: str | None
    keys: Sequence[str]
    """The key columns, by their names inside the plan."""
    column: str
    """The name of the models' column."""

    def schema(self, request: Request) -> pl.Schema:
        """Return the columns of the result, from the frames' schemas alone."""
        plan = evaluation.evaluate(request.home, request.stated, Run())
        found = numbered(plan, self.keys).collect_schema()
        return pl.Schema({**found, REFERENCE: found[MODEL]})

    def rows(self, models: pl.DataFrame) -> pl.DataFrame:
        """Return a row for each segment and pair of models, in the order of the segments, the model and its reference."""
        named = models[MODEL].drop_nulls().sort()
        text = as_text(pl.col(MODEL), named.dtype)
        names = named.to_frame().select(text).to_series().to_list()
        if len(names) < 2:  # noqa: PLR2004  a pair
            found = shown(names[0]) if names else "none"
            msg = f"there are no two models to compare: the column {self.column!r} has {found}"
            raise DataError(msg)
        parts = []
        options = {"by": self.by, "profile": self.profile}
        results = against_each(self.rec, self.metrics, names, **options)
        for place, result in enumerate(results):
            rows = result.clone()
            rows.columns = [*self.keys, *result.columns[len(self.keys) :]]
            other = named.slice(place, 1).new_from_index(0, len(rows)).alias(REFERENCE)
            rows = rows.with_row_index(ROW).with_columns(other)
            parts.append(rows.filter(text.ne_missing(pl.lit(names[place]))))
        # the parts have the same rows
        return pl.concat(parts).sort(ROW, maintain_order=True).drop(ROW)
