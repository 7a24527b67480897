"""Who stands in which segment of items: of a large eager frame by one number for each row, and not by a table of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.packing import SMALL_INTEGERS
from recframe.frames.rows.questions import distinct, looked_up
from recframe.judging.judged_frame import PAIR, Judged

MOST = 2**62
USER, CODE, NUMBER = pl.col("user"), pl.col("code"), pl.col("number")
LOW, HIGH = pl.col("low"), pl.col("high")
NOBODY = pl.DataFrame({"low": [0], "high": [-1]})


def members_of_items(judged: Judged, ask: Ask) -> pl.DataFrame | None:
    """Return each user of the universe once for each segment of items; None where users are no whole numbers."""
    names = judged.inputs.inside("items")
    if names != judged.rows or judged.inputs.items is None or judged.known.distinct:
        return None
    if judged.schema["user"] not in SMALL_INTEGERS:
        return None
    items, *rows = ask([judged.inputs.items.select("item", *names), *judged.rows_of_members()])
    rows = [one.select(PAIR) for one in rows if len(one)]
    codes = _codes(items, names)
    lowest, n_users = _range_of(rows)
    if n_users * len(codes) >= MOST:
        return None
    of_items = items.join(codes, on=names, nulls_equal=True).select("item", "code")
    number = (USER.cast(pl.Int64) - lowest) * len(codes) + CODE.cast(pl.Int64)
    numbers = [
        looked_up(one, "item", of_items).select(number.alias("number")).to_series() for one in rows
    ]
    found = distinct(pl.concat(numbers)) if numbers else pl.Series("number", dtype=pl.Int64)
    user, code = NUMBER // len(codes) + lowest, (NUMBER % len(codes)).cast(pl.UInt32)
    members = found.to_frame().select(user=user.cast(judged.schema["user"]), code=code)
    return members.join(codes, on="code").select(*names, "user")


def _codes(items: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the combinations of segments with their numbers; 0 is that of items of which nothing is known."""
    unknown = items.select(names).clear(1)
    others = items.select(names).unique().filter(~pl.all_horizontal(pl.col(names).is_null()))
    return pl.concat([unknown, others]).with_row_index("code")


def _range_of(rows: Sequence[pl.DataFrame]) -> tuple[int, int]:
    """Return the lowest user, and how many whole numbers there are from it to the highest."""
    ends = pl.concat([one.select(low=USER.min(), high=USER.max()) for one in rows] or [NOBODY])
    lowest, highest = ends.select(LOW.min().cast(pl.Int64), HIGH.max().cast(pl.Int64)).row(0)
    return lowest, highest - lowest + 1
