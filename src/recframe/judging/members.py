"""Who stands in which segment of items: of a large eager frame by one number for each row, and not by a table of all pairs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.lookups import lookup
from recframe.frames.rows.packing import SMALL_INTEGERS
from recframe.frames.rows.questions import distinct_ids
from recframe.judging.judged_frame import PAIR, Judged

MOST, HALF = 2**62, 2**32
USER, CODE, NUMBER = pl.col("user"), pl.col("code"), pl.col("number")
LOW, HIGH = pl.col("low"), pl.col("high")


def members_of_items(judged: Judged, ask: Ask) -> pl.LazyFrame | None:
    """Return each user of the universe once for each segment of items; None where users are no whole numbers."""
    names = judged.inputs.inside("items")
    if not names or names != judged.rows or judged.inputs.items is None or judged.known.distinct:
        return None
    if judged.schema["user"] not in SMALL_INTEGERS:
        return None
    pairs = [one.select(PAIR) for one in judged.rows_of_members()]
    items, *found = ask([judged.inputs.items.select("item", *names), *pairs])
    rows = [one for one in found if len(one)]
    if not rows:
        return None
    codes = _codes(items, names)
    lowest, n_users = _range_of(rows)
    size = n_users * len(codes)
    if size >= MOST:
        return None
    of_items = items.join(codes, on=names, nulls_equal=True).select("item", "code")
    # in half of the memory, if that has room
    dtype = pl.UInt32 if size < HALF else pl.Int64
    number = (USER.cast(pl.Int64) - lowest if lowest else USER).cast(dtype) * len(codes)
    number = (number + CODE.cast(dtype)).alias("number")
    coded = ask([_with_codes(one, of_items).select(number) for one in rows])
    numbers = [one.to_series() for one in coded]
    members = distinct_ids(pl.concat(numbers)).to_frame().lazy()
    user, code = NUMBER // len(codes) + lowest, (NUMBER % len(codes)).cast(pl.UInt32)
    members = members.cast(pl.Int64).select(user=user.cast(judged.schema["user"]), code=code)
    return members.join(codes.lazy(), on="code").select(*names, "user")


def _with_codes(rows: pl.DataFrame, of_items: pl.DataFrame) -> pl.LazyFrame:
    """Return rows with the codes of their items, 0 where nothing is known of one."""
    table = lookup(of_items.drop_nulls("item"), "item", rows.schema["item"])
    coded = (
        rows.lazy().join(of_items.lazy(), on="item", how="left")
        if table is None
        else table.beside(rows.lazy(), ["code"])
    )
    return coded.with_columns(CODE.fill_null(0))


def _codes(items: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the combinations of segments with their numbers; 0 is that of items of which nothing is known."""
    unknown = items.select(names).clear(1)
    others = items.select(names).unique().filter(~pl.all_horizontal(pl.col(names).is_null()))
    return pl.concat([unknown, others]).with_row_index("code")


def _range_of(rows: Sequence[pl.DataFrame]) -> tuple[int, int]:
    """Return the lowest user, and how many whole numbers there are from it to the highest."""
    ends = pl.concat([one.select(low=USER.min(), high=USER.max()) for one in rows])
    lowest, highest = ends.select(LOW.min().cast(pl.Int64), HIGH.max().cast(pl.Int64)).row(0)
    return lowest, highest - lowest + 1
