"""Checks of lists and users: how long, how many, and who is in one but not in the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from recframe.audit.audited import Audited
from recframe.audit.rule import Found, check
from recframe.audit.words_of_checks import (
    EMPTY,
    LISTED_AND_JUDGED,
    ROWS,
)
from recframe.frames.hints import Either, bind, text


@check(
    "warning",
    "precision divides by k all the same",
    "recommend k items, or ask precision(denominator='list')",
)
def short_lists(data: Audited) -> Iterator[Found]:
    """Lists with fewer than k rows."""
    if data.k is not None:
        yield Found(data.main, data.lengths.filter(pl.col("rows") < data.k), ("user", "rows"))


@check(
    "info",
    "without a cut-off precision divides by each list's own length",
    "ask with a k that all lists reach",
    of_all=True,
)
def uneven_lists(data: Audited) -> Iterator[Found]:
    """Lists that are shorter than the longest one."""
    if data.k is None:
        longest = pl.col("rows").max()
        lists = data.lengths.with_columns(
            longest=longest.over(data.parts) if data.parts else longest
        )
        shorter = lists.filter(pl.col("rows") < pl.col("longest"))
        yield Found(data.main, shorter, ("user", "rows", "longest"))


@check(
    "info",
    "the user is left out",
    text("nothing, if the truth is meant to say who counts; else ", bind(universe="'all'")),
)
def users_without_truth(data: Audited) -> Iterator[Found]:
    """Users who have a list and no judged row."""
    on = [*data.parts, "user"]
    rows = data.lengths.join(data.judged_users, on=on, how="anti", nulls_equal=True)
    counts = (data.context.universe or ("rows" if data.is_judged else "truth")) in {
        "rows",
        "recs",
        "all",
    }
    if counts:
        said = EMPTY[data.context.no_relevant]
        yield Found(data.main, rows, ("user",), "warning", said, LISTED_AND_JUDGED)
    else:
        yield Found(data.main, rows, ("user",))


@check("warning", "the user counts, with 0", text("recommend to all, or ", LISTED_AND_JUDGED))
def users_without_lists(data: Audited) -> Iterator[Found]:
    """Users, of each model, who have a judged row and no list."""
    users = data.judged_users
    if data.inputs.model:
        users = users.join(data.models(), how="cross")
    rows = users.join(data.lengths, on=data.keys, how="anti", nulls_equal=bool(data.parts))
    shown = [*data.inputs.model, "user"]
    if data.context.universe in {"recs", "both"}:
        yield Found(
            data.judging[0],
            rows,
            shown,
            "info",
            "the user is left out",
            "nothing, if that is meant",
        )
    else:
        yield Found(data.judging[0], rows, shown)


@check("info", "the user counts, with 0", text("leave the user out: ", bind(no_relevant="'skip'")))
def users_without_relevant(data: Audited) -> Iterator[Found]:
    """Users with judged rows, none of which is relevant."""
    said = EMPTY[data.context.no_relevant]
    without = data.judged_users.filter(pl.col("relevant") == 0)
    yield Found(data.judging[0], without, ("user", "rows"), treatment=said)


@check(
    "error",
    "a metric raises",
    text(
        Either("by=", "--by"),
        " takes properties of the user; ",
        bind(model="..."),
        " compares systems",
    ),
)
def users_in_two_segments(data: Audited) -> Iterator[Found]:
    """Users with two values of a column of `by`."""
    # ranks from scores are made within a part
    nothing = f"nothing, if {'rows have parts, such as weeks' if data.inputs.scored else 'the column describes items'}"
    for segment in data.inputs.segments:
        if segment.owner not in {"recommendations", "row"}:
            continue
        frame = data.inputs.counted("recommendations")
        values = frame.select("user", segment.inside).drop_nulls()
        values = values.group_by("user", segment.inside).agg(ROWS)
        users = values.group_by("user").agg(pl.col("rows").sum(), values=pl.len())
        users = users.filter(pl.col("values") > 1)
        found = Found(
            data.main if segment.owner == "row" else segment.owner, users, ("user", "values")
        )
        if segment.owner == "row":
            said = f"the user counts for each value of {segment.name!r}, with its own rows"
            found = replace(
                found,
                severity="info",
                treatment=said,
                remedy=nothing,
            )
        yield found


@check(
    "error",
    "the user counts in two segments, the value's and that of null, each with its own rows",
    text(
        "fill the column in on all rows of the user, or give it as a column of ", bind(users="...")
    ),
    of_all=True,
)
def users_in_two_halves(data: Audited) -> Iterator[Found]:
    """Users with a value of a column of `by` on some rows of a judged frame and null on others, where nobody has two values."""
    for segment in data.inputs.segments:
        if data.is_judged and segment.owner == "row":
            rows = data.pairs_of_lists.filter(pl.col(segment.inside).is_null())
            rows = rows.join(data.inputs.in_two_halves(segment), on="user", how="semi")
            users = rows.group_by("user").agg(ROWS).with_columns(column=pl.lit(segment.name))
            yield Found(data.main, users, ("user", "column", "rows"))
