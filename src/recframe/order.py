"""Places within lists without a window: running positions over rows that stand list by list."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import polars as pl

from recframe.frames import Ask

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

# Polars 2 can read the bits of a number as another type of the same size.
READS_BITS = "dtype" in inspect.signature(pl.Expr.reinterpret).parameters

SMALL_INTEGERS = {pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32}
"""The dtypes whose values all fit into Int64."""
_SCATTERS = READS_BITS  # Polars 1 scatters to sorted places alone
_SLICE = 2**19  # so many at a time take little memory


def by_item(schema: Mapping[str, pl.DataType], keys: Sequence[str] = ()) -> list[pl.Expr]:
    """Return the item as it decides between rows that are otherwise equal: by what it says; nothing where it is a key.

    NOTE: an Enum, which is what a category of pandas becomes, sorts in the order in which somebody listed its categories.
    """
    item = pl.col("item")
    text = schema["item"] in (pl.Categorical, pl.Enum)  # a tuple: an Enum's hash is not that of pl.Enum
    return [] if "item" in keys else [item.cast(pl.String) if text else item]


def with_places(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return rows that stand list by list with `place`, from 1 in each list, and `start`, the number of its list's first row.

    NOTE: positions from the running maximum of the first rows' numbers cost a tenth of a window over the lists.
    """
    row = pl.col("start")
    changes = [pl.col(key).ne_missing(pl.col(key).shift()) for key in keys]
    first = changes[0] if len(keys) == 1 else pl.any_horizontal(changes)
    rows = rows.with_row_index("start").with_columns(row.cast(pl.Int64))
    rows = rows.with_columns(place=row, start=pl.when(first).then(row).otherwise(0).cum_max())
    return rows.with_columns(place=pl.col("place") - row + 1)


