"""Requests, plans and results of calls, and their warnings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import filterfalse
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import Asked, By, Cutoffs
from recframe.api.lists_shown import warned_of_truth
from recframe.audit.checks_of_models import first_of_each, models_of_other_users, notes_on_models
from recframe.audit.data import Data, Numbers, OfCall
from recframe.audit.report import tell
from recframe.errors import ColumnError, RecframeError
from recframe.evaluation import evaluation, trainings
from recframe.evaluation.plan import Run, planned
from recframe.evaluation.required_columns import (
    SUPPORT,
    Convention,
    is_of_segment,
    keys_of,
    n_keys,
    numbered,
    support_of,
)
from recframe.evaluation.trainings import TRAINING
from recframe.evaluation.user_values import WITH_LIST
from recframe.frames import options
from recframe.frames.dtypes import text_of
from recframe.frames.hints import A_FRAME_EACH, Given, bind
from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import Collect, Kind, Taken, stream
from recframe.frames.rows.joins import AS_EVER
from recframe.frames.segments import Segment
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric, Metrics
from recframe.profiles import under_profile
from recframe.statistics.stored_results import as_shown, joined_notes
from recframe.statistics.sums import BASELINE, MODEL, PLACE, Pairing, Sample, cells_of, sums_of

if TYPE_CHECKING:
    from typing_extensions import Self

NOT_APART = {
    "user": "one user has no interval",
    TRAINING: "intervals are over users and trainings",
}
"""Why there is no interval for each value of a key."""
FEW_ROWS = 100_000
"""Most rows for which plans are cached; above, a plan with precomputed lists takes half the time."""
TIDY = {"metric": pl.String, "k": pl.Int64, "value": pl.Float64, "n": pl.Int64}
"""The columns of a tidy result after those of `by`."""
Checks = Callable[[Frames], Iterable[pl.LazyFrame]]
"""Type of functions that give frames which fail where users stand in several segments."""


@dataclass(frozen=True)
class Request:
    """Metrics of a call under their conventions, and its frames."""

    kind: Kind
    """The kind of the frame of the call."""
    run: Run
    """The execution of the call's plans."""
    inputs: Frames
    home: Frames
    """The frames under their profile's own policies."""
    stated: list[Convention]
    """Metrics with the conventions of the result, including the rounding of means."""
    metrics: list[Metric[...]]
    """The metrics with all their parameters, one for each column."""

    @classmethod
    def of(cls, kind: Kind, inputs: Frames, metrics: Metrics) -> Self:
        """Return the request of some metrics of frames, whose answers are of a kind."""
        context, is_own = inputs.context, inputs.context.profile is None
        home = inputs if is_own else under_profile.at_home(inputs)
        if is_own and context.min_relevance_for == "all" and context.weight is None:
            each = dict(zip(map(attrgetter("text"), metrics), metrics, strict=True)).values()
            stated = [*map(partial(Convention, context), each)]
        else:
            stated = under_profile.asked(context, metrics)
        found = [*map(attrgetter("metric"), stated)]
        return cls(kind, Run.of(kind), inputs, home, stated, found)

    def evaluated(self, beside: Sequence[str]) -> Taken:
        """Return the metrics by segment, with the columns that stand beside each: a plan, or its result."""

        def made(inputs: Frames, run: Run) -> pl.LazyFrame:
            return evaluation.evaluate(inputs, self.stated, run, tuple(beside))

        return planned(self.home, self.stated, self.run, made, *beside)

    def with_support(self) -> Taken:
        """Return the metrics with their support, and of models the number of users who count and have a list."""
        over_lists = any(one.over == "lists" for one in self.stated)
        if over_lists or not self.inputs.model or self.inputs.inside("id"):
            return self.evaluated(SUPPORT)
        with_list = Convention(self.stated[0].context.having(weight=None), WITH_LIST)
        whole = replace(self, stated=[with_list, *self.stated], metrics=[WITH_LIST, *self.metrics])
        plan = whole.evaluated(SUPPORT)
        return plan.drop(str(WITH_LIST)).rename({support_of(WITH_LIST): "n_lists"})


