"""Keys of rows by splitmix64, the same on every engine and version."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.errors import ColumnError, dtype_shown, fails_if
from recframe.frames.kinds.kind import ask

KEYS = 1 << 64
"""The number of keys that there are."""
INCREMENT = 0x9E3779B97F4A7C15
STEPS = ((1 << 30, 0xBF58476D1CE4E5B9), (1 << 27, 0x94D049BB133111EB))
"""The divisors of splitmix64, which shift, each with the factor behind it."""
MISSING = 1 << 63
"""The word of a null."""
BLOCK = 8
"""Bytes of a word of text."""
ENDS = 64
"""Bytes at the start, and at the end of longer text, that are words."""
TEXT = (pl.String, pl.Categorical, pl.Enum)
_STATE, _BYTES = "state of the key", "bytes of the text"
_HAS_SLICES = hasattr(pl.col("").bin, "slice")
"""Whether Polars slices bytes; older versions slice their hexadecimal digits."""


def is_whole(dtype: pl.DataType) -> bool:
    """Whether a column is of whole numbers of 64 bits, of which dates and datetimes are some."""
    is_narrow = dtype.is_integer() and "128" not in str(dtype)
    return is_narrow or dtype in (pl.Date, pl.Datetime)


def hashed(
    rows: pl.LazyFrame,
    ids: Sequence[str],
    name: str,
    *,
    seed: int = 0,
    at_hand: bool = False,
) -> pl.LazyFrame:
    """Return rows with a key of 64 bits: of the seed and some columns.

    The state of a key begins with 0; each word w makes it splitmix64(state ^ w), of which the last is the key. Words are the
    seed (modulo 2^64), then those of each id: of a number its 64 bits, of a datetime its nanoseconds in UTC, of text its bytes'
    number and the blocks of 8 bytes (the first byte is the lowest, zeros fill the last) of its first 64 and, if it is longer,
    of its last 64 bytes. `at_hand` says that rows are in memory, so that fewer steps do where all text is short.
    """
    schema = rows.collect_schema()
    seeded = mixed(pl.select(_word(0).alias(name)).lazy(), name, _word(seed % KEYS))
    rows = rows.with_columns(_word(ask([seeded])[0][name].item()).alias(name))
    for one in ids:
        if schema[one] not in TEXT:
            rows = mixed(rows, name, _word_of(one, schema[one]))
            continue
        text = pl.col(one).cast(pl.String)
        size = text.str.len_bytes().cast(pl.Int64)
        longest = ask([rows.select(size.max())])[0].item() or 0 if at_hand else 2 * ENDS
        padded = text.str.pad_end(size + BLOCK, "\0").cast(pl.Binary)
        digits = padded if _HAS_SLICES else padded.bin.encode("hex")
        rows = mixed(rows.with_columns(digits.alias(_BYTES)), name, size.cast(pl.UInt64))
        for place in range(0, 2 * ENDS, BLOCK):
            least = min(place, ENDS)
            if longest > least:
                start = pl.lit(place) if place < ENDS else size + (place - 2 * ENDS)
                rows = mixed(rows, name, _block(start), size > least)
    return rows.select(*schema.names(), name)


def mixed(
    rows: pl.LazyFrame, key: str, word: pl.Expr, holds: pl.Expr | None = None
) -> pl.LazyFrame:
    """Return rows whose key has taken one more word, where a condition holds if there is one.

    NOTE: each step is a `with_columns` of its own, since a step reads its state twice, and an expression of an expression
    would be written out that often.
    """
    state = pl.col(_STATE)
    word = word.fill_null(_word(MISSING))
    rows = rows.with_columns(((pl.col(key) ^ word) + _word(INCREMENT)).alias(_STATE))
    for divisor, factor in STEPS:
        rows = rows.with_columns((state ^ state // _word(divisor)) * _word(factor))
    taken = state ^ state // _word(1 << 31)
    taken = taken if holds is None else pl.when(holds).then(taken).otherwise(key)
    return rows.with_columns(taken.alias(key))


def _block(place: pl.Expr) -> pl.Expr:
    """Return the eight bytes from a place on."""
    text = pl.col(_BYTES)
    hexed = text.str.slice(place * 2, 2 * BLOCK).str.decode("hex")
    block = text.bin.slice(place, BLOCK) if _HAS_SLICES else hexed
    return block.bin.reinterpret(dtype=pl.UInt64, endianness="little")


def _word_of(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return the 64 bits of a number, or say that ids have none."""
    column, remedy = pl.col(name), "cast the column to text"
    if dtype == pl.Datetime:
        column = column.dt.timestamp("ns")
    elif dtype.is_float():
        column = column.cast(pl.Float64).fill_nan(None)
        whole = column.cast(pl.Int64, strict=False)
        msg = f"an id in the column of the role {name!r} is no whole number of 64 bits; {remedy}"
        # the highest Int64 is also what is nearest to 2^63, which has none
        has_none = whole.cast(pl.Float64).ne_missing(column) | (column == 2.0**63)
        column = whole + fails_if(has_none, msg)
    elif not (is_whole(dtype) or dtype in (pl.Boolean, pl.Null)):
        raise ColumnError(
            f"the column of the role {name!r} is {dtype_shown(dtype)}, of which no key can be made: keys take whole numbers up "
            f"to 64 bits, text, categories, Booleans, dates and datetimes; {remedy}"
        )
    return column.to_physical().cast(pl.UInt64, wrap_numerical=True)


def _word(value: int) -> pl.Expr:
    return pl.lit(value, dtype=pl.UInt64)
