"""Checks of the truth: its relevance, and pairs that stand twice."""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

from recframe.audit.audited import Audited
from recframe.audit.rule import Found, check
from recframe.audit.words_of_checks import (
    ROWS,
    is_float,
    relevance,
)
from recframe.frames.hints import Either, bind, text
from recframe.judging.judged_frame import PAIR


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


@check(
    "warning",
    "what was not recommended is unknown, so recall, map and ndcg speak of the list alone",
    "join all of the truth",
    of_all=True,
)
def no_relevant_beyond_lists(data: Audited) -> Iterator[Found]:
    """A judged frame whose relevant rows all stand in lists."""
    if data.is_judged and data.context.relevant_from == "truth":
        users = data.judged_users.filter(pl.col("beyond").sum() == 0).filter(pl.col("relevant") > 0)
        yield Found(data.main, users.select("user", rows="relevant"), ("user", "rows"))


def _same_pair(data: Audited) -> pl.LazyFrame | None:
    """Return the pairs of the lists' frame that stand there twice, with what their rows say."""
    keys = [*data.inputs.model, *PAIR]
    rows = data.repeated("pair", data.pairs_of_lists, keys)
    if rows is None:
        return None
    judged = relevance.is_not_null() if data.is_judged else pl.lit(value=False)
    rows = rows.with_columns(is_ranked=data.ranked, is_judged=judged)
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
    return rows.group_by(keys).agg(
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
    pairs = _same_pair(data)
    if pairs is not None:
        yield Found(data.main, pairs.filter(pl.col("ranked") > 1), ("user", "item", "rows"))


@check(
    "error",
    "the ranked row is not relevant, and the relevant row has no rank",
    text("join the two frames, or give ", bind(truth="...")),
)
def split_pairs(data: Audited) -> Iterator[Found]:
    """Pairs of a judged frame whose rank stands in one row and whose relevance in another."""
    pairs = _same_pair(data) if data.is_judged else None
    if pairs is not None:
        split = (pl.col("ranked") > 0) & (pl.col("judged") > 0) & (pl.col("both") == 0)
        yield Found(data.main, pairs.filter(split), ("user", "item", "rows"))


def _judged_twice(data: Audited) -> pl.LazyFrame | None:
    """Return the pairs with several judged rows, whatever model they stand with, and their lowest and highest relevance."""
    rows = data.repeated(data.same_truth, data.truth, PAIR)
    if rows is None:
        return None
    several = rows.group_by(PAIR).agg(ROWS, lowest=relevance.min(), highest=relevance.max())
    return several.filter(pl.col("rows") > 1)


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
        pairs, twice = _judged_twice(data), pl.lit(value=True)
    if pairs is not None:
        same = pairs.filter(twice & (pl.col("lowest") == pl.col("highest")))
        yield Found(data.judging[0], same, ("user", "item", "rows"))


@check(
    "error",
    "the pair counts once, at its highest relevance",
    "decide which relevance holds, and keep one row",
)
def conflicting_truth(data: Audited) -> Iterator[Found]:
    """Pairs that are judged twice, with different relevances."""
    pairs = _judged_twice(data)
    if pairs is not None:
        found = pairs.filter(pl.col("lowest") != pl.col("highest"))
        yield Found(data.judging[0], found, ("user", "item", "lowest", "highest"))
