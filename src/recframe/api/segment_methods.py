"""`rec.gaps` and `rec.slices`: comparisons between segments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, get_args

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs, F
from recframe.api.request import FEW_ROWS, Question, question
from recframe.charts.long_format import warned_of_truth
from recframe.errors import ColumnError, RecframeError
from recframe.evaluation.execution import Run
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.segments import FOUND
from recframe.frames.dtypes import text_of
from recframe.frames.hints import Given, bind
from recframe.frames.inputs import Inputs
from recframe.metrics.language.definition import Metric
from recframe.statistics import options
from recframe.statistics.options import CorrectionOfSlices
from recframe.statistics.pairs import MODEL

if TYPE_CHECKING:
    from recframe.statistics.segment_sums import Crossings

MOST_CROSSINGS = 200
"""Most crossings of columns."""
MOST_EVALUATIONS = 40
"""Most crossings with a property of items, since each is an evaluation of its own."""


class SegmentsCompared(Generic[F]):
    """`rec.gaps` and `rec.slices`: comparisons between segments."""

    @argument_errors.understood
    def gaps(  # noqa: PLR0913  those of evaluate, and how segments are compared
        self,
        *metrics: Asked,
        by: By = None,
        k: Cutoffs = None,
        baseline: object = None,
        min_users: int = 30,
        level: float = 0.95,
        cluster: str | None = None,
        wide: bool = False,
    ) -> F:
        """Return the best and the worst segment of each `by` column, and the gap between them with its interval.

        A row for each `by` column, model and metric. `by` takes what `evaluate` takes, but the user and the model; each column
        is analysed alone. `metrics` and `k` are those of `evaluate`. With `baseline=`, the name of a model, the
        values are those of the other models minus its own, user by user.

        Columns: `by`, the column's name; the model; `metric`; `best` and `worst`, as text, each with its `_value`, never a
        segment of fewer than `min_users` users. Best is the highest value, or the lowest if less is better. `p_value` is that
        of the null that no two segments differ. `gap` is their absolute difference; `gap_low` to `gap_high` holds with `level`
        for all pairs of segments at once, since the two were picked. `note` has caveats, and the reason for nulls. `wide=True`
        adds `k`; `n_segments` with a value, of which `n_small` have fewer than `min_users` users; the `_n_users` of the two;
        `gap_pooled`, the gap after shrinking each value towards the mean of all segments, small ones included (from four
        segments on); `ratio`, the worst value over the best (null with a baseline); `spread`, the standard deviation between
        segments beyond that of their users; `mad`, the mean absolute difference of the values of all pairs of segments of
        `min_users` users or more, null below two (Deldjoo et al. 2021), in the order of earlier versions.

        With several properties of users the note names Simpson's paradox: a segment that is below another one, but above it
        within every value of another column (with `min_users` of both, and neither by chance). Users whose value is null are in
        no segment; the note counts them. With a property of items, users are in several segments, each with their items there,
        and intervals allow for that.

        d ± t sqrt(s² / n + s'² / n'), s² the variance of a segment's users and of 30 of all together, or of 300 where that is
        larger; t at the level of Tukey and Kramer for all pairs, or with users in several segments of Šidák, with Welch's
        degrees of freedom. `cluster` is that of `slices`. Without two segments that are large enough there is no gap, and a
        note says so.

        Raises a RecframeError for a set metric: coverage, tail_coverage, gini and entropy change with the number of users, so
        segments of different sizes are not comparable; without a column in `by`; and what `evaluate` raises. It needs NumPy and
        SciPy: `pip install 'recframe[stats]'`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": range(8), "item": [1] * 8, "rank": [1] * 8, "relevance": [1, 1, 1, 0, 1, 0, 0, 0],
        ...     "country": ["DE"] * 4 + ["FR"] * 4})
        >>> df.rec.gaps("hit_rate@1", by="country", min_users=4).select("by", "best", "worst", "gap", "gap_low", "p_value")
        shape: (1, 6)
        ┌─────────┬──────┬───────┬─────┬───────────┬──────────┐
        │ by      ┆ best ┆ worst ┆ gap ┆ gap_low   ┆ p_value  │
        │ ---     ┆ ---  ┆ ---   ┆ --- ┆ ---       ┆ ---      │
        │ str     ┆ str  ┆ str   ┆ f64 ┆ f64       ┆ f64      │
        ╞═════════╪══════╪═══════╪═════╪═══════════╪══════════╡
        │ country ┆ DE   ┆ FR    ┆ 0.5 ┆ -0.270327 ┆ 0.182717 │
        └─────────┴──────┴───────┴─────┴───────────┴──────────┘

        Source: Tukey 1953; Kramer 1956; Games and Howell 1976 (all pairs); Morris 1983 (pooling); Paule and Mandel 1982 (the
        spread); Simpson 1951.
        """
        rec = self._candidates(baseline)  # type: ignore[attr-defined]  # of a Rec
        asked = question(rec, metrics, k, by, cluster, wide=wide)
        asked = _checked(asked, "gaps")
        named = _baseline(asked, "gaps", baseline)
        from recframe.statistics import gaps, segment_sums  # noqa: PLC0415  NumPy and SciPy are an extra

        crossed = segment_sums.crossings(asked.of_segments, 2, 1)
        checked = {"min_users": min_users, "level": level}
        schema = pl.Schema({"by": pl.String, **_model(asked), **gaps.COLUMNS})
        short = ["by", *_model(asked), *gaps.SHORT]
        result: F = _given(asked, named, crossed, checked, schema, gaps.gaps, short=short)
        return result

    @argument_errors.understood
    def slices(  # noqa: PLR0913  those of evaluate, and how slices are compared
        self,
        *metrics: Asked,
        by: By = None,
        k: Cutoffs = None,
        depth: int = 2,
        baseline: object = None,
        min_users: int = 30,
        level: float = 0.95,
        correction: CorrectionOfSlices | None = "holm",
        cluster: str | None = None,
        wide: bool = False,
    ) -> F:
        """Return segments of columns, alone and crossed, each compared with the rest, the worst first.

        A row for each slice that has at least `min_users` users with a value: a combination of values of up to `depth` of the
        `by` columns, such as country=FR, age=20. `by` takes what `evaluate` takes, but the user and the model. With
        `baseline=`, the name of a model, the values are those of the other models minus its own, user by user.

        Columns: the model; `segment`, the columns with their values, as text; `metric`; `value`; `rest`, that of frames without
        the slice; `difference`, value - rest, with an interval that holds for all slices of the result at once; `p_adjusted` of
        the null that it is 0, corrected for all slices by `correction`: "holm", "bonferroni", "benjamini-hochberg" or None.
        `pooled` is the value shrunk towards the mean of all slices of the same columns (from four on, including those too small
        to be listed). Rows are sorted by model and metric, the worst `pooled` first: a few unlucky users are not the worst
        slice. `n_users` have a value; `note` has caveats. `wide=True` adds `by`, the columns' names, `depth`, their number,
        `k`, `p_value`, and the intervals of `value` (as in `summarize`) and `pooled`, in the order of earlier versions.

        `cluster` names a column of clusters of users, such as households: errors are then at least those of leaving out one
        whole cluster at a time, or one random group of clusters where there are many. It needs columns of users in `by`. With a
        baseline, `difference` says where a model gains or loses more than elsewhere; whether the model loses at all in a slice
        is the interval of `value`, and for all slices of a column `compare(by=...)`.

        `rest` is what the same call returns on frames filtered to what is not in the slice: for columns of users all other
        users; for columns of rows, items or the truth, the rows of other values as one list of each user. A user in both is one
        cluster of the difference. Rows with a null in a column are in no slice, but in `rest`. There is no row if no slice has
        `min_users` users. Columns that filter different frames are not crossed.

        difference ± t sqrt(s² / n + s'² / n'), s² the variance of a slice's users and of 30 of all together, or of 300 where
        that is larger, with Welch's degrees of freedom and t at level^(1 / number of slices), minus the covariance of users in
        both.

        Raises a RecframeError for a set metric, as `gaps` does; without a column in `by`; for
        too many crossings, or columns of different frames; and what `evaluate` raises. It needs NumPy and SciPy:
        `pip install 'recframe[stats]'`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": range(8), "item": [1] * 8, "rank": [1] * 8, "relevance": [1, 1, 1, 0, 1, 0, 0, 0],
        ...     "country": ["DE"] * 4 + ["FR"] * 4, "age": [20, 30] * 4})
        >>> slices = df.rec.slices("hit_rate@1", by=["country", "age"], min_users=4)
        >>> slices.select("segment", "value", "rest", "difference", "p_adjusted")
        shape: (4, 5)
        ┌────────────┬───────┬──────┬────────────┬────────────┐
        │ segment    ┆ value ┆ rest ┆ difference ┆ p_adjusted │
        │ ---        ┆ ---   ┆ ---  ┆ ---        ┆ ---        │
        │ str        ┆ f64   ┆ f64  ┆ f64        ┆ f64        │
        ╞════════════╪═══════╪══════╪════════════╪════════════╡
        │ country=FR ┆ 0.25  ┆ 0.75 ┆ -0.5       ┆ 0.730867   │
        │ age=30     ┆ 0.25  ┆ 0.75 ┆ -0.5       ┆ 0.730867   │
        │ country=DE ┆ 0.75  ┆ 0.25 ┆ 0.5        ┆ 0.730867   │
        │ age=20     ┆ 0.75  ┆ 0.25 ┆ 0.5        ┆ 0.730867   │
        └────────────┴───────┴──────┴────────────┴────────────┘

        Source: Welch 1947; Holm 1979; Šidák 1967; Morris 1983 (pooling).
        """
        rec = self._candidates(baseline)  # type: ignore[attr-defined]  # of a Rec
        asked = question(rec, metrics, k, by, cluster, wide=wide)
        asked = _checked(asked, "slices")
        named = _baseline(asked, "slices", baseline)
        from recframe.statistics import remaining_users, segment_sums, slices  # noqa: PLC0415  NumPy and SciPy are an extra

        options.one_of("correction", correction, (*get_args(CorrectionOfSlices), None))
        segments = asked.of_segments.segments
        deepest = min(depth, len(segments))
        crossed = segment_sums.crossings(asked.of_segments, deepest, deepest)
        _check_size(crossed, depth)
        for columns in crossed.of:
            remaining_users.check_places(
                [segment for segment in segments if segment.inside in columns]
            )
        checked = {"min_users": min_users, "level": level, "correction": correction}
        schema = pl.Schema({**_model(asked), **slices.KEYS, **slices.COLUMNS})
        short = [*_model(asked), "segment", *slices.SHORT]
        result: F = _given(
            asked, named, crossed, checked, schema, slices.slices, short=short, rests=True
        )
        return result


def _checked(asked: Question, call: str) -> Question:
    """Return the request, or raise an error where segments cannot be compared by it."""
    segments = asked.of_segments.segments
    if not segments:
        msg = f"{call} needs columns of segments: {call}(..., by='country')"
        raise RecframeError(msg)
    if any(segment.inside == MODEL for segment in segments):
        name = asked.inputs.context.names[MODEL]
        msg = f"{Given('by', name)}: {call} compares segments; compare(...) compares models"
        raise RecframeError(msg)
    if asked.inputs.context.weight is not None:
        weight = Given("weight", asked.inputs.context.weight)
        msg = f"{call} compares unweighted means over users; call it without {weight}, or evaluate(...)"
        raise RecframeError(msg)
    for metric in asked.metrics:
        _check_metric(call, metric)
    return asked


def _check_metric(call: str, metric: Metric[...]) -> None:
    """Reject metrics whose value depends on the number of users, or without users' values."""
    # what is made of means, such as an F of mean precision and mean recall, has no value of each user either
    if metric.shape != "set" and not needs_of(metric).means:
        return
    instead = (
        f"evaluate({str(metric)!r}, by=...) has the values, and compare({str(metric)!r}, by=...) compares models within each "
        "segment, where they have the same users"
    )
    # NOTE: a seam: what does not grow may be served by what each list contributes to it
    if getattr(metric.definition, "grows", False):
        msg = (
            f"{call} takes no {metric.name!r}, which grows with the number of users: a large segment has a larger value by "
            f"its size alone; {instead}"
        )
    else:
        msg = f"{call} takes means of users' values, and {str(metric)!r} is computed from all users of a segment together; "
        msg += instead
    raise RecframeError(msg)


