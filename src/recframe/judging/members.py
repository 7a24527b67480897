"""Who is in which segment of items or rows: of a large eager frame by one number for each row, not by a table of all pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.codes import small_codes
from recframe.frames.rows.distinct_counts import Coded, n_numbers_of_codes
from recframe.frames.rows.packing import SMALL_INTEGERS
from recframe.frames.rows.questions import close_numbers, distinct_ids, marked_sorted
from recframe.judging.codes_of_items import CodesOfItems
from recframe.judging.judged_frame import PAIR, Judged

MOST, HALF = 2**62, 2**32
USER, CODE, NUMBER = pl.col("user"), pl.col("code"), pl.col("number")
LOW, HIGH = pl.col("low"), pl.col("high")


def n_users_of_items(judged: Judged, codes: CodesOfItems, ask: Ask) -> pl.LazyFrame | None:
    """Return n_users of each segment of items; None where columns of others than items are asked for too."""
    if not _are_all(judged, codes.names):
        return None
    found, users = _rows_and_users(judged, PAIR, ask)
    coded = (codes.of(one, ask) for one in found)
    return _n_users(found, users, coded, codes.segments)


def n_users_of_rows(judged: Judged, ask: Ask) -> pl.LazyFrame | None:
    """Return n_users of each segment of rows; None where others are asked for too, or the rows' columns have no small codes."""
    names = judged.inputs.inside("row")
    if not _are_all(judged, names):
        return None
    found, users = _rows_and_users(judged, ["user", *names], ask)
    small = small_codes([one.select(names) for one in found])
    if small is None:
        return None
    codes, segments = small
    rows = zip(found, codes, strict=True)
    coded = ((one.select("user").with_columns(code.alias("code")), CODE) for one, code in rows)
    return _n_users(found, users, coded, segments)


def _are_all(judged: Judged, names: Sequence[str]) -> bool:
    """Return whether these are all segments that are asked for, but for the model."""
    return bool(names) and {one.inside for one in judged.inputs.segments} - {"model"} == {*names}


def _rows_and_users(
    judged: Judged, names: Sequence[str], ask: Ask
) -> tuple[list[pl.DataFrame], pl.Series | None]:
    """Return columns of all rows, and the users who count; None where all do who have a row."""
    counting = [] if judged.universe in {"rows", "all"} else [judged.users]
    found = ask([*(one.select(names) for one in judged.rows_of_all()), *counting])
    return (found[:-1], found[-1].to_series()) if counting else (found, None)


def _n_users(
    found: Sequence[pl.DataFrame],
    users: pl.Series | None,
    coded: Iterable[Coded],
    segments: pl.DataFrame,
) -> pl.LazyFrame:
    """Return n_users of each segment that has any."""
    ids = [one["user"] for one in found]
    numbers, n_numbers = close_numbers(ids if users is None else [*ids, users])
    counted = pl.Series([users is None]).new_from_index(0, n_numbers)
    if users is not None:
        counted = counted.scatter(distinct_ids(numbers.pop()).sort(), values=True)
    rows = [
        (marked_sorted(told.with_columns(number=number), "number"), code)
        for (told, code), number in zip(coded, numbers, strict=True)
    ]
    n_users = n_numbers_of_codes(rows, counted, len(segments))
    counts = segments.lazy().with_columns(n_users=n_users)
    return counts.filter(pl.col("n_users") > 0).drop("code")


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
