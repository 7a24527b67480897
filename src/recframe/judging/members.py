"""Who stands in which segment of items: of a large eager frame by one number for each row, and not by a table of all pairs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.packing import READS_BITS, SMALL_INTEGERS
from recframe.frames.rows.questions import distinct_ids, marked_sorted
from recframe.frames.rows.tallies import n_numbers_of_codes
from recframe.judging.codes_of_items import CodesOfItems
from recframe.judging.judged_frame import PAIR, Judged

MOST, HALF = 2**62, 2**32
USER, CODE, NUMBER = pl.col("user"), pl.col("code"), pl.col("number")
LOW, HIGH = pl.col("low"), pl.col("high")


def n_users_of_items(judged: Judged, codes: CodesOfItems, ask: Ask) -> pl.LazyFrame | None:
    """Return n_users of each segment of items; None where other columns are asked for too, or users are no numbers close by."""
    keys = {one.inside for one in judged.inputs.segments} - {"model"}
    # Polars 1 scatters to sorted places alone
    if not READS_BITS or keys != {*codes.names} or judged.schema["user"] not in SMALL_INTEGERS:
        return None
    users, *rows = ask([judged.users, *(one.select(PAIR) for one in judged.rows_of_all())])
    rows = _with_rows(rows)
    if not rows:
        return None
    lowest, n_numbers = _range_of(rows)
    if n_numbers > sum(map(len, rows)):
        return None
    number = (USER.cast(pl.Int64) - lowest if lowest else USER).cast(pl.UInt32, strict=False)
    number = number.alias("number")
    numbers = [codes.beside(marked_sorted(one, "user"), ask).select(number, "code") for one in rows]
    if judged.universe not in {"rows", "all"}:
        counted = _counted(users.select(number).to_series(), n_numbers)
        numbers = [one.filter(counted.gather(one["number"])) for one in numbers]
    counts = n_numbers_of_codes(
        [marked_sorted(one, "number") for one in numbers], n_numbers, len(codes)
    )
    if counts is None:
        return None
    found = codes.segments.with_columns(n_users=counts).filter(pl.col("n_users") > 0)
    return found.lazy().select(*codes.names, "n_users")


def members_of_items(judged: Judged, codes: CodesOfItems, ask: Ask) -> pl.LazyFrame | None:
    """Return each user of the universe once for each segment of items; None where users are no whole numbers."""
    if judged.schema["user"] not in SMALL_INTEGERS:
        return None
    rows = _with_rows(ask([one.select(PAIR) for one in judged.rows_of_members()]))
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
    numbers = [codes.beside(one, ask).select(number).to_series() for one in rows]
    members = distinct_ids(pl.concat(numbers)).to_frame().lazy()
    user, code = NUMBER // len(codes) + lowest, (NUMBER % len(codes)).cast(pl.UInt32)
    members = members.cast(pl.Int64).select(user=user.cast(judged.schema["user"]), code=code)
    return members.join(codes.segments.lazy(), on="code").select(*codes.names, "user")


def _counted(numbers: pl.Series, n_numbers: int) -> pl.Series:
    """Return of each number up to some whether it is among the numbers of the users who count."""
    found = pl.Series([False]).new_from_index(0, n_numbers)
    return found.scatter(numbers.filter(numbers < n_numbers), values=True)


def _with_rows(frames: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    return [one for one in frames if len(one)]


def _range_of(rows: Sequence[pl.DataFrame]) -> tuple[int, int]:
    """Return the lowest user, and how many whole numbers there are from it to the highest."""
    ends = pl.concat([one.select(low=USER.min(), high=USER.max()) for one in rows])
    lowest, highest = ends.select(LOW.min().cast(pl.Int64), HIGH.max().cast(pl.Int64)).row(0)
    return lowest, highest - lowest + 1
