"""Distinct users per segment, counted with a bitmap."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.rows.integer_keys import READS_BITS
from recframe.frames.rows.profiling import marks

BLOCK = 2**24
"""Bits per block: they fit into a processor's cache."""
WORD = 64
"""Bits counted per machine word."""
MOST, MOST_IN_ORDER = 2**7, 2**10
"""Most bits per row for a bitmap, which is faster than a sort up to there; the second for sorted rows, block by block."""
NUMBER, CODE = pl.col("number"), pl.col("code")


def n_numbers_of_codes(rows: Sequence[pl.DataFrame], n_numbers: int, n_codes: int) -> pl.Series:
    """Count the distinct numbers per code over some frames with a `number` and a `code`.

    Numbers lie in [0, n_numbers), codes in [0, n_codes). Rows sorted by number are taken block by block.
    """
    n_rows, in_order = sum(map(len, rows)), all(row["number"].is_sorted() for row in rows)
    most = (MOST_IN_ORDER if in_order else MOST) * n_rows
    size = n_numbers // WORD + 1
    size = (min(size, max(BLOCK // (WORD * n_codes), 1)) if in_order else size) * WORD
    if not READS_BITS or n_numbers * n_codes > most or max(size * n_codes, n_numbers) >= 2**32:
        return _n_of_pairs(rows, n_codes)
    counts = pl.repeat(0, n_codes, dtype=pl.Int64, eager=True)
    for start in range(0, n_numbers, size):
        # the number changes from row to row, so that the rows of a code are marked close to one another
        place = CODE.cast(pl.UInt32) * size + (NUMBER.cast(pl.UInt32) - start)
        block = (
            pl.concat(row[_between(row["number"], start, size)] for row in rows)
            if size < n_numbers
            else pl.concat(rows)
        )
        bits = marks(block, place, size * n_codes)
        counts += bits.reshape((n_codes, size)).arr.sum().cast(pl.Int64)
    return counts


def _between(numbers: pl.Series, start: int, size: int) -> slice:
    """Return the rows of sorted numbers from a start on."""
    ends = pl.Series([start, start + size], dtype=pl.Int64)
    return slice(*numbers.search_sorted(ends).to_list())


def _n_of_pairs(rows: Sequence[pl.DataFrame], n_codes: int) -> pl.Series:
    """Count distinct pairs of a number and a code, packed into one integer."""
    pairs = pl.concat(row.select(pair=NUMBER.cast(pl.Int64) * n_codes + CODE) for row in rows)
    found = pairs.unique().select(code=(pl.col("pair") % n_codes).cast(pl.UInt32))
    codes = pl.int_range(n_codes, dtype=pl.UInt32, eager=True).alias("code").to_frame()
    n = found.group_by("code").agg(n=pl.len())
    counts = codes.join(n, on="code", how="left", maintain_order="left")["n"]
    return counts.fill_null(0).cast(pl.Int64)
