"""Who stands in which segment of items: of a large eager frame by one number for each row, and not by a table of all pairs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.distinct_counts import n_numbers_of_codes
from recframe.frames.rows.packing import SMALL_INTEGERS
from recframe.frames.rows.questions import close_numbers, distinct_ids, marked_sorted
from recframe.judging.codes_of_items import CodesOfItems
from recframe.judging.judged_frame import PAIR, Judged

MOST, HALF = 2**62, 2**32
USER, CODE, NUMBER = pl.col("user"), pl.col("code"), pl.col("number")
LOW, HIGH = pl.col("low"), pl.col("high")


def n_users_of_items(judged: Judged, codes: CodesOfItems, ask: Ask) -> pl.LazyFrame | None:
    """Return n_users of each segment of items; None where columns of others than items are asked for too."""
    if {one.inside for one in judged.inputs.segments} - {"model"} != {*codes.names}:
        return None
    of_all = judged.universe in {"rows", "all"}
    counting = [] if of_all else [judged.users]
    found = ask([*(one.select(PAIR) for one in judged.rows_of_all()), *counting])
    numbers, n_numbers = close_numbers([one["user"] for one in found])
    counted = pl.Series([of_all]).new_from_index(0, n_numbers)
    if not of_all:
        counted = counted.scatter(distinct_ids(numbers.pop()).sort(), values=True)
    rows = []
    for one, number in zip(found, numbers, strict=False):
        told, code = codes.of(one, ask)
        rows.append((marked_sorted(told.with_columns(number=number), "number"), code))
    n_users = n_numbers_of_codes(rows, counted, len(codes))
    counts = codes.segments.lazy().with_columns(n_users=n_users)
    return counts.filter(pl.col("n_users") > 0).select(*codes.names, "n_users")


def members_of_items(judged: Judged, codes: CodesOfItems, ask: Ask) -> pl.LazyFrame | None:
    """Return each user of the universe once for each segment of items; None where users are no whole numbers."""
    if judged.schema["user"] not in SMALL_INTEGERS:
        return None
    found = ask([one.select(PAIR) for one in judged.rows_of_members()])
    rows = [one for one in found if len(one)]
    if not rows:
        return None
    lowest, n_users = _range_of(rows)
    size = n_users * len(codes)
    if size >= MOST:
        return None
    # in half of the memory, if that has room
    dtype = pl.UInt32 if size < HALF else pl.Int64
    number = (USER.cast(pl.Int64) - lowest if lowest else USER).cast(dtype) * len(codes)
    number = (number + CODE.cast(dtype)).alias("number")
    told = (codes.of(one, ask) for one in rows)
    numbers = [one.with_columns(code).select(number).to_series() for one, code in told]
    members = distinct_ids(pl.concat(numbers)).to_frame().lazy()
    user, code = NUMBER // len(codes) + lowest, (NUMBER % len(codes)).cast(pl.UInt32)
    members = members.cast(pl.Int64).select(user=user.cast(judged.schema["user"]), code=code)
    return members.join(codes.segments.lazy(), on="code").select(*codes.names, "user")


def _range_of(rows: Sequence[pl.DataFrame]) -> tuple[int, int]:
    """Return the lowest user, and how many whole numbers there are from it to the highest."""
    ends = pl.concat([one.select(low=USER.min(), high=USER.max()) for one in rows])
    lowest, highest = ends.select(LOW.min().cast(pl.Int64), HIGH.max().cast(pl.Int64)).row(0)
    return lowest, highest - lowest + 1
