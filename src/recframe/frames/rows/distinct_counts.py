"""Distinct users per segment, counted with a bitmap."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from operator import add

import polars as pl

from recframe.frames.collecting import run_by_size
from recframe.frames.rows.integer_keys import READS_BITS
from recframe.frames.rows.profiling import distinct_ids

BLOCK = 2**24
"""Bits per block: they fit into a processor's cache, and their memory is reused."""
WORD = 64
"""Bits counted per machine word."""
MOST, MOST_IN_ORDER = 2**7, 2**10
"""Most bits per row for a bitmap, faster than sorting up to there; the second for sorted rows, block by block."""
NUMBER, CODE = pl.col("number"), pl.col("code")
Coded = tuple[pl.DataFrame, pl.Expr]
"""Rows with an integer `number`, and the expression of their `code`."""


def n_numbers_of_codes(rows: Sequence[Coded], n_numbers: int, n_codes: int) -> pl.Series:
    """Count the distinct numbers per code over some frames.

    Numbers lie in [0, n_numbers), codes in [0, n_codes). Rows that stand number by number are taken block by block.
    """
    in_order = all(one["number"].flags["SORTED_ASC"] for one, _ in rows)
    n_rows = sum(len(one) for one, _ in rows)
    n_words = n_numbers // WORD + 1
    n_words = min(n_words, max(BLOCK // (WORD * n_codes), 1)) if in_order else n_words
    n_places = n_words * WORD
    most = (MOST_IN_ORDER if in_order else MOST) * n_rows
    scatters = READS_BITS  # Polars 1 to sorted places alone
    if not (scatters and 0 < n_numbers * n_codes <= most and n_places * n_codes < 2**32):
        return _n_of_pairs(rows, n_numbers, n_codes)
    number = NUMBER.cast(pl.UInt32)
    place = CODE * n_places + (number % n_places if n_places < n_numbers else number)
    starts = [*range(0, n_numbers, n_places), n_numbers] if in_order else []
    blocks = []
    for one, code in rows:
        places = run_by_size(one.lazy().with_columns(code).select(place), n_rows).to_series()
        blocks.append(_blocks(places, one["number"], starts))
    return reduce(add, (_n_of_block(one, n_places, n_codes) for one in zip(*blocks, strict=True)))


def _blocks(places: pl.Series, numbers: pl.Series, starts: Sequence[int]) -> list[pl.Series]:
    """Split row positions into blocks of numbers; without starts they are one block."""
    if not starts:
        return [places]
    ends = numbers.search_sorted(pl.Series(starts, dtype=pl.Int64)).to_list()
    return [places.slice(start, end - start) for start, end in pairwise(ends)]


def _n_of_pairs(rows: Sequence[Coded], n_numbers: int, n_codes: int) -> pl.Series:
    """Count them from distinct (number, code) pairs, packed into one integer."""
    dtype = pl.UInt32 if n_numbers * n_codes < 2**32 else pl.Int64
    pair = (NUMBER.cast(dtype) * n_codes + CODE.cast(dtype)).alias("pair")
    frames = [one.with_columns(code).select(pair) for one, code in rows]
    pairs = distinct_ids(pl.concat(frames).to_series())
    found = (pairs % n_codes).cast(pl.UInt32).alias("code").value_counts(name="n")
    codes = pl.int_range(n_codes, dtype=pl.UInt32, eager=True).alias("code").to_frame()
    counts = codes.join(found, on="code", how="left", maintain_order="left")["n"]
    return counts.fill_null(0).cast(pl.Int64)


def _n_of_block(places: Sequence[pl.Series], n_places: int, n_codes: int) -> pl.Series:
    bits = pl.Series([False]).new_from_index(0, n_places * n_codes)
    for one in places:
        bits.scatter(one, values=True)
    return bits.reshape((n_codes, n_places)).arr.sum().cast(pl.Int64)
