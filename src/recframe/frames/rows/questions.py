"""Cheap questions to the rows of a large eager frame, and what they look at: rows marked as sorted, users once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.joins import distinct_names
from recframe.frames.rows.packing import READS_BITS, SMALL_INTEGERS, key_hash

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
_SCATTERS = READS_BITS  # Polars 1 scatters to sorted places alone
_SLICE = 2**19  # so many at a time take little memory


def of_one_gain(rows: pl.DataFrame, key: str) -> bool:
    """Return whether rows stand list by list, all of one gain."""
    gain = rows["gain"]
    return rows[key].flags["SORTED_ASC"] and bool(len(gain)) and gain.min() == gain.max()


def numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with a `number` for each user: in the order of the rows where these stand user by user."""
    user = pl.col("user")
    runs = rows.select(
        number=(user != user.shift()).fill_null(value=True).cum_sum().cast(pl.Int64)
    ).to_series()
    if len(runs) and heads(rows)["user"].n_unique() < runs[-1]:
        return rows.with_columns(number=user.rank("dense").cast(pl.Int64))
    return rows.with_columns(runs.set_sorted())


def heads(rows: Frame, key: str = "user") -> Frame:
    """Return the key of the rows that follow one of another key: every user, say, and once where rows stand user by user."""
    user = pl.col(key)
    return rows.select(key).filter((user != user.shift()).fill_null(value=True))


def marked_sorted(rows: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return the rows with the users marked as sorted, if they are, which is what some operations look at."""
    user = rows[key]
    return (
        rows.with_columns(user.set_sorted())
        if user.dtype.is_integer() and user.is_sorted()
        else rows
    )


def n_distinct(rows: pl.DataFrame) -> pl.LazyFrame:
    """Return how many users there are; null for whole numbers that are not marked as sorted."""
    user = pl.col("user")
    if rows["user"].flags["SORTED_ASC"]:
        return rows.lazy().select(user.n_unique())
    if not rows.schema["user"].is_integer():
        return heads(rows.lazy()).select(user.n_unique())
    return pl.LazyFrame({"user": [None]}, schema={"user": pl.UInt32})


def distinct_users(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each user once, where they are whole numbers; without a hash table where these lie in a small range."""
    users = distinct_numbers(rows["user"], len(rows))
    return rows.select("user").unique() if users is None else users.to_frame()


def distinct_numbers(numbers: pl.Series, most: int) -> pl.Series | None:
    """Return each number once, in order; None where they are no numbers, or lie in a range of more than `most`."""
    bounds: list[Any] = (
        [numbers.min(), numbers.max()] if numbers.dtype in SMALL_INTEGERS else [None, None]
    )
    if None in bounds or bounds[1] - bounds[0] >= most or not _SCATTERS:
        return None
    # the places of negative numbers are beyond what their own dtype may hold
    place = pl.col("place").cast(pl.Int64) - bounds[0]
    found = _marks(numbers.to_frame("place"), place, bounds[1] - bounds[0] + 1)
    distinct: pl.Series = (found.arg_true().cast(pl.Int64) + bounds[0]).cast(numbers.dtype)
    return distinct.alias(numbers.name)


def runs_of_numbers(rows: pl.DataFrame, number: pl.Expr, n: int) -> pl.DataFrame | None:
    """Return the runs of the rows' numbers that follow one another, in order: the `last` one, and of how many `rows`.

    The numbers lie in [0, n). One that several rows have is as one of a single row. None where Polars is too old.
    """
    if not _SCATTERS:
        return None
    found = _marks(rows, number, n)
    first = (found & ~found.shift(fill_value=False)).arg_true().cast(pl.Int64)
    last = (found & ~found.shift(-1, fill_value=False)).arg_true().cast(pl.Int64)
    return pl.DataFrame({"last": last, "rows": last - first + 1})


def _marks(rows: pl.DataFrame, number: pl.Expr, n: int) -> pl.Series:
    """Return of each number in [0, n) whether a row has it.

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
    """Return whether no list has an item twice; where that is not sure, False."""
    return _repeating(rows, keys)[1].select(distinct=pl.len() == 0)


def each_item_once(rows: pl.DataFrame, keys: Sequence[str], ask: Ask) -> pl.DataFrame:
    """Return the rows, of each item of a list the one with the best rank alone; they stay in their order."""
    number, repeating = _repeating(rows, keys)
    (repeated,) = ask([repeating])
    if repeated.is_empty():
        return rows
    row, pair = pl.col("row"), distinct_names(*keys, "item")
    found = (
        rows.lazy()
        .with_row_index("row")
        .filter(number.is_in(repeated.to_series().unique().implode()))
    )
    worse = found.filter(row != row.sort_by("rank", "row").first().over(pair)).select("row")
    (kept,) = ask(
        [
            rows.lazy()
            .with_row_index("row")
            .join(worse, on="row", how="anti", maintain_order="left")
            .drop("row")
        ]
    )
    return kept


def _repeating(rows: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.Expr, pl.LazyFrame]:
    """Return a number of each row, and those numbers that are of all rows of an item which a list has twice, or of others."""
    if len(keys) == 1 and rows[keys[0]].flags["SORTED_ASC"]:
        lists = rows.lazy().group_by(keys).agg(twice=pl.col("item").n_unique() < pl.len())
        return pl.col(keys[0]), lists.filter(pl.col("twice")).select(keys)
    number = key_hash([pl.col(key) for key in distinct_names(*keys, "item")], rows.schema)
    in_order = number.sort()
    return number, rows.lazy().select(number=in_order.filter(in_order == in_order.shift()))


def are_in_order(rows: pl.DataFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return whether the rows stand list by list by rank, the ranks at least 1 apart, and those without one last."""
    if len(keys) > 1 or not rows[keys[0]].flags["SORTED_ASC"]:
        return pl.LazyFrame({"in_order": [False]})
    rank, user = pl.col("rank"), pl.col(keys[0])
    follows = (
        rank.is_null()
        | (user != user.shift()).fill_null(value=True)
        | (rank - rank.shift() >= 1).fill_null(value=False)
    )
    return rows.lazy().select(in_order=follows.all())
