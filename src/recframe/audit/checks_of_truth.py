"""Checks of the truth, and of samples of items."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import polars as pl

from recframe.audit.checks import Finding, Findings, check
from recframe.audit.data import ROWS, Data, relevance, value
from recframe.audit.suspects import (
    FURTHEST,
    NEARLY_ALL,
    are_two_values,
    is_called_as_grades,
    listed_truth,
    may_be_grades,
    truth_without_relevance,
    unbound_columns,
)
from recframe.frames.eager_data import at_hand
from recframe.frames.hints import Either, bind, text
from recframe.frames.rows.joins import aggregate, joined

EACH_ROW = bind(relevance="False")


@check("warning", "the row is ignored", "drop the row, or give it a relevance", needs=("truth",))
def null_relevance(data: Data) -> Findings:
    """Rows of the truth whose relevance is null or NaN."""
    yield Finding("truth", data.pairs["truth"].filter(relevance.is_null()))


@check("error", "a metric raises", "replace it with the highest grade")
def infinite_relevance(data: Data) -> Findings:
    """Infinite relevances."""
    if data.relevance_dtype.is_float():
        yield Finding(data.judging, data.judged_pairs.filter(relevance == math.inf))


@check(
    "info",
    "the item is judged, and not relevant",
    "nothing, if negative means disliked; else shift the grades above 0",
)
def negative_relevance(data: Data) -> Findings:
    """Relevances below 0."""
    if data.relevance_dtype.is_numeric():
        rows = data.judged_pairs.filter(relevance < 0)
        yield Finding(data.judging, rows, ("user", "item", "relevance"))


def _unbound(data: Data, may_be: Callable[[pl.Series], bool]) -> Iterator[tuple[str, pl.LazyFrame]]:
    """Give the columns that nothing is bound to, of a truth whose rows all count: user and value.

    Eager ones that are others are left out, but of a bucket of users, since the values of all tell.
    """
    truth = truth_without_relevance(data.inputs)
    if truth is None:
        return
    for unbound_column in unbound_columns(data.inputs, truth):
        taken = truth.take(["user"], [replace(unbound_column, inside="value")])
        here = at_hand(taken) if data.inputs.tables is None else None
        if here is None or may_be(here["value"]):
            yield (
                unbound_column.name,
                taken.lazy().drop_nulls("value").with_columns(value.cast(pl.Float64)),
            )


def _of_column(
    name: str, rows: pl.LazyFrame, meant: pl.Expr, needed: pl.Expr, against: pl.Expr
) -> Finding:
    """Return the finding of a column some of whose rows may be meant to count for less."""
    users = pl.col("user").filter(meant).drop_nulls().n_unique()
    counts = rows.select(
        rows=meant.sum(), concerned_users=users, needed=needed, against=against.sum()
    )
    return Finding(
        "truth",
        counts,
        f"column {name!r}",
        remedy=text(bind(relevance=repr(name)), ", or ", EACH_ROW, " if each row counts"),
    )


@check(
    "warning",
    "each row of the truth counts as relevant",
    text(bind(relevance="..."), ", or ", EACH_ROW, " if each row counts"),
)
def unbound_two_values(data: Data) -> Findings:
    """Columns of 0 and 1, or Booleans, in a truth without a bound relevance; `rows` counts the zeros."""
    for name, rows in _unbound(data, are_two_values):
        zero, one = value == 0, value == 1
        yield _of_column(name, rows, zero, needed=one.sum(), against=~(zero | one))


@check(
    "warning",
    "each row of the truth counts as relevant",
    text(bind(relevance="..."), ", or ", EACH_ROW, " if each row counts"),
)
def unbound_grades(data: Data) -> Findings:
    """Columns with a name and numbers of grades, in a truth without a bound relevance."""
    for name, rows in _unbound(data, may_be_grades):
        if is_called_as_grades(name):
            several = (value.max() > value.min()) & ~value.is_in([0.0, 1.0]).all()
            far = value.abs() > FURTHEST
            yield _of_column(name, rows, ~far, needed=several, against=far)


@check(
    "warning",
    "no row is relevant",
    text("give a level that some rows reach: ", bind(min_relevance="...")),
    needs=("level",),
)
def unreached_min_relevance(data: Data) -> Findings:
    """A truth in which no relevance reaches `min_relevance=`; the example is the highest."""
    users = pl.col("user").n_unique()
    counts = data.truth.select(
        relevance.max(), rows=pl.len(), concerned_users=users, against=data.relevant.sum()
    )
    yield Finding(data.judging, counts, ("relevance",))


def _same_pair(data: Data) -> pl.LazyFrame:
    """Return the pairs of the lists' frame that stand there twice, with what their rows say."""
    is_ranked, is_judged = pl.col("is_ranked"), pl.col("is_judged")
    counts, judged = [ROWS], pl.lit(value=False)
    if data.is_judged:
        judged = relevance.is_not_null()
        counts += [relevance.min().alias("lowest"), relevance.max().alias("highest")]
    rows = data.same_pairs.with_columns(is_ranked=data.ranked, is_judged=judged)
    return rows.group_by(*data.keys, "item").agg(
        *counts,
        ranked=is_ranked.sum(),
        judged=is_judged.sum(),
    )


@check(
    "error",
    "the item counts once, at its best rank",
    text(
        "keep one row for each user and item; ", bind(model="..."), ", if several systems have it"
    ),
)
def duplicate_items(data: Data) -> Findings:
    """Items that are twice in one list."""
    twice = _same_pair(data).filter(pl.col("ranked") > 1)
    yield Finding(data.main, twice, ("user", "item", "rows"))


