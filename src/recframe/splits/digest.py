"""Digest of a split: its labelled rows and its rule."""

from __future__ import annotations

from hashlib import sha256

import polars as pl

from recframe.frames.rows.joins import beside_one_another
from recframe.splits.hashing import check_ids, hashed
from recframe.splits.labelling import Labels
from recframe.splits.rules import PARTS

FORM = "recframe split, form 1"
"""Begins what is digested; another form would give other texts."""
DIGITS = 16
HALF = 2**32
FRACTION = 2.0**53
_KEY = "key of the row"


def digest(labels: Labels) -> str:
    """Return a text that identifies the rows, folds, parts and rule of a split, the same on every version of Polars.

    The keys of rows are summed up modulo 2^64, so that their order changes nothing.
    """
    schema = labels.log.schema
    check_ids(schema, {role: labels.log.names[role] for role in ("user", "item")})
    sums = [_sums(rows, fold, schema.get("time")) for fold, rows in labels.by_fold.items()]
    found = labels.log.kind.run(beside_one_another(sums)).row(0, named=True)
    lines = [FORM, labels.rule.words]
    for fold in labels.folds:
        n, low, high = (found[f"{name} {fold}"] or 0 for name in ("n", "low", "high"))
        lines.append(f"fold {fold}: {n} rows, {(low + HALF * high) % HALF**2}")
    return sha256("\n".join(lines).encode()).hexdigest()[:DIGITS]


def _sums(rows: pl.LazyFrame, fold: int, time: pl.DataType | None) -> pl.LazyFrame:
    """Return the number of rows of a fold, and the sums of both halves of their keys, which do not overflow."""
    words = {part: int.from_bytes(sha256(part.encode()).digest()[:8], "big") for part in PARTS}
    part = pl.col("part").cast(pl.String).replace_strict(words, return_dtype=pl.UInt64)
    columns = [pl.col("user"), pl.col("item"), *_words_of_time(time)]
    keyed = hashed(
        rows.select(*columns, part=part), ["user", "item", *_names(time), "part"], _KEY, seed=fold
    )
    key = pl.col(_KEY)
    sums = {"n": pl.len(), "low": (key % HALF).sum(), "high": (key // HALF).sum()}
    return keyed.select(one.alias(f"{name} {fold}") for name, one in sums.items())


def _names(time: pl.DataType | None) -> list[str]:
    """Return the columns that a time is hashed as: itself, and of a number its fraction."""
    if time is None:
        return []
    return ["time", "fraction"] if time.is_numeric() else ["time"]


def _words_of_time(time: pl.DataType | None) -> list[pl.Expr]:
    """Return a time as nanoseconds, or as a whole number and its fraction: the same of dates and of their first instants."""
    column = pl.col("time")
    if time is None:
        return []
    if time == pl.Date:
        return [column.cast(pl.Datetime("us"))]
    if not time.is_numeric():
        return [column]
    whole = column.floor() if time.is_float() else column
    fraction = ((column - whole) * FRACTION).cast(pl.Int64)
    return [whole.cast(pl.Int64), fraction.alias("fraction")]
