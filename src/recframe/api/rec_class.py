"""Class `Rec`, the `.rec` of a frame, and its registration."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from itertools import filterfalse
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, cast, overload

import polars as pl

from recframe.api import argument_errors, reprs
from recframe.api.argument_errors import PLAIN, Asked, By, Cutoffs, F, check_call, no_method
from recframe.api.lists_shown import warned_of_truth
from recframe.api.methods import Methods
from recframe.api.request import Request, tell_of_tidy, tidied
from recframe.api.result_methods import Answers
from recframe.audit import report as audit
from recframe.audit.data import Data
from recframe.errors import CallError, RecframeError, shown
from recframe.evaluation import evaluation, trainings
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import SUPPORT, Conventions, n_keys, needs_of
from recframe.frames.inputs import Frames, read
from recframe.frames.kinds.kind import Kind, kind_for, with_results_of_polars
from recframe.frames.options import Context, Options, size_of
from recframe.metrics.language import registry
from recframe.metrics.language.definition import (
    Metric,
    Metrics,
    OfEach,
    at_cutoffs,
    cutoff,
    is_many,
)
from recframe.profiles import under_profile
from recframe.ranking.data_checks import as_frame, check_lists
from recframe.ranking.judged_frame import judge

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recframe.api.methods import SegmentedMethods
    from recframe.profiles import explanation


def _signature(bound: BoundMetric) -> inspect.Signature:
    """Return the parameters of a call: the metric's own behind those of every metric."""
    *of_each, _ = inspect.signature(_of_call, eval_str=True).parameters.values()
    return inspect.Signature([*of_each, *bound.metric.typed_parameters.values()])


def _of_call(
    k: Cutoffs = None, by: By = None, **parameters: Any
) -> tuple[Cutoffs, By, dict[str, Any]]:
    """Return the arguments of a call, and the metric's own parameters."""
    return k, by, parameters


class BoundMetric:
    """A metric of a frame: call it with `k`, `by` and the metric's own parameters."""

    __signature__ = OfEach(_signature)
    __wrapped__ = OfEach(lambda bound: bound.metric.definition.function)

    def __init__(self, rec: Rec[Any], metric: Metric[...]) -> None:
        self.rec, self.metric, self.__doc__ = rec, metric, metric.__doc__

    def __call__(self, *arguments: Any, **given: Any) -> Any:
        """Return the metric: a float for one cut-off of an eager frame without segments, otherwise a frame as `evaluate`."""
        metric, context = self.metric, self.rec._context  # noqa: SLF001  the two classes are one object to the user
        k, by = given.get("k"), given.get("by")
        are_plain = isinstance(k, PLAIN) and isinstance(by, PLAIN)
        if arguments or not are_plain or given.keys() - {"k", "by"}:
            named = ("k", "by", *metric.definition.parameters)
            check_call(metric.name, arguments, given, named)
            k, by, parameters = _of_call(*arguments, **given)
            metric = metric(**parameters)
        by_segment = context.by or context.model is not None or is_many(k)
        result: Any = self.rec._values(at_cutoffs([metric], k), by)  # noqa: SLF001  as above
        if by_segment or (by is not None and argument_errors.names(by)):
            return result
        rows = kind_for(result).rows(result)
        if rows is None:
            return result
        *_, value = rows[0].values()
        return float("nan") if value is None else float(value)

    def __repr__(self) -> str:
        return f"<{self.metric} of {reprs.of_frame(self.rec._frame)}>"  # noqa: SLF001  as above

    def __matmul__(self, k: object) -> None:
        """Say how a metric of a frame gets its cut-off."""
        name, cut = self.metric.name, shown(k)
        raise CallError(
            f"rec.{name} takes its cut-off when it is called: write frame.rec.{name}(k={cut}), or frame.rec.evaluate(rf.{name} "
            f"@ {cut})"
        )


