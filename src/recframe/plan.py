"""The one plan: branches of the judged frame, one row of terms each, one aggregation per list, one per segment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, Literal

import polars as pl

from recframe import catalogue, propensity, subtopics
from recframe.context import NoRelevant
from recframe.cutoffs import reach
from recframe.errors import OTHER_TIES, ColumnError, NoOrderError, RecframeError, without_order
from recframe.expectation import at_last_places, over_places
from recframe.frames import Ask
from recframe.inputs import Inputs
from recframe.judge import Judged, judge
from recframe.keyed import aggregate
from recframe.order import best_first, by_item, spread_ranks, with_places
from recframe.recorder import (
    BEST_ORDER,
    DTYPES,
    EXPECTED,
    HITS,
    LIST_IDEAL,
    LISTED,
    NOT_RELEVANT,
    RELEVANT,
    TOTALS,
    Recorder,
)
from recframe.registry import Metric
from recframe.runs import Run
from recframe.terms import At, discount


def evaluate(inputs: Inputs, metrics: Sequence[Metric[...]], run: Run, *, support: bool = False) -> pl.LazyFrame:
    """Return one row for each segment: the `by` columns, n_users, and a column for each metric.

    `support` puts behind each metric the number of users that have a value of it.
    """
    parts = run.parts(inputs)
    models = judge(inputs).models if len(parts) > 1 else None  # a part of the users may not show all of them
    judged = [judge(part, models) for part in parts]
    by = keys_of(inputs, metrics)
    same = [f"empty value {number}" for number in range(len(metrics))]
    sums = run.added([_sums(one, metrics, run.ask) for one in judged], [inside for inside, _ in by], same)
    return _result(judged[0], by, sums, metrics, support=support)


def _sums(judged: Judged, metrics: Sequence[Metric[...]], ask: Ask | None = None) -> pl.LazyFrame:
    """Return one row for each segment: the keys, n_users, and what the means are made of."""
    keys = [inside for inside, _ in keys_of(judged.inputs, metrics)]
    if not metrics and judged.context.no_relevant != "skip":
        return _users_alone(judged if ask is None else judged.with_users(ask), keys)
    words = Recorder()
    deepest = deepest_of(metrics)
    values = _values(metrics, words, deepest, judged)
    counted = _is_counted(words, judged.context.no_relevant)
    if ask is not None:
        judged = _settled(judged, words, deepest, ask)
    rows = _rows(judged, words, deepest)  # the branches that the words above have asked for
    lists = rows.group_by(judged.list_keys).agg(*values.values(), counted=counted)
    _check_shapes(lists, metrics)
    lists = lists.filter("counted")
    if set(keys) - {"model"}:
        lists = with_attributes(judged.named(lists), judged.inputs)
    sums = [pl.col(name).sum().alias(f"sum {name}") for name in values]
    counts = [pl.col(name).count().alias(f"count {name}") for name in values]
    per_segment = aggregate(lists, keys, [pl.len().alias("n_present"), *sums, *counts])
    asked = {name for value in values.values() for name in value.meta.root_names()}
    empty = _no_rows(frozenset(asked)).select(value.alias(f"empty {name}") for name, value in values.items())
    joined = _support(judged, keys)
    if keys:
        joined = joined.join(per_segment, on=keys, how="left", nulls_equal=True)
        joined = joined.join(empty, how="cross") if values else joined  # a frame without columns has no row
    else:
        joined = pl.concat([joined, per_segment, empty], how="horizontal")
    joined = _checked(joined, judged, "n_users", steep="steepness" in words.asked)
    kept = [f"{part} {name}" for part in ("sum", "count", "empty") for name in values]
    return joined.select(*keys, "n_users", pl.col("n_present").cast(pl.Int64), *kept)


def _users_alone(judged: Judged, keys: Sequence[str]) -> pl.LazyFrame:
    """Return n_users of each segment, where no metric over users was asked."""
    support = _checked(_support(judged, keys), judged, "n_users", steep=False)
    return support.select(*keys, "n_users", n_present=pl.lit(0, dtype=pl.Int64))


def _settled(judged: Judged, words: Recorder, deepest: int | None, ask: Ask) -> Judged:
    judged = judged.settled(ask, deepest, by_number=not words.reads_lists())
    return judged.with_first(ask, deepest) if words.read & catalogue.CUT else judged


def deepest_of(metrics: Sequence[Metric[...]]) -> int | None:
    """Return the largest cut-off of the metrics, None where one has none; without a metric no rank is read."""
    ks = [reach(metric.k) for metric in metrics]
    return None if None in ks else max((k for k in ks if k is not None), default=1)


def _values(metrics: Sequence[Metric[...]], words: Recorder, deepest: int | None, judged: Judged) -> dict[str, pl.Expr]:
    """Return each metric's value of a list, under a name of its own."""
    values = {}
    for number, metric in enumerate(metrics):
        k = reach(metric.k)
        value = _value(metric, At(k, words, cut=k == deepest, sharing=judged.sharing)).cast(pl.Float64)
        if judged.context.no_relevant == "null":
            value = pl.when(_n_relevant(words) > 0).then(value)
        values[f"value {number}"] = value.alias(f"value {number}")
    return values


