"""Descriptions of a split in numbers, and of its truth by kinds."""

from __future__ import annotations

import polars as pl

from recframe.audit.split_rows import ENDS, KNOWN
from recframe.frames.rows.joins import beside_one_another, joined
from recframe.splits.labels import Fold, Labels
from recframe.splits.log import FOLD, PAIR
from recframe.splits.rules import PARTS, Part, is_in, label

MAIN: tuple[Part, ...] = ("train", "truth")
SHARES = {
    "cold_users": ("user", "cold"),
    "cold_items": ("item", "cold"),
    "seen": ("pair", "repeat"),
}
"""Names of shares of truth, each with the kind that it is of."""


def described(labels: Labels) -> pl.LazyFrame:
    """Return one row for each fold, with the times, rows, users and items of its parts, and shares of truth."""
    facts = (
        {**ENDS, "gap": ENDS["truth_from"] - ENDS["train_to"]} if "time" in labels.log.names else {}
    )
    for part in sorted(PARTS, key=lambda part: part not in MAIN):
        facts[f"rows_{part}"] = is_in(part).sum().cast(pl.Int64)
        for role in PAIR if part in MAIN else ():
            own = pl.col(role).filter(is_in(part))
            facts[f"{role}s_{part}"] = own.n_unique().cast(pl.Int64)
    facts["share"] = is_in("truth").sum() / is_in(*KNOWN, "truth").sum()
    medians = {
        f"median_rows_{part}": pl.col("user").filter(is_in(part)).unique_counts().median()
        for part in MAIN
    }
    shares = {name: (pl.col(f"{of}_kind") == kind).mean() for name, (of, kind) in SHARES.items()}
    each = [
        beside_one_another(
            [
                fold.rows.select(**facts),
                with_kinds(fold).select(**shares),
                fold.rows.select(**medians),
            ]
        )
        for fold in labels.folds
    ]
    return labels.of(each).select(FOLD, pl.exclude(FOLD))


KINDS = {
    "user_kind": pl.Enum(["cold", "few", "warm"]),
    "item_kind": pl.Enum(["cold", "tail", "head"]),
    "pair_kind": pl.Enum(["repeat", "discovery"]),
}
COLUMNS = ("user_history", "item_history", *KINDS)
"""The columns that `Split.truth` has beside those of the log."""
FEW = 5
"""The rows from which a user is warm."""
HEAD = (4, 5)
"""The share of the rows of train that the items of its head make up, as a fraction."""


def with_kinds(fold: Fold, *, users: bool = True) -> pl.LazyFrame:
    """Return the rows of truth with `COLUMNS`, those of users where they are to be, in the order of the log."""
    truth = with_item_kinds(fold.in_parts("truth"), item_kinds(fold))
    if users:
        own = of_users(fold.histories, fold.users.select("user"))
        truth = joined(truth, own, ["user"], in_order=True)
    known = fold.known.join(fold.truth, on=PAIR, how="semi")
    truth = joined(truth, known.select(*PAIR, is_known=True).unique(), PAIR, in_order=True)
    kind = label({"repeat": pl.col("is_known")}, "discovery", KINDS["pair_kind"])
    return fold.log.held(truth.with_columns(pair_kind=kind))


def of_users(counts: pl.LazyFrame, users: pl.LazyFrame) -> pl.LazyFrame:
    """Return users with `user_history`, their rows that a model may read (`n` of counts), and `user_kind`."""
    n = pl.col("n").fill_null(0)
    kind = label({"cold": n == 0, "few": n < FEW}, "warm", KINDS["user_kind"])
    rows = joined(users, counts, ["user"])
    return rows.with_columns(user_history=n, user_kind=kind).drop("n")


def item_kinds(fold: Fold) -> pl.LazyFrame:
    """Return the items of train with `item_history`, their rows in it, and `item_kind`.

    An item is in the head if those of more rows make up less than 80 % of the rows; so items of as many rows are alike.
    """
    n, lowest = pl.col("n"), pl.col("lowest")
    share, whole = HEAD
    alike = fold.items.group_by("n").agg(rows=n.sum()).sort("n", descending=True)
    above = pl.col("rows").cum_sum() - pl.col("rows")
    in_head = above * whole < pl.col("rows").sum() * share
    items = fold.items.join(alike.filter(in_head).select(lowest=n.min()), how="cross")
    kind = label({"head": n >= lowest}, "tail", KINDS["item_kind"])
    return items.select("item", item_history="n", item_kind=kind)


def with_item_kinds(frame: pl.LazyFrame, kinds: pl.LazyFrame, *keys: str) -> pl.LazyFrame:
    """Return rows with the columns of `item_kinds`, 0 and cold of items that train does not have."""
    cold = label({}, "cold", KINDS["item_kind"])
    return joined(frame, kinds, [*keys, "item"], in_order=True).with_columns(
        pl.col("item_history").fill_null(0), pl.col("item_kind").fill_null(cold)
    )
