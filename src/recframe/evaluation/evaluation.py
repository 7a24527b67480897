"""Evaluation of metrics: means over users, several plans as one result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from recframe.errors import ColumnError, RecframeError, without_order
from recframe.evaluation import folds, metrics_of_lists, trainings
from recframe.evaluation.metrics_of_lists import Lists
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import (
    SUPPORT,
    TOTAL,
    Convention,
    Conventions,
    N,
    keys_of,
    n_keys,
    name_beside,
    numbered,
    support_of,
)
from recframe.evaluation.user_values import (
    n_users_of_segments,
    names_of,
    sums_of_values,
    values_of_users,
)
from recframe.frames.hints import Given, bind
from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import Ask
from recframe.frames.options import DEFAULTS, FOLD, Context
from recframe.frames.rows import joins
from recframe.frames.rows.joins import ExactSums
from recframe.frames.rows.profiling import constant_of
from recframe.frames.segments import OfUsers, Place
from recframe.metrics.language.definition import Metric, Metrics
from recframe.ranking import known
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import Judged, judge
from recframe.side_info.requirements import check_needs

PARTS = {N: "count", TOTAL: "sum"}
"""Prefix of the column of each part behind a mean."""
By = dict[str, str]
"""Own names of key columns, by their names inside the plan."""
OF_ROWS: tuple[Place, ...] = ("rows", "lists", "truth")
"""Places whose columns may be constant per user."""


def _check(one: Convention, inputs: Frames) -> None:
    """Reject a metric over users that lacks a side frame, or that has no error under ties of scores."""
    metric, needs = one.metric, one.needs
    if needs.facts or inputs.known.rows_are_items:
        check_needs(inputs, metric, needs.facts)
    if needs.means and (ties := of_the_plan(one.context, inputs).ties) == "expected":
        reason = "it is computed from several means, whose errors are correlated"
        raise without_order(str(metric), ties, reason)


def evaluate(
    inputs: Frames, conventions: Conventions, run: Run, beside: Sequence[str] = ()
) -> pl.LazyFrame:
    """Return one row for each segment: the `by` columns, n_users, n_lists, and a column for each metric.

    Metrics over lists have a plan of their own. Others under the same policies share one; several plans are joined on the
    `by` columns. n_users is then that of the inputs' own universe, or of the first metric where none runs over it. Behind
    a metric's column stands what `beside` names, such as the number of users or lists in it, which the plans then give too.
    Where trainings are bound, values are means of theirs.
    """
    if inputs.training:
        return _over_trainings(inputs, conventions, run, beside)
    if inputs.segments:
        _check_names(inputs, conventions, beside)
        if inputs.folds is None:
            check_parts_of_truth(inputs, conventions)
            inputs = described(inputs, run.ask)
    if inputs.folds is not None:
        return _over_folds(inputs, conventions, run, beside)
    listed, plans, is_plain = [], [], True
    for convention in conventions:
        if convention.needs.over == "lists":
            listed.append(convention)
        else:
            _check(convention, inputs)
            is_plain &= not convention.needs.means and convention.context.decimals is None
    lists = _of_lists(inputs, listed, run, beside) if listed else None
    for under, metrics in _plans_of_users(inputs, conventions):
        plans.append(_of_users(under, metrics, run, beside))
    if is_plain and lists is None and len(plans) == 1:
        return plans[0]
    columns: dict[str, pl.Expr] = {}
    for convention in conventions:
        columns |= _columns(convention, lists, beside)
    return _joined(plans, columns, inputs, lists)


def _plans_of_users(
    inputs: Frames, conventions: Conventions
) -> list[tuple[Frames, list[Metric[...]]]]:
    """Return the metrics over users that share a plan, with its inputs; the first plan's are the users that count."""
    stated: list[tuple[Context, Metrics]] = [(inputs.context, ())]
    for convention in conventions:
        stated += [convention.of_users] * (convention.needs.over == "users")
    home, *others = by_policies(inputs, stated)
    return [home, *others] if home[1] or not others else others