def _baseline(asked: Question, call: str, baseline: object) -> str | None:
    """Return the name of the baseline."""
    if baseline is None:
        return None
    if not asked.inputs.model:
        named = f"{call}(..., {Given('baseline', baseline)})"
        msg = f"{named} needs a column of models: {bind(model=repr('model'))}"
        raise RecframeError(msg)
    return text_of(baseline)


def _check_size(crossed: Crossings, depth: int) -> None:
    """Reject too many crossings of columns."""
    for n, most, what in (
        (len(crossed.of), MOST_CROSSINGS, "crossings"),
        (len(crossed.plans), MOST_EVALUATIONS, "crossings with properties of items"),
    ):
        if n > most:
            msg = (
                f"depth={depth} of these columns makes {n} {what}, but slices takes {most} at most; give fewer columns, or "
                "depth=1"
            )
            raise RecframeError(msg)


def _model(asked: Question) -> dict[str, Any]:
    return {one: asked.inputs.schema[one] for one in asked.inputs.model}


def _given(  # noqa: PLR0913  what both methods give
    asked: Question,
    baseline: str | None,
    crossed: Crossings,
    checked: Mapping[str, Any],
    schema: pl.Schema,
    finished: Callable[..., pl.DataFrame],
    *,
    short: Sequence[str],
    rests: bool = False,
) -> Any:
    """Return a result from sums of segments, as a frame of the input's kind."""
    from recframe.statistics import segment_sums  # noqa: PLC0415

    kind = asked.rec._kind  # noqa: SLF001  the methods of this room are those of a Rec
    how = segment_sums.Segmenting(
        **checked,
        of=crossed.of,
        names={segment.inside: segment.name for segment in asked.inputs.segments},
        cluster=asked.cluster,
        of_differences=baseline is not None,
    )

    def made(inputs: Inputs, run: Run) -> pl.LazyFrame:
        of = (inputs, asked.conventions, baseline, crossed.plans, run)
        return segment_sums.cells(*of, rests=rests, cluster=asked.cluster)

    if rests and asked.inputs.inside(*FOUND):  # which rows are asked for the properties of users
        sums = made(asked.inputs, asked.rec._run())  # noqa: SLF001
    else:
        what = ("cells", baseline, *map(tuple, crossed.plans), rests)
        sums = asked.planned(asked.inputs, made, *what, middling=FEW_ROWS)
    whole = kind.applied(sums, lambda found: finished(found, asked.metrics, how, schema), schema)
    model = {MODEL: asked.inputs.context.names[MODEL]} if MODEL in schema else {}
    for name in model.values():
        if name in [one for one in schema if one != MODEL]:
            msg = f"{Given('model', name)} is also the name of a result column; rename the column first"
            raise ColumnError(msg)
    # NOTE: a column that is named by is text here, whatever the user's own column by is
    own = {name: asked.inputs.sources.get(name) for name in model.values()}
    columns = None if asked.wide else [model.get(one, one) for one in short]
    return kind.give(whole.rename(model), own, warned_of_truth(asked.inputs), columns)