class Rec(Methods[F], Answers[F]):
    """Recommender metrics of one frame in long format, one row for each user and item.

    The frame is a judged frame (columns user, item, rank, relevance; rank null: judged but not recommended, relevance
    null: recommended but not judged), or recommendations to which `rec(truth=...)` adds a truth. Call it to bind
    column names, side frames and policies; see `__call__`.
    """

    _context = Context()
    _is_collected = False
    """Whether results are collected frames of Polars, whatever the kind of the frame."""
    _in_buckets: ClassVar[Any]
    """Class of a Rec whose calls run in buckets of users."""

    def __init__(self, frame: F) -> None:
        # NOTE: every `df.rec` makes one, and `hasattr` swallows an AttributeError raised here. So it stores the frame and
        # nothing else, and all checks are made by the methods.
        self._frame: F = frame

    @overload
    def __call__(
        self, truth: Any = None, *, model: None = None, **options: Unpack[Options]
    ) -> Rec[F]: ...
    @overload
    def __call__(
        self, truth: Any = None, *, model: str, **options: Unpack[Options]
    ) -> Segmented[F]: ...
    def __call__(self, truth: Any = None, **options: Any) -> Rec[F]:
        """Bind column names, side frames and policies, and return a new object; the frame and this object do not change.

        Column names hold for every frame of the call:
            user, item: the ids; any dtype that can be a key. In a judged frame without item ids each row is an item.
            rank: from 1, lower is better. score: higher is better, ties by item ascending; used if there is no rank column, or
                if it is named here and the rank is not.
            relevance: above 0 is relevant; a truth without the column counts 1 for each row. False makes each row (of a judged
                frame each judged row) count 1, whatever its columns, without a warning.
            model: the column of systems. All are evaluated with the same truth and users.
            training: the column of trainings of one model, such as the seed, in the lists. Values are means over trainings,
                `by=` the column gives each, and verdicts are over users and trainings. A model whose training is null is
                fixed: it adds no variance.
            propensity: in the truth, the probability that a relevant pair was observed; used by `weights=` of a metric.
            weight: in the users frame, the weight of each user in means over users, such as revenue or impressions: 0 or more.
                Values of metrics over users are then Σ weight · value / Σ weight, over the users with a value; a user without a
                weight is left out, though n_users counts all. Metrics over lists take none.
            time: the time of each row of a log, of train and of truth: dates, datetimes or numbers, for splits and the audit.
                It has no default name: a column called time is read only if it is bound.

        Side frames, of any kind:
            truth: what users really liked: user, item and, if graded, relevance. It may come first, without its name.
            users: one row for each user; its columns serve `by=`.
            items: one row for each item, the catalogue of coverage and others; its columns serve `by=`.
            train: what the systems were fitted on: user and item; each pair counts once. Popularity and histories come from it,
                and `audit()` compares the lists and the truth with it.
            reference: recommendations to compare with, under the same column names, or the name of a model.

        Policies:
            universe: the users that means run over: "truth" (the default with a truth), "recs", "both", "all" (the union,
                with the `users` frame). A judged frame given directly counts every user in it.
            no_relevant: a user without a relevant item counts "zero", "skip" leaves the user out, "null" gives null.
            min_relevance: rows from this relevance up are relevant; a number above 0, or "any" for every judged row.
            relevant_from: "truth", or "list" for the relevant rows of the list alone.
            strict: True makes findings of `audit()` with severity "error" raise when a metric is computed.
            min_relevance_for: "all" metrics, or "binary": only those that count relevant rows; metrics of gains then take every
                relevance above 0.
            ties: how items of one score are ranked, where ranks come from scores: "item": by item, ascending, categories as
                text; "item_reverse": descending. "item_text", "item_text_reverse": the same by items as text (whole numbers as
                their digits), byte by byte. "item_desc": as trec_eval, scores compared in 32 bits, then as "item_text_reverse".
                "pessimistic", "optimistic": the lowest, the highest gain first, then by item. "order": in row order; a
                LazyFrame's source must then have a fixed order, as files and frames do and joins and group-bys do not.
                "expected": metrics are their expectation over all orders of tied items; those without a closed form (err,
                bpref, map by hits, ndcg by the list's own best order, auc with a cut-off) raise an error, as judge() does;
                first_rank with a cut-off is over the orders with a hit. "last": all items of a tie take its last place, as in
                scikit-learn's average precision and SciPy's rankdata(method="max"); a tie that a cut-off divides is after it,
                also in list_length and judged. Metrics that take the items of a tie one by one (as with "expected", except auc
                with a cut-off) raise an error. Given ranks have no ties to order, so any value but "item" is an error with
                them; of items that repeat a rank each counts at it.
            decimals: means are rounded to this number of decimals; tests and gates use the full values.
            profile: the conventions of another library, such as "trec_eval" (see `rf.list_profiles`): these policies and
                the parameters of metrics. What is given here or with a metric wins over the profile.

        How calls run:
            memory: the most that a call may take beside the result, such as "2GB" or a number of bytes. Calls then run at once,
                also on LazyFrames, and give frames in memory: in one plan where the memory holds all rows, and otherwise in
                several scans, each of some users. What is no plain scan of Parquet or Arrow files is then written to a file
                first, which is removed at the end, in the folder of POLARS_TEMP_DIR or the system's. A user with more rows than
                fit is an error that says what would do.

        Raises a RecframeError for an unknown value; columns and dtypes are checked when a metric is computed.

        >>> import polars as pl, recframe
        >>> recs = pl.DataFrame({"user": [1, 1], "movie": [10, 11], "rank": [1, 2]})
        >>> truth = pl.DataFrame({"user": [1, 2], "movie": [11, 10]})
        >>> recs.rec(truth=truth, item="movie").recall(k=2)
        0.5
        """
        argument_errors.check_options(options)
        bind = Context.bind if options.get("profile") is None else under_profile.bind
        return self._with(bind(self._context, {"truth": truth, **options}))

    @argument_errors.understood
    def evaluate(
        self,
        *metrics: Asked,
        k: Cutoffs = None,
        by: By = None,
        support: bool = False,
        tidy: bool = False,
    ) -> F:
        """Return several metrics, at several cut-offs, overall or by segment, in one pass over the frame.

            metrics: metrics such as "ndcg@10" or "map(normalizer=min)@10"; also as objects (`rf.ndcg @ 10`) and in a list.
            k: cut-offs of the metrics without an `@`: an int, a list or range of ints, or None.
            by: columns of the lists, the truth, `users` or `items` that the result is split by; or an expression of them,
                `pl.col("age") // 10 * 10`. by="user" gives each user's values.
            support: adds the number of averaged users or lists after each metric. tidy: gives the long form.

        The result is a frame of the same kind: the `by` columns (a bound model first), `n_users`, `n_lists` if a metric runs
        over lists (the users with a ranked row, whatever the truth says), and a column for each metric, named by its string;
        rows sorted by the `by` columns, nulls last. Means run over values that are not null; without a counted user a mean is
        null and n_users is 0. A set metric is computed from all lists of a segment together. If a profile's metrics run over
        different users, n_users is that of the profile's universe. `support=True` adds after each metric a column `n ndcg@10`:
        the number of users or lists that were averaged, for a set metric the lists with an item up to k; and of models without
        a metric over lists `n_lists`, the users who count and have a list. `tidy=True` gives the same in long form, for charts,
        trackers and files: a row for each segment, metric and cut-off, in the columns `metric` (without its cut-off), `k`
        (null: the whole list), `value` and `n`, the support.

        A LazyFrame whose source is a Python function, such as a generator, is read several times, since Polars shares only
        scans of files: write it to a file first, `lf.sink_parquet(...)`, or hold it in memory, `lf.cache()`.

        For a judged frame without the rules (duplicates, nulls, unranked rows, empty users), `df.rec.evaluate("recall@10",
        by="country")` means: for each user of each country, relevant rows with rank <= 10 over relevant rows; then
        the mean over the country's users.

        Raises an UnknownMetricError, a ColumnError for a missing or unusable column, and a DataError for errors in the data
        (ranks below 1, a user with two values of a `by` column), on a LazyFrame when it is collected, as Polars' error. Warns
        (RecframeWarning) of what is rarely intended, such as a frame without a rank.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rank": [1, 2, 1], "relevance": [0, 1, 1]})
        >>> df.rec.evaluate("mrr", "recall", k=[1, 2])
        shape: (1, 5)
        ┌─────────┬───────┬───────┬──────────┬──────────┐
        │ n_users ┆ mrr@1 ┆ mrr@2 ┆ recall@1 ┆ recall@2 │
        │ ---     ┆ ---   ┆ ---   ┆ ---      ┆ ---      │
        │ i64     ┆ f64   ┆ f64   ┆ f64      ┆ f64      │
        ╞═════════╪═══════╪═══════╪══════════╪══════════╡
        │ 2       ┆ 0.5   ┆ 0.75  ┆ 0.5      ┆ 1.0      │
        └─────────┴───────┴───────┴──────────┴──────────┘
        """
        return self._values(registry.asked(metrics, k), by, support=support, tidy=tidy)

    def _values(self, metrics: Metrics, by: By, *, support: bool = False, tidy: bool = False) -> F:
        """Return metrics by segment; see `evaluate`."""
        inputs = self._inputs(by, metrics)
        kind = self._answering(inputs.sides["recommendations"].kind)
        request = Request.of(kind, inputs, metrics)
        plan = request.with_support() if support else request.evaluated(SUPPORT if tidy else ())
        plan = tidied(plan.lazy(), request.inputs, metrics) if tidy else plan
        told = partial(tell_of_tidy if tidy else audit.tell_of_columns, request.home, metrics)
        return cast("F", request.kind.give(plan, request.inputs.sources, told))

    @argument_errors.understood
    def judge(self) -> F:
        """Return the judged frame: one row for each pair that was recommended or judged, under the bound column names.

        Columns: the model and the training where bound, user, item, rank (null: not recommended) and relevance (null: not
        judged). Users outside the universe are left out, duplicates count once; with a model each has all rows of the truth,
        and so has each training. The rows have no order. A metric of the result, with the same options bound except `ties`,
        equals that of the frames.

        >>> import polars as pl, recframe
        >>> recs = pl.DataFrame({"user": [1], "item": [10], "rank": [1]})
        >>> truth = pl.DataFrame({"user": [1], "item": [11]})
        >>> recs.rec(truth=truth).judge().sort("item")
        shape: (2, 4)
        ┌──────┬──────┬──────┬───────────┐
        │ user ┆ item ┆ rank ┆ relevance │
        │ ---  ┆ ---  ┆ ---  ┆ ---       │
        │ i64  ┆ i64  ┆ i64  ┆ i64       │
        ╞══════╪══════╪══════╪═══════════╡
        │ 1    ┆ 10   ┆ 1    ┆ null      │
        │ 1    ┆ 11   ┆ null ┆ 1         │
        └──────┴──────┴──────┴───────────┘
        """
        inputs = self._inputs(None)
        inputs = inputs.under(under_profile.own(inputs.context))
        roles: list[str] = [*inputs.model, *inputs.training, "user", "item"]
        names = [self._context.names[role] for role in roles]
        sources = {name: self._kind.source(name) for name in names}
        frame = as_frame(judge(trainings.apart(inputs) if inputs.training else inputs))
        if inputs.training:
            told_apart = zip(roles[:-2], names, strict=False)
            fields = (pl.first().struct.field(one).alias(name) for one, name in told_apart)
            frame = frame.select(*fields, pl.nth(range(1, 5)))
        return cast("F", self._kind.give(frame, sources, warned_of_truth(inputs)))

    @argument_errors.understood
    def audit(self, k: int | None = None, *, by: By = None) -> F:
        """Return data quality findings, one row each; no row if all is well. No number changes.

        Columns: `check` names the rule and `severity` is "error" (a metric raises, or its number is not the intended one),
        "warning" (the number depends on a convention) or "info"; rows are sorted by it. `frame` is the frame ("judged",
        "recommendations", "truth", "users", "items" or "train"), `rows` the number of its rows and `users` of users concerned
        (0 if the frame has none); `example` is one of them. `treatment` says what recframe does about it, `remedy` how to fix
        it.

            k: finds lists with fewer than k rows; without it, lists shorter than the longest.
            by: columns of segments, of which a user must not have two values; like `group_by`. With columns of lists and truth,
                the filtered frames are checked.

        Ids of dtypes that cannot match are a finding, not an error. With `train` and a bound `time` the checks of `split.audit`
        run too: of the future in train, of rows in both, and of what train does not know.

        Raises a ColumnError for a missing or unusable column.

        >>> import polars as pl, recframe
        >>> recs = pl.DataFrame({"user": [1, 1, 2], "item": [1, 1, 2], "rank": [1, 2, 1]})
        >>> truth = pl.DataFrame({"user": [1, 1], "item": [1, 3]})
        >>> recs.rec(truth=truth).audit(k=1).select("check", "severity", "rows", "users", "example")
        shape: (2, 5)
        ┌─────────────────────┬──────────┬──────┬───────┬────────────────────────┐
        │ check               ┆ severity ┆ rows ┆ users ┆ example                │
        │ ---                 ┆ ---      ┆ ---  ┆ ---   ┆ ---                    │
        │ str                 ┆ str      ┆ i64  ┆ i64   ┆ str                    │
        ╞═════════════════════╪══════════╪══════╪═══════╪════════════════════════╡
        │ duplicate_items     ┆ error    ┆ 2    ┆ 1     ┆ user 1, item 1, rows 2 │
        │ users_without_truth ┆ info     ┆ 1    ┆ 1     ┆ user 2                 │
        └─────────────────────┴──────────┴──────┴───────┴────────────────────────┘
        """
        context, clashes = self._candidates()._context, dict[str, str]()  # noqa: SLF001  of this class
        own, names = under_profile.own(context), argument_errors.names(by, context.by)
        inputs = trainings.named(read(self._frame, own, names, labelled=True, clashes=clashes))
        data = Data(inputs, None if k is None else cutoff(k), clashes)
        return cast("F", self._kind.give(audit.audit(data, self._run()), {}))

    @argument_errors.understood
    def explain(
        self, metric: str | Metric[...], *profiles: str, k: int | None = None, by: By = None
    ) -> explanation.Explanation[F]:
        """Say what a metric means on this frame, or why it differs under two profiles, with the numbers.

        As `rf.explain`, with the bound options. With two profiles, `frame` has a row for the start and one for each switch that
        differs, in the order of switching: what the switch adds to the number (`contribution`), and the number after it
        (`value`); the contributions sum to the whole difference, and depend on the order. `by` columns and models come first.
        The frame is of the same kind; a LazyFrame is not collected, so its `text` has no numbers, nor has that of segments.

        >>> import polars as pl, recframe
        >>> recs = pl.DataFrame({"user": [1, 1], "item": [10, 11], "rank": [1, 2]})
        >>> truth = pl.DataFrame({"user": [1, 2], "item": [11, 10]})
        >>> recs.rec(truth=truth).explain("precision@4", "ranx", "jurity").frame.select("switch", "contribution", "value")
        shape: (4, 3)
        ┌─────────────┬──────────────┬───────┐
        │ switch      ┆ contribution ┆ value │
        │ ---         ┆ ---          ┆ ---   │
        │ str         ┆ f64          ┆ f64   │
        ╞═════════════╪══════════════╪═══════╡
        │ start       ┆ 0.0          ┆ 0.125 │
        │ universe    ┆ 0.125        ┆ 0.25  │
        │ no_relevant ┆ 0.0          ┆ 0.25  │
        │ denominator ┆ 0.25         ┆ 0.5   │
        └─────────────┴──────────────┴───────┘
        """
        from recframe.profiles import explanation  # noqa: PLC0415  importing recframe should take no time

        inputs = self._inputs(by, metrics=registry.asked([metric], k))
        asked = explanation.question(inputs, metric, profiles, k)
        made = asked.table(inputs, self._evaluated(inputs, asked.conventions))
        home = under_profile.at_home(inputs)
        told = partial(
            audit.tell_of_columns, home, [convention.metric for convention in asked.conventions]
        )
        result: F = self._kind.give(made, inputs.sources, told)
        rows = None if n_keys(inputs) else self._kind.rows(result)
        return explanation.Explanation(asked.text(rows or ()), result)

    def group_by(self, *by: str | pl.Expr | Iterable[str | pl.Expr]) -> Segmented[F]:
        """Return the same object with `by` columns bound, so that every metric is by segment.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 1], "relevance": [0, 1], "country": ["FR", "DE"]})
        >>> df.rec.group_by("country").hit_rate(k=1)
        shape: (2, 3)
        ┌─────────┬─────────┬────────────┐
        │ country ┆ n_users ┆ hit_rate@1 │
        │ ---     ┆ ---     ┆ ---        │
        │ str     ┆ i64     ┆ f64        │
        ╞═════════╪═════════╪════════════╡
        │ DE      ┆ 1       ┆ 1.0        │
        │ FR      ┆ 1       ┆ 0.0        │
        └─────────┴─────────┴────────────┘
        """
        names = [name for one in by for name in argument_errors.names(one)]
        if not names:
            raise RecframeError(
                "group_by() needs the name of at least one column: group_by('country')"
            )
        return cast("Segmented[F]", self._with(self._context.grouped(names)))

    @property
    def _kind(self) -> Kind:
        return self._answering(kind_for(self._frame))

    def _answering(self, kind: Kind) -> Kind:
        """Return the kind of the frame, which knows the size of the others, or that of collected results."""
        context = self._context
        if context.frames:
            kind.stand_beside(max(map(size_of, context.frames)))
        is_collected = self._is_collected or (kind.is_lazy and context.memory is not None)
        return with_results_of_polars(kind) if is_collected else kind

    def _with(self, context: Context) -> Rec[F]:
        """Return the same frame with other options bound."""
        engine = kind_for(self._frame).engine
        if context.memory is not None and engine is not None:
            raise RecframeError(
                f"memory= is for frames of this process; {engine.name} has settings of its own, so leave it out"
            )
        is_whole = context.memory is None and engine is None
        bound: Rec[F] = (Rec if is_whole else self._in_buckets)(self._frame)
        bound._context, bound._is_collected = context, self._is_collected
        return bound

    def _candidates(self, *named: object) -> Rec[F]:
        """Return the same without the models that are bounds, other than those that are named."""
        bounds = tuple(filterfalse(named.__contains__, self._context.bounds))
        is_same = bounds == self._context.without
        return self if is_same else self._with(replace(self._context, without=bounds))

    def _in_polars(self) -> Rec[pl.DataFrame]:
        """Return the same with answers that are collected frames of Polars, whatever the kind of the frame."""
        bound: Any = self._with(self._context)
        bound._is_collected = True  # noqa: SLF001  of this class
        return cast("Rec[pl.DataFrame]", bound)

    def _inputs(self, by: By, metrics: Metrics | None = None) -> Frames:
        """Return the frames of a call, checked; strict ones fail with the audit's errors."""
        context = self._context
        names = context.by if by is None else argument_errors.names(by, context.by)
        judged = metrics is None or _reads_relevance(context, metrics)
        own = under_profile.own(context) if context.strict else context
        inputs = read(self._frame, own, names, labelled=context.strict, judged=judged)
        if context.strict:
            errors = audit.errors(trainings.named(inputs))
            inputs = replace(inputs.without_labels(), checks=(errors,))
        if metrics and "recommendations" not in inputs.given and inputs.all_users is None:
            audit.tell_of_schemas(inputs)
        return check_lists(inputs)

    def _evaluated(self, inputs: Frames, asked: Conventions) -> pl.LazyFrame:
        return evaluation.evaluate(under_profile.at_home(inputs), asked, self._run())

    def _run(self) -> Run:
        """Return the execution of the call's plans."""
        return Run.of(self._kind)

    def _bound(self, metric: Metric[...]) -> BoundMetric:
        return BoundMetric(self, metric)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> BoundMetric:
            """Give a metric of the user's own, or say which name is the closest."""
            found = registry.registered().get(name)
            if found is not None:
                return self._bound(found)
            msg = no_method(name, METHODS)
            raise AttributeError(msg, name=name, obj=self)

    def __dir__(self) -> list[str]:
        return sorted({*METHODS, *registry.registered()})

    def __repr__(self) -> str:
        return reprs.of(self._frame, self._context)