@dataclass(frozen=True)
class Question(Request):
    """Statistical request: metrics by segment, with optional clusters of users."""

    looks: dict[str, pl.DataFrame] = field(default_factory=dict)
    """Rows of some users, which all checks of the call share; see `Data.look`."""

    cluster: str | None = field(init=False)
    """Internal name of the column of clusters, which is the last segment; over folds that of users."""
    segments: tuple[Segment, ...] = field(init=False)
    """The segments of the result, without the units that sums are taken of."""
    by: dict[str, str] = field(init=False)
    """The key columns of the result, by their names inside the plan."""
    decimals: dict[str, int] = field(init=False)
    """The number of displayed decimals, by the metrics' strings."""
    conventions: list[Convention] = field(init=False)
    """The conventions without rounding, used for all decisions."""

    def __post_init__(self) -> None:
        """Set what the metrics, their conventions and the frames say together."""
        whole, decimals, conventions = self.inputs, dict[str, int](), []
        if units := whole.units:
            left = tuple(one for one in whole.segments if one.inside not in units)
            whole = replace(whole, segments=left)
        for one in self.stated:
            exact = one
            if (n := one.context.decimals) is not None:
                decimals[one.metric.text] = n
                exact = replace(one, context=one.context.having(decimals=None))
            conventions.append(exact)
        vars(self).update(
            cluster=next(iter(units), None),
            segments=whole.segments,
            by=keys_of(whole, self.metrics),
            decimals=decimals,
            conventions=conventions,
        )

    def pairs(self, baseline: object) -> Pairing:
        """Return the pairs of models, each with each or all with a baseline, or say why there are none."""
        if not self.inputs.model:
            column = bind(model=repr("model"))
            raise RecframeError(
                f"there is nothing to compare without a column of models: {column}{A_FRAME_EACH}"
            )
        name = None if baseline is None else text_of(baseline)
        return Pairing(name, self.inputs.schema[MODEL], self.by[MODEL])

    def sums(self, pairing: Pairing | None, asked: Mapping[int, Convention] | None = None) -> Taken:
        """Return the sums of each segment, model and metric, or of those `asked` by their places; see `sums.sums_of`."""
        asked = dict(enumerate(self.conventions)) if asked is None else asked
        order = [*self.by]
        if pairing is not None:
            order = [*filter(MODEL.__ne__, order), MODEL, BASELINE]

        def made(inputs: Frames, run: Run) -> pl.LazyFrame:
            rows = sums_of(Sample(inputs, asked, run, self.cluster).paired(pairing))
            return rows.sort([*order, PLACE], nulls_last=True)

        places = zip(asked, map(attrgetter("metric.text"), asked.values()), strict=True)
        what = ("sums", pairing, *places)
        return planned(self.home, self.conventions, self.run, made, *what, middling=FEW_ROWS)

    def cells(self, call: str, pairing: Pairing | None, checks: Checks) -> Taken:
        """Return the sums of users' values by crossed segments, after checks that each user stands in one."""
        asked = dict(enumerate(self.conventions))

        def made(inputs: Frames, run: Run) -> pl.LazyFrame:
            inputs = replace(inputs, checks=(*inputs.checks, *checks(inputs)))
            cells, _ = cells_of(Sample(inputs, asked, run, self.cluster).paired(pairing))
            return cells.drop(BASELINE, strict=False)

        what = (call, pairing)
        return planned(self.home, self.conventions, self.run, made, *what, middling=FEW_ROWS)

    @cached_property
    def notes(self) -> pl.LazyFrame | None:
        """The notes on models whose lists are of other users, none of buckets and engines."""
        if MODEL not in self.by or self.inputs.all_users is not None or self.run.is_divided:
            return None
        inputs = self.home
        if inputs.training or inputs.folds is not None:
            inputs = trainings.one_of_each(inputs)
        inputs = inputs.candidates if inputs.context.bounds else inputs
        call = OfCall(self.metrics, inputs.given)
        return notes_on_models(Data(inputs, of_call=call, looks=self.looks))

    def answer(
        self,
        made: Callable[[pl.DataFrame], pl.DataFrame],
        columns: Mapping[str, Any],
        pairing: Pairing | None = None,
        only: pl.Expr | None = None,
    ) -> Any:
        """Return the result that a function makes of the rows of sums, or of some of these `only`, with pairs of models."""
        names, sums = self.by, self.sums(pairing)
        if pairing is not None:
            names = {MODEL: self.by[MODEL], BASELINE: BASELINE} | self.by
        sums = sums if only is None else sums.filter(only)
        notes = None if pairing is None else self.notes
        return self.result(sums, made, names, columns, notes=notes)

    def result(  # noqa: PLR0913  one place makes all results of sums
        self,
        rows: Taken,
        made: Callable[[pl.DataFrame], pl.DataFrame],
        names: Mapping[str, str],
        columns: Mapping[str, Any],
        *,
        notes: pl.LazyFrame | None = None,
        hidden: Collection[str] = (),
        of_values: bool = True,
    ) -> Any:
        """Return what a function makes of a plan's few rows, as a frame of the kind that came in.

        `names` are those of its keys, before the other `columns`, of which those in `hidden` are for warnings alone; what the
        function does not make is taken from the rows. Warnings go by its values, unless it has none.
        """
        others = [*filterfalse(names.__contains__, columns)]
        check_names(names, others)
        dtypes: dict[str, Any] = {**rows.collect_schema(), **columns}
        order = (*names, *others)
        schema = pl.Schema(zip(order, map(dtypes.__getitem__, order), strict=True))

        def finished(found: pl.DataFrame) -> pl.DataFrame:
            columns = found.to_dict() | made(found).to_dict()
            return pl.DataFrame([*map(columns.__getitem__, schema)])

        plan = self.kind.applied(rows, finished, schema)
        if notes is not None:  # joined by the names inside
            plan = with_notes(plan.lazy(), notes)
        plan = plan if [*names] == [*names.values()] else plan.rename(names)
        plan = as_shown(plan.lazy(), self.decimals) if self.decimals else plan
        sources = dict(self.inputs.sources)
        if BASELINE in names:
            sources[names[BASELINE]] = sources.get(names[MODEL])
        told = partial(self._told, names) if of_values else warned_of_truth(self.inputs)
        shown = [*names.values(), *filterfalse(hidden.__contains__, others)]
        return self.kind.give(plan, sources, told, shown)

    def _told(self, names: Mapping[str, str], result: pl.DataFrame, run: Collect) -> None:
        """Issue the warnings of a result, by the metrics' names, since a gate may have several rows of one.

        NOTE: models of other users were looked for when notes were made.
        """
        numbers = list[Numbers]()
        for metric in self.metrics:
            rows = result[result["metric"].eq(metric.text).arg_true()]
            # users are counted of one side
            values, models, of = [], [], {"n_users": rows["n_users"]}
            for side, name in ((MODEL, "value"), (BASELINE, "baseline_value")):
                if name in rows.columns:
                    values.append(rows[name])
                    if side in names:
                        models.append(rows[names[side]].cast(rows[names[MODEL]].dtype))
            of |= {"value": pl.concat(values)} | ({MODEL: pl.concat(models)} if models else {})
            numbers.append(of)
        known = [models_of_other_users] if BASELINE in names and self.notes is None else []
        tell(self.home, self.metrics, numbers, run, self.looks, known)


