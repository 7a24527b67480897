"""How many different numbers stand beside each code, told by a bit for each pair of the two where these are not too many."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import polars as pl

from recframe.frames.rows.packing import READS_BITS
from recframe.frames.rows.questions import distinct_ids

BLOCK = 2**24
"""So many bits at a time stay in a processor's cache, and in memory that is taken once."""
MOST, MOST_IN_ORDER = 2**7, 2**10
"""So many bits a row are cleared and counted in less time than the rows are sorted; more where a block at a time is."""
NUMBER, CODE = pl.col("number"), pl.col("code")


def n_numbers_of_codes(rows: Sequence[pl.DataFrame], n_numbers: int, n_codes: int) -> pl.Series:
    """Return of each code how many numbers some frames have beside it.

    Both are UInt32; numbers lie in [0, n_numbers), codes in [0, n_codes). Rows that stand number by number are taken block by
    block.
    """
    in_order = all(one["number"].flags["SORTED_ASC"] for one in rows)
    width = min(max(BLOCK // n_codes, 1), n_numbers) if in_order else n_numbers
    most = (MOST_IN_ORDER if in_order else MOST) * sum(map(len, rows))
    scatters = READS_BITS  # Polars 1 to sorted places alone
    if not (scatters and 0 < n_numbers * n_codes <= most and width * n_codes < 2**32):
        return _n_of_pairs(rows, n_numbers, n_codes)
    starts = range(0, n_numbers, width)
    return reduce(add, (_n_of_block(_within(rows, at, width), at, width, n_codes) for at in starts))


def _within(rows: Sequence[pl.DataFrame], start: int, width: int) -> list[pl.DataFrame]:
    """Return the rows whose numbers lie in [start, start + width); all of them where these are all numbers."""
    found = []
    for one in rows:
        first, last = one["number"].search_sorted(
            pl.Series([start, start + width], dtype=pl.UInt32)
        )
        found.append(one.slice(first, last - first))
    return found


def _n_of_pairs(rows: Sequence[pl.DataFrame], n_numbers: int, n_codes: int) -> pl.Series:
    """Return the same from each pair of a number and a code once, as one number."""
    dtype = pl.UInt32 if n_numbers * n_codes < 2**32 else pl.Int64
    pair = NUMBER.cast(dtype) * n_codes + CODE.cast(dtype)
    pairs = distinct_ids(pl.concat([one.select(pair=pair).to_series() for one in rows]))
    found = (pairs % n_codes).cast(pl.UInt32).alias("code").value_counts(name="n")
    codes = pl.int_range(n_codes, dtype=pl.UInt32, eager=True).alias("code").to_frame()
    counts = codes.join(found, on="code", how="left", maintain_order="left")["n"]
    return counts.fill_null(0).cast(pl.Int64)


def _n_of_block(rows: Sequence[pl.DataFrame], start: int, width: int, n_codes: int) -> pl.Series:
    bits = pl.Series([False]).new_from_index(0, width * n_codes)
    for one in rows:
        place = CODE * width + (NUMBER - start)
        bits.scatter(one.select(place.alias("place")).to_series(), values=True)
    return bits.reshape((n_codes, width)).arr.sum().cast(pl.Int64)
