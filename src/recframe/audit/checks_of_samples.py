"""Checks of how listed and relevant items were chosen: lists among all items or some, relevant rows beyond lists or not."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from recframe.audit.audited import Audited
from recframe.audit.listed_truth import NEARLY_ALL, listed_truth
from recframe.audit.rule import Found, check
from recframe.audit.words_of_checks import ROWS
from recframe.frames.hints import Either, bind, text
from recframe.frames.rows.joins import aggregate, joined

WHOLE = 0.99
"""The share of users whose relevant items are all listed from which on it is no accident."""
MORE_ITEMS = 3
"""In a ranking of all items that is nearly as long as the catalogue, lists of one length have all that is relevant too."""
MOST_UNEVEN = 0.5
"""The variance of how often items are listed, beyond that of draws, over the square of its mean: a model's is far higher."""
LEAST_LISTS, LEAST_LENGTH = 20, 5
SAME_LENGTH = 0.95
"""The share of lists of one length from which on it is no accident."""
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
    & (pl.col("n_lists") >= LEAST_LISTS)
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
