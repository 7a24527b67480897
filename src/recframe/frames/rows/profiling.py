"""Profiling of large eager frames: sortedness, distinct ids, duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import polars as pl

from recframe.frames.kinds.kind import Ask, stream
from recframe.frames.rows.integer_keys import (
    READS_BITS,
    SMALL_INTEGERS,
    ends_of,
    key_hash,
    repeated,
)
from recframe.frames.rows.joins import changes, distinct_names

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
Id = Literal["user", "item"]
_SCATTERS = READS_BITS  # Polars 1 scatters to sorted places alone
_ROOM = 8  # places for a row take no more memory than its columns
_SLICE = 2**19  # so many at a time take little memory
_A_LOOK = 50_000
MARKS = 64
"""Bits per row: as much memory as an Int64 column."""


def whole_numbers(ids: pl.Series) -> pl.Series | None:
    """Return ids as numbers that Int64 holds: those of categories are their places; None for ids of other dtypes."""
    if ids.dtype in SMALL_INTEGERS:
        return ids
    if ids.dtype in (pl.Categorical, pl.Enum):  # a tuple: an Enum's hash is not that of pl.Enum
        return ids.to_physical()
    highest: Any = ids.max() if ids.dtype == pl.UInt64 else None
    return ids.cast(pl.Int64) if highest is not None and highest < 2**63 else None


def marked_sorted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the sorted flag set on users, if they are sorted, which speeds up some operations."""
    user = rows["user"]
    return (
        rows.with_columns(user.set_sorted())
        if user.dtype.is_integer() and user.is_sorted()
        else rows
    )


def distinct_ids(ids: pl.Series) -> pl.Series:
    """Return the distinct non-null ids, unordered."""
    ids = ids.drop_nulls()
    ends = ends_of(ids) if _SCATTERS else None
    if ends is None or ends[1] - ends[0] >= MARKS * len(ids):
        return stream(ids.to_frame().lazy().unique()).to_series()
    # the places of negative numbers are beyond what their own dtype may hold
    lowest, highest = ends
    place = pl.first().cast(pl.Int64) - lowest
    places = marks(ids.to_frame(), place, highest - lowest + 1).arg_true()
    distinct: pl.Series = (places.cast(pl.Int64) + lowest).cast(ids.dtype)
    return distinct.alias(ids.name)


def constant_of(key: Id, rows: pl.DataFrame) -> pl.DataFrame | None:
    """Return distinct users or items with the other columns' constant values; None if one varies."""
    if len(rows) > _A_LOOK and constant_of(key, rows.head(_A_LOOK)) is None:
        return None
    n_runs = rows.select(changes(key).sum()).item()
    if n_runs <= len(rows) // 2:
        found = rows.filter(pl.any_horizontal(map(changes, rows.columns)))
        if len(found) > n_runs:
            return None
        return found if found[key].is_sorted() else _once(found.unique(), key)
    numbers = whole_numbers(rows[key])
    places = None if numbers is None else a_row_of_each(numbers, _ROOM * len(rows))
    if numbers is None or places is None:
        return _once(stream(rows.lazy().unique()), key)
    lowest: Any = numbers.min()
    number = pl.lit(numbers).cast(pl.Int64) - lowest
    same = [
        pl.lit(rows[name].gather(places)).gather(number).eq_missing(pl.col(name)).all()
        for name in rows.columns
        if name != key
    ]
    alike = stream(rows.lazy().select(pl.all_horizontal(same))).item()
    return rows[places.drop_nulls()] if alike else None


def _once(rows: pl.DataFrame, key: Id) -> pl.DataFrame | None:
    """Return rows of which no two are alike, if no two are of one user or item either."""
    return rows if rows[key].n_unique() == len(rows) else None


