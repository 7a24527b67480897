"""Metrics under the conventions that were asked for: one plan for each set of policies, and what follows the means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe import keyed, over_lists, plan, profiles
from recframe.beside import check
from recframe.context import DEFAULTS, Context
from recframe.errors import ColumnError, RecframeError, without_order
from recframe.inputs import Inputs
from recframe.needs import n_frames, needs_of
from recframe.over_lists import Lists
from recframe.plan import support_of
from recframe.registry import Metric
from recframe.runs import Run

GAINS = {"gain", "ideal_gain"}


@dataclass(frozen=True)
class Convention:
    """A metric and the context that it stands under, with every switch set; its string form is the name of its column."""

    context: Context
    metric: Metric[...]


def bind(context: Context, options: Mapping[str, Any]) -> Context:
    """Return the context with some options set anew, after a check of their values."""
    if "profile" in options:
        profiles.check(options["profile"])
    return context.bind(options)


def under(context: Context, metric: Metric[...]) -> Convention:
    """Return the metric under the profile of a context; what was bound or stated wins over the profile.

    A threshold that holds for binary metrics alone is dropped here from a metric that weighs gains.
    """
    switches = profiles.switches_of(context.profile, metric.name, metric.k)
    policies = {name: value for name, value in switches.items() if name in DEFAULTS}
    parameters = {name: value for name, value in switches.items() if name not in DEFAULTS}
    context, metric = context.assuming(policies), metric.assuming(parameters)
    if context.min_relevance_for == "binary" and needs_of(metric).columns & GAINS:
        context = context.having(min_relevance=None)
    return Convention(context.having(min_relevance_for="all"), metric)


def own(context: Context) -> Context:
    """Return the context under its profile's policies, those that hold where no metric has others."""
    return context.assuming(profiles.policies_of(context.profile))


def at_home(inputs: Inputs) -> Inputs:
    """Return the inputs under their profile's policies; of lists of which nobody knows what is relevant, all users count."""
    return inputs.under(own(inputs.context)) if inputs.judged else inputs


def asked(context: Context, metrics: Iterable[Metric[...]]) -> list[Convention]:
    """Return the metrics under the profile of a context, one for each column."""
    found: dict[str, Convention] = {}
    for metric in metrics:
        new = under(context, metric)
        if found.setdefault(str(metric), new).metric.settings != new.metric.settings:
            msg = (
                f"{str(metric)!r} is asked for with the parameters of the profile {context.profile!r} and with others, but "
                "both columns would have one name; ask for them in two calls"
            )
            raise RecframeError(msg)
    return list(found.values())


def read_relevance(context: Context, metrics: Sequence[Metric[...]]) -> bool:
    """Return whether the metrics need to know what is relevant: those over users do, and some of those over lists.

    A profile's policies do not: they are those of the metrics over users.
    """
    if context.universe in {"truth", "both"} or context.no_relevant == "skip" or context.ties in {"pessimistic", "optimistic"}:
        return True
    return any(needs_of(one).reads_relevance for one in metrics)


def evaluate(inputs: Inputs, conventions: Sequence[Convention], run: Run, *, support: bool = False) -> pl.LazyFrame:
    """Return one row for each segment: the `by` columns, n_users, n_lists, and a column for each metric.

    Metrics over lists have a plan of their own. Others under the same policies share one; several plans are joined on the
    `by` columns. n_users is then that of the inputs' own universe, or of the first metric where none runs over it. With
    `support` a metric's column is followed by the number of users or lists in it, which the plans then give too.
    """
    _check_names(inputs, conventions, support=support)
    runs: dict[tuple[object, ...], tuple[Context, list[Metric[...]]]] = {}
    columns: dict[str, pl.Expr] = {}
    lists = _of_lists(inputs, conventions, run, support=support)
    plain = lists is None
    for one in conventions:
        if lists is not None and one.metric.definition.over_lists:
            columns[str(one.metric)] = _rounded(lists.values[str(one.metric)], one)
            columns |= _support(one.metric, lists.support[str(one.metric)]) if support else {}
            continue
        needs = needs_of(one.metric)
        check(inputs, one.metric, needs.facts)
        context = _of_the_plan(one.context, inputs)
        if needs.means and context.ties == "expected":
            raise without_order(str(one.metric), context.ties, "it is made of means, which are uncertain together")
        _, metrics = runs.setdefault(_policies(context), (context, []))
        metrics.extend(needs.means or [one.metric])
        name = str(one.metric)
        known = [pl.col(str(part)).is_not_null() for part in needs.means]  # without a counted user there is nothing to make
        column = pl.when(*known).then(needs.value) if known else pl.col(name)
        columns[name] = _rounded(column, one)
        columns |= _support(one.metric, *(support_of(part) for part in needs.means or [one.metric])) if support else {}
        plain = plain and not needs.means and one.context.decimals is None
    first_context = _of_the_plan(inputs.context, inputs)
    first = _policies(first_context)
    runs = runs or {first: (first_context, [])}  # for n_users
    ordered = sorted(runs, key=lambda policies: policies != first)
    ordered_runs = map(runs.__getitem__, ordered)
    plans = [plan.evaluate(inputs.under(context), metrics, run, support=support) for context, metrics in ordered_runs]
    return plans[0] if plain and len(plans) == 1 else _joined(plans, columns, inputs, lists)


