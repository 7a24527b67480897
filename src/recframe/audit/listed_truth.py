"""A truth all of whose relevant rows are in the lists: joined with them, or drawn into them."""

from __future__ import annotations

import polars as pl

from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import beside_one_another
from recframe.judging.relevance import is_rank, is_relevant_row

LEAST_USERS = 10
"""With fewer users all that is relevant may be listed by chance."""
NEARLY_ALL = 0.95
"""The share of lists of one length, and of users with one number of relevant items, that a fixed draw of items has."""
OF_ALL_ITEMS = 0.8
"""A list with so large a share of the truth's items is one of all items but those of the user's history."""


def listed_truth(inputs: Inputs, users: pl.Series | None = None) -> pl.LazyFrame:
    """Return one row, `users` and `rows`, where lists have every relevant row of a truth; none where that may be meant.

    It is meant of lists of nearly all items, and of sampled ones: all of one length, with one number of relevant items. Of
    some users, where these are given.
    """
    pair = [*inputs.inside("row"), "user", "item"]
    truth = inputs.counted("truth").filter(is_relevant_row(inputs)).select(pair).unique()
    lists = ranked(inputs)
    if users is not None:
        truth, lists = (one.filter(pl.col("user").is_in(users.implode())) for one in (truth, lists))
    return _listed(truth, lists, [*inputs.model, *pair[:-1]])


def ranked(inputs: Inputs) -> pl.LazyFrame:
    """Return the rows of the lists that have a rank or a score."""
    rows = inputs.identified("recommendations")
    if inputs.scored:
        return rows
    return rows.filter(is_rank(pl.col("rank"), inputs.schema["rank"]))


def _listed(truth: pl.LazyFrame, lists: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Return the finding of relevant pairs and the rows of lists with these keys."""
    n, user = pl.len(), pl.col("user")
    users = [key for key in keys if key != "model"]
    missing = truth.join(lists, on=[*users, "item"], how="anti", nulls_equal=True)
    items = truth.select("item").unique()
    known = lists.join(items, on="item", how="semi")
    shares = known.group_by(keys).agg(known=pl.col("item").n_unique())
    relevant = truth.group_by(users).agg(relevant=n)
    lengths = lists.group_by(keys).agg(length=n)
    lengths = lengths.join(relevant, on=users, how="left", nulls_equal=True)
    counts = [
        truth.select(users=user.n_unique(), rows=n),
        missing.select(missing=n),
        items.select(items=n),
        shares.select(known=pl.col("known").median()),
        lengths.select(is_drawn=_are_drawn().fill_null(value=False)),
    ]
    return (
        beside_one_another(counts)
        .filter(
            (pl.col("missing") == 0)
            & (pl.col("users") >= LEAST_USERS)
            & (pl.col("known") < OF_ALL_ITEMS * pl.col("items"))
            & ~pl.col("is_drawn")
        )
        .select("users", "rows")
    )


def _are_drawn() -> pl.Expr:
    """Return whether lists have one length and one number of relevant items, as those of a fixed number of drawn items."""
    length, relevant = pl.col("length"), pl.col("relevant")
    return (
        (relevant.is_not_null().mean() >= NEARLY_ALL)
        & ((length == length.median()).mean() >= NEARLY_ALL)
        & ((relevant == relevant.median()).mean() >= NEARLY_ALL)
    )
