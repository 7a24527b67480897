"""Operations on rows by keys: joins, aggregations, positions, exact sums."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal, TypeVar

import polars as pl

from recframe.frames.rows.integer_keys import READS_BITS, SMALL_INTEGERS, key_hash, repeated

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
IS_POLARS_1 = pl.__version__.startswith("1.")
_POLARS = tuple(map(int, pl.__version__.split(".")[:2]))
# the last of Polars 1 warn of the name that those before and after them have
_BESIDE: Any = "horizontal_extend" if (1, 42) <= _POLARS < (2,) else "horizontal"
# NOTE: these leave out sums that nothing reads, and cross joins then have each row that was summed up. A condition reads one.
_LEAVES_OUT = (1, 41) <= _POLARS < (2,)


def beside_one_another(frames: Sequence[Frame]) -> Frame:
    """Return frames of equal height side by side, as one frame."""
    return pl.concat(frames, how=_BESIDE)


def distinct_names(*names: str) -> list[str]:
    """Return distinct names in order."""
    return list(dict.fromkeys(names))


def joined(
    rows: pl.LazyFrame,
    others: pl.LazyFrame,
    keys: Sequence[str],
    how: Literal["left", "inner", "full"] = "left",
    *,
    in_order: bool = False,
) -> pl.LazyFrame:
    """Return rows joined on the keys, or cross-joined without keys; `in_order` keeps the row order."""
    if not keys:
        return rows.join(others, how="cross")
    return rows.join(
        others,
        on=keys,
        how=how,
        nulls_equal=True,
        coalesce=True if how == "full" else None,
        maintain_order="left" if in_order else None,
    )


def aggregate(rows: pl.LazyFrame, keys: Sequence[str], columns: Sequence[pl.Expr]) -> pl.LazyFrame:
    """Aggregate rows by the keys; without keys, over all rows."""
    if keys:
        return rows.group_by(keys).agg(columns)
    sums = rows.select(columns)
    return sums.filter(pl.first().hash() >= 0) if _LEAVES_OUT else sums


def alike_as_one(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    schema: Mapping[str, pl.DataType],
    values: Sequence[pl.Expr],
    *,
    few: bool,
) -> pl.LazyFrame:
    """Return distinct keys with aggregated values, such as the highest gain.

    NOTE: to group rows takes three times as long as to sort a number for the keys of each, and leaves no order to sorts
    that follow; so those alone are grouped whose number repeats, of which there are seldom any. What is read twice is
    cached, since Polars shares no part of a plan inside another that is shared. `few` rows take less time than the steps.
    """
    if few or IS_POLARS_1:  # which takes all columns of all rows from a file into a cache
        return rows.group_by(keys).agg(values)
    rows = rows.with_columns(key_hash(keys, schema).alias("number")).cache()
    number = pl.col("number")
    again = repeated(rows, number).unique().cache()
    alike = rows.join(again, on="number", how="semi").group_by(keys).agg(values)
    others = rows.join(again, on="number", how="anti").drop("number")
    return pl.concat([others, alike], how="diagonal")


def at_best_rank(rows: pl.LazyFrame, keys: Sequence[str], *also: pl.Expr) -> pl.LazyFrame:
    """Return each item of some keys once: keys, item, its best rank, and more."""
    return rows.group_by(distinct_names(*keys, "item")).agg(pl.col("rank").min(), *also)


def in_long_form(
    wide: pl.LazyFrame, keys: Sequence[str], rows: Sequence[Mapping[str, pl.Expr]]
) -> pl.LazyFrame:
    """Return several rows for each row of a frame: the keys, and the columns of each of `rows`, which have the same dtypes."""
    if len(rows) == 1:
        return wide.select(*keys, **rows[0])
    held = wide.cache()
    return pl.concat([held.select(*keys, **row) for row in rows])


# NOTE: a null up to Polars 1, and no row from Polars 2 on; the last of Polars 1 warn where nothing is said. So whoever explodes
# lists leaves empty ones out ahead of it, or nulls behind it.
_IS_WARNED_OF = IS_POLARS_1 and "empty_as_null" in signature(pl.Expr.explode).parameters
AS_EVER: dict[str, Any] = {"empty_as_null": True} if _IS_WARNED_OF else {}


# Positions and ranks in rows sorted by list, without window functions


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


def in_distinct_ranks(
    rows: pl.LazyFrame, keys: Sequence[str], schema: Mapping[str, pl.DataType], *, whole: bool
) -> pl.LazyFrame:
    """Return rows by list, rank and item, with positions, and ranks at least 1 apart: max(rank, previous rank + 1).

    `whole` says that the ranks are whole numbers.
    """
    rows = with_places(rows.sort(*keys, "rank", *by_item(schema, keys)), keys)
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


# Exact sums

BITS = 95
"""Fractional bits, and bits of the whole part: 32 below Int128's 127, for 2^32 summands."""
UNIT = 2.0**-BITS
SCALE = 2.0**BITS
PARTS = WHOLE, REST, BEYOND = "whole part of", "fraction of", "remainder of"
"""Prefixes of the columns of parts."""
_HALF = 2**31
"""Scale of large sums, in units of 2^-31: whole parts above 2^31 leave no room for finer bits."""
_COARSE = 1.5 * 2.0**32
"""Addend that rounds a number to a multiple of 2^-20."""
Absent = tuple[pl.Expr, pl.Expr]
"""A number, and its count of occurrences."""


