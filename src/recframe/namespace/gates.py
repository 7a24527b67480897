"""The method of `rec` that requires something of numbers, for tests and releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, get_args, overload

import polars as pl

from recframe.conventions import under_profile
from recframe.errors import RecframeError, shown
from recframe.frames.dtypes import text_of
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.lookup import collected
from recframe.namespace import calls
from recframe.namespace.bound_metric import By, Cutoffs, F
from recframe.namespace.earlier import Earlier, earlier, lacking, without_model
from recframe.namespace.predicted import Predicted, predicted
from recframe.namespace.question import (
    FEW_ROWS,
    Question,
    by_number,
    check_contributions,
    question,
    values_of_users,
)
from recframe.plan.contributions import contributions
from recframe.plan.evaluation import Convention
from recframe.plan.runs import Run
from recframe.uncertainty import clusters, distances, known_users, mixes, options, unmet
from recframe.uncertainty.over_trainings import refuse
from recframe.uncertainty.pairs import MODEL, Pairing, sums_of_all
from recframe.uncertainty.requirements import (
    COLUMNS,
    SHORT,
    Gate,
    Missing,
    On,
    Requirement,
    is_name,
    metrics_of,
    required,
)
from recframe.uncertainty.rounded import as_shown
from recframe.uncertainty.summary import Intervals

Found = tuple[pl.LazyFrame, Mapping[int, Requirement], pl.LazyFrame | None]
"""Rows, their requirements, and where the rows do not say it the keys and places of which a user has a value now."""
Required = str | Requirement | Sequence[str | Requirement]
"""A requirement, or several in a list."""


class Gates(Generic[F]):
    """The method that requires something."""

    @overload
    def require(
        self: Gates[pl.LazyFrame],
        *requirements: Required,
        k: Cutoffs = ...,
        by: By = ...,
        min_users: int = ...,
        cluster: str | None = ...,
        strict: bool = ...,
        on: On = ...,
        models: str | Sequence[str] | None = ...,
        last: Any = ...,
        missing: Missing = ...,
        history: Any = ...,
        window: int = ...,
        mix: str | None = ...,
        level: float = ...,
        raises: Literal[True] = ...,
        wide: bool = ...,
        profile: str | None = ...,
    ) -> pl.DataFrame: ...
    @overload
    def require(
        self,
        *requirements: Required,
        k: Cutoffs = ...,
        by: By = ...,
        min_users: int = ...,
        cluster: str | None = ...,
        strict: bool = ...,
        on: On = ...,
        models: str | Sequence[str] | None = ...,
        last: Any = ...,
        missing: Missing = ...,
        history: Any = ...,
        window: int = ...,
        mix: str | None = ...,
        level: float = ...,
        raises: bool = ...,
        wide: bool = ...,
        profile: str | None = ...,
    ) -> F: ...
    @calls.understood
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
        profile: str | None = None,
    ) -> Any:
        """Raise where a requirement fails, and return a row for each segment, model and requirement.

        A requirement is a text such as `"ndcg@10 >= 0.28"`, `"gini@10 <= 0.9"` or `"ndcg@10 >= 0.99 * popularity"` (at most 1 %
        below that model), or a `rf.Requirement`. `k` goes to metrics without an `@`, `by` and `profile` are those of
        `evaluate`. A number is asked of every model, a share of a model of all the others, user by user; `models` names those
        that are asked.

        Each row has a state, with the interval `difference_low` to `difference_high` of the value's difference to
        the bound (that of the value itself, or of the users' differences b - f a, with f the factor):

            fails: it is shown to be on the wrong side. The interval lies beyond the bound, and does so among all rows of the
                table: `p_adjusted`, by Holm, is at most 1 - level. So many segments make no false alarm.
            holds: it is shown to be on the right side. The interval reaches up to the bound and no further, and held against
                another model it does so with two more users, whose values are as far apart as the metric's can be.
            open: it cannot be told with so many users. `detectable` is the smallest difference that they show, four times in
                five; it is null where all users are the same distance apart. So is a row of nobody, of one user, or of fewer
                than `min_users`, which is not tested at all.
            missing: earlier numbers of the metric have the model or the segment, and today's rows do not: `last`, or every
                run of the trailing window of `history`, of at least `min_users` users, whatever the value is held against.
                By default such a row counts as one that fails, and with `missing="open"` as one that is open.

        `strict=True` raises where a row is open, too, but for rows below `min_users` beside others that were judged. `cluster`
        is that of `summarize`.
        `on="value"` takes the values alone, without the intervals: a false alarm for half of the systems that are just as
        required, and for nearly all that are asked in many segments. A metric that never has an interval is judged so in
        any case, and its `note` says it; one that so few lists decide that none holds is open. `raises=False` returns the frame
        and raises nothing.

        Values are shown as `decimals=` or a profile rounds them, and judged as they are.

        `last` is an earlier result, which `"ndcg@10 >= 0.99 * last"` holds values against: one of `summarize` or `require`
        (whose short form lacks the intervals of values that were held against others'), whose intervals count as if they were
        of other users, so that less can be shown; or, better, users' values, of `evaluate(..., by="user")`, who are paired; or
        both in a list.

        `history` holds values against what the last runs before predict, in `"ndcg@10 >= trailing"` or `"ndcg@10 >= 0.95 *
        trailing"`: a frame of `rf.history(...)`, or its path. The prediction and its error are those of `rf.changes`, from the
        last `window` runs that were split by the same columns and whose metric stood for the same. So it fails where the
        value lies below the band, and holds where a value of that factor would. With too few runs it is open, and its note
        says so; a history with runs of the metric and none of its definition is an error. Have runs in it that were before:
        track this one after the gate, or filter the history by `as_of`.

        Where the path of a history is given whose runs were tracked with `per_user=True`, users whom it knows are held against
        their own means of these runs: the error is that of the users' differences, or what the runs differ by once users are
        allowed for, whichever is larger. To leave runs out, give the path and the others: `history=[path, frame]`. `mix` names
        a column of users that the runs were tracked by: values are standardised to its shares of users in the window.

        Columns: the `by` columns and a bound model; `requirement`, `state`; `value`, `bound` (times the other's value),
        `baseline_value`, `difference` with its interval; `p_adjusted`, `n_users`, `note`. With `wide=True` there are `metric`,
        `k`, `value_low` and `value_high`, `n_differ` (users, or clusters, whose two values differ, where it is another
        model's), `detectable` and `p_value` too, in the order of earlier versions. A null value (nobody has one) is open. It
        needs NumPy and SciPy, the extra recframe[stats].

        Raises a RequirementError, which is an AssertionError too, with a table of what fails. So that no gate passes unseen, a
        LazyFrame, or a frame of an engine, is run at once, and the result is a DataFrame of Polars; `raises=False` gives a
        plan, which runs when it is collected and raises nothing. Raises what `evaluate` raises, and a RecframeError for what is
        no requirement.

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
        wide = options.yes_or_no("wide", wide)
        asked = required(requirements, k)
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
        )
        is_plan = self._kind.is_lazy  # type: ignore[attr-defined]  # of a Rec
        of_result = wide or (raises and is_plan)
        found = question(self, metrics_of(asked), None, by, cluster, profile, wide=of_result)
        then = earlier(last, found.by, found.inputs, found.metrics)
        before = predicted(history, window, gate, found, mix)
        checked = replace(gate, raises=raises and not is_plan)
        result = Asked(found, calls.names(by), checked, then, before, profile).result()
        if not (raises and is_plan):
            return result
        return unmet.check_collected(collected(result), gate, wide=wide)


def gate_of(  # noqa: PLR0913  the options of a gate
    asked: Sequence[Requirement],
    *,
    level: float = 0.95,
    on: On = "interval",
    strict: bool = False,
    min_users: int = 5,
    models: object = None,
    last: object = None,
    missing: Missing = "fails",
    history: object = None,
) -> Gate:
    """Return a gate of some options, or say which of them is none."""
    options.one_of("on", on, get_args(On))
    options.one_of("missing", missing, get_args(Missing))
    return Gate(
        asked,
        level=options.share("level", level, "0.95"),
        on=on,
        strict=strict,
        min_users=options.whole("min_users", min_users, 1),
        models=_names(models),
        earlier=last is not None,
        trailing=history is not None,
        missing=missing,
    )


def _names(models: object) -> list[str] | None:
    if models is None:
        return None
    names = list(models) if isinstance(models, list | tuple) else [models]
    if not names or not all(map(is_name, names)):
        msg = f"models={shown(models)}: models takes the name of a model, or a list of names"
        raise RecframeError(msg)
    return [text_of(name) for name in names]


@dataclass(frozen=True)
class Asked:
    """What a gate asks of a frame: a plan for each thing that values are held against, and what is made of their rows."""

    question: Question
    by: Sequence[Any]
    gate: Gate
    earlier: Earlier | None
    predicted: Predicted | None
    profile: str | None

    @property
    def keys(self) -> list[str]:
        """The names of the key columns inside the plan."""
        return list(self.question.by)

    @property
    def how(self) -> Intervals:
        """How intervals of values are made."""
        return Intervals(self.gate.level)

    def result(self) -> Any:
        """Return the result as a frame of the kind that came in."""
        from recframe.uncertainty import gates  # noqa: PLC0415  NumPy and SciPy are an extra

        gate, names, keys = self.gate, self.question.by, self.keys
        if gate.models is not None and MODEL not in names:
            raise RecframeError(without_model("models="))
        rows = pl.concat(self._with_missing(*one) for one in self._rows())

        def finished(found: pl.DataFrame) -> pl.DataFrame:
            result = as_shown(gates.judged(found, keys, gate), self.question.decimals)
            return unmet.check(result, names, gate) if gate.raises else result

        schema = rows.collect_schema()
        by: dict[str, Any] = {key: schema[key] for key in keys}
        made = pl.Schema({**by, **COLUMNS})
        whole = self.question.rec._kind.applied(rows, finished, made)  # noqa: SLF001
        return self.question.given(whole, names, list(COLUMNS), SHORT)

    def _rows(self) -> Iterator[Found]:
        """Give the rows of the requirements, by what they hold values against."""
        bounds: dict[int, Requirement] = {}
        users: dict[int, Requirement] = {}
        summaries: dict[int, Requirement] = {}
        trailing: dict[int, Requirement] = {}
        models: dict[str, dict[int, Requirement]] = {}
        for place, one in self._under_profile():
            if self.earlier is not None and self.gate.is_earlier(one):
                self.earlier.check(one.metric)
                paired = self.earlier.has_users_of(one.metric)
                (users if paired else summaries)[place] = one
            elif self.gate.is_trailing(one):
                trailing[place] = one
            elif one.model is not None:
                models.setdefault(one.model, {})[place] = one
            else:
                bounds[place] = one
        if bounds:
            yield self._from_bounds(bounds), bounds, None
        for model, required_of_it in models.items():
            yield self._from_model(model, required_of_it), required_of_it, None
        before, decimals = self.earlier or Earlier(), self.question.decimals
        if summaries and before.summary is not None:
            found = self._from_bounds(summaries), self.keys, summaries, before.summary, decimals
            yield distances.with_earlier(*found), summaries, None
        if trailing and self.predicted is not None:
            yield self._from_runs(trailing, self.predicted), trailing, None
        if users and before.users is not None:
            yield self._from_users(users, before.users)

    def _under_profile(self) -> Iterator[tuple[int, Requirement]]:
        """Give the requirements by their places, with metrics that have the profile's parameters."""
        known = {str(metric): metric for metric in self.question.metrics}
        for place, one in enumerate(self.gate.requirements):
            yield place, replace(one, metric=known[str(one.metric)])

    def _conventions(self, places: Mapping[int, Requirement]) -> list[Convention]:
        names = {str(one.metric) for one in places.values()}
        return [one for one in self.question.conventions if str(one.metric) in names]

    def _from_bounds(self, places: Mapping[int, Requirement]) -> pl.LazyFrame:
        asked, conventions = self.question, self._conventions(places)

        def made(inputs: Inputs, run: Run) -> pl.LazyFrame:
            wide = asked.spread(inputs, conventions, run)
            return distances.from_bounds(wide, self.keys, places, self.how)

        what = ("bounds", self.how, *places.items())
        return asked.planned(asked.inputs, made, *what, middling=FEW_ROWS)

    def _from_model(self, model: str, places: Mapping[int, Requirement]) -> pl.LazyFrame:
        asked, first = self.question, next(iter(places.values()))
        if not asked.inputs.model:
            raise RecframeError(without_model(repr(str(first)), model))
        conventions = self._conventions(places)
        metrics = [one.metric for one in conventions]
        check_contributions(metrics)
        asked.check_pairs()
        given = f"{str(first)!r}: {lacking(model)}{model!r}"
        pairing = Pairing(model, asked.inputs.schema[MODEL], asked.by[MODEL], given)

        def made(inputs: Inputs, run: Run) -> pl.LazyFrame:
            plans = contributions(inputs, conventions, run)
            sums = sums_of_all(plans, metrics, pairing, run)
            sums = asked.with_trainings(sums, inputs, conventions, run)
            sums = self._with_units(sums, len(metrics))
            return distances.from_pairs(sums, self.keys, metrics, places, self.how)

        what = ("gaps to a model", pairing, self.how, *places.items())
        return asked.planned(asked.inputs, made, *what, middling=FEW_ROWS)

    def _from_users(self, places: Mapping[int, Requirement], then: pl.LazyFrame) -> Found:
        instead = "give a result of summarize(), whose interval is over trainings"
        refuse(self.question.inputs, "last= with users' values", instead)
        conventions, decimals = self._conventions(places), self.question.decimals
        metrics = [one.metric for one in conventions]
        now = values_of_users(self.question, self.by, self.profile, conventions)
        there = then.collect_schema()
        known = [one for one in now.collect_schema() if one in there]
        then = then.select(*known, *by_number(metrics))
        keys = self.keys if self.question.cluster is None else [*self.keys, self.question.cluster]
        sums = known_users.sums_with_earlier(now, then, keys, metrics, decimals)
        sums = self._with_units(sums, len(metrics))
        rows = distances.from_pairs(sums, self.keys, metrics, places, self.how, decimals)
        numbers = {place: metrics.index(one.metric) for place, one in places.items()}
        return rows, places, known_users.present_users(now, self.keys, numbers)

    def _from_runs(self, trailing: Mapping[int, Requirement], before: Predicted) -> pl.LazyFrame:
        """Return the rows of values that are held against what the last runs of a history predict."""
        decimals = self.question.decimals
        if before.mix is None or before.shares is None:
            past = self._from_bounds(trailing), self.keys, trailing, before.rows, decimals
            return self._paired_with_runs(distances.with_predictions(*past), trailing)
        by_mix, of = self._by_mix(trailing, before.mix)
        now, gone = mixes.standardised(by_mix, self.keys, of, trailing, before.shares, before.mix)
        rows = distances.with_predictions(now, self.keys, trailing, before.rows, decimals)
        return mixes.without_gone(rows, self.keys, gone, before.left_out)

    def _by_mix(self, trailing: Mapping[int, Requirement], mix: str) -> tuple[pl.LazyFrame, str]:
        """Return the rows of values by the segments of a mix, and the key of these."""
        from recframe.tracking.mixes import no_column_of_users  # noqa: PLC0415  as other histories

        of, conventions = self.question, self._conventions(trailing)
        metrics, cluster = [one.metric for one in conventions], (*of.clusters, None)[0]
        asked = question(of.rec, metrics, None, [*self.by, mix], cluster, self.profile)
        key = next(inside for inside, name in asked.by.items() if name == mix)
        owner = next((one.owner for one in asked.inputs.segments if one.inside == key), None)
        if owner in {"items", "item", "truth"}:
            raise no_column_of_users(mix)
        home, run = under_profile.at_home(asked.inputs), asked.rec._run()  # noqa: SLF001
        wide = asked.spread(home, conventions, run)
        return distances.from_bounds(wide, list(asked.by), trailing, self.how), key

    def _paired_with_runs(
        self, rows: pl.LazyFrame, trailing: Mapping[int, Requirement]
    ) -> pl.LazyFrame:
        """Return rows in which users whom the history knows are held against their own means, where it knows enough."""
        then = self.predicted.users if self.predicted else None
        places = {
            place: one
            for place, one in trailing.items()
            if then is not None and str(one.metric) in then.metrics
        }
        if then is None or not places or self.question.inputs.training:
            return rows  # trainings differ beside users, whose own means know nothing of that
        conventions = self._conventions(places)
        metrics = [one.metric for one in conventions]
        now = values_of_users(self.question, self.by, self.profile, conventions)
        schema = now.collect_schema()
        schema["user"] = pl.UInt64()
        now = self.question.rec._kind.applied(now, then.with_hashes, schema)  # noqa: SLF001
        means = then.means.rename({f"key {at}": key for at, key in enumerate(self.keys)})
        before = means.lazy().select(*self.keys, "user", *by_number(metrics))
        clustered = [] if self.question.cluster is None else [self.question.cluster]
        sums = known_users.sums_with_earlier(now, before, [*self.keys, *clustered], metrics, {})
        sums = self._with_units(sums, len(metrics))
        paired = distances.from_pairs(sums, self.keys, metrics, places, self.how)
        return known_users.by_user_or_run(rows, paired, self.keys, places, then.windows)

    def _with_units(self, sums: pl.LazyFrame, n_metrics: int) -> pl.LazyFrame:
        """Return sums over pairs with those of their units, which are users or clusters."""
        if self.question.cluster is None:
            return clusters.of_users(sums, n_metrics)
        return clusters.of_clusters(sums, self.keys, self.question.cluster, n_metrics)

    def _with_missing(
        self,
        rows: pl.LazyFrame,
        places: Mapping[int, Requirement],
        present: pl.LazyFrame | None,
    ) -> pl.LazyFrame:
        """Return rows with those that earlier numbers have of the same metrics, and today's frames do not."""
        keys, least = self.keys, self.gate.min_users
        baselines = {
            place: one.model
            for place, one in places.items()
            if one.model and not (self.gate.is_earlier(one) or self.gate.is_trailing(one))
        }
        for one in self._had(places, rows.collect_schema()):
            of_others = distances.without_baselines(one, baselines)
            rows = distances.with_missing(rows, keys, of_others, least, distances.BEFORE, present)
        if self.predicted is None:
            return rows
        of_each = distances.had_in_each_run(self.predicted.rows, keys, places)
        of_each = distances.without_baselines(of_each, baselines)
        return distances.with_missing(rows, keys, of_each, 1, distances.IN_EACH_RUN, present)

    def _had(self, places: Mapping[int, Requirement], dtypes: pl.Schema) -> Iterator[pl.LazyFrame]:
        """Give what earlier results have of the requirements' metrics: values of users name no segment of other users."""
        before = self.earlier
        if before is None:
            return
        known = {place: one for place, one in places.items() if before.has_users_of(one.metric)}
        if known and before.users is not None:
            metrics = metrics_of(known.values())
            there = before.users.collect_schema()
            then = before.users.select(
                *(key for key in self.keys if key in there), *by_number(metrics)
            )
            numbers = {place: metrics.index(one.metric) for place, one in known.items()}
            yield known_users.had_by_users(then, self.keys, numbers, dtypes)
        if before.summary is not None:
            yield distances.had_in_summary(before.summary, self.keys, places, dtypes)
