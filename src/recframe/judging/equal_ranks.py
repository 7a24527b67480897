"""Equal ranks told apart, as a competition in SQL gives them: each listed item on a place of its own, or in expectation."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.context import Ties
from recframe.frames.rows.joins import at_best_rank
from recframe.frames.rows.packing import SMALL_INTEGERS
from recframe.frames.rows.places import spread_ranks, with_places
from recframe.judging.relevance import best_rank, is_rank
from recframe.judging.scores import order_of_ties

RANK = pl.col("rank")
FURTHEST = 2.0**62
"""The highest effective rank: behind the highest Int64 there is none for the next item."""


def told_apart(
    lists: pl.LazyFrame,
    keys: Sequence[str],
    ties: Ties,
    gains: pl.LazyFrame,
    relevant: pl.Expr | None = None,
) -> pl.LazyFrame:
    """Return lists with the effective ranks of their items: in the order (rank, ties), max(rank, the one before + 1).

    So the ranks 1, 1, 1, 4 become 1, 2, 3, 4, and a gap stays one. Under ties="expected" tied items share the first of
    theirs, and `tied` is their number; under "last" they share the last. An item's rank is its best, of those rows that
    `relevant` is true of if there are any. `gains` has the relevant pairs of a user and an item, with their gains.

    NOTE: every listed item takes a place here; without `ties=` the relevant ones alone do, and where others share the rank
    of one, a list of ten items of rank 1 finds everything at k = 1.
    """
    schema = lists.collect_schema()
    whole, pair = schema["rank"] in SMALL_INTEGERS, [*keys, "item"]
    number = RANK.cast(pl.Int64 if whole else pl.Float64)
    listed = is_rank(RANK, schema["rank"])
    best = RANK.min() if relevant is None else best_rank(RANK, relevant)
    row = [pl.col("row").filter(best == RANK).min()] * (ties == "order")
    items = at_best_rank(lists.filter(listed).with_columns(number), keys, *row, best=best)
    if ties in {"pessimistic", "optimistic"}:
        gains = gains.group_by("user", "item").agg(pl.col("gain").max())
        items = items.join(gains, on=["user", "item"], how="left")
    items = _spread(
        items,
        keys,
        [] if ties in {"expected", "last"} else order_of_ties(ties, schema),
        whole=whole,
    )
    tie = [*keys, "given"]
    if ties == "expected":
        items = items.with_columns(RANK.min().over(tie), tied=pl.len().over(tie).cast(pl.Int64))
    if ties == "last":
        items = items.with_columns(RANK.max().over(tie))
    effective = RANK.clip(upper_bound=FURTHEST).cast(pl.Int64) if whole else RANK
    found = items.select(*pair, effective, *["tied"] * (ties == "expected"))
    others = lists.drop("row", strict=False).with_columns(rank=listed).rename({"rank": "is listed"})
    found = others.join(found, on=pair, how="left", nulls_equal=True)
    return found.with_columns(pl.when("is listed").then("rank")).drop("is listed")


def _spread(
    items: pl.LazyFrame, keys: Sequence[str], ties: Sequence[tuple[pl.Expr, bool]], *, whole: bool
) -> pl.LazyFrame:
    """Return each list by rank and ties, with ranks at least 1 apart; `given` are those that there were."""
    order = [*((pl.col(key), False) for key in keys), (RANK, False), *ties]
    items = items.sort([by for by, _ in order], descending=[turned for _, turned in order])
    return spread_ranks(with_places(items.with_columns(given=RANK), keys), keys, whole=whole)
