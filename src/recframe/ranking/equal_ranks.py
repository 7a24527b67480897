"""Tie-breaking of equal ranks by `ties=`, with effective ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.frames.options import Ties
from recframe.frames.rows.integer_keys import SMALL_INTEGERS
from recframe.frames.rows.joins import at_best_rank, distinct_names
from recframe.frames.rows.positions import spread_ranks, with_places
from recframe.ranking.relevance import as_number, best_rank, is_rank
from recframe.ranking.scores import order_of_ties

RANK = pl.col("rank")
FURTHEST = 2.0**62
"""Highest effective rank: above the largest Int64 none is left for the next item."""


def told_apart(
    lists: pl.LazyFrame,
    keys: Sequence[str],
    ties: Ties,
    gains: pl.LazyFrame,
    relevant: pl.Expr | None = None,
) -> pl.LazyFrame:
    """Return lists with effective ranks under a tie policy: in order (rank, ties), max(rank, previous + 1).

    So the ranks 1, 1, 1, 4 become 1, 2, 3, 4, and a gap stays one. Under ties="expected" tied items share the first of
    theirs, and `tied` is their number; under "last" they share the last. An item's rank is its best, of those rows that
    `relevant` is true of if there are any. `gains` has the relevant
    pairs of a user and an item, and of the segments that the keys name, with their gains.

    NOTE: every listed item takes a place here; without `ties=` the relevant ones alone do, and where others share the rank
    of one, a list of ten items of rank 1 finds everything at k = 1.
    """
    schema = lists.collect_schema()
    pair, number = distinct_names(*keys, "item"), as_number("rank", schema["rank"])
    listed = is_rank(RANK, schema["rank"])
    best = RANK.min() if relevant is None else best_rank(RANK, relevant)
    row = [pl.col("row").filter(best == RANK).min()] * (ties == "order")
    items = at_best_rank(lists.filter(listed).with_columns(number), keys, *row, best=best)
    items = effective(with_gains(items, ties, gains), keys, ties, schema)
    found = items.select(*pair, "rank", *tied(ties))
    others = lists.drop("row", strict=False).with_columns(rank=listed).rename({"rank": "is listed"})
    found = others.join(found, on=pair, how="left", nulls_equal=True)
    return found.with_columns(pl.when("is listed").then("rank")).drop("is listed")


def with_gains(items: pl.LazyFrame, ties: Ties, gains: pl.LazyFrame) -> pl.LazyFrame:
    """Return items with the gains of their pairs, where these put tied ones in order."""
    if ties not in {"pessimistic", "optimistic"}:
        return items
    pair = [name for name in gains.collect_schema() if name != "gain"]
    gains = gains.group_by(pair).agg(pl.col("gain").max())
    return items.join(gains, on=pair, how="left", nulls_equal=True)


def tied(ties: Ties) -> list[str]:
    """Return the column of how many items share a rank, where lists have one."""
    return ["tied"] * (ties == "expected")


def effective(
    items: pl.LazyFrame, keys: Sequence[str], ties: Ties, schema: Mapping[str, pl.DataType]
) -> pl.LazyFrame:
    """Return items, each of a list once, list by list with their effective ranks."""
    whole = schema["rank"] in SMALL_INTEGERS
    order = [*((pl.col(key), False) for key in keys), (RANK, False)]
    order += [] if ties in {"expected", "last"} else order_of_ties(ties, schema)
    items = items.sort([by for by, _ in order], descending=[turned for _, turned in order])
    items = spread_ranks(with_places(items.with_columns(given=RANK), keys), keys, whole=whole)
    items = _shared(items, ties)
    return items.with_columns(RANK.clip(upper_bound=FURTHEST).cast(pl.Int64)) if whole else items


def _shared(items: pl.LazyFrame, ties: Ties) -> pl.LazyFrame:
    """Return items, sorted by list and rank, with the ranks that tied ones share, if they do.

    NOTE: the rows of a tie stand together, so that its first and last ones tell its bounds, at a tenth of a window over ties.
    """
    if ties not in {"expected", "last"}:
        return items
    given, number = pl.col("given"), pl.col("start") + pl.col("place")
    items = items.with_columns(opens=(pl.col("place") == 1) | (given != given.shift()))
    closes = pl.col("opens").shift(-1, fill_value=True)
    if ties == "last":
        return items.with_columns(rank=pl.when(closes).then(RANK).backward_fill())
    first = pl.when("opens").then(number).forward_fill()
    last = pl.when(closes).then(number).backward_fill()
    return items.with_columns(
        rank=pl.when("opens").then(RANK).forward_fill(), tied=(last - first + 1).cast(pl.Int64)
    )
