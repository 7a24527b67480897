"""What the pages of checks share: columns, and words for what is done."""

from __future__ import annotations

import polars as pl

from recframe.frames.hints import Either, bind, text

user, item, rank, relevance = (pl.col(name) for name in ("user", "item", "rank", "relevance"))
ROWS = pl.len().cast(pl.Int64).alias("rows")
TIES = Either("ties=", "--ties")
LISTED_AND_JUDGED = text("leave the user out: ", bind(universe="'both'"))
EMPTY = {
    "zero": "the user counts, with 0",
    "skip": "the user is left out",
    "null": "the user's values are null",
}


def is_float(frame: pl.LazyFrame, name: str) -> bool:
    """Return whether a column is one of floats."""
    return frame.collect_schema()[name].is_float()


def is_missing(frame: pl.LazyFrame, name: str) -> pl.Expr:
    """Return whether a value is null or NaN."""
    column = pl.col(name)
    return column.is_null() | column.is_nan() if is_float(frame, name) else column.is_null()