def _over_folds(
    inputs: Frames, conventions: Conventions, run: Run, beside: Sequence[str]
) -> pl.LazyFrame:
    """Return the values over all folds: means over (fold, user), or of set metrics over folds; by fold each fold's own."""
    metrics = [convention.metric for convention in conventions]
    names, each = keys_of(inputs, metrics), folds.in_folds(inputs, run)
    if FOLD in names:
        rows = pl.concat(evaluate(one, conventions, run, beside) for one in each)
        return rows.sort(pl.nth(range(len(names))), nulls_last=True)
    sets = [convention for convention in conventions if convention.metric.shape == "set"]
    others = [convention for convention in conventions if convention.metric.shape != "set"]
    plans = [folds.summed(each, run, partial(evaluate, conventions=others, beside=beside))]
    context = _plans_of_users(inputs, conventions)[0][0].context
    each = [one.under(context) for one in each]
    if sets:
        exact = [replace(one, context=one.context.having(decimals=None)) for one in sets]
        values = [evaluate(one, exact, run, SUPPORT) for one in each]
        of_sets = folds.means_of_sets(values, len(names), [one.metric for one in sets])
        plans = [plans[0].drop("n_lists", strict=False), of_sets]
    has_lists = "n_lists" in plans[-1].collect_schema()
    columns = {"n_lists": pl.col("n_lists").fill_null(0)} if has_lists else {}
    if "user" not in names:
        plans.insert(0, folds.n_users(each, [*names], run).rename(names))
    for convention in conventions:
        columns |= _columns_of_plan(convention, beside)
    return _joined(plans, columns, inputs)


def by_policies(
    inputs: Frames, asked: Iterable[tuple[Context, Metrics]]
) -> list[tuple[Frames, list[Metric[...]]]]:
    """Return the metrics that share a plan, with the inputs under its policies."""
    found: dict[tuple[object, ...], tuple[Frames, list[Metric[...]]]] = {}
    last, context = None, inputs.context
    for own, metrics in asked:
        if own is not last:  # most are those of the call
            last, context = own, of_the_plan(own, inputs)
        if context.policies not in found:
            found[context.policies] = inputs.under(context), []
        found[context.policies][1].extend(metrics)
    return [*found.values()]


def _over_trainings(
    inputs: Frames, conventions: Conventions, run: Run, beside: Sequence[str]
) -> pl.LazyFrame:
    """Return the means over the trainings of each model, or where these are `by` columns the values of each."""
    each = values_of_trainings(inputs, conventions, run, beside)
    means = trainings.means(each, inputs, [convention.metric for convention in conventions])
    return means.with_columns(_rounded(pl.col(str(one.metric)), one) for one in conventions)


def values_of_trainings(
    inputs: Frames, conventions: Conventions, run: Run, beside: Sequence[str] = ()
) -> pl.LazyFrame:
    """Evaluate each training as a model of its own, without rounding."""
    return evaluate(trainings.apart(inputs), of_each_training(conventions), run, beside)


def of_each_training(conventions: Conventions) -> list[Convention]:
    """Return the conventions with each training as a model."""
    return [
        replace(convention, context=trainings.of_each(convention.context))
        for convention in conventions
    ]


def _columns(one: Convention, lists: Lists | None, beside: Sequence[str]) -> dict[str, pl.Expr]:
    """Return the columns of a metric, from the sums of lists where it runs over these, else from means over users."""
    needs, name = one.needs, str(one.metric)
    if lists is not None and needs.over == "lists":
        value, n = lists.values[name], lists.support.get(name)
    elif needs.means:
        # without a counted user there is nothing to make
        are_there = [pl.col(str(mean)).is_not_null() for mean in needs.means]
        value = pl.when(*are_there).then(needs.value)
        n = pl.min_horizontal(map(support_of, needs.means)).fill_null(0)
    else:
        return _columns_of_plan(one, beside)
    found = {name: _rounded(value, one)}
    return found if n is None or not beside else found | {support_of(one.metric): n}


def _columns_of_plan(one: Convention, beside: Sequence[str]) -> dict[str, pl.Expr]:
    """Return the columns of a metric that a plan has under their names."""
    names = [name_beside(part, one.metric) for part in beside]
    found = {str(one.metric): _rounded(pl.col(str(one.metric)), one)}
    return found | {name: pl.col(name).fill_null(0) for name in names}


