"""The ids of rows in memory: a whole number in place of each."""

from __future__ import annotations

import polars as pl

from recframe.frames.rows.questions import numbers_of


def numbered(rows: pl.DataFrame, name: str) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Return the rows, in any order, with numbers for their ids, and the id of each number; None where they are the ids.

    The rows have no null ids. Those of other dtypes than text stay.

    NOTE: a group by a number takes a third of the time of one by text, and a bit for each number a tenth.
    """
    # a tuple: an Enum's hash is not that of pl.Enum
    if rows.schema[name] not in (pl.String, pl.Categorical, pl.Enum):
        return rows, None
    numbers = numbers_of(rows[name]).alias("number")
    first = numbers.arg_unique()
    ids = pl.DataFrame([rows[name].gather(first), numbers.gather(first)])
    return rows.with_columns(numbers.alias(name)), ids
