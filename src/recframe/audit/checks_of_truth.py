"""Checks of the truth, and of samples of items."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import polars as pl

from recframe.audit.data import ROWS, Audited, Found, check, is_float, relevance
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


@check("warning", "the row is ignored", "drop the row, or give it a relevance")
def null_relevance(data: Audited) -> Iterator[Found]:
    """Truth without a relevance, which is null or NaN; in a judged frame that says that the item was not judged."""
    if not data.is_judged:
        name, rows = data.judging
        yield Found(name, rows.filter(relevance.is_null()))


@check("error", "a metric raises", "replace it with the highest grade")
def infinite_relevance(data: Audited) -> Iterator[Found]:
    """Infinite relevances."""
    name, rows = data.judging
    if is_float(rows, "relevance"):
        yield Found(name, data.judged_pairs.filter(relevance == math.inf))


@check(
    "info",
    "the item is judged, and not relevant",
    "nothing, if the lower the worse; else move the grades above 0",
)
def negative_relevance(data: Audited) -> Iterator[Found]:
    """Relevances below 0."""
    name, rows = data.judging
    if rows.collect_schema()["relevance"].is_numeric():
        yield Found(name, data.judged_pairs.filter(relevance < 0), ("user", "item", "relevance"))


@check(
    "warning",
    "every value above 0 is relevant, with itself as gain",
    text("give grades, or a threshold: ", bind(min_relevance="...")),
    of_all=True,
)
def relevance_like_scores(data: Audited) -> Iterator[Found]:
    """Relevances none of which is a whole number, as a model's scores are."""
    name, rows = data.judging
    if is_float(rows, "relevance"):
        fractions = data.truth.filter((relevance != relevance.floor()).all())
        yield Found(name, fractions, ("user", "item", "relevance"))


def _unbound(
    data: Audited, may_be: Callable[[pl.Series], bool]
) -> Iterator[tuple[str, pl.LazyFrame]]:
    """Give the columns that nothing is bound to, of a truth whose rows all count: user and value.

    Eager ones that are others are left out, but of a bucket of users, since the values of all tell.
    """
    asks = data.inputs.tables is None
    truth = truth_without_relevance(data.inputs)
    if truth is None:
        return
    for one in unbound_columns(data.inputs, truth):
        taken = truth.take(["user"], [replace(one, inside="value")])
        here = at_hand(taken) if asks else None
        if here is None or may_be(here["value"]):
            rows = taken.lazy().drop_nulls("value")
            yield one.name, rows.with_columns(pl.col("value").cast(pl.Float64))


