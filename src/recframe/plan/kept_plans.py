"""Plans of eager frames that are not large, kept for calls that ask the same of other frames with the same columns.

To make the plan of a few thousand rows takes longer than to run it, and it depends on nothing but the columns' dtypes, the
options and the metrics. So do questions to some hundred thousand rows, after which each call has a plan of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import polars as pl

from recframe.frames.collecting import run_as_it_is
from recframe.frames.hints import are_in_python
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Owner
from recframe.plan.evaluation import Convention
from recframe.plan.needs import needs_of
from recframe.plan.recorder import LISTED
from recframe.plan.runs import Run

MOST = 1_000
"""Plans of so many metrics are kept, those that ran last: some 32 MB, of summaries and comparisons twice as much."""
OF_A_PLAN = 5
"""A plan takes as much memory as so many metrics in it."""
MIDDLING = 500_000
"""So many rows are not asked where a kept plan gives what is wanted; half of them where users have several lists."""
CUTTING: tuple[Owner, ...] = ("row", "recommendations", "truth", "items")
"""Segments that these have cut lists into several."""
FEW = 100
"""Enums are told apart by all of their categories: those of so many in no time."""


@dataclass
class KeptPlan:
    """A plan of so many metrics, and the frames that it runs on.

    These are none but while it runs, so that no frame of a call outlives it.
    """

    n_metrics: int
    frames: dict[str, pl.DataFrame] = field(default_factory=dict)
    plan: pl.LazyFrame = field(default_factory=pl.LazyFrame)


_kept: dict[Hashable, KeptPlan] = {}


Made = Callable[[Inputs, Run], pl.LazyFrame]
"""Makes a plan of frames."""


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
    is_of_columns = _is_of_columns(inputs, asked)
    if run.ask is not None and is_of_columns and _is_middling(inputs, asked, middling or MIDDLING):
        run = replace(run, ask=None)
    if not (run.is_plain and is_of_columns):
        return made(inputs, run)
    key = ((_columns_of(inputs), *what), *map(_key_of, asked))
    kept = _kept.pop(key, None) or _kept_plan(inputs, len(asked), run, made)
    kept.frames.update(inputs.given)
    try:
        return run_as_it_is(kept.plan).lazy()
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


def _is_of_columns(inputs: Inputs, asked: Sequence[Convention]) -> bool:
    """Return whether a plan depends on the columns, the options and the metrics alone.

    Facts of side frames look at data, and so do the checks of strict=True; a command's messages name its files; what a metric
    of the user's own depends on nobody knows.
    """
    is_eager = inputs.given.keys() == inputs.sides.keys() and inputs.tables is None
    if not is_eager or inputs.context.strict or not are_in_python():
        return False
    needs = [needs_of(one.metric) for one in asked]
    dtypes = [dtype for frame in inputs.given.values() for dtype in frame.dtypes]
    return (
        all(one.metric.definition.builtin for one in asked)
        and not any(one.facts or one.groups for one in needs)
        and not any(isinstance(one, pl.Enum) and len(one.categories) > FEW for one in dtypes)
    )


def _is_middling(inputs: Inputs, asked: Sequence[Convention], most: int) -> bool:
    """Return whether all frames have so few rows that their lists need not be asked, and metrics read no whole lists."""
    has_more_lists = inputs.model or inputs.inside(*CUTTING)
    most = most // 2 if has_more_lists else most
    few = all(len(frame) <= most for frame in inputs.given.values())
    needs = [needs_of(one.metric) for one in asked]
    return few and not any(one.levels or one.columns & LISTED for one in needs)


def _columns_of(inputs: Inputs) -> Hashable:
    """Return what a plan reads of the frames, and of what was bound."""
    given, sides = inputs.given.items(), inputs.sides.values()
    columns = tuple((name, *frame.columns, *frame.dtypes) for name, frame in given)
    names = tuple(tuple(side.names.items()) for side in sides)
    bound = inputs.context.without_frames
    known = (inputs.complete, inputs.ranks_hold, inputs.few, inputs.without_items, inputs.units)
    # in whose dtype parts of both frames are; see `dtypes.matched`
    of_rows = (one.name for one in inputs.segments if one.owner == "row")
    as_they_came = tuple(inputs.sources[name] is None for name in of_rows)
    return columns, names, bound, inputs.segments, as_they_came, *known


def _key_of(one: Convention) -> Hashable:
    """Return what tells a metric under its policies from others; its name tells 1 from 1.0."""
    metric = one.metric
    return str(metric), metric.name, metric.settings, metric.k, one.context.policies


def _kept_plan(inputs: Inputs, n_metrics: int, run: Run, made: Made) -> KeptPlan:
    """Return a plan over frames that stand in for those of the call.

    NOTE: after it was asked for its schema Polars has the plan in the form that it runs in, which is half of what is saved.
    """
    kept = KeptPlan(n_metrics)
    frames = {name: _stand_in(name, one, kept.frames) for name, one in inputs.given.items()}
    kept.plan = made(inputs.standing_in(frames), run)
    kept.plan.collect_schema()
    return kept


def _stand_in(name: str, like: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> pl.LazyFrame:
    """Return a frame that is another whenever its plan runs.

    NOTE: cached for the run, since each call of a function in a plan waits for Python.
    """
    whole = dict.fromkeys(("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False)
    given = partial(_given, frames, name)
    return pl.LazyFrame(schema=like.schema).map_batches(given, **whole, schema=like.schema).cache()


def _given(frames: Mapping[str, pl.DataFrame], name: str, _rows: pl.DataFrame) -> pl.DataFrame:
    return frames[name]