def spread_ranks(rows: pl.LazyFrame, keys: Sequence[str], *, whole: bool) -> pl.LazyFrame:
    """Return rows with places, sorted by rank, with ranks at least 1 apart: max(rank, rank of the row before + 1).

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
    return rows.with_columns(rank=place.cast(pl.Float64) + furthest.cast(pl.Float64))  # the highest Int64 has none behind it


def best_first(rows: pl.LazyFrame, keys: Sequence[str], dtype: pl.DataType, gain: str, *, narrow: bool) -> pl.LazyFrame:
    """Return the keys and gains of rows list by list, the best gain first, as Float64; gains are positive.

    `dtype` is that of the last key.

    NOTE: one packed number sorts two to four times as fast as two columns: the list's number in its upper half, in its
    lower half the gain, turned round. Narrow lists and gains (see `is_narrow`) fit into 64 bits, numbers of lists that
    Int64 holds and any gains into 128: the bits of a positive float order as the float does.
    """
    rows = rows.select(*keys, gain)
    key = keys[-1]
    if len(keys) > 1 or not (narrow or (READS_BITS and dtype in SMALL_INTEGERS)):
        return rows.sort(*keys, gain, descending=[*[False] * len(keys), True]).with_columns(pl.col(gain).cast(pl.Float64))
    wide, half = (pl.Int64, 2**32) if narrow else (pl.Int128, 2**64)
    top = half // (1 if narrow else 2) - 1
    lower = pl.col(gain).cast(pl.Int64) if narrow else pl.col(gain).cast(pl.Float64).reinterpret(dtype=pl.Int64)
    packed = rows.select(packed=pl.col(key).cast(wide) * half + (top - lower)).sort("packed")
    lower = (top - pl.col("packed") % half).cast(pl.Int64)
    gains = lower.cast(pl.Float64) if narrow else lower.reinterpret(dtype=pl.Float64)
    return packed.select((pl.col("packed") // half).cast(dtype).set_sorted().alias(key), gains.alias(gain))


def each_once(rows: pl.LazyFrame, dtypes: Mapping[str, pl.DataType], gain: str) -> pl.LazyFrame:
    """Return the keys, of these dtypes, and gains of rows, those of the same keys as one with the highest gain.

    Gains are not negative.

    NOTE: a group for each row takes twice the memory and time of sorting one number for the keys of each row; the highest
    gain of a run of equal ones is the running maximum of numbers that start anew with each run.
    """
    key, keys = pl.col("key"), list(dtypes)
    if not READS_BITS or len(keys) != 2 or not all(dtypes[name] in SMALL_INTEGERS for name in keys):  # noqa: PLR2004  a pair
        return rows.group_by(keys).agg(pl.col(gain).max())
    packed = pl.col(keys[0]).cast(pl.Int128) * 2**64 + pl.col(keys[1]).cast(pl.Int64)
    runs = rows.select(key=packed, height=pl.col(gain).cast(pl.Float64).reinterpret(dtype=pl.Int64)).sort("key")
    run = (key != key.shift()).fill_null(value=True).cum_sum().cast(pl.Int128) * 2**64
    runs = runs.with_columns(last=(key != key.shift(-1)).fill_null(value=True), highest=(run + pl.col("height")).cum_max())
    second = (key + 2**63) % 2**64 - 2**63
    height = (pl.col("highest") % 2**64).cast(pl.Int64)
    return runs.filter("last").select(
        ((key - second) // 2**64).cast(dtypes[keys[0]]).alias(keys[0]),
        second.cast(dtypes[keys[1]]).alias(keys[1]),
        height.reinterpret(dtype=pl.Float64).alias(gain),
    )


def is_narrow(key: pl.Series, gain: pl.Series) -> bool:
    """Return whether all numbers of lists lie in [0, 2^31) and all gains are whole numbers below 2^32."""
    if not key.dtype.is_signed_integer() or not len(key):
        return False
    whole = gain.dtype.is_integer() or bool((gain == gain.floor()).all())
    lowest: Any
    highest: Any
    most: Any
    lowest, highest, most = key.min(), key.max(), gain.max()
    return whole and bool(lowest >= 0 and highest < 2**31 and most < 2**32)


def are_level(rows: pl.DataFrame, key: str) -> bool:
    """Return whether rows stand list by list, all of one gain."""
    gain = rows["gain"]
    return rows[key].flags["SORTED_ASC"] and bool(len(gain)) and gain.min() == gain.max()


def are_narrow(rows: pl.DataFrame, keys: Sequence[str]) -> bool:
    """Return whether all keys are whole numbers that lie in [0, 2^31)."""
    bounds: list[Any] = [(rows[key].min(), rows[key].max()) for key in keys if rows.schema[key].is_integer()]
    return len(bounds) == len(keys) and all(low is None or (low >= 0 and high < 2**31) for low, high in bounds)


def packed(keys: Sequence[str]) -> pl.Expr:
    """Return two keys that are narrow as one number."""
    upper, lower = (pl.col(key).cast(pl.Int64) for key in keys)
    return upper * 2**32 + lower


def joined_as_numbers(
    rows: pl.LazyFrame, others: pl.LazyFrame, keys: Sequence[str], how: Literal["left", "inner"]
) -> pl.LazyFrame:
    """Return rows joined with others on two keys, in half the time or less: as one number.

    The keys of all are `SMALL_INTEGERS`, and those of the others are narrow; rows with keys that are not match none.
    """
    others = others.select(packed(keys).alias("both keys"), pl.exclude(keys))
    narrow = [pl.col(key).cast(pl.Int64).is_between(0, 2**31 - 1) for key in keys]
    number = pl.when(*narrow).then(packed(keys)).alias("both keys")
    return rows.with_columns(number).join(others, on="both keys", how=how).drop("both keys")


def distinct(rows: pl.LazyFrame, keys: Sequence[str], *, narrow: bool) -> pl.LazyFrame:
    """Return each pair of two keys once; sorted as numbers where they are narrow, a third of the time of a hash table."""
    rows = rows.select(keys)
    if not narrow:
        return rows.unique()
    number = pl.col("number")
    numbers = rows.select(number=packed(keys)).sort("number")
    numbers = numbers.filter((number != number.shift()).fill_null(value=True))
    schema, parts = rows.collect_schema(), (number // 2**32, number % 2**32)
    return numbers.select(part.cast(schema[key]).alias(key) for key, part in zip(keys, parts, strict=True))


def numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with a `number` for each user: in the order of the rows where these stand user by user."""
    user = pl.col("user")
    runs = rows.select(number=(user != user.shift()).fill_null(value=True).cum_sum().cast(pl.Int64)).to_series()
    if len(runs) and heads(rows)["user"].n_unique() < runs[-1]:
        return rows.with_columns(number=user.rank("dense").cast(pl.Int64))
    return rows.with_columns(runs.set_sorted())


def heads(rows: Frame) -> Frame:
    """Return the users of the rows that follow one of another user: every user, and once where rows stand user by user."""
    user = pl.col("user")
    return rows.select("user").filter((user != user.shift()).fill_null(value=True))


