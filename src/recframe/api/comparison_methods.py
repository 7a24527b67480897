"""`rec.gaps`, `rec.slices` and `rec.pareto`: segments and models compared with one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, combinations
from typing import Any, Generic

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import Asked, By, Cutoffs, F
from recframe.api.request import Question, check_names, question
from recframe.errors import ColumnError, RecframeError, fails_whole_if, silent
from recframe.evaluation.required_columns import is_of_segment, numbered
from recframe.frames.hints import Given
from recframe.frames.inputs import Frames
from recframe.frames.segments import Segment
from recframe.statistics.pareto_fronts import (
    COLUMNS,
    VERDICT,
    check_fronts,
    fronts,
)
from recframe.statistics.stored_results import GAPS, SLICES
from recframe.statistics.sums import BASELINE, MODEL, PLACE

MOST_CROSSINGS = 200
"""Most crossings of columns."""


class Compared(Generic[F]):
    """`rec.gaps`, `rec.slices` and `rec.pareto`: segments and models compared with one another."""

    @argument_errors.understood
    def gaps(
        self,
        *metrics: Asked,
        by: By = None,
        k: Cutoffs = None,
        baseline: object = None,
        min_users: int = 30,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> F:
        """Return the best and the worst segment of each `by` column, and the gap between them with its interval.

        A row for each `by` column, model and metric. `by` takes columns of users: each user has one value of it, in `users`, in
        the lists alone, or the same in all of their rows. Each column is analysed alone. `metrics` and `k` are those of
        `evaluate`.

            baseline: the name of a model whose values are subtracted from those of the others, user by user.
            min_users: the fewest users of a segment.
            level: the probability that an interval holds, for all pairs of segments at once.

        Columns: `by`, the column's name; the model; `metric`; `best` and `worst`, as text, each with its `_value` and
        `_n_users`, never a segment of fewer than `min_users` users. Best is the highest value, or the lowest if less is better.
        `gap` is their absolute difference; `gap_low` to `gap_high` and `p_value`, of the null that it is 0, hold with `level`
        for all pairs of segments at once, since the two were picked. `n_segments` have a value. `note` has caveats, and the
        reason for nulls. Users whose value is null are in no segment; the note counts them.

        d ± t sqrt(s² / n + s'² / n'), s² the variance of a segment's users; t at Šidák's level for all pairs of segments of
        `min_users` users, with Welch's degrees of freedom. `cluster` is that of `slices`. Without two segments that are large
        enough there is no gap, and without spread between the users of both no interval; a note says so.

        Raises a RecframeError for a set metric: coverage, tail_coverage, gini and entropy change with the number of users, so
        segments of different sizes are not comparable; without a column in `by`, and for one that puts users into several
        segments, such as a genre; and what `evaluate` raises. It needs NumPy and SciPy: `pip install 'recframe[stats]'`.

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
        │ country ┆ DE   ┆ FR    ┆ 0.5 ┆ -0.365114 ┆ 0.207031 │
        └─────────┴──────┴───────┴─────┴───────────┴──────────┘

        Source: Welch 1947; Šidák 1967.
        """
        from recframe.statistics.segments import gaps  # noqa: PLC0415  NumPy and SciPy are an extra

        rec = self._candidates(baseline)  # type: ignore[attr-defined]  # of a Rec
        asked = question(rec, metrics, k, by, cluster)
        columns = {"by": pl.String, **GAPS}
        crossed = [(one.inside,) for one in asked.segments]
        result: F = _of_segments(asked, baseline, gaps, columns, crossed, (min_users, level))
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
        cluster: str | None = None,
    ) -> F:
        """Return segments of columns, alone and crossed, each compared with the rest, the worst first.

        A row for each slice that has at least `min_users` users with a value: a combination of values of up to `depth` of the
        `by` columns, such as country=FR, age=20. `by` takes columns of users, as in `gaps`.

            depth: the most columns that are crossed.
            baseline: the name of a model whose values are subtracted from those of the others, user by user.
            min_users: the fewest users of a slice.
            level: the probability that all intervals of the result hold.

        Columns: the model; `segment`, the columns with their values, as text; `metric`; `difference`, `value` less `rest`, that
        of all other users, with an interval that holds for all slices of the result at once; `value` and `rest`; `p_value` of
        the null that the difference is 0, and `p_adjusted` for all slices, by the same correction as the interval. Rows are
        sorted by model and metric, first those that are shown to be worst: by the end of the interval next to better values, so
        that a few unlucky users do not come first. `n_users` have a value; `note` has caveats.

        `cluster` names a column of clusters of users, such as households: errors are then those of leaving out one whole
        cluster at a time. With a baseline, `difference` says where a model gains or loses more than elsewhere; whether it loses
        at all in a slice says `compare(by=...)`.

        Users with a null in a column are in no slice, but in `rest`. There is no row if no slice has `min_users` users.

        difference ± t sqrt(s² / n + s'² / n'), s² the variance of a slice's users, at least that of all users, with Welch's
        degrees of freedom and t at level^(1 / number of slices).

        Raises a RecframeError for a set metric and for columns that are not of users, as `gaps` does; without a column in
        `by`; for too many crossings; and what `evaluate` raises. It needs NumPy and SciPy: `pip install 'recframe[stats]'`.

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
        │ country=FR ┆ 0.25  ┆ 0.75 ┆ -0.5       ┆ 0.655821   │
        │ age=30     ┆ 0.25  ┆ 0.75 ┆ -0.5       ┆ 0.655821   │
        │ country=DE ┆ 0.75  ┆ 0.25 ┆ 0.5        ┆ 0.655821   │
        │ age=20     ┆ 0.75  ┆ 0.25 ┆ 0.5        ┆ 0.655821   │
        └────────────┴───────┴──────┴────────────┴────────────┘

        Source: Welch 1947; Šidák 1967.
        """
        from recframe.statistics.segments import slices  # noqa: PLC0415  NumPy and SciPy are an extra

        rec = self._candidates(baseline)  # type: ignore[attr-defined]  # of a Rec
        asked = question(rec, metrics, k, by, cluster)
        names = [segment.inside for segment in asked.segments]
        sizes = range(1, min(depth, len(names)) + 1)
        crossed = [*chain.from_iterable(combinations(names, size) for size in sizes)]
        if len(crossed) > MOST_CROSSINGS:
            raise RecframeError(
                f"depth={depth} of these columns makes {len(crossed)} crossings, but slices takes {MOST_CROSSINGS} at most; "
                "give fewer columns, or depth=1"
            )
        result: F = _of_segments(asked, baseline, slices, SLICES, crossed, (min_users, level))
        return result

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
        It needs recframe[stats].

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
        rec: Any = self._candidates()  # type: ignore[attr-defined]  # of a Rec
        asked = question(rec, metrics, k, by, None)
        check_fronts(asked.metrics)
        asked.pairs(None)
        keys, others = asked.by, [*filter(MODEL.__ne__, asked.by)]
        check_names(keys, COLUMNS)
        kind = asked.kind
        rec = rec._in_polars() if kind.collects else rec  # noqa: SLF001  the methods of this room are those of a Rec
        cells = numbered(rec.evaluate(asked.metrics, by=by).lazy(), [*keys])
        schema = pl.Schema([*cells.collect_schema().items(), *COLUMNS.items()])
        cells = cells.with_columns(pl.lit(None, pl.String).alias(VERDICT))
        with silent():
            pairs = rec.compare(asked.metrics, by=by).lazy()
        of_pairs = [MODEL, BASELINE, *others, "metric", VERDICT]
        verdicts = numbered(pairs, of_pairs).select(of_pairs)
        cells = pl.concat([cells, verdicts], how="diagonal")
        made = partial(fronts, keys=[*keys], metrics=asked.metrics)
        result: F = kind.give(kind.applied(cells, made, schema).rename(keys), asked.inputs.sources)
        return result


def _of_segments(
    asked: Question,
    baseline: object,
    made: Callable[..., pl.DataFrame],
    columns: Mapping[str, Any],
    crossed: Sequence[tuple[str, ...]],
    options: tuple[int, float],
) -> Any:
    """Return what a function of this name makes of the sums of segments, as a frame of the kind that came in."""
    from recframe.statistics.segments import Segmenting  # noqa: PLC0415

    call, inputs = made.__name__, asked.inputs
    _check(asked, call)
    own = {segment.inside: segment.name for segment in inputs.segments}
    how = Segmenting(own, [*inputs.model, PLACE], asked.metrics, *options, asked.cluster)
    pairing = None if baseline is None else asked.pairs(baseline)
    cells = asked.cells(call, pairing, partial(_checks_of_users, call=call))
    names = {name: name for name in columns if name == "by"}
    names |= {model: inputs.context.names[model] for model in inputs.model}
    schema = pl.Schema({**columns, **{model: inputs.schema[model] for model in inputs.model}})
    return asked.result(
        cells, lambda rows: made(rows, crossed, how, schema), names, schema, of_values=False
    )


def _check(asked: Question, call: str) -> None:
    """Raise an error where segments cannot be compared by a request."""
    if not asked.segments:
        raise RecframeError(f"{call} needs columns of segments: {call}(..., by='country')")
    if any(segment.inside == MODEL for segment in asked.segments):
        name = asked.inputs.context.names[MODEL]
        raise RecframeError(
            f"{Given('by', name)}: {call} compares segments; compare(...) compares models"
        )
    if asked.inputs.context.weight is not None:
        weight = Given("weight", asked.inputs.context.weight)
        raise RecframeError(
            f"{call} compares unweighted means over users; call it without {weight}, or evaluate(...)"
        )
    # what is made of means, such as an F of mean precision and mean recall, has no value of each user either
    for metric in filter(is_of_segment, asked.metrics):
        why = "is computed from all users of a segment together, and no user has a value of it"
        if metric.definition.grows:
            why = (
                "grows with the number of users, so a large segment has a larger value by its size"
            )
        raise RecframeError(
            f"{call} takes no {str(metric)!r}, which {why}; evaluate(..., by=...) has its values, and compare(..., by=...) "
            "compares models within each segment, where they have the same users"
        )
    for segment in asked.inputs.segments:
        if segment.at in {"items", "id"} and segment.inside != "user":
            raise ColumnError(_not_of_users(call, segment, asked.inputs.units))


def _checks_of_users(inputs: Frames, call: str) -> Iterator[pl.LazyFrame]:
    """Give frames of one row that fail when the plan runs, if a column of rows puts a user into several segments."""
    for segment in inputs.segments:
        if segment.at not in {"rows", "truth"}:
            continue
        frames = [inputs.truth] if segment.at == "truth" else [inputs.lists, inputs.truth]
        users = [
            frame.filter(pl.col("user").is_not_null()).select("user", segment.inside).unique()
            for frame in frames
            if frame is not None
        ]
        in_several = pl.len() > pl.col("user").n_unique()
        each = pl.concat(users, how="vertical_relaxed").unique()
        message = _not_of_users(call, segment, inputs.units)
        yield each.select(check=fails_whole_if(in_several, message))


def _not_of_users(call: str, segment: Segment, units: Sequence[str]) -> str:
    """Return the message on a column of which a user has several values."""
    option = "cluster" if segment.inside in units else "by"
    given = Given(option, segment.name)
    instead = f"evaluate(..., {given}) has the values of each segment, and compare(..., {given}) compares models within each"
    if option == "cluster":
        instead = "name a column that has one value for each user"
    return f"{given}: {call} takes columns of users, but this one has several values for some user; {instead}"