def question(
    rec: Any, metrics: Sequence[Asked], k: Cutoffs, by: By, cluster: str | None
) -> Question:
    """Return the request, or raise an error where it is invalid."""
    asked, names = registry.asked(metrics, k), argument_errors.names(by)
    if cluster is None:
        inputs: Frames = rec._inputs(names or None, asked)  # noqa: SLF001  the methods of this room are those of a Rec
    else:
        inputs = _with_clusters(rec, asked, names, cluster)
    for one in inputs.segments:
        if one.inside in NOT_APART:
            given = Given("by", one.name)
            raise RecframeError(
                f"{given}: {NOT_APART[one.inside]}; evaluate(by={one.name!r}) has the values"
            )
    if inputs.folds is not None:
        if cluster is not None:
            raise RecframeError(
                f"{Given('cluster', cluster)}: over folds each user is a cluster; leave it out"
            )
        # users are the units, who stand in several folds
        user = Segment("user", inputs.context.names["user"], "id")
        inputs = replace(inputs, segments=(*inputs.segments, user), units=("user",))
    kind = rec._answering(inputs.sides["recommendations"].kind)  # noqa: SLF001
    return Question.of(kind, inputs, asked)


def _with_clusters(rec: Any, metrics: Metrics, names: Sequence[Any], cluster: object) -> Frames:
    """Return the frames with a column of clusters as the last segment, or say why it is none."""
    cluster = options.text("cluster", cluster, "the name of a column, such as 'household'")
    given = Given("cluster", cluster)
    if cluster in [*rec._context.by, *names]:  # noqa: SLF001
        raise RecframeError(
            f"{given} is also a column of by=, so each segment would be one cluster; name another"
        )
    try:
        inputs: Frames = rec._inputs([*names, cluster], metrics)  # noqa: SLF001
    except ColumnError as error:
        raise type(error)(str(error).replace(str(Given("by", cluster)), str(given), 1)) from None
    segment = inputs.segments[-1]
    of_sets = [str(metric) for metric in metrics if is_of_segment(metric)]
    msg = ""
    if segment.inside == "user":
        msg = "without cluster= each user is already a cluster; leave it out"
    elif segment.at == "items" or segment.inside in {"item", MODEL}:
        msg = "it does not describe users; name a column of users, such as their household"
    elif segment.at == "rows" and of_sets:
        msg = f"{of_sets[0]} is of all lists together, so clusters must be whole users: give the column in users="
    if msg:
        raise RecframeError(f"{given}: {msg}")
    return replace(inputs, units=(segment.inside,))


