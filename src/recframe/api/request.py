"""Requests of calls, made once, and the form of statistical results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs
from recframe.audit.checks_of_models import first_of_each, notes_on_models
from recframe.audit.data import Data, OfCall
from recframe.audit.report import tell
from recframe.charts import long_format as long
from recframe.errors import CallError, ColumnError, RecframeError, shown
from recframe.evaluation import evaluation
from recframe.evaluation.caching import Made, planned
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.execution import Run
from recframe.evaluation.metrics_of_users import WITH_LIST
from recframe.evaluation.required_columns import is_of_segment
from recframe.evaluation.segments import SPREAD, SUPPORT, keys_of, name_beside, numbered, support_of
from recframe.evaluation.trainings import TRAINING, one_of_each
from recframe.frames.collecting import Collect, stream
from recframe.frames.hints import Given
from recframe.frames.inputs import GROUP, Inputs
from recframe.frames.kinds.kind import Kind, chosen
from recframe.frames.roles import Segment
from recframe.frames.rows.joins import aggregate
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.statistics.groups import reason_without
from recframe.statistics.samples import Sample, sums_of, with_weights_of_hits
from recframe.statistics.stored_results import as_shown, joined_notes
from recframe.statistics.sums import BASELINE, MODEL, PLACE, Pairing

FEW_ROWS = 100_000
"""Most rows for which plans are cached; above, a plan with precomputed lists takes half the time."""


@dataclass(frozen=True)
class Request:
    """Metrics of a call under their conventions, and its frames."""

    rec: Any
    inputs: Inputs
    stated: list[Convention]
    """Metrics with the conventions of the result, including the rounding of means."""

    @classmethod
    def of(cls, rec: Any, metrics: Sequence[Metric[...]], by: By) -> Request:
        """Return the request of some metrics, by segment."""
        inputs = rec._inputs(by, metrics)  # noqa: SLF001  the methods of this room are those of a Rec
        return Request(rec, inputs, under_profile.asked(inputs.context, metrics))

    @cached_property
    def kind(self) -> Kind:
        """The kind of the frame that is asked."""
        kind: Kind = self.rec._kind  # noqa: SLF001
        return kind

    @cached_property
    def home(self) -> Inputs:
        """The frames under their profile's own policies."""
        return under_profile.at_home(self.inputs)

    @property
    def run(self) -> Run:
        """The execution of the call's plans."""
        return Run.of(self.kind, self.rec._held)  # noqa: SLF001

    def evaluated(self, beside: Sequence[str]) -> pl.LazyFrame:
        """Return the metrics by segment, with the columns that stand beside each.

        Of rows that are seen once the sums have the spread too, which an interval may be asked of later.
        """
        of_call = self.run
        made_with = SPREAD if of_call.in_one_round else tuple(beside)

        def made(inputs: Inputs, run: Run) -> pl.LazyFrame:
            return evaluation.evaluate(inputs, self.stated, run, made_with)

        plan = planned(self.home, self.stated, of_call, made, *made_with)
        if not of_call.in_one_round:
            return plan
        metrics = [one.metric for one in self.stated]
        spread = {
            name_beside(part, one) for one in metrics for part in SPREAD if part not in beside
        }
        return chosen(plan, [name for name in plan.collect_schema() if name not in spread])

    def with_support(self) -> pl.LazyFrame:
        """Return the metrics with their support, and of models the number of users who count and have a list."""
        over_lists = any(one.over == "lists" for one in self.stated)
        if over_lists or not self.inputs.model or self.inputs.inside("role"):
            return self.evaluated(SUPPORT)
        context = self.stated[0].context.having(weight=None)
        stated = [Convention(context, WITH_LIST), *self.stated]
        plan = replace(self, stated=stated).evaluated(SUPPORT)
        return plan.drop(str(WITH_LIST)).rename({support_of(WITH_LIST): "n_lists"})


