"""Cached users' values, collected once for several requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from recframe.evaluation import trainings
from recframe.evaluation.evaluation import Asked, Convention, of_each_training, of_the_plan
from recframe.evaluation.execution import Run
from recframe.evaluation.metrics_of_users import WITH_RELEVANT
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.user_values import HeldPlan, HeldValues, values_of_users
from recframe.frames.collecting import Collect
from recframe.frames.inputs import Inputs
from recframe.metrics.language.definition import Metric
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import judge
from recframe.ranking.precomputed import Known


def held_values(
    inputs: Inputs, conventions: Sequence[Convention], run: Run, collect: Collect
) -> HeldValues:
    """Return the users' values of those of the metrics that run over users; others are planned as ever.

    Where trainings are bound they are those of each training.
    """
    if inputs.training:
        conventions = of_each_training(conventions)
        inputs = trainings.apart(inputs)
    asked: Asked = {}
    for one in conventions:
        if one.over == "users":
            context = of_the_plan(one.context, inputs)
            means = needs_of(one.metric).means or (one.metric,)
            asked.setdefault(context.policies, (context, []))[1].extend(means)
    return HeldValues(
        {
            policies: _plan(inputs.under(context), [*metrics, WITH_RELEVANT], run, collect)
            for policies, (context, metrics) in asked.items()
        }
    )


def _plan(inputs: Inputs, metrics: Sequence[Metric[...]], run: Run, collect: Collect) -> HeldPlan:
    """Return the values of some metrics under the same policies."""
    found = judge(inputs).models
    models = None if found is None else collect(found)
    # which the plan then does not look for once more
    judged = judge(inputs, None if models is None else models.lazy())
    values = values_of_users(judged, metrics, inputs.model, run.ask)
    columns = [*inputs.model, "user", *values.names]
    rows = values.judged.named(values.present).select(*columns, n_users=pl.lit(1, pl.Int64))
    checked = after_checks(rows, values.judged, "n_users", pl.Int64, steep=values.steep)
    present = collect(checked.select(columns))
    crowd = collect(values.judged.users.select("user").unique())
    known = Known(n_users=len(crowd), crowd=crowd.lazy(), checked=True)
    return HeldPlan(
        columns={HeldPlan.key(one): name for one, name in zip(metrics, values.names, strict=True)},
        values=replace(
            values,
            judged=replace(judged, known=known),
            present=present.lazy(),
            empty=collect(values.empty).lazy(),
            steep=False,
        ),
        models=models,
    )