def _value(metric: Metric[...], at: At) -> pl.Expr:
    """Return a metric's value of a list, or say why it needs an order of tied items."""
    definition = metric.definition
    if at.sharing is not None and not (definition.builtin or definition.linear):
        msg = (
            f"ties={at.sharing!r} takes a metric of your own, such as {metric.name!r}, if it sums up words of the hits "
            f"(see rf.At) and says so: @rf.metric(linear=True); if it does not, {OTHER_TIES}"
        )
        raise RecframeError(msg)
    try:
        return metric.value(at)
    except NoOrderError as error:
        raise without_order(str(metric), str(at.sharing), error) from None


def _is_counted(words: Recorder, no_relevant: NoRelevant) -> pl.Expr:
    return _n_relevant(words) > 0 if no_relevant == "skip" else pl.len() > 0


def _n_relevant(words: Recorder) -> pl.Expr:
    return At(None, words).n_relevant


def keys_of(inputs: Inputs, metrics: Sequence[Metric[...]]) -> list[tuple[str, str]]:
    """Return the result's key columns, each by its name inside the plan and its own name; an unnamed model comes first."""
    by = [(one.inside, one.name) for one in inputs.segments]
    if inputs.model and ("model", inputs.context.name_of("model")) not in by:
        by = [("model", inputs.context.name_of("model")), *by]
    names = [name for _, name in by]
    for name in names:
        if name in {"n_users", "n_lists", *map(str, metrics)}:
            msg = f"by={name!r} is also the name of a result column; rename the column before"
            raise ColumnError(msg)
    return by


@lru_cache
def _no_rows(names: frozenset[str]) -> pl.LazyFrame:
    """Return an empty frame with the words' columns, for what a value is of an empty list."""
    return pl.LazyFrame(schema={name: DTYPES.get(name, pl.Float64) for name in names})


def _check_shapes(lists: pl.LazyFrame, metrics: Sequence[Metric[...]]) -> None:
    """Say which of the user's own metrics has many values for a list where it should have one."""
    for number, metric in enumerate(metrics):
        if not metric.definition.builtin and lists.collect_schema()[f"value {number}"] != pl.Float64:
            msg = (
                f"the metric {metric.name!r} has a value for each row of a list; return one for the list: its sum(), max(), ..."
            )
            raise RecframeError(msg)


# ---- the rows that the words stand for


def _rows(judged: Judged, words: Recorder, deepest: int | None) -> pl.LazyFrame:
    """Return the rows of every branch that was asked for, one under the other; a branch's columns are null in the others."""
    asked = words.asked
    branches = []
    if asked & (HITS | EXPECTED | propensity.OF_HITS) or words.windows or any(name.startswith(LIST_IDEAL) for name in asked):
        branches.append(_hits(judged, words, deepest))
    branches += _relevant(judged, words)
    if asked & LISTED:
        branches.append(_listed(judged, asked))
    if words.values_of(NOT_RELEVANT):
        branches += words.branches(judged.list_keys, judged.not_relevant(), NOT_RELEVANT)
    branches_of = partial(words.branches, judged.list_keys)
    branches += catalogue.branches(judged, words.read, deepest, branches_of)
    branches += propensity.branches(judged, words.read, branches_of)
    branches += subtopics.branches(judged, words.read, deepest, words.branches)
    branches = branches or [judged.relevant()]
    return pl.concat(branches, how="diagonal") if len(branches) > 1 else branches[0]


def _hits(judged: Judged, words: Recorder, deepest: int | None) -> pl.LazyFrame:
    """Return the hits in the order of their ranks, where no two of a list are closer than 1."""
    keys = judged.list_keys
    if judged.sharing is not None:
        return _hits_of_ties(judged, words, deepest)
    hits = _with_totals(judged, judged.hits(deepest), words.asked)
    hits = propensity.beside(judged, hits) if words.asked & propensity.OF_HITS else hits
    if not (judged.in_order and judged.distinct):
        hits = hits.sort(*keys, "rank", *by_item(judged.inputs.schema, keys))
        hits = spread_ranks(with_places(hits, keys), keys, whole=judged.whole_ranks).rename({"place": "hits_so_far"})
        if deepest is not None:
            hits = hits.filter(pl.col("rank") <= deepest)
    elif "hits_so_far" in words.asked:
        hits = with_places(hits, keys).rename({"place": "hits_so_far"})
    windows = [window.over(keys).alias(f"running {number}") for number, window in enumerate(words.windows)]
    ideals = sorted(name for name in words.asked if name.startswith(LIST_IDEAL))
    windows += [_list_ideal_rank(name).over(keys).alias(name) for name in ideals]
    columns = [*keys, *(name for name in [*sorted(HITS | propensity.OF_HITS), *TOTALS] if name in words.asked)]
    columns += [window.meta.output_name() for window in windows]
    hits = hits.with_columns(pl.col("rank", "gain").cast(pl.Float64), discount=discount(pl.col("rank")))
    return hits.with_columns(windows).select(columns)