@dataclass(frozen=True)
class Question(Request):
    """Statistical request: metrics by segment, with optional clusters of users."""

    cluster: str | None
    """Internal name of the column of clusters, which is the last segment."""

    @cached_property
    def conventions(self) -> list[Convention]:
        """The conventions without rounding, used for all decisions."""
        return [replace(one, context=one.context.having(decimals=None)) for one in self.stated]

    @cached_property
    def decimals(self) -> dict[str, int]:
        """The number of displayed decimals, by the metrics' strings."""
        found = {str(one.metric): one.context.decimals for one in self.stated}
        return {name: n for name, n in found.items() if n is not None}

    @cached_property
    def metrics(self) -> list[Metric[...]]:
        """The metrics with all their parameters, one for each column."""
        return [one.metric for one in self.stated]

    @cached_property
    def by(self) -> dict[str, str]:
        """The key columns of the result, by their names inside the plan."""
        return {
            inside: name
            for inside, name in keys_of(self.inputs, self.metrics).items()
            if inside not in {*self.inputs.units, GROUP}
        }

    def planned(self, inputs: Inputs, made: Made, *what: Hashable) -> pl.LazyFrame:
        """Return a plan of the metrics without rounding, made of the inputs; see `caching.planned`."""
        home = self.home if inputs is self.inputs else under_profile.at_home(inputs)
        return planned(home, self.conventions, self.run, made, *what, middling=FEW_ROWS)

    @cached_property
    def over_trainings(self) -> bool:
        """Whether trainings are bound as a second sample, without result rows of their own."""
        each = any(segment.inside == TRAINING for segment in self.inputs.segments)
        return bool(self.inputs.training) and not each

    @property
    def of_segments(self) -> Inputs:
        """The frames with the segments of the result alone."""
        segments = tuple(
            segment
            for segment in self.inputs.segments
            if segment.inside not in {*self.inputs.units}
        )
        return replace(self.inputs, segments=segments)

    @cached_property
    def clusters(self) -> list[str]:
        """The name of the column that names clusters, where there is one."""
        segments = self.inputs.segments
        return (
            []
            if self.cluster is None
            else [segment.name for segment in segments if segment.inside == self.cluster]
        )

    def sums(
        self,
        pairing: Pairing | None,
        places: Mapping[int, Metric[...]] | None = None,
    ) -> pl.LazyFrame:
        """Return the sums of users' values for each segment, model and metric, or those in `places`; see `samples.sums_of`."""
        places = dict(enumerate(self.metrics)) if places is None else places

        def made(inputs: Inputs, run: Run) -> pl.LazyFrame:
            sample = self.sample(inputs, run, places)
            rows = sums_of(sample, pairing)
            rows = rows if pairing else with_weights_of_hits(rows, sample, [*self.by])
            ordered = [key for key in self.by if key != MODEL or pairing is None]
            ordered += [MODEL, BASELINE] if pairing else []
            return rows.sort([*ordered, PLACE], nulls_last=True)

        return self.planned(self.inputs, made, "sums", pairing, *places.items())

    def sample(self, inputs: Inputs, run: Run, places: Mapping[int, Metric[...]]) -> Sample:
        """Return the sample of users whose sums are taken."""
        names = {*map(str, places.values())}
        conventions = [one for one in self.conventions if str(one.metric) in names]
        return Sample(inputs, conventions, run, places, self.cluster, self.over_trainings)

    def check_trainings(self) -> None:
        """Say that trainings of two models are no pairs."""
        if TRAINING in self.by:
            name = self.by[TRAINING]
            msg = (
                f"{Given('by', name)}: trainings of two models are not paired, whatever their names; leave it out to compare "
                "models over users and trainings; summarize(by=...) shows each training"
            )
            raise RecframeError(msg)

    @cached_property
    def looks(self) -> dict[str, pl.DataFrame]:
        """Rows of some users, which all checks of the call share; see `Data.look`."""
        return {}

    @cached_property
    def notes(self) -> pl.LazyFrame | None:
        """The notes on models whose lists are of other users, none of buckets and engines."""
        if MODEL not in self.by or self.inputs.tables is not None or self.run.is_divided:
            return None
        inputs = one_of_each(self.home).candidates
        call = OfCall(self.metrics, pl.DataFrame(), None, inputs.given)
        return notes_on_models(Data(inputs, of_call=call, looks=self.looks))

    def answer(
        self,
        sums: pl.LazyFrame,
        made: Callable[[pl.DataFrame], pl.DataFrame],
        names: Mapping[str, str],
        columns: Mapping[str, Any],
    ) -> Any:
        """Return the result that a function makes of the rows of sums, as a frame of the kind that came in.

        `names` are those of its keys, `columns` come behind.
        """
        schema, every = sums.collect_schema(), {**columns, "k": pl.Int64}
        in_plan = pl.Schema({key: schema[key] for key in names} | every)

        def finished(rows: pl.DataFrame) -> pl.DataFrame:
            found = made(rows)
            return pl.DataFrame([found.get_column(name) for name in in_plan])

        whole = self.kind.applied(sums, finished, in_plan)
        whole = with_notes(whole, self.notes if BASELINE in names else None)
        return self.given(whole, names, [*every], [*columns])

    def given(
        self,
        plan: pl.LazyFrame,
        names: Mapping[str, str],
        columns: Sequence[str],
        shown: Sequence[str],
    ) -> Any:
        """Return a result under the names of its columns, as a frame of the kind that came in.

        `shown` has the columns of the result, behind the keys.
        """
        taken = [*columns, *names.values()]
        for name in names.values():
            if taken.count(name) > 1:
                msg = f"{Given('by', name)} is also the name of a result column; rename the column first"
                raise ColumnError(msg)
        named = plan.select(
            *(pl.col(inside).alias(name) for inside, name in names.items()), *columns
        )
        sources = dict(self.inputs.sources)
        if BASELINE in names:
            sources[names[BASELINE]] = sources.get(names[MODEL])
        rounded = as_shown(named, self.decimals)
        told = partial(self._told, list(names.values()))
        return self.kind.give(rounded, sources, told, [*names.values(), *shown])

    def _told(
        self,
        names: Sequence[str],
        result: pl.DataFrame,
        run: Collect,
    ) -> None:
        """Issue the warnings of a result.

        NOTE: by the metrics' names, since a gate has a row for each requirement, of which one metric may have several or none.
        """
        # as columns, since names such as "^.*$" are patterns to Polars
        columns = [result.get_column(name) for name in (*names, "metric", "value", "n_users")]
        if BASELINE in names and "baseline_value" in result.columns:
            columns = _with_baseline(columns, names.index(BASELINE), result["baseline_value"])
        named = self._wide(columns) if len(columns[-1]) == 1 else self._put_together(columns, run)
        tell(one_of_each(self.home), self.metrics, named, run, self.looks)

    def _wide(self, columns: Sequence[pl.Series]) -> pl.DataFrame:
        """Return a row of a metric as one of `evaluate`."""
        *of_keys, metric, value, n_users = columns
        return pl.DataFrame([*of_keys, n_users, value.alias(metric[0])])

    def _put_together(self, columns: Sequence[pl.Series], run: Collect) -> pl.DataFrame:
        """Return the rows of metrics as those of `evaluate`, a row for each segment."""
        names = [column.name for column in columns[:-3]]
        keys = [f"key {place}" for place in range(len(names))]
        long = numbered(pl.DataFrame(columns).lazy(), keys)
        values = [
            pl.col("value").filter(pl.col("metric") == str(metric)).first().alias(str(metric))
            for metric in self.metrics
        ]
        wide = aggregate(long, keys, [pl.col("n_users").max(), *values]).sort(keys or "n_users")
        return run(wide).rename(dict(zip(keys, names, strict=True)))


