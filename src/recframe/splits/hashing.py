"""Keys of rows by splitmix64, the same on every engine and version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.errors import ColumnError, dtype_shown, fails_if
from recframe.frames.collecting import ask

INCREMENT = 0x9E3779B97F4A7C15
STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
"""The shifts of splitmix64, each with the factor behind it."""
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
    is_wide = dtype.is_integer() and "128" in str(dtype)
    return dtype in (pl.Date, pl.Datetime) or (dtype.is_integer() and not is_wide)


def check_ids(schema: Mapping[str, pl.DataType], named: Mapping[str, str]) -> None:
    """Reject columns, each with its name in messages, whose ids have no words."""
    for inside, name in named.items():
        dtype = schema[inside]
        if not (is_whole(dtype) or dtype.is_float() or dtype in (*TEXT, pl.Boolean, pl.Null)):
            msg = (
                f"column {name!r} of the log is {dtype_shown(dtype)}, of which no key can be made: keys take whole numbers up "
                "to 64 bits, text, categories, Booleans, dates and datetimes; cast the column to text"
            )
            raise ColumnError(msg)


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
    rows = mixed(rows.with_columns(_word(0).alias(name)), name, _word(seed % (1 << 64)))
    for one in ids:
        if schema[one] in TEXT:
            text = pl.col(one).cast(pl.String)
            size = text.str.len_bytes().cast(pl.Int64)
            longest = ask([rows.select(size.max())])[0].item() if at_hand else 2 * ENDS
            padded = text.str.pad_end(text.str.len_bytes() + BLOCK, "\0").cast(pl.Binary)
            digits = padded if _HAS_SLICES else padded.bin.encode("hex")
            rows = rows.with_columns(digits.alias(_BYTES))
            rows = mixed(rows, name, size.cast(pl.UInt64).fill_null(_word(MISSING)))
            blocks = [(pl.lit(at), size > at) for at in range(0, min(longest or 0, ENDS), BLOCK)]
            if (longest or 0) > ENDS:
                start = pl.max_horizontal(size - ENDS, 0)
                blocks += [(start + at, size > ENDS) for at in range(0, ENDS, BLOCK)]
            for place, is_there in blocks:
                rows = mixed(rows, name, _block(place), is_there)
        else:
            rows = mixed(rows, name, _word_of(one, schema[one]).fill_null(_word(MISSING)))
    return rows.select(*schema.names(), name)


def mixed(
    rows: pl.LazyFrame, key: str, word: pl.Expr, holds: pl.Expr | None = None
) -> pl.LazyFrame:
    """Return rows whose key has taken one more word, where a condition holds if there is one.

    NOTE: each step is a `with_columns` of its own, since a step reads its state twice, and an expression of an expression
    would be written out that often.
    """
    name = key if holds is None else _STATE
    state = pl.col(name)
    rows = rows.with_columns(((pl.col(key) ^ word) + _word(INCREMENT)).alias(name))
    for shift, factor in STEPS:
        rows = rows.with_columns((state ^ state // _word(1 << shift)) * _word(factor))
    if holds is None:
        return rows
    return rows.with_columns(pl.when(holds).then(state).otherwise(key).alias(key))


def _block(place: pl.Expr) -> pl.Expr:
    """Return the eight bytes from a place on."""
    if _HAS_SLICES:
        found = pl.col(_BYTES).bin.slice(place, BLOCK)
    else:
        found = pl.col(_BYTES).str.slice(place * 2, BLOCK * 2).str.decode("hex")
    return found.bin.reinterpret(dtype=pl.UInt64, endianness="little")


def _word_of(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return the 64 bits of a number, or say in the plan that it has none."""
    column = pl.col(name)
    if dtype == pl.Datetime:
        column = column.dt.timestamp("ns")
    elif dtype.is_float():
        column = column.cast(pl.Float64).fill_nan(None)
        is_whole = (column == column.floor()) & (column >= -(2.0**63)) & (column < 2.0**63)
        msg = f"an id in the column of the role {name!r} is no whole number of 64 bits; cast the column to text"
        column = pl.when(is_whole).then(column).cast(pl.Int64) + fails_if(~is_whole, msg)
    if dtype == pl.UInt64:
        return column
    return column.cast(pl.Int64).cast(pl.UInt64, wrap_numerical=True)


def _word(value: int) -> pl.Expr:
    return pl.lit(value, dtype=pl.UInt64)
