"""The k-core of a log."""

from __future__ import annotations

import polars as pl

from recframe.frames.collecting import stream
from recframe.frames.rows.joins import joined
from recframe.splits.fold_rows import PAIR
from recframe.splits.log_rows import Log


def core_of(log: Log, least: dict[str, int], rounds: int | None) -> pl.LazyFrame:
    """Return the rows of a log whose users and items have enough rows, in their order.

    A round leaves out users, then items, that have less than `least` of the rows that are left; without a number of rounds
    they go on until none is left out, on counts of pairs, which are collected once.
    """
    pairs = log.roles.select(PAIR).drop_nulls().group_by(PAIR).agg(n=pl.len())
    if rounds is None:
        pairs = _to_the_end(stream(pairs), least).lazy()
    else:
        for _ in range(rounds):
            pairs = _round(pairs, least)
    rows = log.rows
    for role in PAIR:
        kept = pairs.select(role).unique().with_columns(pl.lit(value=True).alias(f"kept {role}"))
        rows = joined(rows, kept, [role], in_order=True)
    return rows.filter(pl.all_horizontal(pl.col(f"kept {role}").is_not_null() for role in PAIR))


def _to_the_end(pairs: pl.DataFrame, least: dict[str, int]) -> pl.DataFrame:
    while True:
        left = stream(_round(pairs.lazy(), least))
        if len(left) == len(pairs):
            return left
        pairs = left


def _round(pairs: pl.LazyFrame, least: dict[str, int]) -> pl.LazyFrame:
    """Return the pairs without users, then without items, of too few rows."""
    for role in PAIR:
        counts = pairs.group_by(role).agg(pl.col("n").sum())
        kept = counts.filter(pl.col("n") >= least[role]).select(role)
        pairs = pairs.join(kept, on=role, how="semi")
    return pairs