def _with_baseline(columns: list[pl.Series], at: int, values: pl.Series) -> list[pl.Series]:
    """Return columns of a comparison, the model and the baseline at `at` among them, with rows of the baseline's values."""
    others = list(columns)
    others[at - 1], others[-2] = columns[at].cast(columns[at - 1].dtype), values
    return [one.append(other.alias(one.name)) for one, other in zip(columns, others, strict=True)]


def question(
    rec: Any,
    metrics: Sequence[Asked],
    k: Cutoffs,
    by: By,
    cluster: str | None,
) -> Question:
    """Return the request, or raise an error where it is invalid."""
    found = registry.asked(registry.each(metrics), k)
    if cluster is not None and not isinstance(cluster, str):
        msg = f"cluster={shown(cluster)}: cluster takes the name of a column, such as 'household'"
        raise RecframeError(msg)
    names, of_clusters = argument_errors.names(by), [] if cluster is None else [cluster]
    bound = [*rec._context.by, *names]  # noqa: SLF001
    try:
        inputs = rec._inputs([*names, *of_clusters], found)  # noqa: SLF001
    except ColumnError as error:
        raise _named_as_given(error, cluster, bound) from None
    if of_clusters and inputs.segments[-1].inside == "user":
        msg = f"{Given('cluster', cluster)}: without cluster= each user is already a cluster; leave it out"
        raise RecframeError(msg)
    if any(segment.inside == "user" for segment in inputs.segments):
        user = Given("by", inputs.context.names["user"])
        msg = f"{user}: one user has no interval; evaluate(by='user') has the values"
        raise RecframeError(msg)
    if cluster in bound:
        msg = f"cluster={cluster!r} is also a column of by=, so each segment would be one cluster; name another"
        raise RecframeError(msg)
    unit = _unit(inputs, found, str(cluster)) if of_clusters else None
    inputs = inputs if unit is None else replace(inputs, units=(unit,))
    inputs, unit = _over_folds(inputs, unit)
    return Question(rec, inputs, under_profile.asked(inputs.context, found), unit)