def _check_names(inputs: Inputs, conventions: Sequence[Convention], *, support: bool) -> None:
    """Say which `by` column has the name of a column of support."""
    taken = {support_of(one.metric) for one in conventions} if support else set()
    for segment in inputs.segments:
        if segment.name in taken:
            msg = f"by={segment.name!r} is also the name of a result column; rename the column before"
            raise ColumnError(msg)


def _of_lists(inputs: Inputs, conventions: Sequence[Convention], run: Run, *, support: bool) -> Lists | None:
    """Return what the metrics over lists are made of, under the policies of those that ask what is relevant."""
    listed = [one for one in conventions if one.metric.definition.over_lists]
    if not listed:
        return None
    reading = [one for one in listed if needs_of(one.metric).reads_relevance] or listed
    contexts = {_policies(context): context for context in (_of_the_plan(one.context, inputs) for one in reading)}
    if len(contexts) > 1:
        msg = (
            f"{', '.join(str(one.metric) for one in reading)} run over different users by the profile "
            f"{inputs.context.profile!r}; ask for them in calls of their own, or bind universe= and no_relevant="
        )
        raise RecframeError(msg)
    inputs = inputs.under(*contexts.values())
    return over_lists.evaluate(inputs, [one.metric for one in listed], run, support=support)


def _support(metric: Metric[...], *counts: pl.Expr | str) -> dict[str, pl.Expr]:
    """Return the column of how many users or lists a metric was averaged over; of several means, the least number."""
    return {support_of(metric): pl.min_horizontal(counts).fill_null(0).cast(pl.Int64)}


def _rounded(column: pl.Expr, one: Convention) -> pl.Expr:
    return column if one.context.decimals is None else column.round(one.context.decimals)


def n_plans(inputs: Inputs, conventions: Sequence[Convention]) -> int:
    """Return how many frames of sums the conventions need, of users, of lists and of items."""
    listed = [one.metric for one in conventions if one.metric.definition.over_lists]
    users = {_policies(_of_the_plan(one.context, inputs)) for one in conventions if not one.metric.definition.over_lists}
    return max(len(users), 1) + (n_frames(listed) if listed else 0)


def _of_the_plan(context: Context, inputs: Inputs) -> Context:
    """Return the context with the policies that a plan knows; those that change nothing have their default."""
    return inputs.with_ties(context.having(decimals=None, min_relevance_for="all"))


def _policies(context: Context) -> tuple[object, ...]:
    return tuple(getattr(context, name) for name in DEFAULTS)


def _joined(
    plans: Sequence[pl.LazyFrame], columns: dict[str, pl.Expr], inputs: Inputs, lists: Lists | None = None
) -> pl.LazyFrame:
    """Return the results of several plans as one, with what is made of their columns."""
    names = plans[0].collect_schema().names()
    keys = [f"key {place}" for place in range(n_keys(inputs))]
    joined, *others = (numbered(one, keys) for one in plans)
    support = [name for name in names[len(keys) :] if name in {"n_users", "n_lists"}]
    others = [other.drop(support) for other in others]
    if lists is not None:
        others.append(lists.frame)
        support += ["n_lists"] * ("n_users" in support)
    for other in others:
        joined = keyed.joined(joined, other, keys, "full")
    joined = joined if lists is None else lists.with_facts(joined)
    joined = joined.sort(keys, nulls_last=True) if keys else joined
    return joined.select(
        *(pl.col(key).alias(name) for key, name in zip(keys, names, strict=False)),
        *(pl.col(name).fill_null(0) for name in support),
        *(column.alias(name) for name, column in columns.items()),
    )


def n_keys(inputs: Inputs) -> int:
    """Return how many key columns a result begins with: the `by` columns, and a bound model where it is none of them."""
    return len(inputs.segments) + (bool(inputs.model) and all(one.inside != "model" for one in inputs.segments))


def numbered(result: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return a result with plain names for its key columns; it goes by position, since they may have any name."""
    names = result.collect_schema().names()
    return result.select(pl.nth(place).alias(name) for place, name in enumerate([*keys, *names[len(keys) :]]))