def _hits_of_ties(judged: Judged, words: Recorder, deepest: int | None) -> pl.LazyFrame:
    """Return the places that tied hits may take, with the expectations of the words there, or the last places of ties."""
    keys, hits, beside = judged.list_keys, judged.hits(deepest), partial(_with_totals, judged, asked=words.asked)
    places = over_places(hits, keys, deepest, beside) if judged.sharing == "expected" else at_last_places(hits, keys, beside)
    columns = [name for name in [*sorted(HITS | EXPECTED), *TOTALS] if name in words.asked]
    return places.with_columns(discount=discount(pl.col("rank"))).select(*keys, *columns)


def _list_ideal_rank(name: str) -> pl.Expr:
    """Return the place of each hit among the hits up to k, in the order of their gains."""
    k = name.partition("@")[2]
    inside = pl.when(pl.col("rank") <= float(k)).then("gain") if k else pl.col("gain")
    return inside.rank("ordinal", descending=True)


def _relevant(judged: Judged, words: Recorder) -> list[pl.LazyFrame]:
    """Return what is read of the relevant rows, listed or not, and where the best order was asked for, in that order."""
    values = words.values_of(RELEVANT)
    asked = (words.asked & RELEVANT).union(*(value.meta.root_names() for value in values))
    if not asked:
        return []
    rows, keys = judged.relevant().rename({"gain": "relevant_gain"}), judged.list_keys
    if asked & BEST_ORDER:
        if judged.best_given:
            rows = rows.select(*keys, pl.col("relevant_gain").cast(pl.Float64))
        else:
            rows = best_first(rows, keys, judged.key_dtype, "relevant_gain", narrow=judged.narrow)
        rank = pl.col("place").cast(pl.Float64)
        built = {"ideal_rank": rank, "ideal_gain": pl.col("relevant_gain"), "ideal_discount": discount(rank)}
        columns = [column.alias(name) for name, column in built.items() if name in asked]
        rows = with_places(rows, keys).select(*keys, "relevant_gain", *columns)
    return words.branches(keys, rows, RELEVANT)


def _listed(judged: Judged, asked: set[str]) -> pl.LazyFrame:
    """Return the rows of the lists, and how many rows that are not relevant stand above the relevant ones."""
    keys = judged.list_keys
    if "listed_tied" in asked and judged.rows:
        msg = (
            "ties='expected' does not tell how many items of a segment are among the first k; "
            "ask list_length and judged without k here, or by a property of the user"
        )
        raise RecframeError(msg)
    rows = _with_totals(judged, judged.listed(), asked)
    rank, relevant = pl.col("listed_rank"), pl.col("listed_relevant")

    def above(which: pl.Expr, ties: Any) -> pl.Expr:
        places = (pl.when(one).then(rank).rank(ties).over(keys).cast(pl.Float64) for one in (which, relevant))
        return next(places) - next(places)

    built = {
        "listed_place": rank.rank("ordinal").over(keys),
        "misses_above": above(rank.is_not_null(), "average"),
        "judged_misses_above": above(pl.col("listed_judged"), "min"),
    }
    columns = [name for name in sorted(LISTED.union(TOTALS)) if name in asked]
    return rows.with_columns(built[name].alias(name) for name in built if name in asked).select(*keys, *columns)


def _with_totals(judged: Judged, rows: pl.LazyFrame, asked: set[str]) -> pl.LazyFrame:
    """Return the rows with their list's number of relevant, and of not relevant, rows beside them."""
    for name, branch in zip(TOTALS, (judged.relevant, judged.not_relevant), strict=True):
        if name in asked:
            totals = branch().group_by(judged.list_keys).agg(pl.len().cast(pl.Int64).alias(name))
            rows = rows.join(totals, on=judged.list_keys, how="left", nulls_equal=True, maintain_order="left")
            rows = rows.with_columns(pl.col(name).fill_null(0))
    return rows


# ---- the users that the means run over


