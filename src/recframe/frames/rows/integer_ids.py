"""Ids of any dtype and combinations of columns as small integers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import polars as pl

from recframe.frames.rows.integer_keys import READS_BITS, ends_of
from recframe.frames.rows.profiling import a_row_of_each, whole_numbers

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
