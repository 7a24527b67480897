"""Lists of some users with their truth."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import By
from recframe.audit.report import tell
from recframe.charts.long_format import check_of_users
from recframe.errors import ColumnError, RecframeError, shown
from recframe.evaluation.required_columns import Convention, keys_of, numbered
from recframe.frames import options
from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import Seen as WhatIsTold
from recframe.frames.segments import Segment
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.ranking.data_checks import as_frame
from recframe.ranking.judged_frame import is_relevant_row, judge

PLACE, HIT = "place", "hit"


def shown_lists(
    rec: Any,
    metric: str | Metric[...],
    k: int | None,
    n: object,
    by: By,
    *,
    worst: bool,
) -> Any:
    """Return the lists of the first users, as a frame of the same kind."""
    one, number = _checked(metric, k, n)
    context = rec._context  # noqa: SLF001  the methods of this class are those of a Rec
    user = context.names["user"]
    inputs, convention, values = values_of_users(rec, one, argument_errors.names(by))
    keys = keys_of(inputs, [one])
    segments = [key for key in keys if key != "user"]
    lower_is_better = one.direction == "lower"
    order = {**dict.fromkeys(segments, False), "value": worst == lower_is_better, "user": False}
    ordered = values.sort(*order, descending=[*order.values()], nulls_last=True)
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    ordered = ordered.with_columns((place.over(segments) if segments else place).alias(PLACE))
    values = ordered.filter(pl.col(PLACE) <= number).cache()
    # The segments are the users' alone: a list is shown whole, and compared with all of the truth.
    models = values.select("model") if inputs.model else None
    plain = replace(inputs, segments=(), context=convention.context, models=models)
    names = {key: keys[key] for key in segments}
    shown_items = _columns_of_items(plain, {*names.values()})
    lists = rows_of_lists(plain, one, values.select("user"))
    lists = with_columns_of_items(lists, plain, shown_items)
    names |= {PLACE: PLACE, "user": user, "value": str(one)}
    names |= {role: context.names[role] for role in ("rank", "item", "relevance")}
    names |= {HIT: HIT} | {column.inside: column.name for column in shown_items}
    _check_names(list(names.values()))
    by_list = [*segments, PLACE, "user", "rank", "item"]
    plan = joined_on(values, lists, [*inputs.model, "user"]).sort(by_list, nulls_last=True)
    plan = plan.select(pl.col(inside).alias(name) for inside, name in names.items())
    # NOTE: pandas' rows are sorted by these columns once more where it has categories, so that they say the whole order.
    sources = {names[inside]: inputs.sources.get(names[inside]) for inside in by_list}
    sources[names["item"]] = rec._kind.source(names["item"])  # noqa: SLF001
    return rec._kind.give(plan, sources, warned_of_truth(inputs))  # noqa: SLF001


def _checked(metric: str | Metric[...], k: int | None, n: object) -> tuple[Metric[...], int]:
    """Return the metric and the number of users, or say why there is no such thing."""
    one, *others = registry.asked([metric], k)
    if others:
        raise RecframeError(f"k={shown(k)}: users are sorted by one cut-off; write k=10")
    check_of_users(one)
    return one, options.whole("n", n, 1)


def _columns_of_items(inputs: Frames, without: Collection[str]) -> list[Segment]:
    """Return the columns of the items frame except the id and segments of the result."""
    if inputs.items is None:
        return []
    without = {inputs.context.names["item"], *without}
    names = [name for name in inputs.sides["items"].columns if name not in without]
    return [Segment(f"shown {place}", name, "items") for place, name in enumerate(names)]


def _check_names(names: Sequence[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = (
            f"the result has a column {twice[0]!r} of its own, and {twice[0]!r} is also a column of items= or by=; rename "
            "that"
        )
        raise ColumnError(msg)


def lists_of(rec: Any, metric: Metric[...], users: pl.Series) -> pl.DataFrame:
    """Return the lists of some users, and what is relevant to them, under the names of roles."""
    inputs, convention, _ = values_of_users(rec, metric)
    plain = replace(inputs, segments=(), context=convention.context)
    rows: pl.DataFrame = rec._kind.run(rows_of_lists(plain, metric, users.to_frame("user").lazy()))  # noqa: SLF001
    return rows


def values_of_users(
    rec: Any, metric: Metric[...], by: Sequence[Any] = ()
) -> tuple[Frames, Convention, pl.LazyFrame]:
    """Return the frames by user, the metric's convention, and in `value` beside the keys the values that users have."""
    inputs = rec._inputs([*by, rec._context.names["user"]], [metric])  # noqa: SLF001
    (convention,) = under_profile.asked(inputs.context, [metric])
    values = rec._evaluated(inputs, [convention])  # noqa: SLF001
    keys = [*keys_of(inputs, [metric])]
    named = numbered(values, keys).select(*keys, pl.col(str(metric)).alias("value"))
    return inputs, convention, named.drop_nulls("value")


def warned_of_truth(inputs: Frames) -> WhatIsTold:
    """Return a callback that warns about the truth, for results that are no tables of metrics."""
    return partial(tell, under_profile.at_home(inputs), [])


def rows_of_lists(inputs: Frames, metric: Metric[...], users: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of some users that are listed up to the cut-off or relevant, under the names of their roles.

    The users have values, so that the frames have passed their checks. Rows stand in their own order, whatever the universe.
    """
    frames = {"lists": inputs.lists, "truth": inputs.truth}
    kept: dict[str, Any] = {
        name: frame.join(users.unique(), on="user", how="semi", maintain_order="left")
        for name, frame in frames.items()
        if frame is not None
    }
    context = inputs.context.having(universe="all")
    judged = judge(replace(inputs, **kept, context=context, users=None, checks=()))
    rows = as_frame(judged)
    rank = pl.col("rank")
    listed = rank.is_not_null() if metric.k is None else rank <= metric.k
    listed = listed.fill_null(value=False)
    relevant = is_relevant_row(inputs).fill_null(value=False)
    rows = numbered(rows, [*inputs.model, "user", "item", "rank", "relevance"])
    return rows.filter(listed | relevant).with_columns(hit=listed & relevant, listed=listed)


def with_columns_of_items(
    rows: pl.LazyFrame, inputs: Frames, columns: Sequence[Segment]
) -> pl.LazyFrame:
    """Return rows with columns of the frame of items."""
    if not columns:
        return rows
    taken = inputs.sides["items"].take(["item"], columns).lazy().drop_nulls("item")
    return joined_on(rows, taken, ["item"])


def joined_on(rows: pl.LazyFrame, others: pl.LazyFrame, on: list[str]) -> pl.LazyFrame:
    """Return rows with the others' columns; keys that came from frames of other widths match."""
    dtypes = rows.collect_schema()
    keys = [pl.col(key).cast(dtypes[key], strict=False) for key in on]
    return rows.join(others.with_columns(keys), on=on, how="left", nulls_equal=True)
