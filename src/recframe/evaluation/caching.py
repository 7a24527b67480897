"""Caches of plans by their columns, and of users' values.

To make the plan of an eager frame of a few thousand rows takes longer than to run it, and it depends on nothing but the
columns' dtypes, the options and the metrics. So do questions to some hundred thousand rows, after which each call has a plan of
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import polars as pl

from recframe.evaluation import trainings
from recframe.evaluation.evaluation import Convention, by_policies, of_each_training
from recframe.evaluation.execution import Run
from recframe.evaluation.recorder import LISTED
from recframe.evaluation.user_values import HeldPlan, HeldValues, values_of_users
from recframe.frames.collecting import Collect, run_as_it_is
from recframe.frames.hints import are_in_python
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Owner
from recframe.metrics.language.definition import Metric
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import Precomputed, judge

MOST = 1_000
"""Cache capacity in metrics, latest used kept: 32 MB, twice as much for summaries and comparisons."""
OF_A_PLAN = 5
"""Memory of a plan, in metrics."""
MIDDLING = 500_000
"""Rows up to which a cached plan is used without precomputation; half with several lists per user."""
CUTTING: tuple[Owner, ...] = ("row", "recommendations", "truth", "items")
"""Owners of segments that cut a user's lists into several."""
FEW = 100
"""Most categories of an Enum in a cache key, since all of them are compared."""


@dataclass
class KeptPlan:
    """Cached plan of some metrics, with the frames to run on.

    These are none but while it runs, so that no frame of a call outlives it.
    """

    n_metrics: int
    frames: dict[str, pl.DataFrame] = field(default_factory=dict)
    plan: pl.LazyFrame = field(default_factory=pl.LazyFrame)
    sums: list[tuple[pl.LazyFrame, Sequence[str], Sequence[str]]] = field(default_factory=list)
    """Sums that the plan is made of, with keys and constant columns, where these are added up elsewhere."""

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Keep the plan of some sums, and return those of nobody."""
        self.sums.append((sums, keys, same))
        return pl.LazyFrame(schema=sums.collect_schema())

    def ran(self, run: Run) -> pl.LazyFrame:
        """Return the result on the frames; sums are given to whoever adds them up."""
        if run.adds is None:
            return run_as_it_is(self.plan).lazy()
        for sums, keys, same in self.sums:
            run.adds(run_as_it_is(sums).lazy(), keys, same)
        return self.plan


_kept: dict[Hashable, KeptPlan] = {}


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
    is_of_columns = _is_of_columns(inputs, asked, in_one_round=run.in_one_round)
    if run.ask is not None and is_of_columns and _is_middling(inputs, asked, middling or MIDDLING):
        run = replace(run, ask=None)
    is_plain = run.is_plain or (run.in_one_round and run.ask is None and not inputs.model)
    if not (is_plain and is_of_columns):
        return made(inputs, run)
    key = ((_columns_of(inputs), run.in_one_round, *what), *map(_key_of, asked))
    kept = _kept.pop(key, None) or _kept_plan(inputs, len(asked), run, made)
    kept.frames.update(inputs.given)
    try:
        return kept.ran(run)
    finally:
        kept.frames.clear()
        _kept[key] = kept
        _let_go()


def _let_go() -> None:
    """Keep the plans that ran last; other threads may do the same meanwhile."""
    room = MOST
    for key, one in reversed(_kept.copy().items()):
        room -= OF_A_PLAN + one.n_metrics
        if room < 0:
            _kept.pop(key, None)


def _is_of_columns(inputs: Inputs, asked: Sequence[Convention], *, in_one_round: bool) -> bool:
    """Return whether a plan depends on the columns, the options and the metrics alone.

    Facts of side frames look at data, and so do the checks of strict=True; a command's messages name its files; what a metric
    of the user's own depends on nobody knows.
    """
    is_eager = inputs.given.keys() == inputs.sides.keys() and (
        inputs.tables is None or in_one_round
    )
    if not is_eager or inputs.context.strict or not are_in_python():
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
    known = (inputs.complete, inputs.ranks_hold, inputs.few, inputs.without_items, inputs.units)
    # in whose dtype parts of both frames are; see `dtypes.matched`
    of_rows = (segment.name for segment in inputs.segments if segment.owner == "row")
    as_they_came = tuple(inputs.sources[name] is None for name in of_rows)
    return columns, names, bound, inputs.segments, as_they_came, *known


def _key_of(one: Convention) -> Hashable:
    """Return the cache key of a metric under its policies; its name distinguishes 1 from 1.0."""
    metric = one.metric
    return str(metric), metric.name, metric.settings, metric.k, one.context.policies


def _kept_plan(inputs: Inputs, n_metrics: int, run: Run, made: Made) -> KeptPlan:
    """Return a plan over placeholders of the call's frames.

    NOTE: after it was asked for its schema Polars has the plan in the form that it runs in, which is half of what is saved.
    """
    kept = KeptPlan(n_metrics)
    frames = {name: _stand_in(name, one, kept.frames) for name, one in inputs.given.items()}
    run = run if run.adds is None else replace(run, adds=kept.adds)
    kept.plan = made(inputs.standing_in(frames), run)
    kept.plan.collect_schema()
    return kept


def _stand_in(name: str, like: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> pl.LazyFrame:
    """Return a placeholder frame whose data is set each time its plan runs.

    NOTE: cached for the run, since each call of a function in a plan waits for Python.
    """
    whole = dict.fromkeys(("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False)
    given = partial(_given, frames, name)
    return pl.LazyFrame(schema=like.schema).map_batches(given, **whole, schema=like.schema).cache()


def _given(frames: Mapping[str, pl.DataFrame], name: str, _rows: pl.DataFrame) -> pl.DataFrame:
    return frames[name]


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
    known = Precomputed(crowd=crowd.lazy(), checked=True)
    return HeldPlan(
        columns={HeldPlan.key(one): name for one, name in zip(metrics, values.names, strict=True)},
        values=replace(
            values,
            judged=replace(judged, precomputed=known),
            present=present.lazy(),
            empty=collect(values.empty).lazy(),
            steep=False,
        ),
        models=models,
    )
