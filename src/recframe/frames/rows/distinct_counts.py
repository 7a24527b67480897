"""Distinct users per segment, counted with a bitmap."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.rows.integer_keys import READS_BITS
from recframe.frames.rows.profiling import marks

MOST = 2**7
"""Most bits per row for a bitmap, which is faster than a sort up to there."""


def n_numbers_of_codes(rows: Sequence[pl.DataFrame], n_numbers: int, n_codes: int) -> pl.Series:
    """Count the distinct numbers per code over some frames with a `number` and a `code`.

    Numbers lie in [0, n_numbers), codes in [0, n_codes).
    """
    n_places, n_rows = max(n_numbers, 1) * n_codes, sum(map(len, rows))
    dtype = pl.UInt32 if n_places < 2**32 else pl.Int64
    # the smaller of the two changes from row to row, so that a processor's cache holds more of the bitmap
    place = pl.col("code").cast(dtype) * max(n_numbers, 1) + pl.col("number").cast(dtype)
    places = [row.select(place=place) for row in rows]
    if READS_BITS and n_places <= min(MOST * n_rows, 2**32 - 1):
        bits = marks(pl.concat(places), pl.col("place"), n_places)
        return bits.reshape((n_codes, max(n_numbers, 1))).arr.sum().cast(pl.Int64)
    pairs = pl.concat(places).unique()
    found = pairs.select(code=(pl.col("place") // max(n_numbers, 1)).cast(pl.UInt32))
    codes = pl.int_range(n_codes, dtype=pl.UInt32, eager=True).alias("code").to_frame()
    n = found.group_by("code").agg(n=pl.len())
    counts = codes.join(n, on="code", how="left", maintain_order="left")["n"]
    return counts.fill_null(0).cast(pl.Int64)