def a_row_of_each(ids: pl.Series, most: int) -> pl.Series | None:
    """Return the number of a row of each whole number from the lowest id to the highest, null where it has none.

    None where the ids are no whole numbers, or lie in a range of more than `most`.
    """
    ends = ends_of(ids) if _SCATTERS else None
    if ends is None or ends[1] - ends[0] >= most:
        return None
    lowest, highest = ends
    found = pl.Series([None], dtype=pl.UInt32).new_from_index(0, highest - lowest + 1)
    for start in range(0, len(ids), _SLICE):
        part = ids.slice(start, _SLICE)
        rows = pl.int_range(start, start + len(part), dtype=pl.UInt32, eager=True)
        # the places of negative ids are beyond what their own dtype may hold
        found.scatter(part.cast(pl.Int64) - lowest if lowest else part, rows)
        if not found.null_count():  # whoever comes later came before
            break
    return found


def marks(rows: pl.DataFrame, number: pl.Expr, n: int) -> pl.Series:
    """Return a mask of the numbers in [0, n) that occur in a row.

    NOTE: a bit for each number that there may be takes a fifth of the time of sorting the rows, or of a hash table.
    """
    found = pl.Series([False]).new_from_index(0, n)
    for start in range(0, len(rows), _SLICE):
        part = rows.slice(start, _SLICE).select(number.alias("number"))
        found.scatter(part.to_series().drop_nulls(), values=True)
        if found.all():  # whoever comes later came before
            break
    return found


def are_distinct(rows: pl.DataFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return whether no list repeats an item; False if unsure."""
    return _repeating(rows, keys)[1].select(distinct=pl.len() == 0)


def merged(
    rows: pl.DataFrame, keys: Sequence[str], ask: Ask, values: Sequence[pl.Expr] = ()
) -> pl.DataFrame:
    """Return the rows, those of one item of a list as one with some values of theirs, such as the highest gain.

    Without values it is their best rank, and what the first of them has. The few lists or items that may repeat are looked
    at; where there are none, the rows are those that were given. Users who are sorted are marked.
    """
    rows = marked_sorted(rows)
    number, repeating = _repeating(rows, keys)
    (twice,) = ask([repeating])
    if twice.is_empty():
        return rows
    pair = distinct_names(*keys, "item")
    others = [name for name in rows.columns if name not in pair]
    first = [pl.col(name).min() if name == "rank" else pl.col(name).first() for name in others]
    again = rows.select(number.is_in(twice.to_series().unique().implode())).to_series()
    items = rows.filter(again).lazy().group_by(pair).agg(values or first)
    alone, once = rows.filter(~again), ask([items])[0].select(rows.columns)
    if not rows[keys[0]].flags["SORTED_ASC"]:
        return pl.concat([alone, once])
    return pl.concat([alone, once]).sort(keys, maintain_order=True)


def _repeating(rows: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.Expr, pl.LazyFrame]:
    """Return a number of each row, and those numbers that are of all rows of an item which a list has twice, or of others."""
    if len(keys) == 1 and rows[keys[0]].flags["SORTED_ASC"]:
        lists = rows.lazy().group_by(keys).agg(twice=pl.col("item").n_unique() < pl.len())
        return pl.col(keys[0]), lists.filter(pl.col("twice")).select(keys)
    pair = distinct_names(*keys, "item")
    number = key_hash(pair, rows.schema)
    return number, repeated(rows.lazy(), number)


def are_in_order(rows: pl.DataFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return whether rows are sorted by list and rank, ranks at least 1 apart, missing ones last.

    Rows that have no ranks, as those of a truth, do not.
    """
    if len(keys) > 1 or "rank" not in rows.columns or not rows[keys[0]].flags["SORTED_ASC"]:
        return pl.LazyFrame({"in_order": [False]})
    rank, user = pl.col("rank"), pl.col(keys[0])
    follows = (
        rank.is_null()
        | (user != user.shift()).fill_null(value=True)
        | (rank - rank.shift() >= 1).fill_null(value=False)
    )
    return rows.lazy().select(in_order=follows.all())
