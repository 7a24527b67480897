"""Ids and combinations of columns as small integers, counted and looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import polars as pl

from recframe.frames.rows.integer_keys import READS_BITS, SMALL_INTEGERS, ends_of
from recframe.frames.rows.profiling import a_row_of_each, marks, whole_numbers

MOST = 2**16
"""Most codes: their table stays small compared with a large frame."""


def integer_ids(columns: Sequence[pl.Series], most: int) -> list[pl.Series]:
    """Return equal ids of some columns as equal Int64 numbers, from 0 on; nulls stay null.

    Whole numbers in a range of no more than `most` are counted from the lowest, other ids as they first appear or sort.
    """
    numbers = [one.cast(pl.Int64) for one in map(whole_numbers, columns) if one is not None]
    ends = [*filter(None, map(ends_of, numbers))]
    lowest, highest = (
        min((low for low, _ in ends), default=0),
        max((high for _, high in ends), default=most),
    )
    if len(numbers) == len(columns) and highest - lowest < most:
        return [number - lowest if lowest else number for number in numbers]
    starts = [column.ne_missing(column.shift()) | column.is_null() for column in columns]
    n_runs = sum(int(one.sum()) for one in starts)
    # most frames stand user by user, so that few ids are left to number
    in_runs = n_runs <= sum(map(len, columns)) // 2
    if in_runs:
        columns = [one.filter(start) for one, start in zip(columns, starts, strict=True)]
    first = columns[0]
    if (
        in_runs
        and len(columns) == 1
        and first.dtype == pl.String
        and first.hash().n_unique() == n_runs
    ):
        return [(starts[0].cum_sum().cast(pl.Int64) - 1).set_sorted()]
    ids, places = _ranked(pl.concat(columns)), accumulate(map(len, columns), initial=0)
    found = [ids.slice(place, len(one)) for place, one in zip(places, columns, strict=False)]
    if not in_runs:
        return found
    return [one.gather(start.cum_sum() - 1) for one, start in zip(found, starts, strict=True)]


def _ranked(ids: pl.Series) -> pl.Series:
    """Return a number for each id, from 0 on."""
    if ids.dtype == pl.String:  # in a fifth of the time of ranking them
        return ids.cast(pl.Categorical(pl.Categories.random())).to_physical().cast(pl.Int64)
    return ids.rank("dense").cast(pl.Int64) - 1


def small_codes(rows: Sequence[pl.DataFrame]) -> tuple[list[pl.Series], pl.DataFrame] | None:
    """Return an integer code per row, and the values of each `code`; None if there may be too many.

    Rows with the same in all columns, null among it, have the same code; there may be codes that no row has.
    """
    if not READS_BITS:  # Polars 1 scatters to sorted places alone
        return None
    together, code, n_codes = pl.concat(rows), pl.Series([0], dtype=pl.UInt32), 1
    for column in together:
        values = column.cast(pl.UInt8) if column.dtype == pl.Boolean else column.to_physical()
        whole = _ranked(values) if values.dtype == pl.String else whole_numbers(values)
        ends = None if whole is None else ends_of(whole)
        if whole is None or ends is None:  # such as floats, which are slow to encode
            return None
        n_values = ends[1] - ends[0] + 2  # one more for null
        n_codes *= n_values
        if n_codes > MOST:
            return None
        numbers = (whole.cast(pl.Int64) - ends[0]).fill_null(n_values - 1).cast(pl.UInt32)
        code = code * n_values + numbers
    code -= code.min()
    row_of = a_row_of_each(code, n_codes)
    if row_of is None:
        return None
    starts = accumulate(map(len, rows), initial=0)
    codes = [code.slice(start, len(one)) for start, one in zip(starts, rows, strict=False)]
    return codes, together.select(pl.all().gather(row_of)).with_row_index("code")


MOST_BITS = 2**7
"""Most bits per row for a bitmap, which is faster than a sort up to there."""
BLOCK_BITS = 2**24
"""Bits of a block of numbers in order, which a cache of the processor holds."""
NUMBER, CODE = pl.col("number"), pl.col("code")


def n_numbers_of_codes(rows: pl.DataFrame, n_numbers: int, n_codes: int) -> pl.Series:
    """Count the distinct numbers per code over rows with a `number` and a `code`.

    Numbers lie in [0, n_numbers), codes in [0, n_codes).
    """
    n_bits = n_numbers * n_codes
    if not (READS_BITS and n_bits) or n_bits > MOST_BITS * len(rows) or n_bits >= 2**32:
        return _n_of_pairs(rows, n_codes)
    numbers = rows["number"]
    block = min(n_numbers, BLOCK_BITS // n_codes + 1) if numbers.is_sorted() else n_numbers
    firsts = range(0, n_numbers, block)
    starts = [*numbers.search_sorted(pl.Series(firsts)), len(rows)]
    counts = pl.zeros(n_codes, pl.Int64, eager=True)
    for first, start, end in zip(firsts, starts, starts[1:], strict=False):
        # the number changes from row to row, so that the rows of a code are marked close to one another
        place = CODE.cast(pl.UInt32) * block + (NUMBER - first).cast(pl.UInt32)
        bits = marks(rows.slice(start, end - start), place, block * n_codes)
        counts += bits.reshape((n_codes, block)).arr.sum()
    return counts


def _n_of_pairs(rows: pl.DataFrame, n_codes: int) -> pl.Series:
    """Count distinct pairs of a number and a code, packed into one integer."""
    pairs = rows.select(pair=NUMBER.cast(pl.Int64) * n_codes + CODE)
    codes = pairs.unique().to_series() % n_codes
    every = pl.int_range(n_codes, eager=True)  # so that each code has a count, one too many
    counts = pl.concat([every, codes]).rename("code").value_counts().sort("code")["count"]
    return counts.cast(pl.Int64) - 1


SPARE = 4
"""Table slots allowed per key."""
FEW_KEYS = 1_000
"""Table slots allowed on top, for few keys."""


@dataclass(frozen=True)
class Lookup:
    """Dense table by integer id, one row per id in its range."""

    key: str
    lowest: int
    table: pl.DataFrame

    def beside(self, rows: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
        """Return rows left-joined with columns of the table."""
        return rows.with_columns(pl.lit(self.table[name]).gather(self._place) for name in names)

    def value(self, name: str, otherwise: Any) -> pl.Expr:
        """Return a column's value for each row's key, or `otherwise` without one."""
        found = pl.lit(self.table[name]).gather(self._place)
        return found.fill_null(otherwise).alias(name)

    @property
    def _place(self) -> pl.Expr:
        """The number of the table's row that has a row's key; null where none has."""
        place = pl.col(self.key).cast(pl.Int64) - self.lowest
        return pl.when(place.is_between(0, self.table.height - 1)).then(place)


def lookup(table: pl.DataFrame, key: str, dtype: pl.DataType) -> Lookup | None:
    """Return a lookup table with unique keys; None unless keys are integers of a small range.

    `dtype` is that of the key in the rows.
    """
    if dtype not in SMALL_INTEGERS:
        return None
    lowest, highest = ends_of(table[key]) or (None, None)
    if lowest is None or highest is None or highest - lowest > SPARE * table.height + FEW_KEYS:
        return None
    if highest - lowest + 1 == table.height:
        return Lookup(key, lowest, table.sort(key))
    # from 0, since the number behind the highest key may be more than Int64 holds
    places = pl.int_range(highest - lowest + 1, dtype=pl.Int64, eager=True) + lowest
    rows, own = places.alias(key).to_frame(), table.with_columns(pl.col(key).cast(pl.Int64))
    return Lookup(key, lowest, rows.join(own, on=key, how="left", maintain_order="left"))