def check_names(names: Mapping[str, str], columns: Collection[str]) -> None:
    """Reject keys of a result that have the name of another column."""
    taken = [*columns, *names.values()]
    for inside, name in names.items():
        if taken.count(name) > 1:
            given = Given(MODEL if inside == MODEL else "by", name)
            raise ColumnError(
                f"{given} is also the name of a result column; rename the column first"
            )


def tidied(values: pl.LazyFrame, inputs: Frames, metrics: Metrics) -> pl.LazyFrame:
    """Return a result with support as one row for each segment and metric, in the order of both.

    NOTE: lists of one struct for each metric, since a concatenation would read the plan once for each.
    """
    names = values.collect_schema().names()[: n_keys(inputs)]
    keys = {f"key {place}": name for place, name in enumerate(names)}
    check_names(keys, TIDY)
    rows = pl.concat_list([_tidy_row(metric) for metric in metrics]).alias("rows")
    long = numbered(values, [*keys]).select(*keys, rows).explode("rows", **AS_EVER)
    return long.unnest("rows").rename(keys)


def _tidy_row(metric: Metric[...]) -> pl.Expr:
    """Return a metric's columns as one struct."""
    values = {
        "metric": pl.lit(str(replace(metric, k=None))),
        "k": pl.lit(metric.k),
        "value": pl.col(str(metric)),
        "n": pl.col(support_of(metric)),
    }
    return pl.struct(values[name].cast(dtype).alias(name) for name, dtype in TIDY.items())


def tell_of_tidy(home: Frames, metrics: Metrics, result: pl.DataFrame, run: Collect) -> None:
    """Warn of what a tidy result of metrics shows."""
    names = {"value": "value", "n_users": "n"} | (
        {MODEL: home.context.names[MODEL]} if home.model else {}
    )
    rows = pl.DataFrame({name: result[own] for name, own in names.items()})
    n = len(metrics)
    tell(home, metrics, [rows.gather_every(n, place).to_dict() for place in range(n)], run)


def with_notes(result: pl.LazyFrame, notes: pl.LazyFrame) -> pl.LazyFrame:
    """Return a result with the notes on its models or pairs; what arms of an experiment show is open."""
    columns = result.collect_schema().names()
    keys = [MODEL, BASELINE] if BASELINE in columns else [MODEL]
    notes = notes if BASELINE in columns else first_of_each(notes)
    are_arms = pl.col("lack").fill_null(0) > 1
    judged = pl.col("^(verdict|state)$")
    return (
        result.join(notes.drop("share"), on=keys, how="left", maintain_order="left")
        .with_columns(
            pl.when(are_arms).then(pl.lit("open")).otherwise(judged).name.keep(),
            note=joined_notes(["note", "about"]),
        )
        .select(columns)
    )


def sentences(notes: pl.LazyFrame | None) -> list[str]:
    """Return the notes on each model as sentences."""
    return [] if notes is None else [f"{about}." for about in stream(first_of_each(notes))["about"]]
