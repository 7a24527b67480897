"""Keys of rows by splitmix64, the same on every engine and version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.errors import ColumnError, dtype_shown, fails_if
from recframe.frames.collecting import ask

INCREMENT, FIRST_FACTOR, SECOND_FACTOR = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
SHIFTS = (30, 27, 31)
MISSING = 1 << 63
"""The word of a null."""
BLOCK = 8
"""Bytes of a word of text."""
ENDS = 64
"""Bytes at the start, and at the end of longer text, that are words."""
_BITS = (1 << 64) - 1
_TEXT = (pl.String, pl.Categorical, pl.Enum)
_PLAIN = (pl.Boolean, pl.Date, pl.Datetime, pl.Null)
_STATE, _MIXED, _BYTES, _SIZE = "state of key", "mixed state", "bytes of id", "size of id"
_HAS_SLICES = hasattr(pl.col("").bin, "slice")
"""Whether Polars slices bytes; older ones slice their hexadecimal digits."""


def check_ids(schema: Mapping[str, pl.DataType], named: Mapping[str, str]) -> None:
    """Reject columns, each with its name in messages, whose ids have no words."""
    for inside, name in named.items():
        dtype = schema[inside]
        is_wide = dtype.is_integer() and dtype in (pl.Int128, getattr(pl, "UInt128", pl.Int128))
        if is_wide or not (dtype in (*_TEXT, *_PLAIN) or dtype.is_integer() or dtype.is_float()):
            msg = (
                f"column {name!r} of the log is {dtype_shown(dtype)}, of which no key can be made: keys take whole numbers up "
                "to 64 bits, text, categories, Booleans, dates and datetimes; cast the column to text"
            )
            raise ColumnError(msg)


def may_collide(dtype: pl.DataType) -> bool:
    """Whether ids of one column may have the same key beside one another: numbers have one word, which has a key of its own."""
    return dtype in _TEXT


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

    NOTE: each step is a `with_columns` of its own, since a step reads its state twice, and an expression of an expression
    would be written out that often.
    """
    schema = rows.collect_schema()
    texts = [one for one in ids if schema[one] in _TEXT]
    longest = dict.fromkeys(texts, 2 * ENDS)
    if at_hand and texts:
        sizes = ask([rows.select(_size(one).max().fill_null(0) for one in texts)])[0]
        longest = dict(zip(texts, sizes.row(0), strict=True))
    rows = rows.with_columns(_word(_splitmix64(seed & _BITS)).alias(_STATE))
    for one in ids:
        if one in longest:
            rows = _with_text(rows, one, longest[one])
        else:
            word = _word_of(one, schema[one]).fill_null(_word(MISSING))
            rows = _mixed(rows, word).with_columns(pl.col(_MIXED).alias(_STATE))
    return rows.select(*schema.names(), pl.col(_STATE).alias(name))


def further(rows: pl.LazyFrame, key: str, word: str) -> pl.LazyFrame:
    """Return rows whose key has taken one more word, a column of whole numbers from 0 up."""
    mixed = _mixed(rows.with_columns(pl.col(key).alias(_STATE)), pl.col(word).cast(pl.UInt64))
    return mixed.with_columns(pl.col(_MIXED).alias(key)).drop(_STATE, _MIXED)


def _size(text: str) -> pl.Expr:
    return pl.col(text).cast(pl.String).str.len_bytes()


def _with_text(rows: pl.LazyFrame, name: str, longest: int) -> pl.LazyFrame:
    """Return rows whose state has taken the words of a text."""
    text = pl.col(name).cast(pl.String)
    padded = text.str.pad_end(text.str.len_bytes() + BLOCK, "\0").cast(pl.Binary)
    digits = padded if _HAS_SLICES else padded.bin.encode("hex")
    rows = rows.with_columns(digits.alias(_BYTES), _size(name).cast(pl.UInt64).alias(_SIZE))
    rows = _mixed(rows, pl.col(_SIZE).fill_null(_word(MISSING)))
    rows = rows.with_columns(pl.col(_MIXED).alias(_STATE))
    size = pl.col(_SIZE).cast(pl.Int64)
    blocks = [(pl.lit(at), size > at) for at in range(0, min(longest, ENDS), BLOCK)]
    if longest > ENDS:
        # of shorter text, whose words are not taken, a place that it has
        start = pl.when(size > ENDS).then(size - ENDS).otherwise(0)
        blocks += [(start + at, size > ENDS) for at in range(0, ENDS, BLOCK)]
    for place, is_there in blocks:
        rows = _mixed(rows, _block(place))
        state = pl.when(is_there).then(_MIXED).otherwise(_STATE)
        rows = rows.with_columns(state.alias(_STATE))
    return rows.drop(_BYTES, _SIZE)


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


def _mixed(rows: pl.LazyFrame, word: pl.Expr) -> pl.LazyFrame:
    """Return rows with the state that a word makes of theirs."""
    state, half = pl.col(_MIXED), [_word(1 << shift) for shift in SHIFTS]
    start = (pl.col(_STATE) ^ word) + _word(INCREMENT)
    return (
        rows.with_columns(start.alias(_MIXED))
        .with_columns((state ^ state // half[0]) * _word(FIRST_FACTOR))
        .with_columns((state ^ state // half[1]) * _word(SECOND_FACTOR))
        .with_columns(state ^ state // half[2])
    )


def _splitmix64(word: int) -> int:
    """Return the state that the first word makes."""
    state = (word + INCREMENT) & _BITS
    state = (state ^ state >> SHIFTS[0]) * FIRST_FACTOR & _BITS
    state = (state ^ state >> SHIFTS[1]) * SECOND_FACTOR & _BITS
    return state ^ state >> SHIFTS[2]
