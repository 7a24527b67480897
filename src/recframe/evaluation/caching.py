"""Caches of plans by their columns, and of users' values.

To make the plan of an eager frame of a few thousand rows takes longer than to run it, and it depends on nothing but the
columns' dtypes, the options and the metrics. So do questions to some hundred thousand rows, after which each call has a plan of
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import polars as pl

from recframe.evaluation import trainings
from recframe.evaluation.evaluation import Convention, by_policies, of_each_training
from recframe.evaluation.plan import Plan, Run
from recframe.evaluation.recorder import LISTED
from recframe.evaluation.user_values import HeldPlan, HeldValues, values_of_users
from recframe.frames.collecting import Collect, run_as_it_is
from recframe.frames.hints import WORDS, in_python
from recframe.frames.inputs import Inputs
from recframe.frames.segments import Place
from recframe.metrics.language.definition import Metric
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged import Known, judge

MOST = 1_000
"""Cache capacity in metrics, latest used kept: 32 MB, twice as much for summaries and comparisons."""
OF_A_PLAN = 5
"""Memory of a plan, in metrics."""
MIDDLING = 500_000
"""Rows up to which a cached plan is used without precomputation; half with several lists per user."""
CUTTING: tuple[Place, ...] = ("rows", "lists", "truth", "items")
"""Places of segments that cut a user's lists into several."""
FEW = 100
"""Most categories of an Enum in a cache key, since all of them are compared."""


_kept: dict[Hashable, tuple[Plan, int]] = {}
"""Plans with their numbers of metrics, those that ran last at the end."""


Made = Callable[[Inputs, Run], pl.LazyFrame]
"""Type of functions that build a plan of frames."""


def planned(
    inputs: Inputs,
    asked: Sequence[Convention],
    run: Run,
    made: Made,
    *what: Hashable,
    middling: int | None = None,
) -> pl.LazyFrame:
    """Return a plan of some metrics, or its result where one is kept; `what` tells it from others of the same metrics.

    `middling` is up to how many rows it is to be kept, where that is not `MIDDLING`.

    NOTE: a plan that runs is no longer among those kept, so that no other thread gives it frames meanwhile.
    """
    if not _is_of_columns(inputs, asked):
        return made(inputs, run)
    if run.ask is not None and _is_middling(inputs, asked, middling or MIDDLING):
        run = replace(run, ask=None)
    if not run.is_plain:
        return made(inputs, run)
    key = ((_columns_of(inputs), *what), *map(_key_of, asked))
    kept = _kept.pop(key, None)
    if kept is None:
        schemas = {name: one.schema for name, one in inputs.given.items()}
        plan = Plan(schemas)
        plan.result = made(inputs.standing_in(plan.frames), run)
        # NOTE: Polars then has the plan in the form that it runs in, which is half of what a kept plan saves
        plan.result.collect_schema()
        kept = plan, len(asked)
    plan, _ = kept
    plan.fill(inputs.given)
    try:
        return run_as_it_is(plan.result).lazy()
    finally:
        plan.clear()
        _kept[key] = kept
        _let_go()


def _let_go() -> None:
    """Keep the plans that ran last; other threads may do the same meanwhile."""
    room = MOST
    for key, (_, n_metrics) in reversed(_kept.copy().items()):
        room -= OF_A_PLAN + n_metrics
        if room < 0:
            _kept.pop(key, None)


def _is_of_columns(inputs: Inputs, asked: Sequence[Convention]) -> bool:
    """Return whether a plan depends on the columns, the options and the metrics alone.

    Facts of side frames look at data, and so do the checks of strict=True; a command's messages name its files; what a metric
    of the user's own depends on nobody knows.
    """
    is_eager = inputs.given.keys() == inputs.sides.keys() and inputs.all_users is None
    if not is_eager or inputs.context.strict or WORDS.get() is not in_python:
        return False
    needs = [convention.needs for convention in asked]
    dtypes = [dtype for frame in inputs.given.values() for dtype in frame.dtypes]
    return (
        all(convention.metric.definition.builtin for convention in asked)
        and not any(need.facts for need in needs)
        and not any(isinstance(one, pl.Enum) and len(one.categories) > FEW for one in dtypes)
    )


def _is_middling(inputs: Inputs, asked: Sequence[Convention], most: int) -> bool:
    """Return whether all frames are too small for precomputed lists to pay off, and no metric reads whole lists."""
    has_more_lists = inputs.model or inputs.inside(*CUTTING)
    most = most // 2 if has_more_lists else most
    few = all(len(frame) <= most for frame in inputs.given.values())
    needs = [convention.needs for convention in asked]
    return few and not any(need.levels or need.columns & LISTED for need in needs)


def _columns_of(inputs: Inputs) -> Hashable:
    """Return the columns of frames and options that a plan reads."""
    given, sides = inputs.given.items(), inputs.sides.values()
    columns = tuple((name, *frame.columns, *frame.dtypes) for name, frame in given)
    names = tuple(tuple(side.names.items()) for side in sides)
    bound = inputs.context.without_frames
    return columns, names, bound, inputs.segments, inputs.known, inputs.units


def _key_of(one: Convention) -> Hashable:
    """Return the cache key of a metric under its policies; its name distinguishes 1 from 1.0."""
    metric = one.metric
    return str(metric), metric.name, metric.settings, metric.k, one.context.policies


def held_values(
    inputs: Inputs, conventions: Sequence[Convention], run: Run, collect: Collect
) -> HeldValues:
    """Return the users' values of those of the metrics that run over users; others are planned as ever, as are folds.

    Where trainings are bound they are those of each training.
    """
    if inputs.folds is not None:
        return HeldValues({})
    if inputs.training:
        conventions = of_each_training(conventions)
        inputs = trainings.apart(inputs)
    of_users = (convention.of_users for convention in conventions if convention.over == "users")
    return HeldValues(
        {
            under.context.policies: _plan(under, metrics, run, collect)
            for under, metrics in by_policies(inputs, of_users)
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
    known = Known(users=crowd.lazy(), checked=True)
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
