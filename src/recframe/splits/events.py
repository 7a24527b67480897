"""Order of each user's events or pairs, and their places in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.frames.rows.joins import distinct_names

PLACE, UNITS = "place in the user's order", "units of the user"
"""Columns with the place of a row's unit among those of its user, from 0, and with their number."""
USER = "user whose rows count"
"""Column of users, as what is grouped fastest: equal for rows of one user, and null for rows that count for nobody."""
_NUMBER = "keys as one number"


def as_ordered(schema: Mapping[str, pl.DataType], name: str) -> pl.Expr:
    """Return a column as it is ordered: categories as text, so that their codes decide nothing."""
    column = pl.col(name)
    return column.cast(pl.String) if schema[name] in (pl.Categorical, pl.Enum) else column


def placed(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return rows with the place of their unit in the order of some keys within the user, and with his number of units.

    Rows of a user with the same keys are one unit. Rows without a user, an item or a key count for nobody.
    """
    schema = rows.collect_schema()
    is_null = pl.any_horizontal(pl.col(distinct_names("user", "item", *keys)).is_null())
    rows = rows.with_columns(pl.when(~is_null).then(_code(schema["user"])).alias(USER))
    number = _one_number(schema, keys)
    if number is None:
        order = [as_ordered(schema, key) for key in keys]
        place = pl.struct(keys).rle_id().over(USER, order_by=order)
    else:
        rows = rows.with_columns(number.alias(_NUMBER))
        place = pl.col(_NUMBER).rank("dense").over(USER) - 1
    rows = rows.with_columns(place.cast(pl.Int64).alias(PLACE))
    return rows.with_columns((pl.col(PLACE).max().over(USER) + 1).alias(UNITS))


def _one_number(schema: Mapping[str, pl.DataType], keys: Sequence[str]) -> pl.Expr | None:
    """Return a number in the order of one or two keys, which is sorted in half of their time; None of other dtypes."""
    first, *others = keys
    if not others:
        return pl.col(first)
    if schema[first] == pl.UInt64 or not all(_is_whole(schema[key]) for key in keys):
        return None
    high, low = (pl.col(key).to_physical().cast(pl.Int128) for key in keys)
    return high * pl.lit(1 << 64, dtype=pl.Int128) + low


def _is_whole(dtype: pl.DataType) -> bool:
    """Whether a column is of whole numbers of 64 bits."""
    if dtype.is_integer():
        return dtype not in (pl.Int128, getattr(pl, "UInt128", pl.Int128))
    return dtype in (pl.Date, pl.Datetime)


def _code(dtype: pl.DataType) -> pl.Expr:
    user = pl.col("user")
    if dtype == pl.String:
        return user.cast(pl.Categorical).to_physical()
    return user.to_physical() if dtype in (pl.Categorical, pl.Enum) else user