def with_attributes(lists: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return lists or users with the segments that are properties of the user."""
    names = inputs.inside("users")
    if names and inputs.users is not None:
        lists = lists.join(inputs.users.select("user", *names), on="user", how="left")
    owners: tuple[Literal["recommendations", "truth"], ...] = ("recommendations", "truth")
    for owner in owners:
        for name in inputs.inside(owner):
            pairs = inputs.counted(owner).select("user", name).drop_nulls().unique()
            lists = lists.join(pairs.group_by("user").agg(pl.col(name).first()), on="user", how="left")
    return lists


def _support(judged: Judged, keys: Sequence[str]) -> pl.LazyFrame:
    """Return n_users for each segment, whether or not any of its users has a row in the branches."""
    of_users = [key for key in keys if key != "model"]
    if of_users:
        members = with_attributes(judged.members(), judged.inputs)
        support = members.group_by(of_users).agg(n_users=pl.len().cast(pl.Int64))
    else:
        known = pl.LazyFrame({"n_users": [judged.n_users]}, schema={"n_users": pl.Int64})
        counted = judged.users.select(n_users=pl.col("user").n_unique().cast(pl.Int64))
        support = counted if judged.n_users is None else known
    return support.join(judged.models, how="cross") if judged.models is not None else support


def _result(
    judged: Judged, by: list[tuple[str, str]], sums: pl.LazyFrame, metrics: Sequence[Metric[...]], *, support: bool
) -> pl.LazyFrame:
    """Return the means under their names: users without a row in the branches count with the value of an empty list."""
    context = judged.context
    present = pl.col("n_present").cast(pl.Int64).fill_null(0)
    n_users = present if context.no_relevant == "skip" else pl.col("n_users")
    absent = n_users - present
    inside = [key for key, _ in by]
    columns: dict[str, pl.Expr] = {}
    for number, metric in enumerate(metrics):
        columns[str(metric)] = _mean(f"value {number}", absent)
        columns |= {support_of(metric): _count(f"value {number}", absent)} if support else {}
    numbered = [column.alias(f"column {number}") for number, column in enumerate(columns.values())]
    result = sums.select(*inside, n_users.alias("n_users"), *numbered)
    if inside:
        result = result.sort(inside, nulls_last=True)
    if context.no_relevant == "skip" and set(inside) - {"model"}:
        result = result.filter(pl.col("n_users") > 0)
    n_users_shown = [] if "user" in inside else [pl.col("n_users")]
    return result.select(
        *(pl.col(key).alias(name) for key, name in by),
        *n_users_shown,
        *(pl.col(f"column {number}").alias(name) for number, name in enumerate(columns)),
    )


def support_of(metric: Metric[...]) -> str:
    """Return the name of the column of how many users or lists a metric was averaged over."""
    return f"n {metric}"


def _mean(value: str, absent: pl.Expr) -> pl.Expr:
    """Return the mean over the users with a value, of whom those absent from the branches have that of an empty list."""
    empty = pl.col(f"empty {value}")
    total = pl.col(f"sum {value}").fill_null(0) + empty.fill_null(0) * absent
    count = _count(value, absent)
    return pl.when(count > 0).then(total / count)


def _count(value: str, absent: pl.Expr) -> pl.Expr:
    """Return the number of users with a value."""
    empty = pl.col(f"empty {value}")
    return (pl.col(f"count {value}").cast(pl.Int64).fill_null(0) + empty.is_not_null() * absent).cast(pl.Int64)


def judged_frame(judged: Judged) -> pl.LazyFrame:
    """Return the judged frame under the bound column names, after the same checks as a metric."""
    if judged.sharing is not None:
        of_ties = {"expected": "none for tied items", "last": "one for all items of a tie together"}[judged.sharing]
        msg = f"judge() gives each item one rank, and ties={judged.sharing!r} has {of_ties}; write another ties= for it"
        raise RecframeError(msg)
    names = {role: judged.context.name_of(role) for role in [*judged.model, "user", "item", "rank", "relevance"]}
    frame = _checked(judged.frame(), judged, "rank", steep=False)
    return frame.select(pl.col(role).alias(name) for role, name in names.items())


def _checked(rows: pl.LazyFrame, judged: Judged, number: str, *, steep: bool) -> pl.LazyFrame:
    """Return rows in no certain column order, after checks that fail when the plan runs and the data breaks a rule.

    NOTE: the checks stand before the rows, as rows of a column of numbers that are filtered out again. Joined with the rows
    they would not run where there are none, as in a part of the users that has no user.
    """
    checks = [check.rename({"check": f"check {place}"}) for place, check in enumerate(judged.checks(steep=steep))]
    if not checks:
        return rows
    passed = pl.concat(checks, how="horizontal").select(
        pl.sum_horizontal(pl.all()).cast(rows.collect_schema()[number]).alias(number)
    )
    return pl.concat([passed.filter(pl.col(number) != 0), rows], how="diagonal")
