"""Evaluation of metrics: several plans combined into one result."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from recframe.errors import ColumnError, RecframeError, without_order
from recframe.evaluation import folds, metrics_of_lists, metrics_of_users, trainings
from recframe.evaluation.metrics_of_lists import Lists
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import Needs, needs_of
from recframe.evaluation.segments import (
    TOTAL,
    N,
    columns_beside,
    described,
    keys_of,
    n_keys,
    name_beside,
    numbered,
    support_of,
)
from recframe.frames.hints import Given, bind
from recframe.frames.inputs import Inputs
from recframe.frames.options import DEFAULTS, FOLD, Context
from recframe.frames.rows import joins
from recframe.metrics.language.definition import Metric, Over
from recframe.side_info.requirements import check_needs


@dataclass(frozen=True)
class Convention:
    """Metric with its full context; its string form names the column."""

    context: Context
    metric: Metric[...]

    @cached_property
    def needs(self) -> Needs:
        """The columns and facts that the metric needs."""
        return needs_of(self.metric)

    @property
    def over(self) -> Over:
        """The units that the metric runs over: users or lists."""
        return self.needs.over

    @property
    def of_users(self) -> tuple[Context, Sequence[Metric[...]]]:
        """The metrics whose means over users make this one, with their context."""
        return self.context, self.needs.means or (self.metric,)


def evaluate(
    inputs: Inputs, conventions: Sequence[Convention], run: Run, beside: Sequence[str] = ()
) -> pl.LazyFrame:
    """Return one row for each segment: the `by` columns, n_users, n_lists, and a column for each metric.

    Metrics over lists have a plan of their own. Others under the same policies share one; several plans are joined on the
    `by` columns. n_users is then that of the inputs' own universe, or of the first metric where none runs over it. Behind
    a metric's column stands what `beside` names, such as the number of users or lists in it, which the plans then give too.
    Where trainings are bound, values are means of theirs.
    """
    if inputs.training:
        return _over_trainings(inputs, conventions, run, beside)
    if beside:
        _check_names(inputs, conventions, beside)
    if inputs.folds is not None:
        return _over_folds(inputs, conventions, run, beside)
    check_parts_of_truth(inputs, conventions)
    inputs = described(inputs, run.ask)
    listed = [convention for convention in conventions if convention.over == "lists"]
    lists = _of_lists(inputs, listed, run, beside) if listed else None
    columns: dict[str, pl.Expr] = {}
    for convention in conventions:
        if lists is not None and convention.over == "lists":
            columns |= _from_lists(convention, lists, beside)
        else:
            columns |= _from_users(convention, inputs, beside)
    plans = [
        metrics_of_users.evaluate(under, metrics, run, beside)
        for under, metrics in _plans_of_users(inputs, conventions)
    ]
    is_plain = all(
        not convention.needs.means and convention.context.decimals is None
        for convention in conventions
    )
    if is_plain and lists is None and len(plans) == 1:
        return plans[0]
    return _joined(plans, columns, inputs, lists)


def _plans_of_users(
    inputs: Inputs, conventions: Sequence[Convention]
) -> list[tuple[Inputs, list[Metric[...]]]]:
    """Return the metrics over users that share a plan, with its inputs; the first plan's are the users that count."""
    of_users = [convention.of_users for convention in conventions if convention.over == "users"]
    home, *others = by_policies(inputs, [(inputs.context, ()), *of_users])
    return [home, *others] if home[1] or not others else others


