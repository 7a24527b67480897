"""Checks of the truth: its relevance, and pairs that stand twice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import polars as pl

from recframe.audit.audited import Audited
from recframe.audit.rule import Found, check
from recframe.audit.unbound_columns import (
    FURTHEST,
    are_two_values,
    is_called_as_grades,
    may_be_grades,
    truth_without_relevance,
    unbound_columns,
)
from recframe.audit.words_of_checks import (
    ROWS,
    is_float,
    relevance,
)
from recframe.frames.at_hand import at_hand
from recframe.frames.hints import Either, bind, text

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