@check(
    "warning",
    "the pair counts once",
    text("keep one row for each user and item", Either(": truth.unique(['user', 'item'])")),
)
def duplicate_truth(data: Data) -> Findings:
    """Pairs judged twice with the same relevance."""
    same = pl.col("lowest") == pl.col("highest")
    if data.is_judged:
        pairs = _same_pair(data)
        same &= (pl.col("judged") > 1) & (pl.col("ranked") < 2)  # noqa: PLR2004  two ranked rows are a duplicate item
    else:
        pairs = data.same_judged_pairs
    yield Finding(data.judging, pairs.filter(same), ("user", "item", "rows"))


@check(
    "error",
    "the pair counts once, at its highest relevance",
    "keep the row with the right relevance",
)
def conflicting_truth(data: Data) -> Findings:
    """Pairs judged twice with different relevances."""
    found = data.same_judged_pairs.filter(pl.col("lowest") != pl.col("highest"))
    yield Finding(data.judging, found, ("user", "item", "lowest", "highest"))


WHOLE = 0.99
"""Share of users with all relevant items listed from which it is no accident."""
MORE_ITEMS = 3
"""Least ratio of catalogue size to list length: in nearly full rankings every relevant item is listed anyway."""
MOST_UNEVEN = 0.5
"""The variance of how often items are listed, beyond that of draws, over the square of its mean: a model's is far higher."""
LEAST_SAMPLED_LISTS, LEAST_LENGTH = 20, 5
SAME_LENGTH = 0.95
"""Share of lists of one length from which it is no accident."""
_ROWS, _HITS, _RELEVANT, _LISTS = (pl.col(name) for name in ("rows", "hits", "relevant", "lists"))
_OF_LISTS = [
    _ROWS.median().alias("length"),
    pl.len().alias("n_lists"),
    (_ROWS.median() == _ROWS).mean().alias("same"),
    (_HITS >= _RELEVANT).fill_null(value=False).mean().alias("whole"),
    (_RELEVANT.median() == _RELEVANT).fill_null(value=False).mean().alias("as_many"),
]
_OF_ITEMS = [
    pl.len().alias("items"),
    ((_LISTS.var(ddof=0) - _LISTS.mean()) / _LISTS.mean() ** 2).alias("uneven"),
]
ARE_SAMPLED = (
    (pl.col("same") >= SAME_LENGTH)
    & (pl.col("n_lists") >= LEAST_SAMPLED_LISTS)
    & (pl.col("length") >= LEAST_LENGTH)
    & (pl.col("length") * MORE_ITEMS <= pl.col("items"))
    & (pl.col("uneven") <= MOST_UNEVEN)
    & (pl.col("whole") >= WHOLE)
    & (pl.col("as_many") >= NEARLY_ALL)
)
"""Whether lists have one length and all relevant items, whose number is one, among evenly drawn items."""


@check(
    "warning",
    "relevant items that were not recommended are missing, so recall, map and ndcg describe the lists alone",
    text(
        "give the whole truth, or say that only listed items are known: ",
        bind(relevant_from="'list'"),
    ),
    needs=("all users",),
)
def no_relevant_beyond_lists(data: Data) -> Findings:
    """A truth whose relevant items are all listed, though the lists are neither nearly complete nor sampled."""
    users = data.judged_users.filter(pl.col("relevant") > 0)
    if data.context.relevant_from == "list" or data.inputs.inside("truth"):
        return
    if data.is_judged:
        beyond = pl.col("beyond").sum()
        users = users.filter((beyond.over(data.parts) if data.parts else beyond) == 0)
    else:
        users = users.join(listed_truth(data.inputs), how="cross")
    yield Finding(data.judging, users.select("user", rows="relevant"), ("user", "rows"))


@check(
    "warning",
    "metrics compare sampled items alone: they are often many times higher, and may order models differently",
    text(
        "rank all items, or estimate the metric of such a ranking: ",
        Either(
            "rf.corrected(metric='ndcg', n_items=..., n_negatives=...) @ 10",
            "-m 'corrected(metric=ndcg,n_items=...,n_negatives=...)@10'",
        ),
    ),
    needs=("all users",),
)
def sampled_lists(data: Data) -> Findings:
    """Lists that look like a user's relevant items among sampled ones."""
    if (data.is_judged and data.inputs.model) or data.inputs.inside("truth"):
        return
    pair, groups = [*data.parts, "user", "item"], [*data.parts, *data.inputs.model]
    if data.is_judged:
        rows = data.lists.with_columns(hit=data.relevant)
    else:
        relevant = data.relevant_rows.select(*pair, hit=pl.lit(value=True)).unique()
        rows = joined(data.lists, relevant, pair)
    rows = rows.with_columns(pl.col("hit").fill_null(value=False))
    lists = rows.group_by(data.keys).agg(ROWS, hits=pl.col("hit").sum())
    users = data.judged_users.filter(pl.col("relevant") > 0).select(*pair[:-1], "relevant")
    of_lists = aggregate(joined(lists, users, pair[:-1]), groups, _OF_LISTS)
    # hits are popular items, of sampled lists too
    items = rows.filter(~pl.col("hit")).group_by(*groups, "item").agg(lists=pl.len())
    sampled = joined(of_lists, aggregate(items, groups, _OF_ITEMS), groups).filter(ARE_SAMPLED)
    found = joined(lists.select(*groups, "user", "rows"), sampled, groups, how="inner")
    yield Finding(data.main, found, ("user", "rows"))