def _over_folds(
    inputs: Inputs, conventions: Sequence[Convention], run: Run, beside: Sequence[str]
) -> pl.LazyFrame:
    """Return the values over all folds, means over (fold, user) or, of set metrics, over folds; by fold each fold's own."""
    names = keys_of(inputs, [convention.metric for convention in conventions])
    each, run = folds.in_folds(inputs, run), replace(run, held=None)
    if FOLD in names:
        return folds.stacked([evaluate(one, conventions, run, beside) for one in each], len(names))
    plain: dict[str, Convention] = {}
    for convention in conventions:
        context = convention.context.having(decimals=None)
        means = convention.needs.means or (convention.metric,)
        plain |= {str(metric): Convention(context, metric) for metric in means}
    keys = [f"key {place}" for place in range(len(names))]
    wanted = tuple(dict.fromkeys((N, TOTAL, *beside)))
    found = [numbered(evaluate(one, [*plain.values()], run, wanted), keys) for one in each]
    pooled = folds.pooled(found, keys, [one.metric for one in plain.values()], wanted)
    if "user" not in names:
        context = _plans_of_users(each[0], conventions)[0][0].context
        counted = folds.n_users([one.under(context) for one in each], [*names], run)
        pooled = joins.joined(pooled, counted.rename(dict(zip(names, keys, strict=True))), keys)
    there = pooled.collect_schema()
    columns = {name: pl.col(name).fill_null(0) for name in ("n_users", "n_lists") if name in there}
    for convention in conventions:
        columns |= _from_users(convention, inputs, beside)
    pooled = pooled.sort(keys, nulls_last=True) if keys else pooled
    return pooled.select(
        *(pl.col(key).alias(name) for key, name in zip(keys, names.values(), strict=True)),
        *(column.alias(name) for name, column in columns.items()),
    )


def by_policies(
    inputs: Inputs, asked: Iterable[tuple[Context, Sequence[Metric[...]]]]
) -> list[tuple[Inputs, list[Metric[...]]]]:
    """Return the metrics that share a plan, with the inputs under its policies."""
    found: dict[tuple[object, ...], tuple[Inputs, list[Metric[...]]]] = {}
    for own, metrics in asked:
        context = of_the_plan(own, inputs)
        found.setdefault(context.policies, (inputs.under(context), []))[1].extend(metrics)
    return [*found.values()]


def _over_trainings(
    inputs: Inputs, conventions: Sequence[Convention], run: Run, beside: Sequence[str]
) -> pl.LazyFrame:
    """Return the means over the trainings of each model, or where these are `by` columns the values of each."""
    each = values_of_trainings(inputs, conventions, run, beside)
    decimals = {str(convention.metric): convention.context.decimals for convention in conventions}
    return trainings.means(
        each, inputs, [convention.metric for convention in conventions], decimals
    )


def values_of_trainings(
    inputs: Inputs, conventions: Sequence[Convention], run: Run, beside: Sequence[str] = ()
) -> pl.LazyFrame:
    """Evaluate each training as a model of its own, without rounding."""
    plain = [
        replace(convention, context=convention.context.having(decimals=None))
        for convention in conventions
    ]
    return evaluate(trainings.apart(inputs), of_each_training(plain), run, beside)


def of_each_training(conventions: Sequence[Convention]) -> list[Convention]:
    """Return the conventions with each training as a model."""
    return [
        replace(convention, context=trainings.of_each(convention.context))
        for convention in conventions
    ]


def _from_lists(one: Convention, lists: Lists, beside: Sequence[str]) -> dict[str, pl.Expr]:
    """Return the columns of a list metric, from its sums."""
    name = str(one.metric)
    found = {name: _rounded(lists.values[name], one)}
    return found | columns_beside(one.metric, beside, lists.beside.get(name, {}))


def _from_users(one: Convention, inputs: Inputs, beside: Sequence[str]) -> dict[str, pl.Expr]:
    """Return the columns of a user metric, from means."""
    metric, needs, name = one.metric, one.needs, str(one.metric)
    if needs.facts or inputs.known.rows_are_items:
        check_needs(inputs, metric, needs.facts)
    if not needs.means:
        names = [name_beside(part, metric) for part in beside]
        found = {name: _rounded(pl.col(name), one)}
        return found | {name: pl.col(name).fill_null(0) for name in names}
    ties = of_the_plan(one.context, inputs).ties
    if ties == "expected":
        raise without_order(
            name, ties, "it is computed from several means, whose errors are correlated"
        )
    # without a counted user there is nothing to make
    known = [pl.col(str(mean)).is_not_null() for mean in needs.means]
    found = {name: _rounded(pl.when(*known).then(needs.value), one)}
    least = pl.min_horizontal(map(support_of, needs.means)).fill_null(0)
    return found | columns_beside(metric, beside, {N: least})


