"""Columns of large eager frames as small whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from recframe.frames.rows.packing import READS_BITS, SMALL_INTEGERS

SLICE = 2**19  # so many at a time take little memory
MOST = 2**16
"""So many codes take a table that is small beside the rows of a large frame."""


def small_codes(rows: Sequence[pl.DataFrame]) -> tuple[list[pl.Series], pl.DataFrame | None]:
    """Return a code from 0 for each row of some frames, and what each `code` stands for; None where there may be too many.

    Rows with the same in all columns, null among it, have the same code; there may be codes that no row has.
    """
    together, code, n_codes = pl.concat(rows), None, 1
    for column in together:
        numbers = _numbers(column)
        bounds: list[Any] = [None, None] if numbers is None else [numbers.min(), numbers.max()]
        if numbers is None or None in bounds:
            return [], None
        lowest, n_values = bounds[0], bounds[1] - bounds[0] + 2  # one more for null
        if n_codes * n_values > MOST:
            return [], None
        own = (numbers.cast(pl.Int64) - lowest).fill_null(n_values - 1).cast(pl.UInt32)
        code, n_codes = own if code is None else code * n_values + own, n_codes * n_values
    if code is None:
        return [], None
    row_of = pl.Series([None], dtype=pl.UInt32).new_from_index(0, n_codes)
    for start in range(0, len(code), SLICE):
        some = code.slice(start, SLICE)
        row_of.scatter(some, pl.int_range(start, start + len(some), dtype=pl.UInt32, eager=True))
    segments = together.select(pl.all().gather(row_of)).with_row_index("code")
    starts = [0]
    for one in rows:
        starts.append(starts[-1] + len(one))
    codes = [code.slice(start, len(one)) for start, one in zip(starts, rows, strict=False)]
    return codes, segments


def _numbers(column: pl.Series) -> pl.Series | None:
    """Return a column as whole numbers that stand for the same; None for dtypes that take long."""
    if not READS_BITS:  # Polars 1 scatters to sorted places alone
        return None
    dtype = column.dtype
    if dtype == pl.String:
        return column.cast(pl.Categorical(pl.Categories.random())).to_physical()
    if dtype in SMALL_INTEGERS or dtype == pl.Boolean:
        return column.cast(pl.Int64)
    if dtype.is_temporal() or dtype in (pl.Categorical, pl.Enum):
        return column.to_physical()
    return None
