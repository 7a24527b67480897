"""Kinds of users, items and pairs, by their rows in train."""

from __future__ import annotations

import polars as pl

from recframe.frames.rows.joins import joined
from recframe.splits.fold_rows import PAIR, FoldRows, counts_of
from recframe.splits.rules import is_in

KINDS = {
    "user_kind": pl.Enum(["cold", "few", "warm"]),
    "item_kind": pl.Enum(["cold", "tail", "head"]),
    "pair_kind": pl.Enum(["repeat", "discovery"]),
}
HISTORIES = ("user_history", "item_history")
COLUMNS = (*HISTORIES, *KINDS)
"""The columns that `Split.truth` has beside those of the log."""
FEW = 5
"""The rows from which a user is warm."""
HEAD = (4, 5)
"""The share of the rows of train that the items of its head make up, as a fraction."""


def described(rows: FoldRows, *, users: bool = True) -> pl.LazyFrame:
    """Return the rows of truth with `COLUMNS`, those of users if asked for, in the order of the log."""
    truth = rows.labels.by_fold[rows.fold].filter(is_in("truth"))
    truth = with_item_kinds(truth, item_kinds(rows))
    if users:
        counts = counts_of(rows.known_of_truth("user"))
        own = of_users(counts, rows.users.select("user"))
        truth = joined(truth, own, ["user"], in_order=True)
    asked = rows.truth.select(PAIR)
    known = rows.known_of_truth(*PAIR).select(PAIR).join(asked, on=PAIR, how="semi").unique()
    truth = joined(truth, known.with_columns(is_known=True), PAIR, in_order=True)
    kind = pl.when("is_known").then(of_kind("pair_kind", "repeat"))
    return truth.with_columns(pair_kind=kind.otherwise(of_kind("pair_kind", "discovery")))


def of_users(counts: pl.LazyFrame, users: pl.LazyFrame) -> pl.LazyFrame:
    """Return users with `user_history`, their rows that a model may read (`n` of counts), and `user_kind`."""
    counts = counts.rename({"n": "user_history"})
    n = pl.col("user_history")
    few = pl.when(n < FEW).then(of_kind("user_kind", "few"))
    known = few.otherwise(of_kind("user_kind", "warm"))
    kind = pl.when(n == 0).then(of_kind("user_kind", "cold")).otherwise(known)
    return joined(users, counts, ["user"]).with_columns(n.fill_null(0)).with_columns(user_kind=kind)


def item_kinds(rows: FoldRows) -> pl.LazyFrame:
    """Return the items of train with `item_history`, their rows in it, and `item_kind`.

    An item is in the head if those of more rows make up less than 80 % of the rows; so items of as many rows are alike.
    """
    n = pl.col("item_history")
    counts = rows.items.rename({"n": "item_history"})
    alike = counts.group_by(n).agg(rows=n.sum()).sort(n, descending=True)
    before = pl.col("rows").cum_sum() - pl.col("rows")
    above, below = HEAD
    lowest = alike.filter(before * below < pl.col("rows").sum() * above).select(lowest=n.min())
    is_head = n >= pl.col("lowest")
    kind = pl.when(is_head).then(of_kind("item_kind", "head"))
    kinds = counts.join(lowest, how="cross")
    return kinds.select("item", n, item_kind=kind.otherwise(of_kind("item_kind", "tail")))


def with_item_kinds(frame: pl.LazyFrame, kinds: pl.LazyFrame, *keys: str) -> pl.LazyFrame:
    """Return rows with the columns of `item_kinds`, 0 and cold of items that train does not have."""
    found = joined(frame, kinds, [*keys, "item"], in_order=True)
    kind = pl.col("item_kind").fill_null(of_kind("item_kind", "cold"))
    return found.with_columns(pl.col("item_history").fill_null(0), item_kind=kind)


def of_kind(column: str, kind: str) -> pl.Expr:
    """Return a kind as a value of its column."""
    return pl.lit(kind, dtype=KINDS[column])
