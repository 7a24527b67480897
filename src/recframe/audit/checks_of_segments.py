"""Checks of `by` columns that lists and truth both have: nulls, values, and properties of items among them."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from recframe.audit.audited import Audited
from recframe.audit.notices_of_ids import in_common
from recframe.audit.notices_of_segments import MOST_NULL
from recframe.audit.rule import Found, check
from recframe.frames.hints import bind, text
from recframe.frames.roles import Segment
from recframe.frames.rows.joins import beside_one_another

LEAST_REPEATED = 2
"""So often an item stands on average in the rows of a property of items, at least."""


def _of_rows(data: Audited) -> Iterator[Segment]:
    """Give the segments that cut rows into parts."""
    yield from (one for one in data.inputs.segments if one.inside in data.parts)


@check(
    "error",
    "the rows are in the null segment, and meet none of the other frame's rows there",
    text(
        "look whether the keys of the join match, or give the column once, in ", bind(users="users")
    ),
    of_all=True,
)
def by_null_in_one_frame(data: Audited) -> Iterator[Found]:
    """Rows whose value of a column of `by` is null, as most of their frame's are, and few of the other frame's."""
    frames = {name: rows for name, rows in data.pairs.items() if name in {data.main, "truth"}}
    for segment in _of_rows(data) if len(frames) > 1 else ():
        null = pl.col(segment.inside).is_null()
        shares = beside_one_another(
            [rows.select(null.mean().alias(f"share in {name}")) for name, rows in frames.items()]
        )
        for name, rows in frames.items():
            here = pl.col(f"share in {name}")
            least = pl.min_horizontal(pl.all())
            failed = shares.filter((here > MOST_NULL) & (least <= here / 2))
            found = rows.filter(null).join(failed, how="cross")
            named = found.select("user", "item", column=pl.lit(segment.name))
            yield Found(name, named, ("user", "item", "column"))


@check(
    "error",
    "no segment has rows of both frames, so nothing is found",
    text(
        "write the values alike in both frames, or give the column once, in ", bind(users="users")
    ),
    of_all=True,
)
def by_without_common_values(data: Audited) -> Iterator[Found]:
    """Values of a column of `by`, `rows` of them, none of which lists and truth have in common."""
    truth = data.inputs.truth
    if truth is None:
        return
    for segment in _of_rows(data):
        counts = in_common(data.inputs.lists, truth, segment.inside)
        found = counts.filter((pl.min_horizontal("here", "there") > 0) & (pl.col("common") == 0))
        n_values = pl.col("there").cast(pl.Int64).alias("rows")
        named = found.select(n_values, lists="such_here", truth="such_there")
        yield Found("truth", named, ("lists", "truth"))


@check(
    "warning",
    "each part is a list of its own, with ranks made from the scores within it",
    text(
        "give a property of items as a column of ",
        bind(items="items"),
        ": ranks are then those of whole lists",
    ),
    of_all=True,
)
def by_of_items_on_rows(data: Audited) -> Iterator[Found]:
    """Lists with scores that a column of `by` on the rows cuts, though it says the same of an item in all rows."""
    for segment in _of_rows(data) if data.inputs.scored else ():
        value = pl.col(segment.inside)
        frames = [rows for name, rows in data.pairs.items() if name in {data.main, "truth"}]
        rows = pl.concat([one.select("user", "item", value).drop_nulls() for one in frames])
        items = rows.group_by("item").agg(values=value.n_unique(), rows=pl.len())
        of_items = items.select(
            of_items=(pl.col("values").max() == 1)
            & (pl.col("rows").sum() >= LEAST_REPEATED * pl.len())
        )
        lists = data.lists.group_by(*data.inputs.model, "user")
        cut = lists.agg(values=value.drop_nulls().n_unique(), rows=pl.len())
        cut = cut.filter(pl.col("values") > 1).select("user", "rows")
        found = cut.join(of_items.filter("of_items"), how="cross")
        named = found.select("user", pl.col("rows").cast(pl.Int64), column=pl.lit(segment.name))
        yield Found(data.main, named, ("user", "column"))