def _check_names(inputs: Frames, conventions: Conventions, beside: Sequence[str]) -> None:
    """Reject `by` columns that have the name of a metric's extra column."""
    taken = {name_beside(part, convention.metric) for convention in conventions for part in beside}
    for segment in inputs.segments:
        if segment.name in taken:
            raise ColumnError(
                f"{Given('by', segment.name)} is also the name of a result column; rename the column first"
            )


def check_parts_of_truth(inputs: Frames, conventions: Conventions) -> None:
    """Reject numbers that a column of the truth alone cannot cut, since they would be equal in all segments."""
    names = [segment.name for segment in inputs.segments if segment.at == "truth"]
    if not names:
        return
    reasons = [f"{one.metric} reads whole lists" for one in conventions if one.over == "lists"]
    reasons += [
        f"universe={one.context.universe!r} has users of lists"
        for one in conventions
        if one.context.universe in {"recs", "all"}
    ]
    if reasons:
        raise ColumnError(
            f"{Given('by', names[0])} is a column of the truth alone, and {reasons[0]}, so each segment would have the same "
            f"value. If it describes users, move it from the truth into {bind(users='users')}; if lists have parts too, such "
            "as weeks, give the lists the column"
        )


def _of_lists(inputs: Frames, listed: Conventions, run: Run, beside: Sequence[str]) -> Lists:
    """Return the sums of list metrics, under the policies of those that read relevance."""
    reading = [convention for convention in listed if convention.needs.reads_relevance] or listed
    plans = by_policies(inputs, [(one.context, ()) for one in reading])
    if len(plans) > 1:
        raise RecframeError(
            f"{', '.join(str(one.metric) for one in reading)} have different policies in the profile "
            f"{inputs.context.profile!r}; request them in separate calls, or bind {_differing([of for of, _ in plans])}"
        )
    metrics = [convention.metric for convention in listed]
    return metrics_of_lists.evaluate(plans[0][0], metrics, run, with_support=bool(beside))


def _differing(plans: Sequence[Frames]) -> str:
    """Return the policies that differ between the inputs of plans, as options."""
    values = zip(*(inputs.context.policies for inputs in plans), strict=True)
    names = [name for name, found in zip(DEFAULTS, values, strict=True) if len({*found}) > 1]
    return " and ".join(f"{name}=" for name in names)


def _rounded(column: pl.Expr, one: Convention) -> pl.Expr:
    return column if one.context.decimals is None else column.round(one.context.decimals)


def of_the_plan(context: Context, inputs: Frames) -> Context:
    """Return the context reduced to policies that affect a plan; the others have their defaults."""
    ties = {} if inputs.scored else {"ties": "item"}  # a profile's concern scores alone
    return context.having(decimals=None, min_relevance_for="all", **ties)


