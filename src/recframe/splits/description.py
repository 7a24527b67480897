"""Descriptions of a split in numbers, and of its truth by kinds."""

from __future__ import annotations

import polars as pl

from recframe.audit.split_rows import ENDS, KNOWN, SplitRows, in_folds
from recframe.frames.options import FOLD
from recframe.frames.rows.joins import beside_one_another, joined
from recframe.splits.labels import Fold, Labels
from recframe.splits.log import PAIR
from recframe.splits.rules import PARTS, Part, is_in, label

MAIN: tuple[Part, ...] = ("train", "truth")
SHARES = {
    "cold_users": ~pl.col("of_user"),
    "cold_items": ~pl.col("of_item"),
    "seen": pl.col("seen"),
}
"""Conditions on pairs of truth, by the name of their share."""


def rows_of(labels: Labels) -> dict[int, SplitRows]:
    """Return the folds of a split for its audit and description."""
    folds = {fold.number: fold.rows for fold in labels.folds}
    return in_folds(folds, labels.rule.parted_by, size=labels.log.kind.size)


def described(labels: Labels) -> pl.LazyFrame:
    """Return one row for each fold, with the times, rows, users and items of its parts, and shares of truth."""
    each, n_rows = [], pl.col("rows")
    for number, rows in rows_of(labels).items():
        facts = {FOLD: pl.lit(number, pl.Int64)}
        if "time" in labels.log.names:
            facts |= {**ENDS, "gap": ENDS["truth_from"] - ENDS["train_to"]}
        for part in sorted(PARTS, key=lambda one: one not in MAIN):
            facts[f"rows_{part}"] = is_in(part).sum().cast(pl.Int64)
            for role in PAIR if part in MAIN else ():
                n_unique = pl.col(role).filter(is_in(part)).n_unique()
                facts[f"{role}s_{part}"] = n_unique.cast(pl.Int64)
        shares = {"share": is_in("truth").sum() / is_in(*KNOWN, "truth").sum()}
        tables = [rows.rows.select(**facts, **shares)]
        of_pairs = {name: n_rows.filter(one).sum() / n_rows.sum() for name, one in SHARES.items()}
        tables.append(rows.pairs.select(**of_pairs))
        for part in MAIN:
            of_users = rows.in_parts(part).group_by("user").agg(rows=pl.len())
            tables.append(of_users.select(n_rows.median().alias(f"median_rows_{part}")))
        each.append(beside_one_another(tables))
    return pl.concat(each)


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
    truth = with_item_kinds(fold.rows.filter(is_in("truth")), item_kinds(fold))
    if users:
        counts = fold.known_of_truth("user").group_by("user").agg(n=pl.len().cast(pl.Int64))
        own = of_users(counts, fold.users.select("user"))
        truth = joined(truth, own, ["user"], in_order=True)
    known = fold.known_of_truth(*PAIR).select(*PAIR, is_known=True).unique()
    truth = joined(truth, known, PAIR, in_order=True)
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