def _reads_relevance(context: Context, metrics: Metrics) -> bool:
    """Return whether metrics need relevance: all user metrics do, and some list metrics.

    A profile's policies do not: they are those of the metrics over users.
    """
    of_users = context.universe in {"truth", "both"} or context.no_relevant == "skip"
    if of_users or context.ties in {"pessimistic", "optimistic"}:
        return True
    if not all(map(attrgetter("definition.over_lists"), metrics)):
        return True
    return any(needs_of(metric).reads_relevance for metric in metrics)


if TYPE_CHECKING:

    class Segmented(SegmentedMethods[F], Rec[F]):
        """A Rec with a model or `by` columns bound, for type checkers: every result is a frame."""

        def __call__(  # noqa: D102  that of a Rec
            self, truth: Any = None, *, model: str | None = None, **options: Unpack[Options]
        ) -> Segmented[F]: ...


vars(Rec.__call__)["__signature__"] = argument_errors.signature_of_rec("self")
METHODS = frozenset(name for one in Rec.__mro__ for name in vars(one) if not name.startswith("_"))
"""Public methods, without the users' own metrics."""
registry.reserve(METHODS)


class Accessor:
    """Descriptor of `rec` on a frame class: a new Rec per access.

    NOTE: Polars and pandas 2 keep a namespace object on the frame, and a Rec holds its frame. The two would be a circle, which
    keeps unused frames in memory until Python's collector runs. A Rec of a clone would free them, but would not see changes in
    place.
    """

    def __get__(self, frame: Any, owner: type | None = None) -> Any:
        return Rec if frame is None else Rec(frame)


