"""Exact sums, bit-identical in any row order: fixed-point 128-bit integers.

A number is cut into what it has above 1 and below, each in multiples of a power of two that no data decide. These are whole
numbers of 128 bits, whose sums are exact: so they have the same bits on any number of threads, for shuffled rows, and where
parts of the rows are summed up apart and then added. What becomes of them is the exact sum, rounded once, as of `math.fsum`.

That holds of 2^32 numbers that are 0 or from 2^-42 (2e-13) up to 2^95 (4e28) in size. Of larger ones the sum is that of plain
floating point, as of infinities and NaN; smaller ones count too, but for the last bits of sums that are as small as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.frames.rows.joins import aggregate

BITS = 95
"""Fractional bits, and bits of the whole part: 32 below Int128's 127, for 2^32 summands."""
UNIT = 2.0**-BITS
SCALE = 2.0**BITS
WHOLE, REST, BEYOND = "whole part of", "fraction of", "remainder of"
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
        wide = [name for name in self.values if name not in self.bounded]
        if wide:
            value = {name: pl.col(f"{BEYOND} {name}") for name in wide}
            whole = {name: pl.col(f"{WHOLE} {name}") for name in wide}
            rows = rows.with_columns(self.values[name].alias(f"{BEYOND} {name}") for name in wide)
            rows = rows.with_columns(
                _whole(value[name]).alias(f"{WHOLE} {name}") for name in wide
            ).with_columns(_rest(value[name], whole[name]).alias(f"{REST} {name}") for name in wide)
        sums = [one for name in self.values for one in self._sums(name)]
        return aggregate(rows, keys, [*also, *sums])

    def total(self, name: str, absent: Absent | None = None) -> pl.Expr:
        """Return the sum of a name from its parts, 0 without any."""
        parts = {part: pl.col(f"{part} {name}").fill_null(0) for part in self._parts(name)}
        if absent is not None:
            value, times = absent
            added = _split(value) if len(parts) > 1 else {REST: _scaled(value)}
            parts = {part: one + added[part].fill_null(0) * times for part, one in parts.items()}
        if len(parts) == 1:
            return parts[REST].cast(pl.Float64) * UNIT
        return _put_together(parts[WHOLE], parts[REST]) + parts[BEYOND]

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
        return [f"{part} {name}" for name in self.values for part in self._parts(name)]

    def _parts(self, name: str) -> tuple[str, ...]:
        return (REST,) if name in self.bounded else (WHOLE, REST, BEYOND)

    def _sums(self, name: str) -> list[pl.Expr]:
        if name in self.bounded:
            return [_scaled(self.values[name]).sum().alias(f"{REST} {name}")]
        whole, rest, value = (pl.col(f"{part} {name}") for part in (WHOLE, REST, BEYOND))
        left = _below_units(value, whole, rest)
        sums = {WHOLE: whole.sum(), REST: rest.cast(pl.Int128).sum(), BEYOND: left.sum()}
        return [one.alias(f"{part} {name}") for part, one in sums.items()]


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


def _split(value: pl.Expr) -> dict[str, pl.Expr]:
    """Return the parts of a number."""
    whole = _whole(value)
    rest = _rest(value, whole)
    return {
        WHOLE: whole,
        REST: rest.cast(pl.Int128),
        BEYOND: _below_units(value, whole, rest),
    }


def _put_together(whole: pl.Expr, rest: pl.Expr) -> pl.Expr:
    """Return the rounded sum of two parts; the larger the whole, the fewer fractional bits remain."""
    small = (whole * 2**BITS + rest).cast(pl.Float64) * UNIT
    large = (whole * _HALF + rest // (2**BITS // _HALF)).cast(pl.Float64) / _HALF
    size = whole.abs()
    found = pl.when(size < _HALF).then(small).when(size < 2**BITS).then(large)
    return found.otherwise(whole.cast(pl.Float64))
