"""A split in numbers, fold by fold."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from recframe.audit.split_rows import KNOWN, SplitRows, in_folds
from recframe.frames.options import FOLD
from recframe.frames.rows.joins import beside_one_another
from recframe.splits.labelling import Labels
from recframe.splits.rules import PARTS

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
    has_time = "time" in rows.traits
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
