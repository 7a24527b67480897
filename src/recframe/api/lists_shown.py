"""Lists of some users with their truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import By
from recframe.audit.report import tell_of_columns
from recframe.charts.long_format import check_of_users
from recframe.errors import ColumnError, RecframeError, shown
from recframe.evaluation.required_columns import keys_of, numbered
from recframe.frames import options
from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import Seen as WhatIsTold
from recframe.frames.segments import Segment
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.ranking.data_checks import as_frame
from recframe.ranking.judged_frame import is_relevant_row, judge

PLACE = "place"
OF_LISTS = ("rank", "item", "relevance")
"""Roles of the columns that a list has."""


def shown_lists(
    rec: Any, metric: str | Metric[...], k: int | None, n: object, by: By, *, worst: bool
) -> Any:
    """Return the lists of the first users, as a frame of the same kind."""
    one, *others = registry.asked([metric], k)
    if others:
        raise RecframeError(f"k={shown(k)}: users are sorted by one cut-off; write k=10")
    check_of_users(one)
    number = options.whole("n", n, 1)
    inputs, keys, values = _values_of_users(rec, one, argument_errors.names(by))
    of_roles, segments = inputs.context.names, [key for key in keys if key != "user"]
    first = _first(values, segments, number, is_falling=worst == (one.direction == "lower"))
    # the segments are the users' alone: a list is shown whole, and compared with all of the truth
    models = first.select("model") if inputs.model else None
    plain = replace(inputs, segments=(), models=models)
    lists = _rows_of_lists(plain, one, first.select("user"))
    names = {key: keys[key] for key in segments} | {PLACE: PLACE, "user": of_roles["user"]}
    names |= {"value": str(one), **{role: of_roles[role] for role in OF_LISTS}, "hit": "hit"}
    if (side := inputs.sides.get("items")) is not None:
        known = {of_roles["item"], *map(keys.get, segments)}
        unknown = enumerate(name for name in side.columns if name not in known)
        columns = [Segment(f"shown {place}", name, "items") for place, name in unknown]
        of_items = side.take(["item"], columns).lazy().drop_nulls("item")
        lists = _joined_on(lists, of_items, ["item"])
        names |= {one.inside: one.name for one in columns}
    own = [*names.values()]
    if twice := [name for name in own if own.count(name) > 1]:
        raise ColumnError(
            f"the result has a column {twice[0]!r} of its own, and {twice[0]!r} is also a column of items= or by=; rename "
            "that"
        )
    by_list = [*segments, PLACE, "user", "rank", "item"]
    plan = _joined_on(first, lists, [*inputs.model, "user"]).sort(by_list, nulls_last=True)
    plan = plan.select(pl.col(inside).alias(name) for inside, name in names.items())
    # NOTE: pandas' rows are sorted by these columns once more where it has categories, so that they say the whole order.
    sources = {names[inside]: inputs.sources.get(names[inside]) for inside in by_list}
    sources[names["item"]] = rec._kind.source(names["item"])  # noqa: SLF001  the methods of this class are those of a Rec
    return rec._kind.give(plan, sources, warned_of_truth(inputs))  # noqa: SLF001  as above


def _first(values: pl.LazyFrame, segments: list[str], n: int, *, is_falling: bool) -> pl.LazyFrame:
    """Return the first users of each segment, in their order, with their `place`."""
    falling = [*[False] * len(segments), is_falling, False]
    ordered = values.sort(*segments, "value", "user", descending=falling, nulls_last=True)
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    ordered = ordered.with_columns((place.over(segments) if segments else place).alias(PLACE))
    return ordered.filter(pl.col(PLACE) <= n).cache()


def lists_of(rec: Any, metric: Metric[...], users: pl.Series) -> pl.DataFrame:
    """Return the lists of some users, and what is relevant to them, under the names of roles."""
    inputs, *_ = _values_of_users(rec, metric)
    lists = _rows_of_lists(replace(inputs, segments=()), metric, users.to_frame("user").lazy())
    return cast("pl.DataFrame", rec._kind.run(lists))  # noqa: SLF001  the methods of this class are those of a Rec


def _values_of_users(
    rec: Any, metric: Metric[...], by: Sequence[Any] = ()
) -> tuple[Frames, dict[str, str], pl.LazyFrame]:
    """Return the frames by user under the metric's policies, the keys, and `value` behind these, of users that have one."""
    inputs: Frames = rec._inputs([*by, rec._context.names["user"]], [metric])  # noqa: SLF001  as above
    (convention,) = under_profile.asked(inputs.context, [metric])
    values = rec._evaluated(inputs, [convention])  # noqa: SLF001  as above
    keys = keys_of(inputs, [metric])
    named = numbered(values, [*keys]).select(*keys, pl.col(str(metric)).alias("value"))
    return inputs.under(convention.context), keys, named.drop_nulls("value")


def warned_of_truth(inputs: Frames) -> WhatIsTold:
    """Return a callback that warns about the truth, for results that are no tables of metrics."""
    return partial(tell_of_columns, under_profile.at_home(inputs), [])


def _rows_of_lists(inputs: Frames, metric: Metric[...], users: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of some users that are listed up to the cut-off or relevant, under the names of their roles.

    The users have values, so that the frames have passed their checks. Rows stand in their own order, whatever the universe.
    """
    kept: dict[str, Any] = {
        name: rows.join(users.unique(), on="user", how="semi", maintain_order="left")
        for name, rows in (("lists", inputs.lists), ("truth", inputs.truth))
        if rows is not None
    }
    context = inputs.context.having(universe="all")
    judged = judge(replace(inputs, **kept, context=context, users=None, checks=()))
    rows = numbered(as_frame(judged), [*inputs.model, "user", "item", "rank", "relevance"])
    rank = pl.col("rank")
    listed = (rank.is_not_null() if metric.k is None else rank <= metric.k).fill_null(value=False)
    relevant = is_relevant_row(inputs).fill_null(value=False)
    return rows.filter(listed | relevant).with_columns(hit=listed & relevant, listed=listed)


def _joined_on(rows: pl.LazyFrame, others: pl.LazyFrame, on: list[str]) -> pl.LazyFrame:
    """Return rows with the others' columns; keys that came from frames of other widths match."""
    dtypes = rows.collect_schema()
    keys = [pl.col(key).cast(dtypes[key], strict=False) for key in on]
    return rows.join(others.with_columns(keys), on=on, how="left", nulls_equal=True)