def register() -> None:
    """Register the namespace on every kind of frame."""
    _register_on(pl.DataFrame, pl.api.register_dataframe_namespace)
    _register_on(pl.LazyFrame, pl.api.register_lazyframe_namespace)
    if "pandas" in sys.modules:
        _register_on_pandas(sys.modules["pandas"])
    else:
        sys.meta_path.insert(0, _AfterPandas())


def _register_on_pandas(pandas: ModuleType) -> None:
    _register_on(pandas.DataFrame, pandas.api.extensions.register_dataframe_accessor)


def _register_on(frame_class: Any, as_its_library_does: Callable[[str], Any]) -> None:
    """Register the namespace, and replace the library's caching accessor with one that keeps no reference."""
    as_its_library_does("rec")(Rec)
    frame_class.rec = Accessor()


class _AfterPandas:
    """Import hook that registers `.rec` when pandas is first imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find pandas like the other finders, and register on it once it is loaded."""
        if name != "pandas":
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next(filter(None, specs), None)
        if spec is not None and spec.loader is not None:
            vars(spec.loader)["exec_module"] = partial(self._load, spec.loader)
        return spec

    def _load(self, loader: Loader, module: ModuleType) -> None:
        """Run pandas as ever, then register on it."""
        # others (importlib.resources) ask the module's loader for files, and a reload runs as ever
        vars(loader).pop("exec_module", None)
        loader.exec_module(module)
        # it stays until pandas is really there: a look or a failed import is none
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        _register_on_pandas(module)
