"""Distinct users per segment, counted with a bitmap."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.rows.integer_keys import READS_BITS
from recframe.frames.rows.profiling import marks

MOST = 2**7
"""Most bits per row for a bitmap, which is faster than a sort up to there."""
NUMBER, CODE = pl.col("number"), pl.col("code")


def n_numbers_of_codes(rows: Sequence[pl.DataFrame], n_numbers: int, n_codes: int) -> pl.Series:
    """Count the distinct numbers per code over some frames with a `number` and a `code`.

    Numbers lie in [0, n_numbers), codes in [0, n_codes).
    """
    n_bits = n_numbers * n_codes
    if not (READS_BITS and n_bits) or n_bits > MOST * sum(map(len, rows)) or n_bits >= 2**32:
        return _n_of_pairs(rows, n_codes)
    # the number changes from row to row, so that the rows of a code are marked close to one another
    place = CODE.cast(pl.UInt32) * n_numbers + NUMBER.cast(pl.UInt32)
    bits = marks(pl.concat(rows), place, n_bits)
    return bits.reshape((n_codes, n_numbers)).arr.sum().cast(pl.Int64)


def _n_of_pairs(rows: Sequence[pl.DataFrame], n_codes: int) -> pl.Series:
    """Count distinct pairs of a number and a code, packed into one integer."""
    pairs = pl.concat(row.select(pair=NUMBER.cast(pl.Int64) * n_codes + CODE) for row in rows)
    found = pairs.unique().select(code=(pl.col("pair") % n_codes).cast(pl.UInt32))
    codes = pl.int_range(n_codes, dtype=pl.UInt32, eager=True).alias("code").to_frame()
    n = found.group_by("code").agg(n=pl.len())
    counts = codes.join(n, on="code", how="left", maintain_order="left")["n"]
    return counts.fill_null(0).cast(pl.Int64)