def _check_names(inputs: Inputs, conventions: Sequence[Convention], beside: Sequence[str]) -> None:
    """Reject `by` columns that have the name of a metric's extra column."""
    taken = {name_beside(part, convention.metric) for convention in conventions for part in beside}
    for segment in inputs.segments:
        if segment.name in taken:
            msg = f"{Given('by', segment.name)} is also the name of a result column; rename the column first"
            raise ColumnError(msg)


def check_parts_of_truth(inputs: Inputs, conventions: Sequence[Convention]) -> None:
    """Reject numbers that a column of the truth alone cannot cut, since they would be equal in all segments."""
    names = [segment.name for segment in inputs.segments if segment.at == "truth"]
    if not names:
        return
    reasons = [
        f"{convention.metric} reads whole lists"
        for convention in conventions
        if convention.over == "lists"
    ]
    universes = (convention.context.universe for convention in conventions)
    reasons += [
        f"universe={universe!r} has users of lists"
        for universe in universes
        if universe in {"recs", "all"}
    ]
    if reasons:
        msg = (
            f"{Given('by', names[0])} is a column of the truth alone, and {reasons[0]}, so each segment would have the same "
            f"value. If it describes users, move it from the truth into {bind(users='users')}; if lists have parts too, such "
            "as weeks, give the lists the column"
        )
        raise ColumnError(msg)


def _of_lists(
    inputs: Inputs, listed: Sequence[Convention], run: Run, beside: Sequence[str]
) -> Lists:
    """Return the sums of list metrics, under the policies of those that read relevance."""
    reading = [convention for convention in listed if convention.needs.reads_relevance] or listed
    planned = [of_the_plan(one.context, inputs) for one in reading]
    contexts = {context.policies: context for context in planned}
    if len(contexts) > 1:
        msg = (
            f"{', '.join(str(one.metric) for one in reading)} have different policies in the profile "
            f"{inputs.context.profile!r}; request them in separate calls, or bind {_differing(contexts.values())}"
        )
        raise RecframeError(msg)
    inputs = inputs.under(*contexts.values())
    metrics = [convention.metric for convention in listed]
    return metrics_of_lists.evaluate(inputs, metrics, run, beside)


def _differing(contexts: Collection[Context]) -> str:
    """Return the policies that differ between contexts, as options."""
    values = zip(*(context.policies for context in contexts), strict=True)
    names = [name for name, found in zip(DEFAULTS, values, strict=True) if len({*found}) > 1]
    return " and ".join(f"{name}=" for name in names)


def _rounded(column: pl.Expr, one: Convention) -> pl.Expr:
    return column if one.context.decimals is None else column.round(one.context.decimals)


def of_the_plan(context: Context, inputs: Inputs) -> Context:
    """Return the context reduced to policies that affect a plan; the others have their defaults."""
    ties = {} if inputs.scored else {"ties": "item"}  # a profile's concern scores alone
    return context.having(decimals=None, min_relevance_for="all", **ties)


def _joined(
    plans: Sequence[pl.LazyFrame],
    columns: dict[str, pl.Expr],
    inputs: Inputs,
    lists: Lists | None = None,
) -> pl.LazyFrame:
    """Return the joined results of several plans, with the columns computed from them."""
    names = plans[0].collect_schema().names()
    keys = [f"key {place}" for place in range(n_keys(inputs))]
    joined, *others = (numbered(plan, keys) for plan in plans)
    support = [name for name in names[len(keys) :] if name in {"n_users", "n_lists"}]
    others = [other.drop(support) for other in others]
    if lists is not None:
        others.append(lists.frame)
        support += ["n_lists"] * ("n_users" in support)
    for other in others:
        joined = joins.joined(joined, other, keys, "full")
    joined = joined if lists is None else lists.with_facts(joined)
    joined = joined.sort(keys, nulls_last=True) if keys else joined
    return joined.select(
        *(pl.col(key).alias(name) for key, name in zip(keys, names, strict=False)),
        *(pl.col(name).fill_null(0) for name in support),
        *(column.alias(name) for name, column in columns.items()),
    )