def by_user(rows: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return the rows with the users marked as sorted, if they are, which is what some operations look at."""
    user = rows[key]
    return rows.with_columns(user.set_sorted()) if user.dtype.is_integer() and user.is_sorted() else rows


def n_distinct(rows: pl.DataFrame) -> pl.LazyFrame:
    """Return how many users there are; null for whole numbers that are not marked as sorted."""
    user = pl.col("user")
    if rows["user"].flags["SORTED_ASC"]:
        return rows.lazy().select(user.n_unique())
    if not rows.schema["user"].is_integer():
        return heads(rows.lazy()).select(user.n_unique())
    return pl.LazyFrame({"user": [None]}, schema={"user": pl.UInt32})


def unordered(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each user once, where they are whole numbers; without a hash table where these lie in a small range."""
    users = rows["user"]
    bounds: list[Any] = [users.min(), users.max()] if len(users) and users.dtype in SMALL_INTEGERS else [0, math.inf]
    if bounds[1] - bounds[0] >= len(users) or not _SCATTERS:
        return rows.select("user").unique()
    found = pl.Series([False]).new_from_index(0, bounds[1] - bounds[0] + 1)
    for start in range(0, len(users), _SLICE):
        part = users.slice(start, _SLICE)
        # the places of negative users are beyond what their own dtype may hold
        found.scatter(part.cast(pl.Int64) - bounds[0] if bounds[0] else part, values=True)
        if found.all():  # whoever comes later came before
            break
    distinct: pl.Series = (found.arg_true().cast(pl.Int64) + bounds[0]).cast(users.dtype)
    return distinct.alias("user").to_frame()


def are_distinct(rows: pl.DataFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return whether no list has an item twice; where that is not sure, False."""
    return _repeating(rows, keys)[1].select(distinct=pl.len() == 0)


def each_item_once(rows: pl.DataFrame, keys: Sequence[str], ask: Ask) -> pl.DataFrame:
    """Return the rows, of each item of a list the one with the best rank alone; they stay in their order."""
    number, repeating = _repeating(rows, keys)
    (repeated,) = ask([repeating])
    if repeated.is_empty():
        return rows
    row, pair = pl.col("row"), [*dict.fromkeys([*keys, "item"])]
    found = rows.lazy().with_row_index("row").filter(number.is_in(repeated.to_series().unique().implode()))
    worse = found.filter(row != row.sort_by("rank", "row").first().over(pair)).select("row")
    (kept,) = ask([rows.lazy().with_row_index("row").join(worse, on="row", how="anti", maintain_order="left").drop("row")])
    return kept


def _repeating(rows: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.Expr, pl.LazyFrame]:
    """Return a number of each row, and those numbers that are of all rows of an item which a list has twice, or of others."""
    if len(keys) == 1 and rows[keys[0]].flags["SORTED_ASC"]:
        lists = rows.lazy().group_by(keys).agg(twice=pl.col("item").n_unique() < pl.len())
        return pl.col(keys[0]), lists.filter("twice").select(keys)
    number = one_number([pl.col(key) for key in dict.fromkeys([*keys, "item"])], rows.schema)
    in_order = number.sort()
    return number, rows.lazy().select(number=in_order.filter(in_order == in_order.shift()))


def are_in_order(rows: pl.DataFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return whether the rows stand list by list by rank, the ranks at least 1 apart, and those without one last."""
    if len(keys) > 1 or not rows[keys[0]].flags["SORTED_ASC"]:
        return pl.LazyFrame({"in_order": [False]})
    rank, user = pl.col("rank"), pl.col(keys[0])
    follows = rank.is_null() | (user != user.shift()).fill_null(value=True) | (rank - rank.shift() >= 1).fill_null(value=False)
    return rows.lazy().select(in_order=follows.all())


def one_number(keys: Sequence[pl.Expr], schema: Mapping[str, pl.DataType]) -> pl.Expr:
    """Return one number for a row's keys, the same where all of them are the same, and seldom otherwise."""
    if len(keys) == 2 and all(schema[key.meta.output_name()] in SMALL_INTEGERS for key in keys):  # noqa: PLR2004  a pair
        return keys[0].cast(pl.Int64) * 2**32 + keys[1].cast(pl.Int64)
    number = keys[0].hash()
    for seed, key in enumerate(keys[1:], 1):
        number = number ^ key.hash(seed)
    return number
