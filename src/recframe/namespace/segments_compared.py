"""The methods of `rec` that hold segments against one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, get_args

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.hints import Given, bind
from recframe.metrics.language.definition import Metric
from recframe.namespace import calls
from recframe.namespace.bound_metric import Asked, By, Cutoffs, F
from recframe.namespace.question import Question, question
from recframe.plan.runs import Run
from recframe.uncertainty import options
from recframe.uncertainty.pairs import MODEL

if TYPE_CHECKING:
    from recframe.uncertainty.cells import Crossings
    from recframe.uncertainty.slices import Correction

MOST_CROSSINGS = 200
"""Of so many crossings of columns the slices are looked at."""
MOST_EVALUATIONS = 40
"""Where a property of items is among the columns, each crossing with it is an evaluation."""


class SegmentsCompared(Generic[F]):
    """The methods of `rec` that hold segments against one another."""

    @calls.understood
    def gaps(
        self,
        *metrics: Asked,
        by: By = None,
        k: Cutoffs = None,
        baseline: object = None,
        min_users: int = 30,
        level: float = 0.95,
        profile: str | None = None,
    ) -> F:
        """Return the best and the worst segment of each `by` column, and how sure it is that they differ."""
        least, level = (
            options.whole("min_users", min_users, 1),
            options.share("level", level, "0.95"),
        )
        asked = _asked(self, "gaps", metrics, k, by, profile)
        named = _baseline(asked, "gaps", baseline)
        from recframe.uncertainty import cells, gaps  # noqa: PLC0415  NumPy and SciPy are an extra

        crossed = cells.with_pairs(asked.inputs)
        how = gaps.Gaps(crossed.of, _names(asked), least, level, of_differences=named is not None)
        schema = pl.Schema({"by": pl.String, **_model(asked), **gaps.COLUMNS})
        result: F = _given(
            asked,
            named,
            crossed,
            schema,
            lambda found: gaps.gaps(found, asked.metrics, how, schema),
        )
        return result

    @calls.understood
    def slices(  # noqa: PLR0913  those of evaluate, and how slices are held against one another
        self,
        *metrics: Asked,
        by: By = None,
        k: Cutoffs = None,
        depth: int = 2,
        baseline: object = None,
        min_users: int = 30,
        level: float = 0.95,
        correction: Correction | None = "holm",
        profile: str | None = None,
    ) -> F:
        """Return the segments of columns, alone and crossed, each against all other users, the worst first."""
        least, level = (
            options.whole("min_users", min_users, 1),
            options.share("level", level, "0.95"),
        )
        depth = options.whole("depth", depth, 1)
        asked = _asked(self, "slices", metrics, k, by, profile)
        named = _baseline(asked, "slices", baseline)
        from recframe.uncertainty import cells, slices  # noqa: PLC0415  NumPy and SciPy are an extra

        options.one_of("correction", correction, (*get_args(slices.Correction), None))
        crossed = cells.crossings(asked.inputs, min(depth, len(asked.inputs.segments)))
        _check_size(crossed, depth)
        how = slices.Slices(
            crossed.of, _names(asked), least, level, correction, of_differences=named is not None
        )
        schema = pl.Schema({**_model(asked), **slices.KEYS, **slices.COLUMNS})
        result: F = _given(
            asked,
            named,
            crossed,
            schema,
            lambda found: slices.slices(found, asked.metrics, how, schema),
        )
        return result


def _asked(
    rec: Any, call: str, metrics: Sequence[Asked], k: Cutoffs, by: By, profile: str | None
) -> Question:
    """Return what is asked, or say why segments cannot be held against one another by it."""
    asked = question(rec, metrics, k, by, None, profile)
    segments = asked.inputs.segments
    if not segments:
        msg = f"{call} needs the columns that make segments: {call}(..., by='country')"
        raise RecframeError(msg)
    if any(one.inside == MODEL for one in segments):
        name = asked.inputs.context.name_of(MODEL)
        msg = f"{Given('by', name)}: {call} holds segments against one another, and compare(...) models"
        raise RecframeError(msg)
    for metric in asked.metrics:
        _check_metric(call, metric)
    return asked


def _check_metric(call: str, metric: Metric[...]) -> None:
    """Say which metric has a value of a segment that depends on how many users it has, or none of each user."""
    if metric.shape != "set":
        return
    instead = (
        f"evaluate({str(metric)!r}, by=...) has the values, and compare({str(metric)!r}, by=...) holds models against one "
        "another within each segment, where they have the same users"
    )
    # NOTE: a seam: what does not grow may be served by what each list contributes to it
    if getattr(metric.definition, "grows", False):
        msg = (
            f"{call} takes no {metric.name!r}, which grows with the number of users: a large segment has more than a small one "
            f"by its size alone; {instead}"
        )
    else:
        msg = f"{call} takes means of users' values, and {metric.name!r} is one function of all lists of a segment; {instead}"
    raise RecframeError(msg)


def _baseline(asked: Question, call: str, baseline: object) -> str | None:
    """Return the name of the model that others are held against."""
    if baseline is None:
        return None
    if not asked.inputs.model:
        named = f"{call}(..., {Given('baseline', baseline)})"
        msg = f"{named} needs a column that tells models apart: {bind(model=repr('model'))}"
        raise RecframeError(msg)
    return str(baseline)


def _check_size(crossed: Crossings, depth: int) -> None:
    """Say that there are too many crossings of columns."""
    n, n_plans = len(crossed.of), len(crossed.plans)
    if n <= MOST_CROSSINGS and n_plans <= MOST_EVALUATIONS:
        return
    found = (
        f"{n} crossings" if n > MOST_CROSSINGS else f"{n_plans} crossings with properties of items"
    )
    most = MOST_CROSSINGS if n > MOST_CROSSINGS else MOST_EVALUATIONS
    msg = f"depth={depth} of these columns makes {found}, and slices looks at {most} at the most; "
    msg += "give fewer columns, or depth=1"
    raise RecframeError(msg)


def _names(asked: Question) -> dict[str, str]:
    return {one.inside: one.name for one in asked.inputs.segments}


def _model(asked: Question) -> dict[str, Any]:
    return {one: asked.inputs.schema[one] for one in asked.inputs.model}


def _given(
    asked: Question, baseline: str | None, crossed: Crossings, schema: pl.Schema, finished: Any
) -> Any:
    """Return what is made of the sums of segments, as a frame of the kind that came in."""
    from recframe.uncertainty import cells  # noqa: PLC0415

    kind = asked.rec._kind  # noqa: SLF001  the methods of this room are those of a Rec
    run = Run(kind.asks)
    sums = cells.cells(asked.inputs, asked.conventions, baseline, crossed.plans, run)
    whole = kind.applied(sums, finished, schema)
    keys = [name for name in schema if name == MODEL or name in {"by", "segment", "depth"}]
    names = {key: asked.inputs.context.name_of(key) if key == MODEL else key for key in keys}
    # NOTE: a column that is named by is text here, whatever the user's own column by is
    own = {
        name: source for name, source in asked.inputs.sources.items() if name == names.get(MODEL)
    }
    told = replace(asked, inputs=replace(asked.inputs, sources=own))
    return told.given(whole, names, [name for name in schema if name not in keys])
