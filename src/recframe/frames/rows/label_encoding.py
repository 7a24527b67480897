"""Integer codes of columns of large eager frames."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import polars as pl

from recframe.frames.rows.integer_keys import READS_BITS
from recframe.frames.rows.profiling import a_row_of_each, whole_numbers

MOST = 2**16
"""Most codes: their table stays small compared with a large frame."""


def small_codes(rows: Sequence[pl.DataFrame]) -> tuple[list[pl.Series], pl.DataFrame] | None:
    """Return an integer code per row, and the values of each `code`; None if there may be too many.

    Rows with the same in all columns, null among it, have the same code; there may be codes that no row has.
    """
    together, code, n_codes = pl.concat(rows), None, 1
    for column in together:
        numbers = _numbers(column)
        bounds: list[Any] = [None, None] if numbers is None else [numbers.min(), numbers.max()]
        if numbers is None or None in bounds:
            return None
        lowest, n_values = bounds[0], bounds[1] - bounds[0] + 2  # one more for null
        n_codes *= n_values
        if n_codes > MOST:
            return None
        own = (numbers.cast(pl.Int64) - lowest).fill_null(n_values - 1).cast(pl.UInt32)
        code = own if code is None else code * n_values + own
    if code is None:
        return None
    code -= code.min()
    row_of = a_row_of_each(code, n_codes)
    if row_of is None:
        return None
    starts = accumulate(map(len, rows), initial=0)
    codes = [code.slice(start, len(one)) for start, one in zip(starts, rows, strict=False)]
    return codes, together.select(pl.all().gather(row_of)).with_row_index("code")


def _numbers(column: pl.Series) -> pl.Series | None:
    """Return a column as equivalent integers; None for dtypes that are slow to encode."""
    if not READS_BITS:  # Polars 1 scatters to sorted places alone
        return None
    if column.dtype == pl.String:
        column = column.cast(pl.Categorical(pl.Categories.random())).to_physical()
    elif column.dtype == pl.Boolean:
        column = column.cast(pl.UInt8)
    elif column.dtype.is_temporal():
        column = column.to_physical()
    return whole_numbers(column)
