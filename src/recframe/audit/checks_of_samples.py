"""Checks of how listed and relevant items were chosen: lists among all items or some, relevant rows beyond lists or not."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from recframe.audit.audited import Audited
from recframe.audit.listed_truth import NEARLY_ALL, listed_truth
from recframe.audit.rule import Found, check
from recframe.frames.hints import Either, bind, text

WHOLE = 0.99
"""The share of users whose relevant items are all listed from which on it is no accident."""
MORE_ITEMS = 3
"""In a ranking of all items that is nearly as long as the catalogue, lists of one length have all that is relevant too."""
MOST_UNEVEN = 0.5
"""The variance of how often items are listed, beyond that of draws, over the square of its mean: a model's is far higher."""
LEAST_LISTS, LEAST_LENGTH = 20, 5
SAME_LENGTH = 0.95
"""The share of lists of one length from which on it is no accident."""
SOME_USERS = 1_000
"""So many users tell as much of how items were chosen as all do, in a fraction of the time."""
ALL = pl.lit(0).alias("all lists")


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
    if not (data.is_judged and data.inputs.model) and not data.inputs.inside("truth"):
        listed = _rows(data)
        verdicts = _even_lists(data).join(_items(data, listed), on=_groups(data), nulls_equal=True)
        few = pl.col("length") * MORE_ITEMS <= pl.col("items")
        verdicts = verdicts.join(_found(data, listed), on=_groups(data), nulls_equal=True)
        sampled = verdicts.filter(
            few & (pl.col("uneven") <= MOST_UNEVEN) & (pl.col("whole") >= WHOLE)
        )
        lengths = data.lengths.with_columns(ALL)
        rows = lengths.join(sampled, on=_groups(data), how="semi", nulls_equal=True)
        yield Found(data.main, rows, ("user", "rows"))


def _groups(data: Audited) -> list[str]:
    return [*data.parts, *data.inputs.model, "all lists"]


def _even_lists(data: Audited) -> pl.LazyFrame:
    """Return the models nearly all of whose lists have one length, and that length."""
    lists, most = data.lengths.with_columns(ALL), pl.col("lists").max()
    counts = lists.group_by(*_groups(data), "rows").agg(lists=pl.len().cast(pl.Float64))
    models = counts.group_by(_groups(data)).agg(
        same=most / pl.col("lists").sum(),
        n_lists=pl.col("lists").sum(),
        length=pl.col("rows").filter(pl.col("lists") == most).max(),
    )
    return models.filter(
        (pl.col("same") >= SAME_LENGTH)
        & (pl.col("n_lists") >= LEAST_LISTS)
        & (pl.col("length") >= LEAST_LENGTH)
    )


def _rows(data: Audited) -> pl.LazyFrame:
    """Return the rows of the lists of some users, each with whether it is a hit."""
    users = data.lengths.select("user").unique().sort("user").head(SOME_USERS)
    rows = data.lists.join(users, on="user", how="semi")
    if data.is_judged:
        return rows.with_columns(hit=data.relevant.fill_null(value=False))
    pair = [*data.parts, "user", "item"]
    relevant = data.truth.filter(data.relevant).join(users, on="user", how="semi")
    relevant = relevant.select(pair).unique().with_columns(hit=pl.lit(value=True))
    rows = rows.join(relevant, on=pair, how="left", nulls_equal=bool(data.parts))
    return rows.with_columns(pl.col("hit").fill_null(value=False))


def _items(data: Audited, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return how many items a model's lists have that are no hits, and how unevenly those are listed.

    NOTE: hits are popular items, of sampled lists too.
    """
    by_item = rows.filter(~pl.col("hit")).group_by(*data.parts, *data.inputs.model, "item")
    items = by_item.agg(lists=pl.len().cast(pl.Float64)).with_columns(ALL)
    lists = pl.col("lists")
    return items.group_by(_groups(data)).agg(
        items=pl.len(), uneven=(lists.var(ddof=0) - lists.mean()) / lists.mean() ** 2
    )


def _found(data: Audited, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return of a model's lists the share of those that have all relevant items of their user, where all have as many."""
    found = rows.group_by(data.keys).agg(hits=pl.col("hit").sum())
    keys, relevant = [*data.parts, "user"], pl.col("relevant")
    users = data.judged_users.filter(relevant > 0).select(*keys, "relevant")
    lists = found.join(users, on=keys, how="left", nulls_equal=bool(data.parts))
    groups = lists.with_columns(ALL).group_by(_groups(data))
    shares = groups.agg(
        whole=(pl.col("hits") >= relevant).fill_null(value=False).mean(),
        as_many=(relevant == relevant.median()).fill_null(value=False).mean(),
    )
    return shares.filter(pl.col("as_many") >= NEARLY_ALL)
