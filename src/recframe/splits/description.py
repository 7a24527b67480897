"""Descriptions of a split in numbers, and of its truth by kinds."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from recframe.audit.split_rows import KNOWN, SplitRows, in_folds
from recframe.frames.options import FOLD
from recframe.frames.rows.joins import beside_one_another, joined
from recframe.splits.fold_rows import FoldRows, counts_of
from recframe.splits.labelling import Labels
from recframe.splits.log_rows import PAIR
from recframe.splits.rules import PARTS, is_in

MAIN = ("train", "truth")
TIMES = ("train_from", "train_to", "truth_from", "truth_to")
SHARES = {
    "cold_users": ~pl.col("of_user"),
    "cold_items": ~pl.col("of_item"),
    "seen": pl.col("seen"),
}
"""Conditions on pairs of truth, by the name of their share."""


def rows_of(labels: Labels) -> dict[int, SplitRows]:
    """Return the folds of a split for its audit and description."""
    return in_folds(labels.by_fold, labels.rule.parted_by, size=labels.log.kind.size)


def described(folds: Mapping[int, SplitRows]) -> pl.LazyFrame:
    """Return one row for each fold, with the times, rows, users and items of its parts, and shares of truth."""
    return pl.concat([_of_fold(fold, rows) for fold, rows in folds.items()])


def _of_fold(fold: int, rows: SplitRows) -> pl.LazyFrame:
    has_time = "time" in rows.held
    tables = [_counts(rows), _shares(rows), _medians(rows), *[rows.ends] * has_time]
    table = beside_one_another(tables)
    known = pl.sum_horizontal(f"rows_{part}" for part in (*KNOWN, "truth"))
    ends: list[pl.Expr] = [pl.col(name) for name in TIMES] if has_time else []
    gap = (pl.col("truth_from") - pl.col("train_to")).alias("gap")
    return table.select(
        pl.lit(fold, pl.Int64).alias(FOLD),
        *ends,
        *[gap] * has_time,
        *(f"{noun}_{part}" for part in MAIN for noun in ("rows", "users", "items")),
        (pl.col("rows_truth") / known).alias("share"),
        *SHARES,
        *(f"median_rows_{part}" for part in MAIN),
        *(f"rows_{part}" for part in PARTS if part not in MAIN),
    )


def _counts(rows: SplitRows) -> pl.LazyFrame:
    """Return the rows of each part, and the users and items of train and truth."""
    columns = []
    for part in PARTS:
        is_in = pl.col("part") == part
        columns.append(is_in.sum().cast(pl.Int64).alias(f"rows_{part}"))
        if part in MAIN:
            columns += [
                pl.col(role).filter(is_in).n_unique().cast(pl.Int64).alias(f"{role}s_{part}")
                for role in ("user", "item")
            ]
    return rows.rows.select(columns)


def _shares(rows: SplitRows) -> pl.LazyFrame:
    """Return the shares of truth whose user or item is not in train, and whose pair is."""
    n_rows = pl.col("rows")
    return rows.pairs.select(
        (n_rows.filter(is_so).sum() / n_rows.sum()).alias(name) for name, is_so in SHARES.items()
    )


def _medians(rows: SplitRows) -> pl.LazyFrame:
    """Return the median number of rows of a user in train and in truth."""
    each = []
    for part in MAIN:
        users = rows.in_parts(part).group_by("user").agg(pl.len().alias("rows"))
        each.append(users.select(pl.col("rows").median().alias(f"median_rows_{part}")))
    return beside_one_another(each)


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


def with_kinds(rows: FoldRows, *, users: bool = True) -> pl.LazyFrame:
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
