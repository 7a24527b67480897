"""Positions and ranks in rows sorted by list, without window functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.frames.rows.integer_keys import READS_BITS, SMALL_INTEGERS
from recframe.frames.rows.joins import Frame


def by_item(schema: Mapping[str, pl.DataType], keys: Sequence[str] = ()) -> list[pl.Expr]:
    """Return the item as it decides between rows that are otherwise equal: by what it says; nothing where it is a key.

    NOTE: an Enum, which is what a category of pandas becomes, sorts in the order in which somebody listed its categories.
    """
    item = pl.col("item")
    # a tuple: an Enum's hash is not that of pl.Enum
    text = schema["item"] in (pl.Categorical, pl.Enum)
    return [] if "item" in keys else [item.cast(pl.String) if text else item]


def with_places(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return rows, sorted by list, with `place` (from 1) and `start`, the row number of the list's first row.

    NOTE: positions from the running maximum of the first rows' numbers cost a tenth of a window over the lists.
    """
    row = pl.col("start")
    first = changes(keys[0]) if len(keys) == 1 else pl.any_horizontal(map(changes, keys))
    rows = rows.with_row_index("start").with_columns(row.cast(pl.Int64))
    rows = rows.with_columns(place=row, start=pl.when(first).then(row).otherwise(0).cum_max())
    return rows.with_columns(place=pl.col("place") - row + 1)


def spread_ranks(rows: pl.LazyFrame, keys: Sequence[str], *, whole: bool) -> pl.LazyFrame:
    """Return rows with positions, sorted by rank, ranks at least 1 apart: max(rank, previous rank + 1).

    `whole` says that the ranks are whole numbers.
    """
    rank, place = pl.col("rank"), pl.col("place")
    behind = rank - place
    if whole:
        # The lists one behind the other on one scale, so that the running maximum starts anew with each.
        offset = pl.col("start").cast(pl.Int128) * 2**64
        furthest = ((offset + behind).cum_max() - offset).cast(pl.Int64)
    else:
        furthest = behind.cum_max().over(keys)
    # the highest Int64 has none behind it
    return rows.with_columns(rank=place.cast(pl.Float64) + furthest.cast(pl.Float64))


def best_first(
    rows: pl.LazyFrame, keys: Sequence[str], dtype: pl.DataType, gain: str
) -> pl.LazyFrame:
    """Return keys and gains by list, highest gain first, as Float64; gains are positive.

    `dtype` is that of the last key.

    NOTE: one packed number sorts two to four times as fast as two columns: the list's number in its upper half, in its
    lower half the gain, turned round. The bits of a positive float order as the float does.
    """
    rows = rows.select(*keys, pl.col(gain).cast(pl.Float64))
    *segments, key = keys
    if not (READS_BITS and dtype in SMALL_INTEGERS):
        return rows.sort(*keys, gain, descending=[*[False] * len(keys), True])
    half, top = 2**64, 2**63 - 1
    lower = pl.col(gain).reinterpret(dtype=pl.Int64)
    packed = rows.select(*segments, packed=pl.col(key).cast(pl.Int128) * half + (top - lower))
    packed = packed.sort("packed")
    if segments:
        packed = packed.sort(segments, maintain_order=True)
    gains = (top - pl.col("packed") % half).cast(pl.Int64).reinterpret(dtype=pl.Float64)
    lists = (pl.col("packed") // half).cast(dtype).alias(key)
    return packed.select(*segments, lists if segments else lists.set_sorted(), gains.alias(gain))


def sorted_by_rank(
    rows: pl.LazyFrame, keys: Sequence[str], dtype: pl.DataType, rank: str
) -> pl.LazyFrame:
    """Return rows list by list by a rank, a positive Float64, as one packed number where that holds the key.

    `dtype` is that of the last key. See `best_first`.
    """
    if len(keys) > 1 or not (READS_BITS and dtype in SMALL_INTEGERS):
        return rows.sort(*keys, rank)
    height = pl.col(rank).reinterpret(dtype=pl.Int64)
    return rows.sort(pl.col(keys[0]).cast(pl.Int128) * 2**64 + height)


def changes(key: str) -> pl.Expr:
    """Return whether a row has another key than the one before, as the first row has unless it has none."""
    return pl.col(key).ne_missing(pl.col(key).shift())


def heads(rows: Frame, key: str = "user", *also: str) -> Frame:
    """Return the keys at which runs of equal keys start.

    Rows without a key stay, since the first of all follows none.
    """
    return rows.select(key, *also).filter(changes(key) | pl.col(key).is_null())