def _of_column(
    name: str, rows: pl.LazyFrame, meant: pl.Expr, needed: pl.Expr, against: pl.Expr
) -> Found:
    """Return the finding of a column some of whose rows may be meant to count for less."""
    users = pl.col("user").filter(meant).drop_nulls().n_unique()
    counts = rows.select(
        rows=meant.sum(), concerned_users=users, needed=needed, against=against.sum()
    )
    return Found(
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
def unbound_two_values(data: Audited) -> Iterator[Found]:
    """Columns of 0 and 1, or False and True, in a truth of which nobody said what is relevant; the rows are those of 0."""
    for name, rows in _unbound(data, are_two_values):
        zero, one = (pl.col("value") == number for number in (0, 1))
        yield _of_column(name, rows, zero, needed=one.sum(), against=~(zero | one))


@check(
    "warning",
    "each row of the truth counts as relevant",
    text(bind(relevance="..."), ", or ", EACH_ROW, " if each row counts"),
)
def unbound_grades(data: Audited) -> Iterator[Found]:
    """Columns called as grades are, with numbers that may be some, in a truth of which nobody said what is relevant."""
    for name, rows in _unbound(data, may_be_grades):
        if is_called_as_grades(name):
            value = pl.col("value")
            several = (value.max() > value.min()) & ~value.is_in([0.0, 1.0]).all()
            far = value.abs() > FURTHEST
            yield _of_column(name, rows, ~far, needed=several, against=far)


@check(
    "warning",
    "no row is relevant",
    text("give a level that some rows reach: ", bind(min_relevance="...")),
)
def unreached_min_relevance(data: Audited) -> Iterator[Found]:
    """Truth of which no relevance is as high as `min_relevance=`; the example is the highest."""
    if data.context.min_relevance not in {None, "any"}:
        users = pl.col("user").n_unique()
        counts = data.truth.select(
            relevance.max(), rows=pl.len(), concerned_users=users, against=data.relevant.sum()
        )
        yield Found(data.judging[0], counts, ("relevance",))


def _same_pair(data: Audited) -> pl.LazyFrame:
    """Return the pairs of the lists' frame that stand there twice, with what their rows say."""
    judged = relevance.is_not_null() if data.is_judged else pl.lit(value=False)
    rows = data.same_pairs.with_columns(is_ranked=data.ranked, is_judged=judged)
    grades = (
        [relevance.min().alias("lowest"), relevance.max().alias("highest")]
        if data.is_judged
        else []
    )
    both = pl.col("is_ranked") & pl.col("is_judged")
    counts = {
        "ranked": pl.col("is_ranked").sum(),
        "judged": pl.col("is_judged").sum(),
        "both": both.sum(),
    }
    return rows.group_by(*data.keys, "item").agg(
        ROWS, *(count.alias(name) for name, count in counts.items()), *grades
    )


@check(
    "error",
    "the item counts once, at its best rank",
    text(
        "keep one row for each user and item; ", bind(model="..."), ", if several systems have it"
    ),
)
def duplicate_items(data: Audited) -> Iterator[Found]:
    """Items that stand twice in one list."""
    twice = _same_pair(data).filter(pl.col("ranked") > 1)
    yield Found(data.main, twice, ("user", "item", "rows"))


@check(
    "error",
    "the ranked row is not relevant, and the relevant row has no rank",
    text("join the two frames, or give ", bind(truth="...")),
)
def split_pairs(data: Audited) -> Iterator[Found]:
    """Pairs of a judged frame whose rank stands in one row and whose relevance in another."""
    if data.is_judged:
        split = (pl.col("ranked") > 0) & (pl.col("judged") > 0) & (pl.col("both") == 0)
        yield Found(data.main, _same_pair(data).filter(split), ("user", "item", "rows"))


@check(
    "warning",
    "the pair counts once",
    text("keep one row for each user and item", Either(": truth.unique(['user', 'item'])")),
)
def duplicate_truth(data: Audited) -> Iterator[Found]:
    """Pairs that are judged twice, with the same relevance."""
    if data.is_judged:
        pairs = _same_pair(data)
        twice = (pl.col("judged") > 1) & (pl.col("ranked") < 2)  # noqa: PLR2004  two ranked rows are a duplicate item
    else:
        pairs, twice = data.same_judged_pairs, pl.lit(value=True)
    same = pairs.filter(twice & (pl.col("lowest") == pl.col("highest")))
    yield Found(data.judging[0], same, ("user", "item", "rows"))


@check(
    "error",
    "the pair counts once, at its highest relevance",
    "decide which relevance holds, and keep one row",
)
def conflicting_truth(data: Audited) -> Iterator[Found]:
    """Pairs that are judged twice, with different relevances."""
    found = data.same_judged_pairs.filter(pl.col("lowest") != pl.col("highest"))
    yield Found(data.judging[0], found, ("user", "item", "lowest", "highest"))


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
    "what was not recommended is unknown, so recall, map and ndcg speak of the list alone",
    text(
        "give all of the truth, or say that lists are all that is known: ",
        bind(relevant_from="'list'"),
    ),
    of_all=True,
)
def no_relevant_beyond_lists(data: Audited) -> Iterator[Found]:
    """A truth whose relevant rows are all in lists, which are neither of nearly all items nor sampled."""
    users = data.judged_users.filter(pl.col("relevant") > 0)
    if data.context.relevant_from == "list" or data.inputs.inside("truth"):
        return
    if data.is_judged:
        beyond = pl.col("beyond").sum()
        users = users.filter((beyond.over(data.parts) if data.parts else beyond) == 0)
    else:
        users = users.join(listed_truth(data.inputs), how="cross")
    yield Found(data.judging[0], users.select("user", rows="relevant"), ("user", "rows"))


@check(
    "warning",
    "metrics are those among the listed items, often many times those among all, and may order models otherwise",
    text(
        "rank all items; or estimate what such lists tell of that: ",
        Either(
            "rf.corrected(metric='ndcg', n_items=..., n_negatives=...) @ 10",
            "-m 'corrected(metric=ndcg,n_items=...,n_negatives=...)@10'",
        ),
    ),
    of_all=True,
)
def sampled_lists(data: Audited) -> Iterator[Found]:
    """Lists of one length, each with all relevant items of its user, who has as many as others, among evenly drawn items."""
    if (data.is_judged and data.inputs.model) or data.inputs.inside("truth"):
        return
    pair, groups = [*data.parts, "user", "item"], [*data.parts, *data.inputs.model]
    if data.is_judged:
        rows = data.lists.with_columns(hit=data.relevant.fill_null(value=False))
    else:
        relevant = data.truth.filter(data.relevant).select(pair).unique()
        rows = data.lists.join(
            relevant.with_columns(hit=pl.lit(value=True)), on=pair, how="left", nulls_equal=True
        ).with_columns(pl.col("hit").fill_null(value=False))
    lists = rows.group_by(data.keys).agg(ROWS, hits=pl.col("hit").sum())
    users = data.judged_users.filter(pl.col("relevant") > 0).select(*pair[:-1], "relevant")
    lists = lists.join(users, on=pair[:-1], how="left", nulls_equal=True)
    # hits are popular items, of sampled lists too
    items = rows.filter(~pl.col("hit")).group_by(*groups, "item").agg(lists=pl.len())
    of_lists, of_items = aggregate(lists, groups, _OF_LISTS), aggregate(items, groups, _OF_ITEMS)
    sampled = joined(of_lists, of_items, groups).filter(ARE_SAMPLED)
    found = joined(lists.select(*groups, "user", "rows"), sampled, groups, how="inner")
    yield Found(data.main, found, ("user", "rows"))