@dataclass(frozen=True)
class ExactSums:
    """Columns to sum exactly, by the names of their sums."""

    values: Mapping[str, pl.Expr]
    bounded: Collection[str] = ()
    """Sums whose summands lie within -1 and 1, so that one column holds all bits."""

    def summed(
        self, rows: pl.LazyFrame, keys: Sequence[str], also: Sequence[pl.Expr] = ()
    ) -> pl.LazyFrame:
        """Return the sums' parts for each combination of the keys, and other sums; parts of several frames can be added."""
        sums, steps = [*also], dict[str, list[pl.Expr]]()
        for name, summand in self.values.items():
            if name in self.bounded:
                sums.append(_scaled(summand).sum().alias(f"{REST} {name}"))
                continue
            whole, rest, value = (pl.col(f"{part} {name}") for part in PARTS)
            parts = {BEYOND: summand, WHOLE: _whole(value), REST: _rest(value, whole)}
            for part, column in parts.items():
                steps.setdefault(part, []).append(column.alias(f"{part} {name}"))
            sums += [whole.sum(), rest.cast(pl.Int128).sum()]
            sums.append(_below_units(value, whole, rest).sum().alias(f"{BEYOND} {name}"))
        for columns in steps.values():  # each is made of those before
            rows = rows.with_columns(columns)
        return aggregate(rows, keys, sums)

    def total(self, name: str, absent: Absent | None = None) -> pl.Expr:
        """Return the sum of a name from its parts, 0 without any."""
        rest = pl.col(f"{REST} {name}").fill_null(0)
        if name in self.bounded:
            if absent is not None:
                value, times = absent
                rest += _scaled(value).fill_null(0) * times
            return rest.cast(pl.Float64) * UNIT
        whole, beyond = (pl.col(f"{part} {name}").fill_null(0) for part in (WHOLE, BEYOND))
        if absent is not None:
            value, times = absent
            above = _whole(value)
            below = _rest(value, above)
            left = _below_units(value, above, below)
            whole += above.fill_null(0) * times
            rest += below.cast(pl.Int128).fill_null(0) * times
            beyond += left.fill_null(0) * times
        return _put_together(whole, rest) + beyond

    def put_together(self, sums: pl.LazyFrame) -> pl.LazyFrame:
        """Return a frame with the sums in place of their parts."""
        totals = [self.total(name).alias(name) for name in self.values]
        return sums.with_columns(totals).drop(self.parts)

    def of(
        self, rows: pl.LazyFrame, keys: Sequence[str], also: Sequence[pl.Expr] = ()
    ) -> pl.LazyFrame:
        """Return the sums for each combination of the keys, and other sums."""
        return self.put_together(self.summed(rows, keys, also))

    @property
    def parts(self) -> list[str]:
        """The names of the columns of all parts."""
        names: list[str] = []
        for name in self.values:
            parts = (REST,) if name in self.bounded else PARTS
            names += [f"{part} {name}" for part in parts]
        return names


def of_few(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    values: Mapping[str, pl.Expr],
    also: Sequence[pl.Expr] = (),
) -> pl.LazyFrame:
    """Return sums of few rows for each combination of the keys, such as those of one list, and other sums.

    Exact, and rounded once, of up to 4096 numbers that are 0 or from 2^-10 up to 2^20 in size; others are summed up as ever.
    It takes half of the time of Int128.
    """
    rows = rows.with_columns(value.cast(pl.Float64).alias(name) for name, value in values.items())
    sums, totals = [], []
    for name in values:
        value, fine = pl.col(name), pl.col(f"{REST} {name}")
        coarse = (value + _COARSE) - _COARSE
        sums += [coarse.sum().alias(name), (value - coarse).sum().alias(f"{REST} {name}")]
        # of infinities nothing is left to add
        totals.append(pl.when(value.is_infinite()).then(value).otherwise(value + fine).alias(name))
    found = aggregate(rows, keys, [*also, *sums])
    return found.with_columns(totals).drop(f"{REST} {name}" for name in values)


def _whole(value: pl.Expr) -> pl.Expr:
    """Return a number without what it has behind the point; null where it is too large to be counted so."""
    return pl.when(value.abs() < SCALE).then(value).cast(pl.Int128)


def _rest(value: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Return what a number has behind the point, in units; below them floating point may have more."""
    return (value - whole.cast(pl.Float64)) * SCALE


def _below_units(value: pl.Expr, whole: pl.Expr, rest: pl.Expr) -> pl.Expr:
    """Return what units leave of a number: nothing of most, all of those that are too large."""
    left = (rest - rest.cast(pl.Int128).cast(pl.Float64)) * UNIT
    return pl.when(whole.is_null()).then(value).otherwise(left)


def _scaled(value: pl.Expr) -> pl.Expr:
    """Return a number in units; null where it is infinite or NaN, as of rows that fail a check, whose words are to be read."""
    return (value * SCALE).cast(pl.Int128, strict=False)


def _put_together(whole: pl.Expr, rest: pl.Expr) -> pl.Expr:
    """Return the rounded sum of two parts; the larger the whole, the fewer fractional bits remain."""
    small = (whole * 2**BITS + rest).cast(pl.Float64) * UNIT
    large = (whole * _HALF + rest // (2**BITS // _HALF)).cast(pl.Float64) / _HALF
    size = whole.abs()
    found = pl.when(size < _HALF).then(small).when(size < 2**BITS).then(large)
    return found.otherwise(whole.cast(pl.Float64))


def are_in_steps(users: pl.Series, steps: pl.Series) -> bool:
    """Return whether users are sorted, and each row but a user's first is a step from the row above.

    NOTE: slices, since Polars makes a query of a shift of a column; users[1:] takes three times as long.
    """
    if users.dtype.is_nested() or not users.is_sorted():
        return False
    follows = (users.slice(1) != users.head(-1)) | steps
    return bool(follows.all(ignore_nulls=False))