def _over_folds(inputs: Inputs, unit: str | None) -> tuple[Inputs, str | None]:
    """Return the inputs with the units of folds, and which of them are the clusters: by default users, who stand in several."""
    if inputs.folds is None:
        return inputs, unit
    if TRAINING in inputs.inside("role"):
        each = Given("by", inputs.context.names[TRAINING])
        msg = f"{each}: each training has no interval over folds; leave it out, or ask evaluate()"
        raise CallError(msg)
    user = Segment("user", inputs.context.names["user"], "role")
    with_users = replace(inputs, segments=(*inputs.segments, user), units=(*inputs.units, "user"))
    return with_users, unit or "user"


def _named_as_given(error: ColumnError, cluster: str | None, by: Sequence[Any]) -> ColumnError:
    """Return an error of a column of segments, which names a column of clusters by its own option."""
    if cluster is None or cluster in by:
        return error
    told = str(error).replace(str(Given("by", cluster)), str(Given("cluster", cluster)), 1)
    return type(error)(told)


def _unit(inputs: Inputs, metrics: Sequence[Metric[...]], cluster: str) -> str:
    """Return the name inside the plan of the column of clusters, or say why it is none."""
    segment = inputs.segments[-1]
    if segment.owner == "items" or segment.inside in {"item", MODEL}:
        msg = f"cluster={cluster!r} does not describe users; name a column of users, such as their household"
        raise RecframeError(msg)
    of_sets = [str(metric) for metric in metrics if is_of_segment(metric)]
    if segment.owner == "row" and of_sets:
        msg = (
            f"{of_sets[0]} is computed from all lists together, so clusters must be whole users: give {cluster!r} as a "
            "column of users="
        )
        raise RecframeError(msg)
    return segment.inside


def check_pairs(metrics: Sequence[Metric[...]]) -> None:
    """Reject metrics whose difference between models has no error."""
    for metric in metrics:
        if is_of_segment(metric) and (reason := reason_without(metric)):
            msg = f"{metric} cannot be compared, since {reason}; evaluate() has its values"
            raise RecframeError(msg)


def warned_of_metrics(
    home: Inputs,
    metrics: Sequence[Metric[...]],
    result: pl.DataFrame,
    run: Collect,
    *,
    tidy: bool = False,
) -> None:
    """Warn of what a result of metrics and its frames, under their profile's policies, show."""
    result = long.wide(result, metrics) if tidy else result
    tell(one_of_each(home), metrics, result, run)


def with_notes(result: pl.LazyFrame, notes: pl.LazyFrame | None) -> pl.LazyFrame:
    """Return a result with the notes on its models or pairs; what arms of an experiment show is open."""
    if notes is None:
        return result
    columns = result.collect_schema().names()
    keys = ["model", "baseline"] if "baseline" in columns else ["model"]
    notes = notes if "baseline" in columns else first_of_each(notes)
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
