"""Ids of any dtype and combinations of columns as small integers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import polars as pl

from recframe.frames.rows.integer_keys import READS_BITS
from recframe.frames.rows.profiling import a_row_of_each, whole_numbers

MOST = 2**16
"""Most codes: their table stays small compared with a large frame."""


def integer_ids(columns: Sequence[pl.Series], most: int) -> list[pl.Series]:
    """Return equal ids of some columns as equal Int64 numbers, from 0 on; nulls stay null.

    Whole numbers in a range of no more than `most` are counted from the lowest, other ids as they first appear or sort.
    """
    whole = [whole_numbers(column) for column in columns]
    numbers = [one.cast(pl.Int64) for one in whole if one is not None]
    bounds: list[Any] = [end for number in numbers for end in (number.min(), number.max())]
    bounds = [end for end in bounds if end is not None]
    if len(numbers) == len(columns) and bounds and max(bounds) - min(bounds) < most:
        return [number - min(bounds) if min(bounds) else number for number in numbers]
    starts = [column.ne_missing(column.shift()) | column.is_null() for column in columns]
    n_rows, n_runs = sum(map(len, columns)), sum(int(one.sum()) for one in starts)
    if n_runs > n_rows // 2:
        ids, places = _ranked(pl.concat(columns)), accumulate(map(len, columns), initial=0)
        return [ids.slice(place, len(one)) for place, one in zip(places, columns, strict=False)]
    runs = [one.filter(start) for one, start in zip(columns, starts, strict=True)]
    if len(runs) == 1 and runs[0].dtype == pl.String and runs[0].hash().n_unique() == n_runs:
        return [(starts[0].cum_sum().cast(pl.Int64) - 1).set_sorted()]
    # most frames stand user by user, so that few ids are left to number
    ids, places = _ranked(pl.concat(runs)), accumulate(map(len, runs), initial=0)
    return [
        ids.slice(place, len(run)).gather(start.cum_sum() - 1)
        for place, run, start in zip(places, runs, starts, strict=False)
    ]


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
        bounds: list[Any] = [None, None] if whole is None else [whole.min(), whole.max()]
        if whole is None or None in bounds:  # such as floats, which are slow to encode
            return None
        n_values = bounds[1] - bounds[0] + 2  # one more for null
        n_codes *= n_values
        if n_codes > MOST:
            return None
        numbers = (whole.cast(pl.Int64) - bounds[0]).fill_null(n_values - 1).cast(pl.UInt32)
        code = code * n_values + numbers
    code -= code.min()
    row_of = a_row_of_each(code, n_codes)
    if row_of is None:
        return None
    starts = accumulate(map(len, rows), initial=0)
    codes = [code.slice(start, len(one)) for start, one in zip(starts, rows, strict=False)]
    return codes, together.select(pl.all().gather(row_of)).with_row_index("code")