def _joined(
    plans: Sequence[pl.LazyFrame],
    columns: dict[str, pl.Expr],
    inputs: Frames,
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
    counts = {name: pl.col(name).fill_null(0) for name in support}
    return _named(joined, dict(zip(keys, names, strict=False)), counts | columns)


# Means over users


def _of_users(inputs: Frames, metrics: Metrics, run: Run, beside: Sequence[str]) -> pl.LazyFrame:
    """Return one row for each segment: the `by` columns, n_users, and a column for each metric, with what is `beside`."""
    judged = judge(inputs, run.models(inputs) if inputs.model else None)
    by = keys_of(inputs, metrics) if inputs.segments or inputs.model else {}
    keys = list(by)
    if "user" in keys and (inputs.fold is None or FOLD in keys):
        each = values_of_users(judged, metrics, keys, run.ask).each()
        return _values(run.added([each], keys), by, metrics, beside)
    names, exact = names_of(metrics), sums_of_values(metrics)
    if metrics or inputs.context.no_relevant == "skip":
        sums = values_of_users(judged, metrics, keys, run.ask).sums(exact)
    else:
        if run.ask is not None:
            judged = replace(judged, known=known.ask(judged, None, run.ask))
        support = n_users_of_segments(judged, keys)
        support = after_checks(support, judged, "n_users", pl.Int64, steep=False)
        sums = support.select(*keys, "n_users", n_present=pl.lit(0, dtype=pl.Int64))
    sums = run.added([sums], keys, [*map("empty {}".format, names)])
    return _means(judged, by, sums, dict(zip(names, metrics, strict=True)), beside, exact)


def _values(each: pl.LazyFrame, by: By, metrics: Metrics, beside: Sequence[str]) -> pl.LazyFrame:
    """Return the users' values under their names."""
    columns: dict[str, pl.Expr] = {}
    for name, metric in zip(names_of(metrics), metrics, strict=True):
        columns[str(metric)] = pl.col(name)
        if beside:
            columns[support_of(metric)] = pl.col(name).is_not_null().cast(pl.Int64)
    return _named(each, by, columns)


def _means(
    judged: Judged,
    by: By,
    sums: pl.LazyFrame,
    metrics: Mapping[str, Metric[...]],
    beside: Sequence[str],
    exact: ExactSums,
) -> pl.LazyFrame:
    """Return the means under their names: users without a row in the branches count with the value of an empty list."""
    skips = judged.context.no_relevant == "skip"
    n_users, n_present = pl.col("n_users"), pl.col("n_present").fill_null(0)
    absent, totals = pl.col("absent"), dict[str, pl.Expr]()
    columns = {} if "user" in by else {"n_users": n_present if skips else n_users}
    for name, metric in metrics.items():
        empty, count = pl.col(f"empty {name}"), pl.col(f"count {name}")
        present = count.fill_null(0) + empty.is_not_null() * absent
        totals[f"count {name}"] = present.cast(pl.Int64)
        totals[f"sum {name}"] = exact.total(name, (empty, absent))
        columns[metric.text] = pl.when(count > 0).then(pl.col(f"sum {name}") / count)
        for part in beside:
            columns[name_beside(part, metric)] = pl.col(f"{PARTS[part]} {name}")
    sums = sums.with_columns(absent=0 if skips else n_users - n_present).with_columns(**totals)
    if skips and (parts_of_rows := [key for key in by if key != "model"]):
        # whose lists have a relevant row differs from model to model, and a part of one is one of all
        by_model = judged.models is not None and judged.context.relevant_from == "list"
        by_model &= "user" not in by
        is_there = (n_present.max().over(parts_of_rows) if by_model else n_present) > 0
        sums = sums.filter(is_there)
    return _named(sums, by, columns)


def _named(rows: pl.LazyFrame, by: By, columns: dict[str, pl.Expr]) -> pl.LazyFrame:
    """Return a result with its final column names, sorted by the keys; these may equal internal names."""
    rows = rows.sort(list(by), nulls_last=True) if by else rows
    named = dict(zip(by.values(), map(pl.col, by), strict=True)) | columns
    return rows.select([column.alias(name) for name, column in named.items()])


def described(inputs: Frames, ask: Ask | None) -> Frames:
    """Return inputs whose users get the `by` columns that are constant per user as properties.

    No answer changes a number: a user whose rows all say the same stands in that segment alone.
    """
    if ask is None:
        return inputs
    found: dict[str, OfUsers] = {}
    for at in OF_ROWS:
        names = inputs.inside(at)
        # who has no row is in no segment of rows
        everyone = inputs.context.universe == "all" and inputs.users is not None
        if not names or (at == "rows" and everyone):
            continue
        # all in one table, or one in each
        for some in (names, *([name] for name in names if len(names) > 1)):
            table = None if {*some} <= found.keys() else _table(inputs, at, some, ask)
            if table is not None:
                found |= dict.fromkeys(some, OfUsers(table.lazy()))
    segments = [replace(one, add=found.get(one.inside, one.add)) for one in inputs.segments]
    return replace(inputs, segments=tuple(segments)) if found else inputs


def _table(inputs: Frames, at: Place, names: Sequence[str], ask: Ask) -> pl.DataFrame | None:
    """Return each user of the frames of a place once, with columns that never change within one.

    None where one does, or where lists and truth differ, so that each row decides.
    """
    sources = [inputs.identified("truth" if at == "truth" else "recommendations")]
    if at == "rows" and inputs.truth is not None:
        sources.append(inputs.identified("truth"))
    tables = []
    for rows in ask([source.select("user", *names) for source in sources]):
        table = constant_of("user", rows)
        if table is None:
            return None
        tables.append(table)
    return tables[0] if len(tables) == 1 else constant_of("user", pl.concat(tables))
