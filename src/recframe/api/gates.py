"""Gates of `rec`: `require`, for tests and releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, get_args, overload

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import By, Cutoffs, F
from recframe.api.history_methods import predicted
from recframe.api.previous_results import Earlier, earlier, lacking, without_model
from recframe.api.request import (
    FEW_ROWS,
    Question,
    by_number,
    check_contributions,
    question,
    values_of_users,
)
from recframe.errors import RecframeError, shown
from recframe.evaluation.contributions import contributions
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.execution import Run
from recframe.frames.dtypes import text_of
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.lookup import collected
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.statistics import mixes, options, requirement_rows
from recframe.statistics.over_folds import of_each_user
from recframe.statistics.over_trainings import refuse
from recframe.statistics.pairs import (
    MODEL,
    PLACE,
    Pairing,
    by_metric,
    sums_of_all,
    units_of_clusters,
    units_of_users,
)
from recframe.statistics.requirement_rows import Places
from recframe.statistics.requirements import (
    COLUMNS,
    SHORT,
    Gate,
    Missing,
    On,
    Requirement,
    check,
    check_collected,
    is_name,
    metrics_of,
    required,
)
from recframe.statistics.stored_results import as_shown

if TYPE_CHECKING:
    from typing_extensions import Unpack

Required = str | Requirement | Sequence[str | Requirement]
"""A requirement, or several in a list."""


class GateOptions(TypedDict, total=False):
    """The options of `require`, but `raises`."""

    k: Cutoffs
    by: By
    min_users: int
    cluster: str | None
    strict: bool
    on: On
    models: str | Sequence[str] | None
    last: Any
    missing: Missing
    history: Any
    window: int
    mix: str | None
    level: float
    wide: bool


class Gates(Generic[F]):
    """The method that requires something."""

    @overload
    def require(
        self: Gates[pl.LazyFrame],
        *requirements: Required,
        raises: Literal[True] = ...,
        **options: Unpack[GateOptions],
    ) -> pl.DataFrame: ...
    @overload
    def require(
        self, *requirements: Required, raises: bool = ..., **options: Unpack[GateOptions]
    ) -> F: ...
    @argument_errors.understood
    def require(  # noqa: PLR0913  those of evaluate, and when a row fails
        self,
        *requirements: Required,
        k: Cutoffs = None,
        by: By = None,
        min_users: int = 5,
        cluster: str | None = None,
        strict: bool = False,
        on: On = "interval",
        models: str | Sequence[str] | None = None,
        last: Any = None,
        missing: Missing = "fails",
        history: Any = None,
        window: int = 14,
        mix: str | None = None,
        level: float = 0.95,
        raises: bool = True,
        wide: bool = False,
    ) -> Any:
        """Raise if a requirement fails, and return a row for each segment, model and requirement.

        A requirement is a text such as `"ndcg@10 >= 0.28"`, `"gini@10 <= 0.9"` or `"ndcg@10 >= 0.99 * popularity"` (at most 1 %
        below that model), or a `rf.Requirement`. `k` applies to metrics without an `@`, `by` is that of `evaluate`. A
        number is required of every model, a share of a model of all the others, paired by user; `models` names those it is
        required of.

        Each row has a state, with the interval `difference_low` to `difference_high` of the value's difference to
        the bound (that of the value itself, or of the users' differences b - f a, with f the factor):

            fails: significantly on the wrong side. The interval is beyond the bound, and `p_adjusted`, corrected by Holm for
                all rows of the table, is at most 1 - level. So many segments make no false alarm.
            holds: significantly on the right side. The interval reaches at most to the bound; compared with another model, also
                with two added users with the most extreme differences.
            open: the data cannot tell. `detectable` is the smallest difference that these users show four times in five; it is
                null if all users have the same difference. Rows of no user, one user, or fewer than `min_users`, which are not
                tested, are open too.
            missing: the model or segment is in earlier numbers of the metric, but not in today's: in `last`, or in every run of
                the trailing window of `history`, with at least `min_users` users. By default such a row counts as failed, with
                `missing="open"` as open.

        `strict=True` raises for open rows too, except rows below `min_users` if others were judged. `cluster` is that of
        `summarize`. `on="value"` compares values alone, without intervals: a false alarm for half of the systems that exactly
        meet the requirement, and for nearly all in many segments. A metric without intervals is always judged so, and its
        `note` says it; one that depends on too few lists is open. `raises=False` returns the frame and does not raise.

        Values are shown rounded by `decimals=` or a profile, and judged unrounded.

        `last` is an earlier result for comparison, as in `"ndcg@10 >= 0.99 * last"`: of `summarize` or `require` (whose short
        form lacks intervals of comparisons with other values), whose intervals count as if of other users, so that less can be
        shown; or, better, users' values, of `evaluate(..., by="user")`, which are paired; or both in a list.

        `history` compares values with the prediction from the last runs, in `"ndcg@10 >= trailing"` or `"ndcg@10 >= 0.95 *
        trailing"`: a frame of `rf.history(...)`, or its path. The prediction and its error are those of `rf.changes`, from the
        last `window` runs with the same segments and the same definition of the metric. So it fails if the value is below the
        band, and holds if a value of that factor would. With too few runs it is open, and its note says so; a history with runs
        of the metric, but none with its definition, is an error. It should only have earlier runs: track this one after the
        gate, or filter the history by `as_of`.

        With the path of a history whose runs were tracked with `per_user=True`, known users are compared with their own means
        of these runs: the error is that of the users' differences, or the spread between runs after allowing for users,
        whichever is larger. To leave runs out, give the path and the remaining runs: `history=[path, frame]`. `mix` names a
        column of users that the runs were tracked by: values are standardised to its shares of users in the window.

        Columns: the `by` columns and a bound model; `requirement`, `state`; `value`, `bound` (times the other's value),
        `baseline_value`, `difference` with its interval; `p_adjusted`, `n_users`, `note`. `wide=True` adds `metric`, `k`,
        `value_low` and `value_high`, `n_differ` (users, or clusters, whose values differ between the two models), `detectable`
        and `p_value`, in the order of earlier versions. A null value (nobody has one) is open. It needs NumPy and SciPy, the
        extra recframe[stats].

        Raises a RequirementError, which is an AssertionError too, with a table of the failed rows. So that no gate passes
        unseen, a LazyFrame, or a frame of an engine, runs at once, and the result is a Polars DataFrame; `raises=False` gives a
        plan, which runs when it is collected and does not raise. Raises what `evaluate` raises, and a RecframeError for an
        invalid requirement.

        In a test of pytest:

            def test_the_new_model_is_good_enough():
                rec = rf.rec(pl.read_parquet("recs.parquet"), pl.read_parquet("truth.parquet"), model="model")
                rec.require("ndcg@10 >= 0.28", "ndcg@10 >= 0.99 * popularity")

        Source: Newcombe 1998 (intervals of differences); Holm 1979.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": range(100), "item": 1, "rank": 1, "relevance": [0, 1, 1, 1] * 25})
        >>> df.rec.require("mrr >= 0.6", "mrr >= 0.7").select("requirement", "state", "value", "difference_low", "n_users")
        shape: (2, 5)
        ┌─────────────┬───────┬───────┬────────────────┬─────────┐
        │ requirement ┆ state ┆ value ┆ difference_low ┆ n_users │
        │ ---         ┆ ---   ┆ ---   ┆ ---            ┆ ---     │
        │ str         ┆ str   ┆ f64   ┆ f64            ┆ i64     │
        ╞═════════════╪═══════╪═══════╪════════════════╪═════════╡
        │ mrr >= 0.6  ┆ holds ┆ 0.75  ┆ 0.055215       ┆ 100     │
        │ mrr >= 0.7  ┆ open  ┆ 0.75  ┆ -0.044785      ┆ 100     │
        └─────────────┴───────┴───────┴────────────────┴─────────┘
        """
        asked = required(requirements, k)
        is_plan = self._kind.is_lazy  # type: ignore[attr-defined]  # of a Rec
        gate = gate_of(
            asked,
            level=level,
            on=on,
            strict=strict,
            min_users=min_users,
            models=models,
            last=last,
            missing=missing,
            history=history,
            raises=raises and not is_plan,
        )
        of_result = wide or (raises and is_plan)
        mentioned = [*(one.model for one in asked), *(gate.models or [])]
        rec = self._candidates(*mentioned)  # type: ignore[attr-defined]  # of a Rec
        named = metrics_of(asked)
        found = question(rec, named, None, by, cluster, wide=of_result)
        then = earlier(last, found.by, found.inputs, found.metrics) or Earlier()
        before = predicted(history, window, gate, found, mix)
        result = GatePlan(found, argument_errors.names(by), gate, then, before).result()
        if not (raises and is_plan):
            return result
        return check_collected(collected(result), gate, wide=wide)


def gate_of(
    requirements: Sequence[Requirement],
    *,
    models: object = None,
    last: object = None,
    history: object = None,
    **options_of_gate: Any,
) -> Gate:
    """Return a gate of some options, or say which of them is none."""
    for name, takes in (("on", On), ("missing", Missing)):
        if name in options_of_gate:
            options.one_of(name, options_of_gate[name], get_args(takes))
    return Gate(
        requirements,
        models=_names(models),
        earlier=last is not None,
        trailing=history is not None,
        **options_of_gate,
    )


def _names(models: object) -> list[str] | None:
    if models is None:
        return None
    names = list(models) if isinstance(models, list | tuple) else [models]
    if not names or not all(map(is_name, names)):
        msg = f"models={shown(models)}: models takes the name of a model, or a list of names"
        raise RecframeError(msg)
    return [text_of(name) for name in names]


def _metrics(places: Places) -> dict[int, Metric[...]]:
    """Return the metrics of requirements, by place."""
    return {place: one.metric for place, one in places.items()}


@dataclass(frozen=True)
class GatePlan:
    """A gate's plans: one for each thing that values are compared with, and the result of their rows."""

    question: Question
    by: Sequence[Any]
    gate: Gate
    earlier: Earlier
    predicted: Any
    """The `Predictions` of a history, where there is one."""

    @property
    def keys(self) -> list[str]:
        """The names of the key columns inside the plan."""
        return list(self.question.by)

    def result(self) -> Any:
        """Return the result as a frame of the kind that came in."""
        from recframe.statistics import gates  # noqa: PLC0415  NumPy and SciPy are an extra

        gate, names, decimals = self.gate, self.question.by, self.question.decimals
        if gate.models is not None and MODEL not in names:
            raise RecframeError(without_model("models="))
        rows = pl.concat(self._rows())

        def finished(found: pl.DataFrame) -> pl.DataFrame:
            result = as_shown(gates.judged(found, [*names], gate, decimals), decimals)
            return check(result, names, gate) if gate.raises else result

        schema = rows.collect_schema()
        by: dict[str, Any] = {key: schema[key] for key in names}
        made = pl.Schema({**by, **COLUMNS})
        whole = self.question.rec._kind.applied(rows, finished, made)  # noqa: SLF001
        return self.question.given(whole, names, list(COLUMNS), SHORT)

    def _rows(self) -> Iterator[pl.LazyFrame]:
        """Yield the rows of the requirements, by kind of bound."""
        # metrics that have the profile's parameters
        metrics = {str(metric): metric for metric in self.question.metrics}
        groups: dict[Any, dict[int, Requirement]] = {}
        for place, one in enumerate(self.gate.requirements):
            named = replace(one, metric=metrics[str(one.metric)])
            groups.setdefault(self._against(named), {})[place] = named
        for (rows_of, _), places in groups.items():
            yield rows_of(places)

    def _against(self, one: Requirement) -> tuple[Callable[..., pl.LazyFrame], str | None]:
        """Return what makes the rows of a requirement, and the model that its values are compared with."""
        if self.gate.is_earlier(one):
            self.earlier.check(one.metric)
            paired = self.earlier.has_users_of(one.metric)
            return (self._against_users if paired else self._against_summary), None
        if self.gate.is_trailing(one):
            return self._against_runs, None
        return (self._against_number if one.model is None else self._against_model), one.model

    def _conventions(self, places: Places) -> list[Convention]:
        names = {str(place.metric) for place in places.values()}
        return [
            convention
            for convention in self.question.conventions
            if str(convention.metric) in names
        ]

    def _bounds(self, places: Places) -> pl.LazyFrame:
        """Return the rows of values with their intervals."""
        asked, conventions = self.question, self._conventions(places)

        def made(inputs: Inputs, run: Run) -> pl.LazyFrame:
            long = asked.spread(inputs, conventions, run, _metrics(places))
            return requirement_rows.from_bounds(long, self.keys, self.gate.level)

        what = ("bounds", self.gate.level, *places.items())
        return asked.planned(asked.inputs, made, *what, middling=FEW_ROWS)

    def _against_number(self, places: Places) -> pl.LazyFrame:
        return self._with_missing(self._bounds(places), places)

    def _against_model(self, places: Places) -> pl.LazyFrame:
        asked, first = self.question, next(iter(places.values()))
        model = str(first.model)
        if not asked.inputs.model:
            raise RecframeError(without_model(repr(str(first)), model))
        conventions = self._conventions(places)
        metrics = [convention.metric for convention in conventions]
        check_contributions(metrics)
        asked.check_pairs()
        given = f"{str(first)!r}: {lacking(model)}{model!r}"
        pairing = Pairing(model, asked.inputs.schema[MODEL], asked.by[MODEL], given)

        def made(inputs: Inputs, run: Run) -> pl.LazyFrame:
            plans = contributions(inputs, conventions, run)
            sums = sums_of_all(plans, metrics, pairing, run)
            sums = asked.with_trainings(sums, inputs, conventions, run)
            return self._pairs(sums, metrics, places)

        what = ("gaps to a model", pairing, self.gate.level, *places.items())
        rows = asked.planned(asked.inputs, made, *what, middling=FEW_ROWS)
        return self._with_missing(rows, places, model)

    def _pairs(
        self, sums: pl.LazyFrame, metrics: Sequence[Metric[...]], places: Places
    ) -> pl.LazyFrame:
        """Return the rows of pairs of values from their sums, with those of their units: users, or clusters."""
        cluster, by = self.question.cluster, [*self.keys, PLACE]
        numbers = {str(metric): number for number, metric in enumerate(metrics)}
        keys = [*self.keys, *self.question.inputs.units]
        rows = self.question.of_units(by_metric(sums, keys, _metrics(places), numbers))
        units = units_of_clusters(rows, by, cluster) if cluster else units_of_users(rows)
        units = units if self.question.inputs.folds is None else of_each_user(units)
        return requirement_rows.from_pairs(units, self.keys)

    def _against_summary(self, places: Places) -> pl.LazyFrame:
        rows = self._bounds(places)
        had = self._had_in_summary(places, rows.collect_schema())
        return self._with_missing(requirement_rows.with_earlier(rows, self.keys, had), places)

    def _had_in_summary(self, places: Places, dtypes: pl.Schema) -> pl.LazyFrame:
        summary: Any = self.earlier.summary
        return requirement_rows.had_in_summary(summary, self.keys, places, dtypes)

    def _against_users(self, places: Places) -> pl.LazyFrame:
        instead = "give a result of summarize(), whose interval is over trainings"
        refuse(self.question.inputs, "last= with users' values", instead)
        rows = self._paired(places, self.earlier.users, self.question.decimals)
        return self._with_missing(rows, places)

    def _paired(
        self,
        places: Places,
        then: Any,
        decimals: Mapping[str, int],
        hashes: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
    ) -> pl.LazyFrame:
        """Return the rows of users' values paired with those of then, by hashes of their ids where these are known."""
        asked, conventions = self.question, self._conventions(places)
        metrics = [convention.metric for convention in conventions]
        now = values_of_users(asked, self.by, conventions)
        if hashes is not None:
            schema = pl.Schema({**now.collect_schema(), "user": pl.UInt64()})
            now = asked.rec._kind.applied(now, hashes, schema)  # noqa: SLF001
        there = then.collect_schema()
        known = [one for one in now.collect_schema() if one in there]
        then = then.select(*known, *by_number(metrics))
        keys = self.keys if asked.cluster is None else [*self.keys, asked.cluster]
        sums = requirement_rows.sums_with_earlier(now, then, keys, metrics, decimals)
        return self._pairs(sums, metrics, places)

    def _against_runs(self, places: Places) -> pl.LazyFrame:
        """Return the rows of values compared with predictions from a history."""
        before = self.predicted
        if before.shares is not None:
            now, gone = mixes.standardised(
                self._by_mix(places), self.keys, places, before.shares, before.mix
            )
            rows = requirement_rows.with_predictions(now, self.keys, places, before.rows)
            rows = mixes.without_gone(rows, self.keys, gone, before.left_out)
        else:
            rows = requirement_rows.with_predictions(
                self._bounds(places), self.keys, places, before.rows
            )
            rows = self._by_known_users(rows, places)
        return self._with_missing(rows, places)

    def _by_mix(self, places: Places) -> pl.LazyFrame:
        """Return the rows of values by the segments of a mix, whose key is the last."""
        from recframe.tracking.prediction_bands import no_column_of_users  # noqa: PLC0415  as other histories

        of, conventions, mix = self.question, self._conventions(places), self.predicted.mix
        metrics, cluster = (
            [convention.metric for convention in conventions],
            (*of.clusters, None)[0],
        )
        asked = question(of.rec, metrics, None, [*self.by, mix], cluster)
        key = next(inside for inside, name in asked.by.items() if name == mix)
        owner = next(
            (segment.owner for segment in asked.inputs.segments if segment.inside == key), None
        )
        if owner in {"items", "item", "truth"}:
            raise no_column_of_users(mix)
        home, run = under_profile.at_home(asked.inputs), asked.rec._run()  # noqa: SLF001
        long = asked.spread(home, conventions, run, _metrics(places))
        return requirement_rows.from_bounds(long, [*self.keys, key], self.gate.level)

    def _by_known_users(self, rows: pl.LazyFrame, places: Places) -> pl.LazyFrame:
        """Return rows in which users are paired with their own means from the history, where it has enough."""
        users = self.predicted.users
        if users is None or self.question.inputs.training:
            return rows  # trainings differ beside users, whose own means know nothing of that
        known = {place: one for place, one in places.items() if str(one.metric) in users.metrics}
        if not known:
            return rows
        means = users.means.rename({f"key {at}": key for at, key in enumerate(self.keys)})
        paired = self._paired(known, means.lazy(), {}, users.with_hashes)
        return requirement_rows.by_user_or_run(rows, paired, self.keys, known, users.windows)

    def _with_missing(
        self, rows: pl.LazyFrame, places: Places, baseline: str | None = None
    ) -> pl.LazyFrame:
        """Return rows with those that earlier numbers have of the same metrics, and today's frames do not.

        A `baseline`, which other models are compared with, has no rows.
        """
        n = pl.col("n")
        had = [
            (one.filter(n.is_null() | (n >= self.gate.min_users)), requirement_rows.BEFORE)
            for one in self._had(places, rows.collect_schema())
        ]
        if self.predicted is not None:
            in_each = self.predicted.rows.lazy().filter(pl.col("in_each") > 0)
            of_each = requirement_rows.at_places(in_each.rename({"in_each": "n"}), places)
            had.append((of_each, requirement_rows.IN_EACH_RUN))
        for one, words in had:
            others = requirement_rows.without_baseline(one, self.keys, baseline)
            rows = requirement_rows.with_missing(rows, self.keys, others, words)
        return rows

    def _had(self, places: Places, dtypes: pl.Schema) -> Iterator[pl.LazyFrame]:
        """Give what earlier results have of the requirements' metrics: values of users name no segment of other users."""
        before, keys = self.earlier, self.keys
        known = {place: one for place, one in places.items() if before.has_users_of(one.metric)}
        if known and before.users is not None:
            yield requirement_rows.had_by_users(before.users, keys, known, dtypes)
        if before.summary is not None:
            yield self._had_in_summary(places, dtypes)
